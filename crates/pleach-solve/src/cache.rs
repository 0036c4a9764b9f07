//! Answers that were found before, for requests that are the same up to where in
//! the input they read.
//!
//! The key is the name of the goals, of the conditions tied to them, and of what
//! each byte may be (see `pleach_expr::Canon`). A model is kept as the values of
//! the inputs in the order of the name; for another request it is a candidate
//! like any other, and is evaluated before it leaves.

use crate::request::{Changes, Found, Request, Slice};
use crate::solver::Tier;
use pleach_expr::{Canon, Var};
use rustc_hash::FxHashMap;

/// Entries; the memory is then given back.
const MOST: usize = 1 << 16;

#[derive(Default)]
pub(crate) struct Cache {
    known: FxHashMap<u128, Known>,
}

struct Known {
    tier: Tier,
    /// Values of the inputs in the order of the name; none if there is no model.
    values: Option<Box<[u64]>>,
}

/// The name of a request.
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
        // After the goals: what is said of them is not what is asked for.
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
    /// What was found before, if it holds here.
    pub fn get(&self, request: &mut Request, key: &Key) -> Option<(Found, Tier)> {
        let Known { tier, values } = self.known.get(&key.name)?;
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
        let values = match found {
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
        if self.known.len() >= MOST {
            self.known.clear();
        }
        self.known.insert(key.name, Known { tier, values });
    }
}
