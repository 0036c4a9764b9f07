//! Builds the tree, by one build system after another until one succeeds.

use super::plan::{Plan, build_jobs};
use super::probe;
use crate::args::Init;
use crate::exit::Failure;
use anyhow::{Context, anyhow};
use pleach_project::{Project, System};
use pleach_report::Progress;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The last lines of a log that are shown when a build fails.
const SHOWN_LINES: usize = 12;
/// How often the log is looked at while a build runs.
const POLL: Duration = Duration::from_millis(200);

/// Programs that a build system needs and this machine lacks.
pub fn missing_tools(system: System) -> Vec<&'static str> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |tool: &&str| std::env::split_paths(&path).any(|dir| dir.join(tool).is_file());
    system.tools().into_iter().filter(|tool| !is_there(tool)).collect()
}

/// Returns the system that succeeded.
pub fn run(
    project: &Project,
    args: &Init,
    systems: &[System],
    out: &Path,
) -> Result<System, Failure> {
    let mut problems = Vec::new();
    for (number, &system) in systems.iter().enumerate() {
        let missing = missing_tools(system);
        if !missing.is_empty() {
            problems.push(format!("{}: {} is not installed", system.name(), missing.join(", ")));
            continue;
        }
        for dir in ["src", "build"] {
            let _ = std::fs::remove_dir_all(out.join(dir));
        }
        let plan = Plan { project, args, system, out };
        match build(&plan)? {
            None => return Ok(system),
            Some(problem) => problems.push(format!("{}: {problem}", system.name())),
        }
        // Manuals are often made last, and what makes them may not be installed.
        if number + 1 == systems.len() && probe::has_programs(&plan) {
            eprintln!("the build failed, but it has made programs\n{}", problems.join("\n"));
            return Ok(system);
        }
    }
    Err(Failure::failed_check(anyhow!("the build failed\n{}", problems.join("\n"))))
}

/// Runs the commands of a build. Returns what went wrong.
fn build(plan: &Plan) -> Result<Option<String>, Failure> {
    let commands = plan.build().commands;
    for command in &commands {
        eprintln!("$ {command}");
    }
    let log = plan.out.join(format!("{}.log", plan.system.name()));
    let progress = Progress::open(&format!("building with {} jobs", build_jobs()));
    let ok =
        shell(&commands, &log, |lines| progress.set_message(&format!("{lines} lines of output")))?;
    progress.finish();
    if ok {
        return Ok(None);
    }
    let text = String::from_utf8_lossy(&std::fs::read(&log).unwrap_or_default()).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    let last = lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n  ");
    Ok(Some(format!("failed; the log is {}\n  {last}", log.display())))
}

/// Installs what was built into the output directory. True if that succeeded.
pub fn install(plan: &Plan) -> Result<bool, Failure> {
    let Some(commands) = plan.system.install(plan.out) else { return Ok(false) };
    eprintln!("no program decides on its input; perhaps the programs need their data files");
    for command in &commands {
        eprintln!("$ {command}");
    }
    let log = plan.out.join("install.log");
    let progress = Progress::open("installing");
    shell(&commands, &log, |lines| progress.set_message(&format!("{lines} lines of output")))
}

/// Runs commands in one shell, which stops at the first that fails. True if none failed.
pub fn shell(
    commands: &[String],
    log: &Path,
    mut seen: impl FnMut(usize),
) -> Result<bool, Failure> {
    let named = || log.display().to_string();
    let file = File::create(log).with_context(named).map_err(Failure::user_error)?;
    let mut command = Command::new("sh");
    command.args(["-e", "-c", &commands.join("\n")]).env("PATH", path_with_own_dir());
    // Programs that run during the build may lose memory.
    command.env("ASAN_OPTIONS", "detect_leaks=0");
    command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    let mut child = command.spawn()?;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.success());
        }
        let text = std::fs::read(log).unwrap_or_default();
        seen(text.iter().filter(|&&byte| byte == b'\n').count());
        std::thread::sleep(POLL);
    }
}

/// PATH, with the directory of this program first, so that `pleach-cc` is found.
fn path_with_own_dir() -> std::ffi::OsString {
    let dir = crate::compiler::find().and_then(|path| path.parent().map(Path::to_owned));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all: Vec<PathBuf> = dir.into_iter().chain(std::env::split_paths(&path)).collect();
    std::env::join_paths(all).unwrap_or(path)
}
