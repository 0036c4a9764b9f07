//! Why a branch is not covered.
//!
//! An [`Inquiry`] knows the ledger, the coverage, and optionally the [`Sights`] of traces that
//! were made to find out on what conditions depend. It answers for one branch at a time:
//! a branch whose site was reached has a reason of its own; one whose site was not has a
//! guard, the nearest branch on the way to it whose site was reached.

use super::{Ledger, Loss, Sights, Tally};
use crate::run::search::Map;
use pleach_search::{BranchId, Call, FunctionShape, Program};
use std::collections::{HashMap, HashSet, VecDeque};

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub function: String,
    pub file: String,
    pub line: u32,
}

/// Why a branch is covered or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// An input takes it.
    Taken,
    /// No input takes it on any of the paths that were tried. On `pinned` of them the proof
    /// may depend on a value that was held, for one of them at `pin`.
    Refuted { paths: u32, pinned: u32, pin: Option<Place> },
    /// It depends on the input, and the search did not ask for it.
    NeverAsked,
    /// It depends only on parts of the input that the grammar or the template fixes.
    Fixed,
    /// The solver gave up on some of the paths that were tried, or left out conditions.
    Unsolved { paths: u32, unknown: u32, relaxed: u32, refuted: u32 },
    /// The solver found inputs, and their runs did not take it.
    Missed { solved: u32, missed: u32 },
    /// The compiler removed it from the fast half.
    Folded,
    /// It depends on a value whose dependence on the input was lost.
    Lost(Loss),
    /// Its condition is a value that the run has decided on before, at another place.
    Decided,
    /// The compiler has proved that it is never taken.
    Proved,
    /// Its condition did not depend on the input.
    Concrete,
    /// Inputs reach its site, but what its condition depends on is not known: none of them
    /// was traced.
    NotTraced,
    /// No input reaches its site.
    Unreached(Guard),
}

/// What stands before a site that no input reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guard {
    /// The nearest branch on the way that is not covered though its site was reached, and why.
    Branch { branch: BranchId, reason: Box<Reason> },
    /// This branch is covered, but no run came from there to the site: a call between them
    /// did not return.
    NoReturn(BranchId),
    /// Nothing calls the function by its name. It may be called through a pointer.
    NotCalled,
    /// Inputs ended before any branch on the way.
    Entry,
}

/// See the module.
pub struct Inquiry<'a> {
    map: &'a Map,
    ledger: &'a Ledger,
    sights: Option<&'a Sights>,
    is_covered: &'a dyn Fn(BranchId) -> bool,
    graph: Graph,
}

/// A block of a function.
type Block = (u32, u32);

/// The ways into blocks.
struct Graph {
    /// The blocks before a block that go on to it without a branch.
    plain: HashMap<Block, Vec<Block>>,
    /// The branches that lead to a block.
    branches: HashMap<Block, Vec<BranchId>>,
    /// The blocks that call a function.
    callers: HashMap<u32, Vec<Block>>,
}

impl<'a> Inquiry<'a> {
    pub fn new(
        map: &'a Map,
        ledger: &'a Ledger,
        sights: Option<&'a Sights>,
        is_covered: &'a dyn Fn(BranchId) -> bool,
    ) -> Inquiry<'a> {
        Inquiry { map, ledger, sights, is_covered, graph: Graph::new(&map.program) }
    }

    /// Why a branch is covered or not.
    pub fn reason(&self, branch: BranchId) -> Reason {
        if (self.is_covered)(branch) {
            return Reason::Taken;
        }
        if !self.is_site_reached(branch) {
            return Reason::Unreached(self.guard(branch));
        }
        self.reason_at_site(branch)
    }

    /// True if a side of the branch's site is covered.
    pub fn is_site_reached(&self, branch: BranchId) -> bool {
        let site = self.map.program.site_of(branch);
        site.is_some_and(|s| (s.first..s.first + s.sides).any(|side| (self.is_covered)(side)))
    }

    /// Why a branch is not covered though its site was reached.
    fn reason_at_site(&self, branch: BranchId) -> Reason {
        let tally = self.ledger.of(branch);
        if let Some(reason) = reason_of(&tally, |hash| self.map.place_of_site(hash)) {
            return reason;
        }
        let first = self.map.program.site_of(branch).map(|site| site.first);
        let sight = first.zip(self.sights).and_then(|(first, sights)| sights.of(first));
        match sight {
            _ if tally.conditional => Reason::NeverAsked,
            _ if tally.fixed => Reason::Fixed,
            None => Reason::NotTraced,
            Some(sight) if sight.conditional => Reason::NeverAsked,
            Some(sight) => match &sight.lost {
                Some(loss) => Reason::Lost(loss.clone()),
                None if sight.decided => Reason::Decided,
                None if sight.proved => Reason::Proved,
                None => Reason::Concrete,
            },
        }
    }

    /// What stands before a site that no input reaches: the nearest branch on a way to it,
    /// over calls too, whose site was reached.
    fn guard(&self, branch: BranchId) -> Guard {
        let program = &self.map.program;
        let (Some(f), Some(site)) = (program.function_of(branch), program.site_of(branch)) else {
            return Guard::NotCalled;
        };
        let mut seen: HashSet<Block> = HashSet::from([(f, site.block)]);
        let mut queue: VecDeque<Block> = VecDeque::from([(f, site.block)]);
        let (mut covered, mut reaches_entry) = (None, false);
        while let Some(block) = queue.pop_front() {
            let leading = self.graph.branches.get(&block).map_or(&[][..], |all| all);
            let uncovered = leading.iter().copied().filter(|&b| !(self.is_covered)(b));
            if let Some(branch) = uncovered.clone().find(|&b| self.is_site_reached(b)) {
                let reason = Box::new(self.reason_at_site(branch));
                return Guard::Branch { branch, reason };
            }
            // Behind a covered branch the way was open.
            covered = covered.or(leading.iter().copied().find(|&b| (self.is_covered)(b)));
            let deciding = uncovered
                .filter_map(|b| Some((program.function_of(b)?, program.site_of(b)?.block)));
            let plain = self.graph.plain.get(&block).map_or(&[][..], |all| all);
            let mut before: Vec<Block> = deciding.chain(plain.iter().copied()).collect();
            if block.1 == 0 {
                let callers = self.graph.callers.get(&block.0).map_or(&[][..], |all| all);
                reaches_entry |= !callers.is_empty() || is_main(program, block.0);
                before.extend(callers);
            }
            queue.extend(before.into_iter().filter(|&b| seen.insert(b)));
        }
        match covered {
            Some(branch) => Guard::NoReturn(branch),
            None if reaches_entry => Guard::Entry,
            None => Guard::NotCalled,
        }
    }
}

/// What the ledger alone says of a branch whose site was reached.
fn reason_of(tally: &Tally, place: impl Fn(u64) -> Option<Place>) -> Option<Reason> {
    let &Tally { asked: paths, solved, relaxed, refuted, pinned, unknown, missed, pin, .. } = tally;
    if tally.folded {
        return Some(Reason::Folded);
    }
    if solved > 0 {
        return Some(Reason::Missed { solved, missed });
    }
    if unknown + relaxed > 0 {
        return Some(Reason::Unsolved { paths, unknown, relaxed, refuted });
    }
    (refuted > 0).then(|| Reason::Refuted { paths, pinned, pin: place(pin) })
}

fn is_main(program: &Program, function: u32) -> bool {
    let name = program.functions().get(function as usize).map(|f| &*f.name);
    matches!(name, Some("main" | "LLVMFuzzerTestOneInput"))
}

impl Graph {
    fn new(program: &Program) -> Graph {
        let mut graph =
            Graph { plain: HashMap::new(), branches: HashMap::new(), callers: HashMap::new() };
        for (f, function) in (0..).zip(program.functions()) {
            graph.add(f, function);
        }
        graph
    }

    fn add(&mut self, f: u32, function: &FunctionShape) {
        let mut decides = HashSet::new();
        for site in &function.sites {
            for (branch, &target) in (site.first..site.first + site.sides).zip(&site.targets) {
                decides.insert(site.block);
                self.branches.entry((f, target)).or_default().push(branch);
            }
        }
        for (block, next) in (0..).zip(&function.blocks) {
            if !decides.contains(&block) {
                for &to in next {
                    self.plain.entry((f, to)).or_default().push((f, block));
                }
            }
        }
        for &Call { block, callee } in &function.calls {
            if let Some(callee) = callee {
                self.callers.entry(callee).or_default().push((f, block));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tally_of_a_branch_gives_its_reason() {
        let reason = |tally: Tally| reason_of(&tally, |_| None);
        let base = Tally { asked: 3, ..Tally::default() };
        assert_eq!(reason(Tally::default()), None);
        assert_eq!(
            reason(Tally { refuted: 3, pinned: 1, ..base }),
            Some(Reason::Refuted { paths: 3, pinned: 1, pin: None })
        );
        assert_eq!(
            reason(Tally { refuted: 2, unknown: 1, ..base }),
            Some(Reason::Unsolved { paths: 3, unknown: 1, relaxed: 0, refuted: 2 })
        );
        assert_eq!(
            reason(Tally { solved: 1, refuted: 2, missed: 1, ..base }),
            Some(Reason::Missed { solved: 1, missed: 1 })
        );
        assert_eq!(reason(Tally { folded: true, ..base }), Some(Reason::Folded));
    }
}
