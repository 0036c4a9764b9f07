//! One run: putting the input in place, the conversation with the server, and the outcome.

use super::limits::{CPU_SHARE, Limits};
use super::{End, ExecError, Executor, Half, Outcome};
use crate::container::{self, is_container};
use crate::scratch::Found;
use crate::server::{Answer, Command, describe};
use crate::shm::raise_to;
use pleach_abi::message::Message;
use pleach_abi::shm;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

impl Executor {
    /// Puts the input and everything else in place for a run.
    pub(super) fn prepare(&mut self, input: &[u8]) -> Result<(), ExecError> {
        let options = &self.setup.options;
        let has_labels = options.label && options.half == Half::Symbolic;
        let label = if has_labels { shm::RUN_LABEL } else { 0 };
        if self.setup.terminal.is_none() {
            return self.prepare_flagged(input, label);
        }
        self.prepare_flagged(input, shm::RUN_LIVE | shm::RUN_ENDS | label)?;
        self.put_whole_input(input)
    }

    /// Puts everything in place for a run with these flags, and with those that follow from
    /// the input and the options.
    pub(super) fn prepare_flagged(&mut self, input: &[u8], flags: u32) -> Result<(), ExecError> {
        let container = is_container(input);
        let visible = if container { file_of(input) } else { input };
        let intact = self.setup.input.put(visible, container.then_some(input));
        let intact = intact.map_err(ExecError::io("cannot write the input"))?;
        let found = self.setup.run_dir.clear()?;
        self.dir_was_changed = found == Found::Changed;
        if !intact
            || found == Found::Gone
            || self.server.as_ref().is_some_and(|s| s.container != container)
        {
            self.server = None;
        }
        if self.server.is_none() {
            self.server = Some(self.setup.start_server(container)?);
        }
        self.input_len = input.len() as u64;
        let options = &self.setup.options;
        let mut flags = flags;
        for (is_set, flag) in [
            (container, shm::RUN_CONTAINER),
            (options.socket, shm::RUN_SOCKET),
            (self.fresh, shm::RUN_FRESH),
            (options.tokens && options.half == Half::Symbolic, shm::RUN_TOKENS),
            (self.growth.fixed, shm::RUN_FIXED),
            (self.losses && options.half == Half::Symbolic, shm::RUN_LOSSES),
        ] {
            flags |= if is_set { flag } else { 0 };
        }
        let holes = std::mem::take(&mut self.holes);
        self.lengths = holes.iter().map(|h| h.len).collect();
        let growth = self.growth.prepare(input);
        self.setup.shm.prepare_run(self.input_len, flags, &holes, growth);
        if let Some(capture) = &self.setup.capture {
            capture.clear().map_err(ExecError::io("cannot keep the target's output"))?;
        }
        Ok(())
    }

    /// Takes the counters of the run, or of the step of a live run. Before a step they are
    /// cleared in this way: a process that was ended since the last one may have moved some.
    pub(super) fn take_counters(&mut self) {
        self.lines.clear();
        if let Some(server) = &self.server {
            self.setup.shm.take_counters(&server.ranges, &mut self.lines);
            raise_to(&mut self.lines, &server.startup);
        }
    }

    /// Makes the run that was prepared.
    pub(super) fn run_prepared(&mut self, timeout: Duration) -> Outcome {
        let mut outcome = Outcome::not_run();
        if let Some(server) = self.server.as_mut().filter(|_| self.fresh) {
            server.rounds = 0;
        }
        outcome.round = self.server.as_ref().map_or(0, |s| s.rounds) + 1;
        match self.converse(Command::Run, timeout, false) {
            Ok(Answer::Ended(end, done)) => self.finish(end, &done, &mut outcome),
            Ok(Answer::Paused(_)) => {
                self.server = None;
                outcome.end = End::Lost("the fork server broke its protocol".into());
            }
            Err(why) => outcome.end = self.give_up_server(why),
        }
        outcome
    }

    /// Sends a command to the server or to the paused live run, and waits for the answer,
    /// while the limits are checked. The error says how the server was lost.
    pub(super) fn converse(
        &mut self,
        command: Command,
        timeout: Duration,
        is_live: bool,
    ) -> Result<Answer, String> {
        let Some(server) = &mut self.server else { return Err("the fork server is gone".into()) };
        let processes = (server.warden.pid(), server.pid);
        let max_cpu = self.cpu_limit.unwrap_or(timeout * CPU_SHARE);
        let mut limits = Limits::new(&self.setup, processes, max_cpu, is_live, self.batch);
        let tick = limits.tick();
        let says_started = is_live || self.setup.terminal.is_some();
        let mut check = |run, is_late| limits.check(run, is_late);
        let cancel = self.setup.options.cancel.as_deref();
        let answer = server.converse(command, says_started, timeout, tick, cancel, &mut check);
        self.batch_checked = limits.batch_at;
        answer
    }

    /// Adds what the server reports of an ended run, and kills what the run left behind.
    pub(super) fn finish(&mut self, end: End, done: &Message, outcome: &mut Outcome) {
        let Some(server) = &mut self.server else { return };
        outcome.end = match end {
            End::Signal(libc::SIGXFSZ) => End::Output,
            end => end,
        };
        outcome.cpu = Duration::from_micros(done.b);
        outcome.rss_kib = done.c;
        if server.warden.has_strays() == Some(true) {
            match server.warden.sweep() {
                Some(strays) => outcome.strays = strays,
                // Some are left. They must not run beside the next run.
                None => self.server = None,
            }
        }
    }

    /// Gives up a server that was lost, and says why in words. When the driver is about to
    /// end, the run counts as interrupted, whatever the reason.
    pub(super) fn give_up_server(&mut self, why: String) -> End {
        if self.setup.options.cancel.as_ref().is_some_and(|c| c.load(Relaxed)) {
            self.server = None;
            return End::Timeout;
        }
        let note = self.setup.shm.note();
        let status = self
            .server
            .as_mut()
            .and_then(|s| s.warden.ended(Instant::now() + Duration::from_secs(1)));
        let mut text = why;
        if let Some(status) = status {
            text = format!("{text}: {}", describe(status));
        }
        if let Some(note) = note {
            text = format!("{text}: {note}");
        }
        self.server = None;
        End::Lost(text)
    }

    /// Adds what the run left in memory.
    pub(super) fn collect(&mut self, outcome: &mut Outcome) {
        self.take_counters();
        outcome.calls = self.setup.shm.growth().into();
        if let Some(capture) = &self.setup.capture {
            (outcome.stdout, outcome.stderr) = capture.read();
        }
    }
}

/// The bytes of a container's file record: what the input file holds.
fn file_of(input: &[u8]) -> &[u8] {
    let streams = container::parse(input).unwrap_or_default();
    let file = streams.iter().find(|s| s.kind == pleach_abi::container::FILE);
    file.map_or(&[], |s| s.bytes)
}
