//! What the action of a rule does, if it has a plain form.
//!
//! Actions are not run. But nearly all have one of a few forms: `return NUMBER;`,
//! `return yytext[0];`, `BEGIN(COMMENT);`, or nothing. The words in the action show
//! which. Other actions return [`Returned::Computed`], and the caller reports them to
//! the user.

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
    /// The first byte of the match.
    FirstByte,
    /// `return 0`: the end of the input.
    End,
    /// Anything else.
    Computed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    Stay,
    To(String),
    /// `yy_pop_state()`
    Back,
    /// `BEGIN` with any other argument.
    Computed,
}

#[derive(Clone, Debug)]
pub struct Action {
    pub returns: Vec<Returned>,
    pub next: Next,
    /// Reads input itself, as by `input()`.
    pub reads_input: bool,
    /// Switches to another file or buffer.
    pub switches_input: bool,
    /// Changes the match: REJECT, yyless, unput, yymore.
    pub rematches: bool,
    /// Calls a function whose name is that of an error report.
    pub reports_error: bool,
    /// Calls any other function.
    pub calls: bool,
}

/// Names of tokens in C, each with the name of the token in the grammar.
pub type Names = HashMap<String, String>;

/// Reads an action. `tokens` are the names of the parser's tokens; without a parser,
/// every name behind `return` is one.
pub fn read_action(source: &Source, span: Span, tokens: Option<&Names>) -> Action {
    let words = ccode::split_words(Cursor::between(source, span.start, span.end)).into_iter();
    let words: Vec<Word> =
        words.map(|(_, word)| word).filter(|word| !matches!(word, Word::Str(_))).collect();
    let mut action = Action {
        returns: Vec::new(),
        next: Next::Stay,
        reads_input: false,
        switches_input: false,
        rematches: false,
        reports_error: false,
        calls: false,
    };
    let mut at = 0;
    while at < words.len() {
        if let Word::Name(name) = &words[at] {
            let is_call = words.get(at + 1) == Some(&Word::Punct(b'('));
            match name.as_str() {
                "BEGIN" | "yybegin" | "yy_push_state" => {
                    action.next = begin_target(&words[at + 1..])
                }
                "yy_pop_state" => action.next = Next::Back,
                "input" | "yyinput" | "getc" | "getchar" => action.reads_input |= is_call,
                "yy_switch_to_buffer" | "yypush_buffer_state" | "yyrestart" => {
                    action.switches_input |= is_call;
                }
                "REJECT" | "yyless" | "unput" | "yyunput" | "yymore" => action.rematches = true,
                "yyterminate" => push_new(&mut action.returns, Returned::End),
                "return" => {
                    let rest = &words[at + 1..];
                    let length =
                        rest.iter().position(|w| *w == Word::Punct(b';')).unwrap_or(rest.len());
                    for found in returned(&rest[..length], tokens) {
                        push_new(&mut action.returns, found);
                    }
                    at += length;
                }
                _ => {
                    action.calls |= is_call;
                    action.reports_error |= is_call && is_error_report(name);
                }
            }
        }
        at += 1;
    }
    // `RETURN(NUMBER)`, or a variable that was set to a token before. Any token that
    // the action mentions may be returned.
    let unclear = action.returns.is_empty() || action.returns == [Returned::Computed];
    if let Some(tokens) = tokens.filter(|_| unclear) {
        let mentioned = words.iter().filter_map(|word| match word {
            Word::Name(name) => tokens.get(name).map(|token| Returned::Name(token.clone())),
            _ => None,
        });
        let mentioned: Vec<Returned> = mentioned.collect();
        if !mentioned.is_empty() {
            action.returns.clear();
            mentioned.into_iter().for_each(|found| push_new(&mut action.returns, found));
        }
    }
    action
}

fn push_new(returns: &mut Vec<Returned>, found: Returned) {
    if !returns.contains(&found) {
        returns.push(found);
    }
}

/// The argument of `BEGIN`: `(NAME)`, `NAME` or `0`.
fn begin_target(words: &[Word]) -> Next {
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

/// What the expression behind `return` can be. A function that gets a token or a
/// character most likely returns it.
fn returned(words: &[Word], tokens: Option<&Names>) -> Vec<Returned> {
    let mut found = Vec::new();
    let mut names = 0;
    for (at, word) in words.iter().enumerate() {
        match word {
            Word::Name(name) if name == "yytext" || name == "YYText" => {
                // `yytext[0]`, `*yytext`, `YYText()[0]`
                let is_indexed = words.get(at + 1) == Some(&Word::Punct(b'['))
                    && words.get(at + 2) == Some(&Word::Number(0));
                let is_dereferenced = at > 0 && words[at - 1] == Word::Punct(b'*');
                let is_called = words.get(at + 3) == Some(&Word::Punct(b'['));
                if is_indexed || is_dereferenced || is_called {
                    push_new(&mut found, Returned::FirstByte);
                }
            }
            Word::Name(name) => {
                names += 1;
                let is_call = words.get(at + 1) == Some(&Word::Punct(b'('));
                match tokens {
                    Some(tokens) => {
                        // `make_NUMBER(…)` makes a token for a C++ parser of bison.
                        let is_token = !is_call || name.starts_with("make_");
                        if let Some(token) = tokens.get(name).filter(|_| is_token) {
                            push_new(&mut found, Returned::Name(token.clone()));
                        }
                    }
                    None if is_call || is_condition_or_cast(words, at) => {}
                    None => push_new(&mut found, Returned::Name(name.clone())),
                }
            }
            Word::Char(byte) => push_new(&mut found, Returned::Char(*byte)),
            Word::Number(0) if words.len() == 1 => return vec![Returned::End],
            Word::Number(_) | Word::Punct(_) | Word::Str(_) => {}
        }
    }
    if found.is_empty() && (names > 0 || !words.is_empty()) {
        found.push(Returned::Computed);
    }
    found
}

/// True for a condition before `?`, and for the type of a cast.
fn is_condition_or_cast(words: &[Word], at: usize) -> bool {
    let is = |at: usize, byte| words.get(at) == Some(&Word::Punct(byte));
    let is_cast = at > 0 && is(at - 1, b'(') && is(at + 1, b')') && words.len() > at + 2;
    is(at + 1, b'?') || is_cast
}

/// True if a function reports an error, by its name.
fn is_error_report(name: &str) -> bool {
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
