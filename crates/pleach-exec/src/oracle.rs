//! The oracle checks traces. Each node of a trace has an expression over the input and the
//! value that the program saw. The oracle evaluates the expression and compares. A
//! difference means a wrong constraint, whatever the cause: an operation, a model, or a
//! write to memory that the runtime missed.

use crate::layout::Layout;
use crate::trace::{Trace, kind};
use pleach_abi::event::{Event, Kind};
use pleach_expr::{Input, NoSymbols, Printer, Values, case_of, is_same_result};
use std::fmt;

/// A difference between what was recorded and what the expressions give.
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

/// Evaluates a trace on its own input and tokens. Returns the first disagreements, at most
/// `max_count` of them.
pub fn check(trace: &Trace, input: &Input, max_count: usize) -> Vec<Disagreement> {
    let expr = &trace.expr;
    let bytes = trace.extended(input.bytes());
    let input = &input.extended(&bytes);
    let values = expr.eval_all(input);
    let printer = Printer::new(expr, &NoSymbols);
    let wrong_values = expr.order().iter().filter_map(|&label| {
        let (recorded, computed) = (expr.recorded(label), values.get(label));
        (!is_same_result(expr.op(label), expr.width(label), recorded, computed))
            .then(|| Disagreement::Value { label, recorded, computed, text: printer.value(label) })
    });
    let wrong_events = trace.events.iter().enumerate().filter_map(|(event, e)| {
        let (recorded, computed) = match decided(e, &values, input) {
            // Values were compared above.
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
    wrong_values.chain(wrong_events).take(max_count).collect()
}

/// The first event that has another outcome on this input: there, a run on the input is
/// predicted to leave the path of the trace. The layout has the cases of switches; without
/// it, every other value of a switch counts as another outcome.
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

/// The outcome of an event on an input.
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
