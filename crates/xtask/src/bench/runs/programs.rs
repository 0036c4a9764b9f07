//! The programs of `./x bench runs`, and their builds.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use crate::bench::contest::program::{Built, Program};
use crate::process;
use crate::project;
use crate::subjects::{Flavour, Recipe, ensure_built};

/// The examples that run by default: their directory, and their seeds in it. They read
/// standard input, except for those with arguments.
const EXAMPLES: [Example; 3] = [
    Example { name: "cue", seeds: "samples", args: &[] },
    Example { name: "simplecalc", seeds: "seeds", args: &[] },
    Example { name: "tinyjs", seeds: "scripts", args: &["@@"] },
];
/// The subjects that run by default.
const SUBJECTS: [&str; 3] = ["bc", "expat", "lua"];

struct Example {
    name: &'static str,
    seeds: &'static str,
    args: &'static [&'static str],
}

/// How a program of the benchmark is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A process for each input.
    Fork,
    /// A libFuzzer target: one process for many inputs.
    Persistent,
}

pub struct Runnable {
    pub name: String,
    pub mode: Mode,
    /// True if it runs when no program is named.
    pub is_default: bool,
    source: Source,
}

enum Source {
    Example(&'static Example),
    Program(Box<Program>),
    FuzzTarget(Box<Recipe>),
}

impl Runnable {
    /// The programs with these names; without names, the default ones.
    pub fn choose(names: &[String]) -> Result<Vec<Runnable>> {
        let mut all = Runnable::all()?;
        if let Some(name) = names.iter().find(|n| all.iter().all(|r| r.name != **n)) {
            let known: Vec<&str> = all.iter().map(|r| r.name.as_str()).collect();
            bail!("there is no program {name}; there are {}", known.join(", "));
        }
        all.retain(|r| if names.is_empty() { r.is_default } else { names.contains(&r.name) });
        Ok(all)
    }

    /// The calculator, the examples, the subjects, and the libFuzzer targets.
    pub fn all() -> Result<Vec<Runnable>> {
        let mut all = Vec::new();
        let mut subjects = Vec::new();
        for program in Program::all()? {
            let is_default = program.name == "calc" || SUBJECTS.contains(&program.name.as_str());
            let (name, mode) = (program.name.clone(), Mode::Fork);
            let list = if name == "calc" { &mut all } else { &mut subjects };
            list.push(Runnable {
                name,
                mode,
                is_default,
                source: Source::Program(Box::new(program)),
            });
        }
        for example in &EXAMPLES {
            let (name, mode) = (example.name.into(), Mode::Fork);
            all.push(Runnable { name, mode, is_default: true, source: Source::Example(example) });
        }
        all.append(&mut subjects);
        for recipe in Recipe::fuzz_targets()? {
            let (name, mode) = (recipe.name.clone(), Mode::Persistent);
            let source = Source::FuzzTarget(Box::new(recipe));
            all.push(Runnable { name, mode, is_default: true, source });
        }
        Ok(all)
    }

    pub fn build(&self, flavour: Flavour) -> Result<Built> {
        match &self.source {
            Source::Example(example) => build_example(example, flavour),
            Source::Program(program) => program.build(flavour),
            Source::FuzzTarget(recipe) => {
                ensure_built(recipe, flavour, false)?;
                Ok(Built {
                    directory: recipe.build_dir(flavour),
                    command: vec!["./fuzz-target".into()],
                })
            }
        }
    }

    /// The directory of the seeds. The second result keeps it, if it is temporary.
    pub fn seeds(&self) -> Result<(PathBuf, Option<TempDir>)> {
        match &self.source {
            Source::Example(example) => {
                Ok((project::root().join("examples").join(example.name).join(example.seeds), None))
            }
            Source::Program(program) => {
                let dir = tempfile::tempdir()?;
                program.write_seeds(dir.path())?;
                Ok((dir.path().into(), Some(dir)))
            }
            Source::FuzzTarget(recipe) => Ok((recipe.home().join("seeds"), None)),
        }
    }
}

/// Copies an example to a directory for this flavour and builds it there.
fn build_example(example: &Example, flavour: Flavour) -> Result<Built> {
    let from = project::root().join("examples").join(example.name);
    let directory = project::target("bench").join(format!("{}.{}", example.name, flavour.name()));
    fs::create_dir_all(&directory)?;
    for entry in fs::read_dir(&from)? {
        let path = entry?.path();
        if path.is_file() {
            fs::copy(&path, directory.join(path.file_name().context("a file has a name")?))?;
        }
    }
    let mut make = Command::new("make");
    make.arg(format!("CC={}", flavour.compilers()?.0.display())).current_dir(&directory);
    make.envs(flavour.variables().iter().copied()).stdin(Stdio::null());
    let what = format!("building {} ({})", from.display(), flavour.name());
    process::succeed(&mut make, Duration::from_secs(300), &what)?;
    let mut command = vec![format!("./{}", example.name)];
    command.extend(example.args.iter().map(|arg| arg.to_string()));
    Ok(Built { directory, command })
}
