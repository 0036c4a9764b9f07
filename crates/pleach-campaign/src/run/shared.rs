//! What all workers of a campaign share.
//!
//! Locks: most of it is in one [`State`] behind one lock. A worker holds that lock only
//! between runs, to ask for an action and to report the result. The other locks guard what
//! takes longer, or what every run needs ([`Pace`]), for a few instructions. Whoever needs two
//! takes them in the order in which they are declared in [`Shared`], and **takes no other lock
//! while it holds the state**, except those inside a fleet, which holds them for a few
//! instructions and takes none of ours. The number of runs and what they cover need no lock.
//!
//! A flip takes the state two or three times, and a burst of mutants once for each batch.

use super::account::Stop;
use super::clock::{self, Part, Sample};
use super::exchange::Exchange;
use super::fleet::Post;
use super::grammar::{Language, Stock};
use super::memory::Shares;
use super::ring::Pace;
use super::search::Map;
use super::settings::Settings;
use super::state::State;
use crate::mutate::Dictionary;
use pleach_search::{Buckets, Descriptor, TokenUse};
use pleach_template::Vocabulary;
use pleach_work::Task;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{
    Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
    TryLockError,
};
use std::time::{Duration, Instant};

pub struct Shared {
    pub map: Arc<Map>,
    pub settings: Settings,
    /// How its memory is divided.
    pub shares: Shares,
    /// What is known of the strategy before it runs.
    pub descriptor: &'static Descriptor,
    pub limits: Limits,
    /// What inputs are derived from. It has a lock of its own inside.
    pub language: Option<Language>,
    /// What flips over tokens need.
    pub tokens: Option<SharedTokens>,
    /// The inputs whose parts are combined into new ones.
    pub stock: Option<Mutex<Stock>>,
    pub dictionary: Mutex<Arc<Dictionary>>,
    /// How long runs may take, and how long inputs may become.
    pub pace: Mutex<Pace>,
    /// The exchange with other fuzzers, if there is one. It has a lock of its own inside.
    pub exchange: Option<Exchange>,
    /// What carries mail to and from the other members of a fleet, if there is one.
    pub post: Option<Post>,
    pub state: Mutex<State>,
    /// How many runs the campaign has made; [`State::refresh`] puts it into the statistics.
    pub runs: Arc<AtomicU64>,
    /// What the inputs of the queue cover; a part of the state that needs no lock.
    pub seen: Arc<Buckets>,
    /// Notified when an action has ended.
    pub wake: Condvar,
    /// Set when everything must end; running targets are killed.
    pub stop: Arc<AtomicBool>,
}

/// The tokens of the program, and how flips over them are solved.
pub struct SharedTokens {
    pub vocabulary: RwLock<Vocabulary>,
    pub token_use: TokenUse,
}

/// When a campaign ends by itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    pub runs: Option<u64>,
    pub time: Option<Duration>,
    pub stop_on_crash: bool,
    /// The program does not read its input: only the seeds are run.
    pub reads_nothing: bool,
    /// After how long a worker counts as stalled; `None` for the default.
    pub stall_time: Option<Duration>,
}

/// How often [`Shared::lock_within`] tries.
const LOCK_POLL: Duration = Duration::from_micros(200);

impl Shared {
    /// The state. A worker that panicked has left it as it was between two steps, so the
    /// campaign can still be ended in order.
    pub fn lock(&self) -> StateGuard<'_> {
        let guard = match self.state.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(error)) => error.into_inner(),
            Err(TryLockError::WouldBlock) => {
                let _waiting = (clock::enter(Part::Lock), pleach_work::enter(Task::Idle));
                lock(&self.state)
            }
        };
        StateGuard::new(guard)
    }

    /// The state, if no worker holds it for that long.
    pub fn lock_within(&self, patience: Duration) -> Option<StateGuard<'_>> {
        let deadline = Instant::now() + patience;
        loop {
            match self.state.try_lock() {
                Ok(guard) => return Some(StateGuard::new(guard)),
                Err(TryLockError::Poisoned(error)) => {
                    return Some(StateGuard::new(error.into_inner()));
                }
                Err(TryLockError::WouldBlock) if Instant::now() > deadline => return None,
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_POLL),
            }
        }
    }

    /// Waits until an action has ended.
    pub fn wait<'a>(&self, mut state: StateGuard<'a>) -> StateGuard<'a> {
        state.count();
        state.progress.waiting += 1;
        let _waiting = (clock::enter(Part::Idle), pleach_work::enter(Task::Idle));
        let waited = self.wake.wait(state.into_inner());
        // It has not been at work for all that time.
        pleach_work::beat();
        let mut state = StateGuard::new(waited.unwrap_or_else(PoisonError::into_inner));
        state.progress.waiting -= 1;
        state
    }

    /// Wakes those that wait, if any do.
    pub fn wake_waiting(&self, state: &State) {
        if state.progress.waiting > 0 {
            self.wake.notify_all();
        }
    }

    pub fn pace(&self) -> MutexGuard<'_, Pace> {
        lock(&self.pace)
    }

    /// The dictionary as it is now.
    pub fn dictionary(&self) -> Arc<Dictionary> {
        lock(&self.dictionary).clone()
    }

    /// Adds to the dictionary.
    pub fn add_words(&self, add: impl FnOnce(&mut Dictionary)) {
        add(Arc::make_mut(&mut lock(&self.dictionary)));
    }

    pub fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub fn is_out_of_runs(&self) -> bool {
        self.runs_left() == 0
    }

    /// How many runs the campaign may still make.
    pub fn runs_left(&self) -> u64 {
        self.limits.runs.map_or(u64::MAX, |n| n.saturating_sub(self.runs.load(Ordering::Relaxed)))
    }

    /// Counts runs that have ended, up to the last run of the campaign. Returns how many these
    /// are.
    pub fn count_runs(&self, ended: usize) -> usize {
        let ended = ended as u64;
        let limit = self.limits.runs.unwrap_or(u64::MAX);
        let counted = |runs: u64| ended.min(limit.saturating_sub(runs));
        let add = |runs| Some(runs + counted(runs));
        let before = self.runs.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
        counted(before.unwrap_or_else(|runs| runs)) as usize
    }

    /// True if no more candidates should be run.
    pub fn is_ending(&self) -> bool {
        self.is_stopping() || self.is_out_of_runs()
    }

    /// Ends the campaign, for the first reason given.
    pub fn end(&self, state: &mut State, why: Stop) {
        state.progress.stop.get_or_insert(why);
        self.stop.store(true, Ordering::Relaxed);
        self.wake.notify_all();
    }

    /// The maximal length of an input that is made from `parent`. Typed calls can have made
    /// the parent longer than other inputs become.
    pub fn max_len(&self, parent: &[u8]) -> usize {
        usize::try_from(self.settings.max_len).unwrap_or(usize::MAX).max(parent.len())
    }
}

/// The state, while a worker holds its lock. Counts the CPU time of that: a worker may lose its
/// processor to another one meanwhile, but not if each has its own.
pub struct StateGuard<'a> {
    /// Only [`Shared::wait`] takes it out.
    guard: Option<MutexGuard<'a, State>>,
    held: Sample,
}

impl<'a> StateGuard<'a> {
    fn new(guard: MutexGuard<'a, State>) -> StateGuard<'a> {
        StateGuard { guard: Some(guard), held: Sample::begin() }
    }

    fn count(&mut self) {
        let held = self.held.end().as_secs_f64();
        if let Some(state) = &mut self.guard {
            let lock = &mut state.account.stats.lock;
            lock.taken += 1;
            lock.held_s += held;
        }
    }

    fn into_inner(mut self) -> MutexGuard<'a, State> {
        match self.guard.take() {
            Some(guard) => guard,
            None => unreachable!("it is taken out once, by value"),
        }
    }
}

impl Deref for StateGuard<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        match &self.guard {
            Some(state) => state,
            None => unreachable!("it is taken out by value"),
        }
    }
}

impl DerefMut for StateGuard<'_> {
    fn deref_mut(&mut self) -> &mut State {
        match &mut self.guard {
            Some(state) => state,
            None => unreachable!("it is taken out by value"),
        }
    }
}

impl Drop for StateGuard<'_> {
    fn drop(&mut self) {
        self.count();
    }
}

impl SharedTokens {
    pub fn read(&self) -> RwLockReadGuard<'_, Vocabulary> {
        self.vocabulary.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn write(&self) -> RwLockWriteGuard<'_, Vocabulary> {
        self.vocabulary.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Locks, whether or not another thread panicked while it held the lock.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
