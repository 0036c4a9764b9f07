//! Generational search, as in SAGE (Godefroid, Levin, Molnar: "Automated
//! whitebox fuzz testing", NDSS 2008).
//!
//! One trace is dear and its flips are cheap. So every open flip of a traced run
//! is asked before another input is traced: those past the run's bound, since
//! what lies before it belongs to its parent. The inputs that come of it are
//! executed on the fast half, and wait to be traced, ranked by what they gained:
//! new branches, then new hit counts, then fewer bytes, then age. Seeds go before
//! all of them.
//!
//! SAGE limits how often the same branch is flipped in one run. Here a
//! [`Plan`] takes a sample of each loop first; the rest waits until no input is
//! left to trace. So on a small program the search still ends with every path
//! seen, and on a large one it never comes to the hundredth round of a loop
//! while there is something better.
//!
//! An input costs 16 bytes while it waits. Past [`MOST`] the worse half is given
//! up and counted.

use super::plan::{Look, Next, Plan, Worth};
use super::{Action, InputNews, Strategy, Verdict, View};
use crate::rng::Rng;
use crate::run::{Flip, InputId, RunId};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

/// Inputs that may wait.
const MOST: usize = 4 << 20;
/// Times that a run is traced again because it was dropped with flips left.
const AGAIN: u32 = 3;

#[derive(Default)]
pub struct Generational {
    seeds: VecDeque<InputId>,
    waiting: BinaryHeap<(Rank, Reverse<InputId>)>,
    /// Runs whose flips are being asked, one after another.
    plans: VecDeque<(Plan, Visit)>,
    /// Flips that are not answered yet.
    under_way: HashMap<Flip, Visit>,
    /// Inputs that are being traced not for the first time.
    visits: HashMap<InputId, Visit>,
    /// Runs of which only a sample was asked.
    later: VecDeque<Visit>,
    left_out: u64,
    doing: (InputId, usize),
}

/// What an input gained, greater is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank(u64);

/// A look at the run of an input.
#[derive(Clone, Copy)]
struct Visit {
    input: InputId,
    from: u32,
    look: Look,
    again: u32,
}

impl Rank {
    pub fn new(news: &InputNews) -> Rank {
        let gained = |n: u32| u64::from(n.min(0x7fff));
        let small = u64::from(!news.size);
        // One that crashed or hung comes after all that did not.
        let good = u64::from(!news.bad);
        Rank(good << 63 | gained(news.branches) << 48 | gained(news.buckets) << 33 | small >> 1)
    }
}

impl Strategy for Generational {
    fn next(&mut self, view: &View, _rng: &mut Rng) -> Action {
        while let Some((plan, visit)) = self.plans.front_mut() {
            match plan.next(view) {
                Next::Flip(flip) => {
                    self.doing = (visit.input, plan.len());
                    self.under_way.insert(flip, *visit);
                    return Action::Flip(flip);
                }
                Next::Done => {
                    if plan.left() {
                        self.later.push_back(Visit { look: Look::All, again: 0, ..*visit });
                    }
                    self.plans.pop_front();
                }
                Next::Gone => {
                    let (visit, left) = (*visit, plan.len());
                    self.plans.pop_front();
                    if visit.again < AGAIN {
                        return self.visit(Visit { again: visit.again + 1, ..visit });
                    }
                    self.left_out += left as u64;
                }
            }
        }
        let input = self.seeds.pop_front().or_else(|| Some(self.waiting.pop()?.1.0));
        match (input, self.later.is_empty()) {
            (Some(input), _) => Action::Trace(input),
            (None, false) => match self.later.pop_front() {
                Some(visit) => self.visit(visit),
                None => Action::Wait,
            },
            (None, true) => Action::Wait,
        }
    }

    fn executed(&mut self, _view: &View, news: &InputNews) {
        match (news.input, news.origin) {
            (Some(input), origin) if origin.is_start() => self.seeds.push_back(input),
            (Some(input), _) => self.waiting.push((Rank::new(news), Reverse(input))),
            (None, _) => {}
        }
        self.left_out += keep_better_half(&mut self.waiting, MOST);
    }

    fn traced(&mut self, view: &View, id: RunId) {
        let Some(run) = view.runs.get(id) else { return };
        let first = Visit { input: run.input, from: run.bound, look: Look::First, again: 0 };
        let again = self.visits.remove(&run.input);
        let visit = again.unwrap_or(first);
        let plan = Plan::new(view, id, run, (visit.from, visit.look), |_, _, _| Worth::<()>::First);
        match again {
            // It was dropped while others had their turn.
            Some(_) => self.plans.push_front((plan, visit)),
            None => self.plans.push_back((plan, visit)),
        }
    }

    fn untraceable(&mut self, _view: &View, input: InputId) {
        if self.visits.remove(&input).is_some() {
            self.left_out += 1;
        }
    }

    fn answered(&mut self, _view: &View, flip: Flip, verdict: Verdict) {
        let Some(visit) = self.under_way.remove(&flip) else { return };
        if verdict == Verdict::Gone {
            if visit.again < AGAIN {
                self.later.push_back(Visit { again: visit.again + 1, ..visit });
            } else {
                self.left_out += 1;
            }
        }
    }

    fn doing(&self) -> String {
        let (input, flips) = self.doing;
        format!("input {input}, {flips} flips to go, {} inputs waiting", self.waiting.len())
    }

    fn left_out(&self) -> u64 {
        self.left_out
    }
}

impl Generational {
    fn visit(&mut self, visit: Visit) -> Action {
        self.visits.insert(visit.input, visit);
        Action::Trace(visit.input)
    }
}

/// Drops the worse half of a heap that has grown past `most`. Says how many.
pub(super) fn keep_better_half<T: Ord>(heap: &mut BinaryHeap<T>, most: usize) -> u64 {
    if heap.len() <= most {
        return 0;
    }
    let mut all = std::mem::take(heap).into_sorted_vec();
    let worse = all.len() / 2;
    all.drain(..worse);
    *heap = all.into();
    worse as u64
}
