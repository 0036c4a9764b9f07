//! A flip as SMT-LIB 2 text, for another solver.
//!
//! The text is made from the graph that the target wrote, not from simplified terms. So the
//! answer of the other solver checks ours, with simplification and slicing. The caller runs
//! the other solver.

use crate::path::{Goal, Shape, outcome};
use crate::recording::Recording;
use pleach_abi::node::Op;
use pleach_expr::{Arg, Expr, Support};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The script for one flip. The solver prints `sat`, `unsat` or `unknown`; after `sat`,
/// [`SmtRequest::values`] asks it for the inputs.
#[derive(Clone, Debug)]
pub struct SmtRequest {
    pub script: String,
    pub bytes: Vec<u32>,
    pub lengths: Vec<u32>,
}

impl SmtRequest {
    /// The script for a flip; `None` if the step has no such goal, or if the script would need
    /// floating point, which the other solver is not asked about. With `sliced`, only the
    /// conditions of the slice are in it; the answer is the same. Streams have at most
    /// `longest` bytes.
    pub fn new(
        recording: &Recording,
        at: usize,
        goal: Goal,
        sliced: bool,
        longest: u64,
    ) -> Option<SmtRequest> {
        let expr = &recording.expr;
        let steps = if sliced { slice(recording, at) } else { (0..at).collect() };
        let roots: Vec<u32> =
            steps.iter().chain([&at]).map(|&s| recording.steps[s].label).collect();
        let support = expr.support(&roots);
        let mut lengths = support.lengths.clone();
        for &step in steps.iter().chain([&at]) {
            if let Shape::Len { stream, .. } = recording.steps[step].shape {
                lengths.insert(stream);
            }
        }
        let mut script = String::new();
        for offset in &support.bytes {
            line(&mut script, format_args!("(declare-const b{offset} (_ BitVec 8))"));
        }
        for stream in &lengths {
            line(&mut script, format_args!("(declare-const l{stream} (_ BitVec 64))"));
            let least = reach(recording, at, *stream);
            let (low, high) = (number(least.into(), 64), number(longest.into(), 64));
            line(
                &mut script,
                format_args!("(assert (and (bvule {low} l{stream}) (bvule l{stream} {high})))"),
            );
        }
        define(&mut script, expr, &roots)?;
        for &step in &steps {
            let holds = decided(recording, step)?;
            line(&mut script, format_args!("(assert {holds})"));
        }
        let wanted = wanted(recording, at, goal)?;
        line(&mut script, format_args!("(assert {wanted})"));
        line(&mut script, format_args!("(check-sat)"));
        let bytes = support.bytes.into_iter().collect();
        Some(SmtRequest { script, bytes, lengths: lengths.into_iter().collect() })
    }

    /// The command that prints the values of all inputs.
    pub fn values(&self) -> String {
        let bytes = self.bytes.iter().map(|b| format!("b{b}"));
        let lengths = self.lengths.iter().map(|l| format!("l{l}"));
        format!("(get-value ({}))", bytes.chain(lengths).collect::<Vec<_>>().join(" "))
    }
}

fn line(script: &mut String, text: std::fmt::Arguments) {
    // Writing to a String cannot fail.
    let _ = writeln!(script, "{text}");
}

/// Steps before `at` that are connected with it through shared inputs.
fn slice(recording: &Recording, at: usize) -> Vec<usize> {
    let support = |step: usize| -> Support {
        let mut support = recording.expr.support(&[recording.steps[step].label]);
        if let Shape::Len { stream, .. } = recording.steps[step].shape {
            support.lengths.insert(stream);
        }
        support
    };
    let mut reached = support(at);
    let all: Vec<Support> = (0..at).map(support).collect();
    let mut taken: BTreeSet<usize> = BTreeSet::new();
    loop {
        let before = taken.len();
        for (step, s) in all.iter().enumerate() {
            let is_connected =
                !s.bytes.is_disjoint(&reached.bytes) || !s.lengths.is_disjoint(&reached.lengths);
            if is_connected && taken.insert(step) {
                reached.bytes.extend(&s.bytes);
                reached.lengths.extend(&s.lengths);
            }
        }
        if taken.len() == before {
            return taken.into_iter().collect();
        }
    }
}

/// How many bytes of a stream the steps up to `at` read.
fn reach(recording: &Recording, at: usize, stream: u32) -> u64 {
    let from = recording.offsets.get(stream as usize).copied().unwrap_or(0);
    let length = recording.lengths.get(stream as usize).copied().unwrap_or(0);
    let labels: Vec<u32> = (0..=at).map(|s| recording.steps[s].label).collect();
    let bytes = recording.expr.support(&labels).bytes;
    let inside = bytes.into_iter().map(u64::from).filter(|b| (from..from + length).contains(b));
    inside.max().map_or(0, |last| last - from + 1)
}

fn number(value: u128, width: u32) -> String {
    format!("(_ bv{value} {width})")
}

/// A label's name, or its concrete value.
fn arg(arg: Arg, width: u32) -> String {
    match arg {
        Arg::Label(l) => format!("n{l}"),
        Arg::Const(c) => number(c & pleach_expr::mask(width), width),
    }
}

/// The condition that a step decides as in the trace.
fn decided(recording: &Recording, step: usize) -> Option<String> {
    let s = &recording.steps[step];
    let view = pleach_expr::Input::streams(&recording.input, recording.lengths.clone());
    let value = || recording.expr.eval(&[s.label], &view).get(s.label);
    let width = || recording.expr.width(s.label);
    Some(match &s.shape {
        Shape::Bool { taken } => format!("(= n{} #b{})", s.label, u8::from(*taken)),
        Shape::Value => format!("(= n{} {})", s.label, number(value(), width())),
        Shape::Cases { cases } => case(s.label, width(), cases, outcome(cases, value())),
        Shape::Len { stream, bound, taken } => longer(*stream, *bound, *taken),
    })
}

fn wanted(recording: &Recording, at: usize, goal: Goal) -> Option<String> {
    let s = recording.steps.get(at)?;
    match (&s.shape, goal) {
        (Shape::Cases { cases }, Goal::Case(i)) => {
            Some(case(s.label, recording.expr.width(s.label), cases, i as usize))
        }
        (Shape::Bool { .. } | Shape::Len { .. }, Goal::Not) | (Shape::Value, Goal::Other) => {
            Some(format!("(not {})", decided(recording, at)?))
        }
        _ => None,
    }
}

fn case(label: u32, width: u32, cases: &[u64], case: usize) -> String {
    let is = |c: u64| format!("(= n{label} {})", number(c.into(), width));
    match cases.get(case) {
        Some(&c) => is(c),
        None if cases.is_empty() => "true".into(),
        None => {
            let any: Vec<String> = cases.iter().map(|&c| is(c)).collect();
            format!("(not (or false {}))", any.join(" "))
        }
    }
}

fn longer(stream: u32, bound: u64, taken: bool) -> String {
    let longer = format!("(bvult {} l{stream})", number(bound.into(), 64));
    if taken { longer } else { format!("(not {longer})") }
}

/// Defines a constant for every label that the roots need. `None` if one is about floating point.
fn define(script: &mut String, expr: &Expr, roots: &[u32]) -> Option<()> {
    let mut needed: BTreeSet<u32> = roots.iter().copied().filter(|&r| r != 0).collect();
    for &label in expr.order().iter().rev() {
        if needed.contains(&label) {
            needed.extend(expr.operands(label));
        }
    }
    for &label in expr.order().iter().filter(|l| needed.contains(l)) {
        if expr.op(label).touches_float() {
            return None;
        }
        let body = body(expr, label);
        let width = expr.width(label);
        line(script, format_args!("(define-fun n{label} () (_ BitVec {width}) {body})"));
    }
    Some(())
}

fn body(expr: &Expr, label: u32) -> String {
    let node = expr.node(label);
    let (op, w) = (expr.op(label), u32::from(node.width));
    let (a, b, c) = (node.a, node.b, node.c);
    match op {
        Op::Input => format!("b{a}"),
        Op::InputLen => format!("l{a}"),
        Op::Const | Op::Wide => number(expr.immediate(label) & pleach_expr::mask(w), w),
        Op::Read if w == 8 => format!("b{}", a - 1),
        Op::Read => {
            let bytes: Vec<String> = (0..w / 8).rev().map(|i| format!("b{}", a - 1 + i)).collect();
            format!("(concat {})", bytes.join(" "))
        }
        Op::ZExt => format!("((_ zero_extend {}) n{a})", w - expr.width(a)),
        Op::SExt => format!("((_ sign_extend {}) n{a})", w - expr.width(a)),
        Op::Trunc => format!("((_ extract {} 0) n{a})", w - 1),
        Op::Extract => format!("((_ extract {} {b}) n{a})", b + w - 1),
        Op::Concat => {
            let (low, high) = expr.pair(label);
            format!("(concat {} {})", arg(high, w - c), arg(low, c))
        }
        Op::Ite => format!("(ite (= n{a} #b1) n{b} n{c})"),
        Op::Bswap => reverse_pieces(a, w, 8),
        Op::BitRev => reverse_pieces(a, w, 1),
        Op::Popcnt | Op::Ctlz | Op::Cttz => count(op, a, w),
        Op::FShl | Op::FShr => {
            let by = format!("(concat {} (bvurem n{c} {}))", number(0, w), number(w.into(), w));
            match op {
                Op::FShl => {
                    format!("((_ extract {} {w}) (bvshl (concat n{a} n{b}) {by}))", 2 * w - 1)
                }
                _ => format!("((_ extract {} 0) (bvlshr (concat n{a} n{b}) {by}))", w - 1),
            }
        }
        Op::Lookup => lookup(expr, label),
        _ => {
            let (x, y) = expr.pair(label);
            let operand = expr.pair_width(label);
            pair(op, operand, &arg(x, operand), &arg(y, operand))
        }
    }
}

fn pair(op: Op, w: u32, x: &str, y: &str) -> String {
    let bit = |condition: String| format!("(ite {condition} #b1 #b0)");
    // Division by zero is 0 here. In SMT-LIB it is all ones or the dividend.
    let divided = |name: &str| {
        let zero = number(0, w);
        format!("(ite (= {y} {zero}) {zero} ({name} {x} {y}))")
    };
    // True if the exact result changes when it is cut to the width.
    let overflows = |name: &str, extend: &str, more: u32| {
        let exact = format!("({name} ((_ {extend} {more}) {x}) ((_ {extend} {more}) {y}))");
        let cut = format!("((_ {extend} {more}) ((_ extract {} 0) {exact}))", w - 1);
        bit(format!("(not (= {exact} {cut}))"))
    };
    match op {
        Op::Add => format!("(bvadd {x} {y})"),
        Op::Sub => format!("(bvsub {x} {y})"),
        Op::Mul => format!("(bvmul {x} {y})"),
        Op::UDiv => divided("bvudiv"),
        Op::SDiv => divided("bvsdiv"),
        Op::URem => divided("bvurem"),
        Op::SRem => divided("bvsrem"),
        Op::Shl => format!("(bvshl {x} {y})"),
        Op::LShr => format!("(bvlshr {x} {y})"),
        Op::AShr => format!("(bvashr {x} {y})"),
        Op::And => format!("(bvand {x} {y})"),
        Op::Or => format!("(bvor {x} {y})"),
        Op::Xor => format!("(bvxor {x} {y})"),
        Op::Eq => bit(format!("(= {x} {y})")),
        Op::Ne => bit(format!("(not (= {x} {y}))")),
        Op::Ult | Op::USubO => bit(format!("(bvult {x} {y})")),
        Op::Ule => bit(format!("(bvule {x} {y})")),
        Op::Slt => bit(format!("(bvslt {x} {y})")),
        Op::Sle => bit(format!("(bvsle {x} {y})")),
        Op::UAddO => overflows("bvadd", "zero_extend", 1),
        Op::SAddO => overflows("bvadd", "sign_extend", 1),
        Op::SSubO => overflows("bvsub", "sign_extend", 1),
        Op::UMulO => overflows("bvmul", "zero_extend", w),
        _ => overflows("bvmul", "sign_extend", w),
    }
}

/// Reverses the order of the pieces of `size` bits.
fn reverse_pieces(a: u32, w: u32, size: u32) -> String {
    let part = |i: u32| format!("((_ extract {} {}) n{a})", size * i + size - 1, size * i);
    let parts: Vec<String> = (0..w / size).map(part).collect();
    match &parts[..] {
        [one] => one.clone(),
        _ => format!("(concat {})", parts.join(" ")),
    }
}

fn count(op: Op, a: u32, w: u32) -> String {
    let bit = |i: u32| format!("((_ extract {i} {i}) n{a})");
    match op {
        Op::Popcnt => (0..w).fold(number(0, w), |sum, i| {
            format!("(bvadd {sum} (ite (= {} #b1) {} {}))", bit(i), number(1, w), number(0, w))
        }),
        // A chain of choices, built from its end.
        _ => (0..w).rev().fold(number(w.into(), w), |rest, zeros| {
            let at = if op == Op::Cttz { zeros } else { w - 1 - zeros };
            format!("(ite (= {} #b1) {} {rest})", bit(at), number(zeros.into(), w))
        }),
    }
}

/// A table as nested choices, each of which halves the range of the index.
fn lookup(expr: &Expr, label: u32) -> String {
    let node = expr.node(label);
    let table = expr.snapshot(label);
    let w = u32::from(node.width);
    let bytes = w as usize / 8;
    let index = format!("(bvsub n{} {})", node.a, number(node.imm.into(), 64));
    let entry =
        |at: usize| table[at..at + bytes].iter().rev().fold(0u128, |v, &b| v << 8 | u128::from(b));
    let Some(entries) = (table.len() + 1).checked_sub(bytes) else { return number(0, w) };
    fn tree(low: usize, high: usize, w: u32, entry: &impl Fn(usize) -> u128) -> String {
        if high - low == 1 {
            return number(entry(low), w);
        }
        let middle = low.midpoint(high);
        let (x, y) = (tree(low, middle, w, entry), tree(middle, high, w, entry));
        if x == y { x } else { format!("(ite (bvult i {}) {x} {y})", number(middle as u128, 64)) }
    }
    if entries == 0 {
        return number(0, w);
    }
    let inside = tree(0, entries, w, &entry);
    let zero = number(0, w);
    let count = number(entries as u128, 64);
    format!("(let ((i {index})) (ite (bvult i {count}) {inside} {zero}))")
}
