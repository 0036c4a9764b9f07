//! The log of a run: the decisions that the program took on labelled values, in order.

/// One decision. `site` is the index of a site record (module base + place in
/// the module's section, see [`crate::shm::Module`]).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Event {
    pub site: u32,
    /// The condition's node, or the value's for `Switch` and `Indirect`; 0 for `Len`.
    pub label: u32,
    pub kind: u8,
    /// The outcome in this run: 0 or 1. For `Switch` and `Indirect` the outcome
    /// is the node's value instead.
    pub dir: u8,
    /// `Len`: the input stream.
    pub stream: u16,
    /// `Len`: the decision is "the stream is longer than `aux` bytes".
    /// `CheckIndex`, `CheckSize`: size of the object in bytes.
    pub aux: u32,
}

#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A conditional branch.
    Branch = 1,
    /// A switch: one event with the value that was switched on.
    Switch = 2,
    /// A select that the front end made.
    Select = 3,
    /// A labelled address was pinned to its concrete value.
    Pin = 4,
    /// The divisor is not zero (dir 1).
    CheckDiv = 5,
    /// The address or index lies in its object (dir 1).
    CheckIndex = 6,
    /// A size given to libc fits its object (dir 1).
    CheckSize = 7,
    /// A condition of UBSan, such as "no overflow"; dir is its outcome.
    CheckOverflow = 8,
    /// The stream is longer than `aux` bytes (dir 1), or it is not (dir 0).
    Len = 9,
    /// A condition that the program assumed (`klee_assume`, `pleach_assume`).
    Assume = 10,
    /// The target of an indirect jump or call.
    Indirect = 11,
    /// A decision inside a libc model: two strings are equal, a byte is a digit.
    Model = 12,
}

impl Kind {
    pub const fn from_u8(n: u8) -> Option<Kind> {
        Some(match n {
            1 => Kind::Branch,
            2 => Kind::Switch,
            3 => Kind::Select,
            4 => Kind::Pin,
            5 => Kind::CheckDiv,
            6 => Kind::CheckIndex,
            7 => Kind::CheckSize,
            8 => Kind::CheckOverflow,
            9 => Kind::Len,
            10 => Kind::Assume,
            11 => Kind::Indirect,
            12 => Kind::Model,
            _ => return None,
        })
    }

    /// True for a check: a decision that no branch of the program makes.
    pub const fn is_check(self) -> bool {
        matches!(self, Kind::CheckDiv | Kind::CheckIndex | Kind::CheckSize | Kind::CheckOverflow)
    }
}
