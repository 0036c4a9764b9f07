//! What the C behind a pattern does, as far as that can be read off it.
//!
//! Nobody runs the action. But nearly all of them are of a few kinds: `return
//! NUMBER;`, `return yytext[0];`, `BEGIN(COMMENT);`, nothing at all. Those are
//! told apart by the words in them. What is of no such kind is reported as such,
//! and the caller says so to the person.

use std::collections::HashMap;

use crate::ccode::{self, Word};
use crate::text::{Cursor, Source};

use super::parse::Span;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Returned {
    /// A token by its name.
    Name(String),
    /// A character constant.
    Char(u8),
    /// The first byte of what was matched.
    FirstByte,
    /// `return 0`: the end of the input.
    End,
    /// Something computed.
    Computed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    Stay,
    To(String),
    /// `yy_pop_state()`
    Back,
    /// `BEGIN` with something computed.
    Computed,
}

#[derive(Clone, Debug)]
pub struct Action {
    pub returns: Vec<Returned>,
    pub next: Next,
    /// Reads on by itself: `input()`.
    pub reads: bool,
    /// Turns to another file or buffer.
    pub includes: bool,
    /// Gives back what it matched or asks for more: REJECT, yyless, unput, yymore.
    pub rematches: bool,
    /// Calls something that by its name complains.
    pub complains: bool,
    /// Calls anything at all.
    pub calls: bool,
}

/// What the parser's tokens are called in C, and their names in the grammar.
pub type Names = HashMap<String, String>;

/// Reads an action. `tokens` are the names that the parser knows; without a
/// parser every name behind `return` is one.
pub fn understand(source: &Source, span: Span, tokens: Option<&Names>) -> Action {
    let words = ccode::words(Cursor::between(source, span.start, span.end)).into_iter();
    let words: Vec<Word> =
        words.map(|(_, word)| word).filter(|word| !matches!(word, Word::Str(_))).collect();
    let mut action = Action {
        returns: Vec::new(),
        next: Next::Stay,
        reads: false,
        includes: false,
        rematches: false,
        complains: false,
        calls: false,
    };
    let mut at = 0;
    while at < words.len() {
        if let Word::Name(name) = &words[at] {
            let called = words.get(at + 1) == Some(&Word::Punct(b'('));
            match name.as_str() {
                "BEGIN" | "yybegin" | "yy_push_state" => action.next = target(&words[at + 1..]),
                "yy_pop_state" => action.next = Next::Back,
                "input" | "yyinput" | "getc" | "getchar" => action.reads |= called,
                "yy_switch_to_buffer" | "yypush_buffer_state" | "yyrestart" => {
                    action.includes |= called;
                }
                "REJECT" | "yyless" | "unput" | "yyunput" | "yymore" => action.rematches = true,
                "yyterminate" => push(&mut action.returns, Returned::End),
                "return" => {
                    let rest = &words[at + 1..];
                    let length =
                        rest.iter().position(|w| *w == Word::Punct(b';')).unwrap_or(rest.len());
                    for found in returned(&rest[..length], tokens) {
                        push(&mut action.returns, found);
                    }
                    at += length;
                }
                _ => {
                    action.calls |= called;
                    action.complains |= called && complains(name);
                }
            }
        }
        at += 1;
    }
    // `RETURN(NUMBER)`, or a variable that was set to a token before.
    let unclear = action.returns.is_empty() || action.returns == [Returned::Computed];
    if let Some(tokens) = tokens.filter(|_| unclear) {
        let mentioned = words.iter().filter_map(|word| match word {
            Word::Name(name) => tokens.get(name).map(|token| Returned::Name(token.clone())),
            _ => None,
        });
        let mentioned: Vec<Returned> = mentioned.collect();
        if !mentioned.is_empty() {
            action.returns.clear();
            mentioned.into_iter().for_each(|found| push(&mut action.returns, found));
        }
    }
    action
}

fn push(returns: &mut Vec<Returned>, found: Returned) {
    if !returns.contains(&found) {
        returns.push(found);
    }
}

/// `(NAME)`, `NAME`, `0`
fn target(words: &[Word]) -> Next {
    let plain: Vec<&Word> = words.iter().take(3).filter(|w| **w != Word::Punct(b'(')).collect();
    let closed = match words.first() {
        Some(Word::Punct(b'(')) => words.get(2) == Some(&Word::Punct(b')')),
        _ => words.get(1).is_none_or(|w| matches!(w, Word::Punct(b';' | b'}'))),
    };
    match plain.first() {
        Some(Word::Name(name)) if closed => Next::To(name.clone()),
        Some(Word::Number(0)) if closed => Next::To("INITIAL".into()),
        _ => Next::Computed,
    }
}

/// What an expression behind `return` can be.
fn returned(words: &[Word], tokens: Option<&Names>) -> Vec<Returned> {
    let mut found = Vec::new();
    let mut names = 0;
    for (at, word) in words.iter().enumerate() {
        match word {
            Word::Name(name) if name == "yytext" || name == "YYText" => {
                let first = words.get(at + 1) == Some(&Word::Punct(b'['))
                    && words.get(at + 2) == Some(&Word::Number(0));
                let pointed = at > 0 && words[at - 1] == Word::Punct(b'*');
                let called = words.get(at + 3) == Some(&Word::Punct(b'['));
                if first || pointed || called {
                    push(&mut found, Returned::FirstByte);
                }
            }
            Word::Name(name) => {
                names += 1;
                let call = words.get(at + 1) == Some(&Word::Punct(b'('));
                match tokens {
                    Some(tokens) => {
                        // `make_NUMBER(…)` is how bison's C++ parsers are given a token.
                        let known = tokens.get(name).filter(|_| !call || name.starts_with("make_"));
                        found_name(known, &mut found);
                    }
                    None if call || is_other(words, at) => {}
                    None => push(&mut found, Returned::Name(name.clone())),
                }
            }
            Word::Char(byte) => push(&mut found, Returned::Char(*byte)),
            Word::Number(0) if words.len() == 1 => return vec![Returned::End],
            Word::Number(_) | Word::Punct(_) | Word::Str(_) => {}
        }
    }
    // A function that is given the token or the character most likely returns it;
    // one that is given a character constant need not.
    if found.is_empty() && (names > 0 || !words.is_empty()) {
        found.push(Returned::Computed);
    }
    found
}

fn found_name(name: Option<&String>, found: &mut Vec<Returned>) {
    if let Some(name) = name {
        push(found, Returned::Name(name.clone()));
    }
}

/// A condition before `?` or a type in a cast, and not a token.
fn is_other(words: &[Word], at: usize) -> bool {
    let is = |at: usize, byte| words.get(at) == Some(&Word::Punct(byte));
    let cast = at > 0 && is(at - 1, b'(') && is(at + 1, b')') && words.len() > at + 2;
    is(at + 1, b'?') || cast
}

fn complains(name: &str) -> bool {
    const SIGNS: &[&str] = &[
        "err",
        "warn",
        "fatal",
        "exit",
        "abort",
        "panic",
        "die",
        "unexpected",
        "invalid",
        "illegal",
        "bad",
        "unknown",
        "complain",
        "fprintf",
        "assert",
        "diag",
    ];
    let name = name.to_ascii_lowercase();
    SIGNS.iter().any(|sign| name.contains(sign))
}
