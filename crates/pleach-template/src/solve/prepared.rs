//! Paths that are kept prepared between the flips of a run.

use super::traced::Traced;
use crate::tokens::Reading;
use pleach_solve::Path;

/// The prepared paths of one search. To prepare a path takes longer than most flips of it.
#[derive(Default)]
pub struct Prepared {
    /// By run. The one used last is at the end.
    paths: Vec<(u32, Path)>,
    /// Expression nodes of all paths that were prepared so far.
    pub(super) nodes: u64,
    /// The tokens of the run that was flipped last.
    pub(super) reading: Option<(u32, Reading)>,
}

/// Paths that are kept, and the memory that they may use together when there are more than
/// `MIN_PATHS`.
const MAX_PATHS: usize = 48;
const MIN_PATHS: usize = 4;
const MAX_MEMORY: usize = 256 << 20;

impl Prepared {
    /// The path of a run, prepared now if it is not there.
    pub fn path(&mut self, run: u32, traced: &Traced) -> &mut Path {
        match self.paths.iter().position(|(id, _)| *id == run) {
            Some(at) => self.paths[at..].rotate_left(1),
            None => {
                self.nodes += traced.expr.nodes().len() as u64;
                self.put(run, traced.path());
            }
        }
        let last = self.paths.len() - 1;
        &mut self.paths[last].1
    }

    /// Keeps a path that was prepared elsewhere.
    pub fn put(&mut self, run: u32, path: Path) {
        self.paths.push((run, path));
        let mut memory = 0;
        let kept = self.paths.iter().rev().enumerate().take_while(|(at, (_, path))| {
            memory += path.memory();
            *at < MIN_PATHS || (*at < MAX_PATHS && memory <= MAX_MEMORY)
        });
        let kept = kept.count();
        self.paths.drain(..self.paths.len() - kept);
    }
}
