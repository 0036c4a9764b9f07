//! A batch: many inputs for one message to a persistent target. `pleach-rt` has the other
//! side (`batch`).
//!
//! The results are those of as many single runs: every input has its own end, its own
//! counters and its own limits. A batch stops at the first input that does not end by
//! itself. The caller runs the rest, which then gets a new process.

use super::{End, ExecError, Executor, Half, Outcome, Touched};
use crate::container::is_container;
use crate::growth::Growth;
use crate::server::{Answer, Command};
use crate::shm::{LoadedModule, raise_to};
use pleach_abi::message;
use pleach_abi::shm::Line;
use std::sync::Arc;
use std::time::Duration;

/// One input of a batch.
#[derive(Clone, Copy, Debug)]
pub struct BatchInput<'a> {
    pub bytes: &'a [u8],
    /// What typed calls past its end get.
    pub growth: Growth,
}

/// The runs of the first inputs of a batch, in order.
#[derive(Clone, Debug, Default)]
pub struct BatchRuns {
    modules: Arc<[LoadedModule]>,
    outcomes: Vec<Outcome>,
    /// For each run, the end of its lines.
    ends: Vec<usize>,
    lines: Vec<Line>,
}

impl BatchRuns {
    pub fn clear(&mut self) {
        self.outcomes.clear();
        self.ends.clear();
        self.lines.clear();
    }

    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// The counters that a run moved.
    pub fn touched(&self, run: usize) -> Touched<'_> {
        let from = run.checked_sub(1).map_or(0, |before| self.ends[before]);
        Touched { modules: &self.modules, lines: &self.lines[from..self.ends[run]] }
    }

    /// Adds a run that was not one of a batch.
    pub fn push(&mut self, modules: &Arc<[LoadedModule]>, outcome: Outcome, lines: &[Line]) {
        self.modules = modules.clone();
        self.lines.extend_from_slice(lines);
        self.outcomes.push(outcome);
        self.ends.push(self.lines.len());
    }
}

impl Executor {
    /// Runs inputs in order, at least the first one. Stops after the first that does not end
    /// by itself, or earlier. Only a persistent target runs more than one.
    pub fn run_batch(
        &mut self,
        inputs: &[BatchInput],
        timeout: Duration,
        runs: &mut BatchRuns,
    ) -> Result<(), ExecError> {
        runs.clear();
        let Some(first) = inputs.first() else { return Ok(()) };
        self.set_growth(first.growth);
        self.prepare(first.bytes)?;
        let is_alike =
            |i: &&BatchInput| !is_container(i.bytes) && i.growth.fixed == first.growth.fixed;
        let count = match self.takes_batch() {
            true => {
                let alike = inputs.iter().take_while(is_alike);
                self.setup.shm.put_batch(alike.map(|i| (i.bytes, i.growth.prepare(i.bytes))))
            }
            false => 0,
        };
        if count > 0 {
            self.run_prepared_batch(count, timeout, runs);
        } else {
            let outcome = self.run_prepared(timeout);
            self.add_last(outcome, runs);
        }
        Ok(())
    }

    /// True if the process that waits can take a batch. Where runs write files or output,
    /// each needs a clean start.
    fn takes_batch(&self) -> bool {
        let options = &self.setup.options;
        self.is_waiting()
            && !self.dir_was_changed
            && options.half == Half::Fast
            && options.sizes.batch > 0
            && !options.socket
            && self.setup.capture.is_none()
            && self.setup.terminal.is_none()
    }

    fn run_prepared_batch(&mut self, count: usize, timeout: Duration, runs: &mut BatchRuns) {
        let rounds = self.server.as_ref().map_or(0, |s| s.rounds);
        self.batch = count;
        let answer = self.converse(Command::Run, timeout, false);
        self.batch = 0;
        let waits = matches!(&answer, Ok(Answer::Ended(_, m)) if m.kind == message::STOPPED)
            && self.is_waiting();
        // The target may have written any number.
        let at = self.setup.shm.batch_at();
        let done = at.min(if waits { count } else { count - 1 });
        (0..done).for_each(|input| self.add_done(input, rounds, runs));
        let mut outcome = Outcome { round: rounds + done as u32 + 1, ..Outcome::not_run() };
        let is_limit = |end: &End| !matches!(end, End::Exit(_) | End::Signal(_));
        match answer {
            Ok(Answer::Ended(end, m)) if waits && done > 0 => {
                self.server.iter_mut().for_each(|s| s.rounds = rounds + done as u32);
                self.finish(end, &m, &mut outcome);
                runs.outcomes[done - 1].strays = outcome.strays;
            }
            Ok(Answer::Ended(end, m)) if !waits => {
                let was_next = is_limit(&end) && done > self.batch_checked;
                self.finish(end, &m, &mut outcome);
                // When it was to be ended it had just reached the next input, which has
                // reached no limit yet.
                match was_next {
                    true => self.take_counters(),
                    false => self.add_last(outcome, runs),
                }
            }
            Ok(_) => {
                self.server = None;
                outcome.end = End::Lost("the fork server broke its protocol".into());
                self.add_last(outcome, runs);
            }
            Err(why) => {
                outcome.end = self.give_up_server(why);
                self.add_last(outcome, runs);
            }
        }
    }

    /// Adds an input of the batch that ended by itself.
    fn add_done(&mut self, input: usize, rounds: u32, runs: &mut BatchRuns) {
        let Some(server) = &self.server else { return };
        self.lines.clear();
        let growth = self.setup.shm.take_batch_lines(input, &server.ranges, &mut self.lines);
        raise_to(&mut self.lines, &server.startup);
        let outcome = Outcome {
            end: End::Exit(0),
            round: rounds + input as u32 + 1,
            calls: growth.into(),
            ..Outcome::not_run()
        };
        runs.push(&server.modules, outcome, &self.lines);
    }

    /// Adds the run that was made last.
    fn add_last(&mut self, mut outcome: Outcome, runs: &mut BatchRuns) {
        self.collect(&mut outcome);
        let modules = self.server.as_ref().map(|s| s.modules.clone());
        let modules = modules.unwrap_or_else(|| runs.modules.clone());
        runs.push(&modules, outcome, &self.lines);
    }
}
