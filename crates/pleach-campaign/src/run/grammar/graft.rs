//! The inputs whose parts are combined into new ones, by the grammar
//! ([`pleach_template::Grafts`]). An input of the queue is parsed when the next child is
//! asked for. An input that does not parse has no children.

use crate::mutate::Dictionary;
use pleach_search::InputId;
use pleach_template::Grafts;
use std::collections::HashMap;
use std::sync::Arc;

pub struct Stock {
    grafts: Grafts,
    /// The number that each parsed input has there.
    plants: HashMap<InputId, u32>,
    /// How many inputs of the queue and words of the dictionary were added.
    seen: usize,
    words: usize,
}

impl Stock {
    pub fn new(grafts: Grafts) -> Stock {
        Stock { grafts, plants: HashMap::new(), seen: 0, words: 0 }
    }

    /// How many inputs of the queue were added.
    pub fn seen(&self) -> usize {
        self.seen
    }

    /// Parses the next inputs of the queue. `seen` inputs of it are added then.
    pub fn add_inputs(&mut self, inputs: &[(InputId, Arc<[u8]>)], seen: usize) {
        for (id, bytes) in inputs {
            if let Some(plant) = self.grafts.add(bytes) {
                self.plants.insert(*id, plant);
            }
        }
        self.seen = seen;
    }

    /// Adds the new words of the dictionary.
    pub fn add_words(&mut self, dictionary: &Dictionary) {
        for (word, _) in dictionary.iter().skip(self.words) {
            self.grafts.add_word(word);
        }
        self.words = dictionary.len();
    }

    /// The number of a parsed input.
    pub fn plant_of(&self, input: InputId) -> Option<u32> {
        self.plants.get(&input).copied()
    }

    /// A child of a parsed input, or of any if it is not given.
    pub fn child(&mut self, plant: Option<u32>) -> Option<Vec<u8>> {
        self.grafts.child(plant)
    }
}
