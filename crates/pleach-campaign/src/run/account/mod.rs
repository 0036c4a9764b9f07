//! The account of a campaign: its statistics, and what they are computed from.

mod gap;
mod ledger;
mod reason;
mod sights;
mod stats;

pub use gap::Gap;
pub use ledger::{Entry, Ledger, Tally};
pub use reason::{Guard, Inquiry, Place, Reason};
pub use sights::{Loss, Sight, Sights};
pub use stats::{
    Actions, Branches, FleetMember, FleetStats, Flips, Functions, Hybrid, Lock, Module, Obstacle,
    PlaceStats, PlotPoint, Reached, Stats, Stop, Symbolic, Sync, Time, Tokens,
};

use crate::run::clock;
use crate::run::exchange::Sender;
use crate::run::places::FoundPlace;
use crate::run::search::{Covered, Map};
use crate::run::settings::Toward;
use pleach_exec::source::is_system_file;
use pleach_search::{Aim, Counts, Run};
use pleach_work::Task;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

pub struct Account {
    pub stats: Stats,
    /// How many runs there were. Workers count them without the lock.
    pub runs: Arc<AtomicU64>,
    /// What is known of each branch.
    pub ledger: Ledger,
    /// When this session of the campaign began.
    began: Instant,
    /// Seconds of the campaign before it was resumed.
    before: f64,
    /// The inputs of a resumed campaign are being run again. Their coverage is not complete
    /// yet, so the statistics keep their old numbers.
    pub rereading: bool,
    last_gain: Instant,
    /// By source file: runs that reached it, and constraints of traces.
    reached: Vec<u64>,
    constraints: Vec<u64>,
}

/// What one trace was made of.
pub struct Constraints {
    variables: u64,
    constraints: u64,
    left_out: u64,
    /// By source file.
    by_file: Vec<u64>,
}

impl Constraints {
    pub fn count(map: &Map, variables: u64, run: &Run) -> Constraints {
        let mut by_file = vec![0; map.files().len()];
        for decision in &run.decisions {
            let branch = decision.branch(decision.outcome);
            if let Some(file) = branch.and_then(|b| map.file_of(b)) {
                by_file[file] += 1;
            }
        }
        let constraints = run.decisions.len() as u64;
        Constraints { variables, constraints, left_out: run.left_out, by_file }
    }
}

/// By source file, the runs of one worker that reached it, until they are in the account.
#[derive(Default)]
pub struct ReachedFiles {
    files: Vec<ReachedFile>,
    /// The number of the run.
    run: u64,
}

#[derive(Clone, Copy, Default)]
struct ReachedFile {
    runs: u64,
    /// The last of them.
    last: u64,
}

impl ReachedFiles {
    /// Counts which source files a run reached.
    pub fn count(&mut self, map: &Map, counts: &Counts) {
        self.run += 1;
        self.files.resize(map.files().len(), ReachedFile::default());
        map.reached(counts, |file| {
            let file = &mut self.files[file];
            file.runs += u64::from(file.last != self.run);
            file.last = self.run;
        });
    }

    /// Puts them into the account.
    pub fn report(&mut self, account: &mut Account) {
        for (sum, file) in account.reached.iter_mut().zip(&mut self.files) {
            *sum += std::mem::take(&mut file.runs);
        }
    }
}

impl Account {
    /// The account of a campaign that has these statistics already.
    pub fn new(mut stats: Stats, map: &Map) -> Account {
        stats.stop = None;
        stats.branches.total = map.program.counted() as u64;
        stats.functions.total = map.program.functions_counted() as u64;
        let reached = |file: &String| stats.modules.get(file).map_or(0, |m| m.reached);
        let reached = map.files().iter().map(reached).collect();
        let constraints = |file: &String| stats.symbolic.by_module.get(file).copied().unwrap_or(0);
        let constraints = map.files().iter().map(constraints).collect();
        Account {
            before: stats.time_s.total,
            runs: Arc::new(AtomicU64::new(stats.runs)),
            ledger: Ledger::new(map.program.branches()),
            stats,
            began: Instant::now(),
            rereading: false,
            last_gain: Instant::now(),
            reached,
            constraints,
        }
    }

    /// The places that the search should get to. What a resumed campaign knows of them is kept.
    pub fn set_places(&mut self, given: &[Toward], found: &[FoundPlace], aim: &Aim) {
        let mut known = std::mem::take(&mut self.stats.places).into_iter();
        for (goal, (toward, found)) in given.iter().zip(found).enumerate() {
            let reached = known.next().and_then(|place| place.reached);
            if reached.is_some() {
                aim.reach(goal);
            }
            self.stats.places.push(PlaceStats {
                place: toward.place.clone(),
                what: toward.what.clone(),
                line: found.moved_to,
                functions: found.functions.clone(),
                reached,
                obstacle: None,
            });
        }
    }

    /// The workers start now.
    pub fn begin(&mut self, now: Instant) {
        self.began = now;
    }

    /// Milliseconds of the campaign so far.
    pub fn time_ms(&self) -> u64 {
        ((self.before + self.began.elapsed().as_secs_f64()) * 1000.0) as u64
    }

    pub fn record_gain(&mut self) {
        self.last_gain = Instant::now();
    }

    /// How long ago a branch was covered for the first time.
    pub fn since_gain(&self) -> Duration {
        self.last_gain.elapsed()
    }

    /// Counts a gap. True if it is the first of its kind.
    pub fn add_gap(&mut self, gap: Gap) -> bool {
        let name = gap.name();
        match self.stats.partial.get_mut(&*name) {
            Some(count) => {
                *count += 1;
                false
            }
            None => {
                self.stats.partial.insert(name.into_owned(), 1);
                true
            }
        }
    }

    /// Adds the time and the work of this thread.
    pub fn add_work(&mut self) {
        clock::report(&mut self.stats.time_s);
        for (task, units) in pleach_work::take() {
            *entry(&mut self.stats.work, task.key()) += units;
        }
    }

    /// Counts a worker that has not come back.
    pub fn count_stall(&mut self, task: Task) {
        self.stats.stalls += 1;
        *entry(&mut self.stats.stalled_in, task.key()) += 1;
    }

    /// The statistics of another fuzzer.
    pub fn count_sync(&mut self, sender: &Sender) -> &mut Sync {
        entry(&mut self.stats.sync, &sender.name)
    }

    /// Adds a note for the user, once.
    pub fn note(&mut self, note: String) {
        if !self.stats.notes.contains(&note) {
            self.stats.notes.push(note);
        }
    }

    pub fn add_constraints(&mut self, added: &Constraints) {
        let symbolic = &mut self.stats.symbolic;
        symbolic.variables += added.variables;
        symbolic.constraints += added.constraints;
        symbolic.left_out += added.left_out;
        for (sum, n) in self.constraints.iter_mut().zip(&added.by_file) {
            *sum += n;
        }
    }

    /// Counts a run that left its predicted path, by the place where it did.
    pub fn count_divergence(&mut self, place: String) {
        self.stats.diverged += 1;
        *self.stats.diverged_at.entry(place).or_default() += 1;
    }

    /// Brings the statistics up to date.
    pub fn refresh(&mut self, map: &Map, covered: &Covered) {
        let stats = &mut self.stats;
        stats.time_s.total = self.before + self.began.elapsed().as_secs_f64();
        stats.runs = self.runs.load(Ordering::Relaxed);
        if self.rereading {
            return;
        }
        let program = &map.program;
        let coverage = covered.together(program);
        stats.unstable = covered.doubted();
        stats.branches.covered = coverage.covered() as u64;
        stats.branches.reachable = coverage.reachable(program) as u64;
        stats.functions.reached = coverage.functions_reached(program) as u64;
        let files = map.files().iter().zip(map.covered(&coverage));
        for (i, (name, (branches, covered))) in files.enumerate() {
            if is_system_file(name) {
                continue;
            }
            let reached = self.reached.get(i).copied().unwrap_or_default();
            stats.modules.insert(name.clone(), Module { branches, covered, reached });
            if let Some(&n) = self.constraints.get(i).filter(|n| **n > 0) {
                stats.symbolic.by_module.insert(name.clone(), n);
            }
        }
    }
}

/// The entry of a key, which is made if there is none.
fn entry<'a, T: Default>(map: &'a mut BTreeMap<String, T>, key: &str) -> &'a mut T {
    if !map.contains_key(key) {
        map.insert(key.into(), T::default());
    }
    map.get_mut(key).unwrap_or_else(|| unreachable!("it was inserted"))
}
