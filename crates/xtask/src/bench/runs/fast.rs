//! Pleach's fast half, run as a campaign runs mutants: through the executor, with a check
//! of the counters for news after each run.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use pleach_exec::{
    BatchInput, BatchRuns, End, Executor, Growth, Half, Layout, TargetOptions, Touched,
};

use super::Ended;
use crate::bench::contest::program::Built;

/// The limits that `pleach run` has by default.
const MEMORY_KIB: u64 = 2 << 20;
/// Inputs that a campaign runs at once.
const MAX_BATCH: usize = 128;

pub struct FastHalf {
    executor: Executor,
    timeout: Duration,
    /// For each counter, one bit for each bucket that some run had.
    seen: Vec<u8>,
}

impl FastHalf {
    /// Starts a program that `pleach-cc` built.
    pub fn start(built: &Built, timeout: Duration) -> Result<FastHalf> {
        let program = built.program()?;
        let mut args = vec![program.clone().into_os_string()];
        args.extend(built.command.iter().skip(1).map(OsString::from));
        let mut options = TargetOptions::new(Half::Fast, args);
        options.memory_kib = Some(MEMORY_KIB);
        options.scratch = true;
        let mut executor = Executor::new(Arc::new(Layout::private(&program)?), options)?;
        executor.start()?;
        Ok(FastHalf { executor, timeout, seen: Vec::new() })
    }

    /// The number of counters.
    pub fn counters(&self) -> usize {
        self.executor.counters().iter().map(|m| m.counters.len()).sum()
    }

    /// True if the process of the last run waits for its next input.
    pub fn is_persistent(&self) -> bool {
        self.executor.is_waiting()
    }

    /// Runs inputs in order, as many at once as the target allows, and calls `done` for
    /// each: how it ended, and whether it covered something new.
    pub fn run_all(
        &mut self,
        inputs: &[Vec<u8>],
        done: &mut dyn FnMut(usize, Ended, bool),
    ) -> Result<()> {
        let mut runs = BatchRuns::default();
        let mut at = 0;
        while at < inputs.len() {
            let rest = inputs[at..].iter().take(MAX_BATCH);
            let batch: Vec<BatchInput> = rest
                .map(|bytes| BatchInput { bytes: bytes.as_slice(), growth: Growth::default() })
                .collect();
            self.executor.run_batch(&batch, self.timeout, &mut runs)?;
            for (run, outcome) in runs.outcomes().iter().enumerate() {
                let ended = match &outcome.end {
                    End::Exit(_) => Ended::Well,
                    End::Signal(_) => Ended::Crash,
                    End::Lost(why) => bail!("the fork server was lost: {why}"),
                    _ => Ended::Timeout,
                };
                let new = is_new(&mut self.seen, runs.touched(run));
                done(at + run, ended, new);
            }
            at += runs.outcomes().len();
        }
        Ok(())
    }
}

/// True if a run has a count in a bucket that no run had, for some counter.
fn is_new(seen: &mut Vec<u8>, touched: Touched) -> bool {
    let mut is_new = false;
    for line in touched.lines {
        let first = line.first as usize;
        if seen.len() < first + line.counts.len() {
            seen.resize(first + line.counts.len(), 0);
        }
        for (&count, seen) in line.counts.iter().zip(&mut seen[first..]) {
            let bit = pleach_search::bucket(count);
            is_new |= *seen & bit != bit;
            *seen |= bit;
        }
    }
    is_new
}
