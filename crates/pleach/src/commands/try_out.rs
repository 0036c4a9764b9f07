//! The first runs of a campaign, before anything is touched: both halves must start, and
//! what goes wrong is told at once. A program that gives up before it reads anything, or
//! reads by a library without a symbolic half, looks like a search that finds nothing.

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
/// The symbolic half may take longer than the fast one.
const SYMBOLIC_FACTOR: u32 = 10;
/// Bytes of output that are kept of a run.
const MAX_OUTPUT: u64 = 16 << 20;

/// What the first runs have shown.
#[derive(Default)]
pub struct Trial {
    /// What people should know.
    pub notes: Vec<String>,
    /// All inputs that were tried end with a status of failure. For seeds of a person that
    /// is worth a note; a search keeps many such inputs.
    pub failing: Option<String>,
    /// No input can make a difference: the program reads none.
    pub reads_nothing: bool,
}

/// One input that was tried.
struct Tried {
    outcome: Outcome,
    /// Some of it was read, as far as that is followed.
    read: bool,
    /// Its file was opened or read, or a decision depends on it.
    used: bool,
    counters: Vec<ModuleCounters>,
}

/// Runs both halves on the first inputs. No run goes past the deadline.
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
        // Others may hang as well, and nobody waits for that.
        if !tried.last().is_some_and(Tried::ended) {
            break;
        }
    }
    let mut trial = Trial::default();
    let exits = tried.iter().all(Tried::ended);
    let unread = inputs.iter().zip(&tried).all(|(i, t)| !i.is_empty() && !t.read);
    if exits && unread {
        trial.notes.push(unread_note(settings, &tried[0].outcome));
    } else if exits && !seeds.is_empty() && tried.iter().all(|t| t.outcome.end != End::Exit(0)) {
        trial.failing = Some(failing_note(settings, tried.len(), &tried[0].outcome));
    }
    trial.notes.extend(show::plain_libraries(&trier.symbolic));
    let plain = !settings.socket && settings.tty.is_none();
    let plain = plain && !inputs.iter().any(|i| is_container(i));
    if plain && exits && unread && !tried.iter().any(|t| t.used) {
        trial.reads_nothing = trier.is_indifferent(inputs[0], &tried[0])?;
    }
    Ok(trial)
}

impl Tried {
    /// True if the program ended by itself.
    fn ended(&self) -> bool {
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
        let (outcome, opened) = self.fast.run_seeing_use(input, self.limit(self.timeout))?;
        let counters = self.fast.counters()?;
        if !matches!(outcome.end, End::Exit(_)) {
            return Ok(Tried { outcome, read: true, used: true, counters });
        }
        let patience = self.limit(self.timeout.saturating_mul(SYMBOLIC_FACTOR));
        let ran = self.symbolic.run(input, patience)?;
        let trace = self.symbolic.bounded_trace();
        // A typed call that asks for more than there is would get it in the campaign.
        let read = ran.calls.ended || trace.as_ref().map_or(0, |t| t.input_read) > 0;
        let decided = trace.map_or(true, |t| !t.events.is_empty());
        Ok(Tried { outcome, read, used: opened || read || decided, counters })
    }

    /// A time limit, cut at the deadline.
    fn limit(&self, timeout: Duration) -> Duration {
        let left = self.deadline.map(|d| d.saturating_duration_since(Instant::now()));
        timeout.min(left.unwrap_or(timeout)).max(Duration::from_millis(1))
    }

    /// True if a longer input makes no difference either, for programs that only look at
    /// its size.
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
        true => "it may look at the file's name or size first: give seeds that it accepts",
        false => {
            "if it reads a file, put @@ where the file's name goes; if it reads only its \
             arguments, make seeds by `pleach pack --arg`"
        }
    };
    let said = said(outcome);
    format!("the program read none of its input: it ended with {said}; {hints}{}", files(settings))
}

fn failing_note(settings: &Settings, tried: usize, outcome: &Outcome) -> String {
    let seeds = if tried == 1 {
        "the first seed ends".into()
    } else {
        format!("the first {tried} seeds end")
    };
    format!("{seeds} with {}{}", said(outcome), files(settings))
}

/// How a run ended, and the last lines of what it said.
fn said(outcome: &Outcome) -> String {
    let end = show::end(&outcome.end);
    let said = show::last_lines(&outcome.stderr).or_else(|| show::last_lines(&outcome.stdout));
    match said {
        Some(said) => format!("{end}, and said: {said}"),
        None => format!("{end}, and said nothing"),
    }
}

/// Where the program's files are, if that may be what it misses.
fn files(settings: &Settings) -> &'static str {
    match settings.cwd {
        Some(_) => "",
        None => {
            "; runs work in an empty scratch directory: if it needs files, give --cwd DIR, and \
             each run gets a copy"
        }
    }
}
