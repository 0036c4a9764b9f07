//! The ring: choose, solve, run, judge, keep, tell the strategy.
//!
//! ```text
//! Worker::work   asks the strategy for an action                      worker.rs
//!   act          a trace, a flip, or inputs made without a solver     here
//!   flip         solve: one request to pleach_template::solve         here
//!   run_candidate  run it on the fast half, judge it                  runner.rs, judge.rs
//!   State::keep  keep it, and tell the strategy                       ../state.rs
//!   trace        run it on the symbolic half; its decisions enter the tree   trace.rs
//! ```
//!
//! One value travels round it, the [`Candidate`]. The ring turns on a [`Stage`]: a
//! [`Worker`] runs every input from the start of the program; hybrid search has a stage
//! that begins in the state of a live run (`hybrid/explore.rs`).

mod candidate;
mod crash;
pub mod divergence;
mod ends;
mod folded;
mod growing;
mod history;
mod import;
mod judge;
mod offspring;
mod optimistic;
mod patience;
mod runner;
mod trace;
mod worker;

pub use candidate::{Candidate, FastEnd, Judgement, Predicted, PredictedPath};
pub use crash::Crashes;
pub use growing::Growing;
pub use judge::{recall_bad, recall_input, run_candidate};
pub use optimistic::Bets;
pub use patience::Patience;
pub use runner::{FORK_COST, How, Pace, Runner};
pub use worker::Worker;

use super::account::Entry;
use super::corpus::Record;
use super::search::Question;
use super::shared::Shared;
use pleach_exec::executor::ExecError;
use pleach_search::{Action, BranchId, Flip, InputId, Mark, Origin, Verdict};
use pleach_template::solve::{self, Answer, Found, Prediction, Prepared};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Where a search takes place.
pub trait Stage {
    fn shared(&self) -> &Arc<Shared>;

    /// What a flip asks; `None` if its run was dropped.
    fn question(&mut self, flip: Flip) -> Option<Question>;

    fn solve(&mut self, flip: Flip, question: &Question) -> Answer;

    /// Counts an answer and tells the strategy the verdict. Without an answer, the run of the
    /// flip is gone. Returns the record for the journal, if a result goes there with it;
    /// otherwise it is written now.
    fn record_answer(
        &mut self,
        flip: Flip,
        answer: Option<Answered>,
        verdict: Verdict,
        has_result: bool,
    ) -> Option<Record>;

    /// The prepared paths of the search.
    fn prepared(&mut self) -> &mut Prepared;

    /// The maximal length of an input that is made from `parent`.
    fn max_len(&self, parent: &[u8]) -> usize;

    /// Runs a candidate on the fast half, judges it, keeps it if it is worth that, and
    /// tells the strategy. Returns its number if it is remembered.
    fn run(&mut self, candidate: Candidate) -> Result<Option<InputId>, ExecError>;

    /// Hands the result of a flip to the member of a fleet that runs it. False if it is for
    /// this one. `boundary`: another input that comes with it.
    fn hand_over(
        &mut self,
        _candidate: &Candidate,
        _boundary: Option<&[u8]>,
        _asked: (PredictedPath, Option<BranchId>),
    ) -> bool {
        false
    }

    /// The result of a flip was run.
    fn check_result(&mut self, question: &Question, path: PredictedPath, id: Option<InputId>);

    /// A flip has no result.
    fn give_up(&mut self, flip: Flip, question: &Question, answer: Answer)
    -> Result<(), ExecError>;

    /// Runs an input on the symbolic half, and adds its decisions to the search.
    fn trace(&mut self, input: InputId, on_tokens: bool) -> Result<(), ExecError>;

    /// Makes and runs inputs without a solver.
    fn make_inputs(&mut self, action: Action) -> Result<(), ExecError>;
}

/// An answer of the solver.
#[derive(Clone, Copy)]
pub struct Answered<'a> {
    pub answer: &'a Answer,
    pub spent: Duration,
    /// What is learned about the branch that was asked for.
    pub entry: Option<&'a Entry>,
}

/// Does what the strategy has chosen. False for a flip that has no result.
pub fn act(stage: &mut impl Stage, action: Action) -> Result<bool, ExecError> {
    pleach_work::show_input(match action {
        Action::Trace(input)
        | Action::TraceTokens(input)
        | Action::Mutate { input, .. }
        | Action::Graft { input, .. } => Some(input.into()),
        _ => None,
    });
    match action {
        Action::Trace(input) => stage.trace(input, false)?,
        Action::TraceTokens(input) => stage.trace(input, true)?,
        Action::Flip(flip) => return self::flip(stage, flip),
        Action::Wait => {}
        action => stage.make_inputs(action)?,
    }
    Ok(true)
}

/// Solves a flip, and runs the result. False if there is none.
fn flip(stage: &mut impl Stage, flip: Flip) -> Result<bool, ExecError> {
    let Some(question) = stage.question(flip) else {
        stage.record_answer(flip, None, Verdict::Gone, false);
        return Ok(false);
    };
    pleach_work::show_input(Some(question.parent.into()));
    let start = Instant::now();
    let mut answer = stage.solve(flip, &question);
    let spent = start.elapsed();
    // An interrupted request has no answer, and must not be recorded as unknown.
    if stage.shared().is_stopping() && answer.verdict == solve::Verdict::Unknown {
        stage.record_answer(flip, None, Verdict::Gone, false);
        return Ok(false);
    }
    let max_len = stage.max_len(&question.traced.input);
    let verdict = match (answer.verdict, &answer.found) {
        // Within the limit there is no result.
        (_, Some(found)) if found.bytes.len() > max_len => Verdict::Unsat,
        (solve::Verdict::Sat, _) => Verdict::Sat,
        (solve::Verdict::Optimistic, _) => Verdict::Optimistic,
        (solve::Verdict::Unsat, _) => Verdict::Unsat,
        (solve::Verdict::Unknown, _) => Verdict::Unknown,
    };
    let entry = entry_of(stage, flip, &question, verdict);
    let found = answer.found.take().filter(|found| found.bytes.len() <= max_len);
    let answered = Some(Answered { answer: &answer, spent, entry: entry.as_ref() });
    let record = stage.record_answer(flip, answered, verdict, found.is_some());
    let Some(found) = found else {
        stage.give_up(flip, &question, answer)?;
        return Ok(false);
    };
    let optimistic = question.predicted.optimistic || verdict == Verdict::Optimistic;
    let path = PredictedPath { optimistic, ..question.predicted };
    let is_path = matches!(found.prediction, Prediction::Path);
    let candidate = Candidate { answer: record, ..Candidate::solved(found, path, question.parent) };
    let boundary = answer.boundary.as_ref().map(|boundary| &boundary.bytes[..]);
    if is_path && stage.hand_over(&candidate, boundary, (path, question.branch)) {
        return Ok(true);
    }
    let id = stage.run(candidate)?;
    if is_path {
        stage.check_result(&question, path, id);
    }
    if let Some(boundary) = answer.boundary
        && !stage.shared().is_ending()
    {
        stage.run(Candidate::solved(boundary, path, question.parent))?;
    }
    Ok(true)
}

/// What an answer says about the branch that was asked for.
fn entry_of(
    stage: &mut impl Stage,
    flip: Flip,
    question: &Question,
    verdict: Verdict,
) -> Option<Entry> {
    // Only of a branch that is not covered people ask why.
    let branch = question.branch.filter(|&b| !stage.shared().seen.has(b))?;
    let mark = match verdict {
        Verdict::Sat => Mark::Sat,
        Verdict::Optimistic => Mark::Optimistic,
        Verdict::Unsat => Mark::Unsat,
        Verdict::Unknown => Mark::Unknown,
        Verdict::Gone => return None,
    };
    let mut pin = None;
    if mark == Mark::Unsat && !question.pins.is_empty() {
        let pins: Vec<u32> = question.pins.iter().map(|pin| pin.at).collect();
        let joined = stage.prepared().last_joined(flip.run, &question.traced, flip.at, &pins);
        pin = question.pins.iter().find(|pin| Some(pin.at) == joined).map(|pin| pin.site);
    }
    Some(Entry::Answered { branch, mark, pin })
}

impl Candidate {
    /// The result of a flip.
    fn solved(found: Found, path: PredictedPath, parent: InputId) -> Candidate {
        let predicted = match found.prediction {
            Prediction::Path => Predicted::Path(path),
            Prediction::Lengths(lengths) => Predicted::Lengths(lengths),
        };
        Candidate {
            template: found.template,
            predicted: Some(predicted),
            ..Candidate::new(found.bytes.into(), Origin::Flip(path.flip), Some(parent))
        }
    }
}
