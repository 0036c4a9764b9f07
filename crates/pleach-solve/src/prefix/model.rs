//! From edges that reach a goal to an input: the rest of the way, with as few changes as
//! possible.

use super::{DEAD_END, Edge, PrefixGraph};
use crate::request::{Changes, Found, Request};
use pleach_automata::ByteSet;
use pleach_expr::Var;
use rustc_hash::FxHashMap;

/// Models that are checked on the conditions that the graph leaves out.
const MAX_MODELS: usize = 16;
/// Layers of one way that are searched for the fewest changes.
const MAX_SEARCHED_LAYERS: usize = 24;
/// Edges whose ways are compared.
const MAX_WAYS: usize = 8;

/// Edges that reach the goal of a flip.
#[derive(Default)]
pub(super) struct Candidates {
    /// Layers whose byte alone needs to change, with its possible values.
    direct: Vec<(u32, ByteSet)>,
    /// Edges that need other changes, too.
    others: Vec<Candidate>,
}

/// An edge, and the values that it may be taken over.
struct Candidate {
    layer: u32,
    edge: Edge,
    values: ByteSet,
}

impl Candidates {
    pub fn is_empty(&self) -> bool {
        self.direct.is_empty() && self.others.is_empty()
    }

    pub fn add(&mut self, layer: u32, edge: Edge, values: ByteSet, is_direct: bool) {
        if !is_direct {
            if self.others.len() < MAX_WAYS {
                self.others.push(Candidate { layer, edge, values });
            }
            return;
        }
        match self.direct.iter_mut().find(|d| d.0 == layer) {
            Some((_, set)) => *set = set.union(&values),
            None => self.direct.push((layer, values)),
        }
    }
}

impl PrefixGraph {
    /// A model that uses one of the edges. [`Found::Pass`] if it breaks conditions that
    /// the graph leaves out.
    pub(super) fn find_model(
        &mut self,
        request: &mut Request,
        last_layer: u32,
        candidates: Candidates,
    ) -> Found {
        let mut models: Vec<Changes> = Vec::new();
        for (layer, mut set) in candidates.direct {
            let offset = self.layers[layer as usize].offset;
            let current = request.path.byte(offset);
            while let Some(value) = set.nearest(current)
                && models.len() < MAX_MODELS
            {
                set.remove(value);
                models.push(vec![(Var::byte(offset), value.into())]);
                if !self.plan.leaves_out() {
                    return Found::Sat(models.swap_remove(0));
                }
            }
        }
        let mut ways: Vec<Changes> = Vec::new();
        for candidate in &candidates.others {
            ways.extend(self.complete(request, candidate, last_layer));
        }
        ways.sort_by_key(Vec::len);
        models.extend(ways);
        if !self.plan.leaves_out() {
            return models.into_iter().next().map_or(Found::Pass, Found::Sat);
        }
        let holds = models.into_iter().find(|changes| request.holds(changes));
        holds.map_or(Found::Pass, Found::Sat)
    }

    /// The changes of a way over an edge.
    fn complete(
        &mut self,
        request: &Request,
        candidate: &Candidate,
        last_layer: u32,
    ) -> Option<Changes> {
        let at = request.at as u32;
        let Candidate { layer, edge, ref values, .. } = *candidate;
        let mut changes = self.way_to(request, layer, edge.from, at)?;
        let offset = self.layers[layer as usize].offset;
        let current = request.path.byte(offset);
        let value = values.nearest(current)?;
        if value != current {
            changes.push((Var::byte(offset), value.into()));
        }
        changes.extend(self.way_from(request, layer, edge.to, at, last_layer)?);
        changes.sort_unstable();
        Some(changes)
    }

    /// The value of a byte on an edge over a class, and if that is a change.
    fn value(&self, request: &Request, layer: u32, class: u8, at: u32) -> Option<(u8, bool)> {
        let here = &self.layers[layer as usize];
        let current = request.path.byte(here.offset);
        let is_current =
            here.class_of[current as usize] == class && here.value_kill[current as usize] >= at;
        if is_current {
            return Some((current, false));
        }
        let value = here.values(class, at).nearest(current)?;
        Some((value, true))
    }

    /// Adds the change of a byte that an edge over a class needs, if it needs one.
    fn add_change(
        &self,
        request: &Request,
        layer: u32,
        class: u8,
        at: u32,
        changes: &mut Changes,
    ) -> Option<()> {
        let (value, changed) = self.value(request, layer, class, at)?;
        if changed {
            changes.push((Var::byte(self.layers[layer as usize].offset), value.into()));
        }
        Some(())
    }

    /// The fewest changes of earlier bytes that lead to a node before a layer.
    fn way_to(&mut self, request: &Request, layer: u32, node: u32, at: u32) -> Option<Changes> {
        let mut set: FxHashMap<u32, (u32, u32)> = FxHashMap::from_iter([(node, (0, 0))]);
        // By layer, from the last on: each node with its edge.
        let mut trail: Vec<FxHashMap<u32, (u32, u32)>> = Vec::new();
        let mut here = layer;
        let start;
        loop {
            let current = self.current_before(here);
            let best = set.values().map(|v| v.0).min()?;
            if set.get(&current).is_some_and(|v| v.0 == best) || here == 0 {
                start = current;
                break;
            }
            if trail.len() == MAX_SEARCHED_LAYERS {
                start = set.iter().filter(|(_, v)| v.0 == best).map(|(node, _)| *node).min()?;
                break;
            }
            here -= 1;
            let mut next: FxHashMap<u32, (u32, u32)> = FxHashMap::default();
            let edges = &self.layers[here as usize].edges;
            self.work += edges.len() as u64;
            for (place, edge) in
                edges.iter().enumerate().skip(edges.partition_point(|e| e.kill < at))
            {
                let Some(&(cost, _)) = set.get(&edge.to) else { continue };
                if self.life_before(here, edge.from) < at {
                    continue;
                }
                let Some((_, changed)) = self.value(request, here, edge.class, at) else {
                    continue;
                };
                let cost = cost + u32::from(changed);
                let best = next.entry(edge.from).or_insert((cost, place as u32));
                if cost < best.0 {
                    *best = (cost, place as u32);
                }
            }
            trail.push(std::mem::replace(&mut set, next));
        }
        let mut changes = self.best_way_to(request, here, start, at)?;
        // The entry of a node names the edge to the node behind it.
        let mut entry = set.get(&start).copied()?;
        for before in trail.iter().rev() {
            let edge = self.layers[here as usize].edges[entry.1 as usize];
            self.add_change(request, here, edge.class, at, &mut changes)?;
            entry = before.get(&edge.to).copied()?;
            here += 1;
        }
        Some(changes)
    }

    /// The changes of earlier bytes on the way with the longest life to a node before a
    /// layer. There may be ways with fewer changes.
    fn best_way_to(
        &mut self,
        request: &Request,
        mut layer: u32,
        mut node: u32,
        at: u32,
    ) -> Option<Changes> {
        let mut changes = Vec::new();
        while layer > 0 && node != self.current_before(layer) {
            layer -= 1;
            let here = &self.layers[layer as usize];
            let edge = here.edges[here.best_in[node as usize] as usize];
            self.add_change(request, layer, edge.class, at, &mut changes)?;
            node = edge.from;
            self.work += 1;
        }
        changes.reverse();
        Some(changes)
    }

    /// The changes of later bytes on the way with the longest life from a node after a
    /// layer.
    fn best_way_from(
        &mut self,
        request: &Request,
        mut layer: u32,
        mut node: u32,
        at: u32,
        last_layer: u32,
    ) -> Option<Changes> {
        let mut changes = Vec::new();
        while layer < last_layer && node != DEAD_END && node != self.layers[layer as usize].current
        {
            let out = self.layers[layer as usize].best_out[node as usize];
            layer += 1;
            let here = &self.layers[layer as usize];
            let edge = here.edges[out as usize];
            self.add_change(request, layer, edge.class, at, &mut changes)?;
            node = edge.to;
            self.work += 1;
        }
        Some(changes)
    }

    /// The fewest changes of later bytes that complete a node after a layer.
    fn way_from(
        &mut self,
        request: &Request,
        layer: u32,
        node: u32,
        at: u32,
        last_layer: u32,
    ) -> Option<Changes> {
        let mut set: FxHashMap<u32, (u32, u32, u32)> = FxHashMap::from_iter([(node, (0, 0, 0))]);
        let mut trail: Vec<FxHashMap<u32, (u32, u32, u32)>> = Vec::new();
        let mut here = layer;
        let node = loop {
            let best = set.values().map(|v| v.0).min()?;
            let current = self.layers[here as usize].current;
            let is_done = |n: u32| n == DEAD_END || n == current || here >= last_layer;
            let done =
                set.iter().filter(|(n, v)| v.0 == best && is_done(**n)).map(|(n, _)| *n).min();
            if let Some(node) = done {
                break node;
            }
            if here >= last_layer {
                return None;
            }
            if trail.len() == MAX_SEARCHED_LAYERS {
                let best = set.iter().filter(|(_, v)| v.0 == best).map(|(node, _)| *node);
                break best.min()?;
            }
            here += 1;
            let mut next: FxHashMap<u32, (u32, u32, u32)> = FxHashMap::default();
            let layer = &self.layers[here as usize];
            self.work += layer.edges.len() as u64;
            let from = layer.edges.partition_point(|e| e.kill < at);
            for (place, edge) in layer.edges.iter().enumerate().skip(from) {
                let Some(&(cost, ..)) = set.get(&edge.from) else { continue };
                if layer.later_life(edge.to) < at {
                    continue;
                }
                let Some((_, changed)) = self.value(request, here, edge.class, at) else {
                    continue;
                };
                let cost = cost + u32::from(changed);
                let best = next.entry(edge.to).or_insert((cost, place as u32, edge.from));
                if cost < best.0 {
                    *best = (cost, place as u32, edge.from);
                }
            }
            trail.push(std::mem::replace(&mut set, next));
        };
        let mut changes = self.best_way_from(request, here, node, at, last_layer)?;
        let mut entry = set.get(&node).copied()?;
        for before in trail.iter().rev() {
            let edge = self.layers[here as usize].edges[entry.1 as usize];
            self.add_change(request, here, edge.class, at, &mut changes)?;
            entry = before.get(&edge.from).copied()?;
            here -= 1;
        }
        Some(changes)
    }
}
