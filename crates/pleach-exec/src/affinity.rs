//! Which processor a worker and its targets run on.
//!
//! A run is a handful of hand-overs between driver, fork server and child, each of
//! which waits for the one before. Spread over processors, every hand-over wakes
//! one that sleeps, which in a virtual machine takes longer than the hand-over
//! itself: bound to one, a small program makes a third more runs a second. So each
//! worker gets a processor of its own, as AFL's instances do, if there are enough
//! to which nobody else is bound.

use std::fs;

/// A thread's processors.
#[derive(Clone, Copy)]
pub struct Affinity(libc::cpu_set_t);

impl Affinity {
    /// Those of this thread.
    pub fn current() -> Option<Affinity> {
        // Safety: a plain structure that the call fills.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            let size = size_of::<libc::cpu_set_t>();
            (libc::sched_getaffinity(0, size, &mut set) == 0).then_some(Affinity(set))
        }
    }

    fn one(cpu: usize) -> Affinity {
        // Safety: all zeros is the empty set, and the number came from a set.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(cpu, &mut set);
            Affinity(set)
        }
    }

    /// Binds this thread, and what it starts from now on. Where that is refused,
    /// things are slower and otherwise the same.
    pub fn bind(&self) {
        // Safety: a set of ours for the calling thread.
        unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &self.0) };
    }

    fn cpus(&self) -> Vec<usize> {
        // Safety: numbers within the set's size.
        (0..libc::CPU_SETSIZE as usize)
            .filter(|&c| unsafe { libc::CPU_ISSET(c, &self.0) })
            .collect()
    }
}

/// A processor for each of so many workers, or none at all.
pub fn processors(workers: usize) -> Vec<Affinity> {
    let Some(own) = Affinity::current().map(|a| a.cpus()) else { return Vec::new() };
    // Bound already, by somebody who knows better.
    if own.len() == 1 {
        return Vec::new();
    }
    let taken = taken();
    let free: Vec<_> = own.into_iter().filter(|cpu| !taken.contains(cpu)).collect();
    if free.len() < workers {
        return Vec::new();
    }
    free.into_iter().take(workers).map(Affinity::one).collect()
}

/// Processors to which some process is bound.
fn taken() -> Vec<usize> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let bound = processes.filter_map(|entry| {
        entry.file_name().to_str()?.parse::<u32>().ok()?;
        bound_to(&fs::read_to_string(entry.path().join("status")).ok()?)
    });
    bound.collect()
}

/// The only processor of a process, from its `status`. Threads of the kernel, which
/// have no memory of their own, do not count.
fn bound_to(status: &str) -> Option<usize> {
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
    field("VmSize:")?;
    field("Cpus_allowed_list:")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_bound_to_one_processor_takes_it() {
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
