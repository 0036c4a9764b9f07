//! Search: what to do next.
//!
//! The [`Tree`] remembers every prefix of decisions that a run took or that the solver was
//! asked for. A [`Strategy`] sees the tree, the [`Coverage`], the static [`Program`] and
//! the [`Runs`]. It is told the results of its actions, and chooses the next [`Action`].
//! There is no I/O here, no clock, no solver and no process. So the same seed and the same
//! results give the same actions.

#![forbid(unsafe_code)]

mod aim;
mod archive;
mod counts;
mod coverage;
mod distance;
mod keys;
mod pilot;
mod program;
mod rng;
mod run;
mod strategy;
mod targets;
mod tree;

pub use aim::{Aim, Goal};
pub use archive::Archive;
pub use counts::Counts;
pub use coverage::{Buckets, Coverage, Gain, bucket};
pub use distance::{Distances, FAR};
pub use pilot::{Explored, Hopeless, Pilot, PilotOptions, SnapshotId, Turn};
pub use program::{BranchId, Call, FunctionShape, Program, SiteShape};
pub use rng::Rng;
pub use run::{Decision, Entered, Flip, InputId, Marked, Run, RunId, Runs};
pub use strategy::{
    Action, Derives, Descriptor, ExecutionReport, FirstInputs, Needs, Options, Origin, RunCost,
    STRATEGIES, Strategy, TokenUse, UnknownStrategy, Verdict, View, find,
};
pub use tree::{Forgotten, Mark, Members, ROOT, Table, Tree};
