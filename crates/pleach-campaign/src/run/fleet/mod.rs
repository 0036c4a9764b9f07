//! One campaign on several machines: what the ring tells the other members, and what it hears
//! from them.
//!
//! The ring knows only the trait [`Fleet`]. Behind it is `pleach-fleet` with a server, or, in
//! tests, members of one process. Nothing here knows a network, and no worker waits for one:
//! a thread of the campaign (`post`) tells and hears; the workers leave news in the state, and
//! take inputs from an inbox as they take files of other fuzzers.
//!
//! All members of a campaign read the same messages in the same order, the *log*. Each also
//! hears what it said itself, at its place in the log: so all agree on which of two equal finds
//! came first, and on who owned a task when it was told.
//!
//! **How work is split.** There are two ways, and the strategy decides which ([`Split`]):
//!
//! - *Paths* (depth-first and the other exhaustive strategies). Whoever traces an input asks
//!   all flips behind its bound. Each result is a [`Task`]: an input, the edge of the tree that
//!   it was solved for, and its bound. The owner of the edge runs it, traces it, and says so
//!   when all its flips are answered ([`News::Done`]). A task that is not done belongs to the
//!   members that are left when its owner dies. So every path is run by one member, and again
//!   only if its task was under way when members came or went. The alternative, to publish
//!   open flips and let their owners trace the input again, runs every path as often as its
//!   flips have owners.
//! - *Finds* (all other strategies). Inputs that cover something new are known to all, and each
//!   member may trace them; a flip of such an input is asked by its owner alone. Inputs that
//!   gained nothing stay with the member that made them: nobody else knows their paths, so
//!   nobody else asks their flips. Inputs that gained only hit counts stay with their finder
//!   too. The others keep them, and believe what they cover without running them: when all
//!   members ran all finds, a third of the runs of sixteen members were imports.
//!
//! What is covered and what was answered is known to all in both.

mod build;
mod local;
mod mail;
mod members;
mod post;
mod tasks;
mod trust;

pub use build::{Build, Difference};
pub use local::LocalFleet;
pub(super) use mail::{HeardAs, Mail, Parcel, TaskPath};
pub use members::owner;
pub(super) use post::Post;

use pleach_search::{BranchId, Descriptor, Mark};
use std::sync::Arc;

/// The longest list of answers or of tasks that are done in one message.
pub const MAX_BATCH: usize = 4096;
/// The most branches that an input may claim to cover: a larger list is not plausible.
pub const MAX_COVERS: usize = 1 << 22;

/// The other members of a campaign. All calls return at once: they never wait for a network.
pub trait Fleet: Send + Sync {
    /// Tells the others. News reach every member in the order in which they were told, once,
    /// and never before a server has stored them. Nothing is lost when the server is away:
    /// what does not fit into memory waits on disk, and a member that is started again first
    /// sends what waited there. An input that the log already has (the same bytes, the same
    /// kind) need not be sent again.
    fn tell(&self, news: News);

    /// What was told since the last call, in the order of the log, at most `max`. What this
    /// member told is among it, with its own name: this says that a server has stored it. A
    /// member that is started again hears the whole log from its start.
    fn hear(&self, max: usize) -> Vec<Heard>;

    /// True if this member should work on something with that hash, as the members are at the
    /// position of the log that [`Fleet::hear`] has come to. Of all members, exactly one owns a
    /// hash at one position. A member that is cut off owns what it owned before.
    fn owns(&self, hash: u64) -> bool;

    /// A number that changes whenever the answers of [`Fleet::owns`] may have changed.
    fn generation(&self) -> u64;

    /// How many members there are at that position.
    fn members(&self) -> usize;

    /// True: this member has nothing left to do, at the position that it has heard, and has told
    /// everything. False: it works. Called often; only a change is news.
    fn set_idle(&self, idle: bool);

    /// Who declared the search exhausted, once all members that hold work are idle at the same
    /// position of the log and nothing came after it. It stays.
    fn settled(&self) -> Option<Settled>;

    /// The statistics of this member, for the others. The last ones count.
    fn report(&self, report: Report);

    /// What there is to show.
    fn view(&self) -> View;

    /// Ends the membership: what was told is sent if the server answers within a second or two,
    /// and stays on disk otherwise. The member has left when this returns.
    fn leave(&self);

    /// For members in one process that search in step, so that their results do not depend on
    /// time: the worker itself tells and hears, each time after N runs.
    fn in_step(&self) -> Option<u64> {
        None
    }
}

/// What a member tells the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// An input that covers something new, a crash or a hang.
    Find(Find),
    /// An input whose path is to be run and traced by the owner of its edge.
    Task(Task),
    /// Tasks, by their edges, that this member has begun. Others leave them to it as long as
    /// it is a member.
    Begun(Vec<u64>),
    /// Tasks, by their edges, that were traced, and whose flips are all answered.
    Done(Vec<u64>),
    /// Flips that were answered.
    Answers(Vec<Answer>),
    /// Something that keeps the search from being exhaustive: the name of the gap.
    Partial(String),
}

/// An input that is worth keeping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Find {
    pub kind: FindKind,
    pub bytes: Arc<[u8]>,
    /// What its run covered that was new to its finder; for a crash or a hang, up to its end.
    /// Sorted by branch. If it is empty, whoever hears of it must run it to see.
    pub covers: Vec<Cover>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FindKind {
    Queue,
    /// The hash of its kind and place, which tells crashes apart.
    Crash(u64),
    Hang,
}

/// A branch that a run took. The number of a branch depends on the build alone, and all members
/// have the same build: it is the place of its record in the executable and its libraries,
/// and [`Build`] has a hash of all records. (Hashes of sites would survive a new build, but
/// they are four to eight times longer on the wire, and another build is refused anyway.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cover {
    pub branch: BranchId,
    /// How often, at most 255.
    pub count: u8,
}

/// A path to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The edge of the tree that it was solved for; for a seed, a hash of its bytes. Two tasks
    /// with the same edge are one.
    pub edge: u64,
    /// How many decisions its path shares with that of its parent, including the one that was
    /// flipped. Flips before it belong to others.
    pub bound: u32,
    /// The node of the tree after `bound` decisions, to see whether the run has diverged. 0 if
    /// it is not known.
    pub node: u64,
    /// The branch that was asked for, if it is one of the program: the run must count it.
    pub asked: Option<BranchId>,
    pub bytes: Arc<[u8]>,
}

/// The answer to a flip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The edge that was asked for.
    pub edge: u64,
    /// Unknown, unsat, optimistic or sat.
    pub mark: Mark,
}

/// What a member told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heard {
    /// Who told it: a short name for people, the same for all that it tells, made of the
    /// characters of file names.
    pub from: Arc<str>,
    pub what: HeardWhat,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeardWhat {
    News(News),
    /// The member is no longer one: it has left, or others have not heard of it for too long.
    /// What it had begun is open again.
    Left,
    /// The server has lost what was told. `from` is this member. Everything that it has must be
    /// told again.
    Lost,
}

/// Who declared a search exhausted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// All members that were idle at the end, by their names, sorted.
    pub members: Vec<String>,
    /// Members that were lost while they worked and never came back. In a search that splits
    /// finds, their work may be lost with them.
    pub lost: Vec<String>,
    /// The position of the log.
    pub position: u64,
}

/// What a member says of itself, for people.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub runs: u64,
    /// Runs a second.
    pub pace: u64,
    pub branches: u64,
    pub inputs: u64,
    pub crashes: u64,
    pub hangs: u64,
}

/// What there is to show of a fleet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// The name of this member.
    pub name: String,
    /// The campaign and the server, without any secret.
    pub campaign: String,
    /// False while the server is away.
    pub connected: bool,
    /// All members that are known, this one too, by name.
    pub members: Vec<(String, Report)>,
    /// News that the server has not confirmed yet.
    pub unsent: u64,
    /// Messages and bytes, told and heard.
    pub told: u64,
    pub told_bytes: u64,
    pub heard: u64,
    pub heard_bytes: u64,
    /// Messages that were ignored because something about them was wrong or too much, by
    /// sender.
    pub ignored: Vec<(String, u64)>,
    /// For the user: what is wrong, if something is. Without any secret.
    pub notes: Vec<String>,
}

/// How work is split between members; see the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    Paths,
    Finds,
}

impl Split {
    /// How the members of a fleet split the work of a strategy.
    pub fn of(strategy: &Descriptor) -> Split {
        if strategy.splits_paths { Split::Paths } else { Split::Finds }
    }

    pub fn name(self) -> &'static str {
        match self {
            Split::Paths => "paths",
            Split::Finds => "finds",
        }
    }
}

/// A fleet of one: nobody hears, and nobody tells.
#[derive(Debug, Default)]
pub struct Alone;

impl Fleet for Alone {
    fn tell(&self, _news: News) {}

    fn hear(&self, _max: usize) -> Vec<Heard> {
        Vec::new()
    }

    fn owns(&self, _hash: u64) -> bool {
        true
    }

    fn generation(&self) -> u64 {
        0
    }

    fn members(&self) -> usize {
        1
    }

    fn set_idle(&self, _idle: bool) {}

    fn settled(&self) -> Option<Settled> {
        Some(Settled { members: vec!["alone".into()], ..Settled::default() })
    }

    fn report(&self, _report: Report) {}

    fn view(&self) -> View {
        View { name: "alone".into(), connected: true, ..View::default() }
    }

    fn leave(&self) {}
}
