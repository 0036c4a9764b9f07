//! Places that a search should get to, and how a run shows that it was there.
//!
//! The program counts branches, not blocks. But most blocks follow from a branch: the one that
//! leads to them, or one that they end in. So each goal has its *evidence*, the branches that
//! no run takes without executing one of the goal's blocks. It is found once, in the static
//! graph:
//!
//! - The branch that leads to the block, and those that it decides. From a block that follows
//!   another without a branch, the search for evidence continues in the other one. This assumes
//!   that calls return; if a function ends the program instead, the compiler mostly knows.
//! - The start of a function is shown by every branch of it. If it has none, by the blocks that
//!   call it, or by a counter of its own if its address is taken.
//! - Where control may leave a block in two ways without a counter, a call that throws, only
//!   the normal way is followed; the other is shown only by what comes after it.

use crate::program::{BranchId, FunctionShape, Program};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// A place: reached when one of its blocks was executed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Goal {
    /// Function and block.
    pub blocks: Vec<(u32, u32)>,
}

/// All goals of a search, and which are reached.
#[derive(Debug, Default)]
pub struct Aim {
    goals: Vec<Goal>,
    evidence: HashMap<BranchId, Vec<usize>>,
    /// Goals that no branch shows.
    invisible: Vec<usize>,
    reached: Vec<AtomicBool>,
}

impl Aim {
    pub fn new(program: &Program, goals: Vec<Goal>) -> Aim {
        let graph = Graph::new(program);
        let mut evidence: HashMap<BranchId, Vec<usize>> = HashMap::new();
        let mut invisible = Vec::new();
        for (number, goal) in goals.iter().enumerate() {
            let shown = graph.evidence(&goal.blocks);
            if shown.is_empty() {
                invisible.push(number);
            }
            shown.into_iter().for_each(|b| evidence.entry(b).or_default().push(number));
        }
        let reached = goals.iter().map(|_| AtomicBool::new(false)).collect();
        Aim { goals, evidence, invisible, reached }
    }

    pub fn goals(&self) -> &[Goal] {
        &self.goals
    }

    /// The goals that these branches show.
    pub fn shown_by<'a>(
        &'a self,
        branches: impl IntoIterator<Item = &'a BranchId>,
    ) -> BTreeSet<usize> {
        branches.into_iter().filter_map(|b| self.evidence.get(b)).flatten().copied().collect()
    }

    /// The goals that no branch shows: no run can be seen to reach them.
    pub fn invisible(&self) -> &[usize] {
        &self.invisible
    }

    /// Records that a goal is reached. True if it was not before.
    pub fn reach(&self, goal: usize) -> bool {
        self.reached.get(goal).is_some_and(|r| !r.swap(true, Relaxed))
    }

    pub fn is_reached(&self, goal: usize) -> bool {
        self.reached.get(goal).is_some_and(|r| r.load(Relaxed))
    }

    /// The goals that are not reached yet.
    pub fn open(&self) -> Vec<usize> {
        (0..self.goals.len()).filter(|&goal| !self.is_reached(goal)).collect()
    }
}

/// The static graph, as far as evidence needs it.
struct Graph<'a> {
    functions: &'a [FunctionShape],
    /// For each function, the blocks that call it.
    callers: Vec<Vec<(u32, u32)>>,
    /// For each block of each function, how control comes there.
    incoming: Vec<Vec<Vec<Incoming>>>,
}

/// An edge to a block.
#[derive(Clone, Copy)]
enum Incoming {
    /// A branch that is counted.
    Side(BranchId),
    /// The block before it, without a branch.
    Next(u32),
    /// The way of an exception, or of a jump that is not counted.
    Other,
}

/// How control comes to each block of a function.
fn incoming(function: &FunctionShape) -> Vec<Vec<Incoming>> {
    let mut all = vec![Vec::new(); function.blocks.len()];
    let mut decides = vec![false; function.blocks.len()];
    for site in function.sites.iter().filter(|s| !s.targets.is_empty()) {
        if let Some(decides) = decides.get_mut(site.block as usize) {
            *decides = true;
        }
        for (side, &to) in (site.first..).zip(&site.targets) {
            all.get_mut(to as usize).into_iter().for_each(|l| l.push(Incoming::Side(side)));
        }
    }
    for (from, next) in function.blocks.iter().enumerate().filter(|(b, _)| !decides[*b]) {
        for (at, &to) in next.iter().enumerate() {
            // The first successor is the normal one.
            let edge = if at == 0 { Incoming::Next(from as u32) } else { Incoming::Other };
            all.get_mut(to as usize).into_iter().for_each(|l| l.push(edge));
        }
    }
    all
}

impl<'a> Graph<'a> {
    fn new(program: &'a Program) -> Graph<'a> {
        let functions = program.functions();
        let mut callers = vec![Vec::new(); functions.len()];
        for (f, function) in functions.iter().enumerate() {
            for call in &function.calls {
                if let Some(list) = call.callee.and_then(|c| callers.get_mut(c as usize)) {
                    list.push((f as u32, call.block));
                }
            }
        }
        let incoming = functions.iter().map(incoming).collect();
        Graph { functions, callers, incoming }
    }

    /// The branches that show that one of the blocks was executed.
    fn evidence(&self, blocks: &[(u32, u32)]) -> BTreeSet<BranchId> {
        let mut shown = BTreeSet::new();
        let mut waiting: Vec<(u32, u32)> = blocks.to_vec();
        let mut seen: HashSet<(u32, u32)> = waiting.iter().copied().collect();
        while let Some((f, block)) = waiting.pop() {
            let Some(function) = self.functions.get(f as usize) else { continue };
            shown.extend(self.after(f, block));
            let mut look_at = |place| {
                if seen.insert(place) {
                    waiting.push(place);
                }
            };
            for edge in self.incoming[f as usize].get(block as usize).into_iter().flatten() {
                match *edge {
                    Incoming::Side(side) => drop(shown.insert(side)),
                    Incoming::Next(from) => look_at((f, from)),
                    Incoming::Other => {}
                }
            }
            if block == 0 {
                let own = function.sites.iter().flat_map(|s| s.first..s.first + s.sides);
                let before = shown.len();
                shown.extend(own);
                if shown.len() == before && function.sites.is_empty() {
                    self.callers[f as usize].iter().for_each(|&caller| look_at(caller));
                }
            }
        }
        shown
    }

    /// The branches that are taken only after a block was executed: those that it decides
    /// itself, and those of blocks that nothing else leads to.
    fn after(&self, f: u32, block: u32) -> Vec<BranchId> {
        let function = &self.functions[f as usize];
        let (mut block, mut left) = (block, function.blocks.len());
        while left > 0 {
            left -= 1;
            let sites = function.sites.iter().filter(|s| s.block == block && !s.is_entry());
            let shown: Vec<_> = sites.flat_map(|s| s.first..s.first + s.sides).collect();
            let next = function.blocks.get(block as usize).map(Vec::as_slice);
            let Some(&[next]) = next.filter(|_| shown.is_empty()) else { return shown };
            let edges = self.incoming[f as usize].get(next as usize).map_or(0, Vec::len);
            if edges > 1 || next == 0 {
                return shown;
            }
            block = next;
        }
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Call, SiteShape};

    fn site(first: u32, block: u32, targets: [u32; 2]) -> SiteShape {
        SiteShape { first, sides: 2, block, targets: targets.into(), counts: true }
    }

    /// `main` (0): block 0 decides 0/1 to blocks 1 and 2; both lead to 3, which calls `log`
    /// and then goes to 4, which decides 2/3 to 5 and 6. `log` (1) has no branch and calls
    /// `write` (2), which has none either. `hook` (3) has an entry counter, 4. `dead` (4) has
    /// no caller.
    fn program() -> Program {
        let main = FunctionShape {
            name: "main".into(),
            blocks: vec![vec![1, 2], vec![3], vec![3], vec![4], vec![5, 6], vec![], vec![]],
            sites: vec![site(0, 0, [1, 2]), site(2, 4, [5, 6])],
            calls: vec![Call { block: 3, callee: Some(1) }],
            ..FunctionShape::default()
        };
        let plain = |name: &str, calls| FunctionShape {
            name: name.into(),
            blocks: vec![vec![]],
            calls,
            ..FunctionShape::default()
        };
        let entry = SiteShape { first: 4, sides: 1, block: 0, targets: vec![], counts: false };
        let hook = FunctionShape { sites: vec![entry], ..plain("hook", vec![]) };
        let log = plain("log", vec![Call { block: 0, callee: Some(2) }]);
        Program::new(vec![main, log, plain("write", vec![]), hook, plain("dead", vec![])], [])
    }

    #[test]
    fn branches_show_which_blocks_were_executed() {
        let program = program();
        let shown = |function, block| {
            let goal = Goal { blocks: vec![(function, block)] };
            let aim = Aim::new(&program, vec![goal]);
            let mut by: Vec<_> = aim.evidence.keys().copied().collect();
            by.sort_unstable();
            by
        };
        assert_eq!(shown(0, 0), [0, 1, 2, 3], "every branch shows that main began");
        assert_eq!(shown(0, 1), [0]);
        assert_eq!(shown(0, 2), [1]);
        assert_eq!(shown(0, 3), [0, 1, 2, 3], "whichever way leads there");
        assert_eq!(shown(0, 5), [2]);
        assert_eq!(shown(1, 0), shown(0, 3), "a function without branches: its caller");
        assert_eq!(shown(2, 0), shown(0, 3), "and the caller of its caller");
        assert_eq!(shown(3, 0), [4]);
        assert_eq!(shown(4, 0), [0; 0]);
    }

    #[test]
    fn a_goal_is_reached_once() {
        let blocks = [(0, 1), (4, 0)].map(|block| Goal { blocks: vec![block] });
        let aim = Aim::new(&program(), blocks.to_vec());
        assert_eq!((aim.open(), aim.invisible()), (vec![0, 1], &[1][..]));
        let shown = aim.shown_by(&[3, 0]);
        assert_eq!(shown.into_iter().collect::<Vec<_>>(), [0]);
        assert!(aim.reach(0) && !aim.reach(0) && aim.is_reached(0));
        assert_eq!(aim.open(), [1]);
    }
}
