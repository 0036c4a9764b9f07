//! The inputs of a campaign in memory. Inputs of the queue are never dropped. Other inputs
//! wait to be traced, or may have to be traced again; when they use too much memory, the
//! oldest are dropped. An input does not need its parent, so a parent may be dropped first.

use crate::run::ring::{Candidate, FastEnd};
use pleach_search::{BranchId, InputId};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

pub struct Store {
    inputs: HashMap<InputId, Arc<Candidate>>,
    /// The inputs that are not in the queue, the oldest first.
    droppable: VecDeque<InputId>,
    next: InputId,
    /// The inputs of the queue, by their numbers there.
    queue: Vec<InputId>,
    /// The bytes that the droppable inputs use, and may use.
    memory: usize,
    max_memory: usize,
    /// The bytes that the inputs of the queue use.
    queue_memory: usize,
}

/// How many bytes an input uses besides its contents.
const OVERHEAD: usize = 224;

impl Store {
    pub fn new(max_memory: usize) -> Store {
        Store {
            inputs: HashMap::new(),
            droppable: VecDeque::new(),
            next: 0,
            queue: Vec::new(),
            memory: 0,
            max_memory,
            queue_memory: 0,
        }
    }

    /// The bytes that inputs outside of the queue use, and those of the queue.
    pub fn memory(&self) -> (u64, u64) {
        (self.memory as u64, self.queue_memory as u64)
    }

    /// The number of the next input.
    pub fn next_id(&self) -> InputId {
        self.next
    }

    /// Adds an input under a number.
    pub fn insert(&mut self, id: InputId, candidate: Candidate) {
        self.next = self.next.max(id + 1);
        if let Some(number) = candidate.queue {
            let at = number as usize;
            self.queue.resize(self.queue.len().max(at + 1), InputId::MAX);
            self.queue[at] = id;
            self.queue_memory += candidate.bytes.len() + OVERHEAD;
        } else {
            self.memory += candidate.bytes.len() + OVERHEAD;
            self.droppable.push_back(id);
        }
        self.inputs.insert(id, Arc::new(candidate));
        while self.memory > self.max_memory {
            let Some(oldest) = self.droppable.pop_front() else { break };
            if let Some(candidate) = self.inputs.remove(&oldest) {
                self.memory -= candidate.bytes.len() + OVERHEAD;
            }
        }
    }

    pub fn get(&self, id: InputId) -> Option<&Arc<Candidate>> {
        self.inputs.get(&id)
    }

    /// Records that the fast half ran an input to its end.
    pub fn set_complete(&mut self, id: InputId) {
        if let Some(candidate) = self.inputs.get_mut(&id) {
            Arc::make_mut(candidate).fast = FastEnd::Complete;
        }
    }

    /// Records that the fast half did not count the branch that an input was solved for.
    pub fn set_uncounted(&mut self, id: InputId, branch: BranchId) {
        if let Some(candidate) = self.inputs.get_mut(&id) {
            Arc::make_mut(candidate).uncounted = Some(branch);
        }
    }

    /// The inputs of the queue, by their numbers there.
    pub fn queue(&self) -> &[InputId] {
        &self.queue
    }

    /// The number of an input in the queue, if it is there.
    pub fn queue_number(&self, id: InputId) -> Option<u32> {
        self.inputs.get(&id)?.queue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_inputs_outside_the_queue_are_dropped() {
        let mut store = Store::new(3 * (100 + OVERHEAD));
        for (id, queue) in (0..).zip([Some(0), None, None, None, None, None, Some(1)]) {
            store.insert(id, Candidate::recalled(vec![0; 100].into(), queue, None));
        }
        let left: Vec<_> = (0..8).filter(|&id| store.get(id).is_some()).collect();
        assert_eq!(left, [0, 3, 4, 5, 6]);
        assert_eq!(store.queue(), [0, 6]);
    }
}
