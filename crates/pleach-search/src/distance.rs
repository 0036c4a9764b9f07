//! The distance from each branch to the nearest uncovered one, in the weighted static graph
//! of CREST's control-flow directed search.
//!
//! The nodes are blocks. An edge from a conditional to one of its sides has weight 1. All
//! other edges have weight 0, also the edge from a block to the entry of a function that it
//! calls. There is no edge back to the caller; calls are assumed to return. An uncovered
//! branch has distance 0. A covered branch has the distance of the block that it leads to.
//! A block has the distance of the nearest branch that it reaches, plus one.
//!
//! One breadth-first search, backwards from the blocks that end in uncovered branches,
//! computes all distances. It takes time in proportion to the program, and runs only after
//! coverage grew. That is soon rare, so nothing here is incremental.

use crate::coverage::Coverage;
use crate::program::{BranchId, Program};
use std::collections::{HashMap, VecDeque};

/// See the module.
pub struct Distances {
    /// For each branch: the block that it ends, and the block that it leads to.
    sides: Vec<(u32, u32)>,
    /// The first block of each function.
    first_block: Vec<u32>,
    /// The edges into block `b` are `edges[first_edge[b]..first_edge[b + 1]]`: where each
    /// comes from, and its weight.
    first_edge: Vec<u32>,
    edges: Vec<(u32, u8)>,
    /// The distance of each block.
    blocks: Vec<u32>,
}

/// The distance if no uncovered branch can be reached.
pub const FAR: u32 = u32::MAX;
const NO_BLOCK: u32 = u32::MAX;

impl Distances {
    /// The graph without calls through pointers, as in CREST.
    pub fn new(program: &Program) -> Distances {
        Distances::with_edges(program, false)
    }

    /// The graph with calls through pointers: each leads to every function of its type whose
    /// address is taken. It has one more node for each such type.
    pub fn with_pointers(program: &Program) -> Distances {
        Distances::with_edges(program, true)
    }

    fn with_edges(program: &Program, with_pointers: bool) -> Distances {
        let functions = program.functions();
        let mut first = Vec::with_capacity(functions.len());
        let mut total = 0u32;
        for f in functions {
            first.push(total);
            total += f.blocks.len() as u32;
        }
        let mut sides = vec![(NO_BLOCK, NO_BLOCK); program.branches()];
        let mut edges: Vec<(u32, u32, u8)> = Vec::new();
        for (f, &base) in functions.iter().zip(&first) {
            let block = |b: u32| if (b as usize) < f.blocks.len() { base + b } else { NO_BLOCK };
            let mut decides = vec![false; f.blocks.len()];
            for site in &f.sites {
                let from = block(site.block);
                for side in 0..site.sides {
                    let to = site.targets.get(side as usize).map_or(NO_BLOCK, |&t| block(t));
                    sides[(site.first + side) as usize] = (from, to);
                    edges.push((from, to, 1));
                }
                if !site.targets.is_empty() && from != NO_BLOCK {
                    decides[site.block as usize] = true;
                }
            }
            let plain = f.blocks.iter().enumerate().filter(|(b, _)| !decides[*b]);
            edges.extend(
                plain.flat_map(|(b, next)| {
                    next.iter().map(move |&n| (base + b as u32, block(n), 0))
                }),
            );
            let calls = f.calls.iter().filter_map(|c| Some((c.block, c.callee?)));
            edges.extend(calls.filter_map(|(b, callee)| {
                let entry = functions.get(callee as usize).filter(|f| !f.blocks.is_empty());
                entry.map(|_| (block(b), first[callee as usize], 0))
            }));
        }
        if with_pointers {
            let mut types: HashMap<u32, u32> = HashMap::new();
            for (f, &base) in functions.iter().zip(&first).filter(|(f, _)| !f.blocks.is_empty()) {
                let mut node = |shape: u32| {
                    let next = total + types.len() as u32;
                    *types.entry(shape).or_insert(next)
                };
                for &(block, shape) in &f.pointer_calls {
                    edges.push((base + block, node(shape), 1));
                }
                edges.extend(f.taken_as.map(|shape| (node(shape), base, 0)));
            }
            total += types.len() as u32;
        }
        edges.retain(|&(from, to, _)| from != NO_BLOCK && to != NO_BLOCK);
        edges.sort_by_key(|&(_, to, _)| to);
        let mut first_edge = vec![0; total as usize + 1];
        edges.iter().for_each(|&(_, to, _)| first_edge[to as usize + 1] += 1);
        (0..total as usize).for_each(|b| first_edge[b + 1] += first_edge[b]);
        let edges = edges.into_iter().map(|(from, _, weight)| (from, weight)).collect();
        Distances {
            sides,
            first_block: first,
            first_edge,
            edges,
            blocks: vec![FAR; total as usize],
        }
    }

    /// Computes the distances for the current coverage.
    pub fn update(&mut self, program: &Program, coverage: &Coverage) {
        self.blocks.fill(FAR);
        let mut queue = VecDeque::new();
        for (branch, &(from, _)) in self.sides.iter().enumerate() {
            let is_goal = counts_as_uncovered(program, coverage, branch as BranchId);
            if is_goal && from != NO_BLOCK && self.blocks[from as usize] != 1 {
                self.blocks[from as usize] = 1;
                queue.push_back(from);
            }
        }
        self.spread(queue);
    }

    /// Computes the distances to some blocks, each given by its function and its number there:
    /// a block among them has distance 0.
    pub fn update_toward(&mut self, goals: impl IntoIterator<Item = (u32, u32)>) {
        self.blocks.fill(FAR);
        let mut queue = VecDeque::new();
        for (function, block) in goals {
            let Some(first) = self.first_block.get(function as usize) else { continue };
            if let Some(distance) = self.blocks.get_mut((first + block) as usize) {
                *distance = 0;
                queue.push_back(first + block);
            }
        }
        self.spread(queue);
    }

    /// The distance of a branch after [`Distances::update_toward`]: that of the block that it
    /// leads to.
    pub fn toward(&self, branch: BranchId) -> u32 {
        let to = self.sides.get(branch as usize).map_or(NO_BLOCK, |s| s.1);
        self.blocks.get(to as usize).copied().unwrap_or(FAR)
    }

    /// Spreads the distances of the blocks in the queue, which is sorted by them.
    fn spread(&mut self, mut queue: VecDeque<u32>) {
        // Blocks over edges of weight 0 have the same distance: they go to the front.
        while let Some(block) = queue.pop_front() {
            let here = self.blocks[block as usize];
            let first = self.first_edge[block as usize] as usize;
            let end = self.first_edge[block as usize + 1] as usize;
            for &(from, weight) in &self.edges[first..end] {
                let there = here + u32::from(weight);
                if there < self.blocks[from as usize] {
                    self.blocks[from as usize] = there;
                    match weight {
                        0 => queue.push_front(from),
                        _ => queue.push_back(from),
                    }
                }
            }
        }
    }

    /// The distance of a branch; [`FAR`] if it leads to no uncovered one.
    pub fn of(&self, program: &Program, coverage: &Coverage, branch: BranchId) -> u32 {
        if counts_as_uncovered(program, coverage, branch) {
            return 0;
        }
        self.toward(branch)
    }
}

fn counts_as_uncovered(program: &Program, coverage: &Coverage, branch: BranchId) -> bool {
    !coverage.has(branch) && program.counts(branch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::Counts;
    use crate::program::{Call, FunctionShape, SiteShape};
    use crate::rng::Rng;

    /// A few functions with random blocks, edges, sites and calls.
    fn random_program(rng: &mut Rng) -> Program {
        let count = 1 + rng.below(4);
        let mut branch = 0;
        let functions = (0..count).map(|_| {
            let n = 1 + rng.below(8);
            let mut f = FunctionShape::default();
            for b in 0..n {
                let mut some = |max| (0..rng.below(max)).map(|_| rng.below(n) as u32).collect();
                let next: Vec<u32> = some(4);
                if next.len() > 1 {
                    let (first, sides) = (branch, next.len() as u32);
                    branch += sides;
                    let site = SiteShape {
                        first,
                        sides,
                        block: b as u32,
                        targets: if rng.below(5) == 0 { vec![] } else { next.clone() },
                        counts: rng.below(6) != 0,
                    };
                    f.sites.push(site);
                }
                f.blocks.push(next);
                if rng.below(3) == 0 {
                    let callee = Some(rng.below(count) as u32).filter(|_| rng.coin());
                    f.calls.push(Call { block: b as u32, callee });
                }
            }
            f
        });
        Program::new(functions.collect(), [])
    }

    /// The definition, applied until nothing changes.
    fn by_definition(program: &Program, coverage: &Coverage) -> Vec<u32> {
        let functions = program.functions();
        let mut blocks: Vec<Vec<u32>> =
            functions.iter().map(|f| vec![FAR; f.blocks.len()]).collect();
        let side = |blocks: &[Vec<u32>], f: usize, site: &SiteShape, side: u32| {
            let branch = site.first + side;
            if !coverage.has(branch) && site.counts {
                return 0;
            }
            site.targets.get(side as usize).map_or(FAR, |&t| blocks[f][t as usize])
        };
        loop {
            let before = blocks.clone();
            for (f, function) in functions.iter().enumerate() {
                for b in 0..function.blocks.len() {
                    let sites = || function.sites.iter().filter(|s| s.block as usize == b);
                    let ahead = sites().flat_map(|s| (0..s.sides).map(move |i| (s, i)));
                    let mut best = ahead
                        .map(|(s, i)| side(&before, f, s, i).saturating_add(1))
                        .min()
                        .unwrap_or(FAR);
                    if sites().all(|s| s.targets.is_empty()) {
                        let next = function.blocks[b].iter().map(|&n| before[f][n as usize]);
                        best = best.min(next.min().unwrap_or(FAR));
                    }
                    let calls = function.calls.iter().filter(|c| c.block as usize == b);
                    let entries = calls.filter_map(|c| c.callee).map(|c| before[c as usize][0]);
                    blocks[f][b] = best.min(entries.min().unwrap_or(FAR));
                }
            }
            if blocks == before {
                let sides = functions.iter().enumerate().flat_map(|(f, function)| {
                    function.sites.iter().flat_map(move |s| (0..s.sides).map(move |i| (f, s, i)))
                });
                return sides.map(|(f, s, i)| side(&blocks, f, s, i)).collect();
            }
        }
    }

    /// `main` (0) decides 0/1; the true side calls a function of type 7 through a pointer.
    /// `hook` (1) is of this type, and decides 2/3; `other` (2) is of another.
    #[test]
    fn calls_through_pointers_lead_to_functions_of_their_type() {
        let decide = |first, shape| FunctionShape {
            blocks: vec![vec![1, 2], vec![], vec![]],
            sites: vec![SiteShape { first, sides: 2, block: 0, targets: vec![1, 2], counts: true }],
            taken_as: shape,
            ..FunctionShape::default()
        };
        let main = FunctionShape { pointer_calls: vec![(1, 7)], ..decide(0, None) };
        let program = Program::new(vec![main, decide(2, Some(7)), decide(4, Some(8))], []);
        let mut distances = Distances::with_pointers(&program);
        distances.update_toward([(1, 2)]);
        let found: Vec<u32> = (0..6).map(|b| distances.toward(b)).collect();
        assert_eq!(found, [2, FAR, FAR, 0, FAR, FAR]);
        distances.update_toward([(2, 1)]);
        assert_eq!((distances.toward(0), distances.toward(4)), (FAR, 0));
        let mut direct = Distances::new(&program);
        direct.update_toward([(1, 2)]);
        assert_eq!(direct.toward(0), FAR);
    }

    #[test]
    fn distances_agree_with_the_definition() {
        let mut rng = Rng::new(11);
        for _ in 0..2000 {
            let program = random_program(&mut rng);
            let counts: Vec<u8> =
                (0..program.branches()).map(|_| u8::from(rng.below(3) != 0)).collect();
            let mut coverage = Coverage::new(&program);
            let counts = Counts::from_all(&counts);
            let mut gain = coverage.news(&counts);
            coverage.add(&program, &counts, &mut gain);
            let mut distances = Distances::new(&program);
            distances.update(&program, &coverage);
            let found: Vec<u32> = (0..program.branches() as u32)
                .map(|b| distances.of(&program, &coverage, b))
                .collect();
            assert_eq!(found, by_definition(&program, &coverage), "{program:?} {counts:?}");
        }
    }
}
