//! Counted work: what a thread does now, how much of it, and whether it must stop.
//!
//! Every loop whose length depends on a target or an input *spends* units of work as it
//! goes: nodes of a trace, terms, entries of a chart, bytes. This serves three promises:
//!
//! - A signal or `-V` takes effect within a second. Whoever spends work is told to stop, and
//!   gives up with an incomplete result. The campaign that has set the flag drops it, so the
//!   flag never changes an answer.
//! - Work is bounded by counts, never by time, so that the same seed gives the same queue. A
//!   test compares the counts of small and large inputs.
//! - A worker that does not come back is noticed, and it is known where it is: the
//!   [`Beacon`] shows it to a watching thread.
//!
//! All of this belongs to the thread, not to a value: the loops are in a dozen crates, far
//! below the code that knows of campaigns. Without [`begin`], nothing is ever stopped.
//!
//! Not here: limits. Each loop knows its own.

#![forbid(unsafe_code)]

mod beacon;

pub use beacon::{Beacon, Sighting};

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

macro_rules! tasks {
    ($($name:ident, $key:literal, $doing:literal;)*) => {
        /// What a thread does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Task {
            $($name,)*
        }

        impl Task {
            pub const ALL: [Task; [$($key),*].len()] = [$(Task::$name),*];

            /// Its name in `stats.json`.
            pub fn key(self) -> &'static str {
                match self { $(Task::$name => $key,)* }
            }

            /// What a worker in this task does: `solving a flip`.
            pub fn doing(self) -> &'static str {
                match self { $(Task::$name => $doing,)* }
            }
        }
    };
}

tasks! {
    Judge, "judge", "judging a run";
    Choose, "choose", "choosing what to do next";
    Idle, "idle", "waiting for the other workers";
    Run, "run", "running the program";
    Trace, "trace", "tracing an input";
    Read, "read", "reading a trace";
    Decide, "decide", "adding a trace to the search";
    Import, "import", "importing the terms of a trace";
    Prepare, "prepare", "preparing a path";
    Graph, "graph", "building the graph of a path";
    Solve, "solve", "solving a flip";
    Sat, "sat", "in the SAT solver";
    Tokens, "tokens", "solving a flip of tokens";
    Parse, "parse", "parsing an input";
    Graft, "graft", "combining parts of inputs";
    Derive, "derive", "deriving a sentence";
    Mutate, "mutate", "mutating an input";
    Triage, "triage", "examining a crash";
    Shrink, "shrink", "minimising an input";
    Cover, "cover", "choosing a set of inputs";
    Resume, "resume", "reading the journal";
}

/// What this thread does and has done.
struct Local {
    task: Task,
    spent: [u64; Task::ALL.len()],
    stop: Option<Arc<AtomicBool>>,
    beacon: Option<Arc<Beacon>>,
}

thread_local! {
    static LOCAL: RefCell<Local> = const {
        RefCell::new(Local {
            task: Task::Judge,
            spent: [0; Task::ALL.len()],
            stop: None,
            beacon: None,
        })
    };
}

/// From now on, this thread stops when `stop` is set, and shows itself on the beacon.
pub fn begin(stop: Arc<AtomicBool>, beacon: Arc<Beacon>) {
    LOCAL.with_borrow_mut(|local| {
        (local.stop, local.beacon) = (Some(stop), Some(beacon));
    });
    beat();
}

/// From now on the thread is in this task, until the result is dropped.
pub fn enter(task: Task) -> Entered {
    Entered { before: switch(task) }
}

/// A task that the thread is in.
#[must_use]
pub struct Entered {
    before: Task,
}

impl Drop for Entered {
    fn drop(&mut self) {
        switch(self.before);
    }
}

fn switch(task: Task) -> Task {
    LOCAL.with_borrow_mut(|local| {
        if let Some(beacon) = &local.beacon {
            beacon.show_task(task);
        }
        std::mem::replace(&mut local.task, task)
    })
}

/// Counts work of the current task.
pub fn count(units: u64) {
    LOCAL.with_borrow_mut(|local| local.spent[local.task as usize] += units);
}

/// Counts work of the current task. True if the thread must stop.
#[must_use]
pub fn spend(units: u64) -> bool {
    count(units);
    is_stopping()
}

/// True if the thread must stop.
pub fn is_stopping() -> bool {
    LOCAL.with_borrow(|local| local.stop.as_ref().is_some_and(|s| s.load(Ordering::Relaxed)))
}

/// The work of a task in this thread since [`take`] was last called.
pub fn spent(task: Task) -> u64 {
    LOCAL.with_borrow(|local| local.spent[task as usize])
}

/// Takes out the work of all tasks.
pub fn take() -> impl Iterator<Item = (Task, u64)> {
    let spent = LOCAL.with_borrow_mut(|local| std::mem::take(&mut local.spent));
    Task::ALL.into_iter().zip(spent).filter(|(_, units)| *units > 0)
}

/// The thread has come back from a piece of work.
pub fn beat() {
    beat_after(Duration::ZERO);
}

/// The thread has come back, and now waits for something that ends within this time.
pub fn beat_after(limit: Duration) {
    with_beacon(|beacon| beacon.beat(limit));
}

/// The thread now works on this input, if any.
pub fn show_input(input: Option<u64>) {
    with_beacon(|beacon| beacon.show_input(input));
}

fn with_beacon(f: impl FnOnce(&Beacon)) {
    LOCAL.with_borrow(|local| local.beacon.as_deref().map(f));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_belongs_to_the_stage_that_it_is_done_in() {
        {
            let _solving = enter(Task::Solve);
            count(3);
            {
                let _building = enter(Task::Graph);
                count(5);
            }
            count(4);
        }
        assert_eq!((spent(Task::Solve), spent(Task::Graph)), (7, 5));
        assert_eq!(take().collect::<Vec<_>>(), [(Task::Graph, 5), (Task::Solve, 7)]);
        assert_eq!(take().count(), 0);
    }

    #[test]
    fn a_thread_stops_when_its_flag_is_set() {
        assert!(!spend(1));
        let stop = Arc::new(AtomicBool::new(false));
        let flag = stop.clone();
        let thread = std::thread::spawn(move || {
            begin(flag.clone(), Arc::default());
            let before = spend(1);
            flag.store(true, Ordering::Relaxed);
            (before, spend(1))
        });
        assert_eq!(thread.join().unwrap(), (false, true));
        // Other threads have their own.
        assert!(!is_stopping() && stop.load(Ordering::Relaxed));
    }

    #[test]
    fn a_beacon_shows_what_its_thread_does() {
        let beacon = Arc::new(Beacon::default());
        begin(Arc::default(), beacon.clone());
        show_input(Some(17));
        let sight = {
            let _solving = enter(Task::Solve);
            beacon.look()
        };
        assert_eq!((sight.task, sight.input), (Task::Solve, Some(17)));
        show_input(None);
        let sight = beacon.look();
        assert_eq!((sight.task, sight.input), (Task::Judge, None));
    }

    #[test]
    fn keys_are_distinct() {
        let mut keys: Vec<_> = Task::ALL.map(Task::key).to_vec();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), Task::ALL.len());
    }
}
