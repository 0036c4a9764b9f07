//! The `cfg` statements of HAMPI.
//!
//! `cfg E := "(" E ")" | E E | ["a"-"z"] | x?;` Texts, ranges of characters, names
//! with `?`, `*` and `+`, groups; decimal escapes `\ddd`. Other statements of a
//! file (`var`, `reg`, `val`, `assert`) are no grammar and are stepped over; the
//! first `cfg` is the start. Nothing stands between tokens.

use super::ImportError;
use super::ccode;
use super::text::{Cursor, MAX_NESTING, Source};
use super::tree::{Lowerer, Tree};
use crate::builder::Attributes;
use crate::{ByteSet, Grammar, Language, Lexing};

pub fn from_bytes(file: &str, bytes: &[u8]) -> Result<Grammar, ImportError> {
    let source = Source::text(file, bytes)?;
    let mut parser = Parser { cursor: source.cursor(), rules: Vec::new(), other: None, depth: 0 };
    parser.statements()?;
    let mut lowerer = Lowerer::new(&source);
    if let Some(at) = parser.other {
        lowerer.note(at, Language::Same, "statements other than cfg are no part of the grammar");
    }
    for (at, name, _) in &parser.rules {
        lowerer.builder.rule(name, source.place(*at));
    }
    for (at, name, tree) in &parser.rules {
        let body = lowerer.lower(tree)?;
        let place = source.place(*at);
        let rule = lowerer.builder.rule(name, place.clone());
        lowerer.builder.production(rule, body, Attributes::at(place));
    }
    Ok(Grammar { lexing: Lexing::Context, ..lowerer.builder.finish()? })
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    rules: Vec<(usize, String, Tree)>,
    /// The first statement of another kind.
    other: Option<usize>,
    depth: usize,
}

impl Parser<'_> {
    fn blank(&mut self) {
        loop {
            self.cursor.skip_space();
            if !ccode::eat_comment(&mut self.cursor) {
                return;
            }
        }
    }

    fn eat(&mut self, text: &str) -> bool {
        self.blank();
        self.cursor.eat(text)
    }

    fn name(&mut self) -> Option<(usize, String)> {
        self.blank();
        let at = self.cursor.at;
        let name = self.cursor.eat_while(|b| b.is_ascii_alphanumeric() || b == b'_');
        (!name.is_empty()).then(|| (at, String::from_utf8_lossy(name).into_owned()))
    }

    fn statements(&mut self) -> Result<(), ImportError> {
        loop {
            self.blank();
            if self.cursor.done() {
                return Ok(());
            }
            let Some((at, word)) = self.name() else {
                return Err(self.cursor.error("expected a statement"));
            };
            if word == "cfg" {
                let Some((at, name)) = self.name() else {
                    return Err(self.cursor.error("expected a name after cfg"));
                };
                if !self.eat(":=") {
                    return Err(self.cursor.error(format!("expected := after {name}")));
                }
                let tree = self.alternatives()?;
                if !self.eat(";") {
                    return Err(self.cursor.error("expected ; at the end of the statement"));
                }
                self.rules.push((at, name, tree));
            } else if matches!(word.as_str(), "var" | "reg" | "val" | "assert") {
                self.other.get_or_insert(at);
                while !matches!(self.cursor.peek(), None | Some(b';')) {
                    ccode::skip_lexeme(&mut self.cursor);
                }
                self.cursor.bump();
            } else {
                let message = format!("{word} is no statement of HAMPI");
                return Err(self.cursor.source.error(at, message));
            }
        }
    }

    fn alternatives(&mut self) -> Result<Tree, ImportError> {
        let mut alternatives = Vec::new();
        loop {
            let mut parts = Vec::new();
            loop {
                self.blank();
                match self.cursor.peek() {
                    None | Some(b'|' | b';' | b')') => break,
                    Some(_) => parts.push(self.element()?),
                }
            }
            alternatives.push(Tree::seq(parts));
            if !self.eat("|") {
                return Ok(Tree::alt(alternatives));
            }
        }
    }

    fn element(&mut self) -> Result<Tree, ImportError> {
        let open = self.cursor;
        let at = open.at;
        let tree = match self.cursor.peek() {
            Some(b'"' | b'\\') => Tree::Literal { text: self.text()?, any_case: false, at },
            Some(b'[') => {
                self.cursor.at += 1;
                let low = self.character(open)?;
                if !self.eat("-") {
                    return Err(self.cursor.error("expected - in a range"));
                }
                let high = self.character(open)?;
                if !self.eat("]") {
                    return Err(open.error("this range is never closed"));
                }
                if high < low {
                    return Err(open.error("this range ends before it begins"));
                }
                Tree::Bytes { set: ByteSet::range(low, high), at }
            }
            Some(b'(') => {
                self.cursor.at += 1;
                self.depth += 1;
                if self.depth > MAX_NESTING {
                    let message = format!("groups may nest {MAX_NESTING} deep and no deeper");
                    return Err(open.error(message));
                }
                let tree = self.alternatives()?;
                self.depth -= 1;
                if !self.eat(")") {
                    return Err(open.error("this group is never closed"));
                }
                tree
            }
            _ => match self.name() {
                Some((at, name)) => Tree::Name { name, at },
                None => return Err(open.error("expected a text, a range or a name")),
            },
        };
        self.blank();
        let (min, max) = match self.cursor.peek() {
            Some(b'?') => (0, Some(1)),
            Some(b'*') => (0, None),
            Some(b'+') => (1, None),
            _ => return Ok(tree),
        };
        self.cursor.at += 1;
        Ok(Tree::repeat(tree, min, max))
    }

    /// `"…"`, or `\065\066` alone.
    fn text(&mut self) -> Result<Vec<u8>, ImportError> {
        let open = self.cursor;
        let mut text = Vec::new();
        if !self.cursor.eat("\"") {
            while self.cursor.peek() == Some(b'\\') {
                text.push(self.escape(open)?);
            }
            return Ok(text);
        }
        loop {
            match self.cursor.peek() {
                None | Some(b'\n') => return Err(open.error("this literal is never closed")),
                Some(b'\\') => text.push(self.escape(open)?),
                Some(byte) => {
                    self.cursor.at += 1;
                    if byte == b'"' {
                        return Ok(text);
                    }
                    text.push(byte);
                }
            }
        }
    }

    /// One character in quotes of either kind, or an escape.
    fn character(&mut self, open: Cursor) -> Result<u8, ImportError> {
        self.blank();
        let quote = self.cursor.peek().filter(|b| matches!(b, b'"' | b'\''));
        if quote.is_some() {
            self.cursor.at += 1;
        }
        let byte = match self.cursor.peek() {
            Some(b'\\') => Some(self.escape(open)?),
            _ => self.cursor.bump(),
        };
        let closed = quote.is_none_or(|quote| self.cursor.bump() == Some(quote));
        match byte {
            Some(byte) if closed => Ok(byte),
            _ => Err(open.error("a range is written [\"a\"-\"z\"]")),
        }
    }

    /// `\ddd` in decimal; before anything else the backslash only protects.
    fn escape(&mut self, open: Cursor) -> Result<u8, ImportError> {
        self.cursor.at += 1;
        let rest = self.cursor.rest();
        let digits = rest.iter().take(3).take_while(|b| b.is_ascii_digit()).count();
        if digits == 3 {
            self.cursor.at += 3;
            let text = String::from_utf8_lossy(&rest[..3]);
            return text.parse().map_err(|_| open.error(format!("\\{text} is more than a byte")));
        }
        self.cursor.bump().ok_or_else(|| open.error("the file ends in an escape"))
    }
}
