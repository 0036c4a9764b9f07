//! The oracle: a trace says of every labelled value how it is computed from
//! the input and what it was. So the one can be computed and compared with the
//! other, for every node that any event depends on. A difference is a wrong
//! constraint, whatever made it: an operation, a model, a missed overwrite.

use crate::trace::{Trace, kind};
use pleach_abi::event::{Event, Kind};
use pleach_expr::{Input, NoSymbols, Printer, Values};
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

/// What in a trace does not follow from its input: the first `most` of them.
pub fn check(trace: &Trace, input: &Input, most: usize) -> Vec<Disagreement> {
    let expr = &trace.expr;
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
        let computed = outcome(trace, e, &values, input);
        let recorded = match kind(e) {
            Kind::Switch | Kind::Indirect => return None,
            _ => e.dir == 1,
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
/// run on it is expected to leave the path of this trace.
pub fn predict(trace: &Trace, input: &Input) -> Option<usize> {
    let values = trace.expr.eval_all(input);
    trace.events.iter().position(|e| match kind(e) {
        Kind::Switch | Kind::Indirect => values.get(e.label) != trace.expr.recorded(e.label),
        _ => outcome(trace, e, &values, input) != (e.dir == 1),
    })
}

fn outcome(trace: &Trace, event: &Event, values: &Values, input: &Input) -> bool {
    match kind(event) {
        Kind::Len => input.length(event.stream.into()) > event.aux.into(),
        Kind::Switch | Kind::Indirect => {
            values.get(event.label) == trace.expr.recorded(event.label)
        }
        _ => values.get(event.label) != 0,
    }
}
