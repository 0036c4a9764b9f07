//! What one thread shows to others: where it is, and since when.

use crate::Task;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Set by one worker, read by a watching thread.
#[derive(Debug)]
pub struct Beacon {
    start: Instant,
    task: AtomicU8,
    /// The number of the input + 1; 0 for none.
    input: AtomicU64,
    /// When the worker last came back, in microseconds since the start; in the future while
    /// it waits for something that has a time limit.
    beat: AtomicU64,
    /// How often it came back.
    beats: AtomicU64,
}

/// What a beacon shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sighting {
    pub task: Task,
    /// The input that the worker works on.
    pub input: Option<u64>,
    /// How long ago it last came back, and how often it has.
    pub since: Duration,
    pub beats: u64,
}

impl Default for Beacon {
    fn default() -> Beacon {
        Beacon {
            start: Instant::now(),
            task: AtomicU8::new(Task::Judge as u8),
            input: AtomicU64::new(0),
            beat: AtomicU64::new(0),
            beats: AtomicU64::new(0),
        }
    }
}

impl Beacon {
    pub fn look(&self) -> Sighting {
        loop {
            let sighting = self.look_once();
            if sighting.beats == self.beats.load(Ordering::Acquire) {
                return sighting;
            }
            // The worker has come back in the meantime.
        }
    }

    fn look_once(&self) -> Sighting {
        let beats = self.beats.load(Ordering::Acquire);
        let beat = Duration::from_micros(self.beat.load(Ordering::Relaxed));
        let task = usize::from(self.task.load(Ordering::Relaxed));
        Sighting {
            task: Task::ALL.get(task).copied().unwrap_or(Task::Judge),
            input: self.input.load(Ordering::Relaxed).checked_sub(1),
            since: self.start.elapsed().saturating_sub(beat),
            beats,
        }
    }

    pub(crate) fn beat(&self, allowed: Duration) {
        let due = (self.start.elapsed() + allowed).as_micros();
        // The number comes last: nobody sees it with the time before.
        self.beat.store(u64::try_from(due).unwrap_or(u64::MAX), Ordering::Relaxed);
        self.beats.fetch_add(1, Ordering::Release);
    }

    pub(crate) fn show_task(&self, task: Task) {
        self.task.store(task as u8, Ordering::Relaxed);
    }

    pub(crate) fn show_input(&self, input: Option<u64>) {
        self.input.store(input.map_or(0, |i| i + 1), Ordering::Relaxed);
    }
}
