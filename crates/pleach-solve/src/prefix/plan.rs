//! Which conditions are evaluated at which byte, and which terms a layer passes on to
//! later layers.

use super::NEVER;
use crate::path::PinnedTerms;
use crate::request::Request;
use pleach_expr::{Code, Pool, Term};
use rustc_hash::FxHashMap;

/// The conditions of one path, by layer.
pub(super) struct Plan {
    /// By atom: its condition, with pinned terms replaced.
    conditions: Vec<Condition>,
    /// By step that is a switch: the term that decides it, with pinned terms replaced.
    switches: FxHashMap<u32, Term>,
    /// By offset: the layer of the byte + 1; 0 for bytes without a layer.
    layer_of: Vec<u32>,
    /// By layer: the byte, in the order of the file.
    pub offsets: Vec<u32>,
    /// By layer: conditions that pinned terms make conditions on this byte alone.
    pub byte_conditions: Vec<Vec<(Term, u32)>>,
    /// By layer: what is evaluated there, in the order of the path.
    pub roots: Vec<Vec<Root>>,
    /// The steps with a condition on a later layer than all steps before, with the layer.
    reach: Vec<(u32, u32)>,
    /// By layer: the first step of a condition on a later layer.
    pub first_later: Vec<u32>,
    /// By layer: terms of this byte alone that other terms use, each with the first step
    /// that does.
    pub views: Vec<Vec<(Term, u32)>>,
    /// By layer: the first step that uses the byte itself together with others.
    pub raw_view: Vec<u32>,
    columns: Vec<Column>,
    /// By layer: the columns that start there.
    starts: Vec<Vec<u32>>,
    /// By layer: the column of its byte + 1.
    byte_columns: Vec<u32>,
    /// By layer: about how many conditions use the byte itself.
    byte_weights: Vec<f32>,
    /// By term: what the visit of the conditions found.
    marks: Vec<Mark>,
    /// Columns that are given up after a layer.
    given_up: Vec<(Source, u32)>,
    leaves_out: bool,
    pub work: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    /// It cannot break.
    True,
    /// On several bytes, or on a byte that has a layer.
    Term(Term),
    /// The graph leaves it out.
    LeftOut,
}

/// A term that is evaluated at a layer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Root {
    pub term: Term,
    pub step: u32,
    /// The condition, or [`SWITCH_VALUE`] for a term that decides a switch.
    pub atom: u32,
}

/// The largest weight of a term. Sums of larger ones would lose all meaning.
const MAX_WEIGHT: f32 = 1e30;
/// In place of an atom.
pub(super) const SWITCH_VALUE: u32 = u32::MAX;

/// What a column has the values of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A byte, by layer.
    Byte(u32),
    Term(Term),
}

/// A value that one layer passes on to later ones.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub source: Source,
    /// The layers that use it, ascending, each with the first step that needs it there or
    /// behind.
    uses: Vec<(u32, u32)>,
}

impl Column {
    /// The first step of a use behind a layer; [`NEVER`] if there is none.
    pub fn first_use(&self, layer: u32) -> u32 {
        let at = self.uses.partition_point(|u| u.0 <= layer);
        self.uses.get(at).map_or(NEVER, |u| u.1)
    }
}

#[derive(Clone, Copy, Default)]
struct Mark {
    /// The column of the term + 1.
    column: u32,
    is_visited: bool,
    is_viewed: bool,
    uses_given_up: Option<bool>,
    /// See [`Plan::weigh`].
    weight: f32,
}

/// What a flip asks the graph.
pub(super) struct Question {
    /// Layers with edges that reach the goal.
    pub places: Vec<Place>,
    /// True if the graph has all conditions that the flip negates.
    pub is_complete: bool,
    pub last_layer: u32,
}

/// Where an edge can reach a goal.
pub(super) enum Place {
    /// Edges of this layer that the step kills.
    Killed(u32),
    /// Edges of this layer over a value that the step kills. With a term: only values for
    /// which it has a wanted value.
    KilledValue(u32, Option<Term>),
    /// Edges of this layer over a value that the goals allow.
    Goal(u32),
}

impl Plan {
    pub fn new(request: &mut Request) -> Plan {
        let mut plan = Plan {
            conditions: Vec::new(),
            switches: FxHashMap::default(),
            layer_of: Vec::new(),
            offsets: Vec::new(),
            byte_conditions: Vec::new(),
            roots: Vec::new(),
            reach: Vec::new(),
            first_later: Vec::new(),
            views: Vec::new(),
            raw_view: Vec::new(),
            columns: Vec::new(),
            starts: Vec::new(),
            byte_columns: Vec::new(),
            byte_weights: Vec::new(),
            marks: Vec::new(),
            given_up: Vec::new(),
            leaves_out: false,
            work: 0,
        };
        plan.replace_pinned(request);
        plan.place_conditions(request);
        plan.visit_roots(&request.path.pool, 0);
        plan
    }

    pub fn memory(&self) -> usize {
        let columns: usize = self.columns.iter().map(|c| 48 + 8 * c.uses.capacity()).sum();
        let roots: usize = self.roots.iter().map(|r| 24 + 12 * r.capacity()).sum();
        let terms = self.marks.capacity() * size_of::<Mark>() + 8 * self.conditions.capacity();
        columns + roots + terms + self.layer_of.len() * 4 + self.offsets.len() * 128
    }

    /// The layer of a term: that of the last byte that it reads.
    pub fn layer(&self, pool: &Pool, term: Term) -> Option<u32> {
        let last = pool.var_ranges(term).last()?.1 - 1;
        self.layer_of.get(last as usize)?.checked_sub(1)
    }

    /// Replaces pinned terms in all conditions that read several inputs.
    fn replace_pinned(&mut self, request: &mut Request) {
        let path = &mut *request.path;
        let mut pinned = PinnedTerms::new(path, &mut request.scratch.memo);
        for atom in path.atoms().to_vec() {
            if path.pool.reads(atom.term).single().is_some() {
                self.conditions.push(Condition::Term(atom.term));
                continue;
            }
            let term = pinned.replace(path, atom.term, atom.step);
            self.conditions.push(match path.pool.constant(term) {
                Some(0) => Condition::LeftOut,
                Some(_) => Condition::True,
                None => Condition::Term(term),
            });
            if let Some(switch) = path.switch_term(atom.step as usize)
                && !self.switches.contains_key(&atom.step)
            {
                let switch = pinned.replace(path, switch, atom.step);
                self.switches.insert(atom.step, switch);
            }
        }
        path.refresh();
        self.work += pinned.work;
    }

    /// Gives each condition its layer.
    fn place_conditions(&mut self, request: &Request) {
        let path = &*request.path;
        let pool = &path.pool;
        let bytes = path.input_len();
        let wide = wide_terms(pool);
        let is_known = |term: Term| {
            let ranges = pool.var_ranges(term);
            !wide[term.index()] && ranges.last().is_some_and(|r| r.1 as usize <= bytes)
        };
        // How many conditions begin to read at a byte, less those that ended before.
        let mut begins = vec![0i32; bytes + 1];
        for (atom, condition) in path.atoms().iter().zip(&mut self.conditions) {
            let Condition::Term(term) = *condition else { continue };
            if pool.reads(atom.term).single().is_some() {
                continue;
            }
            if !is_known(term) {
                *condition = Condition::LeftOut;
                continue;
            }
            for &(from, to) in pool.var_ranges(term) {
                begins[from as usize] += 1;
                begins[to as usize] -= 1;
            }
        }
        self.layer_of = vec![0; bytes];
        let mut depth = 0;
        for (offset, layer) in self.layer_of.iter_mut().enumerate() {
            depth += begins[offset];
            if depth > 0 {
                self.offsets.push(offset as u32);
                *layer = self.offsets.len() as u32;
            }
        }
        self.roots = vec![Vec::new(); self.offsets.len()];
        self.byte_conditions = vec![Vec::new(); self.offsets.len()];
        // The condition of a switch may read fewer bytes than its value.
        let has_layers = |term: Term| {
            let mut ranges = pool.var_ranges(term).iter();
            ranges.all(|&(from, to)| match (self.layer_of[from as usize], to as usize - 1) {
                (0, _) => false,
                // Layers are in the order of the file.
                (first, last) => self.layer_of[last].checked_sub(first) == Some(to - 1 - from),
            })
        };
        let mut last_switch = None;
        for (i, atom) in path.atoms().iter().enumerate() {
            let Condition::Term(term) = self.conditions[i] else { continue };
            let Some(layer) = self.layer(pool, term) else { continue };
            if pool.reads(atom.term).single().is_some() {
                continue;
            }
            if pool.reads(term).single().is_some() {
                self.byte_conditions[layer as usize].push((term, atom.step));
            } else {
                if let Some(&switch) = self.switches.get(&atom.step)
                    && last_switch != Some(atom.step)
                    && is_known(switch)
                    && self.layer(pool, switch) == Some(layer)
                    && has_layers(switch)
                {
                    last_switch = Some(atom.step);
                    let root = Root { term: switch, step: atom.step, atom: SWITCH_VALUE };
                    self.roots[layer as usize].push(root);
                }
                let root = Root { term, step: atom.step, atom: i as u32 };
                self.roots[layer as usize].push(root);
            }
            if self.reach.last().is_none_or(|r| r.1 < layer) {
                self.reach.push((atom.step, layer));
            }
        }
    }

    /// Finds the columns and views of all layers from `from` on.
    fn visit_roots(&mut self, pool: &Pool, from: u32) {
        let layers = self.offsets.len();
        self.marks.clear();
        self.marks.resize(pool.len(), Mark::default());
        self.columns.clear();
        self.views = vec![Vec::new(); layers];
        self.raw_view = vec![NEVER; layers];
        self.starts = vec![Vec::new(); layers];
        self.byte_columns = vec![0; layers];
        let mut all: Vec<(Root, u32)> = Vec::new();
        for layer in from..layers as u32 {
            all.extend(self.roots[layer as usize].iter().map(|&root| (root, layer)));
        }
        // The first visit of a term has the first step that uses it.
        all.sort_by_key(|(root, _)| root.step);
        let mut left_out = false;
        for &(root, layer) in &all {
            if self.uses_given_up(pool, root.term, layer) {
                left_out = true;
                if root.atom != SWITCH_VALUE {
                    self.conditions[root.atom as usize] = Condition::LeftOut;
                }
            } else {
                self.visit(pool, root, layer);
            }
        }
        if left_out {
            for roots in &mut self.roots[from as usize..] {
                let marks = &self.marks;
                roots.retain(|r| marks[r.term.index()].uses_given_up != Some(true));
            }
        }
        for column in &mut self.columns {
            column.uses.sort_unstable();
            let mut first = NEVER;
            for used in column.uses.iter_mut().rev() {
                first = first.min(used.1);
                used.1 = first;
            }
            column.uses.dedup_by_key(|u| u.0);
        }
        for (i, column) in self.columns.iter().enumerate() {
            let start = match column.source {
                Source::Byte(layer) => Some(layer),
                Source::Term(term) => self.layer(pool, term),
            };
            if let Some(start) = start {
                self.starts[start as usize].push(i as u32);
            }
        }
        self.first_later = vec![NEVER; layers];
        let mut first = NEVER;
        for layer in (0..layers).rev() {
            self.first_later[layer] = first;
            first = self.roots[layer].first().map_or(first, |r| first.min(r.step));
        }
        self.weigh(pool, &all);
        self.work += all.len() as u64;
        self.leaves_out = self.conditions.contains(&Condition::LeftOut);
    }

    /// Records the columns and views that a condition needs.
    fn visit(&mut self, pool: &Pool, root: Root, layer: u32) {
        let step = root.step;
        let mut stack = vec![(root.term, layer)];
        while let Some((term, layer)) = stack.pop() {
            let mark = &mut self.marks[term.index()];
            if std::mem::replace(&mut mark.is_visited, true) {
                continue;
            }
            self.work += 1;
            let node = pool.node(term);
            if node.code == Code::Read {
                self.use_read(&node, layer, step);
            }
            for operand in node.operands() {
                let inner = pool.node(operand);
                if inner.code == Code::Read {
                    self.use_read(&inner, layer, step);
                    continue;
                }
                let Some(below) = self.layer(pool, operand) else { continue };
                if pool.reads(operand).single().is_none() {
                    stack.push((operand, below));
                } else if !std::mem::replace(&mut self.marks[operand.index()].is_viewed, true) {
                    self.views[below as usize].push((operand, step));
                }
                if below < layer {
                    self.use_term(operand, layer, step);
                }
            }
        }
    }

    fn use_term(&mut self, term: Term, layer: u32, step: u32) {
        let column = &mut self.marks[term.index()].column;
        if *column == 0 {
            self.columns.push(Column { source: Source::Term(term), uses: Vec::new() });
            *column = self.columns.len() as u32;
        }
        self.columns[*column as usize - 1].uses.push((layer, step));
    }

    fn use_read(&mut self, read: &pleach_expr::Node, layer: u32, step: u32) {
        for offset in read.a..read.a + read.width() / 8 {
            let Some(below) = self.layer_of[offset as usize].checked_sub(1) else { continue };
            let view = &mut self.raw_view[below as usize];
            *view = (*view).min(step);
            if below == layer {
                continue;
            }
            let column = &mut self.byte_columns[below as usize];
            if *column == 0 {
                self.columns.push(Column { source: Source::Byte(below), uses: Vec::new() });
                *column = self.columns.len() as u32;
            }
            self.columns[*column as usize - 1].uses.push((layer, step));
        }
    }

    /// Gives up columns after a layer that is being built: the conditions of later layers
    /// that use them are left out.
    pub fn give_up(&mut self, pool: &Pool, sources: &[Source], layer: u32) {
        self.given_up.extend(sources.iter().map(|&source| (source, layer)));
        self.visit_roots(pool, layer);
    }

    /// About how many conditions depend on a column.
    pub fn weight(&self, source: Source) -> f64 {
        match source {
            Source::Byte(layer) => self.byte_weights[layer as usize].into(),
            Source::Term(term) => self.marks[term.index()].weight.into(),
        }
    }

    /// Counts for each term the conditions that use it. Conditions that use it in several
    /// ways count several times.
    fn weigh(&mut self, pool: &Pool, roots: &[(Root, u32)]) {
        self.byte_weights = vec![0.0; self.offsets.len()];
        for (root, _) in roots {
            self.marks[root.term.index()].weight += 1.0;
        }
        for term in pool.terms().rev() {
            let weight = self.marks[term.index()].weight;
            if weight == 0.0 {
                continue;
            }
            let node = pool.node(term);
            for operand in node.operands() {
                let mark = &mut self.marks[operand.index()];
                mark.weight = (mark.weight + weight).min(MAX_WEIGHT);
            }
            if node.code == Code::Read {
                for offset in node.a..node.a + node.width() / 8 {
                    if let Some(layer) = self.layer_of[offset as usize].checked_sub(1) {
                        let byte = &mut self.byte_weights[layer as usize];
                        *byte = (*byte + weight).min(MAX_WEIGHT);
                    }
                }
            }
        }
    }

    /// True if a condition uses a column that was given up.
    fn uses_given_up(&mut self, pool: &Pool, root: Term, layer: u32) -> bool {
        if self.given_up.is_empty() {
            return false;
        }
        let mut stack = vec![(root, layer)];
        while let Some(&(term, layer)) = stack.last() {
            if self.marks[term.index()].uses_given_up.is_some() {
                stack.pop();
                continue;
            }
            self.work += 1;
            let before = stack.len();
            let node = pool.node(term);
            let mut uses = node.code == Code::Read && self.reads_given_up(&node, layer);
            for operand in node.operands() {
                let inner = pool.node(operand);
                if inner.code == Code::Read {
                    uses |= self.reads_given_up(&inner, layer);
                    continue;
                }
                let Some(below) = self.layer(pool, operand) else { continue };
                let is_operand = |&(source, after): &(Source, u32)| {
                    source == Source::Term(operand) && below <= after && after < layer
                };
                uses |= self.given_up.iter().any(is_operand);
                if pool.reads(operand).single().is_none() {
                    match self.marks[operand.index()].uses_given_up {
                        Some(known) => uses |= known,
                        None => stack.push((operand, below)),
                    }
                }
            }
            if uses || stack.len() == before {
                self.marks[term.index()].uses_given_up = Some(uses);
            }
        }
        self.marks[root.index()].uses_given_up == Some(true)
    }

    fn reads_given_up(&self, read: &pleach_expr::Node, layer: u32) -> bool {
        (read.a..read.a + read.width() / 8).any(|offset| {
            let byte = self.layer_of[offset as usize].checked_sub(1).map(Source::Byte);
            self.given_up.iter().any(|&(source, after)| Some(source) == byte && after < layer)
        })
    }

    /// True if the graph leaves out a condition.
    pub fn leaves_out(&self) -> bool {
        self.leaves_out
    }

    /// The column of a term or byte, if later layers use it.
    pub fn column(&self, source: Source) -> Option<&Column> {
        let column = match source {
            Source::Byte(layer) => self.byte_columns[layer as usize],
            Source::Term(term) => self.marks[term.index()].column,
        };
        self.columns.get((column as usize).checked_sub(1)?)
    }

    /// The columns that start at a layer.
    pub fn columns_from(&self, layer: u32) -> impl Iterator<Item = &Column> {
        self.starts[layer as usize].iter().map(|&c| &self.columns[c as usize])
    }

    /// What the flip of a request asks the graph; `None` if the graph knows nothing of it.
    pub fn question(&self, request: &Request) -> Option<Question> {
        let path = &*request.path;
        let step = request.at as u32;
        let reach = self.reach.partition_point(|r| r.0 <= step);
        let mut question = Question {
            places: Vec::new(),
            is_complete: true,
            last_layer: reach.checked_sub(1).map_or(0, |at| self.reach[at].1),
        };
        let one_byte = |&goal: &Term| path.pool.reads(goal).single().and_then(|v| v.as_byte());
        let mut bytes = request.goals.iter().map(one_byte);
        if let Some(Some(byte)) = bytes.next()
            && bytes.all(|b| b == Some(byte))
        {
            let layer = self.layer_of.get(byte as usize)?.checked_sub(1)?;
            question.places.push(Place::Goal(layer));
            question.last_layer = question.last_layer.max(layer);
            return Some(question);
        }
        let atoms = path.atoms_of_step(request.at);
        if atoms.is_empty() {
            return None;
        }
        for i in atoms {
            let term = match self.conditions[i] {
                Condition::True => continue,
                Condition::LeftOut => {
                    question.is_complete = false;
                    continue;
                }
                Condition::Term(term) => term,
            };
            let Some(layer) = self.layer(&path.pool, term) else {
                question.is_complete = false;
                continue;
            };
            let place = match path.pool.reads(term).single() {
                Some(_) => {
                    let switch = self.switches.get(&step).copied();
                    Place::KilledValue(layer, switch)
                }
                None => Place::Killed(layer),
            };
            question.places.push(place);
            question.last_layer = question.last_layer.max(layer);
        }
        Some(question)
    }

    /// True if the edges that a step kills at a layer have the values of its switch.
    pub fn has_switch_value(&self, layer: u32, step: u32) -> bool {
        let roots = &self.roots[layer as usize];
        let at = roots.partition_point(|r| r.step < step);
        roots.get(at).is_some_and(|r| r.step == step && r.atom == SWITCH_VALUE)
    }
}

/// By term: true if it or a term in it is wider than 64 bits.
fn wide_terms(pool: &Pool) -> Vec<bool> {
    let mut wide: Vec<bool> = Vec::with_capacity(pool.len());
    for term in pool.terms() {
        let node = pool.node(term);
        let is_wide = node.width > 64 || node.operands().any(|o| wide[o.index()]);
        wide.push(is_wide);
    }
    wide
}
