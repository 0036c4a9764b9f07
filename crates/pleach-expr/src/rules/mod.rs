//! Simplification: one table of rules, each headed by its equation.
//!
//! A rule sees an operation whose operands are terms already simplified, and
//! answers with a term that has the same value on every input, or with nothing.
//! What it makes goes through the table again. Every rule makes something of
//! fewer or cheaper operations, or moves towards one form out of several:
//!
//! - constants stand on the right;
//! - a subtraction of a constant is an addition;
//! - shifts by constants, masks of consecutive bits and words put together from
//!   bytes are `Extract`, `Concat` and `ZExt`, which cost a solver nothing;
//! - a comparison goes down to the bytes that it is about: through extensions,
//!   additions and the like, to the width where it is decided;
//! - orders are `Ult` and `Slt` against a constant where one side is one;
//! - the negation of a comparison is a comparison.
//!
//! The letters of the equations: `x y z` any terms, `c d` constants, `b` one bit,
//! `|x|` the width of `x`, `x[i..j]` bits, `y:x` a concatenation with `x` low.
//! The test beside this goes through the table: every rule must fire on
//! random terms, and what it makes must have the same value.

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

/// An operation that is about to become a term.
#[derive(Clone, Copy, Debug)]
pub struct Made {
    pub code: Code,
    pub width: u32,
    pub a: u32,
    pub b: u32,
    pub c: u32,
}

impl Made {
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

/// A rule: the equation that it stands for, and how it is applied.
pub struct Rule {
    pub equation: &'static str,
    pub(crate) apply: fn(&mut Pool, &Made) -> Option<Term>,
}

/// All rules, by the operation that they are about.
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

/// A simpler term for `made`, by the first rule that has one.
pub(crate) fn simplify(pool: &mut Pool, made: &Made) -> Option<Term> {
    if let Some(folded) = fold(pool, made) {
        return Some(folded);
    }
    let mut made = *made;
    // c ∘ x = x ∘ c
    let swapped = made.code.is_commutative() && pool.constant(made.x()).is_some();
    if swapped {
        (made.a, made.b) = (made.b, made.a);
    }
    match rules(made.code).iter().find_map(|rule| (rule.apply)(pool, &made)) {
        None if swapped => Some(pool.intern(made.code, made.width, made.a, made.b, made.c)),
        better => better,
    }
}

/// An operation on constants alone is a constant.
fn fold(pool: &mut Pool, made: &Made) -> Option<Term> {
    let arity = made.code.arity();
    if arity == 0 {
        return None;
    }
    let value = |n: usize, at: u32| match n < arity {
        true => pool.constant(Term::from_number(at)),
        false => Some(0),
    };
    let (a, b, c) = (value(0, made.a)?, value(1, made.b)?, value(2, made.c)?);
    let node =
        Node { code: made.code, width: made.width as u8, bits: 0, a: made.a, b: made.b, c: made.c };
    let value = compute128(pool, &node, pool.width(made.x()), a, b, c);
    Some(pool.number(value, made.width))
}

/// The operands of `term`, if it is `code`.
fn is(pool: &Pool, term: Term, code: Code) -> Option<Node> {
    Some(pool.node(term)).filter(|n| n.code == code)
}

/// `x` and `c` of `x ∘ c`, if `term` is that.
fn with_constant(pool: &Pool, term: Term, code: Code) -> Option<(Term, u128)> {
    let n = is(pool, term, code)?;
    Some((Term::from_number(n.a), pool.constant(Term::from_number(n.b))?))
}

/// `b`, `c` and `d` of `b ? c : d`.
fn choice(pool: &Pool, term: Term) -> Option<(Term, Term, Term)> {
    let n = is(pool, term, Code::Ite)?;
    let (yes, no) = (Term::from_number(n.b), Term::from_number(n.c));
    pool.constant(yes).and(pool.constant(no))?;
    Some((Term::from_number(n.a), yes, no))
}

/// `(b ? c : d) ∘ e = b ? (c ∘ e) : (d ∘ e)`, and the other way round.
fn into_choice(pool: &mut Pool, m: &Made) -> Option<Term> {
    if pool.constant(m.y()).is_some() {
        let (bit, yes, no) = choice(pool, m.x())?;
        let yes = pool.make(m.code, m.width, yes.number(), m.b, 0);
        let no = pool.make(m.code, m.width, no.number(), m.b, 0);
        return Some(pool.ite(bit, yes, no));
    }
    pool.constant(m.x())?;
    let (bit, yes, no) = choice(pool, m.y())?;
    let yes = pool.make(m.code, m.width, m.a, yes.number(), 0);
    let no = pool.make(m.code, m.width, m.a, no.number(), 0);
    Some(pool.ite(bit, yes, no))
}

/// `x` of `zext(x)`.
fn extended(pool: &Pool, term: Term) -> Option<Term> {
    is(pool, term, Code::ZExt).map(|n| Term::from_number(n.a))
}

/// The high part of a term whose low `k` bits are a constant 0, and `k`.
fn shifted(pool: &Pool, term: Term) -> Option<(Term, u32)> {
    let n = is(pool, term, Code::Concat)?;
    let low = Term::from_number(n.a);
    (pool.constant(low) == Some(0)).then(|| (Term::from_number(n.b), pool.width(low)))
}

/// `|x| - 1` ones: the largest signed number.
fn signed_max(width: u32) -> u128 {
    mask(width) >> 1
}

fn is_negative(value: u128, width: u32) -> bool {
    value >> (width - 1) & 1 == 1
}
