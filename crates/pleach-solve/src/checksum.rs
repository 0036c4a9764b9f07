//! Checksums: conditions that compare a function of many bytes with a field of few.
//!
//! A reader of PNG computes the CRC of each chunk, and compares it with the four bytes behind
//! the chunk. So each byte of the chunk is tied to a function of all of them, which no tier
//! inverts. But the field can always be computed from the rest: whatever the other conditions
//! do to the bytes, the comparison can be met at the end. So a flip behind checksums is solved
//! in two steps, as TaintScope (Wang et al., IEEE S&P 2010) does by running the program:
//!
//! 1. The tiers solve the request without the comparisons of checksums. If they refute it, it
//!    is infeasible with them, too.
//! 2. Each comparison that the model breaks is met: the large side is evaluated on the model,
//!    and the small side is inverted. A field may be under another checksum, so this is
//!    repeated until all hold.
//!
//! A comparison is recognised by its sides alone, whatever the function is: one side is many
//! times larger than the other. Where the sides cannot be told apart, because a field is part
//! of what is summed up, [`linear`] finds bytes on which the difference depends linearly.

mod linear;

use crate::inversion;
use crate::path::Path;
use crate::request::{Changes, Found, Request};
use pleach_expr::{Code, Pool, Term, Var};
use rustc_hash::FxHashSet;

/// Inputs that a checksum over its own field reads at least.
const MIN_SUMMED: usize = 5;
/// Inputs that a field may have.
const MAX_FIELD_INPUTS: usize = 16;
/// Operations of the large side, at least, and as a multiple of those of the small side.
const MIN_OPERATIONS: usize = 12;
const MIN_FACTOR: usize = 3;
/// Conditions that read a byte of a field that is part of what is summed up.
const MAX_TIES_OF_FIELD: usize = 8;
/// Operations of one side that are counted.
const MAX_OPERATIONS: usize = 512;
/// Comparisons of one path that are treated as checksums.
const MAX_SUMS: usize = 256;
/// Times that all comparisons are checked and met.
const MAX_ROUNDS: usize = 4;
/// Ways to invert one side that are tried.
const MAX_CHOICES: u32 = 8;

/// A condition that a field can be made to meet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sum {
    pub atom: u32,
    step: u32,
    /// The sides that are inverted, the best one first.
    sides: [Term; 2],
}

/// All conditions of a path that are comparisons of checksums, in their order.
pub(crate) fn find_sums(path: &Path) -> Vec<Sum> {
    let mut sums = Vec::new();
    for (number, atom) in path.atoms().iter().enumerate() {
        if let Some(sides) = sides(path, atom.term) {
            sums.push(Sum { atom: number as u32, step: atom.step, sides });
            if sums.len() == MAX_SUMS {
                break;
            }
        }
    }
    sums
}

/// Solves a goal that is a comparison of a checksum.
pub(crate) fn solve_goal(request: &mut Request) -> Found {
    let &[goal] = &request.goals[..] else { return Found::Pass };
    let Some(sides) = sides(request.path, goal) else { return Found::Pass };
    let mut repair =
        Repair { request, base: Vec::new(), frozen: Vec::new(), sums: FxHashSet::default() };
    repair.set(Vec::new());
    if !repair.meet_linearly(goal, sides) {
        return Found::Pass;
    }
    let Repair { request, base, .. } = repair;
    if request.holds(&base) { Found::Sat(base) } else { Found::Pass }
}

/// The sides of a comparison of a checksum, the field first.
fn sides(path: &Path, condition: Term) -> Option<[Term; 2]> {
    let pool = &path.pool;
    let node = pool.node(condition);
    let mut operands = node.operands();
    let (x, y) = (operands.next()?, operands.next()?);
    if node.code != Code::Eq || pool.width(x) < 8 {
        return None;
    }
    for (sum, other) in [(x, y), (y, x)] {
        if pool.constant(other).is_some() {
            let covers_field = || {
                let extent = Extent::of(path, sum);
                extent.inputs.len() >= MIN_SUMMED && extent.has_free_input(path)
            };
            return (is_sum(pool, sum) && covers_field()).then_some([sum, other]);
        }
    }
    let (of_x, of_y) = (Extent::of(path, x), Extent::of(path, y));
    let is_field = |field: &Extent, sum: &Extent| {
        (1..=MAX_FIELD_INPUTS).contains(&field.inputs.len())
            && !field.has_table
            && sum.operations >= MIN_OPERATIONS.max(MIN_FACTOR * field.operations)
    };
    if is_field(&of_x, &of_y) {
        Some([x, y])
    } else if is_field(&of_y, &of_x) {
        Some([y, x])
    } else {
        None
    }
}

/// True if a term that is compared with a constant looks like a sum over its own field. The
/// state of a parser and the digits of a number do not.
fn is_sum(pool: &Pool, mut term: Term) -> bool {
    const MAX_CASTS: usize = 4;
    for _ in 0..MAX_CASTS {
        let node = pool.node(term);
        let mut operands = node.operands();
        let (Some(x), y) = (operands.next(), operands.next()) else { return false };
        let is_product = |t: Term| pool.node(t).code == Code::Mul;
        match (node.code, y) {
            (Code::Extract | Code::ZExt, _) => term = x,
            (Code::And | Code::Xor | Code::Add | Code::URem, Some(y))
                if pool.constant(y).is_some() =>
            {
                term = x;
            }
            (Code::Add | Code::Sub | Code::Xor, Some(y)) => {
                return !is_product(x) && !is_product(y);
            }
            _ => return false,
        }
    }
    false
}

/// What a term is computed from on the input of the path. Of a choice, as of an element of an
/// array at a place that depends on the input, that is only what is chosen.
#[derive(Default)]
struct Extent {
    operations: usize,
    inputs: FxHashSet<Term>,
    /// The state of a lexer or a parser comes from tables, and is no field.
    has_table: bool,
}

impl Extent {
    /// As far as it matters.
    fn of(path: &Path, root: Term) -> Extent {
        let pool = &path.pool;
        let mut extent = Extent::default();
        let mut seen: FxHashSet<Term> = FxHashSet::default();
        let mut stack = vec![root];
        while let Some(term) = stack.pop() {
            if extent.operations > MAX_OPERATIONS {
                break;
            }
            if pool.reads(term).is_empty() || !seen.insert(term) {
                continue;
            }
            let node = pool.node(term);
            let mut operands = node.operands();
            match (node.code, operands.next(), operands.next(), operands.next()) {
                (Code::Ite, Some(choice), Some(yes), Some(no)) if is_place(pool, choice, yes) => {
                    stack.push(if path.values.low(choice) != 0 { yes } else { no });
                }
                (_, None, ..) => {
                    extent.inputs.insert(term);
                    extent.operations += 1;
                }
                _ => {
                    stack.extend(node.operands());
                    extent.operations += 1;
                    extent.has_table |= node.code == Code::Lookup;
                }
            }
        }
        extent
    }

    /// True if an input is read by few other conditions, and by none alone.
    fn has_free_input(&self, path: &Path) -> bool {
        let is_free = |var: Var| {
            let Some(offset) = var.as_byte() else { return false };
            path.own(offset, usize::MAX).is_empty()
                && path.shared(var, usize::MAX).nth(MAX_TIES_OF_FIELD).is_none()
        };
        self.inputs.iter().any(|&input| path.pool.vars(input).any(is_free))
    }
}

/// True if a choice looks like that of a cell of an array: by the order of two numbers.
fn is_place(pool: &Pool, choice: Term, yes: Term) -> bool {
    matches!(pool.node(choice).code, Code::Ult | Code::Ule | Code::Eq)
        && !pool.reads(yes).is_empty()
}

/// The comparisons before the flip, if one of them reads what the goals read.
pub(crate) fn sums_of(request: &mut Request) -> Vec<Sum> {
    let at = request.at as u32;
    let sums = request.path.sums();
    let before = sums.partition_point(|s| s.step < at);
    let sums = sums[..before].to_vec();
    let reads_goal = |sum: &Sum| {
        let term = request.path.atom(sum.atom).term;
        request.vars().iter().any(|&var| request.path.pool.depends_on(term, var))
    };
    if sums.iter().any(reads_goal) { sums } else { Vec::new() }
}

/// A model of the whole request, from one that the comparisons of `sums` need not hold in.
pub(crate) fn complete(request: &mut Request, sums: &[Sum], model: Changes) -> Option<Changes> {
    let frozen: Vec<Var> = model.iter().map(|c| c.0).collect();
    let atoms = sums.iter().map(|s| s.atom).collect();
    let mut repair = Repair { request, base: Vec::new(), frozen, sums: atoms };
    repair.set(model);
    for _ in 0..MAX_ROUNDS {
        let mut is_met = true;
        for sum in sums {
            let condition = repair.request.path.atom(sum.atom).term;
            if repair.value(condition) == 0 {
                is_met = false;
                if repair.request.is_over() || !repair.meet(condition, sum.sides) {
                    return None;
                }
            }
        }
        if is_met {
            break;
        }
    }
    let Repair { request, base, .. } = repair;
    request.holds(&base).then_some(base)
}

/// A model in which a field is computed.
struct Repair<'r, 'a> {
    request: &'r mut Request<'a>,
    base: Changes,
    /// Inputs that keep their values in `base`.
    frozen: Vec<Var>,
    /// The comparisons that are met in the end.
    sums: FxHashSet<u32>,
}

impl Repair<'_, '_> {
    /// Takes new changes.
    fn set(&mut self, mut changes: Changes) {
        changes.sort_unstable();
        changes.retain(|&(var, value)| value != self.request.path.current(var));
        self.base = changes;
        self.request.scratch.repaired.borrow_mut().start(&self.request.path.pool);
    }

    /// The value of a term with the changes so far.
    fn value(&self, term: Term) -> u128 {
        let path = &*self.request.path;
        let mut repaired = self.request.scratch.repaired.borrow_mut();
        repaired.eval(&path.pool, &path.values, &path.input(), &self.base, term)
    }

    /// The value of an input with the changes so far.
    fn current(&self, var: Var) -> u64 {
        match self.base.binary_search_by_key(&var, |c| c.0) {
            Ok(at) => self.base[at].1,
            Err(_) => self.request.path.current(var),
        }
    }

    /// The changes so far, with others on top.
    fn with(&self, others: &[(Var, u64)]) -> Changes {
        let is_kept = |c: &&(Var, u64)| !others.iter().any(|other| other.0 == c.0);
        self.base.iter().filter(is_kept).chain(others).copied().collect()
    }

    /// Makes a comparison hold. False if that did not work.
    fn meet(&mut self, condition: Term, sides: [Term; 2]) -> bool {
        let before = self.base.clone();
        for (solved, other) in [(sides[0], sides[1]), (sides[1], sides[0])] {
            let wanted = self.value(other);
            for choice in 0..MAX_CHOICES {
                let inverted = inversion::require_after(
                    self.request,
                    (&self.base, &self.frozen),
                    (solved, wanted),
                    choice,
                );
                if let Some(assigned) = inverted.changes {
                    self.set(self.with(&assigned));
                    if self.value(condition) != 0 {
                        return true;
                    }
                    self.set(before.clone());
                }
                if inverted.is_last || self.request.is_over() {
                    break;
                }
            }
        }
        self.meet_linearly(condition, sides)
    }
}
