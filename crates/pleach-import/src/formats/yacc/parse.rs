//! The declarations and rules of a yacc file.

use std::collections::HashMap;

use super::lexeme::{Lexeme, Lexer};
use crate::ImportError;
use crate::text::Source;
use pleach_grammar::{Assoc, Language, Note, Precedence, Severity};

/// How a rule names a symbol.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    Name(String),
    Char(Vec<u8>),
    Str(Vec<u8>),
}

#[derive(Clone, Debug)]
pub struct Declared {
    pub key: Key,
    /// The offset, by which bison orders tokens to number them.
    pub at: usize,
    pub number: Option<i64>,
    pub alias: Option<Vec<u8>>,
    /// True if `%token` declares it.
    declared: bool,
    /// True if the token has a value. Then it has more than one text.
    pub typed: bool,
    pub precedence: Option<Precedence>,
}

#[derive(Clone, Debug)]
pub struct Alternative {
    pub lhs: String,
    pub at: usize,
    pub symbols: Vec<(usize, Key)>,
    /// The token behind `%prec`.
    pub prec: Option<(usize, Key)>,
}

/// A parsed yacc file.
#[derive(Default)]
pub struct File {
    pub tokens: Vec<Declared>,
    pub alternatives: Vec<Alternative>,
    /// The name of each rule, and the offset of its first definition.
    pub rules: Vec<(String, usize)>,
    pub start: Option<(usize, String)>,
    pub notes: Vec<Note>,
    pub language: Language,
    /// What C has before the names of tokens (`api.token.prefix`).
    pub prefix: String,
    /// True if characters are not their own numbers (`api.token.raw`).
    pub raw: bool,
    token_index: HashMap<Key, usize>,
    rule_index: HashMap<String, usize>,
    aliases: HashMap<Vec<u8>, usize>,
}

impl File {
    pub fn token(&self, key: &Key) -> Option<usize> {
        match key {
            Key::Str(text) => self.aliases.get(text).or_else(|| self.token_index.get(key)),
            _ => self.token_index.get(key),
        }
        .copied()
    }

    pub fn is_rule(&self, name: &str) -> bool {
        self.rule_index.contains_key(name)
    }

    fn declare(&mut self, at: usize, key: Key) -> usize {
        if let Some(token) = self.token(&key) {
            return token;
        }
        // A character is its own number.
        let number = match &key {
            Key::Char(bytes) if bytes.len() == 1 => Some(i64::from(bytes[0])),
            _ => None,
        };
        self.token_index.insert(key.clone(), self.tokens.len());
        self.tokens.push(Declared {
            key,
            at,
            number,
            alias: None,
            declared: false,
            typed: false,
            precedence: None,
        });
        self.tokens.len() - 1
    }
}

pub fn parse(source: &Source) -> Result<File, ImportError> {
    let mut parser = Parser {
        source,
        lexer: Lexer::new(source),
        ahead: None,
        file: File::default(),
        level: 0,
        conditions: Vec::new(),
    };
    parser.declarations()?;
    parser.rules()?;
    if let Some((at, _)) = parser.conditions.first() {
        return Err(source.error(*at, "this #if has no #endif"));
    }
    if parser.file.alternatives.is_empty() {
        let message = match parser.file.rules.first() {
            Some(_) => "this file has alternatives for error recovery only",
            None => "this file has no rules",
        };
        return Err(source.error(source.bytes.len(), message));
    }
    Ok(parser.file)
}

struct Parser<'a> {
    source: &'a Source<'a>,
    lexer: Lexer<'a>,
    /// The lexeme that `peek` returned. No lexeme is read early: what follows the rules
    /// is C.
    ahead: Option<(usize, Lexeme)>,
    file: File,
    /// The precedence level of the last declaration.
    level: u32,
    /// Open `#if` lines: the offset of each, and true if what follows is skipped.
    conditions: Vec<(usize, bool)>,
}

impl<'a> Parser<'a> {
    fn peek(&mut self) -> Result<&(usize, Lexeme), ImportError> {
        if self.ahead.is_none() {
            self.ahead = Some(self.read()?);
        }
        Ok(self.ahead.get_or_insert((0, Lexeme::End)))
    }

    fn next(&mut self) -> Result<(usize, Lexeme), ImportError> {
        match self.ahead.take() {
            Some(lexeme) => Ok(lexeme),
            None => self.read(),
        }
    }

    /// Reads the next lexeme that belongs to the grammar.
    fn read(&mut self) -> Result<(usize, Lexeme), ImportError> {
        loop {
            let (at, lexeme) = self.lexer.next()?;
            match lexeme {
                Lexeme::Conditional(line) => self.conditional(at, &line),
                Lexeme::End => return Ok((at, lexeme)),
                _ if self.is_skipping() => {}
                Lexeme::Marker(name) => {
                    let text = format!("@{name}@ is ignored: a configure script would replace it");
                    self.note(at, Severity::Warning, text);
                }
                _ => return Ok((at, lexeme)),
            }
        }
    }

    fn note(&mut self, at: usize, severity: Severity, text: impl Into<String>) {
        self.file.notes.push(self.source.note(at, severity, text));
    }

    fn is_skipping(&self) -> bool {
        self.conditions.iter().any(|(_, skips)| *skips)
    }

    /// Conditions of the preprocessor are not evaluated: both branches of `#if` are
    /// read, except under `#if 0`.
    fn conditional(&mut self, at: usize, line: &str) {
        let words: Vec<&str> =
            line.trim_start_matches(['#', ' ', '\t']).split_whitespace().collect();
        match words.first().copied().unwrap_or_default() {
            "if" | "ifdef" | "ifndef" => {
                let is_never = words[..] == ["if", "0"];
                self.conditions.push((at, is_never));
                if !is_never {
                    self.file.language = self.file.language.combine(Language::Larger);
                    self.note(at, Severity::Warning, "both branches of this #if are read");
                }
            }
            "else" | "elif" => {
                if let Some((_, skips)) = self.conditions.last_mut() {
                    *skips = false;
                }
            }
            "endif" => drop(self.conditions.pop()),
            "line" => {}
            _ => self.note(at, Severity::Warning, "this preprocessor line is ignored"),
        }
    }

    fn declarations(&mut self) -> Result<(), ImportError> {
        loop {
            match self.next()? {
                (_, Lexeme::Section) => return Ok(()),
                (at, Lexeme::Directive(name)) => self.declaration(at, &name)?,
                (_, Lexeme::Code | Lexeme::Semicolon | Lexeme::Tag | Lexeme::Other(b',')) => {}
                (at, Lexeme::End) => {
                    return Err(self
                        .source
                        .error(at, "the file has no %%, behind which rules begin"));
                }
                (at, other) => {
                    let message = format!("expected a declaration, found {}", show(&other));
                    return Err(self.source.error(at, message));
                }
            }
        }
    }

    fn declaration(&mut self, at: usize, name: &str) -> Result<(), ImportError> {
        let assoc = match name {
            "token" | "term" => None,
            "left" => Some(Assoc::Left),
            "right" => Some(Assoc::Right),
            "nonassoc" | "binary" => Some(Assoc::None),
            "precedence" => Some(Assoc::Precedence),
            "start" => {
                if let (at, Lexeme::Name(rule)) = self.peek()?.clone() {
                    self.next()?;
                    self.file.start.get_or_insert((at, rule));
                }
                return self.skip_arguments();
            }
            "define" => {
                if self.peek()?.1 == Lexeme::Name("api.token.prefix".into()) {
                    self.next()?;
                    if let (at, Lexeme::Code) = self.peek()?.clone() {
                        let text = String::from_utf8_lossy(&self.source.bytes[at..]);
                        let inside = text.split(['{', '}']).nth(1).unwrap_or_default();
                        self.file.prefix = inside.trim().to_owned();
                    }
                }
                self.file.raw |= self.peek()?.1 == Lexeme::Name("api.token.raw".into());
                return self.skip_arguments();
            }
            _ => {
                if !IRRELEVANT.contains(&name) {
                    let text = format!("the unknown directive %{name} is ignored");
                    self.note(at, Severity::Info, text);
                }
                return self.skip_arguments();
            }
        };
        let precedence = assoc.map(|assoc| {
            self.level += 1;
            Precedence { level: self.level, assoc }
        });
        self.token_list(precedence)
    }

    fn token_list(&mut self, precedence: Option<Precedence>) -> Result<(), ImportError> {
        let mut last: Option<usize> = None;
        let mut typed = false;
        loop {
            match self.peek()?.clone() {
                (at, Lexeme::Name(name)) => {
                    last = Some(self.declare(at, Key::Name(name), precedence, typed));
                }
                (at, Lexeme::Char(char)) => {
                    last = Some(self.declare(at, Key::Char(char), precedence, typed));
                }
                // Behind a name in %token a string is an alias; in %left it is a token.
                (at, Lexeme::Str(text)) => match last {
                    Some(token) if precedence.is_none() => {
                        self.file.aliases.entry(text.clone()).or_insert(token);
                        self.file.tokens[token].alias = Some(text);
                    }
                    _ => last = Some(self.declare(at, Key::Str(text), precedence, typed)),
                },
                (at, Lexeme::Number(number)) => match last {
                    Some(token) => self.file.tokens[token].number = Some(number),
                    None => {
                        return Err(self.source.error(at, "expected a token before this number"));
                    }
                },
                (_, Lexeme::Tag) => typed = true,
                (_, Lexeme::Other(b',')) => {}
                _ => return Ok(()),
            }
            self.next()?;
        }
    }

    /// Declares a token of a list.
    fn declare(
        &mut self,
        at: usize,
        key: Key,
        precedence: Option<Precedence>,
        typed: bool,
    ) -> usize {
        let token = self.file.declare(at, key);
        self.file.tokens[token].typed |= typed;
        match precedence {
            Some(_) => self.file.tokens[token].precedence = precedence,
            // Bison numbers a token where %token declares it, not at an earlier use.
            None if self.file.tokens[token].declared => {}
            None => {
                self.file.tokens[token].declared = true;
                self.file.tokens[token].at = at;
            }
        }
        token
    }

    fn skip_arguments(&mut self) -> Result<(), ImportError> {
        loop {
            match &self.peek()?.1 {
                Lexeme::Name(_) | Lexeme::Char(_) | Lexeme::Str(_) | Lexeme::Number(_) => {}
                Lexeme::Tag | Lexeme::Code | Lexeme::Other(_) | Lexeme::Reference => {}
                _ => return Ok(()),
            }
            self.next()?;
        }
    }

    fn rules(&mut self) -> Result<(), ImportError> {
        // The last rule: `| alternative` may continue it behind its semicolon.
        let mut last: Option<String> = None;
        loop {
            match self.next()? {
                (_, Lexeme::End | Lexeme::Section) => return Ok(()),
                (_, Lexeme::Semicolon | Lexeme::Code) => {}
                (at, Lexeme::Bar) if let Some(name) = &last => self.rule(at, name.clone())?,
                (at, Lexeme::Directive(name)) => {
                    last = None;
                    self.declaration(at, &name)?;
                }
                (at, Lexeme::Name(name)) => {
                    if self.peek()?.1 == Lexeme::Reference {
                        self.next()?;
                    }
                    self.skip_inherited()?;
                    match self.next()? {
                        (_, Lexeme::Colon) => {
                            last = Some(name.clone());
                            self.rule(at, name)?;
                        }
                        (at, other) => {
                            let message =
                                format!("expected : after {name}, found {}", show(&other));
                            return Err(self.source.error(at, message));
                        }
                    }
                }
                (at, other) => {
                    let message = format!("expected a rule, found {}", show(&other));
                    return Err(self.source.error(at, message));
                }
            }
        }
    }

    fn rule(&mut self, at: usize, name: String) -> Result<(), ImportError> {
        if !self.file.is_rule(&name) {
            self.file.rule_index.insert(name.clone(), self.file.rules.len());
            self.file.rules.push((name.clone(), at));
        }
        loop {
            let more = self.alternative(&name)?;
            if !more {
                return Ok(());
            }
        }
    }

    /// One alternative; true when another follows.
    fn alternative(&mut self, lhs: &str) -> Result<bool, ImportError> {
        let at = self.peek()?.0;
        let mut found = Alternative { lhs: lhs.into(), at, symbols: Vec::new(), prec: None };
        let mut recovers = None;
        let more = loop {
            let (at, lexeme) = self.peek()?.clone();
            match lexeme {
                Lexeme::Name(name) if name == "error" => recovers = Some(at),
                Lexeme::Name(name) => {
                    if self.starts_rule()? {
                        break false;
                    }
                    found.symbols.push((at, Key::Name(name)));
                    self.next()?;
                    self.skip_inherited()?;
                    continue;
                }
                Lexeme::Char(char) => {
                    self.file.declare(at, Key::Char(char.clone()));
                    found.symbols.push((at, Key::Char(char)));
                }
                Lexeme::Str(text) => {
                    self.file.declare(at, Key::Str(text.clone()));
                    found.symbols.push((at, Key::Str(text)));
                }
                Lexeme::Directive(name) => match name.as_str() {
                    "prec" => {
                        self.next()?;
                        found.prec = match self.peek()?.clone() {
                            (at, Lexeme::Name(name)) => Some((at, Key::Name(name))),
                            (at, Lexeme::Char(char)) => Some((at, Key::Char(char))),
                            (at, Lexeme::Str(text)) => Some((at, Key::Str(text))),
                            (at, other) => {
                                let message =
                                    format!("expected a token after %prec, found {}", show(&other));
                                return Err(self.source.error(at, message));
                            }
                        };
                    }
                    "empty" => {}
                    // Each has one argument, which is not a symbol of the rule.
                    "dprec" | "merge" | "expect" | "expect-rr" => drop(self.next()?),
                    _ => break false,
                },
                Lexeme::Code | Lexeme::Reference | Lexeme::Tag => {}
                Lexeme::Other(b'=') => {}
                Lexeme::Bar => {
                    self.next()?;
                    break true;
                }
                Lexeme::Semicolon => {
                    self.next()?;
                    break false;
                }
                Lexeme::Section | Lexeme::End => break false,
                other => {
                    let message = format!("unexpected {} in a rule", show(&other));
                    return Err(self.source.error(at, message));
                }
            }
            self.next()?;
        };
        match recovers {
            // The parser uses it only after a syntax error.
            Some(at) => {
                self.note(at, Severity::Info, "the alternative for error recovery is ignored")
            }
            None => self.file.alternatives.push(found),
        }
        Ok(more)
    }

    /// Skips `($$, $1)` behind a name, which in btyacc are inherited attributes.
    fn skip_inherited(&mut self) -> Result<(), ImportError> {
        if self.peek()?.1 != Lexeme::Other(b'(') {
            return Ok(());
        }
        let open = self.peek()?.0;
        let mut depth = 0;
        loop {
            match self.next()?.1 {
                Lexeme::Other(b'(') => depth += 1,
                Lexeme::Other(b')') => depth -= 1,
                Lexeme::End => return Err(self.source.error(open, "this ( is never closed")),
                _ => {}
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// True if the next name is the left side of a rule. The semicolon before it may be
    /// missing.
    fn starts_rule(&mut self) -> Result<bool, ImportError> {
        let mut look = self.lexer;
        let mut next = look.next()?.1;
        if next == Lexeme::Reference {
            next = look.next()?.1;
        }
        if next == Lexeme::Other(b'(') {
            // A colon behind the closing bracket shows a left side.
            while !matches!(next, Lexeme::Other(b')') | Lexeme::Colon | Lexeme::Bar | Lexeme::End) {
                next = look.next()?.1;
            }
            next = look.next()?.1;
        }
        Ok(next == Lexeme::Colon)
    }
}

/// Directives that do not change the language.
const IRRELEVANT: &[&str] = &[
    "code",
    "debug",
    "default-prec",
    "define",
    "defines",
    "destructor",
    "error-verbose",
    "expect",
    "expect-rr",
    "file-prefix",
    "fixed-output-files",
    "glr-parser",
    "header",
    "ident",
    "initial-action",
    "language",
    "lex-param",
    "locations",
    "name-prefix",
    "no-default-prec",
    "no-lines",
    "nterm",
    "output",
    "param",
    "parse-param",
    "printer",
    "pure-parser",
    "require",
    "skeleton",
    "token-table",
    "type",
    "union",
    "verbose",
    "yacc",
];

fn show(lexeme: &Lexeme) -> String {
    match lexeme {
        Lexeme::Directive(name) => format!("%{name}"),
        Lexeme::Name(name) => name.clone(),
        Lexeme::Char(bytes) => format!("'{}'", crate::text::show(bytes)),
        Lexeme::Str(bytes) => format!("\"{}\"", crate::text::show(bytes)),
        Lexeme::Number(number) => number.to_string(),
        Lexeme::Tag => "<…>".into(),
        Lexeme::Code => "{…}".into(),
        Lexeme::Reference => "[…]".into(),
        Lexeme::Section => "%%".into(),
        Lexeme::Colon => ":".into(),
        Lexeme::Bar => "|".into(),
        Lexeme::Semicolon => ";".into(),
        Lexeme::Marker(name) => format!("@{name}@"),
        Lexeme::Conditional(line) => line.clone(),
        Lexeme::Other(byte) => crate::text::show(&[*byte]),
        Lexeme::End => "the end of the file".into(),
    }
}
