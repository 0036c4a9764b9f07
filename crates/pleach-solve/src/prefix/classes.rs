//! The values of a byte that no condition tells apart.

use super::{NEVER, PrefixGraph, ValueSet};
use crate::domains::LANES;
use crate::request::Request;
use pleach_automata::ByteSet;
use pleach_expr::{Term, Var};
use rustc_hash::FxHashMap;

/// The classes of the values of one byte.
pub(super) struct Classes {
    pub class_of: Box<[u8; 256]>,
    pub value_kill: Box<[u32; 256]>,
    pub class_kill: Vec<u32>,
    /// One value of each class.
    pub samples: Vec<u8>,
}

impl Classes {
    /// By class: its values and its kill.
    pub fn sets(&self) -> Vec<ValueSet> {
        let empty = |&kill: &u32| ValueSet { values: ByteSet::EMPTY, kill };
        let mut sets: Vec<ValueSet> = self.class_kill.iter().map(empty).collect();
        for value in 0..=255u8 {
            sets[self.class_of[value as usize] as usize].values.insert(value);
        }
        sets
    }
}

impl PrefixGraph {
    /// The classes of the values of a byte; `None` if a term is wider than 64 bits.
    pub(super) fn classes(&self, request: &mut Request, layer: u32) -> Option<Classes> {
        let offset = self.plan.offsets[layer as usize];
        let mut value_kill = request.path.value_kills(&mut request.scratch.memo, offset);
        let conditions = &self.plan.byte_conditions[layer as usize];
        let terms: Vec<Term> = conditions.iter().map(|c| c.0).collect();
        let (path, memo) = (&*request.path, &mut request.scratch.memo);
        let sets = memo.sets(&path.pool, &path.values, &terms, offset);
        for (&(_, step), set) in conditions.iter().zip(sets) {
            for value in set.complement().iter() {
                let kill = &mut value_kill[value as usize];
                *kill = (*kill).min(step);
            }
        }
        let views = self.plan.views(layer);
        let terms: Vec<Term> = views.iter().map(|v| v.0).collect();
        let raw = self.plan.raw_view(layer);
        let (path, scratch) = (&*request.path, &mut *request.scratch);
        let vary = [Var::byte(offset)];
        let tape = scratch.compiler.compile(&path.pool, &path.values, &terms, &vary);
        if tape.is_wide() {
            return None;
        }
        let frame = &mut scratch.lanes;
        frame.load(&tape);
        let mut classes = Classes {
            class_of: Box::new([0; 256]),
            value_kill: Box::new(value_kill),
            class_kill: Vec::new(),
            samples: Vec::new(),
        };
        let mut known: FxHashMap<Vec<u64>, u8> = FxHashMap::default();
        let current = path.byte(offset);
        for block in 0..256 / LANES {
            frame.set(&tape, 0, std::array::from_fn(|i| (LANES * block + i) as u64));
            frame.run(&path.pool, &tape);
            for lane in 0..LANES {
                let value = (LANES * block + lane) as u8;
                let kill = classes.value_kill[value as usize];
                // What only later steps see does not matter.
                let mut view: Vec<u64> = views
                    .iter()
                    .enumerate()
                    .filter(|(_, v)| v.1 <= kill)
                    .map(|(i, _)| frame.root(&tape, i)[lane])
                    .collect();
                if raw != NEVER && raw <= kill {
                    view.push(value.into());
                }
                let next = classes.samples.len() as u8;
                let class = *known.entry(view).or_insert(next);
                if class == next && class as usize == classes.samples.len() {
                    classes.samples.push(value);
                    classes.class_kill.push(kill);
                }
                let class_kill = &mut classes.class_kill[class as usize];
                // The sample must stand for what the class can do longest.
                if kill > *class_kill || value == current {
                    *class_kill = kill.max(*class_kill);
                    classes.samples[class as usize] = value;
                }
                classes.class_of[value as usize] = class;
            }
        }
        Some(classes)
    }
}
