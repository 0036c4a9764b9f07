//! What is known of the program without running it: its numbered branches, and for the
//! control-flow directed search its blocks, their edges and calls. The campaign builds this
//! once from the tables in the executable.

use std::collections::HashMap;

/// One side of a conditional branch, one case of a switch or of a computed goto, or a function
/// that is called through pointers.
pub type BranchId = u32;

/// A branch or switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteShape {
    /// Its first side. A branch has two sides, the true one first. A switch has one for each
    /// case, and the default last. A computed goto has one for each label, and a function that
    /// is called through pointers has one.
    pub first: BranchId,
    pub sides: u32,
    /// The block that it ends.
    pub block: u32,
    /// The block that each side leads to; empty if unknown.
    pub targets: Vec<u32>,
    /// True if totals count it. Branches in system headers do not count.
    pub counts: bool,
}

impl SiteShape {
    /// True if it is no branch, but shows that a function ran.
    pub fn is_entry(&self) -> bool {
        self.sides == 1 && self.targets.is_empty()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub block: u32,
    /// The index of the called function. `None` if it is outside the program, or if the call
    /// is indirect.
    pub callee: Option<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionShape {
    pub name: String,
    /// The successors of each block; block 0 is the entry.
    pub blocks: Vec<Vec<u32>>,
    pub sites: Vec<SiteShape>,
    pub calls: Vec<Call>,
    /// Calls through pointers: the block, and the type of the called function.
    pub pointer_calls: Vec<(u32, u32)>,
    /// Its type, if its address is taken: calls through pointers of this type may reach it.
    pub taken_as: Option<u32>,
}

impl FunctionShape {
    /// True if totals count a branch of it.
    pub fn counts(&self) -> bool {
        self.sites.iter().any(|s| s.counts)
    }
}

#[derive(Clone, Debug, Default)]
pub struct Program {
    functions: Vec<FunctionShape>,
    /// The function and the site of each branch.
    owner: Vec<(u32, u32)>,
    by_hash: HashMap<u64, (u32, u32)>,
}

impl Program {
    /// `hashes` has the hash of each site, with its function and its index there. Sides must
    /// be numbered from 0 without gaps.
    pub fn new(
        functions: Vec<FunctionShape>,
        hashes: impl IntoIterator<Item = (u64, (u32, u32))>,
    ) -> Program {
        let sites = || {
            functions.iter().enumerate().flat_map(|(f, function)| {
                function.sites.iter().enumerate().map(move |(s, site)| (f as u32, s as u32, site))
            })
        };
        let total = sites().map(|(_, _, s)| s.first + s.sides).max().unwrap_or(0);
        let mut owner = vec![(u32::MAX, 0); total as usize];
        for (f, s, site) in sites() {
            owner[site.first as usize..][..site.sides as usize].fill((f, s));
        }
        Program { owner, by_hash: hashes.into_iter().collect(), functions }
    }

    pub fn functions(&self) -> &[FunctionShape] {
        &self.functions
    }

    /// The number of branches, also those that totals do not count.
    pub fn branches(&self) -> usize {
        self.owner.len()
    }

    /// The number of branches that totals count.
    pub fn counted(&self) -> usize {
        let sites = self.functions.iter().flat_map(|f| &f.sites);
        sites.filter(|s| s.counts).map(|s| s.sides as usize).sum()
    }

    /// The number of functions with a branch that totals count.
    pub fn functions_counted(&self) -> usize {
        self.functions.iter().filter(|f| f.counts()).count()
    }

    /// The function that a branch is in.
    pub fn function_of(&self, branch: BranchId) -> Option<u32> {
        self.owner.get(branch as usize).map(|o| o.0).filter(|&f| f != u32::MAX)
    }

    pub fn site_of(&self, branch: BranchId) -> Option<&SiteShape> {
        let &(f, s) = self.owner.get(branch as usize)?;
        self.functions.get(f as usize)?.sites.get(s as usize)
    }

    /// True if totals count the branch.
    pub fn counts(&self, branch: BranchId) -> bool {
        self.site_of(branch).is_some_and(|s| s.counts)
    }

    /// Finds a site by its hash.
    pub fn site(&self, hash: u64) -> Option<&SiteShape> {
        let &(f, s) = self.by_hash.get(&hash)?;
        self.functions.get(f as usize)?.sites.get(s as usize)
    }
}
