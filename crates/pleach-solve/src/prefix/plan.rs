//! Which conditions are evaluated at which byte, and which terms a layer passes on to
//! later layers.

use super::NEVER;
use super::uses::Uses;
use crate::path::PinnedTerms;
use crate::request::Request;
use pleach_expr::{Pool, Term};
use pleach_work::Task;
use rustc_hash::FxHashMap;

/// The conditions of one path, by layer.
pub(super) struct Plan {
    /// By atom: its condition, with pinned terms replaced.
    pub(super) conditions: Vec<Condition>,
    /// By step that is a switch: the term that decides it, with pinned terms replaced.
    switches: FxHashMap<u32, Term>,
    /// By offset: the layer of the byte + 1; 0 for bytes without a layer.
    pub(super) layer_of: Vec<u32>,
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
    /// By layer: terms of this byte alone that other terms use.
    pub(super) views: Vec<Vec<Term>>,
    pub(super) columns: Vec<Column>,
    /// By layer: the columns that start there.
    pub(super) starts: Vec<Vec<u32>>,
    pub(super) uses: Uses,
    pub(super) leaves_out: bool,
    pub work: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
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
    pub(super) uses: Vec<(u32, u32)>,
}

impl Column {
    /// The first step of a use behind a layer; [`NEVER`] if there is none.
    pub fn first_use(&self, layer: u32) -> u32 {
        let at = self.uses.partition_point(|u| u.0 <= layer);
        self.uses.get(at).map_or(NEVER, |u| u.1)
    }
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
            columns: Vec::new(),
            starts: Vec::new(),
            uses: Uses::default(),
            leaves_out: false,
            work: 0,
        };
        let _planning = pleach_work::enter(Task::Graph);
        plan.replace_pinned(request);
        plan.place_conditions(request);
        // A graph that is not planned to its end is never built.
        if !pleach_work::spend(plan.work) {
            plan.index_uses(&request.path.pool);
        }
        plan
    }

    pub fn memory(&self) -> usize {
        let columns: usize = self.columns.iter().map(|c| 48 + 8 * c.uses.capacity()).sum();
        let roots: usize = self.roots.iter().map(|r| 24 + 12 * r.capacity()).sum();
        let terms = self.uses.memory() + 8 * self.conditions.capacity();
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
            if pleach_work::is_stopping() {
                self.conditions.push(Condition::LeftOut);
                continue;
            }
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
        let layers = self.offsets.len();
        self.roots = vec![Vec::new(); layers];
        self.byte_conditions = vec![Vec::new(); layers];
        self.views = vec![Vec::new(); layers];
        self.starts = vec![Vec::new(); layers];
        self.first_later = vec![NEVER; layers];
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
        if let Some(last) = (layers as u32).checked_sub(1) {
            self.find_first_later(0, last);
        }
        self.leaves_out = self.conditions.contains(&Condition::LeftOut);
    }

    /// Finds the first steps behind the layers from `from` to `to`.
    pub(super) fn find_first_later(&mut self, from: u32, to: u32) {
        for layer in (from as usize..=to as usize).rev() {
            let behind = self.first_later.get(layer + 1).copied().unwrap_or(NEVER);
            let next = self.roots.get(layer + 1).and_then(|roots| roots.first());
            self.first_later[layer] = next.map_or(behind, |root| behind.min(root.step));
        }
    }

    /// True if the graph leaves out a condition.
    pub fn leaves_out(&self) -> bool {
        self.leaves_out
    }

    /// The column of a term or byte, if later layers use it.
    pub fn column(&self, source: Source) -> Option<&Column> {
        self.columns.get(self.uses.column(source)?)
    }

    /// The columns that start at a layer.
    pub fn columns_from(&self, layer: u32) -> impl Iterator<Item = &Column> {
        let columns = self.starts[layer as usize].iter().map(|&c| &self.columns[c as usize]);
        columns.filter(|column| !column.uses.is_empty())
    }

    /// The terms of the byte of a layer alone that other terms use, each with the first
    /// step that does.
    pub fn views(&self, layer: u32) -> Vec<(Term, u32)> {
        let views = self.views[layer as usize].iter();
        let views = views.map(|&term| (term, self.uses.first_step(Source::Term(term))));
        views.filter(|&(_, step)| step != NEVER).collect()
    }

    /// The first step that uses the byte of a layer itself together with others.
    pub fn raw_view(&self, layer: u32) -> u32 {
        self.uses.first_step(Source::Byte(layer))
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
