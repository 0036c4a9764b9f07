//! Bounded depth-first search: every feasible path of the program once.
//!
//! Each traced run leaves its open flips on a stack, the deepest on top; the
//! run of a solved flip is traced at once and adds its own. The tree says which
//! edges were taken or asked for already, so no path is run twice, and when the
//! stack is empty every path within the bound has been seen. The bound counts
//! decisions from the start of a path (CREST counts those that are feasible
//! both ways, which is known only after asking).
//!
//! The stack holds what one path leaves open, times the depth of the search,
//! and not the runs: a run that was dropped meanwhile is traced again.

use super::{Action, InputNews, Strategy, Verdict, View};
use crate::rng::Rng;
use crate::run::{Flip, InputId, RunId};
use std::collections::{HashMap, VecDeque};

pub struct Dfs {
    depth: u32,
    /// Inputs that wait to be traced; the seeds in their order, results of
    /// flips before them.
    inputs: VecDeque<InputId>,
    /// Open flips, the next on top.
    stack: Vec<Flip>,
    /// The input of each run on the stack, for those that are dropped.
    input_of: HashMap<RunId, InputId>,
    /// Inputs that are traced again, and the run that each replaces.
    again: HashMap<InputId, RunId>,
    depth_now: u32,
}

impl Dfs {
    pub fn new(depth: u32) -> Dfs {
        Dfs {
            depth,
            inputs: VecDeque::new(),
            stack: Vec::new(),
            input_of: HashMap::new(),
            again: HashMap::new(),
            depth_now: 0,
        }
    }
}

impl Strategy for Dfs {
    fn next(&mut self, view: &View, _rng: &mut Rng) -> Action {
        if let Some(input) = self.inputs.pop_front() {
            return Action::Trace(input);
        }
        while let Some(flip) = self.stack.pop() {
            let Some(run) = view.runs.get(flip.run) else {
                // Back on the stack until the run is there again.
                self.stack.push(flip);
                return match self.input_of.get(&flip.run) {
                    Some(&input) if !self.again.contains_key(&input) => {
                        self.again.insert(input, flip.run);
                        Action::Trace(input)
                    }
                    Some(_) => Action::Wait,
                    None => {
                        self.stack.pop();
                        continue;
                    }
                };
            };
            let open =
                run.flipped(flip.at, flip.outcome).is_some_and(|n| view.tree.mark(n).is_none());
            if open {
                self.depth_now = flip.at;
                return Action::Flip(flip);
            }
        }
        Action::Wait
    }

    fn executed(&mut self, _view: &View, news: &InputNews) {
        match (news.input, news.origin) {
            (Some(input), origin) if origin.is_start() => self.inputs.push_back(input),
            (Some(input), _) => self.inputs.push_front(input),
            (None, _) => {}
        }
    }

    fn traced(&mut self, view: &View, id: RunId) {
        let Some(run) = view.runs.get(id) else { return };
        self.input_of.insert(id, run.input);
        if let Some(old) = self.again.remove(&run.input) {
            self.stack.iter_mut().filter(|f| f.run == old).for_each(|f| f.run = id);
            self.input_of.remove(&old);
            return;
        }
        let flips = run.open(view.tree, 0).take_while(|(at, _)| *at < self.depth);
        self.stack.extend(flips.map(|(at, outcome)| Flip { run: id, at, outcome }));
    }

    fn untraceable(&mut self, _view: &View, input: InputId) {
        if let Some(old) = self.again.remove(&input) {
            self.stack.retain(|f| f.run != old);
        }
    }

    fn answered(&mut self, _view: &View, flip: Flip, verdict: Verdict) {
        if verdict == Verdict::Gone {
            self.stack.push(flip);
        }
    }

    fn doing(&self) -> String {
        format!("depth {}, {} flips open", self.depth_now, self.stack.len())
    }
}
