//! How the memory of a campaign is divided.
//!
//! `--max-memory` bounds what grows with the length of a campaign. Each part has a share of
//! it, and each part counts its own bytes. Nothing here asks the system how much memory is
//! used: two campaigns with the same limit forget the same at the same moment, and so have
//! the same queue. What a part drops is what is cheapest to make again:
//!
//! - The tree forgets edges (`pleach_search::Tree`). In a search that should be exhaustive,
//!   they go to disk.
//! - Runs and their traces are dropped, the oldest first; their inputs can be traced again.
//! - Inputs outside of the queue are dropped, the oldest first; in a search that should be
//!   exhaustive, they go to disk. Of inputs of the queue, the bytes go to disk.
//! - Prepared paths and the answers of the solver are made again.
//! - Of a trace that reaches too many nodes, the decisions on the first nodes are kept
//!   (`decisions left out` in `partial`).
//!
//! What is not in a share has about a quarter of the limit: what is known of the program, the
//! trace that is being read, and the tables of the strategy.

use pleach_exec::executor::MAX_NODES;
use serde::{Deserialize, Serialize};

/// No campaign works with less.
pub const MIN_MEMORY: u64 = 64 << 20;
/// A trace may always have this many nodes.
const MIN_NODES: usize = 1 << 16;
/// What a node of a trace takes in its prepared path, about: the largest path has the share
/// of all prepared paths.
const BYTES_PER_NODE: usize = 128;

/// How many bytes each part may take.
#[derive(Clone, Copy, Debug)]
pub struct Shares {
    pub tree: usize,
    /// Runs and their traces.
    pub runs: usize,
    /// Inputs outside of the queue.
    pub inputs: usize,
    /// Inputs of the queue.
    pub queue: usize,
    /// The number of inputs that wait to be traced, and of questions about lengths.
    pub waiting: usize,
    pub lengths: usize,
    /// Of one worker: prepared paths, and what its solver remembers.
    pub paths: usize,
    pub solver: usize,
    /// The number of nodes of one trace, besides those of its input.
    pub trace_nodes: usize,
    /// Of one worker: the tree and the runs of a search from a live state.
    pub live_tree: usize,
    pub live_runs: usize,
}

impl Shares {
    /// The shares of a campaign with this limit in bytes, and this many workers.
    pub fn new(limit: u64, jobs: usize) -> Shares {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let of_worker = limit / jobs.max(1);
        Shares {
            tree: limit / 8,
            runs: limit / 4,
            inputs: limit / 16,
            queue: limit / 16,
            waiting: limit.max(MIN_MEMORY as usize) / 64 / 16,
            lengths: limit.max(MIN_MEMORY as usize) / 64 / 32,
            paths: of_worker / 8,
            solver: of_worker / 32,
            trace_nodes: (of_worker / BYTES_PER_NODE / 8).clamp(MIN_NODES, MAX_NODES),
            live_tree: of_worker / 64,
            live_runs: of_worker / 32,
        }
    }
}

/// Where the memory of the driver is, in bytes, as it is accounted for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// `--max-memory`.
    pub limit: u64,
    /// The sum of the parts.
    pub total: u64,
    /// The execution tree.
    pub tree: u64,
    /// Runs, with their traces.
    pub runs: u64,
    /// Inputs outside of the queue, and those of the queue.
    pub inputs: u64,
    pub queue: u64,
    /// Prepared paths, and what the solvers remember.
    pub paths: u64,
    pub solver: u64,
    /// Edges of the tree that were forgotten, and how many of them were refuted or given up.
    pub forgotten: u64,
    pub forgotten_refutations: u64,
    /// Edges of the tree that are on disk.
    pub edges_on_disk: u64,
}

impl Memory {
    pub fn add_up(&mut self) {
        let Memory { tree, runs, inputs, queue, paths, solver, .. } = *self;
        self.total = tree + runs + inputs + queue + paths + solver;
    }
}

/// The memory that this process has, in bytes, as the system counts it; 0 if it does not say.
pub fn resident_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}

/// What one worker takes.
#[derive(Clone, Copy, Debug, Default)]
pub struct WorkerMemory {
    pub paths: usize,
    pub solver: usize,
}

impl WorkerMemory {
    /// Reports what a worker takes now; `self` is what it reported last.
    pub fn report(&mut self, now: WorkerMemory, memory: &mut Memory) {
        memory.paths = memory.paths + now.paths as u64 - self.paths as u64;
        memory.solver = memory.solver + now.solver as u64 - self.solver as u64;
        *self = now;
    }
}
