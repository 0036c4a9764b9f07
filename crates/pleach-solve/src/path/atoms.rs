//! What a condition says: the conditions that it is made of, and the bound, the comparison
//! with a constant or the pinned value that it is.

use pleach_expr::{Code, Pool, Term, case_of, mask};

/// The index of the case that a switch takes for a value; the number of cases for the
/// default.
pub(crate) fn outcome(cases: &[u64], value: u128) -> usize {
    case_of(cases, value).unwrap_or(cases.len())
}

/// The interval (both ends included), if `term` is a bound on a length.
pub(crate) fn bound(pool: &Pool, term: Term) -> Option<(u64, u64)> {
    let node = pool.node(term);
    if !matches!(node.code, Code::Ult | Code::Ule | Code::Eq) {
        return None;
    }
    let mut sides = node.operands();
    let (x, y) = (sides.next()?, sides.next()?);
    let is_length = |t: Term| pool.node(t).code == Code::Len;
    match (pool.constant(x), pool.constant(y), node.code) {
        (None, Some(c), Code::Eq) if is_length(x) => Some((c as u64, c as u64)),
        (None, Some(c), Code::Ult) if is_length(x) => Some((0, (c as u64).checked_sub(1)?)),
        (None, Some(c), Code::Ule) if is_length(x) => Some((0, c as u64)),
        (Some(c), None, Code::Ult) if is_length(y) => Some(((c as u64).checked_add(1)?, u64::MAX)),
        (Some(c), None, Code::Ule) if is_length(y) => Some((c as u64, u64::MAX)),
        _ => None,
    }
}

/// Splits a condition into conditions that must all hold.
pub(crate) fn split(pool: &mut Pool, term: Term, parts: &mut Vec<Term>) {
    // Most conditions compare one byte, and need no splitting.
    let node = pool.node(term);
    if !matches!(node.code, Code::And | Code::Xor | Code::Eq) || pool.reads(term).single().is_some()
    {
        parts.push(term);
        return;
    }
    let mut open = vec![term];
    while let Some(term) = open.pop() {
        let node = pool.node(term);
        let mut sides = node.operands();
        let (x, y) = (sides.next(), sides.next());
        match (node.code, x, y) {
            (Code::And, Some(x), Some(y)) if node.width == 1 => open.extend([y, x]),
            // Not (x or y).
            (Code::Xor, Some(x), Some(y))
                if node.width == 1
                    && pool.constant(y) == Some(1)
                    && pool.node(x).code == Code::Or =>
            {
                let either: Vec<Term> = pool.node(x).operands().collect();
                for side in either.into_iter().rev() {
                    let not = pool.not(side);
                    open.push(not);
                }
            }
            (Code::Eq, Some(x), Some(y)) if pool.constant(y).is_some() => {
                let value = pool.constant(y).unwrap_or(0);
                let inner = pool.node(x);
                let pieces: Vec<(u32, Term)> = match inner.code {
                    Code::Read if inner.width > 8 => {
                        (0..inner.width() / 8).map(|i| (8 * i, pool.read(inner.a + i, 1))).collect()
                    }
                    Code::Concat => {
                        let mut sides = inner.operands();
                        match (sides.next(), sides.next()) {
                            (Some(low), Some(high)) => vec![(0, low), (pool.width(low), high)],
                            _ => Vec::new(),
                        }
                    }
                    _ => Vec::new(),
                };
                if pieces.is_empty() {
                    parts.push(term);
                }
                for (shift, piece) in pieces.into_iter().rev() {
                    let width = pool.width(piece);
                    let wanted = pool.number((value >> shift) & mask(width), width);
                    let equal = pool.pair(Code::Eq, piece, wanted);
                    open.push(equal);
                }
            }
            _ => parts.push(term),
        }
    }
}

/// The term that a condition compares with a constant or a set.
pub(super) fn compared(pool: &Pool, atom: Term) -> Option<Term> {
    let node = pool.node(atom);
    let mut operands = node.operands();
    let (x, y) = (operands.next()?, operands.next());
    let is_indexed = |t: Term| pool.width(t) <= 64 && pool.node(t).code.arity() > 0;
    match (node.code, y) {
        (Code::Member, _) if is_indexed(x) => Some(x),
        (Code::Xor, Some(one)) if node.width == 1 && pool.constant(one) == Some(1) => {
            let member = pool.node(x);
            let member = (member.code == Code::Member).then(|| member.operands().next())?;
            member.filter(|&t| is_indexed(t))
        }
        (code, Some(y)) if code.is_compare() => match (pool.constant(x), pool.constant(y)) {
            (None, Some(_)) if is_indexed(x) => Some(x),
            (Some(_), None) if is_indexed(y) => Some(y),
            _ => None,
        },
        _ => None,
    }
}

/// The terms whose value a condition determines, and these values.
pub(super) fn pins(pool: &Pool, atom: Term) -> impl Iterator<Item = (Term, u64)> {
    let node = pool.node(atom);
    let mut operands = node.operands();
    let (x, y) = (operands.next(), operands.next());
    let constant =
        |t: Option<Term>| t.and_then(|t| pool.constant(t)).and_then(|c| u64::try_from(c).ok());
    let pinned = match (node.code, x, constant(y)) {
        (Code::Eq, Some(x), Some(c)) => Some((x, c)),
        // Not x.
        (Code::Xor, Some(x), Some(1)) if node.width == 1 => Some((x, 0)),
        _ => None,
    };
    [(atom, 1)].into_iter().chain(pinned)
}
