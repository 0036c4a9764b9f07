//! The ledger: what the search has asked and learned about each branch of the program.
//!
//! It has one [`Tally`] for each branch, so its memory is bounded by the program. The journal
//! keeps every entry, so a resumed campaign has the same ledger. Whoever reads the journal of
//! a directory gets it too.

use pleach_search::{BranchId, Mark};

/// What is known of one branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// On how many paths the solver was asked for it.
    pub asked: u32,
    /// On how many of them there was an input.
    pub solved: u32,
    /// On how many of them the solver left out conditions.
    pub relaxed: u32,
    /// On how many of them no input takes it.
    pub refuted: u32,
    /// Those refutations that may depend on a value that was held.
    pub pinned: u32,
    /// On how many of them the solver gave up.
    pub unknown: u32,
    /// How many runs of a solved input did not take it.
    pub missed: u32,
    /// The hash of the site that held a value, for one refutation; 0 if it is not known.
    pub pin: u64,
    /// A trace decided on it, on a condition over the input.
    pub conditional: bool,
    /// A trace decided on it, but only on parts of the input that must not change.
    pub fixed: bool,
    /// The symbolic half took it, and the fast half did not on the same input.
    pub folded: bool,
}

/// One thing that was learned about branches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The solver answered a flip to a branch. `pin`: a refutation may depend on a value that
    /// this site held; the hash may be 0.
    Answered { branch: BranchId, mark: Mark, pin: Option<u64> },
    /// A trace decided on these branches for the first time.
    Conditional(Vec<BranchId>),
    /// The same, on parts of the input that must not change.
    Fixed(Vec<BranchId>),
    /// A solved input did not take its branch.
    Missed(BranchId),
    /// The fast half does not have the branch.
    Folded(BranchId),
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    tallies: Vec<Tally>,
}

impl Ledger {
    pub fn new(branches: usize) -> Ledger {
        Ledger { tallies: vec![Tally::default(); branches] }
    }

    pub fn of(&self, branch: BranchId) -> Tally {
        self.tallies.get(branch as usize).copied().unwrap_or_default()
    }

    /// Sets all that is known of a branch.
    pub fn set(&mut self, branch: BranchId, tally: Tally) {
        self.change(branch, |known| *known = tally);
    }

    /// Adds an entry. Returns false if it says nothing new.
    pub fn add(&mut self, entry: &Entry) -> bool {
        match *entry {
            Entry::Answered { branch, mark, pin } => self.change(branch, |tally| {
                tally.asked += 1;
                match mark {
                    Mark::Sat => tally.solved += 1,
                    Mark::Optimistic => tally.relaxed += 1,
                    Mark::Unsat => tally.refuted += 1,
                    _ => tally.unknown += 1,
                }
                if let Some(site) = pin {
                    tally.pinned += 1;
                    tally.pin = site;
                }
            }),
            Entry::Conditional(ref branches) => branches
                .iter()
                .fold(false, |new, &b| self.change(b, |t| t.conditional = true) | new),
            Entry::Fixed(ref branches) => {
                branches.iter().fold(false, |new, &b| self.change(b, |t| t.fixed = true) | new)
            }
            Entry::Missed(branch) => self.change(branch, |tally| tally.missed += 1),
            Entry::Folded(branch) => self.change(branch, |tally| tally.folded = true),
        }
    }

    /// True if the tally of a branch is another one afterwards.
    fn change(&mut self, branch: BranchId, change: impl FnOnce(&mut Tally)) -> bool {
        let Some(tally) = self.tallies.get_mut(branch as usize) else { return false };
        let before = *tally;
        change(tally);
        *tally != before
    }
}
