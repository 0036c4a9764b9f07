//! Which functions of a module call each other in circles.
//!
//! The answer may name a few too many: those on the way from one circle to another.

use super::llvm::{Module, Value};
use std::collections::{HashMap, HashSet};

pub fn recursive(module: &Module) -> HashSet<Value> {
    let functions: Vec<Value> =
        module.functions().into_iter().filter(|f| !f.is_declaration()).collect();
    let calls: HashMap<Value, HashSet<Value>> =
        functions.iter().map(|f| (*f, called(*f))).collect();
    let mut callers: HashMap<Value, HashSet<Value>> = HashMap::new();
    for (from, to) in calls.iter().flat_map(|(f, all)| all.iter().map(move |to| (*f, *to))) {
        callers.entry(to).or_default().insert(from);
    }
    // Who calls nobody that is left is in no circle, and so for who is called by nobody.
    let none = HashSet::new();
    let mut left: HashSet<Value> = functions.iter().copied().collect();
    for (ahead, back) in [(&calls, &callers), (&callers, &calls)] {
        let mut todo: Vec<Value> = left.iter().copied().collect();
        while let Some(f) = todo.pop() {
            if left.contains(&f) && ahead.get(&f).unwrap_or(&none).is_disjoint(&left) {
                left.remove(&f);
                todo.extend(back.get(&f).unwrap_or(&none));
            }
        }
    }
    left
}

/// What a function calls by name.
fn called(function: Value) -> HashSet<Value> {
    let instructions = function.blocks().into_iter().flat_map(|b| b.instructions());
    instructions
        .filter(|i| i.is_call())
        .map(Value::callee)
        .filter(|callee| callee.is_function() && !callee.is_declaration())
        .collect()
}
