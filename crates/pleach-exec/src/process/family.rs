//! How much a run uses, with all processes that it has started.

use std::time::Duration;

/// The processes of a run: all that are below its warden, except for the server.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Family {
    pub processes: u32,
    /// Resident memory. Pages that processes share with the run count once.
    pub resident_kib: u64,
    pub cpu: Duration,
}

impl Family {
    /// Adds up the processes. Stops when there are more than `max_processes`.
    pub fn below(warden: i32, server: i32, run: i32, max_processes: u32) -> Family {
        let mut family = Family::default();
        let mut found = vec![warden];
        while let Some(pid) = found.pop() {
            if pid != warden && pid != server {
                family.add(pid, run);
            }
            if family.processes > max_processes {
                break;
            }
            found.extend(children_of(pid));
        }
        family
    }

    fn add(&mut self, pid: i32, run: i32) {
        self.processes += 1;
        let statm = std::fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
        let mut pages = statm.split_whitespace().skip(1).map_while(|n| n.parse::<u64>().ok());
        let (resident, shared) = (pages.next().unwrap_or(0), pages.next().unwrap_or(0));
        let own = if pid == run { resident } else { resident.saturating_sub(shared) };
        self.resident_kib += own * PAGE_KIB;
        self.cpu += cpu_of(pid).unwrap_or_default();
    }
}

/// The size of a page on x86-64.
const PAGE_KIB: u64 = 4;
/// The unit of times in `/proc`; it is the same on every Linux.
const TICKS_PER_SECOND: u64 = 100;

/// CPU time of a process and of its children that have ended. The latter is less exact.
fn cpu_of(pid: i32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields = stat.rsplit_once(')')?.1.split_whitespace().skip(13).take(2);
    let ticks: u64 = fields.map_while(|n| n.parse::<u64>().ok()).sum();
    let children = Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND);
    let (mut clock, mut time) = (0, libc::timespec { tv_sec: 0, tv_nsec: 0 });
    // Safety: our own variables; for a process that does not exist the calls fail.
    let known = unsafe {
        libc::clock_getcpuclockid(pid, &mut clock) == 0
            && libc::clock_gettime(clock, &mut time) == 0
    };
    known.then(|| children + Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

/// The child of a process that was started last.
pub(crate) fn newest_child(pid: i32) -> Option<i32> {
    children_of(pid).pop()
}

/// The children of a process, of all its threads. Those of one thread are in the order in
/// which they were started.
fn children_of(pid: i32) -> Vec<i32> {
    let mut children = Vec::new();
    for task in std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten() {
        let text = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        children.extend(text.split_whitespace().filter_map(|n| n.parse::<i32>().ok()));
    }
    children
}
