//! The limits of a run, checked from outside while it runs.

use super::setup::Setup;
use super::{End, TargetOptions};
use crate::files::Capture;
use crate::process::Family;
use crate::server::Check;
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
    /// Inputs of the batch; 0 if the run is none. The one that it was at when it was last
    /// checked.
    batch: usize,
    pub batch_at: usize,
}

impl<'a> Limits<'a> {
    pub fn new(
        setup: &'a Setup,
        (warden, server): (i32, i32),
        max_cpu: Duration,
        is_live: bool,
        batch: usize,
    ) -> Limits<'a> {
        Limits {
            setup,
            warden,
            server,
            max_cpu,
            cpu_before: None,
            is_live,
            live_bytes: 0,
            batch,
            batch_at: 0,
        }
    }

    /// The time between two checks.
    pub fn tick(&self) -> Duration {
        TICK.min(self.max_cpu / 4).max(MIN_TICK)
    }

    /// Checks all limits. `is_late`: the deadline has passed. A live run that has read more
    /// input since the last deadline gets as much time again. Of a batch, each input has the
    /// limits of a run: they are counted from the check that first sees it.
    pub fn check(&mut self, run: i32, is_late: bool) -> Check {
        let options: &TargetOptions = &self.setup.options;
        if options.cancel.as_ref().is_some_and(|c| c.load(Relaxed)) {
            return Check::End(End::Timeout);
        }
        let family = Family::below(self.warden, self.server, run, options.processes);
        let mut is_restarted = false;
        let batch_at = self.setup.shm.batch_at();
        // The target may write any number: the time begins anew once for each input.
        if batch_at > self.batch_at && batch_at < self.batch {
            (self.batch_at, self.cpu_before) = (batch_at, None);
            is_restarted = true;
        }
        let cpu_before = self.cpu_before.get_or_insert(family.cpu);
        if is_late && !is_restarted {
            let live_bytes = self.setup.shm.live_counts().map_or(0, |(bytes, _)| bytes);
            if !self.is_live || live_bytes == self.live_bytes {
                return Check::End(End::Timeout);
            }
            (self.live_bytes, *cpu_before) = (live_bytes, family.cpu);
            is_restarted = true;
        }
        let is_full = self.setup.run_dir.is_over(options.file_kib << 10);
        if family.processes > options.processes {
            Check::End(End::Processes)
        } else if options.memory_kib.is_some_and(|limit| family.resident_kib > limit) {
            Check::End(End::Memory)
        } else if family.cpu.saturating_sub(*cpu_before) > self.max_cpu {
            Check::End(End::Timeout)
        } else if is_full || self.setup.capture.as_ref().is_some_and(Capture::is_over) {
            Check::End(End::Output)
        } else if is_restarted {
            Check::Restart
        } else {
            Check::Continue
        }
    }
}
