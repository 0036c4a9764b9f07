//! The inputs of a campaign in memory. When they use too much of it:
//!
//! - Of inputs of the queue, the bytes are put on disk, the oldest first.
//! - Other inputs wait to be traced, or may have to be traced again. The oldest are dropped;
//!   in a search that should be exhaustive, they are put on disk.
//!
//! An input does not need its parent, so a parent may be dropped first.

use super::attic::Attic;
use super::scratch::Scratch;
use crate::run::memory::Shares;
use crate::run::ring::{Candidate, FastEnd};
use pleach_search::{BranchId, InputId};
use pleach_template::{HoleRecord, Strings};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

pub struct Store {
    inputs: Inputs,
    next: InputId,
    /// The inputs of the queue, by their numbers there.
    queue: Vec<InputId>,
    outside: Pool,
    queued: Pool,
    scratch: Option<Scratch>,
}

/// The inputs, in memory or on disk.
#[derive(Clone)]
pub struct Inputs {
    held: HashMap<InputId, Held>,
    attic: Option<Arc<Attic>>,
    /// True if inputs outside of the queue are in the attic, too.
    keeps_all: bool,
    /// What templates are made of.
    strings: Option<Arc<Strings>>,
}

/// An input, perhaps without its bytes: then these are in the attic.
#[derive(Clone)]
struct Held {
    candidate: Arc<Candidate>,
    has_bytes: bool,
}

/// Inputs with their bytes in memory, the oldest first, and the memory that they use.
#[derive(Default)]
struct Pool {
    order: VecDeque<InputId>,
    memory: usize,
    max_memory: usize,
}

/// How many bytes an input uses besides its contents.
const OVERHEAD: usize = 224;
/// Shorter inputs of the queue stay in memory.
const MIN_SPILLED: usize = OVERHEAD;

impl Store {
    /// A store for one campaign. With `keeps_all`, also the inputs outside of the queue are
    /// never dropped.
    pub fn new(
        shares: &Shares,
        scratch: Option<Scratch>,
        strings: Option<Arc<Strings>>,
        keeps_all: bool,
    ) -> Store {
        let pool = |max_memory| Pool { max_memory, ..Pool::default() };
        Store {
            inputs: Inputs { held: HashMap::new(), attic: None, keeps_all, strings },
            next: 0,
            queue: Vec::new(),
            outside: pool(shares.inputs),
            queued: pool(shares.queue),
            scratch,
        }
    }

    /// The bytes that inputs outside of the queue use, and those of the queue.
    pub fn memory(&self) -> (u64, u64) {
        (self.outside.memory as u64, self.queued.memory as u64)
    }

    /// The number of the next input.
    pub fn next_id(&self) -> InputId {
        self.next
    }

    /// Numbers below this one were used.
    pub fn skip_ids(&mut self, next: InputId) {
        self.next = self.next.max(next);
    }

    /// Adds an input under a number.
    pub fn insert(&mut self, id: InputId, candidate: Candidate) {
        self.next = self.next.max(id + 1);
        let pool = match candidate.queue {
            Some(number) => {
                let at = number as usize;
                self.queue.resize(self.queue.len().max(at + 1), InputId::MAX);
                self.queue[at] = id;
                &mut self.queued
            }
            None => &mut self.outside,
        };
        pool.memory += candidate.bytes.len() + OVERHEAD;
        // What is left of a short one without its bytes is as large.
        if candidate.queue.is_none() || candidate.bytes.len() >= MIN_SPILLED {
            pool.order.push_back(id);
        }
        self.inputs.held.insert(id, Held { candidate: Arc::new(candidate), has_bytes: true });
        self.shrink_queue();
        self.shrink_outside();
    }

    /// Puts the bytes of the oldest inputs of the queue into the attic.
    fn shrink_queue(&mut self) {
        while self.queued.memory > self.queued.max_memory {
            let Some(oldest) = self.queued.order.pop_front() else { break };
            let Some(candidate) = self.inputs.held.get(&oldest).map(|held| held.candidate.clone())
            else {
                continue;
            };
            if !self.put_away(oldest, &[&candidate.bytes]) {
                break;
            }
            self.queued.memory -= candidate.bytes.len();
            let candidate = Candidate { bytes: Arc::default(), ..(*candidate).clone() };
            let held = Held { candidate: Arc::new(candidate), has_bytes: false };
            self.inputs.held.insert(oldest, held);
        }
    }

    /// Drops the oldest inputs outside of the queue, or puts them into the attic.
    fn shrink_outside(&mut self) {
        while self.outside.memory > self.outside.max_memory {
            let Some(oldest) = self.outside.order.pop_front() else { break };
            let Some(Held { candidate, .. }) = self.inputs.held.remove(&oldest) else { continue };
            self.outside.memory -= candidate.bytes.len() + OVERHEAD;
            if self.inputs.keeps_all {
                let head = self.inputs.template_bytes(&candidate);
                // If the disk is full, it is missed when it is asked for.
                self.put_away(oldest, &[&head, &candidate.bytes]);
            }
        }
    }

    /// True if an input is in the attic now.
    fn put_away(&mut self, id: InputId, parts: &[&[u8]]) -> bool {
        let attic = &mut self.inputs.attic;
        if attic.is_none() {
            // If it cannot be made, this is tried only once.
            let made = self.scratch.take().and_then(|scratch| Attic::new(&scratch).ok());
            *attic = made.map(Arc::new);
        }
        attic.as_ref().is_some_and(|attic| attic.put(id, parts).is_ok())
    }

    pub fn get(&self, id: InputId) -> Option<Arc<Candidate>> {
        self.inputs.get(id)
    }

    /// All inputs as they are now.
    pub fn inputs(&self) -> Inputs {
        self.inputs.clone()
    }

    fn change(&mut self, id: InputId, change: impl FnOnce(&mut Candidate)) {
        if let Some(held) = self.inputs.held.get_mut(&id) {
            change(Arc::make_mut(&mut held.candidate));
        }
    }

    /// Records that the fast half ran an input to its end.
    pub fn set_complete(&mut self, id: InputId) {
        self.change(id, |candidate| candidate.fast = FastEnd::Complete);
    }

    /// Records that the fast half did not count the branch that an input was solved for.
    pub fn set_uncounted(&mut self, id: InputId, branch: BranchId) {
        self.change(id, |candidate| candidate.uncounted = Some(branch));
    }

    /// The inputs of the queue, by their numbers there.
    pub fn queue(&self) -> &[InputId] {
        &self.queue
    }

    /// The number of an input in the queue, if it is there.
    pub fn queue_number(&self, id: InputId) -> Option<u32> {
        self.inputs.held.get(&id)?.candidate.queue
    }
}

impl Inputs {
    pub fn get(&self, id: InputId) -> Option<Arc<Candidate>> {
        match self.held.get(&id) {
            Some(Held { candidate, has_bytes: true }) => Some(candidate.clone()),
            Some(Held { candidate, has_bytes: false }) => {
                let bytes = self.attic.as_ref()?.get(id)?.into();
                Some(Arc::new(Candidate { bytes, ..(**candidate).clone() }))
            }
            None if self.keeps_all => self.recall(id).map(Arc::new),
            None => None,
        }
    }

    /// True for an input that is in memory, or in the queue, or perhaps on disk.
    pub fn may_have(&self, id: InputId) -> bool {
        self.keeps_all || self.held.contains_key(&id)
    }

    /// The inputs of the queue.
    pub fn queued(&self) -> impl Iterator<Item = InputId> {
        let queued = self.held.iter().filter(|(_, held)| held.candidate.queue.is_some());
        queued.map(|(&id, _)| id)
    }

    /// The holes of an input's template, if it has one.
    pub fn holes(&self, candidate: &Candidate) -> Option<Vec<HoleRecord>> {
        self.strings.as_ref()?.save_template(candidate.template.as_ref()?)
    }

    /// The template of an input as bytes, which begin with their number.
    fn template_bytes(&self, candidate: &Candidate) -> Vec<u8> {
        let holes = self.holes(candidate);
        let mut bytes = vec![u8::from(holes.is_some())];
        let holes = holes.unwrap_or_default();
        bytes.extend((holes.len() as u32).to_le_bytes());
        bytes.extend(holes.iter().flatten().flat_map(|number| number.to_le_bytes()));
        bytes
    }

    /// An input that was put into the attic with its template.
    fn recall(&self, id: InputId) -> Option<Candidate> {
        let whole = self.attic.as_ref()?.get(id)?;
        let (&has_template, rest) = whole.split_first()?;
        let (count, rest) = rest.split_first_chunk()?;
        let len = u32::from_le_bytes(*count) as usize * size_of::<HoleRecord>();
        let (holes, bytes) = rest.split_at_checked(len)?;
        let number =
            |bytes: &[u8], i| bytes[4 * i..4 * i + 4].try_into().map_or(0, u32::from_le_bytes);
        let holes: Vec<HoleRecord> = holes
            .chunks_exact(size_of::<HoleRecord>())
            .map(|hole| std::array::from_fn(|i| number(hole, i)))
            .collect();
        let strings = self.strings.as_ref().filter(|_| has_template == 1);
        let template = strings.and_then(|strings| strings.load_template(&holes, bytes));
        Some(Candidate::recalled(bytes.into(), None, template.map(Arc::new)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn store(dir: &Path, inputs: usize, queue: usize, keeps_all: bool) -> Store {
        let shares = Shares { inputs, queue, ..Shares::new(0, 1) };
        let scratch = Scratch { dir: dir.into(), disk: Arc::default() };
        Store::new(&shares, Some(scratch), None, keeps_all)
    }

    fn insert(store: &mut Store, id: InputId, queue: Option<u32>, len: usize) {
        store.insert(id, Candidate::recalled(vec![id as u8; len].into(), queue, None));
    }

    #[test]
    fn only_inputs_outside_the_queue_are_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = store(dir.path(), 3 * (100 + OVERHEAD), 1 << 20, false);
        for (id, queue) in (0..).zip([Some(0), None, None, None, None, None, Some(1)]) {
            insert(&mut store, id, queue, 100);
        }
        let left: Vec<_> = (0..8).filter(|&id| store.get(id).is_some()).collect();
        assert_eq!(left, [0, 3, 4, 5, 6]);
        assert_eq!(store.queue(), [0, 6]);
    }

    #[test]
    fn a_store_that_keeps_all_has_the_rest_on_disk() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = store(dir.path(), 3 * (100 + OVERHEAD), 1 << 20, true);
        (0..50).for_each(|id| insert(&mut store, id, None, 100));
        assert!(store.memory().0 <= 3 * (100 + OVERHEAD as u64));
        for id in 0..50 {
            assert_eq!(store.get(id).unwrap().bytes[..], vec![id as u8; 100], "{id}");
        }
        assert!(store.get(50).is_none());
    }

    #[test]
    fn a_large_queue_has_its_bytes_on_disk() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = store(dir.path(), 1 << 20, 20_000, false);
        (0..50).for_each(|id| insert(&mut store, id, Some(id), 1000));
        store.set_uncounted(0, 7);
        assert!(store.memory().1 <= 20_000, "{:?}", store.memory());
        for id in 0..50 {
            let candidate = store.get(id).unwrap();
            assert_eq!((candidate.queue, candidate.bytes.len()), (Some(id), 1000));
            assert_eq!(candidate.bytes[0], id as u8);
        }
        assert_eq!(store.get(0).unwrap().uncounted, Some(7));
    }

    /// Without a disk for them, the inputs of the queue stay in memory.
    #[test]
    fn a_full_disk_loses_no_input_of_the_queue() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = store(&dir.path().join("missing"), 0, 0, true);
        (0..10).for_each(|id| insert(&mut store, id, (id % 2 == 0).then_some(id / 2), 1000));
        let left: Vec<_> = (0..10).filter(|&id| store.get(id).is_some()).collect();
        assert_eq!(left, [0, 2, 4, 6, 8]);
    }
}
