//! A search with libFuzzer's flags: `pleach run` in a temporary directory.

use super::corpus::{Corpora, open_target, sha1, write, write_new};
use super::flags::Flags;
use super::{CRASHED, OUT_OF_MEMORY, TIMED_OUT, add_limits, artifact, kept, number, parse, words};
use crate::commands::read_input;
use crate::exit::{Code, Failure};
use anyhow::Context;
use pleach_campaign::run::{Dir, Stats};
use pleach_exec::{End, Output};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often new inputs are copied.
const COPY_INTERVAL: Duration = Duration::from_millis(500);
/// At most this many bytes of a run's output are kept.
const MAX_OUTPUT: u64 = 16 << 20;
/// libFuzzer's maximal length of an input without `-max_len`.
const DEFAULT_MAX_LEN: u64 = 4096;

pub fn search(program: &Path, flags: &Flags, corpora: Corpora) -> Result<Code, Failure> {
    if number(flags, "runs")? == Some(0) {
        return run_corpora(program, flags, &corpora);
    }
    let io = |error| Failure::user_error(anyhow::Error::from(error).context("temporary directory"));
    let temporary = tempfile::Builder::new().prefix("pleach-").tempdir().map_err(io)?;
    let (seeds, out) = (temporary.path().join("seeds"), temporary.path().join("out"));
    std::fs::create_dir(&seeds).map_err(io)?;
    let given = add_seeds(flags, &corpora, &seeds)?;
    eprintln!("INFO: seed corpus: files: {}", given.count);
    let mut line = words(["run", "--no-summary", "-o"]);
    line.push(out.clone().into());
    if given.count > 0 {
        line.extend(["-i".into(), seeds.into_os_string()]);
    }
    add_options(flags, &given, &mut line)?;
    line.extend(["--".into(), program.into()]);
    let command = parse(line)?;
    let mut copier = Copier {
        flags,
        first: corpora.first,
        out: &out,
        seen: given.names,
        added: 0,
        has_stopped: false,
    };
    let is_over = AtomicBool::new(false);
    let result = std::thread::scope(|scope| {
        let copier = &mut copier;
        let is_over = &is_over;
        let thread = scope.spawn(move || -> Result<(), Failure> {
            while !is_over.load(Ordering::Relaxed) {
                copier.copy()?;
                std::thread::park_timeout(COPY_INTERVAL);
            }
            copier.copy()
        });
        let result = crate::commands::run(command);
        is_over.store(true, Ordering::Relaxed);
        thread.thread().unpark();
        let copied = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        result.and_then(|code| copied.map(|()| code))
    });
    result?;
    let stats = Dir::read_stats_of(&out).unwrap_or_default();
    report(flags, &stats, copier.added);
    failures(flags, &out)
}

/// `-runs=0`: runs each input of the corpora once, up to the first failure.
fn run_corpora(program: &Path, flags: &Flags, corpora: &Corpora) -> Result<Code, Failure> {
    let output = Output::Capture { limit: MAX_OUTPUT };
    let (mut executor, timeout) = open_target(program, flags, output)?;
    let mut runs = 0;
    for path in corpora.files.iter().chain(&corpora.others) {
        let outcome = executor.run(&read_input(path)?, timeout)?;
        runs += 1;
        let kind = match outcome.end {
            End::Exit(_) => continue,
            End::Timeout if !stops_at_timeout(flags) => continue,
            End::Timeout => Failed::Timeout,
            End::Memory => Failed::Memory,
            _ => Failed::Crash,
        };
        if let Some(code) = kind.status(flags)? {
            eprintln!("{}", String::from_utf8_lossy(&outcome.stderr).trim_end());
            kind.write(flags, path)?;
            return Ok(code);
        }
    }
    eprintln!("Done {runs} runs");
    Ok(Code::Ok)
}

/// What the campaign starts from.
#[derive(Default)]
struct Given {
    count: u64,
    longest: u64,
    /// The SHA-1 of the inputs.
    names: HashSet<String>,
}

/// Copies the corpora. Inputs are cut to `-max_len`, as in libFuzzer.
fn add_seeds(flags: &Flags, corpora: &Corpora, seeds: &Path) -> Result<Given, Failure> {
    let max_len = number(flags, "max_len")?.filter(|&n| n > 0).unwrap_or(u64::MAX);
    let mut given = Given::default();
    for path in corpora.files.iter().chain(&corpora.others) {
        let mut bytes = read_input(path)?;
        let name = sha1(&bytes);
        bytes.truncate(usize::try_from(max_len).unwrap_or(usize::MAX));
        if given.names.insert(name) {
            write(&seeds.join(format!("{:08}", given.count)), &bytes)?;
            given.count += 1;
            given.longest = given.longest.max(bytes.len() as u64);
        }
    }
    Ok(given)
}

/// Translates the flags.
fn add_options(
    flags: &Flags,
    given: &Given,
    line: &mut Vec<std::ffi::OsString>,
) -> Result<(), Failure> {
    let mut add = |option: &str, value: u64| line.extend([option.into(), value.to_string().into()]);
    if let Some(runs) = number(flags, "runs")? {
        add("-n", runs);
    }
    if let Some(seconds) = number(flags, "max_total_time")?.filter(|&seconds| seconds > 0) {
        add("-V", seconds);
    }
    let max_len = number(flags, "max_len")?.filter(|&n| n > 0);
    add("--max-len", max_len.unwrap_or(DEFAULT_MAX_LEN.max(given.longest)));
    if let Some(seed) = number(flags, "seed")? {
        add("--seed", seed);
    }
    let (jobs, workers) = (number(flags, "jobs")?, number(flags, "workers")?);
    let jobs = number(flags, "fork")?.or(jobs).filter(|&jobs| jobs > 0);
    if let Some(jobs) = jobs {
        let processors = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
        let workers = workers.filter(|&n| n > 0).unwrap_or(processors);
        let workers = jobs.min(workers).clamp(1, 256);
        eprintln!("INFO: one search with {workers} workers, and one log");
        add("-j", workers);
    }
    add_limits(flags, line)?;
    if let Some(file) = flags.text("dict") {
        line.extend(["-x".into(), file.into()]);
    }
    if !flags.is_on("ignore_crashes").unwrap_or(false) && !flags.is_on("fork").unwrap_or(false) {
        line.push("--stop-on-crash".into());
    }
    Ok(())
}

/// Copies what the campaign keeps.
struct Copier<'a> {
    flags: &'a Flags,
    first: Option<PathBuf>,
    out: &'a Path,
    seen: HashSet<String>,
    added: u64,
    has_stopped: bool,
}

impl Copier<'_> {
    fn copy(&mut self) -> Result<(), Failure> {
        for path in kept(self.out, "queue") {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if !self.seen.insert(name) {
                continue;
            }
            let bytes = read_input(&path)?;
            let name = sha1(&bytes);
            if self.seen.insert(name.clone()) {
                self.added += 1;
                if let Some(first) = &self.first {
                    write_new(first, &name, &bytes)?;
                }
            }
        }
        let is_over = stops_at_timeout(self.flags) && !kept(self.out, "hangs").is_empty();
        if is_over && !std::mem::replace(&mut self.has_stopped, true) {
            // The campaign ends as at Ctrl-C. A second signal would end this process.
            let _ = signal_hook::low_level::raise(signal_hook::consts::SIGTERM);
        }
        Ok(())
    }
}

/// True if a timeout is a failure: only with `-timeout`, because the limit of Pleach is much
/// lower than the 20 minutes of libFuzzer.
fn stops_at_timeout(flags: &Flags) -> bool {
    flags.is_on("timeout").unwrap_or(false) && !flags.is_on("ignore_timeouts").unwrap_or(false)
}

/// The lines that libFuzzer prints at the end.
fn report(flags: &Flags, stats: &Stats, added: u64) {
    let seconds = stats.time_s.total;
    eprintln!("#{}\tDONE   cov: {} corp: {}", stats.runs, stats.branches.covered, stats.inputs);
    eprintln!("Done {} runs in {} second(s)", stats.runs, seconds as u64);
    if flags.is_on("print_final_stats").unwrap_or(false) {
        eprintln!("stat::number_of_executed_units: {}", stats.runs);
        eprintln!(
            "stat::average_exec_per_sec:     {}",
            (stats.runs as f64 / seconds.max(1.0)) as u64
        );
        eprintln!("stat::new_units_added:          {added}");
    }
}

/// Writes the failures where libFuzzer does, and returns its exit status.
fn failures(flags: &Flags, out: &Path) -> Result<Code, Failure> {
    let mut code = Code::Ok;
    let hangs = if stops_at_timeout(flags) { kept(out, "hangs") } else { Vec::new() };
    let hangs = hangs.into_iter().map(|path| (Failed::Timeout, path));
    let crashes = kept(out, "crashes").into_iter().map(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        (if name.contains(",sig:09,") { Failed::Memory } else { Failed::Crash }, path)
    });
    for (kind, path) in hangs.chain(crashes) {
        let mut stack = path.clone().into_os_string();
        stack.push(".stack.txt");
        eprint!("{}", std::fs::read_to_string(stack).unwrap_or_default());
        kind.write(flags, &path)?;
        // A failure that is ignored is written, and does not count.
        code = kind.status(flags)?.unwrap_or(code);
    }
    Ok(code)
}

/// How an input failed.
#[derive(Clone, Copy)]
enum Failed {
    Crash,
    Timeout,
    Memory,
}

impl Failed {
    /// The exit status; `None` if such failures are ignored.
    fn status(self, flags: &Flags) -> Result<Option<Code>, Failure> {
        let (ignored, given, default) = match self {
            Failed::Crash => ("ignore_crashes", Some("error_exitcode"), CRASHED),
            Failed::Timeout => ("ignore_timeouts", Some("timeout_exitcode"), TIMED_OUT),
            Failed::Memory => ("ignore_ooms", None, OUT_OF_MEMORY),
        };
        if flags.is_on(ignored).unwrap_or(false) {
            return Ok(None);
        }
        let given = given.map(|name| number(flags, name)).transpose()?.flatten();
        let status = given.and_then(|status| u8::try_from(status).ok());
        Ok(Some(Code::LibFuzzer(status.unwrap_or(default))))
    }

    fn write(self, flags: &Flags, path: &Path) -> Result<(), Failure> {
        let kind = match self {
            Failed::Crash => "crash",
            Failed::Timeout => "timeout",
            Failed::Memory => "oom",
        };
        let bytes = std::fs::read(path).with_context(|| path.display().to_string());
        let bytes = bytes.map_err(Failure::user_error)?;
        let to = artifact(flags, &format!("{kind}-{}", sha1(&bytes)));
        write(&to, &bytes)?;
        let prefix = flags.text("artifact_prefix").unwrap_or("./");
        eprintln!("artifact_prefix='{prefix}'; Test unit written to {}", to.display());
        Ok(())
    }
}
