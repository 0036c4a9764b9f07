//! Caches what the flips of a run share.

use super::traced::Traced;
use crate::tokens::{GrammarWork, TokenRun};
use pleach_solve::Path;

/// The prepared paths of one search. Preparing a path takes longer than most flips of it.
pub struct Prepared {
    /// The path that was used last is at the end.
    paths: Vec<PreparedPath>,
    /// How many bytes the paths take together, and may take.
    memory: usize,
    max_memory: usize,
    /// Expression nodes of all paths that were prepared so far.
    pub(super) nodes: u64,
    /// The tokens of the run that was flipped last, with its number.
    pub(super) tokens: Option<(u32, TokenRun)>,
}

struct PreparedPath {
    run: u32,
    path: Path,
    /// Its memory when it was last measured: a path grows while its flips are solved.
    memory: usize,
}

/// How many paths are cached at most.
const MAX_PATHS: usize = 48;
/// How much memory they take at most, if nobody says otherwise.
const MAX_MEMORY: usize = 256 << 20;
/// What a path takes for each label of its trace, at least.
const MIN_BYTES_PER_LABEL: usize = 64;

impl Default for Prepared {
    fn default() -> Self {
        Prepared::new(MAX_MEMORY)
    }
}

impl Prepared {
    /// Keeps paths of at most `max_memory` bytes, but at least one path.
    pub fn new(max_memory: usize) -> Prepared {
        Prepared { paths: Vec::new(), memory: 0, max_memory, nodes: 0, tokens: None }
    }

    /// The bytes that the paths take.
    pub fn memory(&self) -> usize {
        self.memory
    }

    /// The path of a run; prepared now if it is not cached.
    pub(super) fn path(&mut self, run: u32, traced: &Traced) -> &mut Path {
        match self.paths.iter().position(|p| p.run == run) {
            Some(at) if at + 1 == self.paths.len() => {}
            Some(at) => {
                self.measure_last();
                self.paths[at..].rotate_left(1);
                self.drop_oldest(0);
            }
            None => {
                self.nodes += traced.expr.nodes().len() as u64;
                self.measure_last();
                self.drop_oldest(traced.expr.order().len() * MIN_BYTES_PER_LABEL);
                self.put(run, traced.prepare_path());
            }
        }
        let last = self.paths.len() - 1;
        &mut self.paths[last].path
    }

    /// The last of the decisions `others` of a run that a proof about decision `at` may use:
    /// see [`Path::last_joined`].
    pub fn last_joined(
        &mut self,
        run: u32,
        traced: &Traced,
        at: u32,
        others: &[u32],
    ) -> Option<u32> {
        let others: Vec<usize> = others.iter().map(|&step| step as usize).collect();
        let found = self.path(run, traced).last_joined(at as usize, &others);
        found.map(|step| step as u32)
    }

    /// Caches the path of a run.
    pub fn put(&mut self, run: u32, path: Path) {
        self.measure_last();
        let memory = path.memory();
        self.memory += memory;
        self.paths.push(PreparedPath { run, path, memory });
        self.drop_oldest(0);
    }

    /// Measures the path that was used last, which may have grown.
    pub fn measure_last(&mut self) {
        if let Some(last) = self.paths.last_mut() {
            let memory = last.path.memory();
            self.memory = self.memory - last.memory + memory;
            last.memory = memory;
        }
    }

    /// Drops paths until they take no more than they may, together with a path of at least
    /// `coming` bytes that is made next. If none is made, the last one stays.
    fn drop_oldest(&mut self, coming: usize) {
        let kept = usize::from(coming == 0);
        let mut dropped = 0;
        while self.paths.len() - dropped > kept
            && (self.paths.len() - dropped > MAX_PATHS || self.memory + coming > self.max_memory)
        {
            self.memory -= self.paths[dropped].memory;
            dropped += 1;
        }
        self.paths.drain(..dropped);
    }

    /// What the context-free solver did for the run that was flipped last, since this was
    /// last asked.
    pub(super) fn take_grammar_work(&mut self) -> GrammarWork {
        let run = self.tokens.as_mut().map(|(_, run)| run);
        run.map(|run| std::mem::take(&mut run.grammar_work)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_abi::node::{Node, Op};
    use pleach_expr::Expr;
    use pleach_solve::{Shape, Step};

    const INPUT: &[u8] = b"abcdefgh";

    /// A run that decides on each byte of its input.
    fn traced() -> Traced {
        let byte = |(at, &byte): (u32, &u8)| Node {
            op: Op::Input as u8,
            width: 8,
            a: at,
            val: byte.into(),
            ..Node::default()
        };
        let nodes = [Node::default()].into_iter().chain((0..).zip(INPUT).map(byte)).collect();
        let labels = 1..=INPUT.len() as u32;
        let expr = Expr::new(nodes, Vec::new(), INPUT.len() as u32, labels.clone()).unwrap();
        let steps = labels.map(|label| Step { label, shape: Shape::Value }).collect();
        Traced::new(expr, steps, INPUT.into())
    }

    #[test]
    fn there_is_room_before_a_path_is_prepared() {
        let traced = traced();
        let one = traced.prepare_path().memory();
        let mut prepared = Prepared::new(3 * one);
        for run in 0..2 {
            prepared.path(run, &traced);
        }
        assert_eq!((prepared.paths.len(), prepared.memory()), (2, 2 * one));
        prepared.drop_oldest(2 * one);
        assert_eq!(prepared.memory(), one);
        // Nothing has to stay beside a path that takes everything.
        prepared.drop_oldest(4 * one);
        assert_eq!((prepared.paths.len(), prepared.memory()), (0, 0));
    }

    #[test]
    fn one_path_stays_if_no_other_comes() {
        let mut prepared = Prepared::new(1);
        for run in 0..2 {
            prepared.path(run, &traced());
        }
        let runs: Vec<u32> = prepared.paths.iter().map(|p| p.run).collect();
        assert_eq!(runs, [1]);
        assert!(prepared.memory() > 1);
    }
}
