//! Tier 2: solves a goal backwards, through operations that have an inverse.
//!
//! A goal requires a value of its top term. Each operation turns this into a value
//! that it requires of an operand: `x + 5 == 12` requires 7 of `x`, `zext(x) == 7`
//! requires 7 of the narrower `x`, and a read of four bytes requires a value of each
//! byte. If both operands of an operation depend on the input, one keeps its current
//! value and the other is solved for. `10 * x + d`, a number in decimal digits, is
//! special: `d` becomes the digit that leaves a multiple of ten, and `x` the rest. A
//! table is searched for the required entry. An order tries the value next to the
//! bound first, because the first value past a bound is the one that breaks programs.
//!
//! The result is a guess: only one operand was solved for, and other conditions may
//! read the same bytes. Each guess is evaluated. If it fails, the next one takes other
//! operands or other values.

mod float;

pub(crate) use float::{from_order, to_order};

use crate::request::{Changes, Found, Request};
use pleach_expr::{Code, Node, Pool, Term, Var, mask, rules, sign_extend};

/// Guesses that one request may evaluate.
const MAX_GUESSES: usize = 24;
/// How deep below the goal a guess may require values.
const MAX_DEPTH: u32 = 200;
/// Terms that one guess may require a value of.
const MAX_REQUIRED: u32 = 5_000;
/// Entries of a table that are tried.
const MAX_ENTRIES: usize = 8;

pub(crate) fn solve(request: &mut Request) -> Found {
    let mut guesses = 0;
    for goal in request.goals.clone() {
        if request.path.values.low(goal) != 0 {
            continue;
        }
        for choice in 0.. {
            if guesses == MAX_GUESSES || request.is_over() {
                return Found::Pass;
            }
            guesses += 1;
            let mut guess = Guess::new(request, choice);
            let is_consistent = guess.require_truth(goal, true, 0);
            let changes = guess.changes();
            // This guess used up all alternatives. Later ones would repeat earlier ones.
            let is_last = guess.choice > 0;
            if is_consistent && !changes.is_empty() && request.holds(&changes) {
                return Found::Sat(changes);
            }
            if is_last {
                break;
            }
        }
    }
    Found::Pass
}

/// The changes with which some terms have these values, if inversion finds them. They are
/// not checked.
pub(crate) fn require(request: &mut Request, wanted: &[(Term, u128)]) -> Option<Changes> {
    let mut guess = Guess::new(request, 0);
    let is_consistent = wanted.iter().all(|&(term, value)| guess.require_value(term, value, 0));
    is_consistent.then(|| guess.changes())
}

/// Inputs that have changed already, and those that must not change again.
type Base<'r> = (&'r [(Var, u64)], &'r [Var]);

/// What [`require_after`] found.
pub(crate) struct Inverted {
    /// The inputs that get values.
    pub changes: Option<Changes>,
    /// True if later choices repeat this one.
    pub is_last: bool,
}

/// The inputs with which a term has a value, if others have changed already. The values of terms
/// with these changes are in [`crate::request::Scratch::repaired`].
pub(crate) fn require_after(
    request: &mut Request,
    base: Base,
    (term, wanted): (Term, u128),
    choice: u32,
) -> Inverted {
    let mut guess = Guess { base: Some(base), ..Guess::new(request, choice) };
    let is_consistent = guess.require_value(term, wanted, 0);
    let is_last = guess.choice > 0;
    Inverted { changes: is_consistent.then_some(guess.assigned), is_last }
}

/// One guess. The methods `require_...` return false if the guess cannot work.
struct Guess<'r, 'a> {
    request: &'r mut Request<'a>,
    /// For [`require_after`].
    base: Option<Base<'r>>,
    /// Values that this guess gives to inputs.
    assigned: Changes,
    /// Which alternatives to take. [`Guess::pick`] consumes it digit by digit.
    choice: u32,
    /// Terms that a value was required of so far.
    required: u32,
}

impl<'r, 'a> Guess<'r, 'a> {
    fn new(request: &'r mut Request<'a>, choice: u32) -> Self {
        Guess { request, base: None, assigned: Vec::new(), choice, required: 0 }
    }
}

impl Guess<'_, '_> {
    fn changes(&self) -> Changes {
        let mut changes = self.assigned.clone();
        changes.retain(|&(var, value)| value != self.request.path.current(var));
        changes.sort_unstable();
        changes
    }

    fn pool(&self) -> &Pool {
        &self.request.path.pool
    }

    /// The value of a term on the input of the path, with the changes before this guess.
    fn current(&self, term: Term) -> u128 {
        let path = &*self.request.path;
        match self.base {
            None => path.values.get(term),
            Some((base, _)) => {
                let mut repaired = self.request.scratch.repaired.borrow_mut();
                repaired.eval(&path.pool, &path.values, &path.input(), base, term)
            }
        }
    }

    /// Takes one of `count` alternatives.
    fn pick(&mut self, count: u32) -> u32 {
        let picked = self.choice % count;
        self.choice /= count;
        picked
    }

    fn reads_input(&self, term: Term) -> bool {
        !self.pool().reads(term).is_empty()
    }

    /// True if `x` is the operand to solve for, and `y` keeps its value.
    fn picks_first(&mut self, x: Term, y: Term) -> bool {
        match (self.reads_input(x), self.reads_input(y)) {
            (true, true) => self.pick(2) == 0,
            (first, _) => first,
        }
    }

    /// The operand to solve for, and the one that keeps its value.
    fn pick_operand(&mut self, x: Term, y: Term) -> (Term, Term) {
        if self.picks_first(x, y) { (x, y) } else { (y, x) }
    }

    fn require_truth(&mut self, term: Term, wanted: bool, depth: u32) -> bool {
        let node = self.pool().node(term);
        let mut operands = node.operands();
        let (x, y) = (operands.next(), operands.next());
        let (Some(x), y) = (x, y) else { return self.require_value(term, wanted.into(), depth) };
        match (node.code, y, wanted) {
            (Code::Eq, Some(y), true) | (Code::Ne, Some(y), false) => {
                self.require_equal(x, y, depth)
            }
            (Code::Eq, Some(y), false) | (Code::Ne, Some(y), true) => {
                self.require_different(x, y, depth)
            }
            (Code::Ult, Some(y), true) | (Code::Slt, Some(y), true) => {
                self.require_order(x, y, node.code == Code::Slt, 1, depth)
            }
            (Code::Ule, Some(y), true) | (Code::Sle, Some(y), true) => {
                self.require_order(x, y, node.code == Code::Sle, 0, depth)
            }
            (Code::Ult | Code::Slt, Some(y), false) => {
                self.require_order(y, x, node.code == Code::Slt, 0, depth)
            }
            (Code::Ule | Code::Sle, Some(y), false) => {
                self.require_order(y, x, node.code == Code::Sle, 1, depth)
            }
            (code, Some(y), wanted) if code.is_float_compare() => {
                self.require_float_truth(code, x, y, wanted, depth)
            }
            (Code::And, Some(y), true) | (Code::Or, Some(y), false) if node.width == 1 => {
                [x, y].into_iter().all(|bit| {
                    self.current(bit) == u128::from(wanted)
                        || self.require_truth(bit, wanted, depth + 1)
                })
            }
            (Code::And, Some(y), false) | (Code::Or, Some(y), true) if node.width == 1 => {
                let (picked, _) = self.pick_operand(x, y);
                self.require_truth(picked, wanted, depth + 1)
            }
            (Code::Member, _, true) => {
                let values = self.pool().set(&node).values.clone();
                let Some(count) = u32::try_from(values.len()).ok().filter(|&n| n > 0) else {
                    return false;
                };
                let value = values[self.pick(count) as usize];
                self.require_value(x, value.into(), depth + 1)
            }
            _ => self.require_value(term, wanted.into(), depth),
        }
    }

    fn require_equal(&mut self, x: Term, y: Term, depth: u32) -> bool {
        let (solved, kept) = match (self.reads_input(x), self.reads_input(y)) {
            (true, true) => [(x, y), (y, x)][self.pick(2) as usize],
            (true, false) => (x, y),
            _ => (y, x),
        };
        self.require_value(solved, self.current(kept), depth + 1)
    }

    fn require_different(&mut self, x: Term, y: Term, depth: u32) -> bool {
        let (solved, kept) = self.pick_operand(x, y);
        let (other, ones) = (self.current(kept), mask(self.pool().width(solved)));
        let wanted = [other.wrapping_add(1), other.wrapping_sub(1), 0, other ^ 0x20, !other];
        let wanted = wanted[self.pick(5) as usize] & ones;
        self.require_value(solved, wanted, depth + 1)
    }

    /// Requires `x + gap <= y`.
    fn require_order(&mut self, x: Term, y: Term, signed: bool, gap: u128, depth: u32) -> bool {
        let width = self.pool().width(x);
        let ones = mask(width);
        let (low, high) = if signed { ((ones >> 1) + 1, ones >> 1) } else { (0, ones) };
        let both = self.reads_input(x) && self.reads_input(y);
        let solve_x = if both { self.pick(2) == 0 } else { self.reads_input(x) };
        let (bound, end) = if solve_x { (self.current(y), low) } else { (self.current(x), high) };
        if gap == 1 && bound == end {
            return false;
        }
        // The value next to the bound, the last one, and one between them.
        let next = match solve_x {
            true => bound.wrapping_sub(gap) & ones,
            false => bound.wrapping_add(gap) & ones,
        };
        let between = match signed {
            true => {
                let (a, b) = (sign_extend(next, width), sign_extend(end, width));
                (a / 2 + b / 2) as u128 & ones
            }
            false => next / 2 + end / 2,
        };
        let wanted = [next, end, between][self.pick(3) as usize];
        self.require_value(if solve_x { x } else { y }, wanted, depth + 1)
    }

    fn require_value(&mut self, term: Term, wanted: u128, depth: u32) -> bool {
        self.required += 1;
        if self.required > MAX_REQUIRED || depth > MAX_DEPTH {
            return false;
        }
        if !self.reads_input(term) {
            return self.current(term) == wanted;
        }
        let node = self.pool().node(term);
        let depth = depth + 1;
        let mut operands = node.operands();
        let Some(x) = operands.next() else { return self.assign_input(&node, wanted) };
        match (node.code, operands.next(), operands.next()) {
            (Code::Ite, Some(yes), Some(no)) => self.invert_choice(x, yes, no, wanted, depth),
            (Code::Lookup, ..) => self.invert_lookup(&node, x, wanted, depth),
            (
                Code::And
                | Code::Or
                | Code::ZExt
                | Code::SExt
                | Code::Extract
                | Code::Concat
                | Code::BitRev,
                y,
                _,
            ) => self.invert_bits(&node, x, y, wanted, depth),
            (code, ..) if code.is_float_compare() => self.require_truth(term, wanted != 0, depth),
            (code, y, _) if code.touches_float() => self.invert_float(&node, x, y, wanted, depth),
            (code, Some(y), _) if !code.is_compare() => {
                self.invert_arithmetic(&node, x, y, wanted, depth)
            }
            // Only what `require_truth` can solve: it calls this function for the rest.
            (Code::Eq | Code::Ne | Code::Ult | Code::Ule | Code::Slt | Code::Sle, ..) => {
                self.require_truth(term, wanted != 0, depth)
            }
            (Code::Member, ..) if wanted != 0 => self.require_truth(term, true, depth),
            _ => false,
        }
    }

    fn invert_arithmetic(
        &mut self,
        node: &Node,
        x: Term,
        y: Term,
        wanted: u128,
        depth: u32,
    ) -> bool {
        let ones = mask(node.width());
        match node.code {
            Code::Add => self.invert_sum(x, y, wanted, ones, depth),
            Code::Sub => match self.picks_first(x, y) {
                true => self.require_value(x, wanted.wrapping_add(self.current(y)) & ones, depth),
                false => self.require_value(y, self.current(x).wrapping_sub(wanted) & ones, depth),
            },
            Code::Xor => {
                let (solved, kept) = self.pick_operand(x, y);
                self.require_value(solved, wanted ^ self.current(kept), depth)
            }
            Code::Mul => {
                let (solved, kept) = self.pick_operand(x, y);
                match divide_modular(wanted, self.current(kept), ones) {
                    Some(wanted) => self.require_value(solved, wanted, depth),
                    None => false,
                }
            }
            Code::UDiv if !self.reads_input(y) => {
                let by = self.current(y);
                let rest = self.current(x).checked_rem(by).unwrap_or(0);
                match wanted.checked_mul(by).map(|v| v + rest).filter(|&v| v <= ones) {
                    Some(wanted) => self.require_value(x, wanted, depth),
                    None => false,
                }
            }
            Code::URem if !self.reads_input(y) => {
                let by = self.current(y);
                let whole = self.current(x) - self.current(x).checked_rem(by).unwrap_or(0);
                wanted < by && self.require_value(x, (whole + wanted) & ones, depth)
            }
            _ => false,
        }
    }

    fn invert_bits(
        &mut self,
        node: &Node,
        x: Term,
        y: Option<Term>,
        wanted: u128,
        depth: u32,
    ) -> bool {
        let width = node.width();
        match (node.code, y) {
            (Code::And, Some(y)) => {
                let (solved, kept) = self.pick_operand(x, y);
                let keep = self.current(kept);
                wanted & !keep == 0
                    && self.require_value(solved, self.current(solved) & !keep | wanted, depth)
            }
            (Code::Or, Some(y)) if self.reads_input(x) && self.reads_input(y) => {
                let (of_x, of_y) = (self.possible_bits(x, 0), self.possible_bits(y, 0));
                match of_x & of_y {
                    0 => {
                        wanted & !(of_x | of_y) == 0
                            && self.require_value(x, wanted & of_x, depth)
                            && self.require_value(y, wanted & of_y, depth)
                    }
                    _ => self.invert_or(x, y, wanted, depth),
                }
            }
            (Code::Or, Some(y)) => self.invert_or(x, y, wanted, depth),
            (Code::ZExt, _) => {
                wanted <= mask(self.pool().width(x)) && self.require_value(x, wanted, depth)
            }
            (Code::SExt, _) => {
                let narrow = self.pool().width(x);
                let is_extension = sign_extend(wanted, width) == sign_extend(wanted, narrow);
                is_extension && self.require_value(x, wanted & mask(narrow), depth)
            }
            (Code::Extract, _) => {
                let keep = self.current(x) & !(mask(width) << node.b);
                self.require_value(x, keep | wanted << node.b, depth)
            }
            (Code::Concat, Some(y)) => {
                let low = self.pool().width(x);
                self.require_value(x, wanted & mask(low), depth)
                    && self.require_value(y, wanted >> low, depth)
            }
            (Code::BitRev, _) => {
                self.require_value(x, wanted.reverse_bits() >> (128 - width), depth)
            }
            _ => false,
        }
    }

    fn invert_or(&mut self, x: Term, y: Term, wanted: u128, depth: u32) -> bool {
        let (solved, kept) = self.pick_operand(x, y);
        let set = self.current(kept);
        set & !wanted == 0
            && self.require_value(solved, self.current(solved) & set | wanted & !set, depth)
    }

    /// The bits that may be set in a value of a term.
    fn possible_bits(&self, term: Term, depth: u32) -> u128 {
        const MAX_POSSIBLE_DEPTH: u32 = 6;
        let node = self.pool().node(term);
        let unknown = mask(self.pool().bits(term));
        let mut operands = node.operands();
        let (Some(x), y) = (operands.next(), operands.next()) else { return unknown };
        if depth == MAX_POSSIBLE_DEPTH {
            return unknown;
        }
        let of = |t: Term| self.possible_bits(t, depth + 1);
        let constant = y.and_then(|y| self.pool().constant(y));
        unknown
            & match (node.code, y) {
                (Code::ZExt, _) => of(x),
                (Code::Concat, Some(y)) => of(x) | of(y) << self.pool().width(x),
                (Code::And, Some(y)) => of(x) & constant.unwrap_or_else(|| of(y)),
                (Code::Or | Code::Xor, Some(y)) => of(x) | of(y),
                (Code::Shl, _) => constant.map_or(unknown, |by| of(x).unbounded_shl(by as u32)),
                _ => unknown,
            }
    }

    /// `condition ? yes : no`, with the condition as it is now or the other way.
    fn invert_choice(
        &mut self,
        condition: Term,
        yes: Term,
        no: Term,
        wanted: u128,
        depth: u32,
    ) -> bool {
        let holds = self.current(condition) != 0;
        let keep = !self.reads_input(condition) || self.pick(2) == 0;
        let taken = holds == keep;
        let branch = if taken { yes } else { no };
        (keep || self.require_truth(condition, taken, depth))
            && self.require_value(branch, wanted, depth)
    }

    fn invert_lookup(&mut self, node: &Node, index: Term, wanted: u128, depth: u32) -> bool {
        let table = self.pool().table(node);
        let entries: Vec<u64> = (0..table.bytes.len() as u64)
            .filter(|&at| table.get(at, node.width()) == wanted)
            .take(MAX_ENTRIES)
            .collect();
        let Some(count) = u32::try_from(entries.len()).ok().filter(|&n| n > 0) else {
            return false;
        };
        let at = entries[self.pick(count) as usize];
        self.require_value(index, at.into(), depth)
    }

    fn invert_sum(&mut self, x: Term, y: Term, wanted: u128, ones: u128, depth: u32) -> bool {
        if self.reads_input(x) && self.reads_input(y) {
            // A number in digits: `product` is all digits but the last, times the base.
            for (product, last) in [(x, y), (y, x)] {
                let node = self.pool().node(product);
                let mut operands = node.operands();
                let (Some(a), Some(b)) = (operands.next(), operands.next()) else { continue };
                if let (Code::Mul, Some(base)) = (node.code, self.pool().constant(b))
                    && let Some((digit, rest)) = self.find_digit(last, wanted, base, ones)
                {
                    return self.require_value(last, digit, depth)
                        && self.require_value(a, rest / base, depth);
                }
            }
        }
        let (solved, kept) = self.pick_operand(x, y);
        self.require_value(solved, wanted.wrapping_sub(self.current(kept)) & ones, depth)
    }

    /// A value of a term of one byte such that `wanted` minus that value, the rest, is a
    /// multiple of `base`. Returns the value with the smallest rest, and the rest.
    fn find_digit(
        &mut self,
        term: Term,
        wanted: u128,
        base: u128,
        ones: u128,
    ) -> Option<(u128, u128)> {
        let var = self.pool().reads(term).single()?;
        let set = self.request.allowed(var.as_byte()?);
        let (path, changed) = (&*self.request.path, &mut self.request.scratch.changed);
        let input = path.input();
        let values = set.iter().map(|value| {
            changed.start(&path.pool);
            changed.eval(&path.pool, &path.values, &input, &[(var, value.into())], term)
        });
        let rests = values.map(|value| (value, wanted.wrapping_sub(value) & ones));
        rests.filter(|(_, rest)| rest.checked_rem(base) == Some(0)).min_by_key(|(_, rest)| *rest)
    }

    /// Gives a leaf its value, if the conditions on the single inputs allow it.
    fn assign_input(&mut self, node: &Node, wanted: u128) -> bool {
        if node.code == Code::Len {
            let (low, high) = self.request.path.interval(node.a, self.request.at);
            let high = u128::from(high.min(self.request.limits.length));
            let is_allowed = u128::from(low) <= wanted && wanted <= high;
            return is_allowed && self.assign(Var::length(node.a), wanted as u64);
        }
        (0..node.width() / 8).all(|i| {
            let (offset, byte) = (node.a + i, (wanted >> (8 * i)) as u8);
            self.request.allowed(offset).contains(byte)
                && self.assign(Var::byte(offset), byte.into())
        })
    }

    /// False if the guess has given this input another value before.
    fn assign(&mut self, var: Var, value: u64) -> bool {
        if let Some((base, frozen)) = self.base
            && frozen.contains(&var)
        {
            return base.contains(&(var, value));
        }
        match self.assigned.iter().find(|c| c.0 == var) {
            Some(&(_, before)) => before == value,
            None => {
                self.assigned.push((var, value));
                true
            }
        }
    }
}

/// `x` such that `x * by == wanted`, modulo `ones + 1`.
fn divide_modular(wanted: u128, by: u128, ones: u128) -> Option<u128> {
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
