//! `pleach ci`: a search with a corpus that is kept between runs, for continuous integration.
//!
//! The corpus grows by the inputs that cover something new. The run fails if there is a
//! crash that no earlier run has seen, or if asked, if the program answers otherwise than
//! before on an input of the corpus.

mod args;
mod corpus;
mod state;

use super::campaign;
use super::export::replay::Replayer;
use super::export::{context, write_file};
use super::{inputs_in, read_input, time_limit};
use crate::args::{Args, Command, Run};
use crate::exit::{Code, Failure};
use crate::show;
use anyhow::{Context as _, anyhow};
pub use args::Ci;
use clap::Parser;
use corpus::{Corpus, name_of};
use pleach_campaign::minimise::{Features, smallest_set};
use pleach_campaign::run::Dir;
use pleach_exec::{CrashId, Half, Image, Output};
use pleach_hash::Hash;
use pleach_report::Progress;
use pleach_report::ci::Summary;
use pleach_report::coverage::FileCoverage;
use pleach_report::export::{Context, Kind, Outcome, find};
use state::{Answer, HANG, Known, State};
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The reports, with the formats that write them.
const REPORTS: [(&str, &str); 4] = [
    ("results.sarif", "sarif"),
    ("junit.xml", "junit"),
    ("coverage.lcov", "lcov"),
    ("cobertura.xml", "cobertura"),
];

pub fn run(args: Ci) -> Result<Code, Failure> {
    let start = Instant::now();
    if args.time.is_none() && args.runs.is_none() {
        return Err(Failure::user_error(anyhow!("--time or -n is needed: when does it end?")));
    }
    Image::open(Path::new(&args.program[0]))?;
    let corpus = Corpus::read(&args.corpus)?;
    for dir in [&args.corpus].into_iter().chain(&args.report) {
        require_writable(dir)?;
    }
    let mut state = State::read(&args.corpus, args.baseline.as_deref())?;
    let work = tempfile::Builder::new().prefix("pleach-ci-").tempdir()?;
    let out = match &args.report {
        Some(dir) => make_report_dir(dir)?,
        None => work.path().join("out"),
    };
    let stats = search(&args, &corpus, work.path(), &out, start)?;
    let mut found = Found::new(&args, &corpus)?;
    let progress = Progress::new("running the corpus", corpus.inputs.len() as u64);
    // With more time, these inputs might get an answer.
    let hangs = inputs_in(&out, &["hangs"])?;
    let hangs: HashSet<Vec<u8>> =
        hangs.iter().map(|path| read_input(path)).collect::<Result<_, _>>()?;
    for (path, input) in &corpus.inputs {
        match hangs.contains(input) {
            true => found.replay_within(path, input, search_limit(&args))?,
            false => found.replay(path, input)?,
        };
        progress.inc();
    }
    progress.finish();
    let added = found.add_new(&out, &corpus)?;
    let changed = found.compare_answers(&args, &corpus, &mut state)?;
    let fixed = found.replay_known(&args, &mut state)?;
    for path in inputs_in(&out, &["crashes", "hangs"])? {
        found.replay_failure(&path, &read_input(&path)?)?;
    }
    let mut crashes = found.crashes(&state);
    let kept = remember(&mut crashes, &mut state, &corpus.extension())?;
    found.rename(&kept);
    state.write()?;

    let crashes = crashes.into_iter().map(|(outcome, _)| outcome);
    let (hangs, crashes): (Vec<_>, Vec<_>) = crashes.partition(is_hang);
    let (known, new): (Vec<_>, Vec<_>) = crashes.into_iter().partition(|c| c.is_known);
    let new_hangs = hangs.iter().any(|h| !h.is_known);
    let has_changed = changed.as_ref().is_some_and(|c| !c.is_empty());
    let failed = !new.is_empty()
        || args.fail_on_known && !known.is_empty()
        || args.fail_on_hang && new_hangs
        || has_changed;
    let outcomes = std::mem::take(&mut found.outcomes);
    let coverage = found.replayer.coverage();
    let summary = Summary {
        program: found.context.program.clone(),
        failed,
        seconds: start.elapsed().as_secs_f64(),
        runs: stats,
        corpus: corpus.inputs.len(),
        added,
        lines: coverage.total(FileCoverage::line_share),
        functions: coverage.total(FileCoverage::function_share),
        branches: coverage.total(FileCoverage::branch_share),
        new_crashes: new,
        known_crashes: known,
        hangs,
        fixed,
        changed,
    };
    let text = summary.markdown();
    if let Some(dir) = &args.report {
        write_page(&args, &out, dir)?;
        write_reports(dir, &outcomes, &coverage, &found.context, &text)?;
    }
    append_step_summary(&text)?;
    let mut out = show::out();
    write!(out, "{text}")?;
    out.flush()?;
    Ok(if failed { Code::Failed } else { Code::Ok })
}

/// Tries to write in a directory, or where it would be made: a search of an hour must not end
/// with the message that its results cannot be written.
fn require_writable(dir: &Path) -> Result<(), Failure> {
    let here = |dir: &Path| dir.as_os_str().is_empty();
    let existing = dir.ancestors().find(|above| here(above) || above.exists());
    let place = existing.filter(|dir| !here(dir)).unwrap_or(Path::new("."));
    let tried = tempfile::tempfile_in(place).map(drop);
    tried.with_context(|| dir.display().to_string()).map_err(Failure::user_error)
}

/// Makes the directory of reports. Returns where the campaign goes, which the page and its
/// commands are about; one of an earlier run is removed.
fn make_report_dir(dir: &Path) -> Result<PathBuf, Failure> {
    let made = std::fs::create_dir_all(dir);
    made.with_context(|| dir.display().to_string()).map_err(Failure::user_error)?;
    let out = dir.join("campaign");
    if out.join("run.toml").is_file() && !Dir::is_in_use(&out) {
        let removed = std::fs::remove_dir_all(&out);
        removed.with_context(|| out.display().to_string()).map_err(Failure::user_error)?;
    }
    Ok(out)
}

/// Runs the campaign. Returns the number of its runs.
fn search(
    args: &Ci,
    corpus: &Corpus,
    work: &Path,
    out: &Path,
    start: Instant,
) -> Result<u64, Failure> {
    let mut words: Vec<OsString> = ["pleach", "run", "-o"].map(OsString::from).to_vec();
    words.push(out.into());
    if !corpus.inputs.is_empty() {
        let seeds = work.join("seeds");
        corpus.copy_to(&seeds)?;
        words.extend(["-i".into(), seeds.into()]);
    }
    let mut option = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            words.extend([name.into(), value.into()]);
        }
    };
    // At least a second, so that the seeds are run.
    let left = |time: Duration| time.saturating_sub(start.elapsed()).max(Duration::from_secs(1));
    option("-V", args.time.map(|t| left(t).as_secs_f64().to_string()));
    option("-n", args.runs.map(|n| n.to_string()));
    option("-j", Some(args.jobs.to_string()));
    option("-s", args.strategy.clone());
    option("--seed", args.seed.map(|n| n.to_string()));
    option("-t", args.timeout.map(|n| n.to_string()));
    option("-m", args.memory.map(|n| n.to_string()));
    if let Some(grammar) = &args.grammar {
        words.extend(["-g".into(), grammar.into()]);
    }
    if let Some(dir) = &args.cwd {
        words.extend(["--cwd".into(), dir.into()]);
    }
    if args.socket {
        words.push("--socket".into());
    }
    words.push("--".into());
    words.extend(args.program.iter().cloned());
    let parsed = Args::try_parse_from(words).map_err(|e| Failure::user_error(anyhow!("{e}")))?;
    match parsed.command {
        Command::Campaign(campaign) => {
            Ok(campaign::search(&campaign)?.map_or(0, |(stats, _)| stats.runs))
        }
        _ => Err(Failure::internal(anyhow!("the options of a campaign are no campaign"))),
    }
}

/// What the replay of all inputs found.
struct Found {
    replayer: Replayer,
    context: Context,
    run: Run,
    features: Features,
    /// What the corpus covers.
    covered: HashSet<u32>,
    outcomes: Vec<Outcome>,
    /// The inputs of the outcomes.
    inputs: Vec<Vec<u8>>,
}

impl Found {
    fn new(args: &Ci, corpus: &Corpus) -> Result<Found, Failure> {
        let run = Run {
            timeout: args.timeout,
            memory: args.memory.unwrap_or(4096),
            socket: args.socket,
            tty: None,
            cwd: args.cwd.clone(),
            program: args.program.clone(),
        };
        let first = corpus.inputs.first().map_or_else(PathBuf::new, |(path, _)| path.clone());
        Ok(Found {
            replayer: Replayer::new(&run, &first, false)?,
            context: context(&run, args.source.as_deref())?,
            run,
            features: Features::default(),
            covered: HashSet::new(),
            outcomes: Vec::new(),
            inputs: Vec::new(),
        })
    }

    /// Replays an input. Returns what it covers, if it exits.
    fn replay(&mut self, path: &Path, input: &[u8]) -> Result<Vec<u32>, Failure> {
        self.replay_within(path, input, time_limit(&self.run, path))
    }

    fn replay_within(
        &mut self,
        path: &Path,
        input: &[u8],
        limit: Duration,
    ) -> Result<Vec<u32>, Failure> {
        let outcome = self.replayer.run_within(path, input, limit)?;
        let features = match outcome.has_passed {
            true => self.features.of(&self.replayer.executor.counters()),
            false => Vec::new(),
        };
        self.covered.extend(&features);
        self.outcomes.push(outcome);
        self.inputs.push(input.to_vec());
        Ok(features)
    }

    /// Adds to the corpus the inputs of the campaign that cover what nothing else does.
    fn add_new(&mut self, out: &Path, corpus: &Corpus) -> Result<usize, Failure> {
        let mut candidates = Vec::new();
        for path in inputs_in(out, &["queue"])? {
            let input = read_input(&path)?;
            if corpus.has(&input) {
                continue;
            }
            let before = self.covered.clone();
            let features = self.replay(&path, &input)?;
            let new: Vec<u32> = features.into_iter().filter(|f| !before.contains(f)).collect();
            self.covered = before;
            let (outcome, input) = (self.outcomes.pop(), self.inputs.pop());
            candidates.extend(outcome.zip(input).map(|(o, i)| (new, o, i)));
        }
        let sizes: Vec<_> = candidates.iter().map(|(f, _, i)| (f.clone(), i.len())).collect();
        let chosen = smallest_set(&sizes);
        for &at in &chosen {
            let (_, mut outcome, input) = candidates[at].clone();
            let path = corpus.keep(&corpus.extension(), &input)?;
            outcome.name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            outcome.path = path.display().to_string();
            self.outcomes.push(outcome);
            self.inputs.push(input);
        }
        Ok(chosen.len())
    }

    /// Replays the inputs of known crashes. Those that no longer crash are forgotten.
    fn replay_known(&mut self, args: &Ci, state: &mut State) -> Result<Vec<String>, Failure> {
        let mut fixed = Vec::new();
        for (id, path) in state.crash_inputs() {
            let input = read_input(&path)?;
            match state.crashes.get(&id) {
                Some(known) if known.kind == HANG => {
                    self.replay_within(&path, &input, search_limit(args))?
                }
                _ => self.replay(&path, &input)?,
            };
            let crash = self.outcomes.last().and_then(|o| o.crash.as_ref());
            if crash.is_some_and(|c| state::id(c) == id) {
                continue;
            }
            // The stack of a hang is read at some moments only, and may be another one.
            let is_hang = |known: &&Known| known.kind == HANG;
            if let Some(crash) = crash.filter(|c| c.kind == HANG)
                && let Some(known) = state.crashes.get(&id).filter(is_hang).cloned()
            {
                state.crashes.entry(state::id(crash)).or_insert(known);
                continue;
            }
            if let Some(known) = state.crashes.remove(&id) {
                fixed.push(known.text);
            }
            std::fs::remove_file(&path)
                .with_context(|| path.display().to_string())
                .map_err(Failure::user_error)?;
        }
        Ok(fixed)
    }

    /// Replays a crash or hang of the campaign. One that happens only after other inputs is
    /// reported all the same.
    fn replay_failure(&mut self, path: &Path, input: &[u8]) -> Result<(), Failure> {
        self.replay(path, input)?;
        let is_crash = path.parent().is_some_and(|dir| dir.ends_with("crashes"));
        if let Some(outcome) = self.outcomes.last_mut().filter(|o| o.has_passed && is_crash) {
            let kind = "a crash that does not happen again in a new process".to_string();
            let hash = Hash::new().add_bytes(kind.as_bytes()).finish();
            outcome.crash = Some(CrashId { kind, frames: Vec::new(), hash });
            outcome.has_passed = false;
        }
        Ok(())
    }

    /// Gives inputs that were moved their new paths.
    fn rename(&mut self, moved: &BTreeMap<String, String>) {
        for outcome in &mut self.outcomes {
            if let Some(path) = moved.get(&outcome.path) {
                outcome.path.clone_from(path);
            }
        }
    }

    /// One outcome for each different crash and hang.
    fn crashes(&mut self, state: &State) -> Vec<(Outcome, Vec<u8>)> {
        let mut all: BTreeMap<u64, (Outcome, Vec<u8>)> = BTreeMap::new();
        for (outcome, input) in self.outcomes.iter_mut().zip(&self.inputs) {
            let Some(crash) = &outcome.crash else { continue };
            outcome.is_known = state.knows(crash);
            all.entry(crash.hash).or_insert_with(|| (outcome.clone(), input.clone()));
        }
        all.into_values().collect()
    }

    /// Compares the answers of the corpus with those that were remembered. New ones, also of
    /// inputs that were just added, are remembered if another process gives them, too. Call it
    /// when only the corpus was replayed.
    fn compare_answers(
        &mut self,
        args: &Ci,
        corpus: &Corpus,
        state: &mut State,
    ) -> Result<Option<Vec<(String, String)>>, Failure> {
        if !args.check_answers && !args.accept_answers {
            return Ok(None);
        }
        let mut changed = Vec::new();
        let first = corpus.inputs.first().map(|(path, _)| path.clone()).unwrap_or_default();
        let output = Output::Capture { limit: 16 << 20 };
        let mut again = super::executor(Half::Fast, &self.run, &first, output)?;
        for (outcome, input) in self.outcomes.iter().zip(&self.inputs) {
            let path = Path::new(&outcome.path);
            let (name, answer) = (name_of(input), answer_of(outcome));
            let before = state.answers.get(&name);
            if !outcome.has_passed && args.accept_answers {
                // A crash or a hang is no answer.
                state.answers.remove(&name);
                continue;
            }
            if before == Some(&answer) || !outcome.has_passed && before.is_none() {
                continue;
            }
            let other = again.run(input, time_limit(&self.run, path))?;
            let is_stable =
                answer.end == show::end(&other.end) && answer.output == hash_of(&other.stdout);
            match before {
                _ if !is_stable => _ = state.answers.remove(&name),
                Some(before) if !args.accept_answers => {
                    let name = path.file_name().unwrap_or_default().to_string_lossy();
                    changed.push((name.into_owned(), difference(before, &answer)));
                }
                _ => _ = state.answers.insert(name, answer),
            }
        }
        Ok(Some(changed))
    }
}

fn answer_of(outcome: &Outcome) -> Answer {
    Answer { end: outcome.end.clone(), output: hash_of(&outcome.stdout) }
}

fn hash_of(bytes: &[u8]) -> String {
    format!("{} {}", bytes.len(), name_of(bytes))
}

fn difference(before: &Answer, now: &Answer) -> String {
    match before.end == now.end {
        true => "other standard output".into(),
        false => format!("{} instead of {}", now.end, before.end),
    }
}

/// The time limit of a run in the search.
fn search_limit(args: &Ci) -> Duration {
    Duration::from_millis(args.timeout.unwrap_or(campaign::DEFAULT_TIMEOUT_MS))
}

fn is_hang(outcome: &Outcome) -> bool {
    outcome.crash.as_ref().is_some_and(|c| c.kind == HANG)
}

/// Keeps new crashes and their inputs, so that the next run knows them. Returns the inputs, by
/// where they were: the directory of the search may be gone when people read the reports.
fn remember(
    crashes: &mut [(Outcome, Vec<u8>)],
    state: &mut State,
    extension: &str,
) -> Result<BTreeMap<String, String>, Failure> {
    let mut kept = BTreeMap::new();
    for (outcome, input) in crashes.iter_mut().filter(|(o, _)| !o.is_known) {
        let Some(crash) = &outcome.crash else { continue };
        let id = state::id(crash);
        let path = state.keep_crash(&id, extension, input)?.display().to_string();
        let known = Known { kind: crash.kind.clone(), text: crash.to_string() };
        state.crashes.insert(id, known);
        kept.insert(std::mem::replace(&mut outcome.path, path.clone()), path);
    }
    Ok(kept)
}

/// Writes the page of the campaign into the directory of reports.
fn write_page(args: &Ci, out: &Path, dir: &Path) -> Result<(), Failure> {
    let mut words: Vec<OsString> = ["pleach", "report", "-n", "0", "-o"].map(OsString::from).into();
    words.extend([dir.join("page").into(), out.into()]);
    if let Some(source) = &args.source {
        words.extend(["--source".into(), source.into()]);
    }
    let parsed = Args::try_parse_from(words).map_err(|e| Failure::user_error(anyhow!("{e}")))?;
    match parsed.command {
        Command::Report(page) => super::report::run(page).map(drop),
        _ => Err(Failure::internal(anyhow!("the options of a page are no page"))),
    }
}

fn write_reports(
    dir: &Path,
    outcomes: &[Outcome],
    coverage: &pleach_report::coverage::Coverage,
    context: &Context,
    summary: &str,
) -> Result<(), Failure> {
    for (name, format) in REPORTS {
        let bytes = match find(format).map(|f| f.kind) {
            Some(Kind::Coverage(write)) => write(coverage, context),
            Some(Kind::Results(write) | Kind::ResultsOrSuite(write, _)) => write(outcomes, context),
            _ => continue,
        };
        write_file(&dir.join(name), &bytes)?;
    }
    write_file(&dir.join("summary.md"), summary.as_bytes())
}

/// Appends to the page that GitHub shows for a job.
fn append_step_summary(text: &str) -> Result<(), Failure> {
    let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|p| !p.is_empty()) else {
        return Ok(());
    };
    let file = std::fs::OpenOptions::new().append(true).create(true).open(&path);
    let done = file.and_then(|mut file| file.write_all(text.as_bytes()));
    done.with_context(|| path.to_string_lossy().into_owned()).map_err(Failure::user_error)
}
