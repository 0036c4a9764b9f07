//! Trial runs before a campaign starts. Both halves must start, and problems are reported at
//! once. Otherwise a program that exits before it reads its input, or that reads it in a
//! library without a symbolic half, looks like a search that finds nothing.

use crate::exit::Failure;
use crate::show;
use pleach_campaign::run::Settings;
use pleach_exec::container::is_container;
use pleach_exec::executor::ModuleCounters;
use pleach_exec::{End, Executor, Half, Layout, Outcome, Output, WorkDir};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// At most this many inputs are tried.
pub const MAX_TRIED: usize = 4;
/// The symbolic half may take this many times longer than the fast half.
const SYMBOLIC_FACTOR: u32 = 10;
/// At most this many bytes of a run's output are kept.
const MAX_OUTPUT: u64 = 16 << 20;

/// What the trial runs have shown.
#[derive(Default)]
pub struct Trial {
    /// Warnings for the user.
    pub notes: Vec<String>,
    /// A warning if all seeds that were tried exit with a failure. Not for inputs of a
    /// resumed campaign, because a search keeps many such inputs.
    pub failing: Option<String>,
    /// True if the program reads nothing of its input, so that no input makes a difference.
    pub reads_nothing: bool,
}

/// The trial run of one input.
struct Tried {
    outcome: Outcome,
    /// True if the symbolic half saw that some of the input was read.
    read: bool,
    /// True if the input file was opened or read, or a decision depends on it.
    used: bool,
    counters: Vec<ModuleCounters>,
}

/// Runs both halves on the first inputs, until the deadline.
pub fn try_out(
    layout: &Arc<Layout>,
    settings: &Settings,
    workdir: Option<&WorkDir>,
    seeds: &[(PathBuf, Vec<u8>)],
    made_up: &[u8],
    deadline: Option<Instant>,
) -> Result<Trial, Failure> {
    let mut fast = settings.target(Half::Fast, workdir);
    fast.output = Output::Capture { limit: MAX_OUTPUT };
    let mut trier = Trier {
        fast: Executor::new(layout.clone(), fast)?,
        symbolic: Executor::new(layout.clone(), settings.target(Half::Symbolic, workdir))?,
        timeout: Duration::from_millis(settings.timeout_ms),
        deadline,
    };
    let mut inputs: Vec<&[u8]> =
        seeds.iter().take(MAX_TRIED).map(|(_, bytes)| &bytes[..]).collect();
    if inputs.is_empty() {
        inputs.push(made_up);
    }
    trier.fast.start()?;
    trier.symbolic.start()?;
    let mut tried = Vec::new();
    for input in &inputs {
        tried.push(trier.try_input(input)?);
        // The other inputs may hang, too, so do not try them.
        if !tried.last().is_some_and(Tried::has_exited) {
            break;
        }
    }
    let mut trial = Trial::default();
    let all_exit = tried.iter().all(Tried::has_exited);
    let unread = inputs.iter().zip(&tried).all(|(i, t)| !i.is_empty() && !t.read);
    if all_exit && unread {
        trial.notes.push(unread_note(settings, &tried[0].outcome));
    } else if all_exit && !seeds.is_empty() && tried.iter().all(|t| t.outcome.end != End::Exit(0)) {
        trial.failing = Some(failing_note(settings, tried.len(), &tried[0].outcome));
    }
    trial.notes.extend(show::plain_libraries(&trier.symbolic));
    let is_plain = !settings.socket && settings.tty.is_none();
    let is_plain = is_plain && !inputs.iter().any(|i| is_container(i));
    if is_plain && all_exit && unread && !tried.iter().any(|t| t.used) {
        trial.reads_nothing = trier.is_indifferent(inputs[0], &tried[0])?;
    }
    Ok(trial)
}

impl Tried {
    /// True if the program ended by itself.
    fn has_exited(&self) -> bool {
        matches!(self.outcome.end, End::Exit(_))
    }
}

struct Trier {
    fast: Executor,
    symbolic: Executor,
    timeout: Duration,
    deadline: Option<Instant>,
}

impl Trier {
    fn try_input(&mut self, input: &[u8]) -> Result<Tried, Failure> {
        let (outcome, opened) = self.fast.run_watching_input(input, self.limit(self.timeout))?;
        let counters = self.fast.counters();
        if !matches!(outcome.end, End::Exit(_)) {
            return Ok(Tried { outcome, read: true, used: true, counters });
        }
        let timeout = self.limit(self.timeout.saturating_mul(SYMBOLIC_FACTOR));
        let ran = self.symbolic.run(input, timeout)?;
        let trace = self.symbolic.bounded_trace();
        // In the campaign, a typed call at the end of the input gets more input.
        let read = ran.calls.ended || trace.as_ref().map_or(0, |t| t.input_read) > 0;
        let decided = trace.map_or(true, |t| !t.events.is_empty());
        Ok(Tried { outcome, read, used: opened || read || decided, counters })
    }

    /// The time limit, or the time until the deadline if that is shorter.
    fn limit(&self, timeout: Duration) -> Duration {
        let left = self.deadline.map(|d| d.saturating_duration_since(Instant::now()));
        timeout.min(left.unwrap_or(timeout)).max(Duration::from_millis(1))
    }

    /// True if a longer input makes no difference either. (A program may check only the size
    /// of its input.)
    fn is_indifferent(&mut self, input: &[u8], before: &Tried) -> Result<bool, Failure> {
        let longer = [input, input, b"\n"].concat();
        let after = self.try_input(&longer)?;
        let same = |(a, b): (&ModuleCounters, &ModuleCounters)| a.counters == b.counters;
        Ok(!after.used
            && after.outcome.end == before.outcome.end
            && after.counters.len() == before.counters.len()
            && after.counters.iter().zip(&before.counters).all(same))
    }
}

fn unread_note(settings: &Settings, outcome: &Outcome) -> String {
    let by_file = settings.program.iter().skip(1).any(|a| a.to_string().contains("@@"));
    let hints = match by_file {
        true => "it may check the file's name or size first: give seeds that it accepts",
        false => {
            "if it reads a file, put @@ where the file's name goes; if it reads only its \
             arguments, make seeds with `pleach pack --arg`"
        }
    };
    let end = describe_end(outcome);
    let files = files_hint(settings);
    format!("the program read none of its input: it ended with {end}; {hints}{files}")
}

fn failing_note(settings: &Settings, tried: usize, outcome: &Outcome) -> String {
    let seeds = if tried == 1 {
        "the first seed ends".into()
    } else {
        format!("the first {tried} seeds end")
    };
    format!("{seeds} with {}{}", describe_end(outcome), files_hint(settings))
}

/// How a run ended, and the last lines of its output.
fn describe_end(outcome: &Outcome) -> String {
    let end = show::end(&outcome.end);
    let last = show::last_lines(&outcome.stderr).or_else(|| show::last_lines(&outcome.stdout));
    match last {
        Some(last) => format!("{end}, and printed: {last}"),
        None => format!("{end}, and printed nothing"),
    }
}

/// A hint for programs that need files.
fn files_hint(settings: &Settings) -> &'static str {
    match settings.cwd {
        Some(_) => "",
        None => {
            "; runs start in an empty scratch directory: if it needs files, give --cwd DIR, and \
             each run gets a copy"
        }
    }
}
