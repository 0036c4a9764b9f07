//! Simplification: one table of rules, each headed by its equation.
//!
//! A rule gets an operation whose operands are simplified terms. It returns a term with
//! the same value on every input, or `None`. The terms that it makes are simplified too.
//! Every rule makes fewer or cheaper operations, or one of several equivalent forms:
//!
//! - constants are on the right;
//! - a subtraction of a constant is an addition;
//! - shifts by constants, masks of consecutive bits and words that are built from bytes
//!   are `Extract`, `Concat` and `ZExt`, which cost a solver nothing;
//! - a comparison of an extension, a sum or the like becomes a comparison of its operand,
//!   at the smallest width;
//! - an order with a constant is `Ult` or `Slt`;
//! - the negation of a comparison is a comparison.
//!
//! In the equations, `x y z` are any terms, `c d e` constants, `b` one bit, `|x|` is the
//! width of `x`, `x[i..j]` are bits of it, and `y:x` is a concatenation with `x` low. In
//! the code, `p` is the pool and `op` the operation. A test takes every rule of the table:
//! it must apply to some random terms, and its result must have the same value.

mod arithmetic;
mod bits;
mod compare;
mod logic;
#[cfg(test)]
mod tests;

pub use compare::inverse;

use crate::eval::mask;
use crate::pool::{Code, Node, Pool, Term};
use crate::word::compute128;

/// An operation that will become a term.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    pub code: Code,
    pub width: u32,
    pub a: u32,
    pub b: u32,
    pub c: u32,
}

impl Operation {
    fn x(&self) -> Term {
        Term::from_number(self.a)
    }

    fn y(&self) -> Term {
        Term::from_number(self.b)
    }

    fn z(&self) -> Term {
        Term::from_number(self.c)
    }
}

/// A rule: its equation, and the function that applies it.
pub struct Rule {
    pub equation: &'static str,
    pub(crate) apply: fn(&mut Pool, &Operation) -> Option<Term>,
}

/// All rules, each with its operation.
pub fn table() -> impl Iterator<Item = (Code, &'static Rule)> {
    CODES.iter().flat_map(|&code| rules(code).iter().map(move |rule| (code, rule)))
}

/// Every operation with rules.
const CODES: [Code; 34] = {
    use Code::*;
    [
        Add, Sub, Mul, UDiv, SDiv, URem, SRem, Shl, LShr, AShr, And, Or, Xor, Eq, Ne, Ult, Ule,
        Slt, Sle, UAddO, SAddO, USubO, SSubO, UMulO, SMulO, ZExt, SExt, Extract, Concat, Ite, FShl,
        FShr, Lookup, Member,
    ]
};

fn rules(code: Code) -> &'static [Rule] {
    match code {
        Code::Add => arithmetic::ADD,
        Code::Sub => arithmetic::SUB,
        Code::Mul => arithmetic::MUL,
        Code::UDiv => arithmetic::UDIV,
        Code::SDiv => arithmetic::SDIV,
        Code::URem => arithmetic::UREM,
        Code::SRem => arithmetic::SREM,
        Code::UAddO => arithmetic::UADDO,
        Code::SAddO => arithmetic::SADDO,
        Code::USubO => arithmetic::USUBO,
        Code::SSubO => arithmetic::SSUBO,
        Code::UMulO => arithmetic::UMULO,
        Code::SMulO => arithmetic::SMULO,
        Code::Shl => bits::SHL,
        Code::LShr => bits::LSHR,
        Code::AShr => bits::ASHR,
        Code::And => logic::AND,
        Code::Or => logic::OR,
        Code::Xor => logic::XOR,
        Code::Ite => logic::ITE,
        Code::Lookup => logic::LOOKUP,
        Code::Member => compare::MEMBER,
        Code::Eq => compare::EQ,
        Code::Ne => compare::NE,
        Code::Ult => compare::ULT,
        Code::Ule => compare::ULE,
        Code::Slt => compare::SLT,
        Code::Sle => compare::SLE,
        Code::ZExt => bits::ZEXT,
        Code::SExt => bits::SEXT,
        Code::Extract => bits::EXTRACT,
        Code::Concat => bits::CONCAT,
        Code::FShl => bits::FSHL,
        Code::FShr => bits::FSHR,
        _ => &[],
    }
}

/// A simpler term for an operation, from the first rule that applies.
pub(crate) fn simplify(pool: &mut Pool, op: &Operation) -> Option<Term> {
    if let Some(folded) = fold(pool, op) {
        return Some(folded);
    }
    let mut op = *op;
    // c ∘ x = x ∘ c
    let swapped = op.code.is_commutative() && pool.constant(op.x()).is_some();
    if swapped {
        (op.a, op.b) = (op.b, op.a);
    }
    match rules(op.code).iter().find_map(|rule| (rule.apply)(pool, &op)) {
        None if swapped => Some(pool.intern(op.code, op.width, op.a, op.b, op.c)),
        better => better,
    }
}

/// The constant result of an operation on constants.
fn fold(pool: &mut Pool, op: &Operation) -> Option<Term> {
    let arity = op.code.arity();
    if arity == 0 {
        return None;
    }
    let value = |n: usize, at: u32| match n < arity {
        true => pool.constant(Term::from_number(at)),
        false => Some(0),
    };
    let (a, b, c) = (value(0, op.a)?, value(1, op.b)?, value(2, op.c)?);
    let node = Node { code: op.code, width: op.width as u8, bits: 0, a: op.a, b: op.b, c: op.c };
    let value = compute128(pool, &node, pool.width(op.x()), a, b, c);
    Some(pool.number(value, op.width))
}

/// The node of `term`, if its operation is `code`.
fn node_if(pool: &Pool, term: Term, code: Code) -> Option<Node> {
    Some(pool.node(term)).filter(|n| n.code == code)
}

/// `x` and `c`, if `term` is `x ∘ c` and `∘` is `code`.
fn with_constant(pool: &Pool, term: Term, code: Code) -> Option<(Term, u128)> {
    let n = node_if(pool, term, code)?;
    Some((Term::from_number(n.a), pool.constant(Term::from_number(n.b))?))
}

/// `b`, `c` and `d`, if `term` is `b ? c : d`, a choice between constants.
fn constant_choice(pool: &Pool, term: Term) -> Option<(Term, Term, Term)> {
    let n = node_if(pool, term, Code::Ite)?;
    let (yes, no) = (Term::from_number(n.b), Term::from_number(n.c));
    pool.constant(yes).and(pool.constant(no))?;
    Some((Term::from_number(n.a), yes, no))
}

/// `(b ? c : d) ∘ e = b ? (c ∘ e) : (d ∘ e)`, and the same with the operands swapped.
fn into_choice(pool: &mut Pool, op: &Operation) -> Option<Term> {
    if pool.constant(op.y()).is_some() {
        let (bit, yes, no) = constant_choice(pool, op.x())?;
        let yes = pool.make(op.code, op.width, yes.number(), op.b, 0);
        let no = pool.make(op.code, op.width, no.number(), op.b, 0);
        return Some(pool.ite(bit, yes, no));
    }
    pool.constant(op.x())?;
    let (bit, yes, no) = constant_choice(pool, op.y())?;
    let yes = pool.make(op.code, op.width, op.a, yes.number(), 0);
    let no = pool.make(op.code, op.width, op.a, no.number(), 0);
    Some(pool.ite(bit, yes, no))
}

/// `x`, if `term` is `zext(x)`.
fn zext_operand(pool: &Pool, term: Term) -> Option<Term> {
    node_if(pool, term, Code::ZExt).map(|n| Term::from_number(n.a))
}

/// `x` and `k`, if `term` is `x:0` with `k` zero bits.
fn split_low_zeros(pool: &Pool, term: Term) -> Option<(Term, u32)> {
    let n = node_if(pool, term, Code::Concat)?;
    let low = Term::from_number(n.a);
    (pool.constant(low) == Some(0)).then(|| (Term::from_number(n.b), pool.width(low)))
}

/// The largest signed number of a width.
fn signed_max(width: u32) -> u128 {
    mask(width) >> 1
}

fn is_negative(value: u128, width: u32) -> bool {
    value >> (width - 1) & 1 == 1
}
