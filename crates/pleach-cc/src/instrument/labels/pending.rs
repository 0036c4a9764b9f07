//! Pending labels and cold blocks.
//!
//! A test for every operation would make several times as many blocks as the program
//! has. So labels of plain operations are *pending* until something with an effect
//! needs them (a store, a call, a marker) or the block ends. Then one test of the labels
//! that the whole tree starts from guards the calls for all its nodes. These calls are
//! in a *cold block*; `nodes` emits them.

use super::emit::{Emitter, operands};
use super::shape::label_type;
use crate::instrument::llvm::Value;
use std::collections::HashSet;

impl Emitter<'_> {
    /// The label of a value: zero unless it may carry one.
    pub fn label(&mut self, v: Value) -> Value {
        self.make_ready(&[v]);
        self.ready_label(v)
    }

    /// The label of a value that is not pending.
    pub(super) fn ready_label(&self, v: Value) -> Value {
        match self.labels.get(&v) {
            Some(&l) => l,
            None => label_type(self.ctx, v.ty()).unwrap_or(self.ctx.int(32)).null(),
        }
    }

    /// The label of a value inside a cold block, where pending labels were computed.
    pub fn cold_label(&self, v: Value) -> Value {
        self.cold_labels.get(&v).copied().unwrap_or_else(|| self.ready_label(v))
    }

    pub fn has_label(&self, v: Value) -> bool {
        self.labels.contains_key(&v) || self.pending.contains(&v)
    }

    pub fn set_label(&mut self, v: Value, label: Value) {
        if !label.is_null() {
            self.labels.insert(v, label);
        }
    }

    /// The pending operations that some values depend on, operands first, and the ready
    /// labels that these start from.
    fn pending_tree(&self, values: &[Value]) -> (Vec<Value>, Vec<Value>) {
        let (mut order, mut leaves) = (Vec::new(), Vec::new());
        let mut seen = HashSet::new();
        // Each value is visited twice: before and after its operands.
        let mut stack: Vec<(Value, bool)> = values.iter().rev().map(|&v| (v, false)).collect();
        while let Some((v, done)) = stack.pop() {
            if done {
                order.push(v);
            } else if let Some(&l) = self.labels.get(&v) {
                if seen.insert(v) {
                    leaves.push(l);
                }
            } else if self.pending.contains(&v) && seen.insert(v) {
                stack.push((v, true));
                stack.extend(operands(v).into_iter().map(|o| (o, false)));
            }
        }
        (order, leaves)
    }

    /// Emits the nodes of pending operations, in a cold block.
    fn compute_labels(&mut self, order: &[Value]) {
        for &v in order {
            let l = self.emit_node(v);
            self.cold_labels.insert(v, l);
        }
    }

    /// Emits `cold` in a cold block that runs if any of `values` is labelled or `also` is
    /// not 0. Inside, [`Self::cold_label`] gives the labels of `values`.
    pub fn if_labelled(
        &mut self,
        values: &[Value],
        also: Option<Value>,
        cold: impl FnOnce(&mut Self),
    ) {
        let (order, mut leaves) = self.pending_tree(values);
        leaves.extend(also);
        let Some(any) = self.or_labels(&leaves) else { return };
        let condition = self.builder.is_set(any);
        let shared: Vec<Value> = order.iter().copied().filter(|v| self.is_shared(v)).collect();
        self.guard_tree(condition, &order, &shared, cold);
    }

    /// Makes pending labels ready.
    pub fn make_ready(&mut self, values: &[Value]) {
        let (order, leaves) = self.pending_tree(values);
        if order.is_empty() {
            return;
        }
        let kept: Vec<Value> =
            order.iter().copied().filter(|v| values.contains(v) || self.is_shared(v)).collect();
        match self.or_labels(&leaves) {
            Some(any) => {
                let set = self.builder.is_set(any);
                self.guard_tree(set, &order, &kept, |_| {});
            }
            None => kept.iter().for_each(|v| {
                self.pending.remove(v);
            }),
        }
    }

    fn guard_tree(
        &mut self,
        condition: Value,
        order: &[Value],
        kept: &[Value],
        cold: impl FnOnce(&mut Self),
    ) {
        let zeros = vec![self.zero(); kept.len()];
        let outer = std::mem::take(&mut self.cold_labels);
        let labels = self.guarded(condition, &zeros, |e| {
            e.compute_labels(order);
            let kept = kept.iter().map(|&v| e.cold_label(v)).collect();
            cold(e);
            kept
        });
        self.cold_labels = outer;
        for (&v, l) in kept.iter().zip(labels) {
            self.pending.remove(&v);
            self.labels.insert(v, l);
        }
    }

    fn is_shared(&self, v: &Value) -> bool {
        self.uses.get(v).is_some_and(|&n| n > 1)
    }

    /// Makes the labels ready that other blocks may need. Called at the end of a block.
    pub(super) fn make_outgoing_ready(&mut self, body: &[Value]) {
        let wanted = |v: &Value| self.pending.contains(v) && self.outgoing.contains(v);
        let outgoing: Vec<Value> = body.iter().copied().filter(wanted).collect();
        self.make_ready(&outgoing);
    }

    /// The bitwise or of these labels; `None` if all are known to be zero.
    pub fn or_labels(&self, labels: &[Value]) -> Option<Value> {
        labels.iter().copied().filter(|l| !l.is_null()).reduce(|a, b| self.builder.or(a, b))
    }

    /// Emits `cold` in a cold block that runs if `condition` holds. Returns its results,
    /// or `otherwise` where it did not run.
    pub fn guarded(
        &mut self,
        condition: Value,
        otherwise: &[Value],
        cold: impl FnOnce(&mut Self) -> Vec<Value>,
    ) -> Vec<Value> {
        let head = self.builder.block();
        let slow = self.ctx.block(self.function, c"");
        let join = self.ctx.block(self.function, c"");
        let branch = self.builder.branch(condition, slow, join);
        branch.set_metadata(self.prof, self.unlikely);
        self.builder.at_end(slow);
        let values = cold(self);
        let end = self.builder.block();
        self.builder.jump(join);
        self.builder.at_end(join);
        values
            .into_iter()
            .zip(otherwise)
            .map(|(v, &o)| {
                let p = self.builder.phi(o.ty());
                p.add_incoming(o, head);
                p.add_incoming(v, end);
                p
            })
            .collect()
    }

    /// [`Self::guarded`] if any of the labels is set, with one label as the result.
    pub fn if_any(&mut self, labels: &[Value], cold: impl FnOnce(&mut Self) -> Value) -> Value {
        let Some(any) = self.or_labels(labels) else { return self.zero() };
        let set = self.builder.is_set(any);
        let zero = self.zero();
        self.guarded(set, &[zero], |e| vec![cold(e)])[0]
    }
}
