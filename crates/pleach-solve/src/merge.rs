//! Bytes that the conditions make equal are merged before the tiers that prove something.
//!
//! A program that looks a name up computes its hash, takes the chain of that hash from a table,
//! and compares the name with each name in the chain, byte by byte. So the path says that two
//! names of the input are equal, and both have hashes in the slice. A tier that does not use
//! the equality explores both names, which is the product of their states. With one variable
//! for each pair of equal bytes, both hashes are the same term.
//!
//! The merged request has the conditions as goals: terms in which each byte is replaced by the
//! first one that equals it. It has a model exactly if the request itself has one. The flips of
//! a path often merge the same bytes, so the path keeps what it has replaced ([`MergedTerms`]).

use crate::request::{Changes, Request, Slice};
use pleach_automata::ByteSet;
use pleach_expr::{Code, Pool, Term, Var};
use rustc_hash::FxHashMap;

/// Terms that are replaced for one request.
const MAX_REPLACED: usize = 1 << 16;
/// Terms that all requests of a path may add to it.
const MAX_ADDED: usize = 1 << 20;
/// Ways to merge bytes for which a path keeps the replaced terms, and how many.
const MAX_WAYS: usize = 4;
const MAX_KEPT: usize = 1 << 18;

/// The conditions of a request on merged bytes.
pub(crate) enum Merged {
    Goals(Vec<Term>, Classes),
    /// A condition is false on all inputs.
    Unsat,
}

/// By byte: another byte that equals it, nearer to the first one of its class.
#[derive(Default)]
pub(crate) struct Classes {
    parents: FxHashMap<Var, Var>,
}

impl Classes {
    /// The first byte that equals this one.
    fn first(&self, var: Var) -> Var {
        let mut first = var;
        while let Some(&parent) = self.parents.get(&first) {
            first = parent;
        }
        first
    }

    fn join(&mut self, a: Var, b: Var) {
        let (a, b) = (self.first(a), self.first(b));
        if a != b {
            self.parents.insert(a.max(b), a.min(b));
        }
    }

    /// The bytes that are replaced, sorted, each with the byte that replaces it.
    fn replaced(&self) -> Vec<(Var, Var)> {
        let mut all: Vec<_> = self.parents.keys().map(|&v| (v, self.first(v))).collect();
        all.sort_unstable();
        all
    }

    /// The model of the request, from that of the merged request.
    pub fn expand(&self, request: &Request, merged: &Changes) -> Changes {
        let path = &*request.path;
        let value = |var: Var| {
            let found = merged.binary_search_by_key(&var, |c| c.0);
            found.map_or_else(|_| path.current(var), |at| merged[at].1)
        };
        let members = self.replaced().into_iter().map(|(var, first)| (var, value(first)));
        let mut all: Changes = merged.iter().copied().chain(members).collect();
        all.retain(|&(var, value)| value != path.current(var));
        all.sort_unstable();
        all
    }
}

/// Merges the bytes that are equal in all models. `None` if there are none, or if that takes too
/// much work.
pub(crate) fn merge(request: &mut Request, slice: &Slice) -> Option<Merged> {
    let atoms = slice.atoms.iter().map(|&a| request.path.atom(a).term);
    let conditions: Vec<Term> = request.goals.iter().copied().chain(atoms).collect();
    let mut classes = Classes::default();
    for &condition in &conditions {
        if let Some((a, b)) = equal_bytes(&request.path.pool, condition) {
            classes.join(a, b);
        }
    }
    let replaced = classes.replaced();
    if replaced.is_empty() || request.path.merged.added > MAX_ADDED {
        return None;
    }
    let sets: Vec<(Var, ByteSet)> = replaced
        .iter()
        .filter_map(|&(var, first)| Some((first, request.domain(var.as_byte()?))))
        .collect();
    let pool = &mut request.path.pool;
    let before = pool.len();
    let done = request.path.merged.take(&replaced);
    let known = done.len();
    let mut replacer = Replacer { pool, replaced: &replaced, done, known };
    let mut goals = Vec::new();
    let mut is_unsat = false;
    for condition in conditions {
        let goal = replacer.replace(condition);
        let Some(goal) = goal else {
            request.path.merged.added += request.path.pool.len() - before;
            request.path.refresh();
            return None;
        };
        match replacer.pool.constant(goal) {
            Some(value) => is_unsat |= value == 0,
            None => goals.push(goal),
        }
    }
    request.scratch.graph_work += (replacer.done.len() - known) as u64;
    let done = replacer.done;
    for (first, set) in sets.into_iter().filter(|(_, set)| *set != ByteSet::ALL) {
        let byte = first.as_byte().map(|offset| pool.read(offset, 1));
        let values: Vec<u64> = set.iter().map(u64::from).collect();
        goals.extend(byte.map(|byte| pool.member(byte, &values)));
    }
    request.path.merged.added += request.path.pool.len() - before;
    request.path.merged.keep(replaced, done);
    request.path.refresh();
    goals.sort_unstable();
    goals.dedup();
    Some(if is_unsat { Merged::Unsat } else { Merged::Goals(goals, classes) })
}

/// What the requests of a path have merged.
#[derive(Default)]
pub(crate) struct MergedTerms {
    /// Terms that merging has added to the pool.
    added: usize,
    /// The last one first.
    ways: Vec<Way>,
}

/// A way to merge bytes: the bytes that were replaced, and the terms with these replaced.
type Way = (Vec<(Var, Var)>, FxHashMap<Term, Term>);

impl MergedTerms {
    /// Bytes of memory, roughly.
    pub fn memory(&self) -> usize {
        let of_way = |(bytes, terms): &Way| 8 * bytes.capacity() + 9 * terms.capacity();
        self.ways.iter().map(of_way).sum()
    }

    /// The terms that are known for one way to merge bytes.
    fn take(&mut self, replaced: &[(Var, Var)]) -> FxHashMap<Term, Term> {
        let place = self.ways.iter().position(|way| way.0 == replaced);
        place.map_or(FxHashMap::default(), |place| self.ways.remove(place).1)
    }

    fn keep(&mut self, replaced: Vec<(Var, Var)>, terms: FxHashMap<Term, Term>) {
        if terms.len() <= MAX_KEPT {
            self.ways.truncate(MAX_WAYS - 1);
            self.ways.insert(0, (replaced, terms));
        }
    }
}

/// The two bytes that a condition makes equal.
fn equal_bytes(pool: &Pool, condition: Term) -> Option<(Var, Var)> {
    let node = pool.node(condition);
    let byte = |term: Term| {
        let read = pool.node(term);
        (read.code == Code::Read && read.width() == 8).then_some(Var::byte(read.a))
    };
    let mut operands = node.operands();
    match (node.code, operands.next(), operands.next()) {
        (Code::Eq, Some(a), Some(b)) => Some((byte(a)?, byte(b)?)),
        _ => None,
    }
}

/// Replaces bytes in terms.
struct Replacer<'a> {
    pool: &'a mut Pool,
    replaced: &'a [(Var, Var)],
    done: FxHashMap<Term, Term>,
    /// How many terms earlier requests have replaced.
    known: usize,
}

impl Replacer<'_> {
    /// `None` if the term is too large.
    fn replace(&mut self, root: Term) -> Option<Term> {
        let mut stack = vec![root];
        while let Some(&term) = stack.last() {
            if self.done.contains_key(&term) {
                stack.pop();
                continue;
            }
            let new = self.done.len() - self.known;
            if new >= MAX_REPLACED || pleach_work::spend(1) {
                return None;
            }
            if !self.reads_replaced(term) {
                self.done.insert(term, term);
                continue;
            }
            let node = self.pool.node(term);
            if node.code == Code::Read {
                let new = self.read(node.a, node.width() / 8);
                self.done.insert(term, new);
                continue;
            }
            let before = stack.len();
            stack.extend(node.operands().filter(|o| !self.done.contains_key(o)));
            if stack.len() == before {
                let operands: Vec<Term> = node.operands().map(|o| self.done[&o]).collect();
                let new = self.pool.with_operands(term, &operands);
                self.done.insert(term, new);
                stack.pop();
            }
        }
        self.done.get(&root).copied()
    }

    fn reads_replaced(&self, term: Term) -> bool {
        self.pool.var_ranges(term).iter().any(|&(from, to)| {
            let at = self.replaced.partition_point(|(var, _)| var.0 < from);
            self.replaced.get(at).is_some_and(|(var, _)| var.0 < to)
        })
    }

    fn read(&mut self, offset: u32, bytes: u32) -> Term {
        let mut whole = None;
        for offset in offset..offset + bytes {
            let var = Var::byte(offset);
            let place = self.replaced.binary_search_by_key(&var, |r| r.0);
            let first = place.ok().and_then(|at| self.replaced[at].1.as_byte());
            let byte = self.pool.read(first.unwrap_or(offset), 1);
            whole = Some(whole.map_or(byte, |low| self.pool.concat(low, byte)));
        }
        whole.unwrap_or_else(|| self.pool.read(offset, bytes))
    }
}
