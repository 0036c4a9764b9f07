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
    /// The numbers of the trees of inputs.
    trees: HashMap<InputId, u32>,
    /// How many inputs of the queue and words of the dictionary were added.
    seen: usize,
    words: usize,
}

impl Stock {
    pub fn new(grafts: Grafts) -> Stock {
        Stock { grafts, trees: HashMap::new(), seen: 0, words: 0 }
    }

    /// How many inputs of the queue were added.
    pub fn seen(&self) -> usize {
        self.seen
    }

    /// Parses the next inputs of the queue. `seen` inputs of it are added then.
    pub fn add_inputs(&mut self, inputs: &[(InputId, Arc<[u8]>)], seen: usize) {
        for (id, bytes) in inputs {
            if pleach_work::is_stopping() {
                return;
            }
            if let Some(tree) = self.grafts.add(bytes) {
                self.trees.insert(*id, tree);
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

    /// The number of the tree of an input, if it was parsed.
    pub fn tree_of(&self, input: InputId) -> Option<u32> {
        self.trees.get(&input).copied()
    }

    /// A child of a tree, or of a random one if none is given.
    pub fn child(&mut self, tree: Option<u32>) -> Option<Vec<u8>> {
        self.grafts.child(tree)
    }
}
