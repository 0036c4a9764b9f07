//! Writes a trace as a recording for the solver.

use crate::exit::Failure;
use anyhow::Context;
use pleach_abi::event::Kind;
use pleach_exec::Layout;
use pleach_exec::container;
use pleach_exec::targets::Targets;
use pleach_exec::trace::{Trace, kind};
use pleach_solve::{Recording, Shape, Step};
use std::path::Path;
use std::sync::Arc;

/// Writes everything that flips of a trace need.
pub fn write(file: &Path, layout: &Layout, trace: &Trace, input: &[u8]) -> Result<(), Failure> {
    if container::is_container(input) {
        container::parse(input).map_err(Failure::user_error)?;
    }
    let (lengths, offsets) = container::extents(input);
    let recording = Recording {
        expr: trace.expr.clone(),
        steps: steps(layout, trace),
        input: trace.extended(input),
        lengths,
        offsets,
    };
    std::fs::write(file, recording.to_bytes())
        .with_context(|| file.display().to_string())
        .map_err(Failure::user_error)
}

/// The events of a trace as steps of a path, one for each.
fn steps(layout: &Layout, trace: &Trace) -> Vec<Step> {
    let mut targets = Targets::new(layout, trace);
    let mut tables: std::collections::HashMap<u32, Option<Arc<[u64]>>> = Default::default();
    trace
        .events
        .iter()
        .map(|event| {
            let taken = event.dir == 1;
            let shape = match kind(event) {
                Kind::Len => {
                    Shape::Len { stream: event.stream.into(), bound: event.aux.into(), taken }
                }
                Kind::Switch => {
                    let cases = tables
                        .entry(event.site)
                        .or_insert_with(|| trace.cases(layout, event).map(Arc::from));
                    match cases {
                        Some(cases) => Shape::Cases { cases: cases.clone() },
                        None => Shape::Value,
                    }
                }
                Kind::Indirect => match targets.find(event.label) {
                    Some(all) => Shape::Cases { cases: all.iter().map(|t| t.value).collect() },
                    None => Shape::Value,
                },
                // A condition has one bit. Of a wider value, only the value itself can be
                // required.
                _ if trace.expr.width(event.label) > 1 => Shape::Value,
                _ => Shape::Bool { taken },
            };
            Step { label: event.label, shape }
        })
        .collect()
}
