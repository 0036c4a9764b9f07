//! The ring put together: a strategy chooses, the solver answers, the halves
//! run, and what was found goes to disk.
//!
//! [`Campaign::begin`] or [`Campaign::resume`] checks everything that a person
//! can have got wrong before anything is touched; [`Campaign::run`] works until
//! the search is exhausted, a limit is reached or it is told to stop.

mod corpus;
mod disk;
mod ends;
mod fit;
mod folded;
mod graft;
mod growing;
mod hybrid;
mod journal;
mod language;
mod map;
mod optimistic;
mod past;
mod patience;
mod settings;
mod sizes;
mod state;
mod stats;
mod store;
mod tokens;
mod tracing;
mod worker;
mod writer;

pub use corpus::{Dir, DirError, Kept};
pub use disk::Disk;
pub use language::Source;
pub use settings::{GrammarSettings, Hybrid, MAX_HOLE, Settings, Text, build_of};
pub use stats::{
    Branches, Flips, Functions, Hybrid as HybridStats, Module, Stats, Stop, Symbolic, Time, Tokens,
};
pub use worker::Limits;

use crate::mutate::Dictionary;
use ends::Ends;
use graft::Stock;
use growing::Growing;
use journal::{Journal, Record};
use language::Language;
use map::Map;
use past::{Past, Seed};
use patience::Patience;
use pleach_exec::affinity::{self, Affinity};
use pleach_exec::container::is_container;
use pleach_exec::executor::ExecError;
use pleach_exec::layout::Layout;
use pleach_exec::scratch::WorkDir;
use pleach_exec::triage::readme;
use pleach_search::{
    Coverage, Descriptor, Options, Origin, Rng, Runs, Strategy, TokenUse, UnknownStrategy, find,
};
use pleach_template::{Grafts, Vocabulary};
use state::State;
use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};
use thiserror::Error;
use worker::{Promised, Shared, Worker};

/// Sentences that are run at most to learn the numbers of tokens.
const PROBES: usize = 500;
/// Bytes of runs and their traces that are kept for flips.
const RUNS_MEMORY: usize = 512 << 20;

#[derive(Debug, Error)]
pub enum CampaignError {
    #[error(transparent)]
    Strategy(#[from] UnknownStrategy),
    #[error(transparent)]
    Grammar(#[from] pleach_template::StringsError),
    #[error(transparent)]
    Tokens(#[from] pleach_template::TokensError),
    #[error(transparent)]
    Grafts(#[from] pleach_template::GraftsError),
    #[error(transparent)]
    Dir(#[from] DirError),
    #[error(transparent)]
    Exec(#[from] ExecError),
    #[error("{}: {error}", path.display())]
    Io { path: std::path::PathBuf, error: io::Error },
    #[error(
        "{}: cannot be written to: {error}; what is there is whole, and can be gone on with",
        path.display()
    )]
    Write { path: std::path::PathBuf, error: io::Error },
}

/// What a campaign is made of, new or gone on with.
pub struct Setup {
    pub layout: Arc<Layout>,
    pub settings: Settings,
    pub limits: Limits,
    pub jobs: usize,
    /// The grammar that the settings name.
    pub grammar: Option<language::Source>,
    /// The files of the directory that the settings name.
    pub workdir: Option<WorkDir>,
    /// What people were told before it began.
    pub notes: Vec<String>,
}

impl Setup {
    /// `salt` is 0 for a new campaign. Going on, other sentences come than came at first.
    fn parts(&self, salt: u64) -> Result<Parts, CampaignError> {
        let settings = &self.settings;
        let seed = settings.seed.wrapping_add(salt);
        let asked = settings.grammar.as_ref();
        let per_string = asked.map_or(u32::MAX, |g| g.per_string);
        let grammar = self.grammar.is_some();
        let tokens = !map::token_functions(&self.layout).is_empty();
        let options = Options { depth: settings.depth, per_string, grammar, tokens };
        let descriptor = find(&settings.strategy)?;
        let strategy = descriptor.make(options);
        let language = match (&self.grammar, asked) {
            (Some(source), Some(asked)) => {
                Some(Language::new(source, asked, descriptor.derives, seed)?)
            }
            _ => None,
        };
        let vocabulary = match (&self.grammar, descriptor.tokens.filter(|_| tokens)) {
            (Some(source), Some(how)) => Some((Mutex::new(source.vocabulary()?), how)),
            _ => None,
        };
        let (mut probes, mut untried) = (Vec::new(), None);
        match (&self.grammar, &vocabulary) {
            (Some(source), Some(_)) => probes = source.probes(seed, PROBES)?,
            (Some(source), None) if tokens => {
                // Not every draw gives one.
                probes = source.probes(seed, 2 * fit::DOZENS)?;
                untried = source.vocabulary().ok();
            }
            _ => {}
        }
        let stock = match &self.grammar {
            Some(source) if descriptor.grafts => {
                Some(Mutex::new(Stock::new(Grafts::new(&source.grammar, seed)?)))
            }
            _ => None,
        };
        Ok(Parts { descriptor, strategy, language, vocabulary, stock, probes, untried })
    }
}

/// What is made of a setup.
struct Parts {
    descriptor: &'static Descriptor,
    strategy: Box<dyn Strategy>,
    language: Option<Language>,
    vocabulary: Option<(Mutex<Vocabulary>, TokenUse)>,
    stock: Option<Mutex<Stock>>,
    /// Inputs from which the numbers of tokens are learned.
    probes: Vec<Vec<u8>>,
    /// A grammar that the search will not hold against the program's tokens.
    untried: Option<Vocabulary>,
}

/// A campaign that is ready to run.
pub struct Campaign {
    probes: Vec<Vec<u8>>,
    untried: Option<Vocabulary>,
    shared: Arc<Shared>,
    layout: Arc<Layout>,
    seeds: Vec<Seed>,
    jobs: usize,
}

/// A look at a running campaign, for whoever shows it.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub stats: Stats,
    /// What the search is at.
    pub doing: String,
    /// Since a branch was covered that none had covered.
    pub since_gain: Duration,
    /// Inputs of the queue that wait to be traced, and so on, are the strategy's
    /// business; these are the edges that the tree holds.
    pub edges: usize,
}

impl Campaign {
    /// A new campaign in a new directory.
    pub fn begin(
        setup: Setup,
        seeds: Vec<Vec<u8>>,
        out: &Path,
        disk: Disk,
    ) -> Result<Campaign, CampaignError> {
        let parts = setup.parts(0)?;
        let dir = Dir::create(out, Arc::new(disk))?;
        let path = dir.journal();
        let io = |error| CampaignError::Dir(DirError::Write { path: path.clone(), error });
        let (mut journal, _) = Journal::open(&path, dir.disk.clone()).map_err(io)?;
        seeds.iter().for_each(|bytes| journal.add(&Record::Seed(bytes.clone())));
        journal.flush().map_err(io)?;
        dir.begin(&setup.settings)?;
        let past =
            Past { seeds: seeds.into_iter().map(Seed::Given).collect(), ..Past::new(journal) };
        Campaign::build(setup, dir, parts, past)
    }

    /// Goes on with the campaign in a directory.
    pub fn resume(setup: Setup, out: &Path, disk: Disk) -> Result<Campaign, CampaignError> {
        let dir = Dir::resume(out, &setup.settings, Arc::new(disk))?;
        let before = std::fs::metadata(dir.journal()).map_or(0, |m| m.len());
        let parts = setup.parts(before)?;
        let io = |error| CampaignError::Io { path: dir.path.clone(), error };
        let walk = parts.language.as_ref().and_then(Language::walk);
        let past = Past::read(&dir, walk.map(|w| &**w.strings())).map_err(io)?;
        walk.iter().for_each(|walk| walk.pass(past.stats.strings_done));
        Campaign::build(setup, dir, parts, past)
    }

    fn build(
        setup: Setup,
        dir: Dir,
        Parts { descriptor, strategy, language, vocabulary, stock, probes, untried }: Parts,
        past: Past,
    ) -> Result<Campaign, CampaignError> {
        let Setup { layout, settings, limits, jobs, workdir, notes, .. } = setup;
        let map = Arc::new(Map::new(layout.clone()));
        let seeds = past.seeds;
        let container = match seeds.first() {
            Some(Seed::Given(bytes)) => is_container(bytes),
            _ => false,
        };
        let socket = settings.socket.then(|| "--socket".into());
        let tty = settings.tty.map(|size| [OsString::from("--tty"), size.to_string().into()]);
        let cwd = settings.cwd.as_ref().map(|dir| [OsString::from("--cwd"), dir.os()]);
        let pairs = tty.into_iter().chain(cwd).flatten();
        let flags: Vec<OsString> = socket.into_iter().chain(pairs).collect();
        if past.records == 0 {
            dir.note(None, &readme(&settings.args(), &flags, container));
        }
        let mut dictionary = Dictionary::default();
        dictionary.add_program(&layout);
        seeds.iter().for_each(|s| {
            if let Seed::Given(bytes) = s {
                dictionary.add_seed(bytes);
            }
        });
        let mut stats = past.stats;
        stats.stop = None;
        stats.branches.total = map.program.counted() as u64;
        stats.functions.total = map.program.functions_counted() as u64;
        // Going on, what was counted then counts.
        let then = |file: &String| stats.modules.get(file).map_or(0, |m| m.reached);
        let reached = map.files().iter().map(then).collect();
        let then = |file: &String| stats.symbolic.by_module.get(file).copied().unwrap_or(0);
        let constraints = map.files().iter().map(then).collect();
        let strings = language.as_ref().and_then(Language::walk).map(|w| w.strings().clone());
        let growing = Growing::new(&settings, descriptor);
        let mut state = State {
            strategy,
            growing,
            strings,
            // Going on, other numbers come than came at first.
            rng: Rng::new(settings.seed.wrapping_add(past.records << 32)),
            tree: past.tree,
            coverage: Coverage::new(&map.program),
            crashed: Coverage::new(&map.program),
            runs: Runs::new(RUNS_MEMORY),
            store: past.store,
            dir,
            journal: past.journal,
            before: stats.time_s.total,
            rereading: seeds.iter().any(|s| !matches!(s, Seed::Given(_))),
            stats,
            crash_ids: past.crash_ids,
            ends: Ends::default(),
            bets: optimistic::Bets::default(),
            dropped: Vec::new(),
            asked: HashMap::new(),
            outstanding: 0,
            stop: None,
            failed: None,
            began: Instant::now(),
            last_gain: Instant::now(),
            patience: Patience::default(),
            next_kept: past.next_kept,
            doing: None,
            reached,
            last_reached: vec![0; map.files().len()],
            constraints,
            map: map.clone(),
        };
        notes.into_iter().for_each(|note| state.note(note));
        let shared = Shared {
            state: Mutex::new(state),
            wake: Condvar::new(),
            stop: Arc::new(AtomicBool::new(false)),
            map,
            settings,
            descriptor,
            workdir,
            limits,
            traces: Mutex::default(),
            dictionary: Mutex::new(dictionary),
            sizes: Mutex::default(),
            language,
            vocabulary,
            fit: Mutex::default(),
            stock,
        };
        let (shared, jobs) = (Arc::new(shared), jobs.max(1));
        Ok(Campaign { probes, untried, shared, layout, seeds, jobs })
    }

    /// Set it to end the campaign at once.
    pub fn stop_flag(&self) -> Arc<AtomicBool> {
        self.shared.stop.clone()
    }

    /// Runs the campaign to its end. `watch` is called several times a second.
    pub fn run(self, mut watch: impl FnMut(&Snapshot)) -> Result<Stats, CampaignError> {
        let Campaign { probes, mut untried, shared, layout, seeds, jobs } = self;
        let processors = affinity::processors(jobs);
        let mut workers = Vec::new();
        for i in 0..jobs {
            // What a worker starts runs where it does.
            let before = Affinity::current();
            processors.get(i).iter().for_each(|p| p.bind());
            let worker = Worker::new(shared.clone(), &layout);
            before.iter().for_each(Affinity::bind);
            workers.push(worker?);
        }
        let began = Instant::now();
        shared.lock().began = began;
        let result = std::thread::scope(|scope| {
            let (first, others) =
                workers.split_first_mut().map_or((None, None), |(f, o)| (Some(f), Some(o)));
            let shared = &shared;
            let (seeds, probes, untried) = (&seeds, &probes, &mut untried);
            // One worker brings in the seeds, in their order; then all search.
            let started = Arc::new((Mutex::new(false), Condvar::new()));
            let mut threads = Vec::new();
            let mut processors = processors.iter();
            if let Some(worker) = first {
                let (started, own) = (started.clone(), processors.next());
                threads.push(scope.spawn(move || {
                    own.into_iter().for_each(Affinity::bind);
                    let tried = match untried {
                        Some(vocabulary) => worker.try_grammar(vocabulary, probes),
                        None => worker.probe(probes),
                    };
                    let result = tried.and_then(|()| plant(shared, worker, seeds));
                    *started.0.lock().unwrap_or_else(|e| e.into_inner()) = true;
                    started.1.notify_all();
                    result.and_then(|()| worker.work())
                }));
            }
            for worker in others.into_iter().flatten() {
                let (started, own) = (started.clone(), processors.next());
                threads.push(scope.spawn(move || {
                    own.into_iter().for_each(Affinity::bind);
                    let mut ready = started.0.lock().unwrap_or_else(|e| e.into_inner());
                    while !*ready {
                        ready = started.1.wait(ready).unwrap_or_else(|e| e.into_inner());
                    }
                    drop(ready);
                    worker.work()
                }));
            }
            let mut written = Instant::now();
            while threads.iter().any(|t| !t.is_finished()) {
                std::thread::park_timeout(Duration::from_millis(50));
                let late = shared.limits.time.is_some_and(|t| began.elapsed() >= t);
                let over = late && !shared.stopping();
                if over {
                    // Before the lock: a worker that holds it may have much to do.
                    shared.stop.store(true, Ordering::Relaxed);
                }
                let mut state = shared.lock();
                if over {
                    shared.end(&mut state, Stop::Time);
                }
                if shared.stopping() {
                    shared.wake.notify_all();
                }
                if written.elapsed() >= Duration::from_secs(1) {
                    written = Instant::now();
                    write_stats(&mut state);
                }
                let snapshot = snapshot(&mut state);
                drop(state);
                watch(&snapshot);
            }
            let mut result = Ok(());
            for thread in threads {
                match thread.join() {
                    Ok(ended) => result = result.and(ended),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            result
        });
        let mut state = shared.lock();
        // Told to stop by the flag alone: from outside.
        if state.stop.is_none() {
            state.stop = Some(Stop::Interrupted);
        }
        state.stats.stop = state.stop;
        write_stats(&mut state);
        state.dir.settle();
        let late = state.dir.failure();
        if let Some(error) = state.failed.take().or(late) {
            return Err(CampaignError::Write { path: state.dir.path.clone(), error });
        }
        result?;
        watch(&snapshot(&mut state));
        Ok(state.stats.clone())
    }
}

/// Brings in the seeds, or what is left of a campaign that is resumed.
fn plant(shared: &Shared, worker: &mut Worker, seeds: &[Seed]) -> Result<(), ExecError> {
    for seed in seeds {
        // Whoever asks next says that it is over.
        if shared.stopping() {
            return Ok(());
        }
        match seed {
            Seed::Given(bytes) => {
                // The seeds that were not run come last.
                shared.lock().rereading = false;
                if worker.out_of_runs() {
                    return Ok(());
                }
                worker.execute(bytes, Origin::Seed, None, Promised::default())?;
                shared.lock().record(&Record::Planted);
            }
            Seed::Known(id) => worker.reread(*id)?,
            Seed::Bad(kept, bytes) => worker.reread_bad(*kept, bytes)?,
        }
    }
    shared.lock().rereading = false;
    Ok(())
}

fn write_stats(state: &mut State) {
    state.refresh();
    let flushed = state.journal.flush();
    state.check(flushed);
    state.dir.write_stats(&state.stats);
}

fn snapshot(state: &mut State) -> Snapshot {
    state.refresh();
    Snapshot {
        stats: state.stats.clone(),
        doing: state.doing.clone().unwrap_or_else(|| state.strategy.doing()),
        since_gain: state.last_gain.elapsed(),
        edges: state.tree.edges(),
    }
}
