//! Tier 2: backwards through operations that can be undone.
//!
//! A goal asks for a value at its top. Each operation passes the wish on to its
//! operands: `x + 5 == 12` wants 7 from `x`, `zext(x) == 7` the same of the
//! narrower `x`, four bytes read as one number want their four bytes. Where an
//! operation has two operands that vary, one is left as it is and the other gets
//! the wish; `10 * x + d`, a number written in digits, gives the last digit what
//! leaves a multiple of ten, and the rest to `x`. A table is searched for the entry that is wanted. An order wants
//! the values next to the bound first: the case just past it is the one that
//! breaks programs.
//!
//! Wishes end at bytes, and a byte only takes what its domain allows. What comes
//! out is a guess, since operands were taken one at a time and other conditions
//! may tie the same bytes: it is evaluated, and the next one tried.

use crate::request::{Changes, Found, Request};
use pleach_expr::{Code, Node, Pool, Term, Var, mask, rules, sign_extend};

/// Guesses that are evaluated for one request.
const MOST_GUESSES: usize = 24;
/// How far down a wish goes.
const DEEPEST: u32 = 200;
/// Wishes passed on for one guess.
const MOST_WISHES: u32 = 5_000;
/// Entries of a table that are tried.
const MOST_ENTRIES: usize = 8;

pub(crate) fn solve(request: &mut Request) -> Found {
    match several(request, 1).pop() {
        Some(changes) => Found::Sat(changes),
        None => Found::Pass,
    }
}

/// Up to `most` different models, those next to a bound first.
pub(crate) fn several(request: &mut Request, most: usize) -> Vec<Changes> {
    let mut models: Vec<Changes> = Vec::new();
    let mut guesses = 0;
    for goal in request.goals.clone() {
        if request.path.values.low(goal) != 0 {
            continue;
        }
        for choice in 0.. {
            if guesses == MOST_GUESSES || models.len() == most {
                return models;
            }
            guesses += 1;
            let mut wish = Wish { request, made: Vec::new(), choice, wishes: 0 };
            let granted = wish.truth(goal, true, 0);
            let changes = wish.changes();
            // More alternatives than there are: the guesses repeat from here on.
            let exhausted = wish.choice > 0;
            let new = granted && !changes.is_empty() && !models.contains(&changes);
            if new && request.holds(&changes) {
                models.push(changes);
            }
            if exhausted {
                break;
            }
        }
    }
    models
}

/// One guess in the making. `choice` says which alternative to take: its bits are
/// consumed where there are several.
struct Wish<'r, 'a> {
    request: &'r mut Request<'a>,
    made: Changes,
    choice: u32,
    wishes: u32,
}

impl Wish<'_, '_> {
    fn changes(&self) -> Changes {
        let mut changes = self.made.clone();
        changes.retain(|&(var, value)| value != self.request.path.current(var));
        changes.sort_unstable();
        changes
    }

    fn pool(&self) -> &Pool {
        &self.request.path.pool
    }

    fn now(&self, term: Term) -> u128 {
        self.request.path.values.get(term)
    }

    /// One of `count` alternatives.
    fn pick(&mut self, count: u32) -> u32 {
        let picked = self.choice % count;
        self.choice /= count;
        picked
    }

    /// Wants a condition to be true, or false.
    fn truth(&mut self, term: Term, wanted: bool, depth: u32) -> bool {
        let node = self.pool().node(term);
        let mut operands = node.operands();
        let (x, y) = (operands.next(), operands.next());
        let (Some(x), y) = (x, y) else { return self.value(term, wanted.into(), depth) };
        match (node.code, y, wanted) {
            (Code::Eq, Some(y), true) | (Code::Ne, Some(y), false) => self.equal(x, y, depth),
            (Code::Eq, Some(y), false) | (Code::Ne, Some(y), true) => self.different(x, y, depth),
            (Code::Ult, Some(y), true) | (Code::Slt, Some(y), true) => {
                self.less(x, y, node.code == Code::Slt, 1, depth)
            }
            (Code::Ule, Some(y), true) | (Code::Sle, Some(y), true) => {
                self.less(x, y, node.code == Code::Sle, 0, depth)
            }
            (Code::Ult | Code::Slt, Some(y), false) => {
                self.less(y, x, node.code == Code::Slt, 0, depth)
            }
            (Code::Ule | Code::Sle, Some(y), false) => {
                self.less(y, x, node.code == Code::Sle, 1, depth)
            }
            (Code::Member, _, true) => {
                let values = self.pool().set(&node).values.clone();
                let Some(count) = u32::try_from(values.len()).ok().filter(|&n| n > 0) else {
                    return false;
                };
                let value = values[self.pick(count) as usize];
                self.value(x, value.into(), depth + 1)
            }
            _ => self.value(term, wanted.into(), depth),
        }
    }

    fn varies(&self, term: Term) -> bool {
        !self.pool().reads(term).is_empty()
    }

    fn equal(&mut self, x: Term, y: Term, depth: u32) -> bool {
        let sides = match (self.varies(x), self.varies(y)) {
            (true, true) => [(x, y), (y, x)][self.pick(2) as usize],
            (true, false) => (x, y),
            _ => (y, x),
        };
        self.value(sides.0, self.now(sides.1), depth + 1)
    }

    fn different(&mut self, x: Term, y: Term, depth: u32) -> bool {
        let (x, other) = if self.varies(x) { (x, y) } else { (y, x) };
        let (other, ones) = (self.now(other), mask(self.pool().width(x)));
        let wanted = [other.wrapping_add(1), other.wrapping_sub(1), 0, other ^ 0x20, !other];
        let wanted = wanted[self.pick(5) as usize] & ones;
        self.value(x, wanted, depth + 1)
    }

    /// Wants `x + gap <= y`.
    fn less(&mut self, x: Term, y: Term, signed: bool, gap: u128, depth: u32) -> bool {
        let width = self.pool().width(x);
        let ones = mask(width);
        let (low, high) = if signed { ((ones >> 1) + 1, ones >> 1) } else { (0, ones) };
        let both = self.varies(x) && self.varies(y);
        let lower = if both { self.pick(2) == 0 } else { self.varies(x) };
        // The value next to the bound, the one at the end, and one between.
        let (fixed, end) = if lower { (self.now(y), low) } else { (self.now(x), high) };
        if gap == 1 && fixed == end {
            return false;
        }
        let next = match lower {
            true => fixed.wrapping_sub(gap) & ones,
            false => fixed.wrapping_add(gap) & ones,
        };
        let between = match signed {
            true => {
                let (a, b) = (sign_extend(next, width), sign_extend(end, width));
                (a / 2 + b / 2) as u128 & ones
            }
            false => next / 2 + end / 2,
        };
        let wanted = [next, end, between][self.pick(3) as usize];
        self.value(if lower { x } else { y }, wanted, depth + 1)
    }

    /// Wants a term to have a value.
    fn value(&mut self, term: Term, wanted: u128, depth: u32) -> bool {
        self.wishes += 1;
        if self.wishes > MOST_WISHES || depth > DEEPEST {
            return false;
        }
        if !self.varies(term) {
            return self.now(term) == wanted;
        }
        let node = self.pool().node(term);
        let mut operands = node.operands();
        let (x, y, z) = (operands.next(), operands.next(), operands.next());
        let width = node.width();
        let ones = mask(width);
        let depth = depth + 1;
        let Some(x) = x else { return self.input(&node, wanted) };
        match (node.code, y) {
            (Code::Add, Some(y)) => self.sum(x, y, wanted, width, depth),
            (Code::Sub, Some(y)) => match self.one_of(x, y) {
                true => self.value(x, wanted.wrapping_add(self.now(y)) & ones, depth),
                false => self.value(y, self.now(x).wrapping_sub(wanted) & ones, depth),
            },
            (Code::Xor, Some(y)) => {
                let (a, b) = if self.one_of(x, y) { (x, y) } else { (y, x) };
                self.value(a, wanted ^ self.now(b), depth)
            }
            (Code::Mul, Some(y)) => {
                let (a, b) = if self.one_of(x, y) { (x, y) } else { (y, x) };
                match factor(wanted, self.now(b), ones) {
                    Some(wanted) => self.value(a, wanted, depth),
                    None => false,
                }
            }
            (Code::And, Some(y)) => {
                let (a, b) = if self.one_of(x, y) { (x, y) } else { (y, x) };
                let keep = self.now(b);
                wanted & !keep == 0 && self.value(a, self.now(a) & !keep | wanted, depth)
            }
            (Code::Or, Some(y)) => {
                let (a, b) = if self.one_of(x, y) { (x, y) } else { (y, x) };
                let set = self.now(b);
                set & !wanted == 0 && self.value(a, self.now(a) & set | wanted & !set, depth)
            }
            (Code::UDiv, Some(y)) if !self.varies(y) => {
                let by = self.now(y);
                let rest = self.now(x).checked_rem(by).unwrap_or(0);
                match wanted.checked_mul(by).map(|v| v + rest).filter(|&v| v <= ones) {
                    Some(wanted) => self.value(x, wanted, depth),
                    None => false,
                }
            }
            (Code::URem, Some(y)) if !self.varies(y) => {
                let by = self.now(y);
                let whole = self.now(x) - self.now(x).checked_rem(by).unwrap_or(0);
                wanted < by && self.value(x, (whole + wanted) & ones, depth)
            }
            (Code::ZExt, _) => wanted <= mask(self.pool().width(x)) && self.value(x, wanted, depth),
            (Code::SExt, _) => {
                let narrow = self.pool().width(x);
                let fits = sign_extend(wanted, width) == sign_extend(wanted, narrow);
                fits && self.value(x, wanted & mask(narrow), depth)
            }
            (Code::Extract, _) => {
                let keep = self.now(x) & !(ones << node.b);
                self.value(x, keep | wanted << node.b, depth)
            }
            (Code::Concat, Some(y)) => {
                let low = self.pool().width(x);
                self.value(x, wanted & mask(low), depth) && self.value(y, wanted >> low, depth)
            }
            (Code::Ite, Some(y)) => {
                let Some(z) = z else { return false };
                let holds = self.now(x) != 0;
                // The way it goes now, or the other.
                let stay = !self.varies(x) || self.pick(2) == 0;
                let taken = holds == stay;
                let branch = if taken { y } else { z };
                (stay || self.truth(x, taken, depth)) && self.value(branch, wanted, depth)
            }
            (Code::BitRev, _) => self.value(x, wanted.reverse_bits() >> (128 - width), depth),
            (Code::Lookup, _) => {
                let table = self.pool().table(&node);
                let entries = (0..table.bytes.len() as u64)
                    .filter(|&at| table.get(at, width) == wanted)
                    .take(MOST_ENTRIES);
                let entries: Vec<u64> = entries.collect();
                let Some(count) = u32::try_from(entries.len()).ok().filter(|&n| n > 0) else {
                    return false;
                };
                let at = entries[self.pick(count) as usize];
                self.value(x, at.into(), depth)
            }
            _ if width == 1 && (node.code.is_compare() || node.code == Code::Member) => {
                // Only what `truth` knows how to pass on; it comes back otherwise.
                let known = match node.code {
                    Code::Eq | Code::Ne => true,
                    Code::Ult | Code::Ule | Code::Slt | Code::Sle => true,
                    Code::Member => wanted != 0,
                    _ => false,
                };
                known && self.truth(term, wanted != 0, depth)
            }
            _ => false,
        }
    }

    /// Which of two operands gets the wish: the first, if so.
    fn one_of(&mut self, x: Term, y: Term) -> bool {
        match (self.varies(x), self.varies(y)) {
            (true, true) => self.pick(2) == 0,
            (first, _) => first,
        }
    }

    fn sum(&mut self, x: Term, y: Term, wanted: u128, width: u32, depth: u32) -> bool {
        let ones = mask(width);
        if self.varies(x) && self.varies(y) {
            // Digits: the quotient to one side and the remainder to the other.
            for (product, rest) in [(x, y), (y, x)] {
                let node = self.pool().node(product);
                let mut operands = node.operands();
                let (Some(a), Some(b)) = (operands.next(), operands.next()) else { continue };
                if let (Code::Mul, Some(by)) = (node.code, self.pool().constant(b))
                    && let Some((digit, left)) = self.digit(rest, wanted, by, ones)
                {
                    return self.value(rest, digit, depth) && self.value(a, left / by, depth);
                }
            }
        }
        let (a, b) = if self.one_of(x, y) { (x, y) } else { (y, x) };
        self.value(a, wanted.wrapping_sub(self.now(b)) & ones, depth)
    }

    /// A value of a term of one byte that leaves a multiple of `by`, and what it
    /// leaves; the least if there are several.
    fn digit(&mut self, term: Term, wanted: u128, by: u128, ones: u128) -> Option<(u128, u128)> {
        let var = self.pool().reads(term).single()?;
        let set = self.request.allowed(var.as_byte()?);
        let (path, changed) = (&*self.request.path, &mut self.request.scratch.changed);
        let input = path.input();
        let values = set.iter().map(|value| {
            changed.start(&path.pool);
            changed.eval(&path.pool, &path.values, &input, &[(var, value.into())], term)
        });
        let left = values.map(|value| (value, wanted.wrapping_sub(value) & ones));
        left.filter(|(_, left)| left.checked_rem(by) == Some(0)).min_by_key(|(_, left)| *left)
    }

    /// A wish that has come down to the input.
    fn input(&mut self, node: &Node, wanted: u128) -> bool {
        if node.code == Code::Len {
            let (low, high) = self.request.path.interval(node.a, self.request.at);
            let high = u128::from(high.min(self.request.limits.length));
            let fits = u128::from(low) <= wanted && wanted <= high;
            return fits && self.set(Var::length(node.a), wanted as u64);
        }
        (0..node.width() / 8).all(|i| {
            let (offset, byte) = (node.a + i, (wanted >> (8 * i)) as u8);
            self.request.allowed(offset).contains(byte) && self.set(Var::byte(offset), byte.into())
        })
    }

    /// Notes a value; two different ones for one input cannot be.
    fn set(&mut self, var: Var, value: u64) -> bool {
        match self.made.iter().find(|c| c.0 == var) {
            Some(&(_, known)) => known == value,
            None => {
                self.made.push((var, value));
                true
            }
        }
    }
}

/// A number that multiplied with `by` gives `wanted`.
fn factor(wanted: u128, by: u128, ones: u128) -> Option<u128> {
    if by == 0 {
        return None;
    }
    let even = by.trailing_zeros();
    if wanted & !(u128::MAX << even) != 0 {
        return None;
    }
    let inverse = rules::inverse(by >> even);
    Some((wanted >> even).wrapping_mul(inverse) & (ones >> even))
}
