//! The tokens of a lexer with their patterns, from whatever file they were read: lex,
//! ANTLR or a token list. The importer of a parser looks up its tokens here.

use std::collections::HashMap;

use crate::ImportError;
use crate::text::{Source, severity_of};
use pleach_grammar::builder::Attributes;
use pleach_grammar::{
    Grammar, GrammarBuilder, Language, Lexing, Note, Pattern, Place, Regex, Separator, Severity,
    Symbol, Token,
};

/// The priority of keywords that a lexer looks up in a table. They win over the rule
/// that matches them, so rules have higher numbers.
pub(crate) const KEYWORD_PRIORITY: u32 = 0;

/// What the lexer returns for a token: a name or a character.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    Name(String),
    Char(u8),
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub key: Key,
    pub regex: Regex,
    /// The priority of the first rule that returns the token.
    pub priority: u32,
    pub place: Place,
    /// True if the only rule for it returns each byte of a set as itself.
    pub is_own_byte: bool,
}

#[derive(Default)]
pub(crate) struct Lexicon {
    pub entries: Vec<Entry>,
    index: HashMap<Key, usize>,
    pub separators: Vec<Separator>,
    /// True if some rule computes the token that it returns.
    pub computes_tokens: bool,
    pub notes: Vec<Note>,
    pub language: Language,
    /// True if the tokens of several lexer states were put together. Then only the
    /// parser knows which of the tokens that match is meant.
    pub merges_states: bool,
    /// The lexer ignores case everywhere.
    pub caseless: bool,
}

impl Lexicon {
    /// Adds a pattern of a token. A second pattern is an alternative to the first.
    pub fn add_token(&mut self, key: Key, regex: Regex, priority: u32, place: Place) {
        match self.index.get(&key) {
            Some(&at) => {
                let entry = &mut self.entries[at];
                entry.is_own_byte = false;
                if entry.regex != regex {
                    let old = std::mem::replace(&mut entry.regex, Regex::Empty);
                    entry.regex = Regex::alt([old, regex]);
                }
            }
            None => {
                self.index.insert(key.clone(), self.entries.len());
                let is_own_byte = false;
                self.entries.push(Entry { key, regex, priority, place, is_own_byte });
            }
        }
    }

    /// Adds a byte that is returned as itself, if no other rule returns it.
    pub fn add_own_byte(&mut self, byte: u8, priority: u32, place: &Place) {
        let key = Key::Char(byte);
        if !self.index.contains_key(&key) {
            self.add_token(key, Regex::byte(byte), priority, place.clone());
            if let Some(entry) = self.entries.last_mut() {
                entry.is_own_byte = true;
            }
        }
    }

    pub fn get(&self, key: &Key) -> Option<&Entry> {
        self.index.get(key).map(|at| &self.entries[*at])
    }

    pub fn add_separator(&mut self, name: String, pattern: Regex) {
        self.separators.push(Separator { name, pattern, required: false });
    }

    /// Notes how the tokens differ from the file at an offset.
    pub fn note(&mut self, source: &Source, at: usize, change: Language, text: impl Into<String>) {
        self.notes.push(source.note(at, severity_of(change), text));
        self.language = self.language.combine(change);
    }

    /// A grammar of any sequence of the tokens, for a lexer without a parser.
    pub fn into_grammar(self, place: Place) -> Result<Grammar, ImportError> {
        /// With more bytes that are returned as themselves, the rule is a catch-all such
        /// as `.`, and only the parser knows which of the bytes are tokens.
        const MAX_OWN_BYTES: usize = 128;
        let mut builder = GrammarBuilder::new();
        let mut choices = Vec::new();
        let own_bytes = self.entries.iter().filter(|entry| entry.is_own_byte);
        let has_catch_all = own_bytes.clone().count() > MAX_OWN_BYTES;
        for entry in &self.entries {
            if entry.is_own_byte && has_catch_all {
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
        if let Some(first) = own_bytes.clone().next().filter(|_| has_catch_all) {
            let text = "this rule returns every byte as itself; these tokens are ignored";
            builder.note(first.place.clone(), Severity::Warning, text);
            builder.language(Language::Smaller);
        }
        self.move_to(&mut builder);
        Ok(builder.finish()?)
    }

    /// Gives all but the tokens to a builder: separators, notes, changes of the
    /// language.
    pub fn move_to(self, builder: &mut GrammarBuilder) {
        for separator in self.separators {
            builder.separator(separator);
        }
        for note in self.notes {
            builder.note(note.place, note.severity, note.text);
        }
        builder.language(self.language);
        if self.merges_states {
            builder.lexing(Lexing::Context);
        }
    }
}

/// True for `.` and the like. If the parser does not use such a token, it is for error
/// messages only, and must not match a blank that a separator matches as well.
pub(crate) fn is_catch_all(regex: &Regex) -> bool {
    matches!(regex, Regex::Class(set) if set.len() > 200)
        || *regex == Regex::code_points([(0, 0x10_ffff)])
}

/// The name of a character token, as yacc files write it.
pub(crate) fn char_name(byte: u8) -> String {
    format!("'{}'", byte.escape_ascii())
}

/// A pattern: a literal if the expression is one.
pub(crate) fn pattern_of(regex: Regex) -> Pattern {
    match literal_of(&regex) {
        Some(text) => Pattern::Literal(text),
        None => Pattern::Regex(regex),
    }
}

/// The only text that an expression matches, if it is written out. Counted
/// repetitions are not: they can be very long.
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
