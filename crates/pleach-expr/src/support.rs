//! Which bytes and lengths of the input an expression depends on.

use crate::graph::{Bits, Expr};
use pleach_abi::node::Op;
use std::collections::BTreeSet;

/// The bytes (offsets in the input file) and stream lengths that some labels
/// are computed from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Support {
    pub bytes: BTreeSet<u32>,
    pub lengths: BTreeSet<u32>,
}

impl Expr {
    /// The inputs that `labels` depend on. Labels that are not live depend on nothing.
    pub fn support(&self, labels: &[u32]) -> Support {
        let mut support = Support::default();
        let mut seen = Bits::new(self.order().iter().max().map_or(0, |&l| l as usize + 1));
        let mut stack: Vec<u32> = labels.iter().copied().filter(|&l| self.is_live(l)).collect();
        while let Some(label) = stack.pop() {
            if !seen.insert(label) {
                continue;
            }
            let node = self.node(label);
            match self.op(label) {
                Op::Input => {
                    support.bytes.insert(node.a);
                }
                Op::InputLen => {
                    support.lengths.insert(node.a);
                }
                Op::Read => support.bytes.extend(node.a - 1..node.a - 1 + self.width(label) / 8),
                _ => stack.extend(self.operands(label)),
            }
        }
        support
    }
}
