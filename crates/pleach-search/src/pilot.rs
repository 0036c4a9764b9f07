//! What a live run does next: the deterministic form of hybrid concolic testing
//! (Majumdar, Sen, ICSE 2007, Algorithm 2), with what the paper leaves open.
//!
//! Random events drive the run. When `θ2` of them in a row brought nothing new,
//! a bounded search runs from where the run stands; what it finds is played, and
//! random events go on from there. The paper's constants adapt to what pays:
//!
//! - **θ2** doubles after a search that found nothing, and halves after one that
//!   did: where random events still move the program, searching waits.
//! - **The budget** of a search follows Luby's sequence (1, 1, 2, 1, 1, 2, 4, …)
//!   since the last that found something. Whatever a search needs, the sequence
//!   gets there without spending more than a logarithm too much on the way.
//! - **The depth** goes round: some events are found close by, with all their
//!   alternatives, others farther away.
//!
//! - **A run** is left for another after so many events, by Luby's sequence again since
//!   something was new: states grow as a run goes on, and large ones are slow (a text of
//!   thousands of lines, searched at every key), and so are inputs that lead to them.
//!   Most runs are short therefore, and some are as long as it takes.
//!
//! A search that found something leaves a *snapshot* behind: its state has shown
//! that there is something to be had. A run that ends, or that found nothing for
//! long, goes back to one, or to the beginning. A snapshot is chosen at random by
//! its promise: how much was found from it for how many tries, how deep it is,
//! how many new branches its run had covered, which nothing else reaches so
//! easily, and how many events it takes to get there. There are few of them; the one with the least promise gives way.

use crate::rng::Rng;

/// What a person can say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PilotOptions {
    /// θ2, if it is not to adapt.
    pub saturation: Option<u64>,
    /// Steps of a search (traces, flips and runs), if they are not to adapt.
    pub budget: Option<u64>,
    /// Events that a search looks ahead, if they are not to go round.
    pub ahead: Option<u64>,
}

pub type SnapshotId = u32;

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Start a run: from the beginning, or from a snapshot.
    From(Option<SnapshotId>),
    /// So many random events.
    Drive { events: u64 },
    /// Search from where the run stands. What is found is played; if `keep` says
    /// so, a snapshot is left there under this number.
    Explore { ahead: u64, budget: u64, keep: SnapshotId },
}

/// What came of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explored {
    /// Branches that what it found has covered; none: it found nothing.
    pub gained: u32,
    /// The run that played it stands, and the snapshot is there.
    pub kept: bool,
    pub ended: bool,
    /// No path was left within the depth.
    pub exhausted: bool,
    /// Decisions that depended on the events.
    pub decisions: u64,
}

/// Why there is no point in going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hopeless {
    /// It ended without asking for input.
    ReadsNothing,
    /// It ends after an event or two, whatever they are.
    EndsAtOnce,
    /// It takes events without end, and no decision depends on them.
    NothingDepends,
}

pub struct Pilot {
    options: PilotOptions,
    /// θ2 as it is now.
    saturation: u64,
    /// Events since something new, over all runs; events since this one began.
    dry: u64,
    since: u64,
    batch: u64,
    /// Events that this run may have.
    limit: u64,
    /// Runs since something was new.
    vain: u64,
    /// Searches without result since one that had one, overall and in this run.
    failures: u64,
    run_failures: u64,
    stands: bool,
    /// Events and new branches of the run so far, and the snapshot that it is from.
    events: u64,
    gained: u32,
    from: Option<SnapshotId>,
    snapshots: Vec<Snapshot>,
    next: SnapshotId,
    /// Runs that ended, the most events that one had, and searches that met no
    /// decision at all, in a row.
    ended: u64,
    longest: u64,
    blind: u64,
}

#[derive(Clone, Debug)]
struct Snapshot {
    id: SnapshotId,
    depth: u64,
    /// It was left by a search, and is a process most likely; the way to others has to be
    /// gone again.
    stands: bool,
    gained: u32,
    tried: u32,
    found: u32,
}

const SNAPSHOTS: usize = 16;
const SATURATION: u64 = 512;
const LEAST_SATURATION: u64 = 128;
const MOST_SATURATION: u64 = 1 << 15;
/// Events of a run, times Luby's number.
const RUN: u64 = 256;
/// A snapshot that is so many events deep costs twice as much as the beginning.
const DEEP: f64 = Pilot::RESTART as f64;
const MOST_BATCH: u64 = 1 << 12;
const FIRST_BATCH: u64 = 64;
const BUDGET: u64 = 48;
/// Depths, in events, one after the other.
const AHEAD: [u64; 4] = [8, 24, 4, 64];
/// Searches without result after which a run is left for another.
const PATIENCE: u64 = 6;
/// So many runs with so few events each, and so many searches in vain from where
/// they begin, are enough to say that a program does not keep reading.
const SHORT_RUNS: u64 = 200;
const SHORT: u64 = 2;
const SHORT_FAILURES: u64 = 2;
/// So many runs that asked for nothing say that none will: one may have been killed
/// for the time that it took to start.
const SILENT_RUNS: u64 = 3;
/// As many searches that met no decision say that there is none.
const BLIND: u64 = 12;

impl Snapshot {
    fn promise(&self) -> f64 {
        let luck = f64::from(self.found + 1) / f64::from(self.tried + 1);
        let cost = if self.stands { 1.0 } else { 1.0 + self.depth as f64 / DEEP };
        luck * (2.0 + self.depth as f64).ln() * f64::from(1 + self.gained).sqrt() / cost
    }
}

impl Pilot {
    /// To start a run takes as long as so many events, about: where runs end soon, a
    /// search is as cheap as a few of them.
    pub const RESTART: u64 = 256;

    pub fn new(options: PilotOptions) -> Pilot {
        Pilot {
            options,
            saturation: options.saturation.unwrap_or(SATURATION).max(1),
            dry: 0,
            since: 0,
            batch: FIRST_BATCH,
            limit: RUN,
            vain: 0,
            failures: 0,
            run_failures: 0,
            stands: false,
            events: 0,
            gained: 0,
            from: None,
            snapshots: Vec::new(),
            next: 0,
            ended: 0,
            longest: 0,
            blind: 0,
        }
    }

    /// A state to go back to that is known from elsewhere: a seed, or an input
    /// of a campaign that is gone on with. Its number, and one that gives way.
    pub fn add_snapshot(&mut self, depth: u64) -> (SnapshotId, Option<SnapshotId>) {
        let id = self.next;
        (id, self.keep(Snapshot { id, depth, stands: false, gained: 1, tried: 0, found: 0 }))
    }

    pub fn next(&mut self, rng: &mut Rng) -> Turn {
        if !self.stands || self.since >= self.limit {
            return self.start(rng);
        }
        if self.dry < self.saturation {
            let events = self.batch.min(self.saturation - self.dry).min(self.limit - self.since);
            self.batch = (self.batch * 2).min(MOST_BATCH);
            return Turn::Drive { events };
        }
        if self.run_failures >= PATIENCE {
            return self.start(rng);
        }
        let ahead = AHEAD[(self.failures % AHEAD.len() as u64) as usize];
        Turn::Explore {
            ahead: self.options.ahead.unwrap_or(ahead),
            budget: self.options.budget.unwrap_or(BUDGET * luby(self.failures + 1)),
            keep: self.next,
        }
    }

    /// A run was started from where [`Turn::From`] said; whether it stands.
    pub fn began(&mut self, stands: bool) {
        self.stands = stands;
        if !stands {
            self.over();
        }
    }

    /// A snapshot is not there any more: a run that should have led there went
    /// another way, from the beginning.
    pub fn forget(&mut self, id: SnapshotId) {
        self.snapshots.retain(|s| s.id != id);
        if self.from == Some(id) {
            (self.from, self.events, self.gained) = (None, 0, 0);
        }
    }

    /// So many events were played, and so many branches were new.
    pub fn drove(&mut self, events: u64, gained: u32, ended: bool) {
        self.events += events;
        self.since += events;
        if gained > 0 {
            self.gain(gained);
            self.dry = 0;
            self.batch = FIRST_BATCH;
        } else {
            self.dry += events.max(1);
        }
        if ended {
            self.over();
        }
    }

    /// What came of a search. A snapshot that gives way.
    pub fn explored(&mut self, e: Explored) -> Option<SnapshotId> {
        let found = e.gained > 0;
        self.blind = if e.decisions > 0 || found { 0 } else { self.blind + 1 };
        if let Some(from) = self.snapshots.iter_mut().find(|s| Some(s.id) == self.from) {
            from.tried += 1;
            from.found += u32::from(found);
        }
        let mut gone = None;
        if found {
            self.failures = 0;
            self.run_failures = 0;
            if e.kept {
                let (depth, gained) = (self.events, self.gained + e.gained);
                let id = self.next;
                gone = self.keep(Snapshot { id, depth, stands: true, gained, tried: 1, found: 1 });
                self.from = Some(id);
            }
            self.gain(e.gained);
        } else {
            self.failures += 1;
            self.run_failures += 1;
        }
        self.dry = 0;
        self.batch = FIRST_BATCH;
        if self.options.saturation.is_none() {
            let now = if found { self.saturation / 2 } else { self.saturation * 2 };
            self.saturation = now.clamp(LEAST_SATURATION, MOST_SATURATION);
        }
        if e.ended {
            self.over();
        }
        gone
    }

    /// The input of the run has no room for more.
    pub fn full(&mut self) {
        self.stands = false;
    }

    /// Whether there is any point in going on.
    pub fn hopeless(&self) -> Option<Hopeless> {
        if self.ended >= SILENT_RUNS && self.longest == 0 {
            return Some(Hopeless::ReadsNothing);
        }
        if self.ended >= SHORT_RUNS && self.longest <= SHORT && self.failures >= SHORT_FAILURES {
            return Some(Hopeless::EndsAtOnce);
        }
        (self.blind >= BLIND).then_some(Hopeless::NothingDepends)
    }

    /// For people: one short phrase.
    pub fn doing(&self) -> String {
        format!(
            "{} events into a run, search after {} without gain, {} snapshots",
            self.events,
            self.saturation,
            self.snapshots.len()
        )
    }

    fn start(&mut self, rng: &mut Rng) -> Turn {
        let chosen = self.choose(rng);
        self.stands = false;
        self.vain += 1;
        self.limit = RUN * luby(self.vain);
        // What brought nothing in the last run will not do so in this one at
        // once; but no search begins where every run does, unless runs are short.
        let before_search = (self.saturation / 2).min(self.limit / 2);
        if self.since >= before_search {
            self.dry = self.dry.min(self.saturation - before_search);
        }
        self.since = 0;
        self.batch = FIRST_BATCH;
        self.run_failures = 0;
        self.from = chosen;
        let snapshot = self.snapshots.iter_mut().find(|s| Some(s.id) == chosen);
        (self.events, self.gained) = (0, 0);
        if let Some(s) = snapshot {
            s.tried += 1;
            (self.events, self.gained) = (s.depth, s.gained);
        }
        Turn::From(chosen)
    }

    /// A snapshot by its promise; one time in four, the beginning.
    fn choose(&self, rng: &mut Rng) -> Option<SnapshotId> {
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

    fn keep(&mut self, snapshot: Snapshot) -> Option<SnapshotId> {
        self.next += 1;
        self.snapshots.push(snapshot);
        if self.snapshots.len() <= SNAPSHOTS {
            return None;
        }
        // The newest has had no chance yet.
        let old = self.snapshots[..SNAPSHOTS].iter().enumerate();
        let least = old.min_by(|(_, a), (_, b)| a.promise().total_cmp(&b.promise()));
        least.map(|(at, _)| at).map(|at| self.snapshots.remove(at).id)
    }

    fn gain(&mut self, branches: u32) {
        self.gained += branches;
        self.vain = 0;
    }

    fn over(&mut self) {
        self.stands = false;
        self.dry += Self::RESTART;
        self.ended += 1;
        self.longest = self.longest.max(self.events);
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

    /// Drives a pilot; `world` says what becomes of each turn.
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
    fn lubys_sequence() {
        let first: Vec<u64> = (1..16).map(luby).collect();
        assert_eq!(first, [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]);
    }

    #[test]
    fn a_search_follows_theta_two_events_without_gain() {
        let options = PilotOptions { saturation: Some(100), ..PilotOptions::default() };
        let all = turns(&mut Pilot::new(options), 200, |_| 0);
        // A run that is left for another hands on half of what it saw, at most.
        let mut dry = 0;
        for turn in &all {
            match turn {
                Turn::From(_) => dry = dry.min(50),
                Turn::Drive { events } => dry += events,
                Turn::Explore { .. } => assert_eq!(std::mem::take(&mut dry), 100),
            }
        }
        assert!(all.iter().filter(|t| matches!(t, Turn::Explore { .. })).count() > 20);
        // Nothing pays here: other beginnings are tried.
        assert!(all.iter().filter(|t| matches!(t, Turn::From(_))).count() > 3);
    }

    #[test]
    fn events_that_gain_put_the_search_off() {
        let mut left = 50;
        let all = turns(&mut Pilot::new(PilotOptions::default()), 51, |turn| match turn {
            Turn::Drive { .. } => {
                left -= 1;
                u32::from(left > 0)
            }
            _ => 0,
        });
        assert!(all.iter().all(|t| !matches!(t, Turn::Explore { .. })));
        // No run is endless though.
        assert!(all.iter().filter(|t| matches!(t, Turn::From(_))).count() > 5);
    }

    #[test]
    fn budgets_reach_any_size_and_saturation_adapts() {
        let mut pilot = Pilot::new(PilotOptions::default());
        let all = turns(&mut pilot, 60_000, |_| 0);
        let budgets = all.iter().filter_map(|t| match t {
            Turn::Explore { budget, .. } => Some(*budget),
            _ => None,
        });
        assert!(budgets.max() >= Some(32 * BUDGET));
        assert_eq!(pilot.saturation, MOST_SATURATION);
        turns(&mut pilot, 3000, |t| u32::from(matches!(t, Turn::Explore { .. })));
        assert_eq!(pilot.saturation, LEAST_SATURATION);
    }

    #[test]
    fn snapshots_are_few_and_those_that_pay_are_gone_back_to() {
        let mut pilot = Pilot::new(PilotOptions::default());
        turns(&mut pilot, 400, |t| u32::from(matches!(t, Turn::Explore { .. })));
        assert_eq!(pilot.snapshots.len(), SNAPSHOTS);
        // From now on only one of them pays.
        let good = pilot.snapshots[3].id;
        for s in &mut pilot.snapshots {
            (s.tried, s.found) = (20, if s.id == good { 20 } else { 0 });
        }
        let mut rng = Rng::new(3);
        let chosen = (0..1000).filter(|_| pilot.choose(&mut rng) == Some(good)).count();
        assert!(chosen > 300, "{chosen}");
        let (_, gone) = pilot.add_snapshot(1);
        assert!(gone.is_some() && gone != Some(good));
        pilot.forget(good);
        assert!((0..1000).all(|_| pilot.choose(&mut rng) != Some(good)));
    }

    #[test]
    fn what_cannot_be_driven_is_given_up() {
        let mut silent = Pilot::new(PilotOptions::default());
        for _ in 0..SILENT_RUNS {
            assert_eq!(silent.hopeless(), None);
            silent.next(&mut Rng::new(0));
            silent.began(false);
        }
        assert_eq!(silent.hopeless(), Some(Hopeless::ReadsNothing));

        let mut deaf = Pilot::new(PilotOptions::default());
        for _ in 0..BLIND {
            assert_eq!(deaf.hopeless(), None);
            deaf.explored(Explored { decisions: 0, ..NOTHING });
        }
        assert_eq!(deaf.hopeless(), Some(Hopeless::NothingDepends));

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
