//! Inputs that the grammar derives, one after another.
//!
//! The walk through the strings of a symbolic grammar calls back with each string, but a
//! search asks for the next one when it needs it. So a thread of its own does the walk, a few
//! strings ahead of the search. The order of the strings does not depend on the workers.

use crate::run::settings::GrammarSettings;
use pleach_grammar::Grammar;
use pleach_grammar::detokenize::Detokenizer;
use pleach_grammar::sample::{Nested, paths};
use pleach_search::Derives;
use pleach_template::{
    Bounds, Choices, Samples, Strings, StringsError, Template, TokensError, Unit, Vocabulary,
};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// An input that the grammar derives. A string of a symbolic grammar has a number, and a
/// template that says which parts of it may change.
pub struct Derived {
    pub bytes: Vec<u8>,
    pub template: Option<Template>,
    pub number: Option<u64>,
}

pub enum Language {
    /// The strings of a symbolic grammar, in order.
    Strings(Walk),
    /// Sentences with deep nesting and random sentences, in turn. They never end.
    Sentences(Mutex<Sentences>),
}

/// A walk through the strings of a symbolic grammar, by a thread of its own.
pub struct Walk {
    strings: Arc<Strings>,
    turn: Mutex<Turn>,
    /// The walk ended before the last string.
    cut: Arc<AtomicBool>,
}

struct Turn {
    /// Strings that were derived ahead.
    ahead: Receiver<(Vec<u8>, Template)>,
    next: u64,
    /// Strings with a smaller number are skipped: they were run before the campaign was
    /// resumed.
    first: u64,
    /// Strings that are being run.
    under_way: BTreeSet<u64>,
}

/// How often a worker that waits for a string checks if the campaign is over.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

pub struct Sentences {
    nested: Option<Box<(Nested, Detokenizer)>>,
    samples: Option<Box<Samples>>,
    /// The next sentence is a random one, if there are both.
    is_random_next: bool,
}

/// How many tokens a random sentence has at most.
const MAX_TOKENS: usize = 60;
/// How many seeds are drawn if the user gives none, and the least and most tokens of each.
const SEED_COUNT: usize = 50;
const SEED_TOKENS: (usize, usize) = (15, 20);
/// How many sentences may cover a grammar.
const MAX_COVERING: usize = 2000;
/// About how many sentences with deep nesting there are.
const NESTED_COUNT: usize = 1 << 16;
/// How many strings are derived ahead of the search.
const STRINGS_AHEAD: usize = 64;
/// If the user gives no limit, longer strings than this are not derived.
const MAX_LENGTH: usize = pleach_grammar::enumerate::LONGEST;

/// A grammar, and what its tokens become in a symbolic grammar.
#[derive(Clone)]
pub struct Source {
    pub grammar: Arc<Grammar>,
    pub choices: Choices,
}

impl Source {
    /// The vocabulary for flips on tokens.
    pub fn vocabulary(&self) -> Result<Vocabulary, TokensError> {
        Vocabulary::new(&self.grammar)
    }

    /// Sentences that show which number the program has for which token.
    pub fn probes(&self, seed: u64, count: usize) -> Result<Vec<Vec<u8>>, StringsError> {
        let mut samples = Samples::new(&self.grammar, MAX_TOKENS, seed)?;
        Ok((0..count).filter_map(|_| samples.draw_any()).collect())
    }

    /// Small sentences that together have every pair of derivation steps that can follow
    /// each other, or at least every step if the pairs are too many.
    pub fn covering(&self) -> Result<Vec<Vec<u8>>, StringsError> {
        let detokenizer = Detokenizer::new(&self.grammar)?;
        let trees = [2, 1].iter().find_map(|&k| {
            paths::cover(&self.grammar, k).ok().filter(|trees| trees.len() <= MAX_COVERING)
        });
        Ok(trees.unwrap_or_default().iter().map(|tree| detokenizer.sentence(tree)).collect())
    }

    /// Seeds for a campaign that is given none.
    pub fn seeds(&self, seed: u64) -> Result<Vec<Vec<u8>>, StringsError> {
        let mut samples = Samples::new(&self.grammar, MAX_TOKENS, seed)?;
        let (shortest, longest) = SEED_TOKENS;
        Ok((0..SEED_COUNT).filter_map(|_| samples.draw(shortest, longest)).collect())
    }
}

impl Language {
    pub fn new(
        source: &Source,
        asked: &GrammarSettings,
        what: Derives,
        seed: u64,
    ) -> Result<Language, StringsError> {
        if what == Derives::Strings {
            return Language::strings(source, asked);
        }
        let nested = match what {
            Derives::Samples => None,
            _ => {
                let detokenizer = Detokenizer::new(&source.grammar)?;
                Some(Box::new((
                    Nested::new(source.grammar.clone(), NESTED_COUNT, seed),
                    detokenizer,
                )))
            }
        };
        let samples = match what {
            Derives::Nested => None,
            // Others than the seeds.
            _ => Some(Box::new(Samples::new(&source.grammar, MAX_TOKENS, seed.wrapping_add(1))?)),
        };
        Ok(Language::Sentences(Mutex::new(Sentences { nested, samples, is_random_next: false })))
    }

    /// The strings of the symbolic grammar.
    fn strings(source: &Source, asked: &GrammarSettings) -> Result<Language, StringsError> {
        let strings = Arc::new(Strings::new(&source.grammar, &source.choices)?);
        let unit = if asked.tokens { Unit::Tokens } else { Unit::Bytes };
        let max_height = asked.max_height.map(|height| height as usize);
        let bounds =
            move |max_length, longer_than| Bounds { unit, max_length, max_height, longer_than };
        // If the bounds are wrong, this fails now and not in the thread.
        let first = bounds(asked.max_length.unwrap_or(1).max(1) as usize, usize::MAX);
        strings.walk(&first, |_, _| ControlFlow::Break(()))?;
        let (send, ahead) = sync_channel(STRINGS_AHEAD);
        let cut = Arc::new(AtomicBool::new(false));
        let turn = Mutex::new(Turn { ahead, next: 0, first: 0, under_way: BTreeSet::new() });
        let walk = Walk { strings: strings.clone(), turn, cut: cut.clone() };
        let endless = asked.max_length.is_none();
        let rounds: Vec<Bounds> = match asked.max_length {
            Some(longest) => vec![bounds(longest as usize, 0)],
            None => (1..=MAX_LENGTH).map(|n| bounds(n, n - 1)).collect(),
        };
        let is_cut = cut.clone();
        let thread = std::thread::Builder::new().spawn(move || {
            for bounds in rounds {
                let (mut is_unused, mut has_strings) = (false, false);
                let walked = strings.walk(&bounds, |bytes, template| {
                    is_unused = send.send((bytes, template)).is_err();
                    has_strings = true;
                    if is_unused { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                });
                let has_longer = endless && has_strings && bounds.max_length == MAX_LENGTH;
                if is_unused || walked.is_err() || has_longer {
                    cut.store(true, Ordering::Relaxed);
                    break;
                }
            }
        });
        if thread.is_err() {
            is_cut.store(true, Ordering::Relaxed);
        }
        Ok(Language::Strings(walk))
    }

    /// The next input; `None` when there are no more, or the campaign is over.
    pub fn next(&self, stop: &AtomicBool) -> Option<Derived> {
        match self {
            Language::Strings(walk) => walk.next(stop),
            Language::Sentences(sentences) => {
                let mut sentences = sentences.lock().unwrap_or_else(PoisonError::into_inner);
                let bytes = sentences.next()?;
                Some(Derived { bytes, template: None, number: None })
            }
        }
    }

    /// The walk, if strings are derived.
    pub fn walk(&self) -> Option<&Walk> {
        match self {
            Language::Strings(walk) => Some(walk),
            Language::Sentences(_) => None,
        }
    }
}

impl Walk {
    fn turn(&self) -> MutexGuard<'_, Turn> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self, stop: &AtomicBool) -> Option<Derived> {
        let mut turn = self.turn();
        while !stop.load(Ordering::Relaxed) {
            let (bytes, template) = match turn.ahead.recv_timeout(POLL_INTERVAL) {
                Ok(string) => string,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return None,
            };
            let number = turn.next;
            turn.next += 1;
            if number >= turn.first {
                turn.under_way.insert(number);
                return Some(Derived { bytes, template: Some(template), number: Some(number) });
            }
        }
        None
    }

    /// Records that a string was run, and is in the journal. Returns how many strings were
    /// run without a gap, from the first on.
    pub fn finish(&self, number: u64) -> u64 {
        let mut turn = self.turn();
        turn.under_way.remove(&number);
        turn.under_way.first().copied().unwrap_or(turn.next)
    }

    /// Skips the first strings.
    pub fn skip(&self, count: u64) {
        self.turn().first = count;
    }

    /// True if the walk ended before the last string.
    pub fn is_cut(&self) -> bool {
        self.cut.load(Ordering::Relaxed)
    }

    pub fn strings(&self) -> &Arc<Strings> {
        &self.strings
    }
}

impl Sentences {
    fn next(&mut self) -> Option<Vec<u8>> {
        self.is_random_next = !self.is_random_next;
        if let Some(nested) = &mut self.nested
            && (self.is_random_next || self.samples.is_none())
        {
            match nested.0.next() {
                Some(tree) => return Some(nested.1.sentence(&tree)),
                None => self.nested = None,
            }
        }
        self.samples.as_mut()?.draw_any()
    }
}
