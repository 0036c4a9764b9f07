//! Finds the functions of a module that call each other in cycles.
//!
//! The result may contain a few functions too many: those on a path from one cycle
//! to another.

use super::llvm::{Module, Value};
use std::collections::{HashMap, HashSet};

pub fn recursive_functions(module: &Module) -> HashSet<Value> {
    let functions: Vec<Value> =
        module.functions().into_iter().filter(|f| !f.is_declaration()).collect();
    let calls: HashMap<Value, HashSet<Value>> =
        functions.iter().map(|f| (*f, direct_callees(*f))).collect();
    let mut callers: HashMap<Value, HashSet<Value>> = HashMap::new();
    for (from, to) in calls.iter().flat_map(|(f, all)| all.iter().map(move |to| (*f, *to))) {
        callers.entry(to).or_default().insert(from);
    }
    // A function that calls none of the remaining functions is in no cycle, so it is
    // removed. The second pass removes those that none of the remaining calls.
    let none = HashSet::new();
    let mut remaining: HashSet<Value> = functions.iter().copied().collect();
    for (ahead, back) in [(&calls, &callers), (&callers, &calls)] {
        let mut work: Vec<Value> = remaining.iter().copied().collect();
        while let Some(f) = work.pop() {
            if remaining.contains(&f) && ahead.get(&f).unwrap_or(&none).is_disjoint(&remaining) {
                remaining.remove(&f);
                work.extend(back.get(&f).unwrap_or(&none));
            }
        }
    }
    remaining
}

/// The functions that a function calls directly, not through a pointer.
fn direct_callees(function: Value) -> HashSet<Value> {
    let instructions = function.blocks().into_iter().flat_map(|b| b.instructions());
    instructions
        .filter(|i| i.is_call())
        .map(Value::callee)
        .filter(|callee| callee.is_function() && !callee.is_declaration())
        .collect()
}
