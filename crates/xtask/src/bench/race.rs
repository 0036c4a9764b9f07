//! `./x bench run`: what `pleach run` covers in a minute on one core, against
//! AFL++ from the same seed at the same time on the other core. Both queues are
//! replayed on a build by gcc with `--coverage`, which neither has a hand in,
//! and gcov counts the branches that were taken.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::Serialize;

use crate::process;
use crate::project;
use crate::subjects::{Flavour, Recipe, ensure_built};

#[derive(clap::Args)]
pub struct Args {
    /// Subjects; `calc` is the calculator of examples/. All that can be fuzzed
    /// if none is named
    programs: Vec<String>,
    /// Seconds for each program
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// The strategy of pleach run
    #[arg(long, default_value = "auto")]
    strategy: String,
    /// Leave AFL++ out
    #[arg(long)]
    alone: bool,
}

#[derive(Debug, Serialize)]
struct Row {
    program: String,
    seconds: u64,
    /// Branches that gcov knows of.
    total: u64,
    seed: u64,
    pleach: u64,
    afl: Option<u64>,
    /// What `pleach run` says of itself.
    stats: serde_json::Value,
    afl_runs: Option<u64>,
}

/// One program in its three builds, and how to run it.
pub(super) struct Runner {
    pub name: String,
    pub pleach: Built,
    pub afl: Option<Built>,
    gcov: Built,
    pub seed: Vec<u8>,
}

pub(super) struct Built {
    pub directory: PathBuf,
    /// Words; `@@` is the input.
    pub command: Vec<String>,
}

pub fn run(args: &Args) -> Result<bool> {
    let recipes: Vec<_> = Recipe::all()?.into_iter().filter(Recipe::has_fuzz).collect();
    let mut names: Vec<String> = args.programs.clone();
    if names.is_empty() {
        names.push("calc".into());
        names.extend(recipes.iter().map(|r| r.name.clone()));
    }
    let mut rows = Vec::new();
    for name in &names {
        let runner = match recipes.iter().find(|r| r.name == *name) {
            Some(recipe) => subject(recipe, !args.alone)?,
            None if name == "calc" => calculator(!args.alone)?,
            None => bail!("{name}: no subject that says how to fuzz it"),
        };
        let row = race(&runner, args)?;
        eprintln!("{}", line(&row));
        rows.push(row);
    }
    println!("{}", table(&rows));
    super::keep("run", &rows)?;
    Ok(true)
}

fn race(runner: &Runner, args: &Args) -> Result<Row> {
    let dir = tempfile::tempdir()?;
    let seeds = dir.path().join("seeds");
    fs::create_dir(&seeds)?;
    fs::write(seeds.join("seed"), &runner.seed)?;
    eprintln!("{}: {} s", runner.name, args.seconds);
    let limit = Duration::from_secs(args.seconds + 120);
    let ours = dir.path().join("pleach");
    let mut pleach = on_core(0, &project::tool("pleach")?);
    pleach.args(["run", "--json", "-s", &args.strategy, "-V", &args.seconds.to_string()]);
    pleach.arg("-i").arg(&seeds).arg("-o").arg(&ours).arg("--").args(&runner.pleach.command);
    pleach.current_dir(&runner.pleach.directory);
    let output = dir.path().join("stdout");
    let pleach = pleach
        .stdin(Stdio::null())
        .stdout(fs::File::create(&output)?)
        .stderr(Stdio::null())
        .spawn()
        .context("pleach run")?;
    let theirs = dir.path().join("afl");
    let afl = runner.afl.as_ref().map(|b| fuzz(b, &seeds, &theirs, args.seconds, 1)).transpose()?;
    finish(pleach, limit).context("pleach run")?;
    if let Some(afl) = afl {
        finish(afl, limit).context("afl-fuzz")?;
    }
    let said = fs::read_to_string(&output)?;
    let stats = said.lines().last().context("pleach run said nothing")?;
    let stats = serde_json::from_str(stats).with_context(|| format!("pleach run: {stats}"))?;
    let queue = |path: &Path| -> Result<(u64, u64)> { covered(runner, &inputs(path)?) };
    let (seed, total) = queue(&seeds)?;
    Ok(Row {
        program: runner.name.clone(),
        seconds: args.seconds,
        total,
        seed,
        pleach: queue(&ours.join("queue"))?.0,
        afl: match &runner.afl {
            Some(_) => Some(queue(&theirs.join("default/queue"))?.0),
            None => None,
        },
        stats,
        afl_runs: runner.afl.as_ref().map(|_| afl_stat(&theirs, "execs_done")).transpose()?,
    })
}

/// The files of a directory, in order.
pub(super) fn inputs(dir: &Path) -> Result<Vec<PathBuf>> {
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

pub(super) fn on_core(core: u32, program: &Path) -> Command {
    let mut command = Command::new("taskset");
    command.arg("-c").arg(core.to_string()).arg(program);
    command
}

/// AFL++ on a core.
pub(super) fn fuzz(
    built: &Built,
    seeds: &Path,
    out: &Path,
    seconds: u64,
    core: u32,
) -> Result<Child> {
    let mut command = on_core(core, Path::new("afl-fuzz"));
    command.arg("-i").arg(seeds).arg("-o").arg(out).arg("-V");
    command.arg(seconds.to_string()).arg("--").args(&built.command);
    for name in [
        "AFL_NO_AFFINITY",
        "AFL_NO_UI",
        "AFL_SKIP_CPUFREQ",
        "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES",
    ] {
        command.env(name, "1");
    }
    command.current_dir(&built.directory).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().context("afl-fuzz")
}

/// A number of AFL++'s own statistics.
pub(super) fn afl_stat(out: &Path, name: &str) -> Result<u64> {
    let path = out.join("default/fuzzer_stats");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let mut lines = text.lines().filter_map(|l| l.split_once(':'));
    let value = lines.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().parse());
    value.with_context(|| format!("{}: no {name}", path.display()))?.context("not a number")
}

/// Whether an input ends soon and well in AFL++'s build: it refuses to begin with others.
pub(super) fn ends(built: &Built, input: &Path) -> Result<bool> {
    let scratch = tempfile::tempdir()?;
    let done = process::run(&mut on_input(built, input, scratch.path())?, Duration::from_secs(1));
    Ok(done.is_ok_and(|d| matches!(d.exit, process::Exit::Code(_))))
}

/// A program on an input, in a directory.
fn on_input(built: &Built, input: &Path, here: &Path) -> Result<Command> {
    let mut words = built.command.iter();
    let mut command = Command::new(built.directory.join(words.next().context("no program")?));
    let mut by_file = false;
    for word in words {
        by_file |= word == "@@";
        command.arg(if word == "@@" { input.as_os_str() } else { word.as_ref() });
    }
    command.stdin(if by_file { Stdio::null() } else { fs::File::open(input)?.into() });
    command.current_dir(here);
    Ok(command)
}

pub(super) fn finish(mut child: Child, limit: Duration) -> Result<()> {
    let deadline = std::time::Instant::now() + limit;
    while child.try_wait()?.is_none() {
        if std::time::Instant::now() > deadline {
            child.kill()?;
            child.wait()?;
            bail!("does not end");
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

/// Branches that some inputs take in the build for gcov, and how many it has.
pub(super) fn covered(runner: &Runner, inputs: &[PathBuf]) -> Result<(u64, u64)> {
    let here = &runner.gcov.directory;
    let data = files(here, "gcda")?;
    data.iter().try_for_each(fs::remove_file)?;
    let limit = Duration::from_secs(5);
    let scratch = tempfile::tempdir()?;
    for input in inputs {
        // How it ends does not matter here; a run that hangs counts nothing.
        let _ = process::run(&mut on_input(&runner.gcov, input, scratch.path())?, limit);
    }
    // Files without counts are of other programs, the subject's tests say.
    let counts = files(here, "gcda")?;
    let (mut taken, mut total) = (0.0, 0);
    for count in counts {
        let mut gcov = Command::new("gcov");
        gcov.args(["-b", "-n", "-o"]).arg(count.parent().unwrap_or(here)).arg(&count);
        gcov.current_dir(scratch.path()).stdin(Stdio::null());
        let said = process::run(&mut gcov, Duration::from_secs(60))?;
        let (t, n) = tally(&String::from_utf8_lossy(&said.stdout));
        taken += t;
        total += n;
    }
    Ok((taken.round() as u64, total))
}

/// Branches taken and branches there are in what gcov says of files that are the
/// program's own.
fn tally(said: &str) -> (f64, u64) {
    let (mut taken, mut total, mut own) = (0.0, 0, false);
    for line in said.lines() {
        if let Some(file) = line.strip_prefix("File '") {
            own = !file.starts_with("/usr/");
        }
        let Some(rest) = line.strip_prefix("Taken at least once:").filter(|_| own) else {
            continue;
        };
        let Some((percent, count)) = rest.split_once("% of ") else { continue };
        let (Ok(percent), Ok(count)) = (percent.parse::<f64>(), count.trim().parse::<u64>()) else {
            continue;
        };
        taken += (percent * count as f64 / 100.0).round();
        total += count;
    }
    (taken, total)
}

fn files(dir: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let (mut found, mut open) = (Vec::new(), vec![dir.to_path_buf()]);
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).with_context(|| dir.display().to_string())? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() && entry.path().extension().is_some_and(|e| e == extension) {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

pub(super) fn subject(recipe: &Recipe, with_afl: bool) -> Result<Runner> {
    let built = |flavour| -> Result<Built> {
        ensure_built(recipe, flavour, false)?;
        let said = String::from_utf8(stage(recipe, "fuzz", flavour)?)?;
        let directory = recipe.here(flavour);
        Ok(Built { directory, command: said.split_whitespace().map(String::from).collect() })
    };
    Ok(Runner {
        name: recipe.name.clone(),
        pleach: built(Flavour::Pleach)?,
        afl: with_afl.then(|| built(Flavour::Afl)).transpose()?,
        gcov: built(Flavour::Gcov)?,
        seed: stage(recipe, "fuzz_seed", Flavour::Pleach)?,
    })
}

/// What a stage of a recipe prints.
pub(super) fn stage(recipe: &Recipe, name: &str, flavour: Flavour) -> Result<Vec<u8>> {
    let mut command = recipe.stage(name, flavour)?;
    let what = format!("{}: {name}", recipe.name);
    let limit = Duration::from_secs(60);
    Ok(process::succeed(command.stdin(Stdio::null()), limit, &what)?.stdout)
}

fn calculator(with_afl: bool) -> Result<Runner> {
    let source = project::root().join("examples/calc/calc.c");
    let built = |flavour: Flavour, flags: &[&str]| -> Result<Built> {
        let directory = project::target("bench").join(format!("calc.{}", flavour.name()));
        fs::create_dir_all(&directory)?;
        let mut command = Command::new(flavour.compilers()?.0);
        command.args(flags).arg(&source).args(["-o", "calc"]).current_dir(&directory);
        let said = process::run(command.stdin(Stdio::null()), Duration::from_secs(120))?;
        if !said.exit.success() {
            bail!("compiling {} ({}): {}", source.display(), flavour.name(), said.complaint());
        }
        Ok(Built { directory, command: vec!["./calc".into()] })
    };
    Ok(Runner {
        name: "calc".into(),
        pleach: built(Flavour::Pleach, &["-O2"])?,
        afl: with_afl.then(|| built(Flavour::Afl, &["-O2"])).transpose()?,
        gcov: built(Flavour::Gcov, &["-O0", "--coverage"])?,
        seed: super::inputs::calculations(48),
    })
}

fn line(row: &Row) -> String {
    let afl = row.afl.map_or("–".into(), |n| n.to_string());
    format!(
        "{}: seed {}, pleach {}, AFL++ {afl} of {}",
        row.program, row.seed, row.pleach, row.total
    )
}

fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "| program | branches | seed | pleach run | AFL++ | runs | traces | flips | AFL++ runs |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for row in rows {
        let maybe = |n: Option<u64>| n.map_or("–".into(), |n| n.to_string());
        text.push_str(&format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
            row.program,
            row.total,
            row.seed,
            row.pleach,
            maybe(row.afl),
            row.stats["runs"],
            row.stats["traces"],
            row.stats["flips"]["asked"],
            maybe(row.afl_runs),
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gcovs_words_are_understood_and_system_headers_left_out() {
        let said = "File 'calc.c'\nLines executed:50.00% of 10\nBranches executed:80.00% of 10\n\
                    Taken at least once:30.00% of 10\nNo calls\n\nFile '/usr/include/x.h'\n\
                    Taken at least once:100.00% of 4\n";
        assert_eq!(tally(said), (3.0, 10));
    }
}
