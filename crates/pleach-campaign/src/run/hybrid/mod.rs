//! Hybrid concolic testing: a worker's live run, and what its pilot has it do.
//!
//! The live run is a process of the fast half that takes random events. What it
//! has taken is its input: when it covers something new, the input is run from
//! the start on the fast half as any other, and kept if it shows the same there.
//! So the queue never depends on snapshots.
//!
//! The symbolic half follows. It is not driven itself, since most events lead to
//! no search; `./x bench hybrid` measures what it takes for an event without
//! labels. Before a search it is given the events that it has not had, and then
//! stands in the same state; see [`explore`].

mod bias;
mod explore;
mod phrases;

use super::stats::Stop;
use super::worker::{Promised, Worker};
use pleach_abi::message;
use pleach_exec::executor::{End, Events, ExecError, Executor, Half, Paused, Step, TargetOptions};
use pleach_exec::layout::Layout;
use pleach_search::{BranchId, Explored, Hopeless, Origin, Pilot, Rng, SnapshotId, Turn};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// A worker's live run.
pub struct Live {
    fast: Executor,
    symbolic: Executor,
    pilot: Pilot,
    rng: Rng,
    phrases: phrases::Phrases,
    /// Sentences of the grammar, if there is one, each a line.
    sentences: Vec<Vec<u8>>,
    /// What the live run has taken, and what the symbolic half has.
    input: Vec<u8>,
    followed: Vec<u8>,
    /// Inputs that lead to the snapshots.
    snapshots: HashMap<SnapshotId, Arc<[u8]>>,
    /// Snapshots that are standing processes, from the bottom up.
    standing: Vec<SnapshotId>,
    /// What was new in the last step, and how much of the input led to it.
    place: Option<(usize, Vec<BranchId>)>,
    cuts: Cuts,
    /// Stretches of events that took too long.
    hangs: u64,
    began: bool,
}

/// Cutting inputs that led to something costs runs. It may cost a quarter of what driving
/// does, and something to begin with: in a small program that is enough for everything,
/// and in a large one, where each stretch finds something, there would be no time for more.
#[derive(Default)]
struct Cuts {
    /// Events of the live run, and what cutting has cost, in events.
    driven: u64,
    spent: u64,
}

impl Cuts {
    fn may(&self) -> bool {
        self.spent < self.driven / 4 + CUTTING
    }
}

/// So many snapshots are processes. The others are found again by playing what
/// led to them.
const PROCESSES: usize = 4;
/// Inputs of the queue that a campaign begins with as snapshots.
const FIRST: usize = 8;
/// An input that led to something is cut by halves, so many times at most.
const CUTS: usize = 12;
/// What cutting may cost to begin with, in events.
const CUTTING: u64 = 1 << 14;
/// So many hangs are looked at. In an editor, a number and a letter are enough for one:
/// later ones are cut short, and nothing more.
const HANGS: u64 = 4;
const SHORTER: u32 = 8;
/// Sentences of a grammar that are drawn for a stretch of events.
const SENTENCES: usize = 64;

impl Live {
    pub fn new(
        layout: &Arc<Layout>,
        target: impl Fn(Half) -> TargetOptions,
        settings: &super::settings::Settings,
        seed: u64,
    ) -> Result<Live, ExecError> {
        let sized = |half| {
            let mut target = target(half);
            target.sizes.live = settings.max_len;
            target
        };
        Ok(Live {
            fast: Executor::new(layout.clone(), sized(Half::Fast))?,
            symbolic: Executor::new(layout.clone(), sized(Half::Symbolic))?,
            pilot: Pilot::new(settings.hybrid.pilot()),
            rng: Rng::new(seed),
            phrases: phrases::Phrases::default(),
            sentences: Vec::new(),
            input: Vec::new(),
            followed: Vec::new(),
            snapshots: HashMap::new(),
            standing: Vec::new(),
            place: None,
            cuts: Cuts::default(),
            hangs: 0,
            began: false,
        })
    }
}

impl Worker {
    /// One turn of the live run.
    pub fn live_turn(&mut self) -> Result<(), ExecError> {
        let Some(mut live) = self.live.take() else { return Ok(()) };
        let result = self.turn(&mut live);
        let mut state = self.shared.lock();
        state.doing = Some(live.pilot.doing());
        if let Some(why) = live.pilot.hopeless() {
            let why = match why {
                Hopeless::ReadsNothing => Stop::ReadsNothing,
                Hopeless::EndsAtOnce => Stop::EndsAtOnce,
                Hopeless::NothingDepends => Stop::NothingDepends,
            };
            if why == Stop::ReadsNothing {
                state.note("if the program reads a file, use another strategy".into());
            }
            self.shared.end(&mut state, why);
        }
        let enough = self.shared.settings.hybrid.enough;
        let (covered, reachable) =
            (state.coverage.covered(), state.coverage.reachable(&self.shared.map.program));
        if enough > 0 && reachable > 0 && covered * 100 >= reachable * enough as usize {
            self.shared.end(&mut state, Stop::Enough);
        }
        drop(state);
        self.live = Some(live);
        result
    }

    fn turn(&mut self, live: &mut Live) -> Result<(), ExecError> {
        if !std::mem::replace(&mut live.began, true) {
            self.recall(live);
        }
        match live.pilot.next(&mut live.rng) {
            Turn::From(from) => self.begin(live, from),
            Turn::Drive { events } => {
                self.set_bias(live)?;
                let seed = Some(live.rng.next_u64());
                let start = Instant::now();
                let timeout = match live.hangs {
                    0..HANGS => self.timeout,
                    _ => self.timeout / SHORTER,
                };
                let step = live.fast.live_go(Events { bytes: &[], most: events, seed }, timeout)?;
                let spent = start.elapsed();
                let (events, gained, ended) = self.absorb(live, step, spent)?;
                live.pilot.drove(events, gained, ended);
                self.keep_place(live)?;
                if !ended && events == 0 {
                    // There is no room for what it asks for.
                    live.pilot.full();
                }
                Ok(())
            }
            Turn::Explore { ahead, budget, keep } => self.search(live, ahead, budget, keep),
        }
    }

    /// Tells the pilot of inputs that are there already.
    fn recall(&self, live: &mut Live) {
        let state = self.shared.lock();
        let queue = state.store.queue();
        for &id in queue.iter().rev().take(FIRST) {
            let Some(known) = state.store.get(id) else { continue };
            let (snapshot, _) = live.pilot.add_snapshot(known.bytes.len() as u64);
            live.snapshots.insert(snapshot, known.bytes.clone());
        }
    }

    /// A run from the beginning or from a snapshot.
    fn begin(&mut self, live: &mut Live, from: Option<SnapshotId>) -> Result<(), ExecError> {
        let start = Instant::now();
        let bytes = from.and_then(|id| live.snapshots.get(&id).cloned()).unwrap_or_default();
        // A process that stands there is a fork away.
        let place = live.standing.iter().position(|id| Some(*id) == from);
        if let Some(place) = place
            && live.fast.live_depth() > place
        {
            while live.fast.live_depth() > place + 1 {
                live.fast.live_drop();
            }
            live.standing.truncate(place + 1);
            let step =
                live.fast.live_fork(Events { bytes: &[], most: 0, seed: None }, self.timeout)?;
            if matches!(step, Step::Paused(_)) {
                live.input = bytes.to_vec();
                live.pilot.began(true);
                self.count(start.elapsed(), 0);
                return Ok(());
            }
        }
        live.standing.clear();
        live.input.clear();
        let events = Events { bytes: &bytes, most: u64::MAX, seed: None };
        let step = live.fast.live_begin(events, self.timeout)?;
        let stands = matches!(step, Step::Paused(_));
        let there =
            matches!(step, Step::Paused(Paused { taken, .. }) if taken == bytes.len() as u64);
        if let (false, Some(id)) = (there, from) {
            live.snapshots.remove(&id);
            live.pilot.forget(id);
        }
        let (events, gained, ended) = self.absorb(live, step, start.elapsed())?;
        if from.is_none() || !there {
            live.pilot.drove(events, gained, false);
        }
        live.pilot.began(stands && !ended);
        Ok(())
    }

    /// Takes in what a step of the live run has brought: its events, branches that
    /// none had covered, and whether it is over.
    fn absorb(
        &mut self,
        live: &mut Live,
        step: Step,
        spent: Duration,
    ) -> Result<(u64, u32, bool), ExecError> {
        let io = |error| ExecError::Io { what: "cannot read the counters", error };
        live.place = None;
        let more = live.fast.live_input(live.input.len() as u64)?;
        live.input.extend(more);
        let modules = live.fast.counters().map_err(io)?;
        self.shared.map.collect(&modules, &mut self.counts);
        let events = match &step {
            Step::Paused(stand) => stand.events,
            Step::Ended(_) => live.fast.live_events()?,
        };
        self.count(spent, events);
        live.cuts.driven += events;
        let fresh = self.shared.lock().coverage.fresh(&self.counts);
        let ended = match step {
            Step::Paused(stand) => {
                self.note_flaws(stand);
                None
            }
            Step::Ended(outcome) => Some(outcome.end),
        };
        if self.shared.stopping() {
            return Ok((events, 0, ended.is_some()));
        }
        if matches!(ended, Some(End::Timeout)) {
            live.hangs += 1;
            if live.hangs > HANGS {
                return Ok((events, 0, true));
            }
        }
        let bad = ended.as_ref().is_some_and(|end| !matches!(end, End::Exit(_)));
        let before = self.shared.lock().coverage.covered();
        if !fresh.is_empty() || bad {
            let input = std::mem::take(&mut live.input);
            let short = match bad {
                true => input.len(),
                false => self.shortest(&mut live.cuts, &input, &fresh)?,
            };
            // What a crash covers is not for the queue.
            self.keep(&input[..short], if bad { &[] } else { &fresh })?;
            live.place = (!bad).then_some((short, fresh));
            live.input = input;
        }
        if ended.is_some() {
            live.phrases.ended(&live.input);
        }
        let gained = self.shared.lock().coverage.covered() - before;
        Ok((events, gained as u32, ended.is_some()))
    }

    /// Random events have reached something new: the place is one to go back to, and
    /// what was said last one to say again.
    fn keep_place(&mut self, live: &mut Live) -> Result<(), ExecError> {
        let Some((place, fresh)) = live.place.take() else { return Ok(()) };
        let input = &live.input[..place];
        if live.cuts.may() {
            live.phrases.add(self.last_words(&mut live.cuts, input, &fresh)?);
        }
        let (id, gone) = live.pilot.add_snapshot(input.len() as u64);
        live.snapshots.insert(id, input.into());
        if let Some(gone) = gone {
            live.snapshots.remove(&gone);
        }
        Ok(())
    }

    /// The shortest end of an input that covers the branches after what comes before
    /// its last bytes, as far as a few cuts tell.
    fn last_words<'a>(
        &mut self,
        cuts: &mut Cuts,
        input: &'a [u8],
        fresh: &[BranchId],
    ) -> Result<&'a [u8], ExecError> {
        let (before, tail) = input.split_at(input.len().saturating_sub(phrases::LONGEST));
        let (mut without, mut too_much) = (0, tail.len());
        while too_much - without > 1 && !self.shared.stopping() {
            let middle = without + (too_much - without) / 2;
            match self.shows(cuts, &[before, &tail[middle..]].concat(), fresh)? {
                true => without = middle,
                false => too_much = middle,
            }
        }
        Ok(&tail[without..])
    }

    /// Whether a run from the start covers these branches.
    fn shows(
        &mut self,
        cuts: &mut Cuts,
        input: &[u8],
        branches: &[BranchId],
    ) -> Result<bool, ExecError> {
        cuts.spent += Pilot::RESTART + input.len() as u64;
        let end = self.patiently(input.len(), |worker| worker.run_fast(input))?;
        Ok(matches!(end, End::Exit(_)) && self.counted(branches))
    }

    /// Whether the counters that were read last have all of these branches.
    fn counted(&self, branches: &[BranchId]) -> bool {
        branches.iter().all(|b| self.counts.get(*b as usize).is_some_and(|&c| c != 0))
    }

    /// The length of the shortest beginning of an input that covers the branches,
    /// as far as a few cuts tell.
    fn shortest(
        &mut self,
        cuts: &mut Cuts,
        input: &[u8],
        fresh: &[BranchId],
    ) -> Result<usize, ExecError> {
        let (mut short, mut long) = (0, input.len());
        for _ in 0..CUTS {
            let middle = short + (long - short) / 2;
            if middle == short || !cuts.may() || self.shared.stopping() {
                break;
            }
            match self.shows(cuts, &input[..middle], fresh)? {
                true => long = middle,
                false => short = middle,
            }
        }
        Ok(long)
    }

    /// Runs what the live run has taken from the start, and keeps it if it shows
    /// the same. Branches that it does not show there are doubted.
    fn keep(&mut self, input: &[u8], fresh: &[BranchId]) -> Result<(), ExecError> {
        self.patiently(input.len(), |worker| {
            worker.execute(input, Origin::Live, None, Promised::default())
        })?;
        let mut state = self.shared.lock();
        for &branch in fresh {
            if !state.coverage.has(branch) {
                state.coverage.doubt(branch);
            }
        }
        Ok(())
    }

    /// A long input may take its time.
    fn patiently<T>(
        &mut self,
        len: usize,
        run: impl FnOnce(&mut Worker) -> Result<T, ExecError>,
    ) -> Result<T, ExecError> {
        const BYTES: usize = 16 << 10;
        let (timeout, adaptive) = (self.timeout, self.adaptive);
        (self.timeout, self.adaptive) = (timeout * (1 + len / BYTES) as u32, false);
        let result = run(self);
        (self.timeout, self.adaptive) = (timeout, adaptive);
        result
    }

    fn search(
        &mut self,
        live: &mut Live,
        ahead: u64,
        budget: u64,
        keep: SnapshotId,
    ) -> Result<(), ExecError> {
        let found = self.explore(live, ahead, budget)?;
        if let Some(bytes) = &found.bytes {
            live.phrases.add(bytes);
        }
        let mut said = Explored {
            gained: 0,
            kept: false,
            ended: false,
            exhausted: found.exhausted,
            decisions: found.decisions,
        };
        self.shared.lock().stats.hybrid.searches += 1;
        if live.fast.live_depth() == 0 {
            said.ended = true;
        } else if let Some(bytes) = found.bytes {
            let start = Instant::now();
            let stays = live.standing.len() < PROCESSES
                && live.fast.live_depth() == live.standing.len() + 1;
            let before: Arc<[u8]> = live.input.as_slice().into();
            let events = Events { bytes: &bytes, most: u64::MAX, seed: None };
            let step = match stays {
                true => live.fast.live_fork(events, self.timeout)?,
                false => live.fast.live_go(events, self.timeout)?,
            };
            if stays {
                live.standing.push(keep);
            }
            let (events, gained, ended) = self.absorb(live, step, start.elapsed())?;
            live.pilot.drove(events, 0, false);
            (said.gained, said.ended, said.kept) = (gained, ended, gained > 0);
            if gained > 0 {
                live.snapshots.insert(keep, before);
                let mut state = self.shared.lock();
                state.stats.hybrid.found += 1;
                state.stats.hybrid.snapshots += 1;
            }
        }
        if let Some(gone) = live.pilot.explored(said) {
            live.snapshots.remove(&gone);
        }
        Ok(())
    }

    /// Says what a snapshot of this run is not.
    fn note_flaws(&self, stand: Paused) {
        let flaws = [
            (message::PAUSED_WITH_THREADS, "snapshot without its threads"),
            (message::PAUSED_WITH_SHARED_FILE, "snapshot shares a file"),
            (message::PAUSED_WITH_SOCKETS, "snapshot shares a connection"),
        ];
        for (flaw, what) in flaws {
            if stand.flaws & flaw != 0 {
                self.shared.lock().partial(what);
            }
        }
    }

    fn count(&self, spent: Duration, events: u64) {
        let mut state = self.shared.lock();
        state.stats.runs += 1;
        state.stats.time_s.fast += spent.as_secs_f64();
        state.stats.hybrid.events += events;
    }

    fn set_bias(&self, live: &mut Live) -> Result<(), ExecError> {
        let dictionary = self.shared.dictionary.lock().unwrap_or_else(PoisonError::into_inner);
        let uniform = self.shared.settings.hybrid.uniform;
        let mut made = bias::bias(&dictionary, &live.phrases, &mut live.rng, uniform);
        if let Some(language) = &self.shared.language {
            let lines = (0..SENTENCES).filter_map(|_| language.next(&self.shared.stop)).map(|d| {
                let mut bytes = d.bytes;
                if bytes.last() != Some(&b'\n') {
                    bytes.push(b'\n');
                }
                bytes
            });
            live.sentences = lines.collect();
            let all: Vec<&[u8]> = live.sentences.iter().map(Vec::as_slice).collect();
            bias::strict(&mut made, &all);
        }
        live.fast.set_bias(&made)
    }
}
