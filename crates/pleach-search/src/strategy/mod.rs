//! What a strategy is, and the list of them.

mod auto;
mod blackbox;
mod cese;
mod cfg;
mod dfs;
mod gbw;
mod generational;
mod hybrid;
mod plan;
mod random;
mod random_branch;
mod uniform;
mod walks;

use crate::coverage::Coverage;
use crate::program::Program;
use crate::rng::Rng;
use crate::run::{Flip, InputId, RunId, Runs};
use crate::tree::Tree;
use thiserror::Error;

/// All that a strategy may look at.
pub struct View<'a> {
    pub program: &'a Program,
    pub coverage: &'a Coverage,
    pub tree: &'a Tree,
    pub runs: &'a Runs,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Run an input on the symbolic half.
    Trace(InputId),
    /// The same, with the program's lexer as a border: its run is on tokens.
    TraceTokens(InputId),
    /// Solve for an input that takes the other way, and run it on the fast half.
    Flip(Flip),
    /// Run `count` mutants of an input on the fast half.
    Mutate { input: InputId, count: u32 },
    /// Run `count` children of an input on the fast half that are made of its parts,
    /// and of those of others, by the grammar.
    Graft { input: InputId, count: u32 },
    /// Run an input of random bytes on the fast half.
    Random,
    /// Run the next input that the grammar derives on the fast half.
    Derive,
    /// Have the worker's live run do what its pilot says next.
    Live,
    /// Nothing to do until something under way comes back. When nothing is
    /// under way, the search is over.
    Wait,
}

/// Where an input came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Seed,
    Flip(Flip),
    Mutant(InputId),
    /// Made of the parts of an input, and of others'.
    Graft(InputId),
    Random,
    Derived,
    /// The events of a live run.
    Live,
    /// Made before the campaign was resumed, gained nothing, and was never traced or left
    /// flips open.
    Recalled,
}

impl Origin {
    /// True for inputs that nothing else leads to: they are to be traced for their own sake.
    pub fn is_start(self) -> bool {
        matches!(self, Origin::Seed | Origin::Recalled)
    }
}

/// An input was executed on the fast half.
#[derive(Clone, Copy, Debug)]
pub struct InputNews {
    /// Its number. Only inputs that are kept have one: seeds, whatever came
    /// from a flip, and mutants and random inputs that gained something.
    pub input: Option<InputId>,
    pub origin: Origin,
    /// Branches that no run took before.
    pub branches: u32,
    /// Hit counts that no run had before.
    pub buckets: u32,
    /// It ended in a crash or a time-out.
    pub bad: bool,
    /// It timed out or hit another limit. To trace it takes as long again.
    pub hung: bool,
    /// Bytes.
    pub size: u32,
    /// Microseconds of CPU time, rounded so that equal runs are equal.
    pub cost: u32,
}

/// What the solver said to a flip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There is an input; its `InputNews` follows.
    Sat,
    /// The same, without the path.
    Optimistic,
    Unsat,
    Unknown,
    /// The run is no longer there; trace its input again.
    Gone,
}

/// One way to search. Called under one lock, by several workers in turn: an
/// action may be asked for while others are under way.
pub trait Strategy: Send {
    /// The next action.
    fn next(&mut self, view: &View, rng: &mut Rng) -> Action;

    /// An input was executed (a seed, the result of a flip, a mutant).
    fn executed(&mut self, view: &View, news: &InputNews);

    /// An input was traced; its run is in the tree.
    fn traced(&mut self, view: &View, run: RunId);

    /// An input that was to be traced has no usable trace.
    fn untraceable(&mut self, _view: &View, _input: InputId) {}

    /// The grammar has no more inputs to derive.
    fn derived_all(&mut self) {}

    /// Answering a flip, which is said next, took so many microseconds, or would have on the
    /// machine that they are reckoned for.
    fn worked(&mut self, _flip: Flip, _cost: f64) {}

    /// A flip was answered.
    fn answered(&mut self, view: &View, flip: Flip, verdict: Verdict);

    /// What it is at, for people: one short phrase.
    fn doing(&self) -> String;

    /// Flips and inputs that it gave up without trying, for want of memory or
    /// because a run could not be had again. A search that ends with some has
    /// not exhausted the program.
    fn left_out(&self) -> u64 {
        0
    }
}

/// What a person can say about a strategy.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Decisions of a path that depth-first search flips, from its start.
    pub depth: u32,
    /// Flips that are asked for one string of a symbolic grammar.
    pub per_string: u32,
    /// There is a grammar to derive inputs from.
    pub grammar: bool,
    /// The program has a token function, so runs can be on tokens.
    pub tokens: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { depth: u32::MAX, per_string: u32::MAX, grammar: false, tokens: false }
    }
}

/// Inputs that a grammar derives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derives {
    /// Strings of a symbolic grammar, one after another.
    Strings,
    /// Sentences at random, without end.
    Samples,
    /// Small sentences in which whatever nests is nested in each other.
    Nested,
    /// Both of these in turn.
    NestedAndSamples,
}

/// How flips over tokens are solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenUse {
    /// Another token takes the place of one; the rest stays.
    Replace,
    /// The grammar completes what begins with the new token.
    Complete,
}

/// What a strategy cannot do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    Nothing,
    /// A grammar, to derive inputs from.
    Grammar,
    /// A grammar, and a program whose token function is known.
    Tokens,
}

/// Where a search begins if a person gives no seeds, and what comes besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstInputs {
    /// The seeds. Without any: sentences of the grammar, or else `--len` bytes.
    Given,
    /// The same, and with a grammar also small sentences that cover it.
    GivenAndCovering,
    /// The seeds, if there are any; all else is derived.
    Derived,
}

/// All that is known of a strategy before it runs. The command line, its help and the
/// campaign read this and nothing else.
#[derive(Clone, Copy)]
pub struct Descriptor {
    pub name: &'static str,
    /// One line on what it does.
    pub about: &'static str,
    /// What it needs besides a program.
    pub needs: Needs,
    pub seeds: FirstInputs,
    /// It drives a live run.
    pub live: bool,
    /// Inputs are kept for new hit counts, too, and not for branches alone.
    pub keeps_hit_counts: bool,
    /// Typed calls past the end of the input get random values, and not zeros.
    pub random_values: bool,
    /// Infeasible flips are tried again with fewer conditions. Searches that promise to
    /// run every path once do not ask for that.
    pub relaxes: bool,
    /// How flips over tokens are solved, if the program has a token function.
    pub tokens: Option<TokenUse>,
    /// With a grammar, inputs are also put together from parts of others.
    pub grafts: bool,
    /// What is derived from a grammar.
    pub derives: Derives,
    make: fn(Options) -> Box<dyn Strategy>,
}

impl Descriptor {
    /// What holds for most strategies.
    const COMMON: Descriptor = Descriptor {
        name: "",
        about: "",
        needs: Needs::Nothing,
        seeds: FirstInputs::Given,
        live: false,
        keeps_hit_counts: false,
        random_values: false,
        relaxes: true,
        tokens: None,
        grafts: false,
        derives: Derives::Samples,
        make: |_| Box::new(random::Random),
    };

    pub fn make(&self, options: Options) -> Box<dyn Strategy> {
        (self.make)(options)
    }
}

/// All strategies; the first is what people get when they name none.
pub const STRATEGIES: &[Descriptor] = &[
    Descriptor {
        name: "auto",
        about: "mutation, flips and derivations, shared by what each has brought lately",
        seeds: FirstInputs::GivenAndCovering,
        keeps_hit_counts: true,
        tokens: Some(TokenUse::Complete),
        grafts: true,
        derives: Derives::NestedAndSamples,
        make: |o| Box::new(auto::Auto::new(o.grammar, o.tokens)),
        ..Descriptor::COMMON
    },
    Descriptor {
        name: "generational",
        about: "every flip of a run, then the input that gained most",
        make: |_| Box::new(generational::Generational::default()),
        ..Descriptor::COMMON
    },
    Descriptor {
        name: "cfg",
        about: "control-flow directed: flips nearest to branches not yet taken",
        make: |_| Box::new(cfg::Cfg::default()),
        ..Descriptor::COMMON
    },
    Descriptor {
        name: "dfs",
        about: "bounded depth-first: every path once",
        relaxes: false,
        make: |o| Box::new(dfs::Dfs::new(o.depth)),
        ..Descriptor::COMMON
    },
    Descriptor {
        name: "uniform",
        about: "down the path, each branch forced with probability 1/2",
        random_values: true,
        make: |_| Box::new(uniform::Uniform::walker()),
        ..Descriptor::COMMON
    },
    Descriptor {
        name: "random-branch",
        about: "one branch of the current path at random",
        random_values: true,
        make: |_| Box::new(random_branch::RandomBranch::walker()),
        ..Descriptor::COMMON
    },
    Descriptor {
        name: "cese",
        about: "the strings of a symbolic grammar, each with all that its holes can do",
        needs: Needs::Grammar,
        seeds: FirstInputs::Derived,
        relaxes: false,
        derives: Derives::Strings,
        make: |o| Box::new(cese::Cese::new(o.per_string)),
        ..Descriptor::COMMON
    },
    Descriptor {
        name: "gbw",
        about: "grammar-based whitebox: flips over tokens, completed by the grammar",
        needs: Needs::Tokens,
        seeds: FirstInputs::GivenAndCovering,
        tokens: Some(TokenUse::Complete),
        derives: Derives::Nested,
        make: |_| Box::new(gbw::OnTokens::new(TokenUse::Complete)),
        ..Descriptor::COMMON
    },
    Descriptor {
        name: "whitebox-tokens",
        about: "flips over tokens without regard to the grammar, for comparison",
        needs: Needs::Tokens,
        tokens: Some(TokenUse::Replace),
        derives: Derives::Nested,
        make: |_| Box::new(gbw::OnTokens::new(TokenUse::Replace)),
        ..Descriptor::COMMON
    },
    Descriptor {
        name: "gbb",
        about: "sentences of a grammar, drawn at random: grammar-based blackbox fuzzing",
        needs: Needs::Grammar,
        seeds: FirstInputs::Derived,
        make: |_| Box::new(blackbox::Sentences::default()),
        ..Descriptor::COMMON
    },
    Descriptor {
        name: "blackbox",
        about: "mutants of the seeds, whatever they cover, for comparison",
        random_values: true,
        make: |_| Box::new(blackbox::Mutants::default()),
        ..Descriptor::COMMON
    },
    Descriptor {
        name: "hybrid",
        about: "for programs that keep reading: random events, and searches from live states",
        live: true,
        make: |_| Box::new(hybrid::Hybrid),
        ..Descriptor::COMMON
    },
    Descriptor {
        name: "random",
        about: "random inputs, for comparison",
        random_values: true,
        make: |_| Box::new(random::Random),
        ..Descriptor::COMMON
    },
];

#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("unknown strategy `{name}`; there are {}", names())]
pub struct UnknownStrategy {
    name: String,
}

fn names() -> String {
    STRATEGIES.iter().map(|s| s.name).collect::<Vec<_>>().join(", ")
}

/// The strategy of a name.
pub fn find(name: &str) -> Result<&'static Descriptor, UnknownStrategy> {
    let found = STRATEGIES.iter().find(|s| s.name == name);
    found.ok_or_else(|| UnknownStrategy { name: name.into() })
}
