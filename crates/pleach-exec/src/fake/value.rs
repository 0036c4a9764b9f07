//! Values of a fake program: a number, and how it is computed from the input.

use pleach_abi::node::{Node, Op};
use pleach_expr::{apply, mask};

/// A number that the program works on.
#[derive(Clone, Debug)]
pub struct Value {
    /// The number that the program sees.
    pub(super) seen: u64,
    /// In bits. 0 for a constant that has the width of its partner.
    pub(super) width: u8,
    formula: Formula,
}

#[derive(Clone, Debug)]
enum Formula {
    Constant,
    Byte { offset: u32 },
    Operation(Op, Box<[Value; 2]>),
}

impl From<u64> for Value {
    fn from(number: u64) -> Value {
        Value { seen: number, width: 0, formula: Formula::Constant }
    }
}

impl From<u8> for Value {
    fn from(number: u8) -> Value {
        u64::from(number).into()
    }
}

impl From<&Value> for Value {
    fn from(value: &Value) -> Value {
        value.clone()
    }
}

impl Value {
    /// A byte that does not depend on the input.
    pub(super) fn constant_byte(byte: u8) -> Value {
        Value { width: 8, ..byte.into() }
    }

    /// The byte at this offset of the traced input.
    pub(super) fn input_byte(byte: u8, offset: u32) -> Value {
        Value { seen: byte.into(), width: 8, formula: Formula::Byte { offset } }
    }

    /// The number that the program sees. What depends on it in no other way is concrete.
    pub fn number(&self) -> u64 {
        self.seen
    }

    pub fn equals(&self, other: impl Into<Value>) -> Value {
        self.combine(Op::Eq, other)
    }

    /// `self < other`, both unsigned.
    pub fn is_below(&self, other: impl Into<Value>) -> Value {
        self.combine(Op::Ult, other)
    }

    pub fn plus(&self, other: impl Into<Value>) -> Value {
        self.combine(Op::Add, other)
    }

    pub fn minus(&self, other: impl Into<Value>) -> Value {
        self.combine(Op::Sub, other)
    }

    pub fn times(&self, other: impl Into<Value>) -> Value {
        self.combine(Op::Mul, other)
    }

    /// A value with these low bits, and the bits of `high` above them: two bytes become
    /// a little-endian word.
    pub fn with_high(&self, high: &Value) -> Value {
        let seen = self.seen | high.seen << self.width;
        Value::operation(Op::Concat, self.width + high.width, seen, [self.clone(), high.clone()])
    }

    /// The same number in more bits.
    pub fn widened(&self, width: u8) -> Value {
        Value::operation(Op::ZExt, width, self.seen, [self.clone(), 0u64.into()])
    }

    /// Any operation on two operands of the same width.
    pub fn combine(&self, op: Op, other: impl Into<Value>) -> Value {
        let other = other.into();
        let operand = self.width.max(other.width);
        for side in [self, &other] {
            assert!([0, operand].contains(&side.width), "operands of different widths");
        }
        let is_condition = matches!(op, Op::Eq | Op::Ne | Op::Ult | Op::Ule | Op::Slt | Op::Sle);
        let width = if is_condition { 1 } else { operand };
        let (a, b) = (self.seen.into(), other.seen.into());
        let seen = apply(op, width.into(), operand.into(), a, b, 0) as u64;
        Value::operation(op, width, seen, [self.clone(), other])
    }

    fn operation(op: Op, width: u8, seen: u64, operands: [Value; 2]) -> Value {
        let formula = match operands.iter().all(Value::is_constant) {
            true => Formula::Constant,
            false => Formula::Operation(op, Box::new(operands)),
        };
        Value { seen, width, formula }
    }

    fn is_constant(&self) -> bool {
        matches!(self.formula, Formula::Constant)
    }

    /// Appends the nodes of this value. Returns its label: 0 for a constant.
    pub(super) fn record(&self, nodes: &mut Vec<Node>) -> u32 {
        let (op, [a, b]) = match &self.formula {
            Formula::Constant => return 0,
            Formula::Byte { offset } => return 1 + offset,
            Formula::Operation(op, operands) => (*op, &**operands),
        };
        // At most one operand is constant; the node has its number.
        let operand = u32::from(a.width.max(b.width));
        let constant = [a, b].into_iter().find(|v| v.is_constant());
        let imm = constant.map_or(0, |v| v.seen & mask(operand) as u64);
        let c = if op == Op::Concat { a.width.into() } else { 0 };
        let (a, b) = (a.record(nodes), b.record(nodes));
        nodes.push(Node {
            op: op as u8,
            width: self.width,
            flags: 0,
            a,
            b,
            c,
            imm,
            val: self.seen,
        });
        nodes.len() as u32 - 1
    }
}
