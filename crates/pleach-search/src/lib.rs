//! Which branch to flip next.
//!
//! The [`Tree`] remembers every prefix of decisions that a run took or that the
//! solver was asked for. A [`Strategy`] sees it, the [`Coverage`], the static
//! [`Program`] and the [`Runs`], is told what came of its actions, and answers
//! with the next [`Action`]. It sees nothing else: there is no I/O here, no
//! clock, no solver and no process, so the same seed and the same news give the
//! same actions.

#![forbid(unsafe_code)]

mod coverage;
mod distance;
mod keys;
mod pilot;
mod program;
mod rng;
mod run;
mod strategy;
mod tree;

pub use coverage::{Coverage, Gain, bucket};
pub use distance::{Distances, FAR};
pub use pilot::{Explored, Hopeless, Pilot, PilotOptions, SnapshotId, Turn};
pub use program::{BranchId, Call, FunctionShape, Program, SiteShape};
pub use rng::Rng;
pub use run::{Decision, Flip, InputId, Run, RunId, Runs};
pub use strategy::{
    Action, Derives, Descriptor, FirstInputs, InputNews, Needs, Options, Origin, STRATEGIES,
    Strategy, TokenUse, UnknownStrategy, Verdict, View, find,
};
pub use tree::{Mark, Tree};
