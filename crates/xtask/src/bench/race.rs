//! `./x bench run`: counts the branches that `pleach run` covers in a minute on one core,
//! and those of AFL++, which runs at the same time on the other core from the same seed.
//! Both queues are replayed on a build by gcc with `--coverage`, which is independent of
//! both tools, and gcov counts the branches.

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
    /// Programs (see `./x subjects list`), or `calc` for the calculator in examples/
    /// [default: calc and every program that defines how to fuzz it]
    programs: Vec<String>,
    /// Seconds for each program
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Strategy of pleach run
    #[arg(long, default_value = "auto")]
    strategy: String,
    /// Do not run AFL++
    #[arg(long)]
    alone: bool,
}

#[derive(Debug, Serialize)]
struct Row {
    program: String,
    seconds: u64,
    /// All branches that gcov counts.
    total: u64,
    seed: u64,
    pleach: u64,
    afl: Option<u64>,
    /// The statistics of `pleach run`.
    stats: serde_json::Value,
    afl_runs: Option<u64>,
}

/// One program in three builds, and its seed.
pub(super) struct Runner {
    pub name: String,
    pub pleach: Built,
    pub afl: Option<Built>,
    gcov: Built,
    pub seed: Vec<u8>,
}

pub(super) struct Built {
    pub directory: PathBuf,
    /// The words of the command; `@@` is the input.
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
            Some(recipe) => build_subject(recipe, !args.alone)?,
            None if name == "calc" => build_calculator(!args.alone)?,
            None => {
                let known: Vec<&str> = recipes.iter().map(|r| r.name.as_str()).collect();
                bail!("there is no program {name} to fuzz; there are calc, {}", known.join(", "));
            }
        };
        let row = race(&runner, args)?;
        eprintln!("{}", summary(&row));
        rows.push(row);
    }
    println!("{}", table(&rows));
    super::write_numbers("run", &rows)?;
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
    let start_afl = |built| start_afl(built, &seeds, &theirs, args.seconds, 1);
    let afl = runner.afl.as_ref().map(start_afl).transpose()?;
    wait(pleach, limit).context("pleach run")?;
    if let Some(afl) = afl {
        wait(afl, limit).context("afl-fuzz")?;
    }
    let stdout = fs::read_to_string(&output)?;
    let stats = stdout.lines().last().context("pleach run printed nothing")?;
    let stats = serde_json::from_str(stats).with_context(|| format!("pleach run: {stats}"))?;
    let count = |path: &Path| -> Result<(u64, u64)> { count_branches(runner, &inputs(path)?) };
    let (seed, total) = count(&seeds)?;
    Ok(Row {
        program: runner.name.clone(),
        seconds: args.seconds,
        total,
        seed,
        pleach: count(&ours.join("queue"))?.0,
        afl: match &runner.afl {
            Some(_) => Some(count(&theirs.join("default/queue"))?.0),
            None => None,
        },
        stats,
        afl_runs: runner.afl.as_ref().map(|_| afl_stat(&theirs, "execs_done")).transpose()?,
    })
}

/// The files of a directory, sorted.
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

/// Starts AFL++ on a core.
pub(super) fn start_afl(
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

/// A number from AFL++'s statistics.
pub(super) fn afl_stat(out: &Path, name: &str) -> Result<u64> {
    let path = out.join("default/fuzzer_stats");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let mut lines = text.lines().filter_map(|l| l.split_once(':'));
    let value = lines.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().parse());
    value.with_context(|| format!("{}: no {name}", path.display()))?.context("not a number")
}

/// True if AFL++'s build neither crashes nor hangs on an input. AFL++ refuses other seeds.
pub(super) fn is_usable_seed(built: &Built, input: &Path) -> Result<bool> {
    let scratch = tempfile::tempdir()?;
    let mut command = command_on(built, input, scratch.path())?;
    let done = process::run(&mut command, Duration::from_secs(1));
    Ok(done.is_ok_and(|d| matches!(d.exit, process::Exit::Code(_))))
}

/// The command that runs a program on an input, in a directory.
fn command_on(built: &Built, input: &Path, directory: &Path) -> Result<Command> {
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

pub(super) fn wait(mut child: Child, limit: Duration) -> Result<()> {
    let deadline = std::time::Instant::now() + limit;
    while child.try_wait()?.is_none() {
        if std::time::Instant::now() > deadline {
            child.kill()?;
            child.wait()?;
            bail!("killed, because it did not end within {} s", limit.as_secs());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

/// Runs inputs in the build for gcov. Returns the number of branches taken, and of all
/// branches.
pub(super) fn count_branches(runner: &Runner, inputs: &[PathBuf]) -> Result<(u64, u64)> {
    let build_dir = &runner.gcov.directory;
    let old_counts = find_files(build_dir, "gcda")?;
    old_counts.iter().try_for_each(fs::remove_file)?;
    let limit = Duration::from_secs(5);
    let scratch = tempfile::tempdir()?;
    for input in inputs {
        // The exit status does not matter. A run that hangs is killed and counts nothing.
        let _ = process::run(&mut command_on(&runner.gcov, input, scratch.path())?, limit);
    }
    // Object files without counts belong to other programs, such as the subject's tests.
    let counts = find_files(build_dir, "gcda")?;
    let (mut taken, mut total) = (0.0, 0);
    for count in counts {
        let mut gcov = Command::new("gcov");
        gcov.args(["-b", "-n", "-o"]).arg(count.parent().unwrap_or(build_dir)).arg(&count);
        gcov.current_dir(scratch.path()).stdin(Stdio::null());
        let done = process::run(&mut gcov, Duration::from_secs(60))?;
        let (file_taken, file_total) = parse_gcov(&String::from_utf8_lossy(&done.stdout));
        taken += file_taken;
        total += file_total;
    }
    Ok((taken.round() as u64, total))
}

/// The branches taken and all branches in gcov's output, without system headers.
fn parse_gcov(output: &str) -> (f64, u64) {
    let (mut taken, mut total, mut is_own) = (0.0, 0, false);
    for line in output.lines() {
        if let Some(file) = line.strip_prefix("File '") {
            is_own = !file.starts_with("/usr/");
        }
        let Some(rest) = line.strip_prefix("Taken at least once:").filter(|_| is_own) else {
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

fn find_files(dir: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let (mut found, mut folders) = (Vec::new(), vec![dir.to_path_buf()]);
    while let Some(dir) = folders.pop() {
        for entry in fs::read_dir(&dir).with_context(|| dir.display().to_string())? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() && entry.path().extension().is_some_and(|e| e == extension) {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

pub(super) fn build_subject(recipe: &Recipe, with_afl: bool) -> Result<Runner> {
    let built = |flavour| -> Result<Built> {
        ensure_built(recipe, flavour, false)?;
        let words = String::from_utf8(stage_output(recipe, "fuzz", flavour)?)?;
        let directory = recipe.build_dir(flavour);
        Ok(Built { directory, command: words.split_whitespace().map(String::from).collect() })
    };
    Ok(Runner {
        name: recipe.name.clone(),
        pleach: built(Flavour::Pleach)?,
        afl: with_afl.then(|| built(Flavour::Afl)).transpose()?,
        gcov: built(Flavour::Gcov)?,
        seed: stage_output(recipe, "fuzz_seed", Flavour::Pleach)?,
    })
}

/// Runs a stage of a recipe and returns its output.
pub(super) fn stage_output(recipe: &Recipe, name: &str, flavour: Flavour) -> Result<Vec<u8>> {
    let mut command = recipe.stage(name, flavour)?;
    let what = format!("{}: {name}", recipe.name);
    let limit = Duration::from_secs(60);
    Ok(process::succeed(command.stdin(Stdio::null()), limit, &what)?.stdout)
}

fn build_calculator(with_afl: bool) -> Result<Runner> {
    let source = project::root().join("examples/calc/calc.c");
    let built = |flavour: Flavour, flags: &[&str]| -> Result<Built> {
        let directory = project::target("bench").join(format!("calc.{}", flavour.name()));
        fs::create_dir_all(&directory)?;
        let mut command = Command::new(flavour.compilers()?.0);
        command.args(flags).arg(&source).args(["-o", "calc"]).current_dir(&directory);
        let done = process::run(command.stdin(Stdio::null()), Duration::from_secs(120))?;
        if !done.exit.success() {
            bail!("compiling {} ({}): {}", source.display(), flavour.name(), done.last_lines());
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

fn summary(row: &Row) -> String {
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
    fn gcovs_output_is_parsed_without_system_headers() {
        let output = "File 'calc.c'\nLines executed:50.00% of 10\nBranches executed:80.00% of 10\n\
                    Taken at least once:30.00% of 10\nNo calls\n\nFile '/usr/include/x.h'\n\
                    Taken at least once:100.00% of 4\n";
        assert_eq!(parse_gcov(output), (3.0, 10));
    }
}
