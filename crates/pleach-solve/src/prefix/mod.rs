//! Tier 1, chains: what the conditions of a path allow, computed once for all its flips.
//!
//! A generated lexer and parser decides by tables: `state = T[state][byte]`. Each of its
//! decisions depends on all bytes so far, and most of its flips are infeasible. To prove
//! that for one flip takes a search from the first byte on. This file does that search
//! once, for the whole path, and every flip is a lookup in its result.
//!
//! **Layers.** The bytes are taken in the order of the file. A condition is evaluated at
//! the last byte that it reads, its *layer*. After a layer, later conditions depend on the
//! bytes so far only through the values of a few terms, the *columns*: terms of these
//! bytes alone that a later layer uses. Choices of the first bytes with the same values in
//! all columns have the same future, so they are one *node*. For a table-driven parser the
//! columns are its state and its stack. An *edge* leads from a node over a class of values
//! of the next byte to a node of the next layer. Values of a byte are one class if no
//! condition distinguishes them.
//!
//! **Lives.** A flip of step `t` keeps only the conditions before `t`. So an edge has the
//! first step whose condition it breaks, its *kill*: the edge may be used by flips up to
//! this step and by none behind it. The *life* of a node is the last step whose flip can
//! reach it: the largest, over all ways to it, of the smallest kill on the way. The same
//! from the other end, `later_life`, says up to which step a node can be completed to
//! all bytes. Then the flip of step `t` is feasible if and only if an edge with kill `t`
//! leads from a node with life `t` or more to one with later life `t` or more. Nothing has
//! to be evaluated for a flip, and the graph serves flips in any order.
//!
//! A node need not distinguish what only steps behind its life use. This keeps graphs
//! small: what the program has rejected at some step needs no state of the parser after
//! that step. It also bounds the alternatives of a stack: of two deviating entries, the
//! upper one dies first, and the lower one does not matter until then.
//!
//! **Pinned terms.** If a condition before step `s` pins a term to a value (`x == 3`, a
//! case of a switch), the term is a constant for step `s`.
//!
//! **Too many nodes.** A number with six digits has a million values. If a layer has more
//! than [`MAX_NODES`] nodes, the column with the most values is given up, and the
//! conditions that use it behind this layer are left out ([`Plan::give_up`]). Without them
//! the graph allows more than the path does. So a flip that it refutes is infeasible, and
//! a model is checked on the conditions that were left out. The flips of these conditions
//! are for other tiers.
//!
//! This is variable elimination in constraint networks (Dechter's bucket elimination) over
//! the max-min semiring, with values found by evaluating the conditions.

mod build;
mod classes;
mod give_up;
mod model;
mod plan;
mod uses;

use crate::path::{Goal, WantedValues};
use crate::request::{Found, Request};
use model::{Candidates, EdgeIndex};
use plan::{Place, Plan, Source};
use pleach_automata::ByteSet;
use pleach_expr::{Term, Var};

/// The step of something that no condition breaks.
const NEVER: u32 = u32::MAX;
/// Nodes after one byte.
const MAX_NODES: usize = 320;
/// Nodes that are left when columns are given up.
const FEW_NODES: usize = 24;
/// Edges of a graph.
const MAX_EDGES: usize = 1 << 22;

/// The graph of one path. It is built layer by layer, as far as flips need it.
pub(crate) struct PrefixGraph {
    plan: Plan,
    layers: Vec<Layer>,
    /// The columns after the last layer, and their values, node by node.
    row_columns: Vec<Source>,
    rows: Vec<u64>,
    edges: usize,
    /// True if the next layer takes too much work.
    blocked: bool,
    /// Terms, nodes and edges visited since the work was last charged.
    work: u64,
}

/// One byte, the edges over its values, and the nodes after it.
struct Layer {
    offset: u32,
    /// By value of the byte: the first step whose condition on this byte alone it breaks.
    value_kill: Box<[u32; 256]>,
    /// The sets of values that edges lead over.
    value_sets: Vec<ValueSet>,
    /// Sorted by kill.
    edges: Vec<Edge>,
    /// The value that a switch or a pinned term has on edges that its step kills, by place
    /// of the edge. Sorted.
    switch_values: Vec<(u32, u64)>,
    life: Vec<u32>,
    /// By node: an edge to it that gives it its life.
    best_in: Vec<u32>,
    /// By node: the layer at which the way over these edges leaves the nodes of the input.
    departures: Vec<u32>,
    /// By node: an edge of the next layer that gives it its later life.
    best_out: Vec<u32>,
    /// Up to which step a node can be completed to all bytes of the layers built so far.
    later_life: Vec<u32>,
    /// The node of the input of the path.
    current: u32,
    /// The edges by the node that they lead to, and by the one that they come from. Made
    /// when a search for a model first needs them.
    indexes: [Option<EdgeIndex>; 2],
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    from: u32,
    /// [`DEAD_END`] if no step up to the life of the edge has a condition on later bytes.
    to: u32,
    /// The first step whose condition on several bytes breaks.
    kill: u32,
    /// The place of its values in [`Layer::value_sets`]. All classes that lead from one node
    /// to the same node and break the same step are one edge.
    set: u32,
}

/// Values of a byte that edges lead over.
#[derive(Clone, Copy, Debug)]
struct ValueSet {
    values: ByteSet,
    /// The largest `value_kill` of the values.
    kill: u32,
}

/// A node that is complete: later bytes keep their values.
const DEAD_END: u32 = u32::MAX;

impl Layer {
    fn later_life(&self, node: u32) -> u32 {
        if node == DEAD_END { NEVER } else { self.later_life[node as usize] }
    }
}

/// As [`solve`], if the layers that the flip needs are built.
pub(crate) fn solve_built(request: &mut Request, goal: Goal) -> Found {
    let is_built = |graph: &PrefixGraph| {
        let question = graph.plan.question(request);
        question.is_some_and(|q| (q.last_layer as usize) < graph.layers.len())
    };
    match request.path.prefix.as_deref() {
        Some(graph) if is_built(graph) => solve(request, goal),
        _ => Found::Pass,
    }
}

/// Answers a flip from the graph of its path; [`Found::Pass`] if the graph cannot.
pub(crate) fn solve(request: &mut Request, goal: Goal) -> Found {
    if !request.keeps_all() {
        return Found::Pass;
    }
    let mut graph = match request.path.prefix.take() {
        Some(graph) => graph,
        None => Box::new(PrefixGraph::new(request)),
    };
    let found = graph.solve(request, goal);
    request.scratch.graph_work += std::mem::take(&mut graph.work);
    request.path.prefix = Some(graph);
    found
}

impl PrefixGraph {
    fn new(request: &mut Request) -> PrefixGraph {
        let plan = Plan::new(request);
        let work = plan.work;
        PrefixGraph {
            plan,
            layers: Vec::new(),
            row_columns: Vec::new(),
            rows: Vec::new(),
            edges: 0,
            blocked: false,
            work,
        }
    }

    /// Bytes of memory, roughly.
    pub fn memory(&self) -> usize {
        let of_layer = |l: &Layer| 1200 + 20 * l.life.len() + 36 * l.value_sets.len();
        let layers: usize = self.layers.iter().map(of_layer).sum();
        // Each edge may be in two indexes.
        let edges = self.edges * (size_of::<Edge>() + 2 * size_of::<u32>());
        self.plan.memory() + layers + edges + self.rows.capacity() * 8
    }

    fn solve(&mut self, request: &mut Request, goal: Goal) -> Found {
        let at = request.at as u32;
        let Some(question) = self.plan.question(request) else { return Found::Pass };
        if self.extend(request, question.last_layer).is_none() {
            return Found::Pass;
        }
        // New layers may have left out conditions.
        let Some(question) = self.plan.question(request) else { return Found::Pass };
        // Every edge that breaks the condition takes another outcome. Which one matters
        // for the cases of a switch.
        let wanted = match (goal, request.path.switch_values(request.at, goal)) {
            (Goal::Case(_), Some((_, wanted))) => Some(wanted),
            // A switch on a wide value.
            (Goal::Case(_), None) => return Found::Pass,
            _ => None,
        };
        let is_whole = question.places.len() == 1 && question.is_complete;
        let mut candidates = Candidates::default();
        for place in &question.places {
            match (place, &wanted) {
                (&Place::Goal(layer), _) => {
                    let set = request.allowed(self.layers[layer as usize].offset);
                    self.add_edges_over(layer, &set, at, &mut candidates);
                }
                (&Place::Killed(layer), None) => {
                    self.add_killed_edges(layer, at, |_| true, &mut candidates);
                }
                (&Place::KilledValue(layer, _), None) => {
                    let set = self.layers[layer as usize].killed_values(at);
                    self.add_edges_over(layer, &set, at, &mut candidates);
                }
                (&Place::Killed(layer), Some(wanted)) => {
                    let is_known = is_whole && self.plan.has_switch_value(layer, at);
                    let values = &self.layers[layer as usize].switch_values;
                    let reaches = |place: u32| match is_known {
                        true => {
                            let at = values.binary_search_by_key(&place, |v| v.0);
                            at.is_ok_and(|at| wanted.contains(values[at].1))
                        }
                        false => true,
                    };
                    self.add_killed_edges(layer, at, reaches, &mut candidates);
                    if !is_known && !candidates.is_empty() {
                        return Found::Pass;
                    }
                }
                (&Place::KilledValue(layer, switch), Some(wanted)) => {
                    let offset = self.layers[layer as usize].offset;
                    let set = self.layers[layer as usize].killed_values(at);
                    let reads = switch.map(|s| request.path.pool.reads(s).single());
                    let set = match (switch, reads) {
                        _ if set.is_empty() => continue,
                        (Some(switch), Some(Some(var))) if is_whole && var == Var::byte(offset) => {
                            values_with(request, switch, offset, &set, wanted)
                        }
                        _ => return Found::Pass,
                    };
                    self.add_edges_over(layer, &set, at, &mut candidates);
                }
            }
        }
        match candidates.is_empty() {
            true if question.is_complete => Found::Unsat,
            true => Found::Pass,
            false => self.find_model(request, question.last_layer, candidates),
        }
    }

    /// Adds the edges that flips of step `at` can use and that this step kills.
    fn add_killed_edges(
        &self,
        layer: u32,
        at: u32,
        reaches: impl Fn(u32) -> bool,
        candidates: &mut Candidates,
    ) {
        let here = &self.layers[layer as usize];
        let open = here.open_values(at);
        let from = here.edges.partition_point(|e| e.kill < at);
        for (i, edge) in here.edges[from..].iter().take_while(|e| e.kill == at).enumerate() {
            if self.is_open(layer, edge, at) && reaches((from + i) as u32) {
                self.add_candidate(layer, edge, &open, candidates);
            }
        }
    }

    /// Adds the edges over some values of a byte that flips of step `at` can use.
    fn add_edges_over(&self, layer: u32, set: &ByteSet, at: u32, candidates: &mut Candidates) {
        let here = &self.layers[layer as usize];
        let open = here.open_values(at).intersection(set);
        if open.is_empty() {
            return;
        }
        let from = here.edges.partition_point(|e| e.kill < at);
        for edge in &here.edges[from..] {
            if self.is_open(layer, edge, at) {
                self.add_candidate(layer, edge, &open, candidates);
            }
        }
    }

    /// True if flips of step `at` can use an edge that this step or a later one kills.
    fn is_open(&self, layer: u32, edge: &Edge, at: u32) -> bool {
        let here = &self.layers[layer as usize];
        here.value_sets[edge.set as usize].kill >= at
            && self.life_before(layer, edge.from) >= at
            && here.later_life(edge.to) >= at
    }

    fn add_candidate(&self, layer: u32, edge: &Edge, open: &ByteSet, candidates: &mut Candidates) {
        let here = &self.layers[layer as usize];
        let values = here.value_sets[edge.set as usize].values.intersection(open);
        if !values.is_empty() {
            let departure = self.departure(layer, edge.from);
            let is_end = edge.to == DEAD_END || edge.to == here.current;
            match departure == layer && is_end {
                true => candidates.add_direct(layer, values),
                false => candidates.add_way(layer, *edge, values, departure),
            }
        }
    }

    /// The life of a node before a layer. Before the first layer there is one node.
    fn life_before(&self, layer: u32, node: u32) -> u32 {
        match layer {
            0 => NEVER,
            layer => self.layers[layer as usize - 1].life[node as usize],
        }
    }

    /// The layer at which the way with the longest life to a node before a layer leaves the
    /// nodes of the input.
    fn departure(&self, layer: u32, node: u32) -> u32 {
        match node == self.current_before(layer) {
            true => layer,
            false => self.layers[layer as usize - 1].departures[node as usize],
        }
    }

    /// The number of nodes before a layer.
    fn nodes_before(&self, layer: u32) -> usize {
        if layer == 0 { 1 } else { self.layers[layer as usize - 1].life.len() }
    }

    /// The node of the input before a layer.
    fn current_before(&self, layer: u32) -> u32 {
        if layer == 0 { 0 } else { self.layers[layer as usize - 1].current }
    }
}

/// The values of a byte among `set` for which a term of this byte has a wanted value.
fn values_with(
    request: &mut Request,
    term: Term,
    offset: u32,
    set: &ByteSet,
    wanted: &WantedValues,
) -> ByteSet {
    let (path, scratch) = (&*request.path, &mut *request.scratch);
    let input = path.input();
    let reaches = |value: &u8| {
        let changes = [(Var::byte(offset), u64::from(*value))];
        scratch.changed.start(&path.pool);
        let result = scratch.changed.eval(&path.pool, &path.values, &input, &changes, term);
        wanted.contains(result as u64)
    };
    set.iter().filter(reaches).collect()
}

impl Layer {
    /// The values that a step kills.
    fn killed_values(&self, at: u32) -> ByteSet {
        (0..=255u8).filter(|&v| self.value_kill[v as usize] == at).collect()
    }

    /// The values that flips of step `at` can use, by the conditions on this byte alone.
    fn open_values(&self, at: u32) -> ByteSet {
        (0..=255u8).filter(|&v| self.value_kill[v as usize] >= at).collect()
    }

    /// The values of an edge that flips of step `at` can use.
    fn values(&self, edge: &Edge, at: u32) -> ByteSet {
        let is_open = |v: &u8| self.value_kill[*v as usize] >= at;
        self.value_sets[edge.set as usize].values.iter().filter(is_open).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::Path;
    use crate::request::Scratch;
    use crate::solver::Config;
    use crate::test_trace::TestTrace;
    use pleach_abi::node::Op;

    const BYTES: u32 = 5;

    /// The exclusive or of the last bits of the first `count` bytes.
    fn parity(trace: &mut TestTrace, count: u32) -> u32 {
        let last = trace.add(Op::And, 8, [count, 0], 1);
        match count {
            1 => last,
            _ => {
                let before = parity(trace, count - 1);
                trace.add(Op::Xor, 8, [before, last], 0)
            }
        }
    }

    /// What the graph alone says to flips, in the order that they are asked in.
    fn ask(path: &mut Path, order: &[usize]) -> Vec<Found> {
        let (mut scratch, config) = (Scratch::default(), Config::default());
        let ask_one = |&at: &usize| {
            let goals = path.goal_terms(at, Goal::Not).expect("a goal");
            let mut request = Request::new(path, &mut scratch, &config.limits, at, goals, false);
            let found = solve(&mut request, Goal::Not);
            if let Found::Sat(changes) = &found {
                assert!(request.holds(changes), "step {at}: {changes:?}");
            }
            found
        };
        order.iter().map(ask_one).collect()
    }

    /// A name of two bytes has 65,536 values, which no layer can pass on. The comparison of
    /// the names is given up, and the conditions on the parity are not.
    #[test]
    fn conditions_that_use_given_up_columns_are_left_out() {
        let mut trace = TestTrace::new(BYTES);
        let parities = [2, 3].map(|count| parity(&mut trace, count));
        trace.require(Op::Eq, [parities[0], 0], 1);
        trace.require(Op::Eq, [parities[1], 0], 0);
        // The two conditions imply this one.
        let sum = trace.add(Op::Mul, 8, [parities[1], 0], 2);
        let sum = trace.add(Op::Add, 8, [parities[0], sum], 0);
        trace.require(Op::Eq, [sum, 0], 1);
        let names = [1, 4].map(|first| trace.add(Op::Read, 16, [first, 0], 0));
        let names = names.map(|name| trace.add(Op::Mul, 16, [name, 0], 0x2f1b));
        let difference = trace.add(Op::Sub, 16, names, 0);
        trace.require(Op::Ult, [difference, 0], 0x100);
        let last = parity(&mut trace, BYTES);
        trace.require(Op::Eq, [last, 0], 1);
        for order in [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 4, 0, 3, 1]] {
            let mut path = trace.path(b"abcde");
            assert_eq!(path.inconsistent(), 0);
            let answers = ask(&mut path, &order);
            for (at, found) in order.into_iter().zip(answers) {
                match at {
                    2 => assert_eq!(found, Found::Unsat),
                    3 => assert_eq!(found, Found::Pass),
                    _ => assert!(matches!(found, Found::Sat(_)), "step {at}: {found:?}"),
                }
            }
            assert!(path.prefix.is_some_and(|graph| graph.plan.leaves_out()));
        }
    }
}
