//! Builds the layers: evaluates the conditions of a byte on all nodes before it and all
//! classes of its values, and merges results that have the same future.

use super::classes::Classes;
use super::plan::{Root, SWITCH_VALUE, Source};
use super::{DEAD_END, Edge, Layer, MAX_EDGES, MAX_NODES, NEVER, PrefixGraph, ValueSet};
use crate::domains::LANES;
use crate::request::Request;
use pleach_automata::ByteSet;
use pleach_expr::{Code, Frame, Tape, Term, Var};
use pleach_work::Task;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher;

/// How often one layer may give up columns.
const MAX_GIVEN_UP: usize = 16;
/// How much more one request may evaluate to build layers, which later requests use, than
/// to answer itself.
const MAX_BUILDING: u64 = 4;

/// The nodes after a new layer.
#[derive(Default)]
struct Nodes {
    life: Vec<u32>,
    rows: Vec<u64>,
    by_hash: FxHashMap<u64, u32>,
}

impl Nodes {
    /// The node with these values.
    fn intern(&mut self, row: &[u64], life: u32) -> u32 {
        let mut hasher = FxHasher::default();
        row.iter().for_each(|&v| hasher.write_u64(v));
        let mut hash = hasher.finish();
        loop {
            match self.by_hash.get(&hash) {
                None => break,
                Some(&node) => {
                    let at = node as usize * row.len();
                    if self.rows[at..at + row.len()] == *row {
                        let known = &mut self.life[node as usize];
                        *known = (*known).max(life);
                        return node;
                    }
                    hash = hash.wrapping_add(1);
                }
            }
        }
        let node = self.life.len() as u32;
        self.by_hash.insert(hash, node);
        self.life.push(life);
        self.rows.extend(row);
        node
    }
}

enum Added {
    Layer,
    /// There are too many nodes. Without these columns there are few.
    TooMany(Vec<Source>),
}

impl PrefixGraph {
    /// Builds all layers up to `last`; `None` if that takes too much work.
    pub(super) fn extend(&mut self, request: &mut Request, last: u32) -> Option<()> {
        let built = self.layers.len();
        if built <= last as usize && !self.blocked {
            // Each time the graph grows, the later lives of all nodes are computed again.
            let wanted = (last as usize + 1).max(built + built / 4);
            let _building = pleach_work::enter(Task::Graph);
            let work = request.scratch.work() + MAX_BUILDING * request.limits.evaluations;
            while self.layers.len() < wanted.min(self.plan.offsets.len()) {
                // The next request continues.
                if pleach_work::is_stopping() || request.scratch.work() + self.work > work {
                    break;
                }
                if self.add_layer(request).is_none() {
                    self.blocked = true;
                    break;
                }
            }
            self.update_later_lives();
        }
        (self.layers.len() > last as usize).then_some(())
    }

    fn add_layer(&mut self, request: &mut Request) -> Option<()> {
        for _ in 0..MAX_GIVEN_UP {
            match self.try_layer(request)? {
                Added::Layer => return Some(()),
                Added::TooMany(sources) => {
                    let before = self.plan.work;
                    self.plan.give_up(&request.path.pool, &sources, self.layers.len() as u32);
                    self.work += self.plan.work - before;
                }
            }
        }
        None
    }

    fn try_layer(&mut self, request: &mut Request) -> Option<Added> {
        let layer = self.layers.len() as u32;
        let offset = self.plan.offsets[layer as usize];
        let classes = self.classes(request, layer)?;
        let shape = self.layer_shape(layer);
        let tape = self.compile(request, layer, &shape);
        let parents = self.nodes_before(layer);
        let pairs = parents * classes.samples.len();
        let is_too_much = (pairs * tape.len()) as u64 > MAX_BUILDING * request.limits.evaluations;
        if tape.is_wide() || is_too_much || self.edges + pairs > MAX_EDGES {
            return None;
        }
        // A row is copied for each pair.
        self.work += (pairs * (1 + shape.columns.len() / 8)) as u64;

        let first_later = self.plan.first_later[layer as usize];
        let roots = &self.plan.roots[layer as usize];
        let first_here = roots.first().map_or(NEVER, |r| r.step).min(first_later);
        let mut edges: Vec<ClassEdge> = Vec::with_capacity(pairs);
        let mut pending: Vec<Pair> = Vec::new();
        for from in 0..parents as u32 {
            let life = self.life_before(layer, from);
            for class in 0..classes.samples.len() as u32 {
                let life = life.min(classes.class_kill[class as usize]);
                let class = class as u8;
                match life < first_here {
                    true => edges.push(ClassEdge {
                        from,
                        to: DEAD_END,
                        kill: NEVER,
                        switch_value: 0,
                        class,
                    }),
                    false => pending.push(Pair { from, class, life }),
                }
            }
        }
        let current_class = classes.class_of[request.path.byte(offset) as usize];
        let current_parent = self.current_before(layer);
        let mut current_node = DEAD_END;
        let mut nodes = Nodes::default();
        let mut row = vec![0u64; shape.columns.len()];
        let frame = &mut request.scratch.lanes;
        let pool = &request.path.pool;
        frame.load(&tape);
        for block in pending.chunks(LANES) {
            self.set_inputs(frame, &tape, &shape, &classes, block);
            frame.run(pool, &tape);
            let (kills, switch_values) = broken_steps(frame, &tape, roots, block.len());
            for (lane, &Pair { from, class, life }) in block.iter().enumerate() {
                let kill = kills[lane];
                let life = life.min(kill);
                let is_current = from == current_parent && class == current_class;
                let mut to = DEAD_END;
                // The input always has a node.
                if life >= first_later || is_current {
                    let before = &self.rows[from as usize * self.row_columns.len()..];
                    for (slot, column) in row.iter_mut().zip(&shape.columns) {
                        *slot = match column.origin {
                            _ if column.first_use > life => 0,
                            Origin::Row(place) => before[place],
                            Origin::Value => classes.samples[class as usize].into(),
                            Origin::Root(root) => frame.root(&tape, root)[lane],
                        };
                    }
                    to = nodes.intern(&row, life);
                }
                if is_current {
                    current_node = to;
                }
                let has_value = kill != NEVER && self.plan.has_switch_value(layer, kill);
                let switch_value = if has_value { switch_values[lane] } else { 0 };
                edges.push(ClassEdge { from, to, kill, switch_value, class });
            }
            if nodes.life.len() > MAX_NODES {
                let sources = self.choose_given_up(pool, &nodes.rows, &shape.columns);
                return Some(Added::TooMany(sources));
            }
        }
        let (edges, switch_values, value_sets) = merge_edges(edges, &classes);
        let has_value = |v: &(u32, u64)| {
            let kill = edges[v.0 as usize].kill;
            kill != NEVER && self.plan.has_switch_value(layer, kill)
        };
        let switch_values = (0u32..).zip(switch_values).filter(has_value).collect();
        // Of several edges with the longest life, one whose way leaves the input late, or
        // over the input's value.
        let mut best_in: Vec<(u32, u32, bool, u32)> = vec![Default::default(); nodes.life.len()];
        let current_value = request.path.byte(offset);
        for (place, edge) in (0u32..).zip(&edges).filter(|(_, e)| e.to != DEAD_END) {
            let set = &value_sets[edge.set as usize];
            let life = edge.kill.min(set.kill).min(self.life_before(layer, edge.from));
            let departure = self.departure(layer, edge.from);
            let rank = (life, departure, set.values.contains(current_value), place);
            let best = &mut best_in[edge.to as usize];
            *best = rank.max(*best);
        }
        self.edges += edges.len();
        self.rows = nodes.rows;
        self.row_columns = shape.columns.iter().map(|c| c.source).collect();
        self.layers.push(Layer {
            offset,
            value_kill: classes.value_kill,
            value_sets,
            edges,
            switch_values,
            later_life: vec![NEVER; nodes.life.len()],
            departures: best_in.iter().map(|best| best.1).collect(),
            best_in: best_in.into_iter().map(|best| best.3).collect(),
            best_out: vec![0; nodes.life.len()],
            life: nodes.life,
            current: current_node,
            indexes: [None, None],
        });
        Some(Added::Layer)
    }

    /// What a layer reads and passes on.
    fn layer_shape(&self, layer: u32) -> Shape {
        let mut shape = Shape::default();
        for (place, &source) in self.row_columns.iter().enumerate() {
            let Some(column) = self.plan.column(source) else { continue };
            if layer > 0 && column.first_use(layer - 1) != NEVER {
                match source {
                    Source::Byte(l) => {
                        shape.bytes.push((Var::byte(self.plan.offsets[l as usize]), place));
                    }
                    Source::Term(term) => shape.cuts.push((term, place)),
                }
            }
            shape.pass_on(source, Origin::Row(place), column.first_use(layer));
        }
        shape.bytes.sort_unstable();
        shape.vary.extend(shape.bytes.iter().map(|b| b.0));
        shape.vary.push(Var::byte(self.plan.offsets[layer as usize]));
        shape.roots.extend(self.plan.roots[layer as usize].iter().map(|r| r.term));
        for column in self.plan.columns_from(layer) {
            let origin = match column.source {
                Source::Byte(_) => Origin::Value,
                Source::Term(term) => {
                    shape.roots.push(term);
                    Origin::Root(shape.roots.len() - 1)
                }
            };
            shape.pass_on(column.source, origin, column.first_use(layer));
        }
        shape
    }

    /// Sets the inputs of a tape: the values of columns and of the new byte.
    fn set_inputs(
        &self,
        frame: &mut Frame<LANES>,
        tape: &Tape,
        shape: &Shape,
        classes: &Classes,
        block: &[Pair],
    ) {
        let width = self.row_columns.len();
        let column = |place: usize| {
            let mut lanes = [0u64; LANES];
            for (lane, pair) in lanes.iter_mut().zip(block) {
                *lane = self.rows[pair.from as usize * width + place];
            }
            lanes
        };
        for (i, &(_, place)) in shape.bytes.iter().enumerate() {
            frame.set(tape, i, column(place));
        }
        let mut values = [0u64; LANES];
        for (value, pair) in values.iter_mut().zip(block) {
            *value = classes.samples[pair.class as usize].into();
        }
        frame.set(tape, shape.bytes.len(), values);
        for (i, &(_, place)) in shape.cuts.iter().enumerate() {
            frame.set(tape, shape.vary.len() + i, column(place));
        }
    }

    /// A tape for the terms of a layer. What depends on earlier bytes comes from columns or
    /// is pinned.
    fn compile(&self, request: &mut Request, layer: u32, shape: &Shape) -> Tape {
        let vary = &shape.vary;
        let cuts: Vec<Term> = shape.cuts.iter().map(|c| c.0).collect();
        let pool = &request.path.pool;
        let byte = self.plan.offsets[layer as usize];
        // A term of this layer depends on its byte; reads may be of kept bytes only.
        let varies = |term: Term| {
            let node = pool.node(term);
            if node.code == Code::Read {
                let at = vary.partition_point(|v| v.0 < node.a);
                return vary.get(at).is_some_and(|v| v.0 < node.a + node.width() / 8);
            }
            pool.var_ranges(term).last().is_some_and(|r| r.1 == byte + 1)
        };
        let compiler = &mut request.scratch.compiler;
        compiler.compile_where(pool, &request.path.values, &shape.roots, vary, &cuts, varies)
    }

    /// Computes up to which step each node can be completed.
    fn update_later_lives(&mut self) {
        let Some(last) = self.layers.last_mut() else { return };
        last.later_life.fill(NEVER);
        for at in (1..self.layers.len()).rev() {
            let (before, here) = self.layers.split_at_mut(at);
            let (before, here) = (&mut before[at - 1], &here[0]);
            before.later_life.fill(0);
            for (place, edge) in (0u32..).zip(&here.edges) {
                let life = edge.kill.min(here.value_sets[edge.set as usize].kill);
                let life = life.min(here.later_life(edge.to));
                let best = &mut before.later_life[edge.from as usize];
                if life >= *best {
                    *best = life;
                    before.best_out[edge.from as usize] = place;
                }
            }
            self.work += here.edges.len() as u64;
        }
    }
}

/// An edge over one class of values.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ClassEdge {
    // Edges are sorted and merged by these fields in this order.
    kill: u32,
    from: u32,
    to: u32,
    switch_value: u64,
    class: u8,
}

impl ClassEdge {
    fn is_parallel(&self, other: &ClassEdge) -> bool {
        let key = |e: &ClassEdge| (e.kill, e.from, e.to, e.switch_value);
        key(self) == key(other)
    }
}

/// Makes one edge of all classes that lead from one node to another and break the same
/// step. Most classes of a byte do: a parser rejects them all in the same way.
///
/// Returns the edges by kill, the value of the switch of each edge, and their sets of values.
fn merge_edges(
    mut edges: Vec<ClassEdge>,
    classes: &Classes,
) -> (Vec<Edge>, Vec<u64>, Vec<ValueSet>) {
    edges.sort_unstable();
    let by_class = classes.sets();
    let mut merged = Vec::new();
    let mut switch_values = Vec::new();
    let mut value_sets: Vec<ValueSet> = Vec::new();
    let mut known: FxHashMap<ByteSet, u32> = FxHashMap::default();
    for parallel in edges.chunk_by(ClassEdge::is_parallel) {
        let mut set = ValueSet { values: ByteSet::EMPTY, kill: 0 };
        for edge in parallel {
            let class = &by_class[edge.class as usize];
            set.values = set.values.union(&class.values);
            set.kill = set.kill.max(class.kill);
        }
        let place = *known.entry(set.values).or_insert_with(|| {
            value_sets.push(set);
            value_sets.len() as u32 - 1
        });
        let &ClassEdge { kill, from, to, switch_value, .. } = &parallel[0];
        merged.push(Edge { from, to, kill, set: place });
        switch_values.push(switch_value);
    }
    (merged, switch_values, value_sets)
}

/// A node before a layer, and a class of values of its byte.
struct Pair {
    from: u32,
    class: u8,
    life: u32,
}

/// What a layer reads and passes on.
#[derive(Default)]
struct Shape {
    /// Bytes and terms of the columns before it that it uses, with their places.
    bytes: Vec<(Var, usize)>,
    cuts: Vec<(Term, usize)>,
    /// These bytes and its own.
    vary: Vec<Var>,
    /// What is evaluated.
    roots: Vec<Term>,
    columns: Vec<NewColumn>,
}

impl Shape {
    fn pass_on(&mut self, source: Source, origin: Origin, first_use: u32) {
        if first_use != NEVER {
            self.columns.push(NewColumn { source, origin, first_use });
        }
    }
}

/// A column after a new layer.
pub(super) struct NewColumn {
    pub source: Source,
    origin: Origin,
    /// The first step that uses it on a later layer.
    first_use: u32,
}

/// Where the values of a column of a new layer come from.
#[derive(Clone, Copy)]
enum Origin {
    /// A column of the layer before.
    Row(usize),
    /// The byte of this layer.
    Value,
    /// A root of the tape.
    Root(usize),
}

/// By lane: the first step whose condition breaks, and the value of its switch.
fn broken_steps(
    frame: &Frame<LANES>,
    tape: &Tape,
    roots: &[Root],
    count: usize,
) -> ([u32; LANES], [u64; LANES]) {
    let mut kills = [NEVER; LANES];
    let mut switch_values = [0u64; LANES];
    let mut open = if count == LANES { u64::MAX } else { (1 << count) - 1 };
    let mut switch: Option<(usize, u32)> = None;
    for (i, root) in roots.iter().enumerate() {
        if root.atom == SWITCH_VALUE {
            switch = Some((i, root.step));
            continue;
        }
        let lanes = frame.root(tape, i);
        let mut broken = (0..LANES).fold(0u64, |m, l| m | u64::from(lanes[l] == 0) << l) & open;
        open &= !broken;
        while broken != 0 {
            let lane = broken.trailing_zeros() as usize;
            broken &= broken - 1;
            kills[lane] = root.step;
            if let Some((place, step)) = switch
                && step == root.step
            {
                switch_values[lane] = frame.root(tape, place)[lane];
            }
        }
        if open == 0 {
            break;
        }
    }
    (kills, switch_values)
}
