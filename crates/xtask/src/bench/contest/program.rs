//! A program that several fuzzers run on: its builds and its seed.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::{afl, gcov};
use crate::bench::inputs;
use crate::process;
use crate::project;
use crate::subjects::{Flavour, Recipe, ensure_built, stage_output};

/// One build of a program.
#[derive(Clone, Debug)]
pub struct Built {
    pub directory: PathBuf,
    /// The words of the command; `@@` is the input.
    pub command: Vec<String>,
}

impl Built {
    /// The absolute path of the program.
    pub fn program(&self) -> Result<PathBuf> {
        let path = self.directory.join(self.command.first().context("no program")?);
        path.canonicalize().with_context(|| path.display().to_string())
    }
}

/// A program and how to build it. Each build is made when it is first needed.
pub struct Program {
    pub name: String,
    source: Source,
    builds: RefCell<HashMap<&'static str, Built>>,
    begin: OnceCell<(u64, u64)>,
}

enum Source {
    /// The calculator in `examples/calc`.
    Calculator,
    Subject(Box<Recipe>),
    /// A Debian package: its seeds are its own test data, and all contestants use ASan.
    Package(Box<Recipe>),
}

impl Program {
    /// The calculator and every subject whose recipe defines how to fuzz it.
    pub fn all() -> Result<Vec<Program>> {
        let mut programs = vec![Program::new("calc", Source::Calculator)];
        for recipe in Recipe::all()?.into_iter().filter(Recipe::has_fuzz) {
            programs.push(Program::new(&recipe.name.clone(), Source::Subject(Box::new(recipe))));
        }
        Ok(programs)
    }

    /// A Debian package.
    pub fn package(recipe: Recipe) -> Program {
        Program::new(&recipe.name.clone(), Source::Package(Box::new(recipe)))
    }

    fn new(name: &str, source: Source) -> Program {
        let (builds, begin) = (RefCell::default(), OnceCell::new());
        Program { name: name.into(), source, builds, begin }
    }

    /// Builds it, if that has not been done yet.
    pub fn build(&self, flavour: Flavour) -> Result<Built> {
        let flavour = match (&self.source, flavour) {
            (Source::Package(_), Flavour::Pleach) => Flavour::PleachAsan,
            (Source::Package(_), Flavour::Afl) => Flavour::AflAsan,
            _ => flavour,
        };
        if let Some(built) = self.builds.borrow().get(flavour.name()) {
            return Ok(built.clone());
        }
        let built = match &self.source {
            Source::Calculator => build_calculator(flavour)?,
            Source::Subject(recipe) | Source::Package(recipe) => {
                ensure_built(recipe, flavour, false)?;
                let words = String::from_utf8(stage_output(recipe, "fuzz", flavour)?)?;
                let command = words.split_whitespace().map(String::from).collect();
                Built { directory: recipe.build_dir(flavour), command }
            }
        };
        self.builds.borrow_mut().insert(flavour.name(), built.clone());
        Ok(built)
    }

    /// Writes the inputs that all fuzzers start from to an empty directory.
    pub fn write_seeds(&self, to: &Path) -> Result<()> {
        let one = match &self.source {
            Source::Calculator => inputs::calculations(48),
            Source::Subject(recipe) => stage_output(recipe, "fuzz_seed", Flavour::Pleach)?,
            Source::Package(recipe) => return self.copy_test_data(recipe, to),
        };
        Ok(fs::write(to.join("seed"), one)?)
    }

    /// Copies a package's own test data, without the inputs that AFL++ refuses.
    fn copy_test_data(&self, recipe: &Recipe, to: &Path) -> Result<()> {
        let build = self.build(Flavour::Plain)?;
        let afl = self.build(Flavour::Afl)?;
        let list = String::from_utf8(stage_output(recipe, "fuzz_seeds", Flavour::Plain)?)?;
        for (number, file) in list.lines().enumerate() {
            let copy = to.join(format!("{number:03}"));
            fs::copy(build.directory.join(file), &copy)?;
            if !afl::is_usable_seed(&afl, &copy)? {
                fs::remove_file(copy)?;
            }
        }
        match files_in(to)?.is_empty() {
            true => bail!("{}: AFL++ can use none of the seeds", self.name),
            false => Ok(()),
        }
    }

    /// The branches that the inputs in a directory take, and all branches.
    pub fn count_branches(&self, inputs: &Path) -> Result<(u64, u64)> {
        gcov::count_branches(&self.build(Flavour::Gcov)?, &files_in(inputs)?)
    }

    /// The branches that the seed takes, and all branches.
    pub fn count_seed_branches(&self) -> Result<(u64, u64)> {
        if let Some(counts) = self.begin.get() {
            return Ok(*counts);
        }
        let dir = tempfile::tempdir()?;
        self.write_seeds(dir.path())?;
        let counts = self.count_branches(dir.path())?;
        Ok(*self.begin.get_or_init(|| counts))
    }
}

fn build_calculator(flavour: Flavour) -> Result<Built> {
    let source = project::root().join("examples/calc/calc.c");
    let directory = project::target("bench").join(format!("calc.{}", flavour.name()));
    fs::create_dir_all(&directory)?;
    let mut command = Command::new(flavour.compilers()?.0);
    let flags: &[&str] = match flavour {
        Flavour::Gcov => &["-O0", "--coverage"],
        _ => &["-O2"],
    };
    command.args(flags).arg(&source).args(["-o", "calc"]).envs(flavour.variables().iter().copied());
    command.current_dir(&directory).stdin(Stdio::null());
    let what = format!("compiling {} ({})", source.display(), flavour.name());
    process::succeed(&mut command, Duration::from_secs(120), &what)?;
    Ok(Built { directory, command: vec!["./calc".into()] })
}

/// The files of a directory, sorted.
pub fn files_in(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).with_context(|| dir.display().to_string())? {
        let path = entry?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The command that runs a program on an input, in a directory.
pub fn command_on(built: &Built, input: &Path, directory: &Path) -> Result<Command> {
    let mut words = built.command.iter();
    let mut command = Command::new(built.directory.join(words.next().context("no program")?));
    let mut by_file = false;
    for word in words {
        by_file |= word == "@@";
        command.arg(if word == "@@" { input.as_os_str() } else { word.as_ref() });
    }
    command.stdin(if by_file { Stdio::null() } else { fs::File::open(input)?.into() });
    command.current_dir(directory);
    Ok(command)
}
