//! The processor that a worker and its targets run on.
//!
//! In a run, driver, fork server and child take turns: each waits for the one before. If
//! they are on different processors, each turn wakes a sleeping processor, which in a
//! virtual machine takes longer than the turn. Bound to one processor, a small program
//! makes a third more runs a second. So each worker gets a processor of its own, as AFL's
//! instances do, if there are enough that no other process is bound to.

use std::fs;

/// The processors that a thread may run on.
#[derive(Clone, Copy)]
pub struct Affinity(libc::cpu_set_t);

impl Affinity {
    /// Those of the calling thread.
    pub fn current() -> Option<Affinity> {
        // Safety: the call fills a plain structure.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            let size = size_of::<libc::cpu_set_t>();
            (libc::sched_getaffinity(0, size, &mut set) == 0).then_some(Affinity(set))
        }
    }

    fn one(cpu: usize) -> Affinity {
        // Safety: all zeros is the empty set, and the number is one of a set.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(cpu, &mut set);
            Affinity(set)
        }
    }

    /// Binds the calling thread, and the processes that it starts later. If the system
    /// refuses, runs are slower; nothing else changes.
    pub fn bind(&self) {
        // Safety: reads our own set.
        unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &self.0) };
    }

    fn cpus(&self) -> Vec<usize> {
        // Safety: the numbers are within the size of the set.
        (0..libc::CPU_SETSIZE as usize)
            .filter(|&c| unsafe { libc::CPU_ISSET(c, &self.0) })
            .collect()
    }
}

/// A processor for each worker; empty if there are not enough.
pub fn processors(workers: usize) -> Vec<Affinity> {
    let Some(own) = Affinity::current().map(|a| a.cpus()) else { return Vec::new() };
    // The user has bound it already.
    if own.len() == 1 {
        return Vec::new();
    }
    let bound = bound_processors();
    let free: Vec<_> = own.into_iter().filter(|cpu| !bound.contains(cpu)).collect();
    if free.len() < workers {
        return Vec::new();
    }
    free.into_iter().take(workers).map(Affinity::one).collect()
}

/// The processors that some process is bound to.
fn bound_processors() -> Vec<usize> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let bound = processes.filter_map(|entry| {
        entry.file_name().to_str()?.parse::<u32>().ok()?;
        bound_to(&fs::read_to_string(entry.path().join("status")).ok()?)
    });
    bound.collect()
}

/// The only processor that a process may run on, from its `status`. Threads of the kernel
/// do not count; they have no memory of their own.
fn bound_to(status: &str) -> Option<usize> {
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
    field("VmSize:")?;
    field("Cpus_allowed_list:")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_processes_bound_to_one_processor_count() {
        let status =
            |cpus: &str| format!("Name:\tx\nVmSize:\t 10 kB\nCpus_allowed_list:\t{cpus}\n");
        assert_eq!(bound_to(&status("3")), Some(3));
        assert_eq!(bound_to(&status("0-3")), None);
        assert_eq!(bound_to(&status("0,2")), None);
        assert_eq!(bound_to("Name:\tkworker\nCpus_allowed_list:\t3\n"), None);
    }

    #[test]
    fn a_thread_can_be_bound_and_released() {
        let Some(before) = Affinity::current() else { return };
        let cpus = before.cpus();
        Affinity::one(cpus[0]).bind();
        assert_eq!(Affinity::current().map(|a| a.cpus()), Some(vec![cpus[0]]));
        assert!(processors(1).is_empty(), "bound already");
        before.bind();
        assert_eq!(Affinity::current().map(|a| a.cpus()), Some(cpus));
    }
}
