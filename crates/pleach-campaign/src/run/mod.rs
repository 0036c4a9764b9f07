//! The ring put together: a strategy chooses, the solver answers, the halves
//! run, and what was found goes to disk.
//!
//! [`Campaign::begin`] or [`Campaign::resume`] checks everything that a person
//! can have got wrong before anything is touched; [`Campaign::run`] works until
//! the search is exhausted, a limit is reached or it is told to stop.

mod corpus;
mod disk;
mod journal;
mod map;
mod model;
mod settings;
mod state;
mod stats;
mod store;
mod worker;
mod writer;

pub use corpus::{Dir, DirError, Kept};
pub use disk::Disk;
pub use settings::{Settings, Text, build_of};
pub use stats::{Branches, Flips, Functions, Stats, Stop, Time};
pub use worker::Limits;

use crate::container::is_container;
use crate::executor::ExecError;
use crate::layout::Layout;
use crate::mutate::Dictionary;
use crate::triage::readme;
use journal::{Journal, Record};
use map::Map;
use pleach_search::{
    Coverage, InputId, Options, Origin, Rng, Runs, Tree, UnknownStrategy, by_name,
};
use state::State;
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};
use store::{Known, Store};
use thiserror::Error;
use worker::{Shared, Worker};

/// Bytes of runs and their traces that are kept for flips.
const RUNS_MEMORY: usize = 512 << 20;
/// Bytes of inputs outside the queue that are kept for tracing.
const INPUTS_MEMORY: usize = 256 << 20;

#[derive(Debug, Error)]
pub enum CampaignError {
    #[error(transparent)]
    Strategy(#[from] UnknownStrategy),
    #[error(transparent)]
    Dir(#[from] DirError),
    #[error(transparent)]
    Exec(#[from] ExecError),
    #[error("{}: {error}", path.display())]
    Io { path: std::path::PathBuf, error: io::Error },
}

/// A campaign that is ready to run.
pub struct Campaign {
    shared: Arc<Shared>,
    layout: Arc<Layout>,
    seeds: Vec<Seed>,
    jobs: usize,
}

/// What a campaign starts from.
enum Seed {
    /// A person's, or made up.
    Given(Vec<u8>),
    /// Of the campaign that is gone on with: executed before.
    Known(InputId),
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
        layout: Arc<Layout>,
        settings: Settings,
        limits: Limits,
        jobs: usize,
        seeds: Vec<Vec<u8>>,
        out: &Path,
        disk: Disk,
    ) -> Result<Campaign, CampaignError> {
        let strategy = by_name(&settings.strategy, Options { depth: settings.depth })?;
        let dir = Dir::create(out, &settings, Arc::new(disk))?;
        let seeds = seeds.into_iter().map(Seed::Given).collect();
        Campaign::build(layout, settings, limits, jobs, seeds, dir, strategy, Past::default())
    }

    /// Goes on with the campaign in a directory.
    pub fn resume(
        layout: Arc<Layout>,
        settings: Settings,
        limits: Limits,
        jobs: usize,
        out: &Path,
        disk: Disk,
    ) -> Result<Campaign, CampaignError> {
        let strategy = by_name(&settings.strategy, Options { depth: settings.depth })?;
        let dir = Dir::resume(out, &settings, Arc::new(disk))?;
        let io = |error| CampaignError::Io { path: dir.path.clone(), error };
        let past = Past::read(&dir).map_err(io)?;
        let seeds = past.open.iter().map(|&id| Seed::Known(id)).collect();
        Campaign::build(layout, settings, limits, jobs, seeds, dir, strategy, past)
    }

    #[allow(clippy::too_many_arguments)]
    fn build(
        layout: Arc<Layout>,
        settings: Settings,
        limits: Limits,
        jobs: usize,
        seeds: Vec<Seed>,
        dir: Dir,
        strategy: Box<dyn pleach_search::Strategy>,
        past: Past,
    ) -> Result<Campaign, CampaignError> {
        let io = |path: &Path| {
            let path = path.to_path_buf();
            move |error| CampaignError::Io { path, error }
        };
        let map = Arc::new(Map::new(layout.clone()));
        let path = dir.path.join("journal");
        let (journal, _) = Journal::open(&path, dir.disk.clone()).map_err(io(&path))?;
        let container = match seeds.first() {
            Some(Seed::Given(bytes)) => is_container(bytes),
            _ => false,
        };
        let flags = if settings.socket { vec!["--socket".into()] } else { Vec::new() };
        if !past.resumed {
            let text = readme(&settings.args(), &flags, container);
            dir.note(None, &text);
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
        stats.branches.total = map.program.branches() as u64;
        let with_branches = map.program.functions().iter().filter(|f| !f.sites.is_empty());
        stats.functions.total = with_branches.count() as u64;
        let state = State {
            strategy,
            rng: Rng::new(settings.seed),
            tree: past.tree,
            coverage: Coverage::new(&map.program),
            runs: Runs::new(RUNS_MEMORY),
            store: past.store,
            dir,
            journal,
            before: stats.time_s.total,
            stats,
            crash_ids: past.crash_ids,
            seen_ends: HashSet::new(),
            dropped: Vec::new(),
            outstanding: 0,
            stop: None,
            failed: None,
            began: Instant::now(),
            last_gain: Instant::now(),
            next_kept: past.next_kept,
            map: map.clone(),
        };
        let shared = Shared {
            state: Mutex::new(state),
            wake: Condvar::new(),
            stop: Arc::new(AtomicBool::new(false)),
            map,
            settings,
            limits,
            traces: Mutex::default(),
            dictionary: Mutex::new(dictionary),
        };
        Ok(Campaign { shared: Arc::new(shared), layout, seeds, jobs: jobs.max(1) })
    }

    /// Set it to end the campaign at once.
    pub fn stop_flag(&self) -> Arc<AtomicBool> {
        self.shared.stop.clone()
    }

    /// Runs the campaign to its end. `watch` is called several times a second.
    pub fn run(self, mut watch: impl FnMut(&Snapshot)) -> Result<Stats, CampaignError> {
        let Campaign { shared, layout, seeds, jobs } = self;
        let mut workers = Vec::new();
        for _ in 0..jobs {
            workers.push(Worker::new(shared.clone(), &layout)?);
        }
        let began = Instant::now();
        shared.lock().began = began;
        let result = std::thread::scope(|scope| {
            let (first, others) =
                workers.split_first_mut().map_or((None, None), |(f, o)| (Some(f), Some(o)));
            let shared = &shared;
            let seeds = &seeds;
            // One worker brings in the seeds, in their order; then all search.
            let started = Arc::new((Mutex::new(false), Condvar::new()));
            let mut threads = Vec::new();
            if let Some(worker) = first {
                let started = started.clone();
                threads.push(scope.spawn(move || {
                    let result = plant(shared, worker, seeds);
                    *started.0.lock().unwrap_or_else(|e| e.into_inner()) = true;
                    started.1.notify_all();
                    result.and_then(|()| worker.work())
                }));
            }
            for worker in others.into_iter().flatten() {
                let started = started.clone();
                threads.push(scope.spawn(move || {
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
                let mut state = shared.lock();
                if late && !shared.stopping() {
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
            return Err(CampaignError::Io { path: state.dir.path.clone(), error });
        }
        result?;
        watch(&snapshot(&mut state));
        Ok(state.stats.clone())
    }
}

/// Brings in the seeds, or what is left of a campaign that is gone on with.
fn plant(shared: &Shared, worker: &mut Worker, seeds: &[Seed]) -> Result<(), ExecError> {
    for seed in seeds {
        if shared.stopping() {
            return Ok(());
        }
        match seed {
            Seed::Given(bytes) => {
                worker.execute(bytes, Origin::Seed, None, None)?;
            }
            Seed::Known(id) => worker.again(*id)?,
        }
    }
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
        doing: state.strategy.doing(),
        since_gain: state.last_gain.elapsed(),
        edges: state.tree.edges(),
    }
}

/// What a directory says of a campaign before.
struct Past {
    /// There was one.
    resumed: bool,
    tree: Tree,
    store: Store,
    stats: Stats,
    crash_ids: HashSet<u64>,
    next_kept: [u32; 3],
    /// Inputs that are to be looked at again: the queue, what was never traced,
    /// and what was traced but left flips open.
    open: Vec<InputId>,
}

impl Default for Past {
    fn default() -> Self {
        Past {
            resumed: false,
            tree: Tree::default(),
            store: Store::new(INPUTS_MEMORY),
            stats: Stats::default(),
            crash_ids: HashSet::new(),
            next_kept: [0; 3],
            open: Vec::new(),
        }
    }
}

impl Past {
    fn read(dir: &Dir) -> io::Result<Past> {
        let stats = dir.read_stats().unwrap_or_default();
        let mut past = Past { resumed: true, stats, ..Past::default() };
        for (slot, kept) in [Kept::Queue, Kept::Crash, Kept::Hang].into_iter().enumerate() {
            let last = dir.inputs(kept)?.last().map_or(0, |(id, _)| id + 1);
            past.next_kept[slot] = last;
        }
        let (_, records) = Journal::open(&dir.path.join("journal"), dir.disk.clone())?;
        let mut bytes: HashMap<InputId, Arc<[u8]>> = HashMap::new();
        let mut queued: HashMap<u32, InputId> = HashMap::new();
        // Flips that a traced input has left open; absent: never traced.
        let mut left: HashMap<InputId, i64> = HashMap::new();
        let mut order = Vec::new();
        for record in records {
            match record {
                Record::Flip { node, mark, of } => {
                    past.tree.set(node, mark);
                    *left.entry(of).or_default() -= 1;
                }
                Record::Input(input) => {
                    let parent = input.parent.and_then(|p| bytes.get(&p)).cloned();
                    let Some(whole) = input.bytes(parent.as_deref().unwrap_or(&[])) else {
                        continue;
                    };
                    bytes.insert(input.id, whole.into());
                    order.push((input.id, input.queue));
                    if let Some(number) = input.queue {
                        queued.insert(number, input.id);
                    }
                }
                Record::Traced { input, open } => {
                    left.insert(input, open.into());
                }
                Record::Crash { hash } => {
                    past.crash_ids.insert(hash);
                }
            }
        }
        for (id, queue) in order {
            let Some(bytes) = bytes.get(&id).cloned() else { continue };
            past.store.insert(id, Known { bytes, queue, expect: None });
            if queue.is_some() || left.get(&id).is_none_or(|&n| n > 0) {
                past.open.push(id);
            }
        }
        // Files that the journal does not know: written just before the end, or
        // put there by another fuzzer.
        for (number, bytes) in dir.inputs(Kept::Queue)? {
            if !queued.contains_key(&number) {
                let known = Known { bytes: bytes.into(), queue: Some(number), expect: None };
                past.open.push(past.store.add(known));
            }
        }
        // And the other way round: handed over when the driver was killed.
        let there: HashSet<u32> = dir.inputs(Kept::Queue)?.into_iter().map(|(n, _)| n).collect();
        for (number, id) in queued.iter().filter(|(number, _)| !there.contains(number)) {
            if let Some(known) = past.store.get(*id) {
                let name = corpus::name(*number, None, 0, "op:recovered");
                dir.keep(Kept::Queue, &name, &known.bytes);
            }
        }
        let last = queued.keys().chain(&there).max().map_or(0, |n| n + 1);
        past.next_kept[0] = past.next_kept[0].max(last);
        past.stats.inputs = queued.keys().chain(&there).collect::<HashSet<_>>().len() as u64;
        past.stats.partial.retain(|what, _| what != "dropped");
        Ok(past)
    }
}
