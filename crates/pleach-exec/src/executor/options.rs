//! What to run and how.

use crate::scratch::WorkDir;
use crate::shm::Sizes;
use crate::terminal::Size;
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// A bounded trace has at most this many nodes besides those of its input, if nobody says
/// otherwise.
pub const MAX_NODES: usize = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    Fast,
    Symbolic,
}

/// Where a target's standard output and error go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    Null,
    Inherit,
    /// Kept for [`Outcome`](super::Outcome). A run that writes more than `limit` bytes is
    /// ended.
    Capture {
        limit: u64,
    },
}

/// What to run and how.
#[derive(Clone, Debug)]
pub struct TargetOptions {
    pub half: Half,
    /// The program's name for itself (`argv[0]`), then its arguments. `@@` in an argument
    /// stands for the path of the input file. Without any `@@`, the input is standard
    /// input.
    pub args: Vec<OsString>,
    pub output: Output,
    /// The program reads its input from connections that it makes or accepts.
    pub socket: bool,
    /// The program runs on a terminal of this size, and the input is its keys.
    pub tty: Option<Size>,
    /// Label the input (symbolic half).
    pub label: bool,
    /// Token functions are a border (symbolic half); see docs/tokens.md.
    pub tokens: bool,
    pub sizes: Sizes,
    /// How many nodes a bounded trace may have besides those of its input.
    pub max_nodes: usize,
    /// The server's first message must come within this time.
    pub startup: Duration,
    /// Limit for the memory of all processes of a run together.
    pub memory_kib: Option<u64>,
    /// Limit for each file that a run writes, and for its scratch directory.
    pub file_kib: u64,
    /// Limit for the number of processes of a run.
    pub processes: u32,
    /// Runs work in a private directory, the same each time. Otherwise they work in the
    /// driver's own current directory.
    pub scratch: bool,
    /// The files that runs find in that directory; `None` for an empty directory.
    pub workdir: Option<WorkDir>,
    /// The end of the input file's name (`.json`), for programs that check it.
    pub extension: OsString,
    /// When this is set, the run is ended at once, with [`End::Timeout`](super::End).
    pub cancel: Option<Arc<AtomicBool>>,
}

impl TargetOptions {
    pub fn new(half: Half, args: Vec<OsString>) -> TargetOptions {
        TargetOptions {
            half,
            args,
            output: Output::Null,
            socket: false,
            tty: None,
            label: true,
            tokens: false,
            sizes: Sizes::default(),
            max_nodes: MAX_NODES,
            startup: Duration::from_secs(10),
            memory_kib: Some(4 << 20),
            file_kib: 1 << 20,
            processes: 256,
            scratch: false,
            workdir: None,
            extension: OsString::new(),
            cancel: None,
        }
    }
}
