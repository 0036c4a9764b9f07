//! Live runs: one process that takes event after event, and snapshots of it.
//!
//! A live run stands whenever it has had the events that it was given, at the
//! call for the next. Then it can go on, or be forked: it stays where it is, and
//! a child goes on. A child that is to *explore* ends where it would stand. Any
//! other may stand in its turn, so that snapshots are a stack, of which only the
//! last is spoken to; it is dropped to get at the one below.
//!
//! The input of a live run is kept in the shared memory. It is the input file
//! that takes the plain program the same way.

use super::{Answer, Duration, End, ExecError, Executor, Outcome, Word, io};
use pleach_abi::message;
use pleach_abi::shm::{self, Bias, Live};

/// What a live run gets next.
#[derive(Clone, Copy, Debug)]
pub struct Events<'a> {
    /// Bytes for the events, in order.
    pub bytes: &'a [u8],
    /// So many events, and then it stands.
    pub most: u64,
    /// Events beyond the bytes are random, by this seed; without one it stands.
    pub seed: Option<u64>,
}

/// What became of it.
#[derive(Clone, Debug)]
pub enum Step {
    Paused(Paused),
    Ended(Outcome),
}

/// A live run that waits for more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paused {
    /// Bytes of input that the program has taken.
    pub taken: u64,
    /// Events since it last went on.
    pub events: u64,
    /// What a fork of it shares with it or lacks: `PAUSED_*` of the protocol.
    pub flaws: u64,
}

impl Executor {
    /// What random events are made of.
    pub fn set_bias(&mut self, bias: &Bias) -> Result<(), ExecError> {
        self.shm.set_bias(bias).map_err(unwritten)
    }

    /// Starts a live run, with an empty directory to work in. The room for its
    /// input is that of `Sizes::live`.
    pub fn live_begin(&mut self, events: Events, timeout: Duration) -> Result<Step, ExecError> {
        while self.live_depth() > 0 {
            self.live_drop();
        }
        (self.saved, self.spoiled) = (None, false);
        self.place(&[], shm::RUN_LIVE)?;
        self.live_put(0, events, 0)?;
        Ok(self.live_say(Word::Run, timeout))
    }

    /// Lets the live run that stands go on.
    pub fn live_go(&mut self, events: Events, timeout: Duration) -> Result<Step, ExecError> {
        self.live_on(Word::Go, events, timeout)
    }

    /// Forks the live run that stands: it stays, and the child goes on.
    pub fn live_fork(&mut self, events: Events, timeout: Duration) -> Result<Step, ExecError> {
        self.live_on(Word::Run, events, timeout)
    }

    /// The live run that stands, or a child of it, goes on. Counters are this step's.
    fn live_on(
        &mut self,
        word: Word,
        events: Events,
        timeout: Duration,
    ) -> Result<Step, ExecError> {
        let at = self.live_taken();
        self.saved = None;
        self.live_flags(0, shm::RUN_LIVE)?;
        self.live_put(at, events, 0)?;
        self.clear_counters()?;
        Ok(self.live_say(word, timeout))
    }

    /// Has a child of the live run that stands take these bytes, and end after
    /// them or after so many events. Counters and trace are the child's alone;
    /// offsets in the trace are offsets in these bytes.
    pub fn live_explore(
        &mut self,
        bytes: &[u8],
        most: u64,
        timeout: Duration,
    ) -> Result<Outcome, ExecError> {
        let at = self.live_taken();
        let label = match self.target.half {
            super::Half::Symbolic => shm::RUN_LABEL,
            super::Half::Fast => 0,
        };
        self.live_flags(bytes.len() as u64, shm::RUN_LIVE | shm::RUN_ENDS | label)?;
        self.live_put(at, Events { bytes, most, seed: None }, at)?;
        self.clear_counters()?;
        if self.saved.is_none() {
            self.saved = self.scratch.as_ref().map(super::Scratch::save);
        }
        let step = self.live_say(Word::Run, timeout);
        if let (Some(scratch), Some(saved)) = (&self.scratch, &mut self.saved) {
            let changed = scratch.restore(saved).unwrap_or(true);
            self.spoiled |= changed && saved.cut;
        }
        Ok(match step {
            Step::Ended(outcome) => outcome,
            Step::Paused(_) => {
                self.server = None;
                let end = End::Lost("the target did not end where it had to".into());
                Outcome { end, ..Outcome::nothing() }
            }
        })
    }

    /// Puts all of an input there for a run that ends after it.
    pub(super) fn live_whole(&mut self, bytes: &[u8]) -> Result<(), ExecError> {
        self.live_put(0, Events { bytes, most: u64::MAX, seed: None }, 0)
    }

    /// Where the events of an input end, when a live run takes it. A run that
    /// does not take all of it has no more.
    pub fn event_ends(&mut self, input: &[u8], timeout: Duration) -> Result<Vec<u64>, ExecError> {
        let mut ends = Vec::new();
        let mut step = self.live_begin(Events { bytes: input, most: 1, seed: None }, timeout)?;
        loop {
            let taken = match step {
                Step::Paused(stand) => stand.taken,
                Step::Ended(_) => self.shm.live_counts().map_or(0, |(taken, _)| taken),
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
            step = self.live_go(Events { bytes: rest, most: 1, seed: None }, timeout)?;
        }
        while self.live_depth() > 0 {
            self.live_drop();
        }
        Ok(ends)
    }

    /// Ends the live run that stands; the one that it was forked from is next.
    pub fn live_drop(&mut self) {
        if self.live_depth() > 0 {
            let gone = self.say(Word::Quit, Duration::from_secs(5), false);
            if !matches!(gone, Ok(Answer::Ended(..))) {
                self.server = None;
            }
        }
    }

    /// How many live runs stand, each forked from the one before.
    pub fn live_depth(&self) -> usize {
        self.server.as_ref().map_or(0, |s| s.standing.len())
    }

    /// What the live run has taken of its input, from `from` on.
    pub fn live_input(&self, from: u64) -> Result<Vec<u8>, ExecError> {
        let read = || self.shm.live(from, self.shm.live_counts()?.0);
        read().map_err(|error| ExecError::Io { what: "cannot read the shared memory", error })
    }

    /// Events of the live run since it last went on, though it ended.
    pub fn live_events(&self) -> Result<u64, ExecError> {
        let counts = self.shm.live_counts();
        counts
            .map(|(_, events)| events)
            .map_err(|error| ExecError::Io { what: "cannot read the shared memory", error })
    }

    /// Bytes that the last child took that explored.
    pub fn live_path(&self) -> Result<u64, ExecError> {
        let at = self.live_taken();
        let counts = self.shm.live_counts();
        counts
            .map(|(taken, _)| taken.saturating_sub(at))
            .map_err(|error| ExecError::Io { what: "cannot read the shared memory", error })
    }

    fn live_taken(&self) -> u64 {
        let top = |s: &super::Server| s.taken.get(s.standing.len().checked_sub(1)?).copied();
        self.server.as_ref().and_then(top).unwrap_or(0)
    }

    fn live_flags(&mut self, input_len: u64, flags: u32) -> Result<(), ExecError> {
        let socket = if self.target.socket { shm::RUN_SOCKET } else { 0 };
        self.input_len = input_len;
        let growth = shm::Growth::default();
        self.shm.prepare_run(input_len, flags | socket, &[], growth).map_err(unwritten)
    }

    fn live_put(&mut self, at: u64, events: Events, label_from: u64) -> Result<(), ExecError> {
        let live = Live {
            have: at + events.bytes.len() as u64,
            events: events.most,
            random: events.seed.is_some().into(),
            seed: events.seed.unwrap_or(0),
            limit: self.target.sizes.live,
            label_from,
        };
        self.shm.put_live(at, events.bytes).map_err(unwritten)?;
        self.shm.prepare_live(&live).map_err(unwritten)
    }

    fn live_say(&mut self, word: Word, timeout: Duration) -> Step {
        match self.say(word, timeout, true) {
            Ok(Answer::Paused(m)) => {
                // The target says how much it took; there is room for so much.
                let taken = m.b.min(self.target.sizes.live);
                if let Some(server) = &mut self.server {
                    server.taken.resize(server.standing.len(), 0);
                    if let Some(last) = server.taken.last_mut() {
                        *last = taken;
                    }
                }
                let known = message::PAUSED_WITH_THREADS
                    | message::PAUSED_WITH_SHARED_FILE
                    | message::PAUSED_WITH_SOCKETS;
                let spoiled = if self.spoiled { message::PAUSED_WITH_SHARED_FILE } else { 0 };
                Step::Paused(Paused { taken, events: m.c, flaws: m.d & known | spoiled })
            }
            Ok(Answer::Ended(end, done)) => {
                let mut outcome = Outcome::nothing();
                self.ended(end, &done, &mut outcome);
                Step::Ended(outcome)
            }
            Err(why) => Step::Ended(Outcome { end: self.lost(why), ..Outcome::nothing() }),
        }
    }
}

fn unwritten(error: io::Error) -> ExecError {
    ExecError::Io { what: "cannot write the shared memory", error }
}
