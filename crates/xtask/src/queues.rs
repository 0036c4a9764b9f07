//! `./x queues`: do two builds of Pleach search alike?
//!
//! Each case is an example, a strategy, a seed and a number of runs. Both builds
//! compile the example and search it; the files that the two campaigns leave must
//! have the same names and contents, in the same order. Only `time:` in a name may
//! differ. A change that only moves code passes; a change of behaviour shows the
//! first file that differs, in each case.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::{process, project};

#[derive(clap::Args)]
pub struct Args {
    /// A build: a directory with pleach and pleach-cc in it, or a git revision, which is
    /// checked out and built below target/queues
    before: String,
    /// The build to compare with it, named in the same way [default: this checkout's]
    after: Option<String>,
    /// Only the cases whose names contain this text
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

/// None of these programs hangs on an input that the search finds within its runs: a
/// run that times out ends by the clock.
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

/// The most time that one campaign or one build of an example may take.
const LIMIT: Duration = Duration::from_secs(600);
/// The most time that a build of Pleach may take.
const BUILD_LIMIT: Duration = Duration::from_secs(3600);

/// True if both builds left the same files in every case.
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
        bail!("no case has {:?} in its name", args.only.as_deref().unwrap_or_default());
    }
    println!("{same} passed, {differ} failed");
    Ok(differ == 0)
}

/// The directory of a build's programs.
fn find_build(name: &str) -> Result<PathBuf> {
    if Path::new(name).join("pleach").is_file() {
        return fs::canonicalize(name).with_context(|| format!("cannot find {name}"));
    }
    let mut git = Command::new("git");
    git.args(["rev-parse", "--verify", "--quiet", "--short"]).arg(format!("{name}^{{commit}}"));
    let found = process::run(git.current_dir(project::root()), LIMIT)?;
    if !found.exit.success() {
        bail!("{name} is neither a directory with pleach in it nor a revision");
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

/// A file that a campaign left: its name without the time, and what is in it.
type Kept = (String, Vec<u8>);

impl Case {
    fn name(&self) -> String {
        let grammar = if self.flags.contains(&"-g") { "-grammar" } else { "" };
        format!("{}-{}{grammar}", self.example, self.strategy)
    }

    /// Compiles the example with a build, searches it, and reads what was kept.
    fn search(&self, build: &Path, side: &str) -> Result<Vec<Kept>> {
        let dir = project::target("queues").join(side).join(self.name());
        if dir.exists() {
            fs::remove_dir_all(&dir).with_context(|| format!("cannot empty {}", dir.display()))?;
        }
        fs::create_dir_all(&dir)?;
        let example = project::root().join("examples").join(self.example);
        let mut copy = Command::new("cp");
        copy.arg("-r").arg(example.join(".")).arg(&dir);
        process::succeed(&mut copy, LIMIT, "cannot copy the example")?;
        let mut make = Command::new("make");
        make.arg("-B").arg(format!("CC={}", build.join("pleach-cc").display()));
        process::succeed(make.current_dir(&dir), LIMIT, "make")?;
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
fn read_folder(path: &Path, folder: &str) -> Result<Vec<Kept>> {
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

/// `id:000003,src:000001,time:17,op:flip` without its third part.
fn without_time(name: &str) -> String {
    let parts: Vec<&str> = name.split(',').filter(|part| !part.starts_with("time:")).collect();
    parts.join(",")
}

fn first_difference(before: &[Kept], after: &[Kept]) -> Option<String> {
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

    fn kept(names: &[(&str, &str)]) -> Vec<Kept> {
        names.iter().map(|(n, text)| (without_time(n), text.as_bytes().to_vec())).collect()
    }

    #[test]
    fn only_the_time_may_differ() {
        let before = kept(&[("id:0,time:5,orig", "a"), ("id:1,src:0,time:17,op:flip", "b")]);
        let same = kept(&[("id:0,time:6,orig", "a"), ("id:1,src:0,time:99,op:flip", "b")]);
        assert_eq!(first_difference(&before, &same), None);
        let content = kept(&[("id:0,time:5,orig", "a"), ("id:1,src:0,time:17,op:flip", "c")]);
        let said = first_difference(&before, &content);
        assert_eq!(said.as_deref(), Some("file 2 of 2, id:1,src:0,op:flip, differs"));
        let name = kept(&[("id:0,time:5,orig", "a"), ("id:1,src:0,time:17,op:havoc", "b")]);
        let said = first_difference(&before, &name);
        assert_eq!(
            said.as_deref(),
            Some("file 2 of 2: id:1,src:0,op:flip before, id:1,src:0,op:havoc after")
        );
        let said = first_difference(&before, &before[..1]);
        assert_eq!(said.as_deref(), Some("id:1,src:0,op:flip only before"));
    }
}
