//! The post of a campaign: carries mail between the state and the fleet, in a thread of its
//! own, so that no worker waits for a network.

use super::mail::Mail;
use super::{Fleet, Report, Split};
use crate::run::account::{FleetStats, Gap, Stop};
use crate::run::shared::Shared;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// How often mail is carried.
const INTERVAL: Duration = Duration::from_millis(20);
/// How often the other members get a report.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);
/// The most messages that are taken from the fleet at once, and under one lock of the state.
const MAX_HEARD: usize = 256;

pub struct Post {
    pub fleet: Arc<dyn Fleet>,
    is_over: AtomicBool,
    reported: Mutex<Option<Reported>>,
}

/// The last report.
#[derive(Clone, Copy)]
struct Reported {
    at: Instant,
    runs: u64,
}

impl Post {
    pub fn new(fleet: Arc<dyn Fleet>) -> Post {
        Post { fleet, is_over: AtomicBool::new(false), reported: Mutex::new(None) }
    }

    /// Carries mail until [`Post::end`]. For a thread of its own.
    pub fn run(&self, shared: &Shared) {
        while !self.is_over.load(Ordering::Relaxed) {
            self.carry(shared);
            std::thread::park_timeout(INTERVAL);
        }
    }

    /// Ends the thread.
    pub fn end(&self, thread: &Thread) {
        self.is_over.store(true, Ordering::Relaxed);
        thread.unpark();
    }

    /// Tells and hears once.
    pub fn carry(&self, shared: &Shared) {
        self.tell(shared);
        self.hear(shared);
        self.report(shared);
        self.settle(shared);
    }

    fn tell(&self, shared: &Shared) {
        let news = {
            let mut state = shared.lock();
            let news = state.mail.as_mut().map(Mail::take_news).unwrap_or_default();
            if !news.is_empty() {
                // A member that is killed must not know less of its work than the others.
                state.corpus.flush();
            }
            news
        };
        news.into_iter().for_each(|news| self.fleet.tell(news));
    }

    fn hear(&self, shared: &Shared) {
        let in_step = self.fleet.in_step().is_some();
        let max = if in_step { usize::MAX } else { MAX_HEARD };
        loop {
            if !in_step && shared.lock().mail.as_ref().is_none_or(Mail::is_full) {
                return;
            }
            let heard = self.fleet.hear(max);
            let count = heard.len();
            if count == 0 {
                return;
            }
            let owns = |hash| self.fleet.owns(hash);
            for part in heard.chunks(MAX_HEARD) {
                let mut state = shared.lock();
                for message in part {
                    state.hear(&message.from, message.what.clone(), &owns);
                }
                shared.wake_waiting(&state);
            }
            if count < max || self.is_over.load(Ordering::Relaxed) {
                return;
            }
        }
    }

    /// Reports how far this member is.
    fn report(&self, shared: &Shared) {
        let mut reported = crate::run::shared::lock(&self.reported);
        let now = Instant::now();
        let last = reported.map(|last| (now - last.at, last.runs));
        if last.is_some_and(|(age, _)| age < REPORT_INTERVAL) {
            return;
        }
        let view = self.fleet.view();
        let mut state = shared.lock();
        let runs = shared.runs.load(Ordering::Relaxed);
        let pace = last.map_or(0, |(age, before)| {
            (runs.saturating_sub(before) as f64 / age.as_secs_f64()) as u64
        });
        let stats = &state.account.stats;
        let report = Report {
            runs,
            pace,
            branches: stats.branches.covered,
            inputs: stats.inputs,
            crashes: stats.crashes,
            hangs: stats.hangs,
        };
        *reported = Some(Reported { at: now, runs });
        state.count_fleet(view);
        drop(state);
        self.fleet.report(report);
    }

    /// Tells the fleet if this member has nothing left, and ends the campaign when all members
    /// have.
    fn settle(&self, shared: &Shared) {
        let is_idle = {
            let state = shared.lock();
            let is_busy = state.progress.outstanding > 0;
            // Members have come or gone: perhaps there is work now.
            let mut is_idle = !is_busy && state.mail.as_ref().is_some_and(Mail::is_settled);
            let generation = self.fleet.generation();
            if is_idle && state.mail.as_ref().is_some_and(|mail| mail.is_before(generation)) {
                is_idle = false;
                shared.wake_waiting(&state);
            }
            is_idle
        };
        self.fleet.set_idle(is_idle);
        let Some(settled) = self.fleet.settled() else { return };
        let mut state = shared.lock();
        let loses_work = state.mail.as_ref().is_some_and(|mail| mail.split == Split::Finds);
        if loses_work && !settled.lost.is_empty() {
            state.record_gap(Gap::MembersLost);
        }
        let is_whole = state.account.stats.partial.is_empty();
        let fleet = state.account.stats.fleet.get_or_insert_with(FleetStats::default);
        fleet.settled_by = settled.members;
        fleet.lost = settled.lost;
        fleet.settled_at = Some(settled.position);
        let why = if is_whole { Stop::Exhausted } else { Stop::ExhaustedPartial };
        shared.end(&mut state, why);
    }

    /// The campaign is over: tells what is left, and leaves.
    pub fn leave(&self, shared: &Shared) {
        self.tell(shared);
        *crate::run::shared::lock(&self.reported) = None;
        self.report(shared);
        self.fleet.leave();
    }
}
