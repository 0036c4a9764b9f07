//! Expressions: nodes of fixed size in shared memory. A label is an index into
//! the node array; index 0 is never used.
//!
//! Nodes 1 ..= input length are the bytes of the input: the byte at offset `i`
//! of the input file is node `1 + i`, filled in when the program first reads
//! it. All other nodes follow. In a run with one thread an operand's index is
//! below the index of the node that uses it; with threads it need not be.

/// One expression node.
///
/// Operands `a`, `b`, `c` are labels. An operand label of 0 is a concrete
/// operand whose value is `imm`; an operation with two operands has at most
/// one. Operations on three operands have only labels (`Const` nodes where
/// they are concrete). Some operations use a field as a plain number, see
/// [`Op`].
///
/// `val` is the value that the program saw, cut to `width` bits. Values and
/// immediates above 64 bits continue in the `Wide` node that follows directly
/// (flag [`FLAG_WIDE`]): its `val` and `imm` are the high halves.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Node {
    pub op: u8,
    /// Width of the result in bits, 1 ..= 128.
    pub width: u8,
    pub flags: u16,
    pub a: u32,
    pub b: u32,
    pub c: u32,
    pub imm: u64,
    pub val: u64,
}

/// The next node is this node's `Wide` companion.
pub const FLAG_WIDE: u16 = 1 << 15;
/// Runtime-private: this condition already has an event in the trace.
pub const FLAG_DECIDED: u16 = 1 << 0;
/// Runtime-private: an index check for this address is already in the trace.
pub const FLAG_CHECKED: u16 = 1 << 1;

/// Runtime-private: that this address is what it is is already in the trace.
pub const FLAG_PINNED: u16 = 1 << 2;
/// Runtime-private: whether this byte is zero is already in the trace.
pub const FLAG_ZERO_KNOWN: u16 = 1 << 3;
/// Runtime-private: no value, but a byte of a buffer behind the end of the
/// input. The stream is `b`, the place where the byte would be `imm`.
pub const FLAG_BEYOND: u16 = 1 << 4;

macro_rules! ops {
    ($($(#[$doc:meta])* $name:ident = $n:literal,)*) => {
        #[repr(u8)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Op { $($(#[$doc])* $name = $n,)* }
        impl Op {
            pub const fn from_u8(n: u8) -> Option<Op> {
                match n { $($n => Some(Op::$name),)* _ => None }
            }
        }
    };
}

ops! {
    /// The input byte at offset `a` (a number).
    Input = 1,
    /// Length of input stream `a` (a number), 64 bits.
    InputLen = 2,
    /// High halves of the node before.
    Wide = 3,
    /// The constant `imm`.
    Const = 4,
    /// `width / 8` consecutive input bytes, little endian, the first is node `a`.
    Read = 5,
    /// The number that token `a` (its ordinal, a number) has, 32 bits. The driver
    /// reads it as a `Read` behind the input, see [`crate::shm::Token`].
    Token = 6,
    /// The length of hole `a` (its place in the table, a number), 32 bits. The driver
    /// reads it as a `Read` behind the input, see [`crate::shm::Hole`].
    HoleLen = 7,
    Add = 10,
    Sub = 11,
    Mul = 12,
    /// Division by zero cannot occur concretely; evaluators define it as 0.
    UDiv = 13,
    SDiv = 14,
    URem = 15,
    SRem = 16,
    /// Shift amounts at or above the width give 0 (AShr: the sign) in evaluators.
    Shl = 17,
    LShr = 18,
    AShr = 19,
    And = 20,
    Or = 21,
    Xor = 22,
    /// Comparisons are 1 bit wide; the operands' width is that of the labelled one.
    Eq = 30,
    Ne = 31,
    Ult = 32,
    Ule = 33,
    Slt = 34,
    Sle = 35,
    /// 1 when the operation overflows; operands as for comparisons.
    UAddO = 40,
    SAddO = 41,
    USubO = 42,
    SSubO = 43,
    UMulO = 44,
    SMulO = 45,
    ZExt = 50,
    SExt = 51,
    Trunc = 52,
    /// Bits `b ..` (a number) of `a`.
    Extract = 53,
    /// `a` is the low part, `b` the high part, `c` (a number) the low part's width.
    Concat = 54,
    /// `a ? b : c`.
    Ite = 60,
    /// Leading zeros; the width for 0.
    Ctlz = 61,
    /// Trailing zeros; the width for 0.
    Cttz = 62,
    Popcnt = 63,
    Bswap = 64,
    BitRev = 65,
    /// Funnel shifts of the concatenation a:b by c modulo the width.
    FShl = 66,
    FShr = 67,
    /// Little-endian read of `width / 8` bytes at address `a` in the snapshot
    /// at offset `b` (a number) of the snapshot region, whose first byte was
    /// at address `imm`. Outside the snapshot the value is unknown (0).
    Lookup = 70,
}
