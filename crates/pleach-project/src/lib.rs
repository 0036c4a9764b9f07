//! Looks at a source tree for `pleach init`: how it is built, which programs that makes, and
//! which of its files are seeds, grammars and harnesses of fuzzers.
//!
//! It only reads names and a few files. It runs nothing and writes nothing. What it says is a
//! guess that `pleach init --run` checks with real runs.

#![forbid(unsafe_code)]

mod build;
mod grammars;
mod includes;
mod programs;
mod seeds;
mod tree;

pub use build::{Build, System, below};
pub use grammars::Grammar;
pub use programs::{Harness, Program, Programs, is_test_dir};
pub use seeds::{MAX_SIZE, Seeds};
pub use tree::{File, Tree};

/// What a source tree has.
#[derive(Debug)]
pub struct Project {
    pub tree: Tree,
    /// The build systems, the preferred one first.
    pub systems: Vec<System>,
    pub programs: Programs,
    /// Groups of files that may be inputs, the most likely first.
    pub seeds: Vec<Seeds>,
    pub grammars: Vec<Grammar>,
}

impl Project {
    pub fn inspect(root: &std::path::Path) -> std::io::Result<Project> {
        let tree = Tree::read(root)?;
        let systems = build::systems(&tree);
        let programs = programs::find(&tree);
        let grammars = grammars::find(&tree);
        let seeds = seeds::find(&tree);
        Ok(Project { tree, systems, programs, seeds, grammars })
    }
}
