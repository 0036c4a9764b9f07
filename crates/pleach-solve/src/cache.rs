//! The cache: answers to requests that differ only in the offsets that they read.
//!
//! The key is a hash of the goals, the slice, and the values that each input may have (see
//! `pleach_expr::Canon`). A model is stored as the values of the inputs, in the order of
//! [`Canon::vars`]. It is evaluated before it answers another request.

use crate::answer::Tier;
use crate::request::{Changes, Found, Request, Slice};
use pleach_expr::{Canon, Var};
use rustc_hash::FxHashMap;

/// A cache with this many entries is cleared.
const MAX_ENTRIES: usize = 1 << 16;

/// What an allocation takes besides its contents.
const ALLOCATION: usize = 16;

#[derive(Default)]
pub(crate) struct Cache {
    entries: FxHashMap<u128, Entry>,
    /// The bytes of all values.
    values: usize,
}

struct Entry {
    tier: Tier,
    /// The values of the inputs in a model; `None` if there is no model.
    values: Option<Box<[u64]>>,
}

/// The hash of a request, and its inputs.
pub(crate) struct Key {
    name: u128,
    vars: Vec<Var>,
}

impl Key {
    pub fn new(request: &mut Request, slice: &Slice) -> Key {
        let mut canon = Canon::default();
        for &goal in &request.goals {
            canon.add_condition(&request.path.pool, goal);
        }
        // Separates goals from conditions.
        canon.add_word(request.goals.len() as u64);
        for &atom in &slice.atoms {
            canon.add_condition(&request.path.pool, request.path.atom(atom).term);
        }
        let vars = canon.vars().to_vec();
        for &var in &vars {
            if let Some(offset) = var.as_byte() {
                request.domain(offset).0.iter().for_each(|&word| canon.add_word(word));
            } else if let Some(stream) = var.as_length() {
                let (low, high) = request.path.interval(stream, request.at);
                canon.add_word(low);
                canon.add_word(high);
            }
        }
        Key { name: canon.name(), vars }
    }
}

impl Cache {
    /// Bytes of memory.
    pub fn memory(&self) -> usize {
        self.entries.capacity() * (size_of::<(u128, Entry)>() + 1) + self.values
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Cache::default();
    }

    /// The cached answer, if it holds for this request.
    pub fn get(&self, request: &mut Request, key: &Key) -> Option<(Found, Tier)> {
        let Entry { tier, values } = self.entries.get(&key.name)?;
        let Some(values) = values else { return Some((Found::Unsat, *tier)) };
        let mut changes: Changes = key
            .vars
            .iter()
            .zip(values)
            .map(|(&var, &value)| (var, value))
            .filter(|&(var, value)| value != request.path.current(var))
            .collect();
        changes.sort_unstable();
        request.holds(&changes).then_some((Found::Sat(changes), *tier))
    }

    pub fn put(&mut self, request: &Request, key: Key, found: &Found, tier: Tier) {
        let values: Option<Box<[u64]>> = match found {
            Found::Unsat => None,
            Found::Sat(changes) => {
                let value = |var: Var| {
                    let changed = changes.binary_search_by_key(&var, |c| c.0);
                    changed.map_or_else(|_| request.path.current(var), |at| changes[at].1)
                };
                Some(key.vars.iter().map(|&v| value(v)).collect())
            }
            Found::Pass | Found::TooLong => return,
        };
        if self.entries.len() >= MAX_ENTRIES {
            self.clear();
        }
        self.values += values.as_ref().map_or(0, |v| 8 * v.len() + ALLOCATION);
        self.entries.insert(key.name, Entry { tier, values });
    }
}
