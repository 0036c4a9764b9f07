//! The limits of a run, checked from outside while it runs.

use super::setup::Setup;
use super::{End, TargetOptions};
use crate::files::Capture;
use crate::process::Family;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// How often limits are checked.
pub(crate) const TICK: Duration = Duration::from_millis(20);
const MIN_TICK: Duration = Duration::from_millis(2);

/// Without a limit of its own, the CPU time of a run may be this many times its time by the
/// clock: the times of threads and children add up.
pub(crate) const CPU_SHARE: u32 = 4;

/// The limits of one run, or of one step of a live run.
pub(super) struct Limits<'a> {
    setup: &'a Setup,
    warden: i32,
    server: i32,
    max_cpu: Duration,
    /// CPU time before this run: the process may have run other inputs.
    cpu_before: Option<Duration>,
    is_live: bool,
    /// Bytes that a live run had read at its last deadline.
    live_bytes: u64,
}

impl<'a> Limits<'a> {
    pub fn new(
        setup: &'a Setup,
        (warden, server): (i32, i32),
        max_cpu: Duration,
        is_live: bool,
    ) -> Limits<'a> {
        Limits { setup, warden, server, max_cpu, cpu_before: None, is_live, live_bytes: 0 }
    }

    /// The time between two checks.
    pub fn tick(&self) -> Duration {
        TICK.min(self.max_cpu / 4).max(MIN_TICK)
    }

    /// Returns how the run must be ended, if it has reached a limit. `is_late`: its
    /// deadline has passed. A live run that has read more input since the last deadline
    /// gets as much time again.
    pub fn check(&mut self, run: i32, is_late: bool) -> Option<End> {
        let options: &TargetOptions = &self.setup.options;
        if options.cancel.as_ref().is_some_and(|c| c.load(Relaxed)) {
            return Some(End::Timeout);
        }
        let family = Family::below(self.warden, self.server, run, options.processes);
        let cpu_before = self.cpu_before.get_or_insert(family.cpu);
        if is_late {
            let live_bytes = self.setup.shm.live_counts().map_or(0, |(bytes, _)| bytes);
            if !self.is_live || live_bytes == self.live_bytes {
                return Some(End::Timeout);
            }
            (self.live_bytes, *cpu_before) = (live_bytes, family.cpu);
        }
        let is_full = self.setup.run_dir.is_over(options.file_kib << 10);
        if family.processes > options.processes {
            Some(End::Processes)
        } else if options.memory_kib.is_some_and(|limit| family.resident_kib > limit) {
            Some(End::Memory)
        } else if family.cpu.saturating_sub(*cpu_before) > self.max_cpu {
            Some(End::Timeout)
        } else if is_full || self.setup.capture.as_ref().is_some_and(Capture::is_over) {
            Some(End::Output)
        } else {
            None
        }
    }
}
