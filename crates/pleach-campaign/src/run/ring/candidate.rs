//! A candidate: an input on its way round the ring.
//!
//! It is made (from a seed, a flip, a mutation or a grammar), run on the fast half, judged,
//! and perhaps kept. The same value is then what the corpus knows of the input: a trace
//! asks it where the run should go and what of the input may change.

use crate::run::corpus::Record;
use crate::run::exchange::Sender;
use crate::run::fleet::HeardAs;
use pleach_search::{BranchId, Flip, Gain, InputId, Origin, RunCost};
use pleach_template::Template;
use pleach_template::solve::LengthPath;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct Candidate {
    pub bytes: Arc<[u8]>,
    pub origin: Origin,
    /// The input that it was made from.
    pub parent: Option<InputId>,
    /// The other fuzzer that made it.
    pub sender: Option<Sender>,
    /// How it is used, if it comes from the fleet.
    pub heard: Option<HeardAs>,
    /// The parts of it that may change; `None` if every byte may.
    pub template: Option<Arc<Template>>,
    /// Where its run should go, if a solver made it.
    pub predicted: Option<Predicted>,
    /// The answer of the solver that it is the result of. The journal gets both in one
    /// write.
    pub answer: Option<Record>,
    /// How its run on the fast half ended.
    pub fast: FastEnd,
    /// The branch that it was solved for, if that run did not count it.
    pub uncounted: Option<BranchId>,
    /// Its number in the queue.
    pub queue: Option<u32>,
}

/// How an input ended on the fast half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FastEnd {
    /// It has not run since the campaign was started or resumed.
    NotRun,
    /// By itself.
    Complete,
    Crashed,
    /// A limit ended it.
    Hung,
}

/// Where the run of an input should go.
#[derive(Clone, Debug)]
pub enum Predicted {
    Path(PredictedPath),
    /// It decides so on the lengths of holes.
    Lengths(LengthPath),
}

/// The beginning of a run's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredictedPath {
    pub flip: Flip,
    /// How many decisions are predicted.
    pub decisions: u32,
    /// The node of the tree after them.
    pub node: u64,
    /// The path is not certain: the flip was solved without all its conditions, or lies
    /// where only the symbolic half has been.
    pub optimistic: bool,
    /// The flip asks for a check to fail: the run can show it only by a crash.
    pub check: bool,
    /// It is the path of a run on tokens. A run on bytes has other decisions.
    pub on_tokens: bool,
}

/// What a run of a candidate brought.
#[derive(Debug, Default)]
pub struct Judgement {
    pub gain: Gain,
    /// It goes into the queue.
    pub keep: bool,
    pub cost: RunCost,
}

impl Candidate {
    pub fn new(bytes: Arc<[u8]>, origin: Origin, parent: Option<InputId>) -> Candidate {
        Candidate {
            bytes,
            origin,
            parent,
            sender: None,
            heard: None,
            template: None,
            predicted: None,
            answer: None,
            fast: FastEnd::NotRun,
            uncounted: None,
            queue: None,
        }
    }

    /// An input of a campaign that is resumed.
    pub fn recalled(
        bytes: Arc<[u8]>,
        queue: Option<u32>,
        template: Option<Arc<Template>>,
    ) -> Candidate {
        Candidate { queue, template, ..Candidate::new(bytes, Origin::Recalled, None) }
    }

    /// The path that was predicted for it.
    pub fn predicted_path(&self) -> Option<&PredictedPath> {
        match &self.predicted {
            Some(Predicted::Path(path)) => Some(path),
            _ => None,
        }
    }

    /// The decisions on lengths that were predicted for it.
    pub fn predicted_lengths(&self) -> Option<&LengthPath> {
        match &self.predicted {
            Some(Predicted::Lengths(lengths)) => Some(lengths),
            _ => None,
        }
    }
}
