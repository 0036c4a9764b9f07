//! How often a run entered each block of a function, from the counters of its branches.
//!
//! What flows into a block flows out of it. The counters give the flow along the edges of
//! branches and switches; the flow along the other edges, and so the count of each block,
//! follows from them. A function without branches may have a counter at its entry.
//!
//! Some flow does not go where the graph says: `exit`, `longjmp` and an exception leave a
//! function in the middle of a block. Then two rules give different counts for a block, and
//! the answer depends on how the run ended. In a run that exited, counters further down are
//! believed: a branch that was not counted was not reached. In a run that crashed or was
//! killed, the flow into a block is believed, because the end of the block may not have been
//! reached.

use pleach_abi::function::Function;
use pleach_abi::section::SiteKind;

/// The flow of one function, prepared for many runs.
#[derive(Debug)]
pub struct Flow {
    blocks: usize,
    edges: Vec<Edge>,
    incoming: Vec<Vec<u32>>,
    outgoing: Vec<Vec<u32>>,
    /// Counters that give the count of a block: of each select, the first and the number; the
    /// counter of the entry.
    counted: Vec<(u32, u32, u32)>,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    /// The counter of this edge, among those of the function.
    counter: Option<u32>,
    /// Taken only if nothing else explains the counts: after an exception, or a failed check.
    is_unusual: bool,
}

impl Flow {
    /// `counters` has, for each site of the function, its first counter and their number.
    pub fn new(function: &Function, counters: &[(u32, u32)]) -> Flow {
        let blocks = function.blocks.len();
        let mut decided = vec![false; blocks];
        let mut flow = Flow {
            blocks,
            edges: Vec::new(),
            incoming: vec![Vec::new(); blocks],
            outgoing: vec![Vec::new(); blocks],
            counted: Vec::new(),
        };
        for (site, &(first, number)) in function.sites.iter().zip(counters) {
            if number == 0 || site.block as usize >= blocks {
                continue;
            }
            match site.kind {
                SiteKind::Branch | SiteKind::Switch | SiteKind::Jump => {
                    decided[site.block as usize] = true;
                    for (i, &to) in (0..number).zip(&site.targets) {
                        flow.add(site.block, to, Some(first + i), false);
                    }
                }
                _ => flow.counted.push((site.block, first, number)),
            }
        }
        for (from, successors) in function.blocks.iter().enumerate() {
            if !decided[from] {
                for (i, &to) in successors.iter().enumerate() {
                    flow.add(from as u32, to, None, i > 0);
                }
            }
        }
        flow
    }

    fn add(&mut self, from: u32, to: u32, counter: Option<u32>, is_unusual: bool) {
        if to as usize >= self.blocks {
            return;
        }
        let edge = self.edges.len() as u32;
        self.outgoing[from as usize].push(edge);
        self.incoming[to as usize].push(edge);
        self.edges.push(Edge { counter, is_unusual });
    }

    /// The count of each block. `counts` are the counters of the function in one run.
    pub fn block_counts(&self, counts: &[u8], has_exited: bool) -> Vec<u64> {
        let count = |counter: u32| u64::from(counts.get(counter as usize).copied().unwrap_or(0));
        let edges = self.edges.iter().map(|e| e.counter.map(count)).collect();
        let mut state = State { flow: self, edges, blocks: vec![None; self.blocks], has_exited };
        for &(block, first, number) in &self.counted {
            let sum: u64 = (first..first + number).map(count).sum();
            let known = state.blocks[block as usize].unwrap_or(0);
            state.blocks[block as usize] = Some(sum.max(known));
        }
        state.settle();
        // What is still open has no counter at all: exceptions and failed checks. Close one
        // edge after the other, as in the common case.
        for edge in 0..self.edges.len() {
            if state.edges[edge].is_none() && self.edges[edge].is_unusual {
                state.edges[edge] = Some(0);
                state.settle();
            }
        }
        state.finish()
    }
}

struct State<'a> {
    flow: &'a Flow,
    edges: Vec<Option<u64>>,
    blocks: Vec<Option<u64>>,
    has_exited: bool,
}

impl State<'_> {
    /// Applies the rules until nothing changes. Each step gives a block or an edge its count,
    /// so there are at most as many steps as blocks and edges.
    fn settle(&mut self) {
        let rules: [fn(&mut Self, usize) -> bool; 4] = match self.has_exited {
            true => [
                Self::count_by_outgoing,
                Self::fill_incoming,
                Self::count_by_incoming,
                Self::fill_outgoing,
            ],
            false => [
                Self::count_by_incoming,
                Self::fill_outgoing,
                Self::count_by_outgoing,
                Self::fill_incoming,
            ],
        };
        loop {
            // The later rules are for what the first ones leave open.
            let changed = rules.iter().any(|rule| {
                // Every block gets the rule, also after one that changed.
                (0..self.flow.blocks).filter(|&block| rule(self, block)).count() > 0
            });
            if !changed {
                return;
            }
        }
    }

    fn sum(&self, edges: &[u32]) -> Option<u64> {
        edges.iter().map(|&e| self.edges[e as usize]).sum()
    }

    fn count_by_incoming(&mut self, block: usize) -> bool {
        let sum = if block == 0 { None } else { self.sum(&self.flow.incoming[block]) };
        self.set(block, sum)
    }

    fn count_by_outgoing(&mut self, block: usize) -> bool {
        let outgoing = &self.flow.outgoing[block];
        let sum = if outgoing.is_empty() { None } else { self.sum(outgoing) };
        self.set(block, sum)
    }

    fn set(&mut self, block: usize, count: Option<u64>) -> bool {
        let is_new = self.blocks[block].is_none() && count.is_some();
        if is_new {
            self.blocks[block] = count;
        }
        is_new
    }

    fn fill_incoming(&mut self, block: usize) -> bool {
        block != 0 && self.fill(block, &self.flow.incoming[block])
    }

    fn fill_outgoing(&mut self, block: usize) -> bool {
        self.fill(block, &self.flow.outgoing[block])
    }

    /// Gives the only edge without a count what is left of the block's count. If nothing is
    /// left, there may be several.
    fn fill(&mut self, block: usize, edges: &[u32]) -> bool {
        let Some(count) = self.blocks[block] else { return false };
        let open = || edges.iter().filter(|&&e| self.edges[e as usize].is_none());
        let known: u64 = edges.iter().filter_map(|&e| self.edges[e as usize]).sum();
        let rest = count.saturating_sub(known);
        let chosen: Vec<u32> = match open().count() {
            0 => return false,
            1 => open().copied().collect(),
            _ if rest == 0 => open().copied().collect(),
            _ => return false,
        };
        chosen.into_iter().for_each(|e| self.edges[e as usize] = Some(rest));
        true
    }

    fn finish(self) -> Vec<u64> {
        let known =
            |edges: &[u32]| -> u64 { edges.iter().filter_map(|&e| self.edges[e as usize]).sum() };
        let count = |block: usize| {
            let (incoming, outgoing) = (&self.flow.incoming[block], &self.flow.outgoing[block]);
            let counted = self.flow.counted.iter().any(|c| c.0 as usize == block);
            let own = self.blocks[block].unwrap_or(0);
            match self.has_exited && self.blocks[block].is_some() && !counted {
                true => own,
                false => own.max(known(outgoing)).max(if block == 0 { 0 } else { known(incoming) }),
            }
        };
        (0..self.flow.blocks).map(count).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_abi::function::SiteInfo;

    fn site(kind: SiteKind, block: u32, targets: &[u32]) -> SiteInfo {
        SiteInfo {
            hash: 0,
            kind,
            file: String::new(),
            line: 1,
            column: 1,
            block,
            targets: targets.to_vec(),
            cases: Vec::new(),
        }
    }

    fn function(blocks: &[&[u32]], sites: Vec<SiteInfo>) -> Function {
        let blocks = blocks.iter().map(|b| b.to_vec()).collect();
        Function { blocks, sites, ..Function::default() }
    }

    fn counts(f: &Function, counters: &[(u32, u32)], run: &[u8], has_exited: bool) -> Vec<u64> {
        Flow::new(f, counters).block_counts(run, has_exited)
    }

    /// `before; while (x) { if (y) a; b; } after;`
    fn loop_with_if() -> Function {
        let sites = vec![site(SiteKind::Branch, 1, &[2, 5]), site(SiteKind::Branch, 2, &[3, 4])];
        function(&[&[1], &[2, 5], &[3, 4], &[4], &[1], &[]], sites)
    }

    #[test]
    fn counts_of_blocks_follow_from_branches() {
        let (f, counters) = (loop_with_if(), [(0, 2), (2, 2)]);
        // Two calls; the body ran seven times, three times with the `if`.
        let run = [7, 2, 3, 4];
        for has_exited in [true, false] {
            assert_eq!(counts(&f, &counters, &run, has_exited), [2, 9, 7, 3, 7, 2]);
            assert_eq!(counts(&f, &counters, &[0; 4], has_exited), [0; 6]);
        }
    }

    #[test]
    fn an_interrupted_run_has_counts_up_to_its_end() {
        let (f, counters) = (loop_with_if(), [(0, 2), (2, 2)]);
        // It crashed in the `if` of the second round.
        assert_eq!(counts(&f, &counters, &[2, 0, 1, 1], false)[2..4], [2, 1]);
        // It crashed in the second round before the `if`.
        assert_eq!(counts(&f, &counters, &[2, 0, 0, 1], false)[2], 2);
    }

    #[test]
    fn a_function_without_branches_is_counted_at_its_entry() {
        let f = function(&[&[1], &[]], vec![site(SiteKind::Entry, 0, &[])]);
        assert_eq!(counts(&f, &[(0, 1)], &[5], true), [5, 5]);
        assert_eq!(counts(&f, &[(0, 1)], &[0], true), [0, 0]);
    }

    /// Random graphs and random walks through them: the counts of all blocks are those of the
    /// walks.
    #[test]
    fn counts_are_those_of_random_walks() {
        let mut state = 1u64;
        let mut below = |n: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % n
        };
        for _ in 0..500 {
            let n = 2 + below(9);
            // The last block returns. A block that only goes on goes forward.
            let blocks: Vec<Vec<u32>> = (0..n)
                .map(|b| match below(3) {
                    _ if b == n - 1 => vec![],
                    0 => vec![(b + 1 + below(n - 1 - b)) as u32],
                    _ => (0..2 + below(2)).map(|_| (1 + below(n - 1)) as u32).collect(),
                })
                .collect();
            let (mut sites, mut counters, mut next) = (Vec::new(), Vec::new(), 0);
            for (b, targets) in blocks.iter().enumerate().filter(|(_, t)| t.len() > 1) {
                sites.push(site(SiteKind::Switch, b as u32, targets));
                counters.push((next, targets.len() as u32));
                next += targets.len() as u32;
            }
            // The compiler counts the entry if no counter is on the way to the end.
            let mut at = 0;
            while blocks[at].len() == 1 {
                at = blocks[at][0] as usize;
            }
            let entry = blocks[at].is_empty().then_some(next as usize);
            if entry.is_some() {
                sites.push(site(SiteKind::Entry, 0, &[]));
                counters.push((next, 1));
                next += 1;
            }
            let (mut run, mut expected) = (vec![0u8; next as usize], vec![0u64; n]);
            let mut has_ended = true;
            for _ in 0..below(4) {
                let (mut at, mut steps) = (0, 0);
                loop {
                    expected[at] += 1;
                    steps += 1;
                    let ways = &blocks[at];
                    if ways.is_empty() || steps > 60 {
                        has_ended &= ways.is_empty();
                        break;
                    }
                    let way = below(ways.len());
                    let is_own =
                        |s: &SiteInfo| s.block as usize == at && s.kind == SiteKind::Switch;
                    let own = sites.iter().position(is_own);
                    if let Some(own) = own {
                        run[(counters[own].0 as usize) + way] += 1;
                    }
                    at = ways[way] as usize;
                }
            }
            if let Some(entry) = entry {
                run[entry] = expected[0] as u8;
            }
            // A walk that was cut off is no run that exited.
            if has_ended {
                let blocks: Vec<&[u32]> = blocks.iter().map(Vec::as_slice).collect();
                let f = function(&blocks, sites);
                assert_eq!(counts(&f, &counters, &run, true), expected, "{f:?} {run:?}");
                assert_eq!(counts(&f, &counters, &run, false), expected, "{f:?} {run:?}");
            }
        }
    }

    #[test]
    fn exceptions_are_presumed_only_where_counters_show_them() {
        // 0 calls (normally to 1, or unwinds to 2); 1 calls (to 3, or 2); 2 decides 4 or 5.
        let sites = vec![site(SiteKind::Branch, 2, &[4, 5])];
        let f = function(&[&[1, 2], &[3, 2], &[4, 5], &[], &[], &[]], sites);
        let mut with_entry = f.clone();
        with_entry.sites.push(site(SiteKind::Entry, 0, &[]));
        let counters = [(0, 2), (2, 1)];
        assert_eq!(counts(&with_entry, &counters, &[0, 0, 1], true), [1, 1, 0, 1, 0, 0]);
        let thrown = counts(&with_entry, &counters, &[1, 0, 1], true);
        assert_eq!((thrown[0], thrown[2], thrown[4], thrown[5]), (1, 1, 1, 0));
    }
}
