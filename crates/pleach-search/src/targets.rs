//! Where the outcomes of a call or jump through a pointer lead: a list of branches.
//!
//! A decision is small and is copied everywhere, so it has the number of its list. A program
//! has few lists, one for each table that it calls through, and they are the same in all
//! searches. A target that makes up ever new tables gets no more lists when the room is full.

use crate::program::BranchId;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

/// Branches in all lists together.
const MAX_ENTRIES: usize = 1 << 20;
/// No branch shows that a target was reached.
const NO_BRANCH: BranchId = BranchId::MAX;

#[derive(Default)]
struct Lists {
    all: Vec<Arc<[BranchId]>>,
    numbers: HashMap<Arc<[BranchId]>, u32>,
    entries: usize,
}

static LISTS: LazyLock<RwLock<Lists>> = LazyLock::new(RwLock::default);

/// The number of a list; `None` if there are too many lists.
pub(crate) fn number(branches: impl Iterator<Item = Option<BranchId>>) -> Option<u32> {
    let list: Arc<[BranchId]> = branches.map(|b| b.unwrap_or(NO_BRANCH)).collect();
    let known = LISTS.read().unwrap_or_else(PoisonError::into_inner).numbers.get(&list).copied();
    if known.is_some() {
        return known;
    }
    let mut lists = LISTS.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(&number) = lists.numbers.get(&list) {
        return Some(number);
    }
    lists.entries += list.len() + 1;
    if lists.entries > MAX_ENTRIES {
        return None;
    }
    let number = lists.all.len() as u32;
    lists.all.push(list.clone());
    lists.numbers.insert(list, number);
    Some(number)
}

/// The branch of an outcome.
pub(crate) fn branch(number: u32, outcome: u32) -> Option<BranchId> {
    let lists = LISTS.read().unwrap_or_else(PoisonError::into_inner);
    let branch = *lists.all.get(number as usize)?.get(outcome as usize)?;
    (branch != NO_BRANCH).then_some(branch)
}
