//! The tasks of a search that splits paths: which there are, and who works on which.
//!
//! A member takes the latest of its tasks first, as depth-first search does, and as a *group*:
//! it takes the next group when all flips of the last one are answered. So what is open stays
//! small, and a member that dies has at most one group in flight.

use super::Task;
use pleach_search::ROOT;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// How many tasks a group has at most. The seeds are always one group, because their paths
/// share their beginnings, and only who traced all of them can tell which flips are new.
const GROUP: usize = 16;

/// The bytes of tasks that are not done, at most: every member has all of them in memory. A
/// depth-first search has far fewer, because its members take the latest first.
const MAX_OPEN_BYTES: usize = 1 << 30;
/// What a task takes beside its bytes.
const OVERHEAD: usize = 256;
/// How many tasks may be done that nobody told. There are some after a server has lost what it
/// had.
const MAX_UNKNOWN: usize = 1 << 20;

#[derive(Default)]
pub struct Tasks {
    /// The tasks that are not done, by their place in the log.
    open: BTreeMap<u64, Open>,
    by_edge: HashMap<u64, u64>,
    /// The next place.
    next: u64,
    done: HashSet<u64>,
    /// How many of these were never told.
    unknown: usize,
    /// What the open tasks take in memory.
    bytes: usize,
    /// The open tasks that this member may take.
    own: BTreeSet<u64>,
    /// What it works on.
    group: HashSet<u64>,
}

struct Open {
    task: Task,
    begun_by: Option<Arc<str>>,
}

/// What decides who owns a task.
pub fn owner_key(task: &Task) -> u64 {
    if is_seed(task) { ROOT } else { task.edge }
}

fn is_seed(task: &Task) -> bool {
    task.bound == 0 && task.node == 0
}

fn size(task: &Task) -> usize {
    task.bytes.len() + OVERHEAD
}

impl Tasks {
    /// A task was told. `owns`: it is for this member. False if there is no room for it.
    pub fn add(&mut self, task: Task, owns: bool) -> bool {
        let edge = task.edge;
        if self.done.contains(&edge) || self.by_edge.contains_key(&edge) {
            return true;
        }
        let size = size(&task);
        if self.bytes + size > MAX_OPEN_BYTES {
            return false;
        }
        self.bytes += size;
        let place = self.next;
        self.next += 1;
        self.by_edge.insert(edge, place);
        self.open.insert(place, Open { task, begun_by: None });
        if owns {
            self.own.insert(place);
        }
        true
    }

    /// A member has begun tasks. `me`: it is this one, which has said so now or in an earlier
    /// life.
    pub fn begin(&mut self, edges: &[u64], by: &Arc<str>, me: bool) {
        for edge in edges {
            let Some(&place) = self.by_edge.get(edge) else { continue };
            let Some(open) = self.open.get_mut(&place) else { continue };
            // What this member works on stays its own.
            if self.group.contains(edge) && !me {
                continue;
            }
            open.begun_by = Some(by.clone());
            match me && !self.group.contains(edge) {
                true => _ = self.own.insert(place),
                false => _ = self.own.remove(&place),
            }
        }
    }

    pub fn finish(&mut self, edges: &[u64]) {
        for edge in edges {
            if let Some(place) = self.by_edge.remove(edge) {
                let open = self.open.remove(&place);
                self.bytes -= open.map_or(0, |open| size(&open.task));
                self.own.remove(&place);
            } else if !self.done.contains(edge) {
                if self.unknown >= MAX_UNKNOWN {
                    continue;
                }
                self.unknown += 1;
            }
            self.done.insert(*edge);
        }
    }

    /// A member has gone: what it had begun is open again.
    pub fn forget_member(&mut self, name: &str) {
        let begun = |open: &&mut Open| open.begun_by.as_deref() == Some(name);
        self.open.values_mut().filter(begun).for_each(|open| open.begun_by = None);
    }

    /// Members have come or gone.
    pub fn share_out(&mut self, me: &str, owns: impl Fn(u64) -> bool) {
        let is_own = |open: &Open| match &open.begun_by {
            Some(by) => **by == *me,
            None => owns(owner_key(&open.task)),
        };
        let own = self.open.iter().filter(|(_, open)| !self.group.contains(&open.task.edge));
        self.own = own.filter(|(_, open)| is_own(open)).map(|(place, _)| *place).collect();
    }

    /// The next group of this member. The last one must be finished.
    pub fn take_group(&mut self, me: &Arc<str>) -> Vec<Task> {
        let mut group: Vec<u64> = Vec::new();
        let seeds = self.own.iter().copied().filter(|place| is_seed(&self.open[place].task));
        group.extend(seeds);
        if group.is_empty() {
            group.extend(self.own.iter().rev().take(GROUP));
        }
        let mut tasks = Vec::new();
        for place in group {
            self.own.remove(&place);
            if let Some(open) = self.open.get_mut(&place) {
                open.begun_by = Some(me.clone());
                self.group.insert(open.task.edge);
                tasks.push(open.task.clone());
            }
        }
        tasks
    }

    /// All flips of the group are answered. Returns its edges, in order.
    pub fn finish_group(&mut self) -> Vec<u64> {
        let mut edges: Vec<u64> = self.group.drain().collect();
        edges.sort_unstable();
        self.finish(&edges);
        edges
    }

    /// What this member works on.
    pub fn group(&self) -> Vec<u64> {
        self.group.iter().copied().collect()
    }

    /// Everything that is known, to tell it again: tasks, those begun here, those done.
    pub fn all(&self) -> (Vec<Task>, Vec<u64>, Vec<u64>) {
        let open = self.open.values().map(|open| open.task.clone()).collect();
        (open, self.group.iter().copied().collect(), self.done.iter().copied().collect())
    }

    /// True if some task is this member's to begin.
    pub fn has_own(&self) -> bool {
        !self.own.is_empty()
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.open.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(edge: u64, bound: u32) -> Task {
        Task {
            edge,
            bound,
            node: if bound == 0 { 0 } else { edge },
            asked: None,
            bytes: Arc::from([edge as u8]),
        }
    }

    fn edges(tasks: &[Task]) -> Vec<u64> {
        tasks.iter().map(|task| task.edge).collect()
    }

    #[test]
    fn a_task_is_taken_once_and_the_latest_first() {
        let (mut tasks, me) = (Tasks::default(), Arc::from("me"));
        for edge in 1..=40 {
            tasks.add(task(edge, 1), edge % 2 == 0);
            tasks.add(task(edge, 1), true);
        }
        assert_eq!(
            edges(&tasks.take_group(&me)),
            (5..=20).rev().map(|i| 2 * i).collect::<Vec<_>>()
        );
        assert_eq!(tasks.finish_group().len(), GROUP);
        assert_eq!(edges(&tasks.take_group(&me)), [8, 6, 4, 2]);
        tasks.finish_group();
        assert!(tasks.take_group(&me).is_empty());
        // What is done stays done.
        tasks.add(task(8, 1), true);
        assert!(tasks.take_group(&me).is_empty() && tasks.len() == 20);
    }

    #[test]
    fn a_flood_of_tasks_does_not_fill_the_memory() {
        let mut tasks = Tasks::default();
        let bytes: Arc<[u8]> = vec![0; 1 << 20].into();
        let large = |edge| Task { bytes: bytes.clone(), ..task(edge, 1) };
        let taken = (0..2000).filter(|&edge| tasks.add(large(edge), true)).count();
        assert!((1000..1024).contains(&taken), "{taken}");
        assert!(tasks.add(large(0), true), "it is known");
        tasks.finish(&[0, 1]);
        assert!(tasks.add(large(3000), true));
        (0..MAX_UNKNOWN as u64 + 9).for_each(|n| tasks.finish(&[1 << 40 | n]));
        assert_eq!(tasks.done.len(), MAX_UNKNOWN + 2);
    }

    #[test]
    fn seeds_are_one_group_with_one_owner() {
        let (mut tasks, me) = (Tasks::default(), Arc::from("me"));
        (1..=100).for_each(|edge| assert!(tasks.add(task(edge, 0), true)));
        tasks.add(task(101, 1), true);
        assert_eq!(tasks.take_group(&me).len(), 100);
        assert_eq!(owner_key(&task(1, 0)), owner_key(&task(2, 0)));
        assert_ne!(owner_key(&task(1, 1)), owner_key(&task(2, 1)));
    }

    #[test]
    fn what_a_lost_member_had_begun_is_open_again() {
        let (mut tasks, me, other) = (Tasks::default(), Arc::from("me"), Arc::from("other"));
        (1..=4).for_each(|edge| assert!(tasks.add(task(edge, 1), edge > 2)));
        tasks.begin(&[1, 2, 3], &other, false);
        assert_eq!(edges(&tasks.take_group(&me)), [4]);
        // Another member has begun the same while it did not know of us. We continue.
        tasks.begin(&[4], &other, false);
        tasks.finish(&[1]);
        tasks.forget_member("other");
        tasks.share_out(&me, |_| true);
        assert_eq!(tasks.finish_group(), [4]);
        assert_eq!(edges(&tasks.take_group(&me)), [3, 2]);
    }

    #[test]
    fn a_member_that_is_started_again_continues_what_it_had_begun() {
        let (mut tasks, me) = (Tasks::default(), Arc::from("me"));
        (1..=3).for_each(|edge| assert!(tasks.add(task(edge, 1), false)));
        tasks.begin(&[2], &me, true);
        assert_eq!(edges(&tasks.take_group(&me)), [2]);
        // The echo of what it says now changes nothing.
        tasks.begin(&[2], &me, true);
        assert!(tasks.take_group(&me).is_empty());
        tasks.share_out(&me, |_| false);
        assert!(tasks.take_group(&me).is_empty());
    }
}
