//! Hybrid concolic testing: the live run of a worker, and what its pilot has it do.
//!
//! The live run is a process of the fast half that reads random events. The events that it
//! has read are its input. When it covers something new, the input is run from the start
//! as any other candidate, and kept if it shows the same there. So the queue never depends
//! on snapshots.
//!
//! The symbolic half follows. It does not read every event as it comes, because most events
//! lead to no search. Before a search it is given the events that it has not read, and is
//! then paused in the same state ([`explore`]).

mod bias;
mod cuts;
mod explore;
mod phrases;

use super::account::{Gap, Stop};
use super::clock::{self, Part};
use super::ring::{Candidate, Runner, Worker, run_candidate};
use super::settings::Settings;
use cuts::Cuts;
use pleach_abi::message;
use pleach_exec::LiveRun;
use pleach_exec::executor::{End, Events, ExecError, Half, Paused, Step};
use pleach_search::{BranchId, Explored, Hopeless, Origin, Pilot, Rng, SnapshotId, Turn};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The live run of a worker.
pub struct Live {
    pilot: Pilot,
    rng: Rng,
    phrases: phrases::Phrases,
    /// Sentences of the grammar, if there is one, each a line.
    sentences: Vec<Vec<u8>>,
    /// What the live run has read, and what the symbolic half has.
    input: Vec<u8>,
    followed: Vec<u8>,
    /// The inputs that lead to the snapshots.
    snapshots: HashMap<SnapshotId, Arc<[u8]>>,
    /// The snapshots that are paused processes, from the bottom up.
    paused: Vec<SnapshotId>,
    /// What was new in the last step, and the length of the input that led to it.
    place: Option<(usize, Vec<BranchId>)>,
    cuts: Cuts,
    /// Stretches of events that timed out.
    hangs: u64,
    began: bool,
}

/// How many snapshots are paused processes. The others are reached again by playing their
/// inputs.
const MAX_PAUSED: usize = 4;
/// How many inputs of the queue are snapshots at the start.
const FIRST_SNAPSHOTS: usize = 8;
/// How many hangs get their full time. In an editor, a number and a letter are enough for a
/// hang: later ones get less time, and are not kept.
const MAX_HANGS: u64 = 4;
const SHORT_TIMEOUT_FACTOR: u32 = 8;
/// How many sentences of a grammar are drawn for a stretch of events.
const SENTENCES: usize = 64;

impl Live {
    pub fn new(settings: &Settings, seed: u64) -> Live {
        Live {
            pilot: Pilot::new(settings.hybrid.pilot()),
            rng: Rng::new(seed),
            phrases: phrases::Phrases::default(),
            sentences: Vec::new(),
            input: Vec::new(),
            followed: Vec::new(),
            snapshots: HashMap::new(),
            paused: Vec::new(),
            place: None,
            cuts: Cuts::default(),
            hangs: 0,
            began: false,
        }
    }
}

impl Runner {
    fn live_fast(&mut self) -> Result<&mut dyn LiveRun, ExecError> {
        self.target.live(Half::Fast)
    }

    fn live_symbolic(&mut self) -> Result<&mut dyn LiveRun, ExecError> {
        self.target.live(Half::Symbolic)
    }
}

/// One turn of the live run.
pub fn live_turn(worker: &mut Worker) -> Result<(), ExecError> {
    let Some(mut live) = worker.live.take() else { return Ok(()) };
    let result = turn(worker, &mut live);
    let shared = &worker.runner.shared;
    let mut state = shared.lock();
    state.progress.doing = Some(live.pilot.doing());
    if let Some(why) = live.pilot.hopeless() {
        let why = match why {
            Hopeless::ReadsNothing => Stop::ReadsNothing,
            Hopeless::EndsAtOnce => Stop::EndsAtOnce,
            Hopeless::NothingDepends => Stop::NothingDepends,
        };
        if why == Stop::ReadsNothing {
            state.account.note("if the program reads a file, use another strategy".into());
        }
        shared.end(&mut state, why);
    }
    let enough = shared.settings.hybrid.enough as usize;
    let coverage = &state.covered.kept;
    let (covered, reachable) = (coverage.covered(), coverage.reachable(&shared.map.program));
    if enough > 0 && reachable > 0 && covered * 100 >= reachable * enough {
        shared.end(&mut state, Stop::Enough);
    }
    drop(state);
    worker.live = Some(live);
    result
}

fn turn(worker: &mut Worker, live: &mut Live) -> Result<(), ExecError> {
    let runner = &mut worker.runner;
    if !std::mem::replace(&mut live.began, true) {
        add_snapshots(runner, live);
    }
    match live.pilot.next(&mut live.rng) {
        Turn::From(from) => begin(runner, live, from),
        Turn::Drive { events } => drive(runner, live, events),
        Turn::Explore { ahead, budget, keep } => search(worker, live, ahead, budget, keep),
    }
}

/// Tells the pilot of inputs that are in the queue already.
fn add_snapshots(runner: &Runner, live: &mut Live) {
    let state = runner.shared.lock();
    let store = &state.corpus.store;
    for &id in store.queue().iter().rev().take(FIRST_SNAPSHOTS) {
        let Some(input) = store.get(id) else { continue };
        let (snapshot, _) = live.pilot.add_snapshot(input.bytes.len() as u64);
        live.snapshots.insert(snapshot, input.bytes.clone());
    }
}

/// Begins a run at the start of the program or in a snapshot.
fn begin(runner: &mut Runner, live: &mut Live, from: Option<SnapshotId>) -> Result<(), ExecError> {
    let (start, timeout) = (Instant::now(), runner.timeout());
    let bytes = from.and_then(|id| live.snapshots.get(&id).cloned()).unwrap_or_default();
    let fast = runner.live_fast()?;
    // A process that is paused there only needs to be forked.
    let place = live.paused.iter().position(|id| Some(*id) == from);
    if let Some(place) = place
        && fast.depth() > place
    {
        while fast.depth() > place + 1 {
            fast.drop_top();
        }
        live.paused.truncate(place + 1);
        let step = fast.fork(Events { bytes: &[], most: 0, seed: None }, timeout)?;
        if matches!(step, Step::Paused(_)) {
            live.input = bytes.to_vec();
            live.pilot.began(true);
            count_run(runner, start.elapsed(), 0);
            return Ok(());
        }
    }
    live.paused.clear();
    live.input.clear();
    let step = fast.begin(Events { bytes: &bytes, most: u64::MAX, seed: None }, timeout)?;
    let is_paused = matches!(step, Step::Paused(_));
    let is_there =
        matches!(step, Step::Paused(Paused { taken, .. }) if taken == bytes.len() as u64);
    if let (false, Some(id)) = (is_there, from) {
        live.snapshots.remove(&id);
        live.pilot.forget(id);
    }
    let (events, gained, ended) = absorb(runner, live, step, start.elapsed())?;
    if from.is_none() || !is_there {
        live.pilot.drove(events, gained, false);
    }
    live.pilot.began(is_paused && !ended);
    Ok(())
}

/// Gives the live run random events.
fn drive(runner: &mut Runner, live: &mut Live, events: u64) -> Result<(), ExecError> {
    set_bias(runner, live)?;
    let seed = Some(live.rng.next_u64());
    let start = Instant::now();
    let timeout = match live.hangs {
        0..MAX_HANGS => runner.timeout(),
        _ => runner.timeout() / SHORT_TIMEOUT_FACTOR,
    };
    let events = Events { bytes: &[], most: events, seed };
    let step = runner.live_fast()?.resume(events, timeout)?;
    let (events, gained, ended) = absorb(runner, live, step, start.elapsed())?;
    live.pilot.drove(events, gained, ended);
    keep_place(runner, live)?;
    if !ended && events == 0 {
        // There is no room for the input that it asks for.
        live.pilot.full();
    }
    Ok(())
}

/// Takes the result of a step of the live run. Returns its events, how many branches it
/// covered that none had covered, and if the run has ended.
fn absorb(
    runner: &mut Runner,
    live: &mut Live,
    step: Step,
    spent: Duration,
) -> Result<(u64, u32, bool), ExecError> {
    let shared = runner.shared.clone();
    live.place = None;
    let fast = runner.live_fast()?;
    live.input.extend(fast.input(live.input.len() as u64)?);
    let events = match &step {
        Step::Paused(paused) => paused.events,
        Step::Ended(_) => fast.events()?,
    };
    runner.read_live_counts()?;
    count_run(runner, spent, events);
    live.cuts.driven += events;
    let fresh = shared.lock().covered.kept.fresh(&runner.counts);
    let ended = match step {
        Step::Paused(paused) => {
            record_flaws(runner, paused);
            None
        }
        Step::Ended(outcome) => Some(outcome.end),
    };
    if shared.is_stopping() {
        return Ok((events, 0, ended.is_some()));
    }
    if matches!(ended, Some(End::Timeout)) {
        live.hangs += 1;
        if live.hangs > MAX_HANGS {
            return Ok((events, 0, true));
        }
    }
    let is_bad = ended.as_ref().is_some_and(|end| !matches!(end, End::Exit(_)));
    let before = shared.lock().covered.kept.covered();
    if !fresh.is_empty() || is_bad {
        let input = std::mem::take(&mut live.input);
        let short = match is_bad {
            true => input.len(),
            false => live.cuts.shortest_prefix(runner, &input, &fresh)?,
        };
        // What a crash covers does not count for the queue.
        keep(runner, &input[..short], if is_bad { &[] } else { &fresh })?;
        live.place = (!is_bad).then_some((short, fresh));
        live.input = input;
    }
    if ended.is_some() {
        live.phrases.record_end(&live.input);
    }
    let gained = shared.lock().covered.kept.covered() - before;
    Ok((events, gained as u32, ended.is_some()))
}

/// Random events have reached something new: keeps the place as a snapshot, and the last
/// events as a phrase.
fn keep_place(runner: &mut Runner, live: &mut Live) -> Result<(), ExecError> {
    let Some((place, fresh)) = live.place.take() else { return Ok(()) };
    let input = &live.input[..place];
    if live.cuts.may_spend() {
        live.phrases.add(live.cuts.last_words(runner, input, &fresh)?);
    }
    let (id, dropped) = live.pilot.add_snapshot(input.len() as u64);
    live.snapshots.insert(id, input.into());
    if let Some(dropped) = dropped {
        live.snapshots.remove(&dropped);
    }
    Ok(())
}

/// Runs an input of the live run from the start, and keeps it if it shows the same.
/// Branches that it does not show there are doubted.
fn keep(runner: &mut Runner, input: &[u8], fresh: &[BranchId]) -> Result<(), ExecError> {
    run_whole(runner, input)?;
    let coverage = &mut runner.shared.lock().covered.kept;
    for &branch in fresh {
        if !coverage.has(branch) {
            coverage.doubt(branch);
        }
    }
    Ok(())
}

/// Runs an input of the live run from the start, as a candidate.
fn run_whole(runner: &mut Runner, input: &[u8]) -> Result<(), ExecError> {
    let candidate = Candidate::new(input.into(), Origin::Live, None);
    runner.with_time_for(input.len(), |runner| run_candidate(runner, candidate)).map(drop)
}

/// Searches from the state of the live run, and continues with what was found.
fn search(
    worker: &mut Worker,
    live: &mut Live,
    ahead: u64,
    budget: u64,
    keep: SnapshotId,
) -> Result<(), ExecError> {
    let found = explore::explore(worker, live, ahead, budget)?;
    let runner = &mut worker.runner;
    if let Some(bytes) = &found.bytes {
        live.phrases.add(bytes);
    }
    let mut explored = Explored {
        gained: 0,
        kept: false,
        ended: false,
        exhausted: found.exhausted,
        decisions: found.decisions,
    };
    runner.shared.lock().account.stats.hybrid.searches += 1;
    let timeout = runner.timeout();
    let fast = runner.live_fast()?;
    if fast.depth() == 0 {
        explored.ended = true;
    } else if let Some(bytes) = found.bytes {
        let start = Instant::now();
        let stays = live.paused.len() < MAX_PAUSED && fast.depth() == live.paused.len() + 1;
        let before: Arc<[u8]> = live.input.as_slice().into();
        let events = Events { bytes: &bytes, most: u64::MAX, seed: None };
        let step = match stays {
            true => fast.fork(events, timeout)?,
            false => fast.resume(events, timeout)?,
        };
        if stays {
            live.paused.push(keep);
        }
        let (events, gained, ended) = absorb(runner, live, step, start.elapsed())?;
        live.pilot.drove(events, 0, false);
        (explored.gained, explored.ended, explored.kept) = (gained, ended, gained > 0);
        if gained > 0 {
            live.snapshots.insert(keep, before);
            let stats = &mut runner.shared.lock().account.stats.hybrid;
            stats.found += 1;
            stats.snapshots += 1;
        }
    }
    if let Some(dropped) = live.pilot.explored(explored) {
        live.snapshots.remove(&dropped);
    }
    Ok(())
}

/// Records what a snapshot of this run lacks.
fn record_flaws(runner: &Runner, paused: Paused) {
    let flaws = [
        (message::PAUSED_WITH_THREADS, Gap::SnapshotThreads),
        (message::PAUSED_WITH_SHARED_FILE, Gap::SnapshotFile),
        (message::PAUSED_WITH_SOCKETS, Gap::SnapshotConnection),
    ];
    for (flaw, gap) in flaws {
        if paused.flaws & flaw != 0 {
            runner.shared.lock().record_gap(gap);
        }
    }
}

fn count_run(runner: &Runner, spent: Duration, events: u64) {
    clock::charge(Part::Fast, spent);
    runner.shared.runs.fetch_add(1, Ordering::Relaxed);
    if events > 0 {
        runner.shared.lock().account.stats.hybrid.events += events;
    }
}

/// Sets what random events are made of.
fn set_bias(runner: &mut Runner, live: &mut Live) -> Result<(), ExecError> {
    let shared = runner.shared.clone();
    if let Some(language) = &shared.language {
        let lines = (0..SENTENCES).filter_map(|_| language.next(&shared.stop)).map(|derived| {
            let mut line = derived.bytes;
            if line.last() != Some(&b'\n') {
                line.push(b'\n');
            }
            line
        });
        live.sentences = lines.collect();
    }
    let mut made = {
        let dictionary = shared.dictionary();
        let uniform = shared.settings.hybrid.uniform;
        bias::make_bias(&dictionary, &live.phrases, &mut live.rng, uniform)
    };
    if shared.language.is_some() {
        let all: Vec<&[u8]> = live.sentences.iter().map(Vec::as_slice).collect();
        bias::restrict(&mut made, &all);
    }
    runner.live_fast()?.set_bias(&made)
}
