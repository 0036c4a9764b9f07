//! Generational search, as in SAGE (Godefroid, Levin and Molnar: "Automated whitebox fuzz
//! testing", NDSS 2008).
//!
//! A trace is expensive and its flips are cheap. So every open flip of a traced run is
//! asked before another input is traced. Only flips past the run's bound count; earlier
//! ones belong to its parent. The results are executed on the fast half and wait to be
//! traced. They are ranked by what they gained: new branches, then new hit counts, then
//! fewer bytes, then age. Seeds come first.
//!
//! SAGE limits how often the same branch is flipped in one run. Here a [`Plan`] takes a
//! sample of each loop first. The rest of the loop waits until no input is left to trace.
//! So a search of a small program still ends with every path run, and a search of a large
//! one does not spend its time in the hundredth round of a loop.
//!
//! A waiting input takes 16 bytes. If more than [`MAX_WAITING_INPUTS`] wait, or fewer if
//! memory is short, the worse half is dropped and counted.

use super::plan::{Look, Next, Plan, Worth};
use super::{Action, Descriptor, ExecutionReport, Strategy, Verdict, View};
use crate::rng::Rng;
use crate::run::{Flip, InputId, RunId};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

pub(super) const DESCRIPTOR: Descriptor = Descriptor {
    name: "generational",
    about: "flips every branch of a run, then takes the input that covered most (SAGE)",
    use_for: "long runs, where a trace is expensive",
    exhausts: true,
    make: |o| Box::new(Generational::new(o.max_waiting)),
    ..Descriptor::COMMON
};

const MAX_WAITING_INPUTS: usize = 4 << 20;
/// How often a run is traced again because it was dropped with open flips.
const MAX_RETRACES: u32 = 3;

#[derive(Default)]
pub(super) struct Generational {
    seeds: VecDeque<InputId>,
    waiting: BinaryHeap<(Rank, Reverse<InputId>)>,
    /// Runs whose flips are being asked, one run after another.
    plans: VecDeque<(Plan, Visit)>,
    /// Flips that are not answered yet.
    under_way: HashMap<Flip, Visit>,
    /// Inputs that are being traced again.
    retracing: HashMap<InputId, Visit>,
    /// Runs that have more flips, to be traced again when no input waits.
    later: VecDeque<Visit>,
    left_out: u64,
    max_waiting: usize,
    /// The input whose flips are asked, and how many of them are left.
    current: (InputId, usize),
}

/// What an input gained. A greater rank is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank(u64);

/// One pass over the flips of an input's run.
#[derive(Clone, Copy)]
struct Visit {
    input: InputId,
    /// The first decision to flip.
    from: u32,
    look: Look,
    /// How often the input was traced again for this pass.
    retraces: u32,
}

impl Rank {
    pub fn new(news: &ExecutionReport) -> Rank {
        let gained = |n: u32| u64::from(n.min(0x7fff));
        let small = u64::from(!news.size);
        // Inputs that crash or hang come last.
        let good = u64::from(!news.bad);
        Rank(good << 63 | gained(news.branches) << 48 | gained(news.buckets) << 33 | small >> 1)
    }
}

impl Strategy for Generational {
    fn next(&mut self, view: &View, _rng: &mut Rng) -> Action {
        while let Some((plan, visit)) = self.plans.front_mut() {
            match plan.next(view) {
                Next::Flip(flip) => {
                    self.current = (visit.input, plan.len());
                    self.under_way.insert(flip, *visit);
                    return Action::Flip(flip);
                }
                Next::Done => {
                    if plan.has_unsampled() {
                        self.later.push_back(Visit { look: Look::All, retraces: 0, ..*visit });
                    }
                    self.plans.pop_front();
                }
                Next::Gone => {
                    let (visit, left) = (*visit, plan.len());
                    self.plans.pop_front();
                    if visit.retraces < MAX_RETRACES {
                        return self.retrace(Visit { retraces: visit.retraces + 1, ..visit });
                    }
                    self.left_out += left as u64;
                }
            }
        }
        let input = self.seeds.pop_front().or_else(|| Some(self.waiting.pop()?.1.0));
        match (input, self.later.is_empty()) {
            (Some(input), _) => Action::Trace(input),
            (None, false) => match self.later.pop_front() {
                Some(visit) => self.retrace(visit),
                None => Action::Wait,
            },
            (None, true) => Action::Wait,
        }
    }

    fn record_execution(&mut self, _view: &View, news: &ExecutionReport) {
        match (news.input, news.origin) {
            (Some(input), origin) if origin.is_start() => self.seeds.push_back(input),
            (Some(input), _) => self.waiting.push((Rank::new(news), Reverse(input))),
            (None, _) => {}
        }
        self.left_out += keep_better_half(&mut self.waiting, self.max_waiting);
    }

    fn record_trace(&mut self, view: &View, id: RunId) {
        let Some(run) = view.runs.get(id) else { return };
        let first = Visit { input: run.input, from: run.bound, look: Look::First, retraces: 0 };
        let earlier = self.retracing.remove(&run.input);
        let visit = earlier.unwrap_or(first);
        let plan = Plan::new(view, id, run, (visit.from, visit.look), |_, _, _| Worth::<()>::First);
        match earlier {
            // Its turn had begun already.
            Some(_) => self.plans.push_front((plan, visit)),
            None => self.plans.push_back((plan, visit)),
        }
    }

    fn record_trace_failure(&mut self, _view: &View, input: InputId) {
        if self.retracing.remove(&input).is_some() {
            self.left_out += 1;
        }
    }

    fn record_verdict(&mut self, _view: &View, flip: Flip, verdict: Verdict) {
        let Some(visit) = self.under_way.remove(&flip) else { return };
        if verdict == Verdict::Gone {
            if visit.retraces < MAX_RETRACES {
                self.later.push_back(Visit { retraces: visit.retraces + 1, ..visit });
            } else {
                self.left_out += 1;
            }
        }
    }

    fn doing(&self) -> String {
        let (input, flips) = self.current;
        format!("input {input}, {flips} flips left, {} inputs waiting", self.waiting.len())
    }

    fn left_out(&self) -> u64 {
        self.left_out
    }
}

impl Generational {
    /// A search in which the number of inputs that wait to be traced is limited.
    pub fn new(max_waiting: usize) -> Generational {
        let max_waiting = max_waiting.min(MAX_WAITING_INPUTS);
        Generational { max_waiting, ..Generational::default() }
    }

    fn retrace(&mut self, visit: Visit) -> Action {
        self.retracing.insert(visit.input, visit);
        Action::Trace(visit.input)
    }
}

/// Drops the worse half of a heap that has more than `max_len` entries. Returns how many
/// entries it dropped.
pub(super) fn keep_better_half<T: Ord>(heap: &mut BinaryHeap<T>, max_len: usize) -> u64 {
    if heap.len() <= max_len {
        return 0;
    }
    let mut all = std::mem::take(heap).into_sorted_vec();
    let worse = all.len() / 2;
    all.drain(..worse);
    *heap = all.into();
    worse as u64
}
