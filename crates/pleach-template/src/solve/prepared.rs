//! Caches what the flips of a run share.

use super::traced::Traced;
use crate::tokens::{GrammarWork, TokenRun};
use pleach_solve::Path;

/// The prepared paths of one search. Preparing a path takes longer than most flips of it.
#[derive(Default)]
pub struct Prepared {
    /// By the number of the run. The path that was used last is at the end.
    paths: Vec<(u32, Path)>,
    /// Expression nodes of all paths that were prepared so far.
    pub(super) nodes: u64,
    /// The tokens of the run that was flipped last, with its number.
    pub(super) tokens: Option<(u32, TokenRun)>,
}

/// How many paths are cached at most.
const MAX_PATHS: usize = 48;
/// How many are cached even if they use more than `MAX_MEMORY` bytes together.
const MIN_PATHS: usize = 4;
const MAX_MEMORY: usize = 256 << 20;

impl Prepared {
    /// The path of a run; prepared now if it is not cached.
    pub(super) fn path(&mut self, run: u32, traced: &Traced) -> &mut Path {
        match self.paths.iter().position(|(id, _)| *id == run) {
            Some(at) => self.paths[at..].rotate_left(1),
            None => {
                self.nodes += traced.expr.nodes().len() as u64;
                self.put(run, traced.prepare_path());
            }
        }
        let last = self.paths.len() - 1;
        &mut self.paths[last].1
    }

    /// Caches the path of a run.
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

    /// What the context-free solver did for the run that was flipped last, since this was
    /// last asked.
    pub(super) fn take_grammar_work(&mut self) -> GrammarWork {
        let run = self.tokens.as_mut().map(|(_, run)| run);
        run.map(|run| std::mem::take(&mut run.grammar_work)).unwrap_or_default()
    }
}
