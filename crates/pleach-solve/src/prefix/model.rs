//! From edges that reach a goal to an input: the rest of the way, with as few changes as
//! possible.

use super::{DEAD_END, Edge, Layer, PrefixGraph};
use crate::request::{Changes, Found, Request};
use pleach_automata::ByteSet;
use pleach_expr::Var;

/// Models that are checked on the conditions that the graph leaves out.
const MAX_MODELS: usize = 16;
/// Layers of one way that are searched for the fewest changes.
const MAX_SEARCHED_LAYERS: usize = 24;
/// Edges whose ways are compared.
const MAX_WAYS: usize = 8;
/// Layers between the departures of two ways that are compared by their changes.
const MAX_DISTANCE: u32 = 24;

/// Edges that reach the goal of a flip.
#[derive(Default)]
pub(super) struct Candidates {
    /// Layers whose byte alone needs to change, with its possible values.
    direct: Vec<(u32, ByteSet)>,
    /// Edges that need other changes, too. The latest departures come first.
    others: Vec<Candidate>,
}

/// An edge, and the values that it may be taken over.
struct Candidate {
    layer: u32,
    edge: Edge,
    values: ByteSet,
    /// The layer at which the way to the edge leaves the input.
    departure: u32,
}

impl Candidates {
    pub fn is_empty(&self) -> bool {
        self.direct.is_empty() && self.others.is_empty()
    }

    /// Adds values of a byte that need no other change.
    pub fn add_direct(&mut self, layer: u32, values: ByteSet) {
        match self.direct.iter_mut().find(|d| d.0 == layer) {
            Some((_, set)) => *set = set.union(&values),
            None => self.direct.push((layer, values)),
        }
    }

    /// Adds an edge whose way leaves the input at the layer `departure`.
    pub fn add_way(&mut self, layer: u32, edge: Edge, values: ByteSet, departure: u32) {
        let place = self.others.partition_point(|c| c.departure >= departure);
        if place < MAX_WAYS {
            self.others.truncate(MAX_WAYS - 1);
            self.others.insert(place, Candidate { layer, edge, values, departure });
        }
    }
}

impl PrefixGraph {
    /// A model that uses one of the edges. [`Found::Pass`] if it breaks conditions that
    /// the graph leaves out.
    ///
    /// Ways that leave the input early are tried last: to complete and to check one of them
    /// costs as much as there is input between its departure and the flip.
    pub(super) fn find_model(
        &mut self,
        request: &mut Request,
        last_layer: u32,
        candidates: Candidates,
    ) -> Found {
        let mut models = 0;
        for (layer, mut set) in candidates.direct {
            let offset = self.layers[layer as usize].offset;
            let current = request.path.byte(offset);
            while let Some(value) = set.nearest(current)
                && models < MAX_MODELS
            {
                set.remove(value);
                models += 1;
                let changes = vec![(Var::byte(offset), value.into())];
                if self.is_model(request, &changes) {
                    return Found::Sat(changes);
                }
            }
        }
        let is_near = |a: &Candidate, b: &Candidate| a.departure - b.departure <= MAX_DISTANCE;
        for near in candidates.others.chunk_by(is_near) {
            let mut ways: Vec<Changes> = Vec::new();
            for candidate in near {
                ways.extend(self.complete(request, candidate, last_layer));
            }
            ways.sort_by_key(Vec::len);
            if let Some(changes) = ways.into_iter().find(|w| self.is_model(request, w)) {
                return Found::Sat(changes);
            }
        }
        Found::Pass
    }

    /// True if changes that the graph allows keep the conditions that it leaves out.
    fn is_model(&self, request: &mut Request, changes: &Changes) -> bool {
        !self.plan.leaves_out() || request.holds(changes)
    }

    /// The changes of a way over an edge.
    fn complete(
        &mut self,
        request: &Request,
        candidate: &Candidate,
        last_layer: u32,
    ) -> Option<Changes> {
        let Candidate { layer, edge, ref values, .. } = *candidate;
        let mut changes = self.fewest_changes(request, Direction::Back, layer, edge.from, 0)?;
        let offset = self.layers[layer as usize].offset;
        let current = request.path.byte(offset);
        let value = values.nearest(current)?;
        if value != current {
            changes.push((Var::byte(offset), value.into()));
        }
        let end = last_layer + 1;
        changes.extend(self.fewest_changes(request, Direction::On, layer + 1, edge.to, end)?);
        changes.sort_unstable();
        Some(changes)
    }

    /// True if an edge changes the byte of the input; `None` if none of its values can be
    /// used.
    fn is_change(&self, request: &Request, layer: u32, edge: &Edge) -> Option<bool> {
        let here = &self.layers[layer as usize];
        let at = request.at as u32;
        let current = request.path.byte(here.offset);
        let set = &here.value_sets[edge.set as usize];
        match here.value_kill[current as usize] >= at && set.values.contains(current) {
            true => Some(false),
            false => (set.kill >= at).then_some(true),
        }
    }

    /// Adds the change of a byte that an edge needs, if it needs one.
    fn add_change(
        &self,
        request: &Request,
        layer: u32,
        edge: &Edge,
        changes: &mut Changes,
    ) -> Option<()> {
        if self.is_change(request, layer, edge)? {
            let here = &self.layers[layer as usize];
            let current = request.path.byte(here.offset);
            let value = here.values(edge, request.at as u32).nearest(current)?;
            changes.push((Var::byte(here.offset), value.into()));
        }
        Some(())
    }

    /// The fewest changes of bytes between a node before the layer `start` and the input's
    /// node before any layer up to `end`.
    ///
    /// Only [`MAX_SEARCHED_LAYERS`] are searched. Behind these it is the way with the
    /// longest life; there may be ways with fewer changes.
    fn fewest_changes(
        &mut self,
        request: &Request,
        direction: Direction,
        start: u32,
        node: u32,
        end: u32,
    ) -> Option<Changes> {
        let mut trail: Vec<Vec<Reached>> = Vec::new();
        let mut reached = vec![Reached { node, cost: 0, edge: 0, behind: 0 }];
        let mut at = start;
        let last = loop {
            let best = reached.iter().map(|r| r.cost).min()?;
            let current = self.current_before(at);
            let is_done = |n: u32| n == DEAD_END || n == current || at == end;
            let cheapest = || (0..reached.len()).filter(|&i| reached[i].cost == best);
            let mut done = cheapest().filter(|&i| is_done(reached[i].node));
            if let Some(last) = done.next() {
                break done
                    .fold(last, |l, i| if reached[i].node < reached[l].node { i } else { l });
            }
            if at == end {
                return None;
            }
            if trail.len() == MAX_SEARCHED_LAYERS {
                break cheapest().min_by_key(|&i| reached[i].node)?;
            }
            let next = self.reach(request, direction, at, &reached);
            trail.push(std::mem::replace(&mut reached, next));
            at = direction.next(at);
        };
        let mut changes = self.longest_lived(request, direction, at, reached[last].node, end)?;
        let mut entry = &reached[last];
        for before in trail.iter().rev() {
            at = direction.previous(at);
            let layer = direction.layer(at);
            let edge = self.layers[layer as usize].edges[entry.edge as usize];
            self.add_change(request, layer, &edge, &mut changes)?;
            entry = &before[entry.behind as usize];
        }
        Some(changes)
    }

    /// The nodes that are one layer further, each with its fewest changes.
    fn reach(
        &mut self,
        request: &Request,
        direction: Direction,
        at: u32,
        reached: &[Reached],
    ) -> Vec<Reached> {
        let step = request.at as u32;
        let layer = direction.layer(at);
        let next_at = direction.next(at);
        self.index_edges(direction, layer);
        let here = &self.layers[layer as usize];
        let index = here.index(direction).expect("it has just been made");
        let mut next: Vec<Reached> = Vec::new();
        // By node: its place in `next`.
        let mut places = vec![u32::MAX; self.nodes_before(next_at)];
        let mut dead_end = u32::MAX;
        for (behind, from) in (0u32..).zip(reached).filter(|(_, r)| r.node != DEAD_END) {
            let edges = index.edges_of(from.node);
            let open = &edges[edges.partition_point(|&e| here.edges[e as usize].kill < step)..];
            self.work += open.len() as u64 + 1;
            for &place in open {
                let edge = &here.edges[place as usize];
                let node = direction.end_of(edge);
                let is_open = match direction {
                    Direction::Back => self.life_before(layer, node) >= step,
                    Direction::On => here.later_life(node) >= step,
                };
                if !is_open {
                    continue;
                }
                let Some(changed) = self.is_change(request, layer, edge) else { continue };
                let cost = from.cost + u32::from(changed);
                let new = Reached { node, cost, edge: place, behind };
                let known = match node {
                    DEAD_END => &mut dead_end,
                    node => &mut places[node as usize],
                };
                match next.get_mut(*known as usize) {
                    None => {
                        *known = next.len() as u32;
                        next.push(new);
                    }
                    Some(known) if (cost, place) < (known.cost, known.edge) => *known = new,
                    Some(_) => {}
                }
            }
        }
        next
    }

    /// The changes on the way with the longest life between a node and the input's node, as
    /// in [`PrefixGraph::fewest_changes`].
    fn longest_lived(
        &mut self,
        request: &Request,
        direction: Direction,
        mut at: u32,
        mut node: u32,
        end: u32,
    ) -> Option<Changes> {
        let mut changes = Vec::new();
        while at != end && node != DEAD_END && node != self.current_before(at) {
            let nodes = &self.layers[at as usize - 1];
            let edge = match direction {
                Direction::Back => nodes.best_in[node as usize],
                Direction::On => nodes.best_out[node as usize],
            };
            let layer = direction.layer(at);
            let edge = self.layers[layer as usize].edges[edge as usize];
            self.add_change(request, layer, &edge, &mut changes)?;
            node = direction.end_of(&edge);
            at = direction.next(at);
            self.work += 1;
        }
        Some(changes)
    }

    /// Makes the index of the edges of a layer, unless it has been made.
    fn index_edges(&mut self, direction: Direction, layer: u32) {
        if self.layers[layer as usize].index(direction).is_some() {
            return;
        }
        let here = &self.layers[layer as usize];
        let index = match direction {
            Direction::Back => EdgeIndex::new(here.life.len(), here.edges.iter().map(|e| e.to)),
            Direction::On => {
                let nodes = self.nodes_before(layer);
                EdgeIndex::new(nodes, here.edges.iter().map(|e| e.from))
            }
        };
        self.work += here.edges.len() as u64;
        self.layers[layer as usize].indexes[direction as usize] = Some(index);
    }
}

/// Towards the first byte, or towards the last.
#[derive(Clone, Copy)]
enum Direction {
    Back,
    On,
}

impl Direction {
    /// The layer between the nodes before layer `at` and those that are next.
    fn layer(self, at: u32) -> u32 {
        match self {
            Direction::Back => at - 1,
            Direction::On => at,
        }
    }

    fn next(self, at: u32) -> u32 {
        match self {
            Direction::Back => at - 1,
            Direction::On => at + 1,
        }
    }

    fn previous(self, at: u32) -> u32 {
        match self {
            Direction::Back => at + 1,
            Direction::On => at - 1,
        }
    }

    /// The node that an edge leads to in this direction.
    fn end_of(self, edge: &Edge) -> u32 {
        match self {
            Direction::Back => edge.from,
            Direction::On => edge.to,
        }
    }
}

/// A node that a search has reached.
struct Reached {
    node: u32,
    /// The changes on the way to it.
    cost: u32,
    /// The last edge of this way, and the place of the node before it among those reached.
    edge: u32,
    behind: u32,
}

/// The edges of a layer by one of their nodes.
pub(super) struct EdgeIndex {
    /// By node: where its edges begin.
    starts: Vec<u32>,
    /// Places of edges. Those of one node are in the order of the layer, by kill.
    edges: Vec<u32>,
}

impl EdgeIndex {
    fn new(nodes: usize, ends: impl Iterator<Item = u32> + Clone) -> EdgeIndex {
        let is_node = |(_, end): &(u32, u32)| *end != DEAD_END;
        let ends = (0u32..).zip(ends).filter(is_node);
        let mut starts = vec![0u32; nodes + 2];
        ends.clone().for_each(|(_, node)| starts[node as usize + 2] += 1);
        (2..starts.len()).for_each(|i| starts[i] += starts[i - 1]);
        let mut edges = vec![0; starts[nodes + 1] as usize];
        for (place, node) in ends {
            let start = &mut starts[node as usize + 1];
            edges[*start as usize] = place;
            *start += 1;
        }
        EdgeIndex { starts, edges }
    }

    fn edges_of(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.edges[self.starts[node] as usize..self.starts[node + 1] as usize]
    }
}

impl Layer {
    fn index(&self, direction: Direction) -> Option<&EdgeIndex> {
        self.indexes[direction as usize].as_ref()
    }
}
