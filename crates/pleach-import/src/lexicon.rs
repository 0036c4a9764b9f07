//! What a lexer is known to match, whoever said so: a lex file or a side file.
//!
//! A parser's importer takes from it the pattern of each of its tokens.

use std::collections::HashMap;

use crate::ImportError;
use pleach_grammar::builder::Attributes;
use pleach_grammar::{
    Grammar, GrammarBuilder, Language, Lexing, Note, Pattern, Place, Regex, Separator, Severity,
    Symbol, Token,
};

/// A word that the lexer looks up behind a match wins over the rule that matched it;
/// rules come behind it.
pub(crate) const KEYWORD_PRIORITY: u32 = 0;

/// A token by the name or the character that the lexer returns for it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    Name(String),
    Char(u8),
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub key: Key,
    pub regex: Regex,
    /// Of the first rule that returns it.
    pub priority: u32,
    pub place: Place,
    /// Only because some rule returns every byte as itself.
    pub own: bool,
}

#[derive(Default)]
pub(crate) struct Lexicon {
    pub entries: Vec<Entry>,
    index: HashMap<Key, usize>,
    pub separators: Vec<Separator>,
    /// Patterns for which the lexer returns a token that nobody can tell.
    pub computed: Vec<(Regex, u32, Place)>,
    pub notes: Vec<Note>,
    pub language: Language,
    /// Tokens of one state of the lexer are taken in all: which of those that match is
    /// meant, only the parser can tell.
    pub merged: bool,
    /// The lexer ignores case everywhere.
    pub caseless: bool,
}

impl Lexicon {
    pub fn token(&mut self, key: Key, regex: Regex, priority: u32, place: Place) {
        match self.index.get(&key) {
            Some(&known) => {
                let known = &mut self.entries[known];
                known.own = false;
                if known.regex != regex {
                    let old = std::mem::replace(&mut known.regex, Regex::Empty);
                    known.regex = Regex::alt([old, regex]);
                }
            }
            None => {
                self.index.insert(key.clone(), self.entries.len());
                self.entries.push(Entry { key, regex, priority, place, own: false });
            }
        }
    }

    /// A byte that is returned as itself: no news if the byte is known already.
    pub fn own_char(&mut self, key: Key, regex: Regex, priority: u32, place: &Place) {
        if !self.index.contains_key(&key) {
            self.token(key, regex, priority, place.clone());
            if let Some(entry) = self.entries.last_mut() {
                entry.own = true;
            }
        }
    }

    pub fn get(&self, key: &Key) -> Option<&Entry> {
        self.index.get(key).map(|at| &self.entries[*at])
    }

    pub fn separator(&mut self, name: String, pattern: Regex) {
        self.separators.push(Separator { name, pattern, required: false });
    }

    /// A grammar of any sequence of the tokens, for a lexer without a parser.
    pub fn into_grammar(self, place: Place) -> Result<Grammar, ImportError> {
        let mut builder = GrammarBuilder::new();
        let mut choices = Vec::new();
        let own = self.entries.iter().filter(|entry| entry.own).count();
        for entry in &self.entries {
            // `.` returning itself stands for whatever the parser knows.
            if entry.own && own > 128 {
                continue;
            }
            let name = match &entry.key {
                Key::Name(name) => name.clone(),
                Key::Char(byte) => char_name(*byte),
            };
            let token = builder.token(Token {
                name,
                pattern: pattern_of(entry.regex.clone()),
                number: match entry.key {
                    Key::Char(byte) => Some(i64::from(byte)),
                    Key::Name(_) => None,
                },
                place: entry.place.clone(),
                precedence: None,
                priority: entry.priority,
            });
            choices.push(builder.symbol(Symbol::Token(token)));
        }
        let tokens = builder.choice(choices);
        let body = builder.star(tokens);
        let rule = builder.rule("tokens", place.clone());
        builder.production(rule, body, Attributes::at(place.clone()));
        if own > 128 {
            let text = "a rule returns every byte as itself; those tokens are left out";
            builder.note(place, Severity::Warning, text);
            builder.language(Language::Smaller);
        }
        self.hand_over(&mut builder);
        Ok(builder.finish()?)
    }

    /// Separators, notes and what became of the language.
    pub fn hand_over(self, builder: &mut GrammarBuilder) {
        for separator in self.separators {
            builder.separator(separator);
        }
        for note in self.notes {
            builder.note(note.place, note.severity, note.text);
        }
        builder.language(self.language);
        if self.merged {
            builder.lexing(Lexing::Context);
        }
    }
}

/// `.` and the like. Where no rule of the parser uses such a token it only names
/// errors, and must not take a blank from a separator of the same length.
pub(crate) fn catches_all(regex: &Regex) -> bool {
    matches!(regex, Regex::Class(set) if set.len() > 200)
        || *regex == Regex::code_points([(0, 0x10_ffff)])
}

/// A character token as yacc files write it.
pub(crate) fn char_name(byte: u8) -> String {
    format!("'{}'", byte.escape_ascii())
}

pub(crate) fn pattern_of(regex: Regex) -> Pattern {
    match literal_of(&regex) {
        Some(text) => Pattern::Literal(text),
        None => Pattern::Regex(regex),
    }
}

/// The one text that an expression matches, if it is written out: counted
/// repetitions stay expressions, for they can be very long.
pub(crate) fn literal_of(regex: &Regex) -> Option<Vec<u8>> {
    let byte = |regex: &Regex| match regex {
        Regex::Class(set) if set.len() == 1 => set.iter().next(),
        _ => None,
    };
    match regex {
        Regex::Concat(parts) => parts.iter().map(byte).collect(),
        other => byte(other).map(|byte| vec![byte]),
    }
}
