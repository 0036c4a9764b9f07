//! Bounded depth-first search: every feasible path of the program once.
//!
//! The open flips of the latest run are asked first, the deepest before the others. The result
//! of a solved flip is traced at once and adds its own flips. The tree remembers which edges
//! were taken or asked for, so no path is run twice. When the stack is empty, every path
//! within the bound was run. The bound counts decisions from the start of a path. (CREST counts only
//! decisions that are feasible both ways; that is known only after solving.)
//!
//! The stack holds runs, each with the place from which on its flips were asked. The result of
//! a flip has all flips that its parent still has, so it takes the place of its parent. If a
//! run was dropped from memory, its input is traced again.

use super::{Action, Descriptor, ExecutionReport, Strategy, Verdict, View};
use crate::rng::Rng;
use crate::run::{Flip, InputId, Run, RunId};
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
    /// Runs that may have open flips, the next on top.
    stack: Vec<Pending>,
    /// Inputs that are being traced again, and the dropped run of each.
    retracing: HashMap<InputId, RunId>,
    /// Flips under way, each with the input of its run.
    asked: HashMap<Flip, InputId>,
    current_depth: u32,
}

/// The flips of a run that are not asked yet.
#[derive(Clone, Copy, Debug)]
struct Pending {
    run: RunId,
    /// Its input, to trace it again if the run is dropped.
    input: InputId,
    /// No flip from this decision on is open.
    end: u32,
}

impl Dfs {
    fn new(max_depth: u32) -> Dfs {
        Dfs {
            max_depth,
            inputs: VecDeque::new(),
            stack: Vec::new(),
            retracing: HashMap::new(),
            asked: HashMap::new(),
            current_depth: 0,
        }
    }
}

impl Pending {
    /// The deepest open flip. Behind it, none is open.
    fn next(&mut self, view: &View, run: &Run) -> Option<Flip> {
        while self.end > 0 {
            let at = self.end - 1;
            let decision = &run.decisions[at as usize];
            let open = decision.others().filter(|&o| run.is_open(view.tree, at, o)).last();
            if let Some(outcome) = open {
                return Some(Flip { run: self.run, at, outcome });
            }
            self.end = at;
        }
        None
    }

    /// True if a run has all of these flips, too.
    fn is_part_of(&self, view: &View, run: &Run) -> bool {
        let (Some(own), Some(last)) = (view.runs.get(self.run), self.end.checked_sub(1)) else {
            return false;
        };
        let place = |run: &Run| {
            let decision = run.decisions.get(last as usize)?;
            Some((run.nodes[last as usize], decision.key))
        };
        let has_others = run.is_common || run.own_from > own.own_from;
        place(run).is_some() && place(run) == place(own) && !has_others
    }
}

impl Strategy for Dfs {
    fn next(&mut self, view: &View, _rng: &mut Rng) -> Action {
        if let Some(input) = self.inputs.pop_front() {
            return Action::Trace(input);
        }
        while let Some(pending) = self.stack.last_mut() {
            let Some(run) = view.runs.get(pending.run) else {
                // Its flips stay on the stack until it was traced again.
                let &mut Pending { run, input, .. } = pending;
                if self.retracing.contains_key(&input) {
                    return Action::Wait;
                }
                self.retracing.insert(input, run);
                return Action::Trace(input);
            };
            if let Some(flip) = pending.next(view, run) {
                self.current_depth = flip.at;
                self.asked.insert(flip, pending.input);
                return Action::Flip(flip);
            }
            self.stack.pop();
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
        let len = run.decisions.len() as u32;
        if let Some(old) = self.retracing.remove(&run.input) {
            let of_old = self.stack.iter_mut().filter(|pending| pending.run == old);
            of_old.for_each(|pending| (pending.run, pending.end) = (id, pending.end.min(len)));
            return;
        }
        // Its parent has the same flips before the one that it is the result of.
        if self.stack.last().is_some_and(|parent| parent.is_part_of(view, run)) {
            self.stack.pop();
        }
        let end = len.min(self.max_depth);
        self.stack.push(Pending { run: id, input: run.input, end });
    }

    fn record_trace_failure(&mut self, _view: &View, input: InputId) {
        if let Some(old) = self.retracing.remove(&input) {
            self.stack.retain(|pending| pending.run != old);
        }
    }

    fn record_verdict(&mut self, _view: &View, flip: Flip, verdict: Verdict) {
        let Some(input) = self.asked.remove(&flip).filter(|_| verdict == Verdict::Gone) else {
            return;
        };
        // It is open again.
        let (run, end) = (flip.run, flip.at + 1);
        match self.stack.iter_mut().find(|pending| pending.run == run) {
            Some(pending) => pending.end = pending.end.max(end),
            None => self.stack.push(Pending { run, input, end }),
        }
    }

    fn doing(&self) -> String {
        format!("depth {}, {} runs with open flips", self.current_depth, self.stack.len())
    }
}
