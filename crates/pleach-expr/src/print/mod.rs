//! Expressions as C, for people.
//!
//! `in[3]` is the byte at offset 3 of the input file, `u32le(in+4)` (and
//! `u32be`) the number in the four bytes from offset 4, `len` the length of the
//! input, `len(2)` that of stream 2 of a container, `tok[5]` the number of token 5, `len[0]` the length of hole 0;
//! `name[i]` is an element of
//! a table of the program; a table without a known symbol is `table_` and its
//! address. `clz32`, `ctz32`, `popcount32`, `bswap32`, `bitreverse32`,
//! `fshl32`, `fshr32` and `uadd_overflow32` and its like are the operations of
//! those names at that width. Where C leaves a result undefined (division by
//! zero, a shift by the width or more), the graph defines it; see
//! `pleach_abi::node::Op`. Everything else is exact C.
//!
//! A constant beside a byte of the input is a character (`in[0] == 'a'`,
//! `in[0] - '0'`) where it has a visible one; in `==` and `!=` also `'\n'`,
//! `'\t'`, `'\r'`, `'\0'`. Other numbers are decimal below 10,000 and
//! hexadecimal above.
//!
//! The hard part is to print few casts and still the truth. The graph's values
//! are bit patterns of a width; C's are numbers of a type. So each printed piece
//! carries the range that its value can have, and an operation is asked for in
//! a *view*: as an unsigned number, as a signed one, or any number that is
//! right modulo 2^width. `in[0] - 48` lies in [-48, 207], so as a signed number
//! of 32 bits it needs no cast, and as an unsigned one it needs
//! `(uint32_t)(in[0] - 48)`. A test compiles random expressions and compares
//! them with evaluation.
//!
//! An expression is a graph, and its text can be exponentially larger; beyond
//! a limit of depth and of pieces it is cut off with `…`.

mod bytes;
mod ctype;
mod equality;
mod table;
mod term;

use crate::graph::Expr;
use crate::mask;
use ctype::{Term, prec};
use std::cell::Cell;
use term::View;

/// Names for addresses in the program.
pub trait Symbols {
    /// The symbol that an address lies in, and how far from its start.
    fn symbol(&self, address: u64) -> Option<(String, u64)>;

    /// The name of a token's number.
    fn token(&self, _token: u32, _number: i32) -> Option<String> {
        None
    }
}

/// No names at all.
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
    /// Pieces that may still be printed in this expression.
    left: Cell<usize>,
}

/// An expression of more pieces than this is cut off.
const PIECES: usize = 300;
const DEPTH: u32 = 48;
/// So many cases are named where a switch took none of them.
const CASES: usize = 4;

/// The place of the case that a switch takes for a value; `None`: the default.
/// (A case is its value at the switch's width, zero-extended.)
pub fn case_of(cases: &[u64], value: u128) -> Option<usize> {
    cases.iter().position(|&case| u128::from(case) == value)
}

impl<'a> Printer<'a> {
    pub fn new(expr: &'a Expr, symbols: &'a dyn Symbols) -> Self {
        Printer { expr, symbols, left: Cell::new(0) }
    }

    /// The value of a label, as an unsigned number.
    pub fn value(&self, label: u32) -> String {
        self.begin(label).map_or_else(unknown, |()| self.term(label, View::Unsigned, 0).text)
    }

    /// A condition as it held: negated unless `holds`.
    pub fn condition(&self, label: u32, holds: bool) -> String {
        self.begin(label).map_or_else(unknown, |()| self.truth(label, holds, 0).text)
    }

    /// That a label has a value: what a pinned address or an indirect jump decided.
    pub fn equals(&self, label: u32, value: u128) -> String {
        let Some(()) = self.begin(label) else { return unknown() };
        let width = self.expr.width(label);
        self.equality(label, value & mask(width), width, true, 0).text
    }

    /// What a switch on a label decided when it saw `value`: that it was that
    /// case, or, if no case has it, that it was none of them. Long lists of
    /// cases are cut off with `…`. Without known cases the value is all there is.
    pub fn case(&self, label: u32, value: u128, cases: Option<&[u64]>) -> String {
        let cases = match cases {
            Some(cases) if case_of(cases, value).is_none() => cases,
            _ => return self.equals(label, value),
        };
        if cases.is_empty() {
            return "true".into();
        }
        let Some(()) = self.begin(label) else { return unknown() };
        let width = self.expr.width(label);
        let differs = |&case: &u64| {
            let value = u128::from(case) & mask(width);
            self.equality(label, value, width, false, 0).at(prec::OR)
        };
        let mut parts: Vec<_> = cases.iter().take(CASES).map(differs).collect();
        if cases.len() > CASES {
            parts.push("…".into());
        }
        parts.join(" && ")
    }

    /// That a stream is longer than some number of bytes, or not.
    pub fn longer(stream: u16, than: u32, holds: bool) -> String {
        let len = term::length(stream.into());
        format!("{len} {} {}", if holds { ">" } else { "<=" }, than)
    }

    fn begin(&self, label: u32) -> Option<()> {
        self.left.set(PIECES);
        self.expr.is_live(label).then_some(())
    }

    /// Takes one piece; says whether the expression may go on here.
    fn piece(&self, depth: u32) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0 && depth < DEPTH
    }
}

fn unknown() -> String {
    "…".into()
}

fn call(name: &str, width: u32, args: &[Term]) -> String {
    let args: Vec<_> = args.iter().map(|t| t.text.as_str()).collect();
    format!("{name}{width}({})", args.join(", "))
}

fn logical(a: &Term, symbol: &str, binds: u8, b: &Term) -> Term {
    let text = format!("{} {symbol} {}", a.at(binds), b.at(binds + 1));
    Term::new(text, binds, ctype::INT, Some((0, 1)))
}

fn not(t: &Term) -> Term {
    Term::new(format!("!{}", t.at(prec::UNARY)), prec::UNARY, ctype::INT, Some((0, 1)))
}
