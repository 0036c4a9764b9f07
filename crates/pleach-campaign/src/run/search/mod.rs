//! The search: what was decided so far, what is covered, and who chooses what to do next.
//!
//! A [`Search`] is a strategy with its tree and its runs. The campaign has one; a search
//! from the state of a live run is another, with a tree of its own and the coverage of the
//! campaign.

mod conditions;
mod lengths;
mod map;

pub use conditions::Conditions;

pub use lengths::{AskedLengths, find_lengths, follow_lengths, holes_of};
pub use map::{Decided, Map, Sites, records, token_functions};

use crate::run::corpus::Record;
use crate::run::ring::PredictedPath;
use pleach_abi::event::Kind;
use pleach_search::{
    Action, BranchId, Counts, Coverage, Flip, Gain, InputId, Mark, Program, Rng, Run, RunId, Runs,
    Strategy, Tree, Verdict, View,
};
use pleach_solve::Goal;
use pleach_template::solve::{Request, Tokens, Traced};
use std::collections::HashMap;
use std::sync::Arc;

pub struct Search {
    pub strategy: Box<dyn Strategy>,
    pub rng: Rng,
    pub tree: Tree,
    pub runs: Runs,
    /// What flips of the runs need.
    traces: HashMap<RunId, Arc<Traced>>,
    /// Flips under way. A run may be dropped before its flip is answered.
    under_way: HashMap<Flip, Edge>,
    /// How often the tree had forgotten edges when runs were entered last.
    times_forgotten: u64,
}

/// What a strategy may see besides its own search.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    pub program: &'a Program,
    pub coverage: &'a Coverage,
}

/// An edge of the tree that is asked for.
#[derive(Clone, Copy, Debug)]
struct Edge {
    node: u64,
    /// The input that it is asked of, and the edge that its run took there.
    of: InputId,
    taken: u64,
}

/// What a flip asks the solver, and what its result should do.
pub struct Question {
    pub traced: Arc<Traced>,
    pub goal: Goal,
    pub predicted: PredictedPath,
    /// The input of the run that is flipped.
    pub parent: InputId,
    pub kind: Kind,
    /// What is decided: the same decision in another run has the same key.
    pub key: u64,
    /// The branch that is asked for.
    pub branch: Option<BranchId>,
    /// The decisions before it that hold a value.
    pub pins: Vec<Pin>,
}

/// A decision that holds an address or a jump to its value.
#[derive(Clone, Copy, Debug)]
pub struct Pin {
    pub at: u32,
    /// The hash of its site; 0 if it is not known.
    pub site: u64,
}

impl Search {
    pub fn new(strategy: Box<dyn Strategy>, rng: Rng, tree: Tree, max_memory: usize) -> Search {
        Search {
            strategy,
            rng,
            tree,
            runs: Runs::new(max_memory),
            traces: HashMap::new(),
            under_way: HashMap::new(),
            times_forgotten: 0,
        }
    }

    /// Enters the latest runs into the tree again after it has forgotten edges: their flips
    /// are asked next, and should not ask for what the others took. Most of the tree stays
    /// free.
    fn remember_runs(&mut self) {
        let Search { tree, runs, times_forgotten, .. } = self;
        // What was not forgotten is on disk.
        let times = if tree.forgotten().edges > 0 { tree.forgotten().times } else { 0 };
        if times == std::mem::replace(times_forgotten, times) {
            return;
        }
        for run in runs.iter().rev() {
            if !tree.is_sparse() || tree.forgotten().times != times {
                break;
            }
            run.enter(tree);
        }
        *times_forgotten = tree.forgotten().times;
    }

    /// The next action of the strategy.
    pub fn choose(&mut self, facts: Facts) -> Action {
        let Search { strategy, rng, tree, runs, .. } = self;
        let action = strategy.next(&facts.view(tree, runs), rng);
        if let Action::Flip(flip) = action {
            let edge = runs.get(flip.run).and_then(|run| {
                let node = run.flipped(flip.at, flip.outcome)?;
                Some(Edge { node, of: run.input, taken: run.nodes[flip.at as usize + 1] })
            });
            if let Some(edge) = edge {
                // No other worker asks the same.
                tree.set(edge.node, Mark::Asked);
                self.under_way.insert(flip, edge);
            }
        }
        action
    }

    /// Tells the strategy something.
    pub fn tell(&mut self, facts: Facts, news: impl FnOnce(&mut dyn Strategy, &View)) {
        let Search { strategy, tree, runs, .. } = self;
        news(&mut **strategy, &facts.view(tree, runs));
    }

    /// What a flip asks; `None` if its run was dropped.
    pub fn question(&self, flip: Flip) -> Option<Question> {
        let traced = self.traces.get(&flip.run)?.clone();
        let run = self.runs.get(flip.run)?;
        let decision = run.decisions.get(flip.at as usize)?;
        let goal = match decision.kind {
            Kind::Switch => Goal::Case(flip.outcome),
            Kind::Indirect if decision.is_pin() => Goal::Other,
            Kind::Indirect => Goal::Case(flip.outcome),
            _ => Goal::Not,
        };
        let before = run.nodes[flip.at as usize];
        // Flipped, these show up as another decision, or as none: a byte in a buffer that a
        // longer input fills is only read.
        let is_longer = decision.kind == Kind::Len && flip.outcome == 1;
        let changes_key = decision.is_pin() || is_longer;
        let (decisions, node) = match changes_key {
            true => (flip.at, before),
            false => (flip.at + 1, Tree::child(before, decision.key, flip.outcome)),
        };
        // Nothing is certain where decisions were left out before the flip, or where only
        // the symbolic half has been.
        let optimistic = flip.at >= run.shown().min(run.complete);
        let (check, on_tokens) = (decision.kind.is_check(), run.tokens);
        let pin = |&at: &u32| Pin { at, site: run.decisions[at as usize].pin_site().unwrap_or(0) };
        let pins = run.pins.iter().take_while(|&&pin| pin < flip.at).map(pin).collect();
        let predicted = PredictedPath { flip, decisions, node, optimistic, check, on_tokens };
        Some(Question {
            traced,
            goal,
            predicted,
            parent: run.input,
            kind: decision.kind,
            key: decision.key,
            branch: decision.branch(flip.outcome),
            pins,
        })
    }

    /// A flip was answered: marks the tree, and tells the strategy. Returns the record for
    /// the journal.
    pub fn answer(&mut self, facts: Facts, flip: Flip, verdict: Verdict) -> Option<Record> {
        let mark = match verdict {
            Verdict::Sat => Some(Mark::Sat),
            Verdict::Optimistic => Some(Mark::Optimistic),
            Verdict::Unsat => Some(Mark::Unsat),
            Verdict::Unknown => Some(Mark::Unknown),
            Verdict::Gone => None,
        };
        let edge = self.under_way.remove(&flip);
        let record = edge.and_then(|Edge { node, of, taken }| match mark {
            Some(mark) => {
                self.tree.set(node, mark);
                Some(Record::Flip { node, mark, of, taken })
            }
            None => {
                self.tree.withdraw(node);
                None
            }
        });
        self.tell(facts, |strategy, view| strategy.record_verdict(view, flip, verdict));
        record
    }

    /// Adds a traced run that is in the tree already, and tells the strategy.
    pub fn add_run(&mut self, facts: Facts, run: Run, traced: Arc<Traced>) -> AddedRun {
        let (id, dropped) = self.runs.add(run);
        let dropped = dropped.into_iter().map(|(id, run)| (run, self.traces.remove(&id))).collect();
        self.traces.insert(id, traced);
        self.remember_runs();
        self.tell(facts, |strategy, view| strategy.record_trace(view, id));
        AddedRun { id, dropped }
    }

    /// The branch that a flip asks for.
    pub fn branch_of(&self, flip: Flip) -> Option<BranchId> {
        self.runs.get(flip.run)?.decisions.get(flip.at as usize)?.branch(flip.outcome)
    }
}

/// A run that was added to the search.
pub struct AddedRun {
    pub id: RunId,
    /// Older runs that were dropped for it. To free them takes long, so whoever holds the
    /// lock on the state frees them later.
    #[expect(dead_code, reason = "they are only freed")]
    pub dropped: Vec<(Run, Option<Arc<Traced>>)>,
}

impl Question {
    /// The request to the solver.
    pub fn request<'a>(
        &'a self,
        flip: Flip,
        tokens: Option<Tokens<'a>>,
        max_hole: u32,
    ) -> Request<'a> {
        Request {
            run: flip.run,
            traced: &self.traced,
            at: flip.at,
            goal: self.goal,
            outcome: flip.outcome,
            tokens,
            max_hole,
        }
    }
}

impl<'a> Facts<'a> {
    fn view(self, tree: &'a Tree, runs: &'a Runs) -> View<'a> {
        View { program: self.program, coverage: self.coverage, tree, runs }
    }
}

/// What the kept inputs cover.
pub struct Covered {
    /// By inputs of the queue.
    pub kept: Coverage,
    /// By crashes and hangs. The strategy does not see it: if only a crash took a branch,
    /// an input that takes it and lives is still worth finding.
    pub crashed: Coverage,
}

impl Covered {
    pub fn new(program: &Program) -> Covered {
        Covered { kept: Coverage::new(program), crashed: Coverage::new(program) }
    }

    /// The branches of a crash or a hang that no run took before.
    pub fn gain_of_crash(&mut self, counts: &Counts) -> Gain {
        let mut gain = self.crashed.news(counts);
        gain.branches.retain(|&b| !self.kept.has(b));
        gain.buckets.clear();
        gain
    }

    pub fn together(&self, program: &Program) -> Coverage {
        self.kept.with(&self.crashed, program)
    }

    /// Branches that a second run did not confirm.
    pub fn doubted(&self) -> u64 {
        (self.kept.doubted() + self.crashed.doubted()) as u64
    }
}
