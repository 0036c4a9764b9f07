//! EBNF of ISO 14977, and dialects close to it (Wirth's, Go's).
//!
//! The standard puts commas between the parts of a sequence, ends rules with `;`, and
//! allows blanks in names. Most files leave the commas out, so there a blank ends a
//! name. A file has blanks in names if some rule's name has several words.

use super::{File, Input};
use crate::ImportError;
use crate::text::{Cursor, MAX_NESTING, Source, contains};
use crate::tree::Tree;
use pleach_grammar::{Grammar, Language, Lexing};

/// True for any text with `=`: other formats are recognised before.
pub fn recognises(bytes: &[u8]) -> bool {
    contains(bytes, b"=")
}

pub fn import(input: &Input) -> Result<Grammar, ImportError> {
    super::import(input, parse, Lexing::Longest)
}

fn parse(source: &Source) -> Result<File, ImportError> {
    let mut cursor = source.cursor();
    cursor.eat("\u{feff}");
    let mut parser = Parser { cursor, file: File::default(), depth: 0, spaced_names: false };
    parser.spaced_names = parser.has_spaced_names();
    parser.rules()?;
    Ok(parser.file)
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    file: File,
    depth: usize,
    /// True if names may contain blanks.
    spaced_names: bool,
}

impl<'a> Parser<'a> {
    /// True if the name of some rule has several words.
    fn has_spaced_names(&mut self) -> bool {
        let before = self.cursor;
        let mut spaced = false;
        while !self.cursor.at_end() && !spaced {
            self.blank();
            let mut words = 0;
            while !self.cursor.eat_while(is_name_byte).is_empty() {
                words += 1;
                self.cursor.skip_space();
            }
            if self.cursor.peek() == Some(b'=') {
                spaced = words > 1;
            }
            // To the end of the rule; literals may contain a `;`.
            while let Some(byte) = self.cursor.bump() {
                match byte {
                    b'"' | b'\'' => {
                        self.cursor.eat_while(|b| b != byte && b != b'\n');
                        self.cursor.bump();
                    }
                    b';' => break,
                    _ => {}
                }
            }
        }
        self.cursor = before;
        self.file = File::default();
        spaced
    }

    fn blank(&mut self) {
        loop {
            self.cursor.skip_space();
            let block = self.cursor.starts_with("(*") || self.cursor.starts_with("/*");
            let line = self.cursor.starts_with("//")
                || self.cursor.peek() == Some(b'#') && self.cursor.at_line_start()
                || self.cursor.peek() == Some(b'@') && self.cursor.at_line_start();
            if block {
                let start = self.cursor.at + 2;
                self.skip_comment();
                let end = self.cursor.at.max(start);
                self.file.directives.read_comment(Cursor::between(self.cursor.source, start, end));
            } else if line {
                self.cursor.eat_while(|b| matches!(b, b'/' | b'#'));
                let start = self.cursor.at;
                self.cursor.eat_line();
                let comment = Cursor::between(self.cursor.source, start, self.cursor.at);
                self.file.directives.read_comment(comment);
            } else {
                return;
            }
        }
    }

    /// `(* … (* … *) *)`
    fn skip_comment(&mut self) {
        let c_like = self.cursor.starts_with("/*");
        let (open, close) = if c_like { ("\0", "*/") } else { ("(*", "*)") };
        self.cursor.at += 2;
        let mut depth = 1;
        while depth > 0 && !self.cursor.at_end() {
            if self.cursor.eat(open) {
                depth += 1;
            } else if self.cursor.eat(close) {
                depth -= 1;
            } else {
                self.cursor.at += 1;
            }
        }
    }

    fn rules(&mut self) -> Result<(), ImportError> {
        loop {
            self.blank();
            if self.cursor.at_end() {
                return Ok(());
            }
            let at = self.cursor.at;
            let Some(name) = self.name() else {
                return Err(self.cursor.error("expected the name of a rule"));
            };
            self.blank();
            let defined = ["::=", ":=", "=", ":", "→"].iter().any(|sign| self.cursor.eat(sign));
            if !defined {
                return Err(self.cursor.error(format!("expected = after {name}")));
            }
            let tree = self.alternatives()?;
            self.blank();
            let ended = self.cursor.eat(";") || self.cursor.eat(".");
            if !ended && !self.cursor.at_end() && !self.at_rule() {
                return Err(self.cursor.error("expected ; at the end of a rule"));
            }
            self.file.add(name, at, tree);
        }
    }

    fn at_rule(&mut self) -> bool {
        let mut look = self.cursor;
        look.eat("<");
        let name = look.eat_while(is_name_byte);
        look.eat(">");
        look.skip_space();
        let defined = look.starts_with("=") || look.starts_with(":");
        !name.is_empty() && defined
    }

    fn name(&mut self) -> Option<String> {
        if self.cursor.eat("<") {
            let name = self.cursor.eat_while(|b| b != b'>' && b != b'\n').to_vec();
            self.cursor.eat(">");
            return Some(String::from_utf8_lossy(&name).into_owned());
        }
        let mut words: Vec<&[u8]> = Vec::new();
        loop {
            let mut look = self.cursor;
            if !words.is_empty() {
                look.skip_space();
            }
            let word = look.eat_while(is_name_byte);
            if word.is_empty() || word[0] == b'-' {
                break;
            }
            self.cursor = look;
            words.push(word);
            if !self.spaced_names {
                break;
            }
        }
        (!words.is_empty()).then(|| String::from_utf8_lossy(&words.join(&b' ')).into_owned())
    }

    fn alternatives(&mut self) -> Result<Tree, ImportError> {
        let mut alternatives = Vec::new();
        loop {
            alternatives.push(self.sequence()?);
            self.blank();
            let more = ["||", "|", "!"].iter().any(|bar| self.cursor.eat(bar))
                || (self.cursor.peek() == Some(b'/')
                    && !matches!(self.cursor.peek_at(1), Some(b'/' | b'*' | b')'))
                    && self.cursor.eat("/"));
            if !more {
                return Ok(Tree::alt(alternatives));
            }
        }
    }

    fn sequence(&mut self) -> Result<Tree, ImportError> {
        let mut parts = Vec::new();
        loop {
            self.blank();
            match self.cursor.peek() {
                None | Some(b';' | b'|' | b'!' | b')' | b']' | b'}' | b'/' | b':') => break,
                Some(b'.') if !self.cursor.starts_with("..") => break,
                Some(b',') => self.cursor.at += 1,
                Some(_) if self.depth == 0 && !self.spaced_names && self.at_rule() => break,
                Some(_) => parts.push(self.term()?),
            }
        }
        Ok(Tree::seq(parts))
    }

    /// `3 * x - y`
    fn term(&mut self) -> Result<Tree, ImportError> {
        let before = self.cursor;
        let digits = self.cursor.eat_while(|b| b.is_ascii_digit());
        let mut tree = if digits.is_empty() {
            self.primary()?
        } else {
            let times: Option<u32> = String::from_utf8_lossy(digits).parse().ok();
            self.blank();
            let Some(times) = times.filter(|_| self.cursor.eat("*")) else {
                return Err(before.error("expected a count and *"));
            };
            self.blank();
            Tree::repeat(self.primary()?, times, Some(times))
        };
        let mut operators = 0;
        loop {
            tree = match self.cursor.peek() {
                Some(b'?') if !self.special_follows() => Tree::repeat(tree, 0, Some(1)),
                Some(b'*') if self.cursor.peek_at(1) != Some(b')') => Tree::repeat(tree, 0, None),
                Some(b'+') => Tree::repeat(tree, 1, None),
                _ => break,
            };
            self.cursor.at += 1;
            operators += 1;
            if operators + self.depth > MAX_NESTING {
                return Err(self.too_deep(before));
            }
        }
        let before_blank = self.cursor;
        self.blank();
        let at = self.cursor.at;
        for sign in ["…", "...", ".."] {
            if self.cursor.eat(sign) {
                self.blank();
                let high = self.primary()?;
                let message = "expected a range from a character to a later one";
                return range(&tree, &high)
                    .ok_or_else(|| self.cursor.source.error(at, message))
                    .map(|set| Tree::Chars { set: vec![set], at });
            }
        }
        if self.cursor.peek() == Some(b'-') {
            self.cursor.at += 1;
            self.blank();
            // `x -` excludes only the empty text.
            if matches!(self.cursor.peek(), None | Some(b';' | b'|' | b',' | b')' | b']' | b'}')) {
                return Ok(match tree {
                    Tree::Repeat { inner, min: 0, max: None, .. } => Tree::repeat(*inner, 1, None),
                    other => other,
                });
            }
            let without = Box::new(self.primary()?);
            return Ok(Tree::Minus { of: Box::new(tree), without, at });
        }
        self.cursor = before_blank;
        Ok(tree)
    }

    /// True for `? text ?` on one line; otherwise `?` is an operator.
    fn special_follows(&self) -> bool {
        let mut look = self.cursor;
        look.at += 1;
        let blank = matches!(look.peek(), Some(b' ' | b'\t'));
        look.eat_while(|b| b != b'?' && b != b'\n' && b != b';' && b != b'|');
        blank && look.peek() == Some(b'?')
    }

    fn too_deep(&self, at: Cursor) -> ImportError {
        at.error(format!("groups are nested more than {MAX_NESTING} deep"))
    }

    fn primary(&mut self) -> Result<Tree, ImportError> {
        let open = self.cursor;
        let at = open.at;
        match self.cursor.peek() {
            Some(quote @ (b'"' | b'\'' | b'`')) => {
                self.cursor.at += 1;
                let raw = self.cursor.eat_while(|b| b != quote && b != b'\n');
                let mut text = raw.to_vec();
                // `"\""`, in dialects with escapes.
                while ends_in_escape(&text, self.cursor.peek_at(1) == Some(quote))
                    && self.cursor.peek_at(1).is_some_and(|b| b != b'\n')
                    && self.cursor.rest()[1..]
                        .iter()
                        .take_while(|b| **b != b'\n')
                        .any(|b| *b == quote)
                {
                    text.pop();
                    text.push(quote);
                    self.cursor.at += 1;
                    text.extend(self.cursor.eat_while(|b| b != quote && b != b'\n'));
                }
                if self.cursor.bump() != Some(quote) {
                    return Err(open.error("this literal is never closed"));
                }
                Ok(Tree::Literal { text, any_case: false, at })
            }
            Some(b'(') if self.cursor.starts_with("(/") => {
                Ok(Tree::repeat(self.group(2, &["/)"])?, 0, Some(1)))
            }
            Some(b'(') if self.cursor.starts_with("(:") => {
                Ok(Tree::repeat(self.group(2, &[":)"])?, 0, None))
            }
            Some(b'(') => self.group(1, &[")"]),
            Some(b'[') => Ok(Tree::repeat(self.group(1, &["]"])?, 0, Some(1))),
            Some(b'{') => {
                let inner = self.group(1, &["}"])?;
                let min = u32::from(self.cursor.eat("-"));
                Ok(Tree::repeat(inner, min, None))
            }
            Some(b'?') => {
                self.cursor.at += 1;
                let text = self.cursor.eat_while(|b| b != b'?' && b != b'\n').to_vec();
                if !self.cursor.eat("?") {
                    return Err(open.error("this ? is never closed"));
                }
                Ok(self.special(at, &String::from_utf8_lossy(&text)))
            }
            _ => match self.name() {
                Some(name) => Ok(Tree::Name { name, at }),
                None => {
                    let mut look = open;
                    let found = look.bump_char().map_or(String::new(), |c| c.to_string());
                    Err(open.error(format!("unexpected \"{found}\" in a rule")))
                }
            },
        }
    }

    fn group(&mut self, skip: usize, close: &[&str]) -> Result<Tree, ImportError> {
        let open = self.cursor;
        self.cursor.at += skip;
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err(self.too_deep(open));
        }
        let tree = self.alternatives()?;
        self.depth -= 1;
        if close.iter().any(|close| self.cursor.eat(close)) {
            Ok(tree)
        } else {
            Err(open.error("this group is never closed"))
        }
    }

    /// `? … ?` describes characters in words. Only a few common phrases are known.
    fn special(&mut self, at: usize, words: &str) -> Tree {
        let words = words.trim();
        let set = match words.to_lowercase().as_str() {
            "any character" | "all characters" | "any unicode character" => vec![(0, 0x10_ffff)],
            "all visible characters" | "any visible character" => vec![(0x20, 0x7e)],
            "any ascii character" => vec![(0, 0x7f)],
            "white space" | "whitespace" | "white space characters" | "whitespace character" => {
                vec![(9, 13), (32, 32)]
            }
            "letter" | "any letter" => vec![(0x41, 0x5a), (0x61, 0x7a)],
            "digit" | "any digit" => vec![(0x30, 0x39)],
            "newline" | "line feed" | "end of line" => vec![(10, 10)],
            _ => {
                let text = format!("the meaning of ? {words} ? is unknown; it is treated as empty");
                self.file.changes.push((at, Language::Unknown, text));
                return Tree::Empty;
            }
        };
        Tree::Chars { set, at }
    }
}

/// True if the quote behind `text` is escaped: an odd number of backslashes is at the
/// end. A text of one backslash is just that, unless another quote follows.
fn ends_in_escape(text: &[u8], quote_follows: bool) -> bool {
    let slashes = text.iter().rev().take_while(|byte| **byte == b'\\').count();
    slashes % 2 == 1 && (text.len() > 1 || quote_follows)
}

fn range(low: &Tree, high: &Tree) -> Option<(u32, u32)> {
    let one = |tree: &Tree| match tree {
        Tree::Literal { text, .. } => {
            let text = std::str::from_utf8(text).ok()?;
            let mut chars = text.chars();
            chars.next().filter(|_| chars.next().is_none()).map(|c| c as u32)
        }
        _ => None,
    };
    let (low, high) = (one(low)?, one(high)?);
    (low <= high).then_some((low, high))
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-') || byte >= 0x80
}
