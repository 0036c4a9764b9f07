//! The grammar of a campaign: what is derived from it, one input after another.
//!
//! Derivations are walked by a thread of its own, a few ahead of the search: a walk
//! goes forward by calling back, and a search asks when it wants to. The order is
//! the walk's, however many workers ask.

use super::settings::GrammarSettings;
use pleach_grammar::symbolic::Abstraction;
use pleach_grammar::{Grammar, TokenId};
use pleach_template::{Bounds, Strings, StringsError, Template, Unit};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

/// An input that the grammar derives, with what of it may change.
pub type Derived = (Vec<u8>, Template);

pub struct Language {
    strings: Mutex<Receiver<Derived>>,
}

/// Strings that are derived ahead.
const AHEAD: usize = 64;
/// Without a bound, longer strings than this are not derived.
const LONGEST: usize = pleach_grammar::enumerate::LONGEST;

/// A grammar, and what is to become of its tokens.
#[derive(Clone)]
pub struct Source {
    pub grammar: Arc<Grammar>,
    pub choices: HashMap<TokenId, Abstraction>,
}

impl Language {
    pub fn new(source: &Source, asked: &GrammarSettings) -> Result<Language, StringsError> {
        let choose = |t| source.choices.get(&t).copied().unwrap_or(Abstraction::Auto);
        let strings = Strings::new(&source.grammar, choose)?;
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
        let (send, receive) = sync_channel(AHEAD);
        let rounds: Vec<Bounds> = match asked.max_length {
            Some(longest) => vec![bounds(longest as usize, 0)],
            None => (1..=LONGEST).map(|n| bounds(n, n - 1)).collect(),
        };
        std::thread::spawn(move || {
            for bounds in rounds {
                let mut gone = false;
                let walked = strings.walk(&bounds, |bytes, template| {
                    gone = send.send((bytes, template)).is_err();
                    if gone { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                });
                if gone || walked.is_err() {
                    break;
                }
            }
        });
        Ok(Language { strings: Mutex::new(receive) })
    }

    /// The next string; `None` when there are no more.
    pub fn next(&self) -> Option<Derived> {
        self.strings.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
    }
}

fn asked_height(height: Option<u32>) -> Option<usize> {
    height.map(|h| h as usize)
}
