//! What keeps a search from being exhaustive.
//!
//! A search that has met one of these ends as `exhausted-partial` at best. The statistics
//! list them by name in `partial`, with how often each was met.

use pleach_exec::executor::End;
use std::borrow::Cow;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// An input was dropped from memory before it was traced.
    InputDropped,
    /// The tree forgot refutations, because memory was short.
    Forgotten,
    /// The strategy gave up flips or inputs without trying them.
    LeftOut,
    /// The symbolic grammar has more strings than were derived.
    LongerStrings,
    /// A typed call found no room for its value.
    AtMaxLen,
    /// A limit ended a run.
    TimedOut,
    OutOfMemory,
    TooMuchOutput,
    TooManyProcesses,
    ServerLost,
    /// A trace could not be read, or its contents were refused.
    UnreadableTrace,
    BrokenTrace,
    /// A part of the trace ran out of room.
    Cut(&'static str),
    /// Labels were lost for this cause.
    Lost(&'static str),
    /// A trace has more decisions than the search keeps.
    DecisionsLeftOut,
    /// An address was held to its value.
    Pinned,
    /// The target of a call or jump through a pointer was held to its value: it was not read
    /// from a table, the table is too large, or the target is not in the table.
    Indirect,
    /// A run left its predicted path.
    Diverged,
    /// An input took another path when it was traced again.
    Unstable,
    /// The compiler removed a branch of the fast half.
    Folded,
    /// A sanitizer stopped the fast half, and the symbolic half ran on.
    Stopped,
    /// The symbolic half crashed, and the fast half did not.
    SymbolicCrash,
    /// The solver gave up.
    NotSolved,
    /// The solver answered without all conditions of the path.
    SolvedWithoutPath,
    /// The program saw other tokens than the grammar says.
    TokenMismatch,
    /// The symbolic half could not be brought into the state of a live run.
    OtherState,
    /// A snapshot of a live run lacks or shares something of it.
    SnapshotThreads,
    SnapshotFile,
    SnapshotConnection,
    /// Members of a fleet were lost, and what they alone knew with them.
    MembersLost,
    /// The finds of a member of a fleet are ignored, because almost none brought anything.
    MemberIgnored,
    /// Members of a fleet told more paths than memory can hold.
    TasksIgnored,
    /// Members of a fleet came or went after strings of a symbolic grammar were left to others.
    StringsLeft,
}

impl Gap {
    /// The name in the statistics.
    pub fn name(self) -> Cow<'static, str> {
        let name = match self {
            Gap::InputDropped => "dropped",
            Gap::Forgotten => "forgotten",
            Gap::LeftOut => "left out",
            Gap::LongerStrings => "longer strings",
            Gap::AtMaxLen => "ended at --max-len",
            Gap::TimedOut => "timed out",
            Gap::OutOfMemory => "out of memory",
            Gap::TooMuchOutput => "too much output",
            Gap::TooManyProcesses => "too many processes",
            Gap::ServerLost => "fork server lost",
            Gap::UnreadableTrace => "unreadable trace",
            Gap::BrokenTrace => "broken trace",
            Gap::Cut(what) => return format!("cut by {what}").into(),
            Gap::Lost(cause) => return format!("lost: {cause}").into(),
            Gap::DecisionsLeftOut => "decisions left out",
            Gap::Pinned => "pinned",
            Gap::Indirect => "indirect",
            Gap::Diverged => "diverged",
            Gap::Unstable => "unstable",
            Gap::Folded => "folded",
            Gap::Stopped => "stopped by a sanitizer",
            Gap::SymbolicCrash => "crashed in the symbolic half",
            Gap::NotSolved => "not solved",
            Gap::SolvedWithoutPath => "solved without its path",
            Gap::TokenMismatch => "tokens that do not fit the grammar",
            Gap::OtherState => "another state in the symbolic half",
            Gap::SnapshotThreads => "snapshot without its threads",
            Gap::SnapshotFile => "snapshot shares a file",
            Gap::SnapshotConnection => "snapshot shares a connection",
            Gap::MembersLost => "members of the fleet were lost",
            Gap::MemberIgnored => "finds of a member were ignored",
            Gap::TasksIgnored => "paths of members were ignored",
            Gap::StringsLeft => "strings that were left to other members",
        };
        name.into()
    }

    /// The limit that ended a run, if one did.
    pub fn of_end(end: &End) -> Option<Gap> {
        match end {
            End::Exit(_) | End::Signal(_) => None,
            End::Timeout => Some(Gap::TimedOut),
            End::Memory => Some(Gap::OutOfMemory),
            End::Output => Some(Gap::TooMuchOutput),
            End::Processes => Some(Gap::TooManyProcesses),
            End::Lost(_) => Some(Gap::ServerLost),
        }
    }
}
