//! The programs that are searched: examples, two targets of our own, and subjects.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Result, bail};

use crate::bench::contest::program::Program;
use crate::subjects::Flavour;
use crate::{examples, process, project};

const LIMIT: Duration = Duration::from_secs(600);

/// What a driver may use, by its own account.
pub const MAX_MEMORY: u64 = 256 << 20;

/// Subjects that are searched, too, if they have been built.
const SUBJECTS: [&str; 2] = ["bc", "lua"];

/// A program, built and ready to be searched.
pub struct Searched {
    pub name: String,
    program: PathBuf,
    /// The words after the program; `@@` is the input.
    args: Vec<String>,
    /// Options of `pleach run`.
    flags: Vec<String>,
    /// Options of `pleach run` and `pleach replay` that limit a run.
    pub limits: Vec<String>,
}

/// The names of the programs that are searched if none is named.
pub fn default_names() -> Vec<String> {
    let is_built =
        |name: &&str| project::target("subjects").join(name).join("pleach.built").is_file();
    let own = ["calc", "cue", "tinyjs", "persistent", "hostile"];
    own.into_iter().chain(SUBJECTS.into_iter().filter(is_built)).map(String::from).collect()
}

impl Searched {
    /// Builds a program below `dir`.
    pub fn build(name: &str, dir: &Path) -> Result<Searched> {
        let here = dir.join(name);
        let compiler = project::tool("pleach-cc")?;
        let in_dir = |flags: &[&str]| -> Vec<String> {
            let path = |word: &str| match word.strip_prefix("./") {
                Some(file) => here.join(file).display().to_string(),
                None => word.into(),
            };
            flags.iter().map(|word| path(word)).collect()
        };
        let searched = |flags: &[&str], limits: &[&str]| Searched {
            name: name.into(),
            program: here.join(name),
            args: Vec::new(),
            flags: in_dir(flags),
            limits: limits.iter().map(|l| l.to_string()).collect(),
        };
        let example = |flags: &[&str]| {
            examples::build(name, &here, &compiler).map(|()| searched(flags, &["-t", "1000"]))
        };
        match name {
            "calc" => example(&["-i", "./seeds"]),
            "cue" => example(&["-i", "./samples", "-g", "./cue.y", "--lexer", "./cue.l"]),
            "tinyjs" => example(&["-i", "./scripts", "-g", "./tinyjs.g4"]),
            "persistent" => {
                compile(name, &here, &compiler, &["-fsanitize=fuzzer"])?;
                Ok(searched(&[], &["-t", "1000"]))
            }
            "hostile" => {
                compile(name, &here, &compiler, &["-w"])?;
                Ok(searched(&["--len", "4"], &["-t", "200", "-m", "300"]))
            }
            _ => subject(name, &here),
        }
    }

    /// Where the program is in the place of a campaign.
    fn copied(&self, home: &Path) -> PathBuf {
        home.join(&self.name)
    }

    /// Copies the program to the place of a campaign, where its processes are known by it.
    pub fn copy_to(&self, home: &Path) -> Result<()> {
        Ok(fs::copy(&self.program, self.copied(home)).map(drop)?)
    }

    /// The arguments of `pleach run` for a new campaign.
    pub fn arguments(&self, home: &Path, seed: u64, variant: &[&str]) -> Vec<String> {
        let mut all: Vec<String> = variant.iter().map(|v| v.to_string()).collect();
        all.extend(["--seed".into(), seed.to_string()]);
        all.extend(["--max-memory".into(), format!("{}M", MAX_MEMORY >> 20)]);
        all.extend(self.flags.iter().chain(&self.limits).cloned());
        all.extend(self.program_words(home));
        all
    }

    /// The program and its arguments, for commands of Pleach.
    pub fn program_words(&self, home: &Path) -> Vec<String> {
        let program = self.copied(home).display().to_string();
        ["--".into(), program].into_iter().chain(self.args.iter().cloned()).collect()
    }
}

fn compile(name: &str, here: &Path, compiler: &Path, flags: &[&str]) -> Result<()> {
    fs::create_dir_all(here)?;
    let source = Path::new("crates/xtask/src/soak/targets").join(name).with_extension("c");
    let mut command = Command::new(compiler);
    command.args(["-O2", "-g"]).args(flags).arg(project::root().join(source));
    command.arg("-o").arg(here.join(name)).stdin(Stdio::null());
    process::succeed(&mut command, LIMIT, &format!("compiling {name}.c")).map(drop)
}

/// A program of `./x subjects`, which is downloaded and built if necessary.
fn subject(name: &str, here: &Path) -> Result<Searched> {
    let Some(program) = Program::all()?.into_iter().find(|p| p.name == name) else {
        bail!("there is no program {name}; `./x subjects list` prints the subjects");
    };
    let built = program.build(Flavour::Pleach)?;
    let seeds = here.join("seeds");
    fs::create_dir_all(&seeds)?;
    program.write_seeds(&seeds)?;
    Ok(Searched {
        name: name.into(),
        program: built.program()?,
        args: built.command[1..].to_vec(),
        flags: vec!["-i".into(), seeds.display().to_string()],
        limits: vec!["-t".into(), "1000".into()],
    })
}
