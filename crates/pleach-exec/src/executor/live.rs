//! Live runs: one process that reads event after event, and snapshots of it.
//!
//! A live run pauses when it has had the events that it was given, at its call for the
//! next. Then it can be resumed, or forked: it stays paused, and a child continues. The
//! child may pause too. So the paused processes are a stack, and only the top can be
//! resumed or forked; it is dropped to get at the one below. A child that *explores* is
//! not paused: it ends where it would pause.
//!
//! The input of a live run is kept in the shared memory. The plain program takes the same
//! path on it as on an input file.

use super::outcome::{READ_SHM, WRITE_SHM};
use super::{End, ExecError, Executor, Half, Outcome};
use crate::scratch::{RunDir, Saved};
use crate::server::{Answer, Command};
use pleach_abi::message;
use pleach_abi::shm::{self, Bias, Live};
use std::time::Duration;

/// What a live run gets next.
#[derive(Clone, Copy, Debug)]
pub struct Events<'a> {
    /// Bytes for the events, in order.
    pub bytes: &'a [u8],
    /// After this many events it pauses.
    pub most: u64,
    /// Events beyond the bytes are random, by this seed. Without a seed it pauses.
    pub seed: Option<u64>,
}

/// The result.
#[derive(Clone, Debug)]
pub enum Step {
    Paused(Paused),
    Ended(Outcome),
}

/// A live run that waits for more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paused {
    /// Bytes of input that the program has read.
    pub taken: u64,
    /// Events since it was last resumed.
    pub events: u64,
    /// Why a fork of it may not be independent of it: `PAUSED_*` of the protocol.
    pub flaws: u64,
}

/// The scratch directory of the paused live run. Explored paths may change it; it is put
/// back after each.
#[derive(Default)]
pub(super) struct SavedDir {
    saved: Option<Saved>,
    /// A path has changed it, and it could not be put back.
    is_spoiled: bool,
}

impl SavedDir {
    /// The run continues: the directory will be another.
    fn forget(&mut self) {
        self.saved = None;
    }

    fn save(&mut self, dir: &RunDir) {
        if self.saved.is_none() {
            self.saved = dir.save();
        }
    }

    fn restore(&mut self, dir: &RunDir) {
        if let Some(saved) = &mut self.saved {
            let has_changed = dir.restore(saved);
            self.is_spoiled |= has_changed && saved.cut;
        }
    }

    fn flaws(&self) -> u64 {
        if self.is_spoiled { message::PAUSED_WITH_SHARED_FILE } else { 0 }
    }
}

impl Executor {
    /// Sets what random events are made of.
    pub fn set_bias(&mut self, bias: &Bias) -> Result<(), ExecError> {
        self.setup.shm.set_bias(bias).map_err(ExecError::io(WRITE_SHM))
    }

    /// Starts a live run in a clean scratch directory. Its input has room for `Sizes::live`
    /// bytes.
    pub fn live_begin(&mut self, events: Events, timeout: Duration) -> Result<Step, ExecError> {
        self.drop_all();
        self.saved_dir = SavedDir::default();
        self.prepare_flagged(&[], shm::RUN_LIVE)?;
        self.put_events(0, events, 0)?;
        Ok(self.step(Command::Run, timeout))
    }

    /// Resumes the top of the stack.
    pub fn live_resume(&mut self, events: Events, timeout: Duration) -> Result<Step, ExecError> {
        self.continue_top(Command::Go, events, timeout)
    }

    /// Forks the top of the stack: it stays paused, and its child continues.
    pub fn live_fork(&mut self, events: Events, timeout: Duration) -> Result<Step, ExecError> {
        self.continue_top(Command::Run, events, timeout)
    }

    /// The top of the stack, or a child of it, continues. Counters are those of this step.
    fn continue_top(
        &mut self,
        command: Command,
        events: Events,
        timeout: Duration,
    ) -> Result<Step, ExecError> {
        let at = self.bytes_of_top();
        self.saved_dir.forget();
        self.prepare_step(0, shm::RUN_LIVE);
        self.put_events(at, events, 0)?;
        Ok(self.step(command, timeout))
    }

    /// Forks the top of the stack and gives the child these bytes. The child ends after
    /// them, or after `max_events` events. Counters and trace are the child's alone;
    /// offsets in the trace are offsets in these bytes.
    pub fn live_explore(
        &mut self,
        bytes: &[u8],
        max_events: u64,
        timeout: Duration,
    ) -> Result<Outcome, ExecError> {
        let at = self.bytes_of_top();
        let label = match self.setup.options.half {
            Half::Symbolic => shm::RUN_LABEL,
            Half::Fast => 0,
        };
        self.prepare_step(bytes.len() as u64, shm::RUN_LIVE | shm::RUN_ENDS | label);
        self.put_events(at, Events { bytes, most: max_events, seed: None }, at)?;
        self.saved_dir.save(&self.setup.run_dir);
        let step = self.step(Command::Run, timeout);
        self.saved_dir.restore(&self.setup.run_dir);
        Ok(match step {
            Step::Ended(outcome) => outcome,
            Step::Paused(_) => {
                self.server = None;
                let end = End::Lost("the target did not end where it had to".into());
                Outcome { end, ..Outcome::not_run() }
            }
        })
    }

    /// The offsets at which the events of an input end, when a live run reads it. They stop
    /// where the run ends, if it does not read all of the input.
    pub fn event_ends(&mut self, input: &[u8], timeout: Duration) -> Result<Vec<u64>, ExecError> {
        let mut ends = Vec::new();
        let mut step = self.live_begin(Events { bytes: input, most: 1, seed: None }, timeout)?;
        loop {
            let taken = match step {
                Step::Paused(paused) => paused.taken,
                Step::Ended(_) => self.setup.shm.live_counts().map_or(0, |(taken, _)| taken),
            };
            if taken > ends.last().copied().unwrap_or(0) {
                ends.push(taken);
            }
            let rest = input.get(taken as usize..).unwrap_or_default();
            if rest.is_empty()
                || matches!(step, Step::Ended(_) | Step::Paused(Paused { events: 0, .. }))
            {
                break;
            }
            step = self.live_resume(Events { bytes: rest, most: 1, seed: None }, timeout)?;
        }
        self.drop_all();
        Ok(ends)
    }

    /// Ends the top of the stack; the process that it was forked from becomes the top.
    pub fn live_drop_top(&mut self) {
        if self.live_depth() > 0 {
            let answer = self.converse(Command::Quit, Duration::from_secs(5), false);
            if !matches!(answer, Ok(Answer::Ended(..))) {
                self.server = None;
            }
        }
    }

    fn drop_all(&mut self) {
        while self.live_depth() > 0 {
            self.live_drop_top();
        }
    }

    /// How many processes are paused, each forked from the one before.
    pub fn live_depth(&self) -> usize {
        self.server.as_ref().map_or(0, |s| s.paused.len())
    }

    /// The bytes of input that the live run has read, from this offset on.
    pub fn live_input(&self, from: u64) -> Result<Vec<u8>, ExecError> {
        let (taken, _) = self.live_counts()?;
        self.setup.shm.live(from, taken).map_err(ExecError::io(READ_SHM))
    }

    /// Events since the live run was last resumed, also if it has ended.
    pub fn live_events(&self) -> Result<u64, ExecError> {
        self.live_counts().map(|(_, events)| events)
    }

    /// How many bytes the last explored path has read.
    pub fn live_explored_bytes(&self) -> Result<u64, ExecError> {
        let at = self.bytes_of_top();
        self.live_counts().map(|(taken, _)| taken.saturating_sub(at))
    }

    fn live_counts(&self) -> Result<(u64, u64), ExecError> {
        self.setup.shm.live_counts().map_err(ExecError::io(READ_SHM))
    }

    /// How many bytes the top of the stack has read.
    fn bytes_of_top(&self) -> u64 {
        let top = self.server.as_ref().and_then(|s| s.paused.last());
        top.map_or(0, |top| top.taken)
    }

    fn prepare_step(&mut self, input_len: u64, flags: u32) {
        let socket = if self.setup.options.socket { shm::RUN_SOCKET } else { 0 };
        self.input_len = input_len;
        self.setup.shm.prepare_run(input_len, flags | socket, &[], shm::Growth::default());
    }

    /// Gives a whole input to a run that ends after it.
    pub(super) fn put_whole_input(&mut self, bytes: &[u8]) -> Result<(), ExecError> {
        self.put_events(0, Events { bytes, most: u64::MAX, seed: None }, 0)
    }

    /// Puts events into the input, from offset `at` on.
    fn put_events(&mut self, at: u64, events: Events, label_from: u64) -> Result<(), ExecError> {
        let live = Live {
            have: at + events.bytes.len() as u64,
            events: events.most,
            random: events.seed.is_some().into(),
            seed: events.seed.unwrap_or(0),
            limit: self.setup.options.sizes.live,
            label_from,
        };
        let unwritten = ExecError::io(WRITE_SHM);
        self.setup.shm.put_live(at, events.bytes).map_err(&unwritten)?;
        self.setup.shm.prepare_live(&live).map_err(&unwritten)
    }

    fn step(&mut self, command: Command, timeout: Duration) -> Step {
        self.take_counters();
        let step = self.try_step(command, timeout);
        self.take_counters();
        step
    }

    fn try_step(&mut self, command: Command, timeout: Duration) -> Step {
        match self.converse(command, timeout, true) {
            Ok(Answer::Paused(m)) => {
                // The target may report any number.
                let taken = m.b.min(self.setup.options.sizes.live);
                if let Some(top) = self.server.as_mut().and_then(|s| s.paused.last_mut()) {
                    top.taken = taken;
                }
                let known = message::PAUSED_WITH_THREADS
                    | message::PAUSED_WITH_SHARED_FILE
                    | message::PAUSED_WITH_SOCKETS;
                let flaws = m.d & known | self.saved_dir.flaws();
                Step::Paused(Paused { taken, events: m.c, flaws })
            }
            Ok(Answer::Ended(end, done)) => {
                let mut outcome = Outcome::not_run();
                self.finish(end, &done, &mut outcome);
                Step::Ended(outcome)
            }
            Err(why) => {
                Step::Ended(Outcome { end: self.give_up_server(why), ..Outcome::not_run() })
            }
        }
    }
}
