//! From a target's executable to a trace in the driver's memory: finding the halves in
//! the file, running them, reading and checking what they leave in shared memory, and
//! telling crashes apart.
//!
//! A target is hostile by assumption. It may write anything into the shared memory at any
//! time, fork, daemonise, close its descriptors, kill its parent or never end; what it
//! costs is its own run. Nothing here searches, solves or decides what to run next, and
//! nothing formats anything for people beyond one-line messages.
//!
//! `unsafe` is confined to `shm` (memory files) and to the parts that make system calls:
//! `process`, `affinity`, `warden`, `terminal` and `server`.

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
pub mod target;
pub mod terminal;
mod thin;
pub mod trace;
pub mod triage;
mod warden;

pub use executor::{
    End, Events, ExecError, Executor, Half, ModuleCounters, Outcome, Output, Paused, Step,
    TargetOptions,
};
pub use growth::{Calls, Growth};
pub use image::{Image, ImageError, is_system_file};
pub use layout::Layout;
pub use plain::Plain;
pub use scratch::{WorkDir, WorkDirError};
pub use server::signal_name;
pub use target::{CompiledTarget, LiveRun, RunOptions, Target, TraceOptions, TracedRun};
pub use trace::{BrokenTrace, TokenSeen, Trace};
pub use triage::{CrashId, Examined, Frame, Triage};
