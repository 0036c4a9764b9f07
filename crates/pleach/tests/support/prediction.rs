//! Where a run leaves the path of another run: as predicted, and in fact.
//!
//! A trace is a list of decisions. Two traces are on the same path up to the first decision
//! at another site, of another kind, or with another outcome. The conditions of one trace,
//! evaluated on another input, predict where that is. A trace of the other input shows where
//! it is in fact. If the two differ, a condition was wrong, or a decision had none.
//!
//! In four cases decisions are compared differently:
//! - The outcome of a switch is the case that it takes, so all values without a case are one
//!   outcome. The outcome of a pin is the value.
//! - A check compares an address with the object that contains it in this run. Two checks
//!   are the same decision only if each holds on the input of the other. If an address has
//!   left its object, the other run may know no object there, and then it has no check.
//! - A byte past the end of the input has no label. What a program decides on it (often it
//!   is the zero of a cleared buffer) is an event of the longer input alone. Such events are
//!   skipped as long as their outcome is the same on both inputs; if it is not, no condition
//!   can predict that. Instead of them the shorter input has one event, "the input is not
//!   longer". It is skipped as long as the decisions of the longer input there have the same
//!   outcome.
//! - A decision on the length contains a number of its own run. Two such decisions at one
//!   place are the same if this path's holds on the other input.

use pleach_abi::event::{Event, Kind};
use pleach_exec::trace::kind;
use pleach_exec::{Layout, Trace, container};
use pleach_expr::Arg;

/// The part of a decision that another run can share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    site: u32,
    kind: Kind,
    /// The number that `Len` compares with.
    bound: u32,
    outcome: u128,
}

impl Step {
    /// True for "the input is not longer".
    fn is_end(&self) -> bool {
        self.kind == Kind::Len && self.outcome == 0
    }
}

/// A trace as a list of decisions, with the input that made it.
pub struct Path<'a> {
    trace: &'a Trace,
    layout: &'a Layout,
    input: &'a [u8],
    steps: Vec<Step>,
}

/// Where two traces part: the number of the decision in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parting {
    pub here: usize,
    pub there: usize,
}

impl<'a> Path<'a> {
    pub fn new(trace: &'a Trace, layout: &'a Layout, input: &'a [u8]) -> Path<'a> {
        let mut path = Path { trace, layout, input, steps: Vec::new() };
        let step = |e: &Event| Step {
            site: e.site,
            kind: kind(e),
            bound: if kind(e) == Kind::Len { e.aux } else { 0 },
            outcome: match kind(e) {
                Kind::Switch | Kind::Indirect => path.case(e, trace.expr.recorded(e.label)),
                Kind::Pin => path.pinned(e),
                _ => e.dir.into(),
            },
        };
        path.steps = trace.events.iter().map(step).collect();
        path
    }

    /// The first decision with another outcome on `input`.
    pub fn predict(&self, input: &[u8]) -> Option<usize> {
        self.same_outcomes(input).iter().position(|same| !same)
    }

    /// For each decision, true if its outcome is the same on `input`.
    fn same_outcomes(&self, input: &[u8]) -> Vec<bool> {
        let input = container::view(input);
        let values = self.trace.expr.eval_all(&input);
        let is_same = |(e, step): (&Event, &Step)| match step.kind {
            Kind::Len => (input.length(e.stream.into()) > e.aux.into()) == (e.dir == 1),
            Kind::Switch | Kind::Indirect => self.case(e, values.get(e.label)) == step.outcome,
            // Its condition is that the value is the pinned one.
            Kind::Pin => values.get(e.label) == 1,
            _ => values.get(e.label) == step.outcome,
        };
        self.trace.events.iter().zip(&self.steps).map(is_same).collect()
    }

    /// Where `other` leaves this path.
    pub fn leaves(&self, other: &Path) -> Option<Parting> {
        let (same_here, same_there) =
            (self.same_outcomes(other.input), other.same_outcomes(self.input));
        // True if a byte that the other input lacks decides, and a zero there would decide
        // otherwise.
        let cut_off = |here: usize, there: usize| {
            !same_here[here] && self.reads_beyond(here, other)
                || !same_there[there] && other.reads_beyond(there, self)
        };
        let (mut here, mut there) = (0, 0);
        loop {
            match (self.steps.get(here), other.steps.get(there)) {
                (None, None) => return None,
                (Some(a), Some(b))
                    if a == b
                        && (!a.kind.is_check() || same_here[here] && same_there[there])
                        && !cut_off(here, there) =>
                {
                    here += 1;
                    there += 1;
                }
                (Some(a), Some(b))
                    if same_here[here]
                        && a.kind == Kind::Len
                        && (Step { bound: a.bound, ..*b }) == *a =>
                {
                    here += 1;
                    there += 1;
                }
                (Some(a), _) if same_here[here] && a.is_end() => here += 1,
                (a, Some(b)) if b.is_end() && (a.is_none() || same_here[here]) => there += 1,
                (Some(_), _) if same_here[here] && self.reads_beyond(here, other) => here += 1,
                (_, Some(_)) if same_there[there] && other.reads_beyond(there, self) => there += 1,
                _ => return Some(Parting { here, there }),
            }
        }
    }

    /// True if `other` leaves this path exactly where the conditions predict it.
    pub fn agrees(&self, other: &Path, parting: Option<Parting>) -> bool {
        let predicted = self.predict(other.input);
        let Some(at) = parting else { return predicted.is_none() };
        if self.reads_beyond(at.here, other) || other.reads_beyond(at.there, self) {
            return predicted.is_none_or(|p| p >= at.here);
        }
        predicted == Some(at.here) && self.takes_other_side(other, at)
    }

    /// True if `other` took the same decision where they part, with another outcome.
    fn takes_other_side(&self, other: &Path, at: Parting) -> bool {
        match (self.steps.get(at.here), other.steps.get(at.there)) {
            // The other run has no check where it knows no object, and no condition on the
            // length where a buffer already has the byte.
            (Some(a), _) if a.kind.is_check() || a.kind == Kind::Len => true,
            (Some(a), Some(b)) => (a.site, a.kind) == (b.site, b.kind) && a.outcome != b.outcome,
            _ => false,
        }
    }

    /// True if a decision depends on bytes that the other input does not have.
    fn reads_beyond(&self, at: usize, other: &Path) -> bool {
        let Some(event) = self.trace.events.get(at) else { return false };
        let bytes = self.trace.expr.support(&[event.label]).bytes;
        bytes.last().is_some_and(|&last| last as usize >= other.input.len())
    }

    /// The value that a pin compares with.
    fn pinned(&self, event: &Event) -> u128 {
        match self.trace.expr.pair(event.label) {
            (_, Arg::Const(value)) | (Arg::Const(value), _) => value,
            (Arg::Label(_), Arg::Label(of)) => self.trace.expr.recorded(of),
        }
    }

    /// The case of a switch that a value takes; the value itself if the tables do not have it.
    fn case(&self, event: &Event, value: u128) -> u128 {
        match self.trace.place(self.layout, event) {
            Some((_, site)) if kind(event) == Kind::Switch => {
                let case = site.cases.iter().position(|&c| u128::from(c) == value);
                case.unwrap_or(site.cases.len()) as u128
            }
            _ => value,
        }
    }
}
