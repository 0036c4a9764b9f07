//! From the trees of rules to a [`GrammarBuilder`]. Literals and sets in them become
//! tokens, named as they are written.

use std::collections::HashMap;

use super::expand::{EXCEPTION_IGNORED, Expander, not_a_set};
use super::{Ranges, Rule, Tree, complement, difference};
use crate::ImportError;
use crate::lexicon::pattern_of;
use crate::text::{Source, severity_of};
use pleach_grammar::builder::Attributes;
use pleach_grammar::{Ebnf, GrammarBuilder, Language, Pattern, Regex, Symbol, Token};

pub(crate) struct Lowerer<'a> {
    pub source: &'a Source<'a>,
    pub builder: GrammarBuilder,
    /// Tokens of sets and of literals that ignore case, by how they are written.
    anonymous: HashMap<String, Ebnf>,
    /// Rules whose names may stand for a set of characters behind `-`.
    char_rules: HashMap<&'a str, &'a Tree>,
}

impl<'a> Lowerer<'a> {
    pub fn new(source: &'a Source<'a>) -> Lowerer<'a> {
        let (anonymous, char_rules) = (HashMap::new(), HashMap::new());
        Lowerer { source, builder: GrammarBuilder::new(), anonymous, char_rules }
    }

    pub fn with_char_rules(self, char_rules: HashMap<&'a str, &'a Tree>) -> Lowerer<'a> {
        Lowerer { char_rules, ..self }
    }

    /// Notes how the grammar differs from the file at an offset.
    pub fn note(&mut self, at: usize, change: Language, text: impl Into<String>) {
        self.builder.note(self.source.place(at), severity_of(change), text);
        self.builder.language(change);
    }

    /// Adds rules in their order. The first rule of a grammar is its start.
    pub fn add_rules<'r>(
        &mut self,
        rules: impl IntoIterator<Item = &'r Rule>,
    ) -> Result<(), ImportError> {
        for rule in rules {
            let body = self.lower(&rule.tree)?;
            let place = self.source.place(rule.at);
            let id = self.builder.rule(&rule.name, place.clone());
            self.builder.production(id, body, Attributes::at(place));
        }
        Ok(())
    }

    pub fn lower(&mut self, tree: &Tree) -> Result<Ebnf, ImportError> {
        Ok(match tree {
            Tree::Empty => self.builder.empty(),
            Tree::Literal { text, .. } if text.is_empty() => self.builder.empty(),
            Tree::Literal { text, any_case: true, at }
                if text.iter().any(u8::is_ascii_alphabetic) =>
            {
                let name = format!("%i\"{}\"", text.escape_ascii());
                self.anonymous_token(name, Regex::literal_any_case(text), *at)
            }
            Tree::Literal { text, at, .. } => {
                let token = self.builder.literal(text, self.source.place(*at));
                self.builder.symbol(Symbol::Token(token))
            }
            Tree::Chars { set, at } => self.char_token(set, *at),
            Tree::Bytes { set, at } => {
                self.anonymous_token(format!("{set:?}"), Regex::Class(*set), *at)
            }
            Tree::Name { name, at } => self.builder.name(name, self.source.place(*at)),
            Tree::Seq(parts) => {
                let parts = self.lower_all(parts)?;
                self.builder.sequence(parts)
            }
            Tree::Alt(parts) => {
                let parts = self.lower_all(parts)?;
                self.builder.choice(parts)
            }
            Tree::Repeat { inner, min, max, .. } => {
                let inner = self.lower(inner)?;
                self.builder.repeat(inner, *min, *max)
            }
            Tree::Not { inner, at } => {
                let expander = Expander::new(self.source, self.char_rules.clone(), 0);
                let set = expander.char_set(inner).ok_or_else(|| not_a_set(self.source, *at))?;
                self.char_token(&complement(&set), *at)
            }
            Tree::Minus { of, without, at } => {
                let expander = Expander::new(self.source, self.char_rules.clone(), 0);
                match (expander.char_set(of), expander.char_set(without)) {
                    (Some(of), Some(without)) => self.char_token(&difference(&of, without), *at),
                    _ => {
                        self.note(*at, Language::Larger, EXCEPTION_IGNORED);
                        self.lower(of)?
                    }
                }
            }
        })
    }

    fn lower_all(&mut self, parts: &[Tree]) -> Result<Vec<Ebnf>, ImportError> {
        parts.iter().map(|part| self.lower(part)).collect()
    }

    fn char_token(&mut self, set: &Ranges, at: usize) -> Ebnf {
        self.anonymous_token(show_set(set), Regex::code_points(set.iter().copied()), at)
    }

    /// The token that is written as `written`, one for all its uses.
    fn anonymous_token(&mut self, written: String, regex: Regex, at: usize) -> Ebnf {
        if let Some(token) = self.anonymous.get(&written) {
            return *token;
        }
        const MAX_NAME_CHARS: usize = 40;
        let mut name: String = written.chars().take(MAX_NAME_CHARS).collect();
        if name.len() < written.len() {
            name.push_str(&format!("…{}", self.anonymous.len()));
        }
        let token = match pattern_of(regex) {
            Pattern::Literal(text) => self.builder.literal(&text, self.source.place(at)),
            pattern => self.builder.token(Token {
                name,
                pattern,
                number: None,
                place: self.source.place(at),
                precedence: None,
                priority: u32::MAX,
            }),
        };
        let symbol = self.builder.symbol(Symbol::Token(token));
        self.anonymous.insert(written, symbol);
        symbol
    }
}

/// A set in the notation of regular expressions: `[a-z_]`.
fn show_set(set: &Ranges) -> String {
    let mut text = String::from("[");
    let show = |code: u32, text: &mut String| match char::from_u32(code) {
        Some(c @ ('-' | ']' | '\\' | '^' | '[')) => text.extend(['\\', c]),
        Some(c) if c == ' ' || c.is_ascii_graphic() => text.push(c),
        _ => text.push_str(&format!("\\u{{{code:x}}}")),
    };
    for &(low, high) in set {
        show(low, &mut text);
        if high > low {
            text.push('-');
            show(high, &mut text);
        }
    }
    text.push(']');
    text
}
