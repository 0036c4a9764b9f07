//! A live run of a fake program. An event is one byte.
//!
//! A function cannot be paused, so a paused run is only the input that led there. To
//! resume it, the program runs from the start on a longer input. What it does before it
//! reads the first new byte is not recorded, and neither is what it does after the last.

use super::{Finished, LoggedRun, Purpose, Runner, lines_of};
use crate::executor::{End, Events, ExecError, Half, Outcome, Paused, Step, Touched};
use crate::growth::Growth;
use crate::target::LiveRun;
use crate::trace::{BrokenTrace, Trace};
use pleach_abi::growth::fresh_byte;
use pleach_abi::shm::{Bias, Line};
use std::time::Duration;

#[derive(Clone)]
pub(super) struct FakeLive {
    runner: Runner,
    half: Half,
    /// The inputs of the paused runs, each a prefix of the next.
    paused: Vec<Vec<u8>>,
    last_step: Option<LastStep>,
}

#[derive(Clone)]
struct LastStep {
    run: LoggedRun,
    runs_before: usize,
    /// Where the run was paused before the step, and how far it has read.
    from: usize,
    read: usize,
    lines: Vec<Line>,
}

impl FakeLive {
    pub fn new(runner: &Runner, half: Half) -> FakeLive {
        FakeLive { runner: runner.clone(), half, paused: Vec::new(), last_step: None }
    }

    /// Runs the program on a prefix that it has read before and on new bytes.
    fn step(&mut self, prefix: Vec<u8>, events: Events, timeout: Duration) -> Finished {
        let from = prefix.len();
        let given = events.bytes.iter().copied();
        let random =
            events.seed.into_iter().flat_map(|seed| (0..).map(move |i| fresh_byte(seed, i)));
        let count = usize::try_from(events.most).unwrap_or(usize::MAX);
        let input = prefix.into_iter().chain(given.chain(random).take(count)).collect();
        let run = LoggedRun {
            input,
            half: self.half,
            purpose: Purpose::Live,
            timeout,
            cpu_limit: None,
            growth: Growth::default(),
            fresh: false,
            tokens: false,
            holes: Vec::new(),
        };
        let runs_before = self.runner.log.add(run.clone());
        let finished = self.runner.execute(&run, runs_before, 1, Some(from));
        let (read, lines) = (finished.read, lines_of(&finished.counters));
        self.last_step = Some(LastStep { run, runs_before, from, read, lines });
        finished
    }

    fn step_and_pause(&mut self, prefix: Vec<u8>, events: Events, timeout: Duration) -> Step {
        let finished = self.step(prefix, events, timeout);
        match &self.last_step {
            Some(step) if finished.is_paused => {
                self.paused.push(step.run.input.clone());
                let (taken, new) = (step.read as u64, step.new_bytes());
                Step::Paused(Paused { taken, events: new, flaws: 0 })
            }
            _ => Step::Ended(finished.outcome),
        }
    }

    fn top(&self) -> Vec<u8> {
        self.paused.last().cloned().unwrap_or_default()
    }
}

impl LastStep {
    fn new_bytes(&self) -> u64 {
        self.read.saturating_sub(self.from) as u64
    }
}

impl LiveRun for FakeLive {
    /// Random bytes are uniform, whatever the bias.
    fn set_bias(&mut self, _bias: &Bias) -> Result<(), ExecError> {
        Ok(())
    }

    fn begin(&mut self, events: Events, timeout: Duration) -> Result<Step, ExecError> {
        self.paused.clear();
        Ok(self.step_and_pause(Vec::new(), events, timeout))
    }

    fn resume(&mut self, events: Events, timeout: Duration) -> Result<Step, ExecError> {
        let prefix = self.paused.pop().unwrap_or_default();
        Ok(self.step_and_pause(prefix, events, timeout))
    }

    fn fork(&mut self, events: Events, timeout: Duration) -> Result<Step, ExecError> {
        Ok(self.step_and_pause(self.top(), events, timeout))
    }

    fn explore(
        &mut self,
        bytes: &[u8],
        max_events: u64,
        timeout: Duration,
    ) -> Result<Outcome, ExecError> {
        let finished =
            self.step(self.top(), Events { bytes, most: max_events, seed: None }, timeout);
        Ok(match finished.is_paused {
            true => Outcome { end: End::Exit(0), ..finished.outcome },
            false => finished.outcome,
        })
    }

    fn drop_top(&mut self) {
        self.paused.pop();
    }

    fn depth(&self) -> usize {
        self.paused.len()
    }

    fn input(&self, from: u64) -> Result<Vec<u8>, ExecError> {
        let read = self.last_step.as_ref().map_or(&[][..], |step| &step.run.input[..step.read]);
        Ok(read.iter().copied().skip(from as usize).collect())
    }

    fn events(&self) -> Result<u64, ExecError> {
        Ok(self.last_step.as_ref().map_or(0, LastStep::new_bytes))
    }

    fn explored_bytes(&self) -> Result<u64, ExecError> {
        self.events()
    }

    fn touched(&self) -> Touched<'_> {
        let lines = self.last_step.as_ref().map_or(&[][..], |step| &step.lines);
        Touched { modules: &self.runner.modules, lines }
    }

    /// Runs the last step once more: a trace cannot be copied.
    fn trace(&self) -> Result<Trace, BrokenTrace> {
        match &self.last_step {
            Some(step) => {
                self.runner.execute(&step.run, step.runs_before, 1, Some(step.from)).trace
            }
            None => Err(BrokenTrace::Interrupted),
        }
    }
}
