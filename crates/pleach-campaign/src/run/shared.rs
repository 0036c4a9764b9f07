//! What all workers of a campaign share.
//!
//! Locks: most of it is in one [`State`] behind one lock. A worker holds that lock only
//! between runs, to ask for an action and to report the result. The other locks guard what
//! takes longer. Whoever needs two takes them in the order in which they are declared in
//! [`Shared`], and **takes no other lock while it holds the state**.

use super::account::Stop;
use super::grammar::{Language, Stock};
use super::search::Map;
use super::settings::Settings;
use super::state::State;
use crate::mutate::Dictionary;
use pleach_search::{Descriptor, TokenUse};
use pleach_solve::Interrupt;
use pleach_template::Vocabulary;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{
    Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
};
use std::time::Duration;

pub struct Shared {
    pub map: Arc<Map>,
    pub settings: Settings,
    /// What is known of the strategy before it runs.
    pub descriptor: &'static Descriptor,
    pub limits: Limits,
    /// What inputs are derived from. It has a lock of its own inside.
    pub language: Option<Language>,
    /// What flips over tokens need.
    pub tokens: Option<SharedTokens>,
    /// The inputs whose parts are combined into new ones.
    pub stock: Option<Mutex<Stock>>,
    pub dictionary: Mutex<Dictionary>,
    pub state: Mutex<State>,
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
}

impl Shared {
    /// The state. A worker that panicked has left it as it was between two steps, so the
    /// campaign can still be ended in order.
    pub fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    pub fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub fn is_out_of_runs(&self) -> bool {
        self.limits.runs.is_some_and(|n| self.lock().account.stats.runs >= n)
    }

    /// True if no more candidates should be run.
    pub fn is_ending(&self) -> bool {
        self.is_stopping() || self.is_out_of_runs()
    }

    /// Ends long work when the campaign ends.
    pub fn interrupt(&self) -> Interrupt {
        Interrupt::new(self.stop.clone())
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
