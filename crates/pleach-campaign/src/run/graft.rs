//! Inputs that are put together from parts of those in the queue, by the grammar
//! ([`pleach_template::Grafts`]). What comes into the queue is parsed when somebody next
//! asks for a child; what does not parse has none.

use super::worker::{Promised, Worker};
use crate::mutate::Dictionary;
use pleach_exec::executor::ExecError;
use pleach_search::{InputId, Origin};
use pleach_template::Grafts;
use std::collections::HashMap;
use std::sync::PoisonError;
use std::time::Instant;

pub struct Stock {
    grafts: Grafts,
    /// By input: its number there.
    plants: HashMap<InputId, u32>,
    /// So many of the queue were looked at, and words of the dictionary.
    seen: usize,
    words: usize,
}

impl Stock {
    pub fn new(grafts: Grafts) -> Stock {
        Stock { grafts, plants: HashMap::new(), seen: 0, words: 0 }
    }

    fn learn(&mut self, dictionary: &Dictionary) {
        for (word, _) in dictionary.iter().skip(self.words) {
            self.grafts.add_word(word);
        }
        self.words = dictionary.len();
    }
}

impl Worker {
    /// Runs children of an input; of another, if this one is not the grammar's.
    pub(super) fn graft(&mut self, input: InputId, count: u32) -> Result<(), ExecError> {
        let shared = self.shared.clone();
        let Some(stock) = &shared.stock else { return Ok(()) };
        let (seen, new): (usize, Vec<_>) = {
            let state = shared.lock();
            let seen = stock.lock().unwrap_or_else(PoisonError::into_inner).seen;
            let queue = state.store.queue().get(seen..).unwrap_or_default();
            let known = |&id: &InputId| Some((id, state.store.get(id)?.bytes.clone()));
            (seen, queue.iter().map(known).collect())
        };
        let start = Instant::now();
        let plant = {
            let mut stock = stock.lock().unwrap_or_else(PoisonError::into_inner);
            // Another worker may have been there first.
            let done = stock.seen.saturating_sub(seen);
            for (id, bytes) in new.iter().skip(done).flatten() {
                if let Some(plant) = stock.grafts.add(bytes) {
                    stock.plants.insert(*id, plant);
                }
            }
            stock.seen = stock.seen.max(seen + new.len());
            stock.learn(&shared.dictionary.lock().unwrap_or_else(PoisonError::into_inner));
            stock.plants.get(&input).copied()
        };
        shared.lock().stats.time_s.parse += start.elapsed().as_secs_f64();
        for _ in 0..count {
            if shared.stopping() || self.out_of_runs() {
                break;
            }
            let start = Instant::now();
            let child = {
                let mut stock = stock.lock().unwrap_or_else(PoisonError::into_inner);
                stock.grafts.child(plant)
            };
            let mut state = shared.lock();
            state.stats.time_s.parse += start.elapsed().as_secs_f64();
            // There is no input yet that parses.
            let Some(child) = child else { break };
            if child.len() as u64 > shared.settings.max_len {
                continue;
            }
            state.stats.grafted += 1;
            drop(state);
            self.execute(&child, Origin::Graft(input), Some(input), Promised::default())?;
        }
        Ok(())
    }
}
