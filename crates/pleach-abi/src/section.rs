//! The sections that the compiler writes into objects and executables.

/// In a fat object: the symbolic object, framed (see [`Frame`]). The linker drops it
/// (SHF_EXCLUDE); `ld -r` concatenates the frames.
pub const SYMBOLIC_OBJECT: &str = ".pleach.obj";
/// In a linked executable or shared library: its whole symbolic half.
pub const SYMBOLIC_IMAGE: &str = ".pleach.symbolic";

/// Site records ([`Site`]). The dense index of a site is its place in this section.
pub const SITES: &str = "pleach_sites";
/// Branch counters ([`Counter`]), in the order of the site records.
pub const COUNTERS: &str = "pleach_counters";
/// How often a direction was taken. It is wide enough to never wrap to zero.
pub type Counter = u32;
/// Function records, see `function`.
pub const FUNCTIONS: &str = "pleach_functions";
/// Global variables ([`Global`]), for the bounds of table reads (symbolic half).
pub const GLOBALS: &str = "pleach_globals";
/// Where calls and jumps through pointers may go ([`Target`], symbolic half).
pub const TARGETS: &str = "pleach_targets";
/// Token records, see `token` (symbolic half).
pub const TOKENS: &str = "pleach_tokens";

pub const FRAME_MAGIC: [u8; 8] = *b"PLOBJ\0\0\x01";

/// Head of a framed record. `len` bytes follow, then zeros up to a multiple of 8.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    pub magic: [u8; 8],
    pub len: u64,
}

/// One site, the same in both halves.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Site {
    /// 64-bit hash of the function's linkage name (with the module's, if it is
    /// local) and the site's ordinal.
    pub hash: u64,
    /// Number of counters in the fast half: 2 for a branch or select, cases + 1 for
    /// a switch (the default last), one for each label of a computed goto, 1 for an entry,
    /// 0 for checks and accesses.
    pub counters: u32,
    /// A [`SiteKind`].
    pub kind: u32,
}

#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SiteKind {
    Branch = 1,
    Switch = 2,
    Select = 3,
    /// Division or remainder.
    Division = 4,
    /// A branch that UBSan inserted.
    Sanitizer = 5,
    /// A load or store (symbolic half only).
    Access = 6,
    /// A call (symbolic half only): for models and indirect calls.
    Call = 7,
    /// The start of a function without branches that may be called through a pointer (fast
    /// half only): no other counter shows that it ran. It is no branch, and totals leave it
    /// out.
    Entry = 8,
    /// A computed goto. Its cases are the labels that it may go to.
    Jump = 9,
    /// The start of a function whose address its own module takes (fast half only). It is the
    /// case of calls through pointers that reaches this function.
    Called = 10,
}

impl SiteKind {
    pub const fn from_u8(n: u8) -> Option<SiteKind> {
        Some(match n {
            1 => SiteKind::Branch,
            2 => SiteKind::Switch,
            3 => SiteKind::Select,
            4 => SiteKind::Division,
            5 => SiteKind::Sanitizer,
            6 => SiteKind::Access,
            7 => SiteKind::Call,
            8 => SiteKind::Entry,
            9 => SiteKind::Jump,
            10 => SiteKind::Called,
            _ => return None,
        })
    }
}

/// A global variable of an instrumented module.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Global {
    pub addr: u64,
    pub size: u32,
    /// 1: constant.
    pub flags: u32,
}

/// A place that a pointer may lead to: the start of a function, or a label of a computed goto.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Target {
    pub addr: u64,
    /// The hash of the `Entry` or `Called` site of the function, or of the `Jump` site.
    pub site: u64,
    /// Its counter among those of the site.
    pub side: u32,
    pub reserved: u32,
}
