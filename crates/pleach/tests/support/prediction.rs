//! Where a run leaves the path of another one: as predicted, and as it did.
//!
//! A trace is a list of decisions. Two traces are on one path up to the first
//! decision at another site, of another kind, or with another outcome. The
//! conditions of one trace, evaluated on another input, predict where that is;
//! a trace of the other input shows where it was. When the two differ, some
//! condition was wrong, or a decision had none.
//!
//! The outcome of a switch is where it goes: two values that no case names, or
//! that share a case's body, are one outcome. That of a pinned value is the
//! value.

use pleach_abi::event::{Event, Kind};
use pleach_campaign::trace::kind;
use pleach_campaign::{Layout, Trace};
use pleach_expr::{Arg, Input};

/// One decision, as far as another run can share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    site: u32,
    kind: Kind,
    /// What `Len` and checks compare with.
    bound: u32,
    outcome: u128,
}

/// A trace as a list of decisions.
pub struct Path<'a> {
    trace: &'a Trace,
    layout: &'a Layout,
    steps: Vec<Step>,
}

impl<'a> Path<'a> {
    pub fn new(trace: &'a Trace, layout: &'a Layout) -> Path<'a> {
        let mut path = Path { trace, layout, steps: Vec::new() };
        path.steps = trace
            .events
            .iter()
            .map(|e| Step {
                site: e.site,
                kind: kind(e),
                bound: e.aux,
                outcome: match kind(e) {
                    Kind::Switch | Kind::Indirect => path.target(e, trace.expr.recorded(e.label)),
                    Kind::Pin => path.pinned(e),
                    _ => e.dir.into(),
                },
            })
            .collect();
        path
    }

    /// The first decision whose condition comes out otherwise on `input`.
    pub fn predict(&self, input: &Input) -> Option<usize> {
        let values = self.trace.expr.eval_all(input);
        self.trace.events.iter().zip(&self.steps).position(|(e, step)| {
            let outcome = match step.kind {
                Kind::Len => (input.length(e.stream.into()) > e.aux.into()).into(),
                Kind::Switch | Kind::Indirect => self.target(e, values.get(e.label)),
                Kind::Pin if values.get(e.label) == 1 => step.outcome,
                Kind::Pin => !step.outcome,
                _ => values.get(e.label),
            };
            outcome != step.outcome
        })
    }

    /// The first decision that `other` does not share.
    pub fn leaves(&self, other: &Path) -> Option<usize> {
        let shared = self.steps.iter().zip(&other.steps).take_while(|(a, b)| a == b).count();
        (shared < self.steps.len().max(other.steps.len())).then_some(shared)
    }

    /// Whether `other` took the decision at `at` too, with another outcome.
    pub fn turns(&self, other: &Path, at: usize) -> bool {
        match (self.steps.get(at), other.steps.get(at)) {
            // A shorter input meets its end at another read or another bound.
            (Some(a), Some(b)) if a.kind == Kind::Len => b.kind == Kind::Len,
            (Some(a), Some(b)) => (a.site, a.kind) == (b.site, b.kind) && a.outcome != b.outcome,
            _ => false,
        }
    }

    /// The value that a pin compares with.
    fn pinned(&self, event: &Event) -> u128 {
        match self.trace.expr.pair(event.label) {
            (_, Arg::Const(value)) | (Arg::Const(value), _) => value,
            (Arg::Label(_), Arg::Label(of)) => self.trace.expr.recorded(of),
        }
    }

    /// Where a switch goes for a value; the value itself where the tables do not say.
    fn target(&self, event: &Event, value: u128) -> u128 {
        let Some((_, site)) = self.trace.place(self.layout, event) else { return value };
        if kind(event) != Kind::Switch || site.targets.len() != site.cases.len() + 1 {
            return value;
        }
        let case = site.cases.iter().position(|&c| u128::from(c) == value);
        site.targets[case.unwrap_or(site.cases.len())].into()
    }
}
