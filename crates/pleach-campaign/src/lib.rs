//! Everything between a target's executable and a trace in the driver's
//! memory: finding the halves in the file, running them, reading what they
//! leave in shared memory, and checking it. Beside it, what is done with inputs
//! whatever the search: mutation, triage of crashes, minimising.
//!
//! A target is hostile by assumption. It may write anything into the shared
//! memory at any time, fork, daemonise, close its descriptors, kill its
//! parent or never end; what it costs is its own run. Nothing here formats
//! anything for people beyond one-line messages, and nothing decides what to
//! run next.
//!
//! `unsafe` is confined to `shm` (memory files) and to the executor's parts that
//! make system calls: `process`, `warden`, `server`.

pub mod affinity;
pub mod container;
pub mod executor;
mod files;
pub mod growth;
pub mod image;
pub mod layout;
pub mod minimise;
pub mod mutate;
pub mod oracle;
pub mod plain;
mod private;
pub mod process;
pub mod run;
mod scratch;
mod server;
pub mod shm;
pub mod terminal;
mod thin;
pub mod trace;
pub mod triage;
mod warden;

pub use executor::{End, Events, ExecError, Executor, Half, Outcome, Output, Stand, Step, Target};
pub use growth::{Calls, Growth};
pub use image::{Image, ImageError, is_system_file};
pub use layout::Layout;
pub use plain::Plain;
pub use scratch::{WorkDir, WorkDirError};
pub use server::signal_name;
pub use trace::{TokenSeen, Trace};
pub use triage::{CrashId, Frame, Triage};
