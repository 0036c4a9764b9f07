//! Where a run leaves the path of another one: as predicted, and as it did.
//!
//! A trace is a list of decisions. Two traces are on one path up to the first
//! decision at another site, of another kind, or with another outcome. The
//! conditions of one trace, evaluated on another input, predict where that is;
//! a trace of the other input shows where it was. When the two differ, some
//! condition was wrong, or a decision had none.
//!
//! Four things make the comparison less than plain equality:
//! - The outcome of a switch is the case that it takes, so all values that no
//!   case names are one outcome. That of a pinned value is the value.
//! - A check compares an address with the object that it happened to be in.
//!   Two checks are one decision only if each holds on the other's input too;
//!   and where an address has left its object, the other run may know no object
//!   at all, and then has no check.
//! - A byte past the end of the input has no label: what a program decides on
//!   it (often the zero of a cleared buffer) is an event of the longer input
//!   alone. Such events are passed over as long as they come out the same, and
//!   where they do not, no condition can have said so. The shorter one has
//!   "the input is not longer" in their place, once, which is passed over as
//!   long as what the longer one decides there comes out the same.
//! - How long the input must at least or at most be is said with the numbers of
//!   the run that says it: two such decisions at one place are one decision if
//!   this path's holds on the other input.

use pleach_abi::event::{Event, Kind};
use pleach_exec::trace::kind;
use pleach_exec::{Layout, Trace, container};
use pleach_expr::Arg;

/// One decision, as far as another run can share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    site: u32,
    kind: Kind,
    /// What `Len` compares with.
    bound: u32,
    outcome: u128,
}

impl Step {
    /// "The input is not longer."
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

/// Where two traces part: the decision of each.
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

    /// The first decision whose condition comes out otherwise on `input`.
    pub fn predict(&self, input: &[u8]) -> Option<usize> {
        self.stays(input).iter().position(|stays| !stays)
    }

    /// Whether each decision comes out the same on `input`.
    fn stays(&self, input: &[u8]) -> Vec<bool> {
        let input = container::view(input);
        let values = self.trace.expr.eval_all(&input);
        let stay = |(e, step): (&Event, &Step)| match step.kind {
            Kind::Len => (input.length(e.stream.into()) > e.aux.into()) == (e.dir == 1),
            Kind::Switch | Kind::Indirect => self.case(e, values.get(e.label)) == step.outcome,
            // Its condition is that the value is the pinned one.
            Kind::Pin => values.get(e.label) == 1,
            _ => values.get(e.label) == step.outcome,
        };
        self.trace.events.iter().zip(&self.steps).map(stay).collect()
    }

    /// Where `other` leaves this path.
    pub fn leaves(&self, other: &Path) -> Option<Parting> {
        let (here_stays, there_stays) = (self.stays(other.input), other.stays(self.input));
        // Decided by a byte that the other input lacks, and not as by a zero there.
        let cut_off = |here: usize, there: usize| {
            !here_stays[here] && self.beyond(here, other)
                || !there_stays[there] && other.beyond(there, self)
        };
        let (mut here, mut there) = (0, 0);
        loop {
            match (self.steps.get(here), other.steps.get(there)) {
                (None, None) => return None,
                (Some(a), Some(b))
                    if a == b
                        && (!a.kind.is_check() || here_stays[here] && there_stays[there])
                        && !cut_off(here, there) =>
                {
                    here += 1;
                    there += 1;
                }
                (Some(a), Some(b))
                    if here_stays[here]
                        && a.kind == Kind::Len
                        && (Step { bound: a.bound, ..*b }) == *a =>
                {
                    here += 1;
                    there += 1;
                }
                (Some(a), _) if here_stays[here] && a.is_end() => here += 1,
                (a, Some(b)) if b.is_end() && (a.is_none() || here_stays[here]) => there += 1,
                (Some(_), _) if here_stays[here] && self.beyond(here, other) => here += 1,
                (_, Some(_)) if there_stays[there] && other.beyond(there, self) => there += 1,
                _ => return Some(Parting { here, there }),
            }
        }
    }

    /// Whether `other` parts from this path just where its input must.
    pub fn agrees(&self, other: &Path, parting: Option<Parting>) -> bool {
        let predicted = self.predict(other.input);
        let Some(at) = parting else { return predicted.is_none() };
        if self.beyond(at.here, other) || other.beyond(at.there, self) {
            return predicted.is_none_or(|p| p >= at.here);
        }
        predicted == Some(at.here) && self.turns(other, at)
    }

    /// Whether `other` took the decision where they part too, with another outcome.
    fn turns(&self, other: &Path, at: Parting) -> bool {
        match (self.steps.get(at.here), other.steps.get(at.there)) {
            // Without an object there is no check, and a byte that is there may
            // come from a buffer, which asks for no length.
            (Some(a), _) if a.kind.is_check() || a.kind == Kind::Len => true,
            (Some(a), Some(b)) => (a.site, a.kind) == (b.site, b.kind) && a.outcome != b.outcome,
            _ => false,
        }
    }

    /// Whether a decision reads bytes that the other input does not have.
    fn beyond(&self, at: usize, other: &Path) -> bool {
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

    /// Which case of a switch a value takes; the value itself where the tables do not say.
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
