//! `pleach export`: coverage, results and regression suites in the formats of other tools.
//! The formats are in `pleach_report::export`; this command runs the inputs.

mod args;
pub mod replay;
mod suite;
mod values;

use super::read_input;
use crate::args::Run;
use crate::exit::{Code, Failure};
use crate::show;
use anyhow::{Context as _, anyhow};
pub use args::{Export, formats};
use pleach_campaign::run::Dir;
use pleach_exec::triage::quoted;
use pleach_report::Progress;
use pleach_report::export::{Context, FORMATS, Format, Kind, find};
use replay::Replayer;
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

pub fn run(args: Export) -> Result<Code, Failure> {
    let Some(format) = find(&args.to) else {
        let names: Vec<_> = FORMATS.iter().map(|f| f.name).collect();
        return Err(Failure::user_error(anyhow!(
            "--to {}: there is no such format; there are {}",
            args.to,
            names.join(", ")
        )));
    };
    let run = with_program(args.run.clone(), &args.inputs)?;
    let is_xml = args.output.extension() == Some(OsStr::new("xml"));
    let as_suite = match format.kind {
        Kind::Suite(runner) => Some(runner),
        Kind::ResultsOrSuite(_, runner) if !is_xml => Some(runner),
        _ => None,
    };
    if as_suite.is_some() {
        suite::check_output(&args.output)?;
    } else if !matches!(format.kind, Kind::Values) {
        check_file(&args.output)?;
    }
    let paths = inputs_of(&args.inputs)?;
    let context = context(&run, args.source.as_deref())?;
    if let Some(runner) = as_suite {
        return suite::run(&args, run, paths, runner, context.program);
    }
    if let Kind::Values = format.kind {
        return values::run(&args, &run, &paths, &context);
    }
    export_file(&args, format, &run, &paths, &context)
}

/// Replays the inputs, and writes one file.
fn export_file(
    args: &Export,
    format: &Format,
    run: &Run,
    paths: &[PathBuf],
    context: &Context,
) -> Result<Code, Failure> {
    let mut replayer = Replayer::new(run, &paths[0], args.system)?;
    let mut outcomes = Vec::new();
    let progress = Progress::new("running inputs", paths.len() as u64);
    for path in paths {
        let outcome = replayer.run(path, &read_input(path)?)?;
        outcomes.push(outcome);
        progress.inc();
    }
    progress.finish();
    let bytes = match format.kind {
        Kind::Coverage(write) => write(&replayer.coverage(), context),
        Kind::Results(write) | Kind::ResultsOrSuite(write, _) => write(&outcomes, context),
        Kind::Suite(_) | Kind::Values => Vec::new(),
    };
    write_file(&args.output, &bytes)?;
    let mut out = show::out();
    writeln!(out, "{}: {} inputs", args.output.display(), outcomes.len())?;
    out.flush()?;
    Ok(Code::Ok)
}

/// The program that the user named, or else that of the campaign.
fn with_program(mut run: Run, inputs: &[PathBuf]) -> Result<Run, Failure> {
    if !run.program.is_empty() {
        return Ok(run);
    }
    if let Some(missing) = inputs.iter().find(|path| !path.exists()) {
        return Err(Failure::user_error(anyhow!("{}: does not exist", missing.display())));
    }
    let campaign = inputs.iter().find(|dir| dir.join("run.toml").is_file());
    let Some(dir) = campaign else {
        return Err(Failure::user_error(anyhow!(
            "no program is given; it comes after --, unless the inputs are a campaign directory"
        )));
    };
    let settings = Dir::settings(dir).map_err(Failure::user_error)?;
    run.program = settings.args();
    run.socket |= settings.socket;
    run.tty = run.tty.or(settings.tty);
    run.cwd = run.cwd.or(settings.cwd.as_ref().map(|c| c.os().into()));
    Ok(run)
}

/// The inputs that the user named: files, directories of inputs, campaign directories, and
/// output directories of AFL++, with one instance or several.
pub fn inputs_of(given: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut dirs = Vec::new();
    for path in given {
        let instances = if path.join("queue").is_dir() { Vec::new() } else { instances(path) };
        match instances.is_empty() {
            true => dirs.push(path.clone()),
            false => dirs.extend(instances),
        }
    }
    super::named_inputs(&dirs)
}

/// The instances in an output directory of AFL++: `default`, or those of `-M` and `-S`.
pub fn instances(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut found: Vec<_> =
        entries.map(|e| e.path()).filter(|p| p.join("queue").is_dir()).collect();
    found.sort();
    found
}

pub fn context(run: &Run, source: Option<&Path>) -> Result<Context, Failure> {
    let source = match source {
        Some(dir) if !dir.is_dir() => {
            let dir = dir.display();
            return Err(Failure::user_error(anyhow!("--source {dir}: is not a directory")));
        }
        Some(dir) => std::path::absolute(dir)?,
        None => std::env::current_dir()?,
    };
    let name = Path::new(&run.program[0]).file_name().unwrap_or_default();
    let words: Vec<_> = run.program.iter().map(|w| quoted(w)).collect();
    // For builds that must be the same every time.
    let fixed = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|t| t.parse().ok());
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    Ok(Context {
        program: name.to_string_lossy().into_owned(),
        command: words.join(" "),
        source,
        now: fixed.unwrap_or_else(now),
    })
}

/// Refuses a file that cannot be written, before anything runs.
fn check_file(path: &Path) -> Result<(), Failure> {
    let given = path.display();
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if path.is_dir() || !parent.is_dir() {
        return Err(Failure::user_error(anyhow!(
            "{given}: cannot be written: it must be a file in an existing directory"
        )));
    }
    Ok(())
}

/// Writes the whole file, or nothing.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    super::tmin::write(path, parent, bytes)
}

/// What went wrong with a directory that is written.
pub fn cannot_write(dir: &Path) -> impl Fn(std::io::Error) -> Failure {
    let dir = dir.display().to_string();
    move |error| {
        let done: Result<(), _> = Err(error);
        match done.with_context(|| dir.clone()) {
            Err(error) => Failure::user_error(error),
            Ok(()) => Failure::user_error(anyhow!("{dir}")),
        }
    }
}
