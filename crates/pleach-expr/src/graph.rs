//! The graph: nodes as the target wrote them, checked.
//!
//! Only nodes that the roots (the labels of a trace's events) reach are checked, and
//! only these may be used. A run that is killed leaves a half-written node at the end of
//! the arena, and the trace before it must stay usable.
//!
//! In a run with one thread, operands come before their users in the array. Then one
//! pass down the array finds the reachable nodes, and the order of the array is an order
//! of evaluation. Several threads may write nodes in any order. Then a depth-first
//! search finds an order, or a cycle, which no intact run has.

use pleach_abi::node::{FLAG_WIDE, Node, Op};
use thiserror::Error;

/// The expressions of one trace.
#[derive(Clone, Debug)]
pub struct Expr {
    nodes: Vec<Node>,
    snapshots: Vec<u8>,
    input_len: u32,
    variables: Variables,
    /// Checked labels, operands before their users.
    order: Vec<u32>,
    live: Bits,
}

/// How many variables follow the input: first the lengths of holes, then the numbers of
/// tokens. Each has four bytes, little endian.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Variables {
    pub lengths: u32,
    pub tokens: u32,
}

impl Variables {
    /// The bytes of all variables; `None` if the number overflows.
    pub fn bytes(self) -> Option<u32> {
        self.lengths.checked_add(self.tokens)?.checked_mul(4)
    }
}

/// An operand: a label, or a constant if it did not depend on the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arg {
    Label(u32),
    Const(u128),
}

/// What is wrong with a graph. The target (or the runtime in it) caused it, never the
/// user.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Broken {
    #[error("node {label} has the unknown operation {op}")]
    Op { label: u32, op: u8 },
    #[error("node {label} has the impossible width {width}")]
    Width { label: u32, width: u8 },
    #[error("node {label} refers to node {operand}, which is not there")]
    Operand { label: u32, operand: u32 },
    #[error("node {label} has operands of widths that do not fit it")]
    Widths { label: u32 },
    #[error("node {label} reads input that is not there")]
    Input { label: u32 },
    #[error("node {label} lacks the node with its high half")]
    Wide { label: u32 },
    #[error("node {label} refers to a snapshot that is not there")]
    Snapshot { label: u32 },
    /// Not the target's fault.
    #[error("checking was interrupted")]
    Interrupted,
    #[error("node {label} depends on itself")]
    Cycle { label: u32 },
}

/// What the fields `a`, `b`, `c` of a node mean.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Leaf,
    Binary,
    Compare,
    /// One operand of the result's width.
    Same,
    Extend,
    Narrow,
    Extract,
    Concat,
    Ite,
    Funnel,
    Lookup,
    /// One operand of another width.
    Convert,
    /// Digits (64 bits) and a power of ten (32 bits).
    Decimal,
}

pub(crate) fn shape(op: Op) -> Shape {
    use Op::*;
    match op {
        Input | InputLen | Wide | Const | Read | Token | HoleLen => Shape::Leaf,
        Add | Sub | Mul | UDiv | SDiv | URem | SRem | Shl | LShr | AShr | And | Or | Xor => {
            Shape::Binary
        }
        Eq | Ne | Ult | Ule | Slt | Sle | UAddO | SAddO | USubO | SSubO | UMulO | SMulO => {
            Shape::Compare
        }
        Ctlz | Cttz | Popcnt | Bswap | BitRev => Shape::Same,
        ZExt | SExt => Shape::Extend,
        Trunc => Shape::Narrow,
        Extract => Shape::Extract,
        Concat => Shape::Concat,
        Ite => Shape::Ite,
        FShl | FShr | FFma => Shape::Funnel,
        Lookup => Shape::Lookup,
        FAdd | FSub | FMul | FDiv | FRem | FIeeeRem | FMin | FMax | FPow | FAtan2 | FHypot
        | FScale | FNextAfter | FDim => Shape::Binary,
        FSqrt | FFloor | FCeil | FChop | FRound | FRint | FSin | FCos | FTan | FAsin | FAcos
        | FAtan | FSinh | FCosh | FTanh | FExp | FExp2 | FExpm1 | FLog | FLog2 | FLog10
        | FLog1p | FCbrt | FAsinh | FAcosh | FAtanh | FExp10 | FErf | FErfc | FGamma => Shape::Same,
        FEq | FLt | FLe | FUno => Shape::Compare,
        FToS | FToU | SToF | UToF | FToF => Shape::Convert,
        FDecimal => Shape::Decimal,
    }
}

impl Expr {
    /// As [`Expr::new`], for a trace with holes or tokens. Nodes of lengths and tokens
    /// become reads of the [`Variables`] that follow the input, so all code that handles
    /// input bytes handles lengths and tokens too.
    pub fn with_variables(
        mut nodes: Vec<Node>,
        snapshots: Vec<u8>,
        input_len: u32,
        variables: Variables,
        roots: impl IntoIterator<Item = u32>,
    ) -> Result<Expr, Broken> {
        // `Var` has room for offsets of 31 bits.
        let end = variables.bytes().and_then(|n| n.checked_add(input_len));
        let fits = end.is_some_and(|end| end < 1 << 31);
        let variables = if fits { variables } else { Variables::default() };
        // Nodes of variables that do not exist stay as they are. They are refused if
        // anything reaches them.
        let (hole, token) = (Op::HoleLen as u8, Op::Token as u8);
        for n in nodes.iter_mut().filter(|n| n.width == 32 && (n.op == hole || n.op == token)) {
            let (first, count) = match n.op == hole {
                true => (0, variables.lengths),
                false => (variables.lengths, variables.tokens),
            };
            if n.a < count {
                (n.op, n.a) = (Op::Read as u8, 1 + input_len + 4 * (first + n.a));
            }
        }
        Expr::build(nodes, snapshots, input_len, variables, roots)
    }

    /// Checks all nodes that `roots` reach. `nodes[0]` is never used; nodes
    /// `1 ..= input_len` are the bytes of the input. A root of 0 (concrete) is skipped.
    pub fn new(
        nodes: Vec<Node>,
        snapshots: Vec<u8>,
        input_len: u32,
        roots: impl IntoIterator<Item = u32>,
    ) -> Result<Expr, Broken> {
        Expr::build(nodes, snapshots, input_len, Variables::default(), roots)
    }

    fn build(
        nodes: Vec<Node>,
        snapshots: Vec<u8>,
        input_len: u32,
        variables: Variables,
        roots: impl IntoIterator<Item = u32>,
    ) -> Result<Expr, Broken> {
        let live = Bits::new(nodes.len());
        let mut graph = Expr { nodes, snapshots, input_len, variables, order: Vec::new(), live };
        let mut start = Vec::new();
        for root in roots.into_iter().filter(|&r| r != 0) {
            if root as usize >= graph.nodes.len() {
                return Err(Broken::Operand { label: 0, operand: root });
            }
            if graph.live.insert(root) {
                start.push(root);
            }
        }
        if !graph.order_by_index()? {
            graph.order_by_search(&start)?;
        }
        Ok(graph)
    }

    /// The live labels, operands before their users.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// True if the roots reach a label. Only such labels were checked and may be used.
    pub fn is_live(&self, label: u32) -> bool {
        self.live.contains(label)
    }

    /// All nodes, live or not.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Bytes of memory.
    pub fn memory(&self) -> usize {
        let nodes = self.nodes.capacity() * size_of::<Node>();
        nodes + self.snapshots.capacity() + 4 * self.order.capacity() + 8 * self.live.0.capacity()
    }

    /// The snapshots that lookups refer to, with their headers.
    pub fn snapshots(&self) -> &[u8] {
        &self.snapshots
    }

    pub fn input_len(&self) -> u32 {
        self.input_len
    }

    /// How many numbers of tokens follow the input.
    pub fn tokens(&self) -> u32 {
        self.variables.tokens
    }

    /// How many lengths of holes follow the input.
    pub fn lengths(&self) -> u32 {
        self.variables.lengths
    }

    /// The length of the extended input: the input and the variables that follow it.
    pub fn extended_len(&self) -> u32 {
        self.input_len + self.variables.bytes().unwrap_or(0)
    }

    /// The hole whose length has a byte at this offset of the extended input.
    pub fn hole_at(&self, offset: u32) -> Option<u32> {
        let from_first = offset.checked_sub(self.input_len)?;
        (from_first < 4 * self.variables.lengths).then_some(from_first / 4)
    }

    /// The hole whose length a live label reads, if it reads all four bytes of one.
    pub fn hole(&self, label: u32) -> Option<u32> {
        self.hole_at(self.variable(label)?)
    }

    /// The token whose number has a byte at this offset of the extended input.
    pub fn token_at(&self, offset: u32) -> Option<u32> {
        let from_first = offset.checked_sub(self.input_len + 4 * self.variables.lengths)?;
        (from_first < 4 * self.variables.tokens).then_some(from_first / 4)
    }

    /// The token whose number a live label reads, if it reads all four bytes of one.
    pub fn token(&self, label: u32) -> Option<u32> {
        self.token_at(self.variable(label)?)
    }

    /// The offset of the variable that a live label reads, if it reads exactly one.
    fn variable(&self, label: u32) -> Option<u32> {
        let node = self.node(label);
        if self.op(label) != Op::Read || node.width != 32 {
            return None;
        }
        let from_first = (node.a - 1).checked_sub(self.input_len)?;
        from_first.is_multiple_of(4).then_some(node.a - 1)
    }

    pub fn width(&self, label: u32) -> u32 {
        self.node(label).width.into()
    }

    /// The operation of a live label.
    pub fn op(&self, label: u32) -> Op {
        Op::from_u8(self.node(label).op).unwrap_or(Op::Const)
    }

    /// The value that the program computed in its run.
    pub fn recorded(&self, label: u32) -> u128 {
        u128::from(self.node(label).val) | self.high(label, |n| n.val)
    }

    /// The immediate, with its high half.
    pub fn immediate(&self, label: u32) -> u128 {
        u128::from(self.node(label).imm) | self.high(label, |n| n.imm)
    }

    pub fn node(&self, label: u32) -> &Node {
        &self.nodes[label as usize]
    }

    /// The labels that a live label is computed from. The bytes of a `Read` are not among
    /// them.
    pub fn operands(&self, label: u32) -> impl Iterator<Item = u32> + use<> {
        operands(self.op(label), self.node(label))
    }

    /// Both operands of a binary operation.
    pub fn pair(&self, label: u32) -> (Arg, Arg) {
        let node = self.node(label);
        let arg = |l| if l == 0 { Arg::Const(self.immediate(label)) } else { Arg::Label(l) };
        (arg(node.a), arg(node.b))
    }

    /// The width of the operands of a binary operation.
    pub fn pair_width(&self, label: u32) -> u32 {
        let node = self.node(label);
        self.width(if node.a != 0 { node.a } else { node.b })
    }

    /// The bytes of the snapshot that a `Lookup` reads.
    pub fn snapshot(&self, label: u32) -> &[u8] {
        self.snapshot_at(self.node(label).b).unwrap_or(&[])
    }

    /// The high half of a field, shifted to its place. It is in the next node.
    fn high(&self, label: u32, field: impl Fn(&Node) -> u64) -> u128 {
        if self.node(label).flags & FLAG_WIDE == 0 {
            return 0;
        }
        self.nodes.get(label as usize + 1).map_or(0, |n| u128::from(field(n)) << 64)
    }

    fn snapshot_at(&self, at: u32) -> Option<&[u8]> {
        const HEAD: usize = size_of::<pleach_abi::shm::Snapshot>();
        let head = self.snapshots.get(at as usize..)?.get(..HEAD)?;
        let len = u32::from_le_bytes(head[8..12].try_into().ok()?) as usize;
        self.snapshots.get(at as usize + HEAD..)?.get(..len)
    }

    /// Finds the order if every operand is below its user, as in a run with one thread.
    /// False if one is not.
    fn order_by_index(&mut self) -> Result<bool, Broken> {
        let roots = self.live.clone();
        for label in (1..self.nodes.len() as u32).rev() {
            if !self.live.contains(label) {
                continue;
            }
            if label % CHUNK == 0 && pleach_work::spend(CHUNK.into()) {
                return Err(Broken::Interrupted);
            }
            self.check(label)?;
            for operand in self.operands(label) {
                if operand >= label {
                    self.live = roots;
                    return Ok(false);
                }
                self.live.insert(operand);
            }
        }
        self.order = (1..self.nodes.len() as u32).filter(|&l| self.live.contains(l)).collect();
        Ok(true)
    }

    fn order_by_search(&mut self, roots: &[u32]) -> Result<(), Broken> {
        self.live = Bits::new(self.nodes.len());
        let mut open = Bits::new(self.nodes.len());
        let mut stack: Vec<u32> = roots.to_vec();
        while let Some(&label) = stack.last() {
            if self.live.contains(label) {
                stack.pop();
                continue;
            }
            if open.insert(label) {
                if pleach_work::spend(1) {
                    return Err(Broken::Interrupted);
                }
                self.check(label)?;
                for operand in self.operands(label) {
                    if !self.live.contains(operand) {
                        if open.contains(operand) {
                            return Err(Broken::Cycle { label: operand });
                        }
                        stack.push(operand);
                    }
                }
            } else {
                // Second visit: all operands are done.
                stack.pop();
                self.live.insert(label);
                self.order.push(label);
            }
        }
        Ok(())
    }

    fn check(&self, label: u32) -> Result<(), Broken> {
        let node = self.node(label);
        let op = match Op::from_u8(node.op) {
            Some(Op::Wide | Op::Token | Op::HoleLen) | None => {
                return Err(Broken::Op { label, op: node.op });
            }
            Some(op) => op,
        };
        if !(1..=128).contains(&node.width) {
            return Err(Broken::Width { label, width: node.width });
        }
        if node.flags & FLAG_WIDE != 0 {
            let next = self.nodes.get(label as usize + 1);
            if next.is_none_or(|n| n.op != Op::Wide as u8) {
                return Err(Broken::Wide { label });
            }
        }
        for operand in operands(op, node) {
            if operand as usize >= self.nodes.len() {
                return Err(Broken::Operand { label, operand });
            }
        }
        self.check_fields(label, op)
    }

    fn check_fields(&self, label: u32, op: Op) -> Result<(), Broken> {
        let n = self.node(label);
        let (width, a, b, c) = (u32::from(n.width), n.a, n.b, n.c);
        // A concrete operand (label 0) can have any width.
        let has_width = |l: u32, w: u32| l == 0 || self.width(l) == w;
        let in_input = |offset: u32, bytes: u32| {
            offset.checked_add(bytes).is_some_and(|end| end <= self.extended_len())
        };
        let widths_match = match shape(op) {
            Shape::Leaf => match op {
                Op::Input if !in_input(a, 1) => return Err(Broken::Input { label }),
                Op::Input => width == 8,
                Op::InputLen => width == 64,
                Op::Read if a == 0 || !in_input(a - 1, width / 8) => {
                    return Err(Broken::Input { label });
                }
                Op::Read => width.is_multiple_of(8),
                _ => true,
            },
            Shape::Binary => a | b != 0 && has_width(a, width) && has_width(b, width),
            Shape::Compare => {
                a | b != 0 && width == 1 && (a == 0 || b == 0 || has_width(a, self.width(b)))
            }
            Shape::Same => {
                let bytes = op != Op::Bswap || width.is_multiple_of(8);
                a != 0 && has_width(a, width) && bytes
            }
            Shape::Extend => a != 0 && self.width(a) <= width,
            Shape::Narrow => a != 0 && self.width(a) >= width,
            Shape::Extract => {
                a != 0 && b.checked_add(width).is_some_and(|end| end <= self.width(a))
            }
            Shape::Concat => {
                a | b != 0 && (1..width).contains(&c) && has_width(a, c) && has_width(b, width - c)
            }
            Shape::Ite => {
                a != 0
                    && b != 0
                    && c != 0
                    && self.width(a) == 1
                    && has_width(b, width)
                    && has_width(c, width)
            }
            Shape::Funnel => {
                a != 0 && b != 0 && c != 0 && [a, b, c].iter().all(|&l| has_width(l, width))
            }
            Shape::Lookup => {
                if self.snapshot_at(b).is_none() {
                    return Err(Broken::Snapshot { label });
                }
                a != 0 && self.width(a) == 64 && width.is_multiple_of(8)
            }
            Shape::Convert => {
                let (from_float, to_float) = (!matches!(op, Op::SToF | Op::UToF), op.is_float());
                let fits = |w: u32, float: bool| if float { is_float_width(w) } else { w <= 64 };
                a != 0 && fits(self.width(a), from_float) && fits(width, to_float)
            }
            Shape::Decimal => a | b != 0 && has_width(a, 64) && has_width(b, 32),
        };
        let widths_match = widths_match
            && (!op.is_float() || is_float_width(width))
            && (shape(op) != Shape::Compare
                || !op.touches_float()
                || is_float_width(self.pair_width(label)));
        if widths_match { Ok(()) } else { Err(Broken::Widths { label }) }
    }
}

/// True for the widths of `float` and `double`.
fn is_float_width(width: u32) -> bool {
    matches!(width, 32 | 64)
}

/// Labels that are checked between two looks at the stop flag.
const CHUNK: u32 = 1 << 12;

/// How many of the fields `a`, `b`, `c` of a node are labels.
pub(crate) fn operand_fields(op: Op) -> usize {
    match shape(op) {
        Shape::Leaf => 0,
        Shape::Same | Shape::Extend | Shape::Narrow | Shape::Extract | Shape::Lookup => 1,
        Shape::Convert => 1,
        Shape::Binary | Shape::Compare | Shape::Concat | Shape::Decimal => 2,
        Shape::Ite | Shape::Funnel => 3,
    }
}

fn operands(op: Op, node: &Node) -> impl Iterator<Item = u32> + use<> {
    let fields = [node.a, node.b, node.c];
    fields.into_iter().take(operand_fields(op)).filter(|&l| l != 0)
}

/// A set of labels.
#[derive(Clone, Debug)]
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    pub(crate) fn new(len: usize) -> Bits {
        Bits(vec![0; len.div_ceil(64)])
    }

    /// True if the label was not in the set.
    pub(crate) fn insert(&mut self, label: u32) -> bool {
        let (word, bit) = (&mut self.0[label as usize / 64], 1 << (label % 64));
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    pub(crate) fn contains(&self, label: u32) -> bool {
        self.0.get(label as usize / 64).is_some_and(|w| w & (1 << (label % 64)) != 0)
    }

    /// By word of the set: the number of labels in the words before it.
    pub(crate) fn ranks(&self) -> Vec<u32> {
        let mut before = 0;
        let count = |word: &u64| {
            before += word.count_ones();
            before - word.count_ones()
        };
        self.0.iter().map(count).collect()
    }

    /// How many labels of the set are below this one, given [`Bits::ranks`].
    pub(crate) fn rank(&self, ranks: &[u32], label: u32) -> u32 {
        let (word, bit) = (label as usize / 64, label % 64);
        let Some(bits) = self.0.get(word) else { return 0 };
        ranks[word] + (bits & ((1 << bit) - 1)).count_ones()
    }
}
