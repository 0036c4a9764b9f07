//! Expressions: nodes of fixed size in shared memory. A label is an index into
//! the node array; index 0 is never used.
//!
//! Nodes 1 ..= input length are the bytes of the input: the byte at offset `i`
//! of the input file is node `1 + i`, filled in when the program first reads
//! it. All other nodes follow. In a run with one thread the index of an operand is
//! below the index of the node that uses it; with threads it may be above.

/// One expression node.
///
/// The operands `a`, `b`, `c` are labels. Label 0 is a concrete operand whose value
/// is `imm`; an operation on two operands has at most one of these. An operation on
/// three operands has only labels: a concrete operand is a `Const` node. Some
/// operations use a field as a plain number, see [`Op`].
///
/// `val` is the value that the program had, cut to `width` bits. If value or
/// immediate have more than 64 bits, the node has [`FLAG_WIDE`], and the node after
/// it is a `Wide` node whose `val` and `imm` are the high halves.
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

// The other flags are private to the runtime.

/// The trace already has an event for this condition.
pub const FLAG_DECIDED: u16 = 1 << 0;
/// The trace already has an index check for this address.
pub const FLAG_CHECKED: u16 = 1 << 1;
/// The trace already has the pin of this address.
pub const FLAG_PINNED: u16 = 1 << 2;
/// The trace already has the decision whether this byte is zero.
pub const FLAG_ZERO_KNOWN: u16 = 1 << 3;
/// The node has no value: it stands for a byte of a buffer that a short read did not
/// fill. `b` is the stream, `imm` the offset that the byte would have in it.
pub const FLAG_BEYOND: u16 = 1 << 4;

/// A `Const` node for a value whose dependence on the input was lost, in a run with
/// [`crate::shm::RUN_LOSSES`]. `a` is 1 + the number of the unmodelled function in the list of
/// names, or 0; `b` is the [`crate::shm::Loss`], or [`NEVER_LOST`]; `c` is the index of the
/// site, or `u32::MAX`; `imm` is the address of the function.
pub const FLAG_LOST: u16 = 1 << 5;
/// Of such a node: nothing was lost. The condition is a constant, because the compiler has
/// proved what it is.
pub const NEVER_LOST: u32 = u32::MAX;

/// Of an `Ite`: it is the choice between the cells that a read at a labelled address could
/// be of. Its condition compares the offset of the read in its object, which starts at `imm`.
pub const FLAG_CELLS: u16 = 1 << 6;

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
    /// The high halves of the node before it.
    Wide = 3,
    /// The constant `imm`.
    Const = 4,
    /// `width / 8` consecutive input bytes, little endian; the first is node `a`.
    Read = 5,
    /// The number of token `a` (its ordinal, a number), 32 bits. The driver reads it
    /// as a `Read` behind the input, see [`crate::shm::Token`].
    Token = 6,
    /// The length of hole `a` (its index in the table, a number), 32 bits. The driver
    /// reads it as a `Read` behind the input, see [`crate::shm::Hole`].
    HoleLen = 7,
    Add = 10,
    Sub = 11,
    Mul = 12,
    /// The program never divides by zero here; evaluators define the result as 0.
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
    /// Comparisons are 1 bit wide; the width of the operands is that of a labelled one.
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
    /// Little-endian read of `width / 8` bytes at address `a` in a snapshot. The
    /// snapshot is at offset `b` (a number) of the snapshot region; its first byte was
    /// at address `imm`. A byte outside the snapshot is 0.
    Lookup = 70,

    // Floating point: a value is the bits of a `float` (width 32) or a `double` (64). The
    // rounding mode is to nearest. The sign and the payload of a NaN are not defined.
    FAdd = 80,
    FSub = 81,
    FMul = 82,
    FDiv = 83,
    /// `fmod`.
    FRem = 84,
    /// `remainder`.
    FIeeeRem = 85,
    /// `fmin`, `fmax`: the operand that is a number; the first of two zeros.
    FMin = 86,
    FMax = 87,
    FPow = 88,
    FAtan2 = 89,
    FHypot = 90,
    /// `ldexp`: `a` times two to the power of `b`, a whole number.
    FScale = 91,
    FNextAfter = 92,
    /// `fdim`: `a - b`, or 0 if that is negative.
    FDim = 93,
    FSqrt = 100,
    FFloor = 101,
    FCeil = 102,
    /// `trunc`.
    FChop = 103,
    /// `round`: halves away from zero.
    FRound = 104,
    /// `rint`: halves to even.
    FRint = 105,
    FSin = 106,
    FCos = 107,
    FTan = 108,
    FAsin = 109,
    FAcos = 110,
    FAtan = 111,
    FSinh = 112,
    FCosh = 113,
    FTanh = 114,
    FExp = 115,
    FExp2 = 116,
    FExpm1 = 117,
    FLog = 118,
    FLog2 = 119,
    FLog10 = 120,
    FLog1p = 121,
    FCbrt = 122,
    FAsinh = 123,
    FAcosh = 124,
    FAtanh = 125,
    FExp10 = 126,
    FErf = 127,
    FErfc = 128,
    /// `tgamma`.
    FGamma = 129,
    /// `a * b + c`, rounded once.
    FFma = 135,
    /// Comparisons of floating point are 1 bit wide, and 0 if an operand is a NaN.
    FEq = 140,
    FLt = 141,
    FLe = 142,
    /// 1 if an operand is a NaN.
    FUno = 143,
    /// A number towards zero, as an integer. What does not fit is what x86-64 gives.
    FToS = 150,
    FToU = 151,
    /// An integer as a number.
    SToF = 152,
    UToF = 153,
    /// A `float` as a `double`, or the reverse.
    FToF = 154,
    /// `a` (64 bits, unsigned) times ten to the power of `b` (32 bits, signed).
    FDecimal = 155,
}

impl Op {
    /// True if the result is a floating-point number.
    pub const fn is_float(self) -> bool {
        let n = self as u8;
        n >= Op::FAdd as u8 && n <= Op::FFma as u8
            || matches!(self, Op::SToF | Op::UToF | Op::FToF | Op::FDecimal)
    }

    /// True if the result or an operand is a floating-point number.
    pub const fn touches_float(self) -> bool {
        self as u8 >= Op::FAdd as u8
    }
}
