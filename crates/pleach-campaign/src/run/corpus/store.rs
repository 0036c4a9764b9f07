//! The inputs of a campaign in memory. Those of the queue stay. Others wait to be traced,
//! or may have to be traced again; the oldest of them are dropped when they use too much
//! memory.

use crate::run::ring::{Candidate, FastEnd};
use pleach_search::{BranchId, InputId};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

pub struct Store {
    inputs: HashMap<InputId, Arc<Candidate>>,
    /// Inputs that can be dropped, the oldest first.
    order: VecDeque<InputId>,
    next: InputId,
    queue: Vec<InputId>,
    /// Bytes of those that can be dropped.
    memory: usize,
    max_memory: usize,
    pub dropped: u64,
}

/// Bytes of memory that an input takes besides its contents.
const OVERHEAD: usize = 224;

impl Store {
    pub fn new(max_memory: usize) -> Store {
        Store {
            inputs: HashMap::new(),
            order: VecDeque::new(),
            next: 0,
            queue: Vec::new(),
            memory: 0,
            max_memory,
            dropped: 0,
        }
    }

    /// The number of the next input.
    pub fn next_id(&self) -> InputId {
        self.next
    }

    /// Keeps an input under a number.
    pub fn insert(&mut self, id: InputId, candidate: Candidate) {
        self.next = self.next.max(id + 1);
        if let Some(number) = candidate.queue {
            let at = number as usize;
            self.queue.resize(self.queue.len().max(at + 1), InputId::MAX);
            self.queue[at] = id;
        } else {
            self.memory += candidate.bytes.len() + OVERHEAD;
            self.order.push_back(id);
        }
        self.inputs.insert(id, Arc::new(candidate));
        while self.memory > self.max_memory {
            let Some(oldest) = self.order.pop_front() else { break };
            if let Some(candidate) = self.inputs.remove(&oldest) {
                self.memory -= candidate.bytes.len() + OVERHEAD;
                self.dropped += 1;
            }
        }
    }

    pub fn get(&self, id: InputId) -> Option<&Arc<Candidate>> {
        self.inputs.get(&id)
    }

    /// The fast half ran an input to its end.
    pub fn set_complete(&mut self, id: InputId) {
        if let Some(candidate) = self.inputs.get_mut(&id) {
            Arc::make_mut(candidate).fast = FastEnd::Complete;
        }
    }

    /// The fast half did not count the branch that an input was solved for.
    pub fn set_uncounted(&mut self, id: InputId, branch: BranchId) {
        if let Some(candidate) = self.inputs.get_mut(&id) {
            Arc::make_mut(candidate).uncounted = Some(branch);
        }
    }

    /// Inputs of the queue by number.
    pub fn queue(&self) -> &[InputId] {
        &self.queue
    }

    /// The number of an input in the queue, if it is there.
    pub fn number(&self, id: InputId) -> Option<u32> {
        self.inputs.get(&id)?.queue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_not_in_the_queue_is_dropped() {
        let mut store = Store::new(3 * (100 + OVERHEAD));
        for (id, queue) in (0..).zip([Some(0), None, None, None, None, None, Some(1)]) {
            store.insert(id, Candidate::recalled(vec![0; 100].into(), queue, None));
        }
        assert_eq!(store.dropped, 2);
        let left: Vec<_> = (0..8).filter(|&id| store.get(id).is_some()).collect();
        assert_eq!(left, [0, 3, 4, 5, 6]);
        assert_eq!(store.queue(), [0, 6]);
    }
}
