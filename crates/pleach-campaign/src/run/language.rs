//! The grammar of a campaign: what is derived from it, one input after another.
//!
//! Derivations are walked by a thread of its own, a few ahead of the search: a walk
//! goes forward by calling back, and a search asks when it wants to. The order is
//! the walk's, however many workers ask.

use super::settings::GrammarSettings;
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

/// An input that the grammar derives, with what of it may change. Strings have numbers.
pub struct Derived {
    pub bytes: Vec<u8>,
    pub template: Option<Template>,
    pub number: Option<u64>,
}

pub enum Language {
    /// The strings of a symbolic grammar, in order.
    Strings(Walk),
    /// Sentences with much nesting, and at random without end, in turn.
    Sentences(Mutex<Sentences>),
}

/// A walk through strings, by a thread of its own.
pub struct Walk {
    strings: Arc<Strings>,
    turn: Mutex<Turn>,
    /// Not all strings were walked through.
    cut: Arc<AtomicBool>,
}

struct Turn {
    ahead: Receiver<(Vec<u8>, Template)>,
    next: u64,
    /// Strings below this number are passed over: they were run before.
    from: u64,
    under_way: BTreeSet<u64>,
}

/// How often somebody who waits for a string looks whether it is still wanted.
const LOOK: Duration = Duration::from_millis(50);

pub struct Sentences {
    nested: Option<Box<(Nested, Detokenizer)>>,
    samples: Option<Box<Samples>>,
    /// Whose turn it is.
    turn: bool,
}

/// Tokens of a sentence that is drawn at random, at most.
const TOKENS: usize = 60;
/// Seeds that are drawn where a person gives none, and how many tokens they have.
const SEEDS: usize = 50;
/// Sentences that cover a grammar, at most.
const COVERING: usize = 2000;
/// Sentences with much nesting, about.
const NESTED: usize = 1 << 16;
const SEED_TOKENS: (usize, usize) = (15, 20);
/// Strings that are derived ahead.
const AHEAD: usize = 64;
/// Without a bound, longer strings than this are not derived.
const LONGEST: usize = pleach_grammar::enumerate::LONGEST;

/// A grammar, and what is to become of its tokens.
#[derive(Clone)]
pub struct Source {
    pub grammar: Arc<Grammar>,
    pub choices: Choices,
}

impl Source {
    /// What flips over tokens need.
    pub fn vocabulary(&self) -> Result<Vocabulary, TokensError> {
        Vocabulary::new(&self.grammar)
    }

    /// Sentences from which can be learned how the program reads them.
    pub fn probes(&self, seed: u64, most: usize) -> Result<Vec<Vec<u8>>, StringsError> {
        let mut samples = Samples::new(&self.grammar, TOKENS, seed)?;
        Ok((0..most).filter_map(|_| samples.any()).collect())
    }

    /// Small sentences that together have every two steps down the grammar, one after
    /// the other, or at least every step where those are too many.
    pub fn covering(&self) -> Result<Vec<Vec<u8>>, StringsError> {
        let detokenizer = Detokenizer::new(&self.grammar)?;
        let trees = [2, 1].iter().find_map(|&k| {
            paths::cover(&self.grammar, k).ok().filter(|trees| trees.len() <= COVERING)
        });
        Ok(trees.unwrap_or_default().iter().map(|tree| detokenizer.sentence(tree)).collect())
    }

    /// Seeds for a campaign that is given none.
    pub fn seeds(&self, seed: u64) -> Result<Vec<Vec<u8>>, StringsError> {
        let mut samples = Samples::new(&self.grammar, TOKENS, seed)?;
        let (shortest, longest) = SEED_TOKENS;
        Ok((0..SEEDS).filter_map(|_| samples.draw(shortest, longest)).collect())
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
                Some(Box::new((Nested::new(source.grammar.clone(), NESTED, seed), detokenizer)))
            }
        };
        let samples = match what {
            Derives::Nested => None,
            // Others than the seeds.
            _ => Some(Box::new(Samples::new(&source.grammar, TOKENS, seed.wrapping_add(1))?)),
        };
        Ok(Language::Sentences(Mutex::new(Sentences { nested, samples, turn: false })))
    }

    /// The strings of the symbolic grammar.
    fn strings(source: &Source, asked: &GrammarSettings) -> Result<Language, StringsError> {
        let strings = Arc::new(Strings::new(&source.grammar, &source.choices)?);
        let unit = if asked.tokens { Unit::Tokens } else { Unit::Bytes };
        let bounds = move |longest, longer_than| Bounds {
            unit,
            longest,
            highest: asked_height(asked.max_height),
            longer_than,
        };
        // What is wrong with the bounds is said now.
        let first = bounds(asked.max_length.unwrap_or(1).max(1) as usize, usize::MAX);
        strings.walk(&first, |_, _| ControlFlow::Break(()))?;
        let (send, ahead) = sync_channel(AHEAD);
        let cut = Arc::new(AtomicBool::new(false));
        let turn = Mutex::new(Turn { ahead, next: 0, from: 0, under_way: BTreeSet::new() });
        let here = (strings.clone(), cut.clone());
        let walk = Walk { strings, turn, cut };
        let endless = asked.max_length.is_none();
        let rounds: Vec<Bounds> = match asked.max_length {
            Some(longest) => vec![bounds(longest as usize, 0)],
            None => (1..=LONGEST).map(|n| bounds(n, n - 1)).collect(),
        };
        std::thread::spawn(move || {
            let (strings, cut) = here;
            for bounds in rounds {
                let (mut gone, mut some) = (false, false);
                let walked = strings.walk(&bounds, |bytes, template| {
                    gone = send.send((bytes, template)).is_err();
                    some = true;
                    if gone { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                });
                // The last round has others behind it.
                let last = endless && some && bounds.longest == LONGEST;
                if gone || walked.is_err() || last {
                    cut.store(true, Ordering::Relaxed);
                    break;
                }
            }
        });
        Ok(Language::Strings(walk))
    }

    /// The next input; `None` when there are no more, or it is not wanted any more.
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

    /// The strings, if it has any.
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
            let (bytes, template) = match turn.ahead.recv_timeout(LOOK) {
                Ok(string) => string,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return None,
            };
            let number = turn.next;
            turn.next += 1;
            if number >= turn.from {
                turn.under_way.insert(number);
                return Some(Derived { bytes, template: Some(template), number: Some(number) });
            }
        }
        None
    }

    /// A string was run, and the journal knows it. How many from the first on were.
    pub fn ran(&self, number: u64) -> u64 {
        let mut turn = self.turn();
        turn.under_way.remove(&number);
        turn.under_way.first().copied().unwrap_or(turn.next)
    }

    /// Goes on behind so many strings.
    pub fn pass(&self, strings: u64) {
        self.turn().from = strings;
    }

    /// Whether there are strings that it did not come to.
    pub fn is_cut(&self) -> bool {
        self.cut.load(Ordering::Relaxed)
    }

    pub fn strings(&self) -> &Arc<Strings> {
        &self.strings
    }
}

impl Sentences {
    fn next(&mut self) -> Option<Vec<u8>> {
        self.turn = !self.turn;
        if let Some(nested) = &mut self.nested
            && (self.turn || self.samples.is_none())
        {
            match nested.0.next() {
                Some(tree) => return Some(nested.1.sentence(&tree)),
                None => self.nested = None,
            }
        }
        self.samples.as_mut()?.any()
    }
}

fn asked_height(height: Option<u32>) -> Option<usize> {
    height.map(|h| h as usize)
}
