//! Prints expressions as C, for people.
//!
//! | text | meaning |
//! |---|---|
//! | `in[3]` | the byte at offset 3 of the input file |
//! | `u32le(in+4)`, `u32be(in+4)` | the number in the four bytes from offset 4 |
//! | `len`, `len(2)` | the length of the input, of stream 2 of a container |
//! | `len[0]` | the length of hole 0 |
//! | `tok[5]` | the number of token 5 |
//! | `name[i]`, `table_1f00[i]` | an element of a table of the program, by symbol or address |
//! | `clz32`, `ctz32`, `popcount32`, `bswap32`, `bitreverse32`, `fshl32`, `fshr32`, `uadd_overflow32` and the like | the operation of that name and width |
//! | `as_double(x)`, `as_float(x)` | the floating-point number with the bits of the integer x |
//! | `double_bits(x)`, `float_bits(x)` | the reverse |
//! | `decimal(d, p)` | d times ten to the power of p, rounded |
//!
//! Everything else is C. If C leaves a result undefined (division by zero, a shift by the
//! width or more), `pleach_abi::node::Op` defines it.
//!
//! A constant next to a byte of the input is printed as a character if it is a visible
//! one: `in[0] == 'a'`, `in[0] - '0'`. In `==` and `!=` also as `'\n'`, `'\t'`, `'\r'` or
//! `'\0'`. Other numbers are decimal below 10,000 and hexadecimal above.
//!
//! The hard part is to print few casts and still be correct. A value of the graph is a bit
//! pattern of some width; a value of C is a number of a type. So each printed expression
//! has a range that its value is in, and callers request a *view* of it: an unsigned
//! number, a signed number, or any number that is correct modulo 2^width. For example,
//! `in[0] - 48` is in [-48, 207]. As a signed number of 32 bits it needs no cast; as an
//! unsigned one it is `(uint32_t)(in[0] - 48)`. A test compiles random expressions and
//! compares their values with evaluation.
//!
//! An expression is a graph, so its text could be exponentially larger. Beyond a depth and
//! a number of operations it is cut off with `…`.

mod bytes;
mod ctype;
mod equality;
mod float;
mod operation;
mod table;

use crate::graph::Expr;
use crate::mask;
use ctype::{CExpr, prec};
use operation::View;
use std::cell::Cell;

/// Names for addresses in the program.
pub trait Symbols {
    /// The symbol that contains an address, and the offset of the address in it.
    fn symbol(&self, address: u64) -> Option<(String, u64)>;

    /// The name of a token's number.
    fn token(&self, _token: u32, _number: i32) -> Option<String> {
        None
    }
}

/// Knows no names.
pub struct NoSymbols;

impl Symbols for NoSymbols {
    fn symbol(&self, _address: u64) -> Option<(String, u64)> {
        None
    }
}

/// Prints live labels of a graph.
pub struct Printer<'a> {
    expr: &'a Expr,
    symbols: &'a dyn Symbols,
    /// How many more operations this expression may print.
    operations_left: Cell<usize>,
}

/// Operations that one expression may print.
const MAX_OPERATIONS: usize = 300;
const MAX_DEPTH: u32 = 48;
/// Cases that are printed for the default of a switch.
const MAX_CASES: usize = 4;

/// The index of the case that a switch takes for a value; `None` is the default. Cases
/// are zero-extended from the width of the switch.
pub fn case_of(cases: &[u64], value: u128) -> Option<usize> {
    cases.iter().position(|&case| u128::from(case) == value)
}

impl<'a> Printer<'a> {
    pub fn new(expr: &'a Expr, symbols: &'a dyn Symbols) -> Self {
        Printer { expr, symbols, operations_left: Cell::new(0) }
    }

    /// The value of a label, as an unsigned number.
    pub fn value(&self, label: u32) -> String {
        match self.begin(label) {
            true => self.print(label, View::Unsigned, 0).text,
            false => unknown(),
        }
    }

    /// A condition if `holds`, else its negation.
    pub fn condition(&self, label: u32, holds: bool) -> String {
        match self.begin(label) {
            true => self.print_truth(label, holds, 0).text,
            false => unknown(),
        }
    }

    /// The condition that a label has a value, as for a pinned address.
    pub fn equals(&self, label: u32, value: u128) -> String {
        if !self.begin(label) {
            return unknown();
        }
        let width = self.expr.width(label);
        self.print_equality(label, value & mask(width), width, true, 0).text
    }

    /// The condition that a label is a target with a name.
    pub fn equals_name(&self, label: u32, name: &str) -> String {
        if !self.begin(label) {
            return unknown();
        }
        format!("{} == {name}", self.print(label, View::Unsigned, 0).at(prec::EQUAL))
    }

    /// The condition under which a switch on a label decides as it does for `value`: the
    /// label equals that case or, for the default, differs from all cases. Long lists of
    /// cases are cut off with `…`. If the cases are unknown, the label equals `value`.
    pub fn case(&self, label: u32, value: u128, cases: Option<&[u64]>) -> String {
        let cases = match cases {
            Some(cases) if case_of(cases, value).is_none() => cases,
            _ => return self.equals(label, value),
        };
        if cases.is_empty() {
            return "true".into();
        }
        if !self.begin(label) {
            return unknown();
        }
        let width = self.expr.width(label);
        let differs = |&case: &u64| {
            let value = u128::from(case) & mask(width);
            self.print_equality(label, value, width, false, 0).at(prec::OR)
        };
        let mut parts: Vec<_> = cases.iter().take(MAX_CASES).map(differs).collect();
        if cases.len() > MAX_CASES {
            parts.push("…".into());
        }
        parts.join(" && ")
    }

    /// The condition that a stream is longer than `than` bytes, or its negation.
    pub fn longer(stream: u16, than: u32, holds: bool) -> String {
        let len = operation::length(stream.into());
        format!("{len} {} {}", if holds { ">" } else { "<=" }, than)
    }

    /// Starts an expression. False if the label is not live and cannot be printed.
    fn begin(&self, label: u32) -> bool {
        self.operations_left.set(MAX_OPERATIONS);
        self.expr.is_live(label)
    }

    /// Counts one operation. False if the expression must be cut off here.
    fn may_print(&self, depth: u32) -> bool {
        let left = self.operations_left.get();
        self.operations_left.set(left.saturating_sub(1));
        left > 0 && depth < MAX_DEPTH
    }
}

fn unknown() -> String {
    "…".into()
}

fn call(name: &str, width: u32, args: &[CExpr]) -> String {
    let args: Vec<_> = args.iter().map(|t| t.text.as_str()).collect();
    format!("{name}{width}({})", args.join(", "))
}

fn logical(a: &CExpr, symbol: &str, binds: u8, b: &CExpr) -> CExpr {
    let text = format!("{} {symbol} {}", a.at(binds), b.at(binds + 1));
    CExpr::new(text, binds, ctype::INT, Some((0, 1)))
}

fn not(t: &CExpr) -> CExpr {
    CExpr::new(format!("!{}", t.at(prec::UNARY)), prec::UNARY, ctype::INT, Some((0, 1)))
}
