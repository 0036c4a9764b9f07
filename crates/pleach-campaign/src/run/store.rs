//! The inputs of a campaign in memory. Those of the queue stay; others (results
//! of flips that wait to be traced, or may have to be traced again) are dropped,
//! the oldest first, when they become too many.

use super::sizes::Foretold;
use pleach_search::{BranchId, Flip, InputId};
use pleach_template::Template;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// An input and what is known of it.
#[derive(Clone, Debug)]
pub struct Known {
    pub bytes: Arc<[u8]>,
    /// Its number in the queue.
    pub queue: Option<u32>,
    /// It crashed on the fast half; `None` if it did not run there since the campaign was
    /// resumed.
    pub crashed: Option<bool>,
    /// Where its trace should go, if it was solved for.
    pub expect: Option<Expect>,
    /// What of it may change, if not everything.
    pub template: Option<Arc<Template>>,
    /// What it will decide on lengths, if it was made for that.
    pub foretold: Option<Foretold>,
    /// The fast half ran it to its end in this session.
    pub complete: bool,
    /// The branch that it was solved for, if that run did not count it.
    pub uncounted: Option<BranchId>,
}

impl Known {
    /// An input of an earlier session, which has not run in this one.
    pub fn from_past(
        bytes: Arc<[u8]>,
        queue: Option<u32>,
        template: Option<Arc<Template>>,
    ) -> Known {
        let (crashed, expect, foretold, complete, uncounted) = (None, None, None, false, None);
        Known { bytes, queue, crashed, expect, template, foretold, complete, uncounted }
    }
}

/// What a flip promises of the trace of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expect {
    pub flip: Flip,
    /// So many decisions are foretold.
    pub decisions: u32,
    /// The tree's node after them.
    pub node: u64,
    /// The path is no promise: the flip was solved for without it, or lies where only the
    /// symbolic half came.
    pub optimistic: bool,
    /// The flip asks for a check to fail: a crash is all that it can show.
    pub check: bool,
    /// It is of a run on tokens; a run on bytes has other decisions.
    pub tokens: bool,
}

pub struct Store {
    inputs: HashMap<InputId, Known>,
    /// Inputs that can be dropped, the oldest first.
    order: VecDeque<InputId>,
    next: InputId,
    queue: Vec<InputId>,
    /// Bytes of those that can be dropped.
    memory: usize,
    most: usize,
    pub dropped: u64,
}

/// What an input costs besides its bytes.
const OVERHEAD: usize = 224;

impl Store {
    pub fn new(most: usize) -> Store {
        Store {
            inputs: HashMap::new(),
            order: VecDeque::new(),
            next: 0,
            queue: Vec::new(),
            memory: 0,
            most,
            dropped: 0,
        }
    }

    /// Keeps an input under the next number.
    pub fn add(&mut self, known: Known) -> InputId {
        let id = self.next;
        self.insert(id, known);
        id
    }

    /// Keeps an input under the number that it had.
    pub fn insert(&mut self, id: InputId, known: Known) {
        self.next = self.next.max(id + 1);
        if let Some(number) = known.queue {
            let at = number as usize;
            self.queue.resize(self.queue.len().max(at + 1), InputId::MAX);
            self.queue[at] = id;
        } else {
            self.memory += known.bytes.len() + OVERHEAD;
            self.order.push_back(id);
        }
        self.inputs.insert(id, known);
        while self.memory > self.most {
            let Some(oldest) = self.order.pop_front() else { break };
            if let Some(known) = self.inputs.remove(&oldest) {
                self.memory -= known.bytes.len() + OVERHEAD;
                self.dropped += 1;
            }
        }
    }

    pub fn get(&self, id: InputId) -> Option<&Known> {
        self.inputs.get(&id)
    }

    /// The fast half ran an input to its end.
    pub fn set_complete(&mut self, id: InputId) {
        if let Some(known) = self.inputs.get_mut(&id) {
            known.complete = true;
        }
    }

    /// The fast half did not count the branch that an input was solved for.
    pub fn set_uncounted(&mut self, id: InputId, branch: BranchId) {
        if let Some(known) = self.inputs.get_mut(&id) {
            known.uncounted = Some(branch);
        }
    }

    /// Inputs of the queue by number.
    pub fn queue(&self) -> &[InputId] {
        &self.queue
    }

    /// The number in the queue of an input or of the ancestor that it names.
    pub fn number(&self, id: InputId) -> Option<u32> {
        self.inputs.get(&id)?.queue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_not_in_the_queue_is_dropped() {
        let known = |queue| Known::from_past(vec![0; 100].into(), queue, None);
        let mut store = Store::new(3 * (100 + OVERHEAD));
        store.add(known(Some(0)));
        (0..5).for_each(|_| {
            store.add(known(None));
        });
        store.add(known(Some(1)));
        assert_eq!(store.dropped, 2);
        let left: Vec<_> = (0..8).filter(|&id| store.get(id).is_some()).collect();
        assert_eq!(left, [0, 3, 4, 5, 6]);
        assert_eq!(store.queue(), [0, 6]);
    }
}
