//! Bounded depth-first search: every feasible path of the program once.
//!
//! A traced run puts its open flips on a stack, the deepest on top. The result of a solved
//! flip is traced at once and adds its own flips. The tree remembers which edges were taken
//! or asked for, so no path is run twice. When the stack is empty, every path within the
//! bound was run. The bound counts decisions from the start of a path. (CREST counts only
//! decisions that are feasible both ways; that is known only after solving.)
//!
//! The stack holds flips, not runs. If a run was dropped from memory, its input is traced
//! again.

use super::{Action, Descriptor, ExecutionReport, Strategy, Verdict, View};
use crate::rng::Rng;
use crate::run::{Flip, InputId, RunId};
use std::collections::{HashMap, VecDeque};

pub(super) const DESCRIPTOR: Descriptor = Descriptor {
    name: "dfs",
    about: "depth-first: runs every feasible path once, at most --depth decisions deep",
    use_for: "small programs; showing that every path was run",
    exhausts: true,
    relaxes: false,
    splits_paths: true,
    make: |o| Box::new(Dfs::new(o.depth)),
    ..Descriptor::COMMON
};

struct Dfs {
    max_depth: u32,
    /// Inputs to trace: results of flips, then the seeds in their order.
    inputs: VecDeque<InputId>,
    /// Open flips, the next on top.
    stack: Vec<Flip>,
    /// The input of each run on the stack, to trace it again if the run is dropped.
    input_of: HashMap<RunId, InputId>,
    /// Inputs that are being traced again, and the dropped run of each.
    retracing: HashMap<InputId, RunId>,
    current_depth: u32,
}

impl Dfs {
    fn new(max_depth: u32) -> Dfs {
        Dfs {
            max_depth,
            inputs: VecDeque::new(),
            stack: Vec::new(),
            input_of: HashMap::new(),
            retracing: HashMap::new(),
            current_depth: 0,
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
                // The flip stays on the stack until its run was traced again.
                self.stack.push(flip);
                return match self.input_of.get(&flip.run) {
                    Some(&input) if !self.retracing.contains_key(&input) => {
                        self.retracing.insert(input, flip.run);
                        Action::Trace(input)
                    }
                    Some(_) => Action::Wait,
                    None => {
                        self.stack.pop();
                        continue;
                    }
                };
            };
            if run.is_open(view.tree, flip.at, flip.outcome) {
                self.current_depth = flip.at;
                return Action::Flip(flip);
            }
        }
        Action::Wait
    }

    fn record_execution(&mut self, _view: &View, news: &ExecutionReport) {
        match (news.input, news.origin) {
            (Some(input), origin) if origin.is_start() => self.inputs.push_back(input),
            (Some(input), _) => self.inputs.push_front(input),
            (None, _) => {}
        }
    }

    fn record_trace(&mut self, view: &View, id: RunId) {
        let Some(run) = view.runs.get(id) else { return };
        self.input_of.insert(id, run.input);
        if let Some(old) = self.retracing.remove(&run.input) {
            self.stack.iter_mut().filter(|f| f.run == old).for_each(|f| f.run = id);
            self.input_of.remove(&old);
            return;
        }
        let flips = run.open(view.tree, 0).take_while(|(at, _)| *at < self.max_depth);
        self.stack.extend(flips.map(|(at, outcome)| Flip { run: id, at, outcome }));
    }

    fn record_trace_failure(&mut self, _view: &View, input: InputId) {
        if let Some(old) = self.retracing.remove(&input) {
            self.stack.retain(|f| f.run != old);
        }
    }

    fn record_verdict(&mut self, _view: &View, flip: Flip, verdict: Verdict) {
        if verdict == Verdict::Gone {
            self.stack.push(flip);
        }
    }

    fn doing(&self) -> String {
        format!("depth {}, {} flips open", self.current_depth, self.stack.len())
    }
}
