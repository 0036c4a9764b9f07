//! What is known of a strategy before it runs.

use super::{Options, Strategy};

/// One strategy as the rest of Pleach sees it. The command line, its help, the tables in
/// the documents and the campaign read this and nothing else.
#[derive(Clone, Copy)]
pub struct Descriptor {
    /// What the user writes after `-s`.
    pub name: &'static str,
    /// What it does, in one line, for `pleach run --help` and the documents.
    pub about: &'static str,
    /// What to use it for, in a few words, for the documents.
    pub use_for: &'static str,
    /// What it needs besides a program.
    pub needs: Needs,
    /// The inputs that the campaign begins with.
    pub seeds: FirstInputs,
    /// True if it drives a live run.
    pub live: bool,
    /// True if the search ends by itself when every path was tried.
    pub exhausts: bool,
    /// True if an input is kept for a new hit count as well as for a new branch.
    pub keeps_hit_counts: bool,
    /// True if typed calls past the end of the input get random values instead of zeros.
    pub random_values: bool,
    /// True if an infeasible flip is tried again with fewer conditions. A strategy that
    /// promises to run every path once sets this to false.
    pub relaxes: bool,
    /// True if members of a fleet split its paths; otherwise they split the flips of what any
    /// of them found.
    pub splits_paths: bool,
    /// How flips over tokens are solved, if the program has a token function.
    pub tokens: Option<TokenUse>,
    /// True if, with a grammar, inputs are also made from parts of other inputs.
    pub grafts: bool,
    /// What is derived from a grammar.
    pub derives: Derives,
    pub(super) make: fn(Options) -> Box<dyn Strategy>,
}

/// What a strategy needs besides a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    Nothing,
    /// A grammar, to derive inputs from.
    Grammar,
    /// A grammar, and a program with a token function.
    Tokens,
    /// Places to get to (`--toward`, `--changed`).
    Places,
}

/// The inputs that a campaign begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstInputs {
    /// The user's seeds. Without seeds: sentences of the grammar, or `--len` bytes.
    Given,
    /// The same, and with a grammar also small sentences that cover the grammar.
    GivenAndCovering,
    /// The user's seeds, if any. The strategy derives everything else.
    Derived,
}

/// How flips over tokens are solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenUse {
    /// Replace one token by another, and keep the rest of the input.
    Replace,
    /// Replace one token, and let the grammar complete the input after it.
    Complete,
}

/// What is derived from a grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derives {
    /// The strings of a symbolic grammar, one after another.
    Strings,
    /// Random sentences, without end.
    Samples,
    /// Small sentences in which every construct that can be nested is nested in every other.
    Nested,
    /// Nested sentences and random ones in turn.
    NestedAndSamples,
}

impl Descriptor {
    /// The values that most strategies have. Each strategy must set `name`, `about`,
    /// `use_for` and `make`.
    pub(super) const COMMON: Descriptor = Descriptor {
        name: "",
        about: "",
        use_for: "",
        needs: Needs::Nothing,
        seeds: FirstInputs::Given,
        live: false,
        exhausts: false,
        keeps_hit_counts: false,
        random_values: false,
        relaxes: true,
        splits_paths: false,
        tokens: None,
        grafts: false,
        derives: Derives::Samples,
        make: |_| unreachable!("every descriptor sets `make`"),
    };

    pub fn make(&self, options: Options) -> Box<dyn Strategy> {
        (self.make)(options)
    }
}
