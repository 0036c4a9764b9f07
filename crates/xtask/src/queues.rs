//! `./x queues`: checks that two builds of Pleach find the same inputs.
//!
//! Each case is an example, a strategy and a number of runs; the seed is fixed. Both
//! builds compile the example and search it. The two campaigns must keep files with the
//! same names and contents, in the same order. Only `time:` in a name may differ. A change
//! that only moves code passes. For a change of behaviour, each case shows the first file
//! that differs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::{examples, process, project};

#[derive(clap::Args)]
pub struct Args {
    /// The first build: a directory that contains pleach and pleach-cc, or a git revision,
    /// which is checked out and built under target/queues
    before: String,
    /// The second build, given in the same way [default: the build of this checkout]
    after: Option<String>,
    /// Run only the cases whose names contain this text
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

struct Case {
    example: &'static str,
    strategy: &'static str,
    runs: u32,
    flags: &'static [&'static str],
}

const fn case(
    example: &'static str,
    strategy: &'static str,
    runs: u32,
    flags: &'static [&'static str],
) -> Case {
    Case { example, strategy, runs, flags }
}

/// In these cases the search finds no hanging input within its runs. A timeout depends on
/// the clock, so the result would not be reproducible.
const CASES: &[Case] = &[
    case("calc", "auto", 2000, &["-i", "seeds"]),
    case("simplecalc", "dfs", 1000, &["-i", "seeds"]),
    case("calc", "uniform", 1000, &["-i", "seeds"]),
    case("calc", "random-branch", 1000, &["-i", "seeds"]),
    case("cue", "generational", 300, &["-i", "samples"]),
    case("cue", "cfg", 100, &["-i", "samples"]),
    case("cue", "auto", 1000, &["-i", "samples", "-g", "cue.y", "--lexer", "cue.l"]),
    case("cue", "gbw", 400, &["-i", "samples", "-g", "cue.y", "--lexer", "cue.l"]),
    case("simplecalc", "cese", 1500, &["-g", "calc.y", "--lexer", "calc.l"]),
    case("realpath", "cese", 600, &["-g", "ftp.y", "--lexer", "ftp.l"]),
    case("tinyjs", "auto", 1000, &["-i", "scripts", "-g", "tinyjs.g4"]),
    case("tinyjs", "gbw", 400, &["-g", "tinyjs.g4"]),
    case("rbtree", "hybrid", 500, &[]),
    case("editor", "hybrid", 500, &[]),
];

/// For one campaign, or one build of an example.
const LIMIT: Duration = Duration::from_secs(600);
/// For a build of Pleach.
const BUILD_LIMIT: Duration = Duration::from_secs(3600);

/// True if both builds kept the same files in every case.
pub fn run(args: &Args) -> Result<bool> {
    let before = find_build(&args.before)?;
    let after = match &args.after {
        Some(after) => find_build(after)?,
        None => project::target("release"),
    };
    let chosen = |case: &&Case| match &args.only {
        Some(text) => case.name().contains(text.as_str()),
        None => true,
    };
    let (mut same, mut differ) = (0, 0);
    for case in CASES.iter().filter(chosen) {
        let files = [case.search(&before, "before")?, case.search(&after, "after")?];
        match first_difference(&files[0], &files[1]) {
            None => {
                same += 1;
                println!("{}: {} files, the same", case.name(), files[0].len());
            }
            Some(difference) => {
                differ += 1;
                println!("{}: {difference}", case.name());
            }
        }
    }
    if same + differ == 0 {
        let names: Vec<String> = CASES.iter().map(Case::name).collect();
        bail!(
            "--only {:?} matches no case; the cases are {}",
            args.only.as_deref().unwrap_or_default(),
            names.join(", ")
        );
    }
    println!("{same} passed, {differ} failed");
    Ok(differ == 0)
}

/// The directory of a build's programs. Builds a git revision if it is not built yet.
fn find_build(name: &str) -> Result<PathBuf> {
    if Path::new(name).join("pleach").is_file() {
        return fs::canonicalize(name).with_context(|| format!("cannot find {name}"));
    }
    let mut git = Command::new("git");
    git.args(["rev-parse", "--verify", "--quiet", "--short"]).arg(format!("{name}^{{commit}}"));
    let found = process::run(git.current_dir(project::root()), LIMIT)?;
    if !found.exit.success() {
        bail!("{name} is neither a directory that contains pleach nor a git revision");
    }
    let revision = String::from_utf8_lossy(&found.stdout).trim().to_owned();
    let checkout = project::target("queues").join("builds").join(&revision);
    if !checkout.exists() {
        let mut git = Command::new("git");
        git.arg("clone").arg("--quiet").arg(project::root()).arg(&checkout);
        process::succeed(&mut git, LIMIT, "cannot copy the repository")?;
        let mut git = Command::new("git");
        git.args(["checkout", "--quiet", &revision]).current_dir(&checkout);
        process::succeed(&mut git, LIMIT, "cannot check the revision out")?;
    }
    eprintln!("building {revision}");
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--workspace"]).current_dir(&checkout);
    cargo.env_remove("PLEACH_ROOT").env_remove("CARGO_TARGET_DIR");
    process::succeed(&mut cargo, BUILD_LIMIT, &format!("cannot build {revision}"))?;
    Ok(checkout.join("target/release"))
}

/// A file that a campaign kept: its name without the time, and its contents.
type KeptFile = (String, Vec<u8>);

impl Case {
    fn name(&self) -> String {
        let grammar = if self.flags.contains(&"-g") { "-grammar" } else { "" };
        format!("{}-{}{grammar}", self.example, self.strategy)
    }

    /// Compiles the example with a build, searches it, and reads the kept files.
    fn search(&self, build: &Path, side: &str) -> Result<Vec<KeptFile>> {
        let dir = project::target("queues").join(side).join(self.name());
        examples::build(self.example, &dir, &build.join("pleach-cc"))?;
        let mut pleach = Command::new(build.join("pleach"));
        pleach.args(["run", "-s", self.strategy, "-j", "1", "--seed", "1", "-t", "5000"]);
        pleach.args(["-n", &self.runs.to_string(), "-o", "out"]).args(self.flags);
        pleach.arg("--").arg(format!("./{}", self.example)).current_dir(&dir);
        process::succeed(&mut pleach, LIMIT, &format!("{} by {}", self.name(), build.display()))?;
        let mut kept = Vec::new();
        for folder in ["queue", "crashes", "hangs"] {
            kept.append(&mut read_folder(&dir.join("out").join(folder), folder)?);
        }
        Ok(kept)
    }
}

/// The inputs of a folder, in the order of their names.
fn read_folder(path: &Path, folder: &str) -> Result<Vec<KeptFile>> {
    let mut kept = Vec::new();
    for entry in fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_file() && name.starts_with("id:") && !name.ends_with(".txt") {
            kept.push((format!("{folder}/{}", without_time(&name)), fs::read(entry.path())?));
        }
    }
    kept.sort();
    Ok(kept)
}

/// Removes the time from a name such as `id:000003,src:000001,time:17,op:flip`.
fn without_time(name: &str) -> String {
    let parts: Vec<&str> = name.split(',').filter(|part| !part.starts_with("time:")).collect();
    parts.join(",")
}

fn first_difference(before: &[KeptFile], after: &[KeptFile]) -> Option<String> {
    let count = before.len().max(after.len());
    (0..count).find_map(|i| match (before.get(i), after.get(i)) {
        (Some(a), Some(b)) if a == b => None,
        (Some(a), Some(b)) if a.0 == b.0 => {
            Some(format!("file {} of {count}, {}, differs", i + 1, a.0))
        }
        (Some(a), Some(b)) => {
            Some(format!("file {} of {count}: {} before, {} after", i + 1, a.0, b.0))
        }
        (Some(a), None) => Some(format!("{} only before", a.0)),
        (None, Some(b)) => Some(format!("{} only after", b.0)),
        (None, None) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(names: &[(&str, &str)]) -> Vec<KeptFile> {
        names.iter().map(|(n, text)| (without_time(n), text.as_bytes().to_vec())).collect()
    }

    #[test]
    fn only_the_time_may_differ() {
        let before = kept(&[("id:0,time:5,orig", "a"), ("id:1,src:0,time:17,op:flip", "b")]);
        let same = kept(&[("id:0,time:6,orig", "a"), ("id:1,src:0,time:99,op:flip", "b")]);
        assert_eq!(first_difference(&before, &same), None);
        let content = kept(&[("id:0,time:5,orig", "a"), ("id:1,src:0,time:17,op:flip", "c")]);
        let difference = first_difference(&before, &content);
        assert_eq!(difference.as_deref(), Some("file 2 of 2, id:1,src:0,op:flip, differs"));
        let name = kept(&[("id:0,time:5,orig", "a"), ("id:1,src:0,time:17,op:havoc", "b")]);
        let difference = first_difference(&before, &name);
        assert_eq!(
            difference.as_deref(),
            Some("file 2 of 2: id:1,src:0,op:flip before, id:1,src:0,op:havoc after")
        );
        let difference = first_difference(&before, &before[..1]);
        assert_eq!(difference.as_deref(), Some("id:1,src:0,op:flip only before"));
    }
}
