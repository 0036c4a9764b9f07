//! Cuts the inputs of a live run to what they need, by runs from the start.

use super::phrases;
use crate::minimise::{Shows, bisect};
use crate::run::ring::{How, Runner};
use pleach_exec::executor::{End, ExecError};
use pleach_search::{BranchId, Pilot};

/// What cutting may cost, in events: a quarter of what driving the live run costs, and
/// something to begin with. In a small program that is enough for everything. In a large
/// one every stretch of events finds something, and cutting all of them would leave no time
/// for more.
#[derive(Default)]
pub struct Cuts {
    /// Events of the live run.
    pub driven: u64,
    /// What cutting has cost.
    spent: u64,
}

/// How often a prefix is halved.
const MAX_HALVINGS: usize = 12;
/// What cutting may cost to begin with, in events.
const FIRST_BUDGET: u64 = 1 << 14;

impl Cuts {
    pub fn may_spend(&self) -> bool {
        self.spent < self.driven / 4 + FIRST_BUDGET
    }

    /// The length of the shortest prefix of an input that covers the branches, as far as a
    /// few runs tell.
    pub fn shortest_prefix(
        &mut self,
        runner: &mut Runner,
        input: &[u8],
        branches: &[BranchId],
    ) -> Result<usize, ExecError> {
        let mut halvings = 0;
        bisect(0, input.len(), |len| {
            halvings += 1;
            if halvings > MAX_HALVINGS || !self.may_spend() || runner.shared.is_stopping() {
                return Ok(Shows::OutOfBudget);
            }
            self.shows(runner, &input[..len], branches)
        })
    }

    /// The shortest suffix of an input that covers the branches, given what comes before
    /// its last bytes, as far as a few runs tell.
    pub fn last_words<'a>(
        &mut self,
        runner: &mut Runner,
        input: &'a [u8],
        branches: &[BranchId],
    ) -> Result<&'a [u8], ExecError> {
        let (before, tail) = input.split_at(input.len().saturating_sub(phrases::MAX_LENGTH));
        let start = bisect(tail.len(), 0, |start| match runner.shared.is_stopping() {
            true => Ok(Shows::OutOfBudget),
            false => self.shows(runner, &[before, &tail[start..]].concat(), branches),
        })?;
        Ok(&tail[start..])
    }

    /// Runs an input from the start to see if it covers the branches.
    fn shows(
        &mut self,
        runner: &mut Runner,
        input: &[u8],
        branches: &[BranchId],
    ) -> Result<Shows, ExecError> {
        self.spent += Pilot::RESTART + input.len() as u64;
        let run = |runner: &mut Runner| runner.run(input, How::default());
        let end = runner.with_time_for(input.len(), run)?;
        Ok(Shows::same_if(matches!(end, End::Exit(_)) && runner.has_taken(branches)))
    }
}
