//! From an executable to a run or a trace. This crate finds the two halves in the file,
//! runs them, reads and checks what they leave in shared memory, and tells crashes apart.
//!
//! `target` has the small interface that a search uses, and `fake` implements it for tests.
//! `executor` is what implements it for real targets.
//!
//! A target is hostile by assumption. It may write anything into the shared memory at any
//! time, fork, daemonise, close its descriptors, kill its parent or hang. All that it can
//! spoil is its own run.
//!
//! Nothing here searches, solves, chooses what to run, or formats more than one-line
//! messages. `unsafe` is confined to `shm` (memory files) and to the modules that make
//! system calls: `process`, `affinity`, `warden`, `terminal` and `server`.

pub mod affinity;
pub use pleach_expr::container;
pub mod executor;
#[cfg(any(test, feature = "fake"))]
pub mod fake;
mod files;
pub mod growth;
pub mod image;
pub mod layout;
pub mod oracle;
pub mod plain;
mod private;
pub mod process;
pub mod scratch;
mod server;
pub mod shm;
pub mod source;
pub mod target;
pub mod targets;
pub mod terminal;
mod thin;
pub mod trace;
pub mod triage;
mod warden;

pub use executor::{
    BatchInput, BatchRuns, End, Events, ExecError, Executor, Half, ModuleCounters, Outcome, Output,
    Paused, Step, TargetOptions, Touched,
};
pub use growth::{Calls, Growth};
pub use image::{Image, ImageError};
pub use layout::Layout;
pub use plain::Plain;
pub use scratch::{WorkDir, WorkDirError};
pub use server::signal_name;
pub use source::is_system_file;
pub use target::{CompiledTarget, LiveRun, RunOptions, Target, TraceOptions, TracedRun};
pub use trace::{BrokenTrace, TokenSeen, Trace};
pub use triage::{CrashId, Examined, Frame, Triage};
