//! The oracle: a trace says of every labelled value how it is computed from
//! the input and what it was. So the one can be computed and compared with the
//! other, for every node that any event depends on. A difference is a wrong
//! constraint, whatever made it: an operation, a model, a missed overwrite.

use crate::layout::Layout;
use crate::trace::{Trace, kind};
use pleach_abi::event::{Event, Kind};
use pleach_expr::{Input, NoSymbols, Printer, Values, case_of};
use std::fmt;

/// A recorded value that its expression does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disagreement {
    Value { label: u32, recorded: u128, computed: u128, text: String },
    Direction { event: usize, recorded: bool, computed: bool, text: String },
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Disagreement::Value { label, recorded, computed, text } => write!(
                f,
                "node {label}: the program had {recorded:#x}, the expression gives {computed:#x}: {text}"
            ),
            Disagreement::Direction { event, recorded, computed, text } => write!(
                f,
                "event {event}: the program went {}, the expression says {}: {text}",
                u8::from(*recorded),
                u8::from(*computed)
            ),
        }
    }
}

/// What in a trace does not follow from its input and the tokens it took: the first `most` of them.
pub fn check(trace: &Trace, input: &Input, most: usize) -> Vec<Disagreement> {
    let expr = &trace.expr;
    let bytes = trace.extended(input.bytes());
    let input = &input.extended(&bytes);
    let values = expr.eval_all(input);
    let printer = Printer::new(expr, &NoSymbols);
    let wrong_values = expr.order().iter().filter_map(|&label| {
        let (recorded, computed) = (expr.recorded(label), values.get(label));
        (recorded != computed).then(|| Disagreement::Value {
            label,
            recorded,
            computed,
            text: printer.value(label),
        })
    });
    let wrong_events = trace.events.iter().enumerate().filter_map(|(event, e)| {
        let (recorded, computed) = match decided(e, &values, input) {
            // A value is its own record, and was compared above.
            Decided::Value(_) => return None,
            Decided::Direction(computed) => (e.dir == 1, computed),
        };
        (recorded != computed).then(|| Disagreement::Direction {
            event,
            recorded,
            computed,
            text: match kind(e) {
                Kind::Len => Printer::longer(e.stream, e.aux, true),
                _ => printer.condition(e.label, true),
            },
        })
    });
    wrong_values.chain(wrong_events).take(most).collect()
}

/// The first event that would come out differently on another input: where a
/// run on it is expected to leave the path of this trace. The layout has the
/// cases of switches; without it, another value is another way.
pub fn predict(trace: &Trace, layout: Option<&Layout>, input: &Input) -> Option<usize> {
    let bytes = trace.extended(input.bytes());
    let input = &input.extended(&bytes);
    let values = trace.expr.eval_all(input);
    trace.events.iter().position(|e| match decided(e, &values, input) {
        Decided::Direction(now) => now != (e.dir == 1),
        Decided::Value(now) => {
            let then = trace.expr.recorded(e.label);
            match layout.and_then(|l| trace.cases(l, e)) {
                Some(cases) => case_of(cases, now) != case_of(cases, then),
                None => now != then,
            }
        }
    })
}

/// What decides an event: one bit, or a value.
enum Decided {
    Direction(bool),
    Value(u128),
}

fn decided(event: &Event, values: &Values, input: &Input) -> Decided {
    match kind(event) {
        Kind::Len => Decided::Direction(input.length(event.stream.into()) > event.aux.into()),
        Kind::Switch | Kind::Indirect => Decided::Value(values.get(event.label)),
        _ => Decided::Direction(values.get(event.label) != 0),
    }
}
