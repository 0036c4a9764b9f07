//! Notices workers that do not come back.
//!
//! All work between two runs of the target is bounded, so a worker comes back every few
//! milliseconds, and rarely after more than a second. If one does not, some bound is missing.
//! The watchdog says where the worker is, and the statistics count it. It only looks: what a
//! worker does depends on counted work, never on time.

use pleach_work::{Beacon, Task};
use std::sync::Arc;
use std::time::Duration;

/// How long a worker may stay away.
pub const STALL_TIME: Duration = Duration::from_secs(10);

/// A worker that has not come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// Its number, from 0.
    pub worker: usize,
    /// What it does.
    pub task: Task,
    /// The input that it works on.
    pub input: Option<u64>,
    /// For how long.
    pub time: Duration,
}

pub struct Watchdog {
    limit: Duration,
    workers: Vec<Watched>,
}

struct Watched {
    beacon: Arc<Beacon>,
    /// How often the worker had come back when it was last reported.
    reported: Option<u64>,
}

impl Watchdog {
    pub fn new(workers: usize, limit: Duration) -> Watchdog {
        let watched = |_| Watched { beacon: Arc::default(), reported: None };
        Watchdog { limit, workers: (0..workers).map(watched).collect() }
    }

    /// Where a worker shows itself.
    pub fn beacon(&self, worker: usize) -> Arc<Beacon> {
        self.workers[worker].beacon.clone()
    }

    /// The workers that have not come back, each once.
    pub fn check(&mut self) -> Vec<Stall> {
        let mut stalls = Vec::new();
        for (worker, watched) in self.workers.iter_mut().enumerate() {
            let seen = watched.beacon.look();
            // Who waits for others may wait for long.
            let is_away = seen.since >= self.limit && seen.task != Task::Idle;
            if is_away && watched.reported != Some(seen.beats) {
                watched.reported = Some(seen.beats);
                let (task, input, time) = (seen.task, seen.input, seen.since);
                stalls.push(Stall { worker, task, input, time });
            }
        }
        stalls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_millis(20);

    #[test]
    fn a_worker_is_reported_once_for_each_time_that_it_stays_away() {
        let mut watchdog = Watchdog::new(2, LIMIT);
        let beacon = watchdog.beacon(1);
        // The other worker never waits for anything.
        let thread = std::thread::spawn(move || {
            pleach_work::begin(Arc::default(), beacon);
            pleach_work::show_input(Some(3));
            let _solving = pleach_work::enter(Task::Solve);
            std::thread::sleep(2 * LIMIT);
            let _parsing = pleach_work::enter(Task::Parse);
            pleach_work::beat();
            std::mem::forget((_solving, _parsing));
        });
        let mut found = Vec::new();
        let mut look = || {
            let stalls = watchdog.check().into_iter().filter(|s| s.worker == 1);
            found.extend(stalls.map(|s| (s.task, s.input)));
        };
        while !thread.is_finished() {
            look();
        }
        std::thread::sleep(2 * LIMIT);
        (0..3).for_each(|_| look());
        assert_eq!(found, [(Task::Solve, Some(3)), (Task::Parse, Some(3))]);
    }

    #[test]
    fn a_worker_that_waits_is_not_reported() {
        let mut watchdog = Watchdog::new(1, LIMIT);
        pleach_work::begin(Arc::default(), watchdog.beacon(0));
        let waiting = pleach_work::enter(Task::Idle);
        std::thread::sleep(2 * LIMIT);
        assert_eq!(watchdog.check(), []);
        drop(waiting);
        // A run may take as long as its limit.
        pleach_work::beat_after(1000 * LIMIT);
        std::thread::sleep(2 * LIMIT);
        assert_eq!(watchdog.check(), []);
    }
}
