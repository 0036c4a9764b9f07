//! Which terms use which: the first step that needs a term, and what is left out with a
//! column that is given up.
//!
//! The index is built once. To give up columns changes only what they reach: a term that
//! uses them dies once, and the first steps of its operands are computed again as far as
//! they change.

use super::NEVER;
use super::plan::{Column, Condition, Plan, Root, SWITCH_VALUE, Source};
use pleach_expr::{Code, Node, Pool, Term};
use std::collections::BTreeSet;

/// The largest weight of a term. Sums of larger ones would lose all meaning.
const MAX_WEIGHT: f32 = 1e30;

/// The uses of terms and bytes by the conditions on several bytes. Everything is by place:
/// bytes by layer, then terms by index. So a place comes behind all that it uses.
#[derive(Default)]
pub(super) struct Uses {
    /// The number of bytes with a layer.
    layers: usize,
    /// The terms on several bytes that use a place: `users[starts[p]..starts[p + 1]]`.
    users: Vec<Term>,
    starts: Vec<u32>,
    /// The first step that needs it; [`NEVER`] if none does.
    first_step: Vec<u32>,
    /// The first step that has it as its condition.
    root_step: Vec<u32>,
    /// True if it uses a column that was given up.
    is_dead: Vec<bool>,
    /// The number of conditions that use it when the index was built. Those that use it in
    /// several ways count several times.
    weight: Vec<f32>,
    /// The place of its column + 1.
    column: Vec<u32>,
}

impl Uses {
    fn place(&self, source: Source) -> usize {
        match source {
            Source::Byte(layer) => layer as usize,
            Source::Term(term) => self.term_place(term),
        }
    }

    fn term_place(&self, term: Term) -> usize {
        self.layers + term.index()
    }

    fn source(&self, place: usize) -> Source {
        match place.checked_sub(self.layers) {
            Some(index) => Source::Term(Term::from_index(index)),
            None => Source::Byte(place as u32),
        }
    }

    fn users(&self, place: usize) -> &[Term] {
        &self.users[self.starts[place] as usize..self.starts[place + 1] as usize]
    }

    /// The first step that needs a term or byte together with others.
    pub fn first_step(&self, source: Source) -> u32 {
        self.first_step[self.place(source)]
    }

    pub fn column(&self, source: Source) -> Option<usize> {
        (self.column[self.place(source)] as usize).checked_sub(1)
    }

    pub fn memory(&self) -> usize {
        self.users.len() * 4 + self.starts.len() * 21
    }
}

impl Plan {
    /// Finds the uses, columns and views of all layers.
    pub(super) fn index_uses(&mut self, pool: &Pool) {
        let layers = self.offsets.len();
        let places = layers + pool.len();
        let mut uses = Uses {
            layers,
            first_step: vec![NEVER; places],
            root_step: vec![NEVER; places],
            is_dead: vec![false; places],
            weight: vec![0.0; places],
            column: vec![0; places],
            ..Uses::default()
        };
        let roots: Vec<Root> = self.roots.iter().flatten().copied().collect();
        let mut is_visited = vec![false; places];
        let mut visited: Vec<Term> = Vec::new();
        let mut stack: Vec<Term> = Vec::new();
        for root in &roots {
            let place = uses.term_place(root.term);
            uses.root_step[place] = uses.root_step[place].min(root.step);
            uses.weight[place] += 1.0;
            stack.push(root.term);
        }
        let mut sources: Vec<Source> = Vec::new();
        while let Some(term) = stack.pop() {
            if std::mem::replace(&mut is_visited[uses.term_place(term)], true) {
                continue;
            }
            visited.push(term);
            self.find_sources(pool, term, &mut sources);
            let is_on_several = |source: &Source| match *source {
                Source::Term(term) => pool.reads(term).single().is_none().then_some(term),
                Source::Byte(_) => None,
            };
            stack.extend(sources.iter().filter_map(is_on_several));
        }
        // A term comes before its operands.
        visited.sort_unstable_by_key(|term| std::cmp::Reverse(term.index()));
        let mut pairs: Vec<(u32, Term)> = Vec::new();
        for &term in &visited {
            let user = uses.term_place(term);
            let step = uses.first_step[user].min(uses.root_step[user]);
            uses.first_step[user] = step;
            self.find_sources(pool, term, &mut sources);
            for &source in &sources {
                let place = uses.place(source);
                pairs.push((place as u32, term));
                uses.weight[place] = (uses.weight[place] + uses.weight[user]).min(MAX_WEIGHT);
                let first = &mut uses.first_step[place];
                if *first == NEVER
                    && let Source::Term(term) = source
                    && pool.reads(term).single().is_some()
                    && let Some(layer) = self.layer(pool, term)
                {
                    self.views[layer as usize].push(term);
                }
                *first = (*first).min(step);
            }
        }
        uses.starts = vec![0; places + 1];
        for &(place, _) in &pairs {
            uses.starts[place as usize + 1] += 1;
        }
        for place in 0..places {
            uses.starts[place + 1] += uses.starts[place];
        }
        let mut ends = uses.starts.clone();
        uses.users = pairs.iter().map(|pair| pair.1).collect();
        for &(place, user) in &pairs {
            let end = &mut ends[place as usize];
            uses.users[*end as usize] = user;
            *end += 1;
        }
        self.work += pairs.len() as u64;
        self.uses = uses;
        let mut known: Vec<u32> = pairs.iter().map(|pair| pair.0).collect();
        known.sort_unstable();
        known.dedup();
        for place in known {
            let source = self.uses.source(place as usize);
            let uses = self.later_uses(pool, source);
            if let (false, Some(start)) = (uses.is_empty(), self.source_layer(pool, source)) {
                self.starts[start as usize].push(self.columns.len() as u32);
                self.columns.push(Column { source, uses });
                self.uses.column[place as usize] = self.columns.len() as u32;
            }
        }
    }

    /// What a term on several bytes uses: its operands, and the bytes that it reads itself.
    fn find_sources(&self, pool: &Pool, term: Term, sources: &mut Vec<Source>) {
        sources.clear();
        let read_bytes = |read: &Node, sources: &mut Vec<Source>| {
            let layers = read.a..read.a + read.width() / 8;
            let layers = layers.filter_map(|o| self.layer_of[o as usize].checked_sub(1));
            sources.extend(layers.map(Source::Byte));
        };
        let node = pool.node(term);
        if node.code == Code::Read {
            read_bytes(&node, sources);
        }
        for operand in node.operands() {
            let inner = pool.node(operand);
            if inner.code == Code::Read {
                read_bytes(&inner, sources);
            } else if self.layer(pool, operand).is_some() {
                sources.push(Source::Term(operand));
            }
        }
    }

    fn source_layer(&self, pool: &Pool, source: Source) -> Option<u32> {
        match source {
            Source::Byte(layer) => Some(layer),
            Source::Term(term) => self.layer(pool, term),
        }
    }

    /// The uses of a source on later layers; see [`Column`].
    fn later_uses(&self, pool: &Pool, source: Source) -> Vec<(u32, u32)> {
        let start = self.source_layer(pool, source);
        let use_of = |&user: &Term| {
            let (layer, step) = (self.layer(pool, user), self.uses.first_step(Source::Term(user)));
            (layer > start && step != NEVER).then_some((layer?, step))
        };
        let users = self.uses.users(self.uses.place(source));
        let mut uses: Vec<(u32, u32)> = users.iter().filter_map(use_of).collect();
        uses.sort_unstable();
        let mut first = NEVER;
        for used in uses.iter_mut().rev() {
            first = first.min(used.1);
            used.1 = first;
        }
        uses.dedup_by_key(|u| u.0);
        uses
    }

    /// Gives up columns after a layer that is being built: the conditions of later layers
    /// that use them are left out.
    pub fn give_up(&mut self, pool: &Pool, given_up: &[Source], layer: u32) {
        let mut dead: Vec<Term> = Vec::new();
        for &source in given_up {
            for &user in self.uses.users(self.uses.place(source)) {
                if self.layer(pool, user) > Some(layer) {
                    dead.push(user);
                }
            }
        }
        // The users of a term are taken out before it.
        let mut changed: BTreeSet<usize> = BTreeSet::new();
        let mut changed_layers: BTreeSet<u32> = BTreeSet::new();
        let mut sources: Vec<Source> = Vec::new();
        while let Some(term) = dead.pop() {
            let place = self.uses.term_place(term);
            if std::mem::replace(&mut self.uses.is_dead[place], true) {
                continue;
            }
            dead.extend(self.uses.users(place));
            if self.uses.root_step[place] != NEVER {
                changed_layers.extend(self.layer(pool, term));
            }
            changed.insert(place);
            self.work += 1;
        }
        for &layer in &changed_layers {
            let uses = &self.uses;
            let conditions = &mut self.conditions;
            self.roots[layer as usize].retain(|root| {
                let is_dead = uses.is_dead[uses.term_place(root.term)];
                if is_dead && root.atom != SWITCH_VALUE {
                    conditions[root.atom as usize] = Condition::LeftOut;
                }
                !is_dead
            });
            self.leaves_out = true;
        }
        if let Some(&last) = changed_layers.last() {
            self.find_first_later(layer, last);
        }
        while let Some(place) = changed.pop_last() {
            let source = self.uses.source(place);
            self.work += 1;
            if let Some(column) = self.uses.column(source) {
                self.columns[column].uses = self.later_uses(pool, source);
            }
            let uses = &self.uses;
            let users = uses.users(place).iter();
            let first = match uses.is_dead[place] {
                true => NEVER,
                false => users.fold(uses.root_step[place], |first, user| {
                    first.min(uses.first_step(Source::Term(*user)))
                }),
            };
            if std::mem::replace(&mut self.uses.first_step[place], first) == first {
                continue;
            }
            if let Source::Term(term) = source
                && pool.reads(term).single().is_none()
            {
                self.find_sources(pool, term, &mut sources);
                changed.extend(sources.iter().map(|&source| self.uses.place(source)));
            }
        }
    }

    /// About how many conditions on a layer or behind it depend on a column.
    pub fn weight(&self, pool: &Pool, source: Source, layer: u32) -> f64 {
        let uses = &self.uses;
        let is_needed = |user: &&Term| {
            uses.first_step(Source::Term(**user)) != NEVER
                && self.layer(pool, **user) >= Some(layer)
        };
        let users = uses.users(uses.place(source)).iter().filter(is_needed);
        users.map(|user| f64::from(uses.weight[uses.term_place(*user)])).sum()
    }
}
