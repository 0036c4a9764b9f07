//! Decides what a live run does next: the deterministic form of hybrid concolic testing
//! (Majumdar and Sen: "Hybrid concolic testing", ICSE 2007, Algorithm 2).
//!
//! Random events drive the run. When `θ2` events in a row found nothing new, a bounded
//! search starts from the run's current state. The run then takes the events that the
//! search found, and random events continue from there. The paper has fixed constants;
//! here they adapt:
//!
//! - **θ2** doubles after a search that found nothing, and halves after one that found
//!   something. So there are fewer searches while random events still make progress.
//! - **The budget** of a search follows Luby's sequence (1, 1, 2, 1, 1, 2, 4, …), which
//!   starts again after a search that found something. It reaches every size, and spends at
//!   most a logarithmic factor more than necessary.
//! - **The depth** of a search cycles through a few values, because some findings are a few
//!   events away and others many.
//! - **The length of a run** follows Luby's sequence, too. The state of a program grows with
//!   every event, and large states are slow (an editor searches thousands of lines at every
//!   key). So most runs are short, and a few are long.
//!
//! A search that found something leaves a *snapshot* of its state. After a run ended, or
//! found nothing for long, the next one starts at a snapshot or from the beginning. A
//! snapshot is chosen at random by its promise. The promise is higher if searches from it
//! found something, if it is deep, and if its run covered new branches. It is lower if many
//! events must be replayed to reach it. There are at most [`MAX_SNAPSHOTS`]; the one with
//! the lowest promise is replaced.

use crate::rng::Rng;

/// The user's options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PilotOptions {
    /// θ2. Adapts if it is not given.
    pub saturation: Option<u64>,
    /// Steps of a search (traces, flips and runs). Adapts if it is not given.
    pub budget: Option<u64>,
    /// How many events a search looks ahead. Cycles if it is not given.
    pub ahead: Option<u64>,
}

pub type SnapshotId = u32;

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Start a run from a snapshot, or from the beginning.
    From(Option<SnapshotId>),
    /// Give the run this many random events.
    Drive { events: u64 },
    /// Search from the run's current state. If something is found, keep a snapshot of the
    /// state under the number `keep`, and give the run the events that were found.
    Explore { ahead: u64, budget: u64, keep: SnapshotId },
}

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explored {
    /// New branches. If 0, it found nothing.
    pub gained: u32,
    /// True if the snapshot was kept.
    pub kept: bool,
    /// True if the run ended.
    pub ended: bool,
    /// True if no path was left within the depth.
    pub exhausted: bool,
    /// The number of decisions that depended on the events.
    pub decisions: u64,
}

/// Why hybrid search cannot work on this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hopeless {
    /// It ended without reading input.
    ReadsNothing,
    /// It always ends after one or two events.
    EndsAtOnce,
    /// It keeps reading, but no decision depends on the events.
    NothingDepends,
}

/// See the module.
pub struct Pilot {
    options: PilotOptions,
    /// The current θ2.
    saturation: u64,
    /// Events without a gain, over all runs.
    dry_events: u64,
    /// Events since the current run started.
    run_events: u64,
    /// Events of the next [`Turn::Drive`].
    batch: u64,
    /// The most events of the current run.
    run_limit: u64,
    /// Runs since the last gain.
    dry_runs: u64,
    /// Searches that found nothing: since the last that did, and in the current run.
    failures: u64,
    run_failures: u64,
    /// True if the run is paused and can take events.
    is_paused: bool,
    /// Events from the start of the program to the run's current state.
    depth: u64,
    /// New branches on the way there.
    gained: u32,
    /// The snapshot that the run started from.
    from: Option<SnapshotId>,
    snapshots: Vec<Snapshot>,
    next_id: SnapshotId,
    /// Runs that ended, and the depth of the deepest.
    ended_runs: u64,
    max_depth: u64,
    /// Searches in a row that met no decision.
    blind_searches: u64,
}

#[derive(Clone, Debug)]
struct Snapshot {
    id: SnapshotId,
    depth: u64,
    /// True if a search kept it. Then it is most likely a paused process. The events to other
    /// snapshots must be replayed.
    is_process: bool,
    /// New branches on the way to it.
    gained: u32,
    /// Runs and searches from it, and searches that found something.
    tried: u32,
    found: u32,
}

const MAX_SNAPSHOTS: usize = 16;
/// θ2 at the start, and its bounds.
const FIRST_SATURATION: u64 = 512;
const MIN_SATURATION: u64 = 128;
const MAX_SATURATION: u64 = 1 << 15;
/// The most events of a run, times Luby's number.
const RUN_LENGTH: u64 = 256;
/// To reach a snapshot of this depth by replay takes twice as long as to start a run.
const DOUBLE_COST_DEPTH: f64 = Pilot::RESTART as f64;
const FIRST_BATCH: u64 = 64;
const MAX_BATCH: u64 = 1 << 12;
/// The budget of a search, times Luby's number.
const SEARCH_BUDGET: u64 = 48;
/// How many events searches look ahead, one after the other.
const SEARCH_DEPTHS: [u64; 4] = [8, 24, 4, 64];
/// After this many searches that found nothing, another run is started.
const MAX_RUN_FAILURES: u64 = 6;
/// A program ends at once if this many runs ended, none had more events than this, and this
/// many searches found nothing.
const ENDS_AT_ONCE_RUNS: u64 = 200;
const ENDS_AT_ONCE_EVENTS: u64 = 2;
const ENDS_AT_ONCE_FAILURES: u64 = 2;
/// A program reads nothing if this many runs read nothing. One is not enough: it may have
/// timed out while it started.
const READS_NOTHING_RUNS: u64 = 3;
/// Nothing depends on the events if this many searches in a row met no decision.
const NOTHING_DEPENDS_SEARCHES: u64 = 12;

impl Snapshot {
    fn promise(&self) -> f64 {
        let luck = f64::from(self.found + 1) / f64::from(self.tried + 1);
        let cost = if self.is_process { 1.0 } else { 1.0 + self.depth as f64 / DOUBLE_COST_DEPTH };
        luck * (2.0 + self.depth as f64).ln() * f64::from(1 + self.gained).sqrt() / cost
    }
}

impl Pilot {
    /// To start a run takes about as long as this many events. So each end of a run counts as
    /// this many events without a gain, and a program whose runs are short is searched soon.
    pub const RESTART: u64 = 256;

    pub fn new(options: PilotOptions) -> Pilot {
        Pilot {
            options,
            saturation: options.saturation.unwrap_or(FIRST_SATURATION).max(1),
            dry_events: 0,
            run_events: 0,
            batch: FIRST_BATCH,
            run_limit: RUN_LENGTH,
            dry_runs: 0,
            failures: 0,
            run_failures: 0,
            is_paused: false,
            depth: 0,
            gained: 0,
            from: None,
            snapshots: Vec::new(),
            next_id: 0,
            ended_runs: 0,
            max_depth: 0,
            blind_searches: 0,
        }
    }

    /// Adds a state that a known input leads to: a seed, or an input of a resumed campaign.
    /// Returns its number, and the snapshot that it replaces.
    pub fn add_snapshot(&mut self, depth: u64) -> (SnapshotId, Option<SnapshotId>) {
        let id = self.next_id;
        let snapshot = Snapshot { id, depth, is_process: false, gained: 1, tried: 0, found: 0 };
        (id, self.keep_snapshot(snapshot))
    }

    /// What the live run should do next.
    pub fn next(&mut self, rng: &mut Rng) -> Turn {
        if !self.is_paused || self.run_events >= self.run_limit {
            return self.start_run(rng);
        }
        if self.dry_events < self.saturation {
            let until_search = self.saturation - self.dry_events;
            let events = self.batch.min(until_search).min(self.run_limit - self.run_events);
            self.batch = (self.batch * 2).min(MAX_BATCH);
            return Turn::Drive { events };
        }
        if self.run_failures >= MAX_RUN_FAILURES {
            return self.start_run(rng);
        }
        let ahead = SEARCH_DEPTHS[(self.failures % SEARCH_DEPTHS.len() as u64) as usize];
        Turn::Explore {
            ahead: self.options.ahead.unwrap_or(ahead),
            budget: self.options.budget.unwrap_or(SEARCH_BUDGET * luby(self.failures + 1)),
            keep: self.next_id,
        }
    }

    /// Reports that a run was started as [`Turn::From`] asked. `is_paused`: it can take
    /// events; otherwise it ended.
    pub fn began(&mut self, is_paused: bool) {
        self.is_paused = is_paused;
        if !is_paused {
            self.end_run();
        }
    }

    /// Removes a snapshot that cannot be reached any more: the run that should have led there
    /// took another path. That run counts as started from the beginning.
    pub fn forget(&mut self, id: SnapshotId) {
        self.snapshots.retain(|s| s.id != id);
        if self.from == Some(id) {
            (self.from, self.depth, self.gained) = (None, 0, 0);
        }
    }

    /// Reports that the run took `events` events and covered `gained` new branches.
    pub fn drove(&mut self, events: u64, gained: u32, ended: bool) {
        self.depth += events;
        self.run_events += events;
        if gained > 0 {
            self.record_gain(gained);
            self.dry_events = 0;
            self.batch = FIRST_BATCH;
        } else {
            self.dry_events += events.max(1);
        }
        if ended {
            self.end_run();
        }
    }

    /// Reports the result of a search. Returns the snapshot that its snapshot replaces.
    pub fn explored(&mut self, e: Explored) -> Option<SnapshotId> {
        let found = e.gained > 0;
        self.blind_searches = if e.decisions > 0 || found { 0 } else { self.blind_searches + 1 };
        if let Some(from) = self.snapshots.iter_mut().find(|s| Some(s.id) == self.from) {
            from.tried += 1;
            from.found += u32::from(found);
        }
        let mut replaced = None;
        if found {
            self.failures = 0;
            self.run_failures = 0;
            if e.kept {
                let (id, depth, gained) = (self.next_id, self.depth, self.gained + e.gained);
                let snapshot = Snapshot { id, depth, is_process: true, gained, tried: 1, found: 1 };
                replaced = self.keep_snapshot(snapshot);
                self.from = Some(id);
            }
            self.record_gain(e.gained);
        } else {
            self.failures += 1;
            self.run_failures += 1;
        }
        self.dry_events = 0;
        self.batch = FIRST_BATCH;
        if self.options.saturation.is_none() {
            let now = if found { self.saturation / 2 } else { self.saturation * 2 };
            self.saturation = now.clamp(MIN_SATURATION, MAX_SATURATION);
        }
        if e.ended {
            self.end_run();
        }
        replaced
    }

    /// Reports that the run's input has no room for more events.
    pub fn full(&mut self) {
        self.is_paused = false;
    }

    /// The reason to give up, if there is one.
    pub fn hopeless(&self) -> Option<Hopeless> {
        if self.ended_runs >= READS_NOTHING_RUNS && self.max_depth == 0 {
            return Some(Hopeless::ReadsNothing);
        }
        if self.ended_runs >= ENDS_AT_ONCE_RUNS
            && self.max_depth <= ENDS_AT_ONCE_EVENTS
            && self.failures >= ENDS_AT_ONCE_FAILURES
        {
            return Some(Hopeless::EndsAtOnce);
        }
        let is_blind = self.blind_searches >= NOTHING_DEPENDS_SEARCHES;
        is_blind.then_some(Hopeless::NothingDepends)
    }

    /// What it is doing, for the user: one short phrase.
    pub fn doing(&self) -> String {
        format!(
            "{} events into a run, search after {} without gain, {} snapshots",
            self.depth,
            self.saturation,
            self.snapshots.len()
        )
    }

    fn start_run(&mut self, rng: &mut Rng) -> Turn {
        let chosen = self.choose_snapshot(rng);
        self.is_paused = false;
        self.dry_runs += 1;
        self.run_limit = RUN_LENGTH * luby(self.dry_runs);
        // Events without a gain count in the next run, too, but some random events come
        // before a search there. Otherwise every search would start at the same state.
        // If runs are short, all of them count.
        let before_search = (self.saturation / 2).min(self.run_limit / 2);
        if self.run_events >= before_search {
            self.dry_events = self.dry_events.min(self.saturation - before_search);
        }
        self.run_events = 0;
        self.batch = FIRST_BATCH;
        self.run_failures = 0;
        self.from = chosen;
        let snapshot = self.snapshots.iter_mut().find(|s| Some(s.id) == chosen);
        (self.depth, self.gained) = (0, 0);
        if let Some(s) = snapshot {
            s.tried += 1;
            (self.depth, self.gained) = (s.depth, s.gained);
        }
        Turn::From(chosen)
    }

    /// Chooses a snapshot by its promise; one time in four, the beginning.
    fn choose_snapshot(&self, rng: &mut Rng) -> Option<SnapshotId> {
        if self.snapshots.is_empty() || rng.below(4) == 0 {
            return None;
        }
        let total: f64 = self.snapshots.iter().map(Snapshot::promise).sum();
        let mut at = rng.unit() * total;
        let chosen = self.snapshots.iter().find(|s| {
            at -= s.promise();
            at < 0.0
        });
        chosen.or(self.snapshots.last()).map(|s| s.id)
    }

    /// Keeps a snapshot. Returns the one that it replaces.
    fn keep_snapshot(&mut self, snapshot: Snapshot) -> Option<SnapshotId> {
        self.next_id += 1;
        self.snapshots.push(snapshot);
        if self.snapshots.len() <= MAX_SNAPSHOTS {
            return None;
        }
        // The newest has not been tried yet, so it stays.
        let old = self.snapshots[..MAX_SNAPSHOTS].iter().enumerate();
        let least = old.min_by(|(_, a), (_, b)| a.promise().total_cmp(&b.promise()));
        least.map(|(at, _)| at).map(|at| self.snapshots.remove(at).id)
    }

    fn record_gain(&mut self, branches: u32) {
        self.gained += branches;
        self.dry_runs = 0;
    }

    fn end_run(&mut self) {
        self.is_paused = false;
        self.dry_events += Self::RESTART;
        self.ended_runs += 1;
        self.max_depth = self.max_depth.max(self.depth);
    }
}

/// Luby's sequence, from 1 on.
fn luby(n: u64) -> u64 {
    let size = (n + 1).next_power_of_two();
    if size == n + 1 { size / 2 } else { luby(n + 1 - size / 2) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Explored =
        Explored { gained: 0, kept: false, ended: false, exhausted: false, decisions: 5 };

    /// Drives a pilot. `gain` returns the gain of each turn.
    fn turns(pilot: &mut Pilot, count: usize, mut gain: impl FnMut(Turn) -> u32) -> Vec<Turn> {
        let mut rng = Rng::new(1);
        let step = |_| {
            let turn = pilot.next(&mut rng);
            let gained = gain(turn);
            match turn {
                Turn::From(_) => pilot.began(true),
                Turn::Drive { events } => pilot.drove(events, gained, false),
                Turn::Explore { .. } => {
                    pilot.explored(Explored { gained, kept: gained > 0, ..NOTHING });
                }
            }
            turn
        };
        (0..count).map(step).collect()
    }

    #[test]
    fn luby_gives_its_sequence() {
        let first: Vec<u64> = (1..16).map(luby).collect();
        assert_eq!(first, [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]);
    }

    #[test]
    fn a_search_follows_saturation_events_without_gain() {
        let options = PilotOptions { saturation: Some(100), ..PilotOptions::default() };
        let all = turns(&mut Pilot::new(options), 200, |_| 0);
        // A new run takes over at most half of the events without gain.
        let mut dry = 0;
        for turn in &all {
            match turn {
                Turn::From(_) => dry = dry.min(50),
                Turn::Drive { events } => dry += events,
                Turn::Explore { .. } => assert_eq!(std::mem::take(&mut dry), 100),
            }
        }
        assert!(all.iter().filter(|t| matches!(t, Turn::Explore { .. })).count() > 20);
        // Nothing is found here, so other runs are started.
        assert!(all.iter().filter(|t| matches!(t, Turn::From(_))).count() > 3);
    }

    #[test]
    fn events_that_gain_delay_the_search() {
        let mut left = 50;
        let all = turns(&mut Pilot::new(PilotOptions::default()), 51, |turn| match turn {
            Turn::Drive { .. } => {
                left -= 1;
                u32::from(left > 0)
            }
            _ => 0,
        });
        assert!(all.iter().all(|t| !matches!(t, Turn::Explore { .. })));
        // But no run is endless.
        assert!(all.iter().filter(|t| matches!(t, Turn::From(_))).count() > 5);
    }

    #[test]
    fn budgets_grow_and_saturation_adapts() {
        let mut pilot = Pilot::new(PilotOptions::default());
        let all = turns(&mut pilot, 60_000, |_| 0);
        let budgets = all.iter().filter_map(|t| match t {
            Turn::Explore { budget, .. } => Some(*budget),
            _ => None,
        });
        assert!(budgets.max() >= Some(32 * SEARCH_BUDGET));
        assert_eq!(pilot.saturation, MAX_SATURATION);
        turns(&mut pilot, 3000, |t| u32::from(matches!(t, Turn::Explore { .. })));
        assert_eq!(pilot.saturation, MIN_SATURATION);
    }

    #[test]
    fn good_snapshots_are_chosen_often_and_bad_ones_replaced() {
        let mut pilot = Pilot::new(PilotOptions::default());
        turns(&mut pilot, 400, |t| u32::from(matches!(t, Turn::Explore { .. })));
        assert_eq!(pilot.snapshots.len(), MAX_SNAPSHOTS);
        // From now on, only one of them finds something.
        let good = pilot.snapshots[3].id;
        for s in &mut pilot.snapshots {
            (s.tried, s.found) = (20, if s.id == good { 20 } else { 0 });
        }
        let mut rng = Rng::new(3);
        let chosen = (0..1000).filter(|_| pilot.choose_snapshot(&mut rng) == Some(good)).count();
        assert!(chosen > 300, "{chosen}");
        let (_, replaced) = pilot.add_snapshot(1);
        assert!(replaced.is_some() && replaced != Some(good));
        pilot.forget(good);
        assert!((0..1000).all(|_| pilot.choose_snapshot(&mut rng) != Some(good)));
    }

    #[test]
    fn programs_that_hybrid_search_cannot_drive_are_given_up() {
        let mut unread = Pilot::new(PilotOptions::default());
        for _ in 0..READS_NOTHING_RUNS {
            assert_eq!(unread.hopeless(), None);
            unread.next(&mut Rng::new(0));
            unread.began(false);
        }
        assert_eq!(unread.hopeless(), Some(Hopeless::ReadsNothing));

        let mut blind = Pilot::new(PilotOptions::default());
        for _ in 0..NOTHING_DEPENDS_SEARCHES {
            assert_eq!(blind.hopeless(), None);
            blind.explored(Explored { decisions: 0, ..NOTHING });
        }
        assert_eq!(blind.hopeless(), Some(Hopeless::NothingDepends));

        let mut brief = Pilot::new(PilotOptions::default());
        let mut rng = Rng::new(5);
        for _ in 0..10_000 {
            match brief.next(&mut rng) {
                Turn::From(_) => brief.began(true),
                Turn::Drive { .. } => brief.drove(1, 0, true),
                Turn::Explore { .. } => drop(brief.explored(NOTHING)),
            }
        }
        assert_eq!(brief.hopeless(), Some(Hopeless::EndsAtOnce));
    }
}
