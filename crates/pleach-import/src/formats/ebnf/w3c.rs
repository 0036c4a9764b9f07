//! EBNF of the W3C (section 6 of the XML recommendation), and BNF.
//!
//! A rule has no end mark: it ends at the next `name ::=`.

use std::collections::HashSet;

use super::{File, Input};
use crate::ImportError;
use crate::text::{Cursor, MAX_NESTING, Source, contains};
use crate::tree::{LAST_CHAR, Ranges, Tree, complement};
use pleach_grammar::{Grammar, Lexing};

pub fn recognises(bytes: &[u8]) -> bool {
    contains(bytes, b"::=")
}

pub fn import(input: &Input) -> Result<Grammar, ImportError> {
    super::import(input, parse, Lexing::Longest)
}

fn parse(source: &Source) -> Result<File, ImportError> {
    let mut cursor = source.cursor();
    cursor.eat("\u{feff}");
    let names = rule_names(cursor);
    let mut parser = Parser { cursor, file: File::default(), names, depth: 0 };
    parser.rules()?;
    Ok(parser.file)
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    file: File,
    names: HashSet<&'a [u8]>,
    depth: usize,
}

/// All names before `::=`, to tell an optional `[name]` from a class.
fn rule_names(mut cursor: Cursor<'_>) -> HashSet<&[u8]> {
    let mut names = HashSet::new();
    while !cursor.at_end() {
        let line = cursor.eat_line();
        cursor.bump();
        if let Some(found) = line.windows(3).position(|w| w == b"::=") {
            let before = line[..found].trim_ascii_end();
            let start = before.iter().rposition(|b| !is_name_byte(*b)).map_or(0, |at| at + 1);
            names.insert(&before[start..]);
        }
    }
    names
}

impl<'a> Parser<'a> {
    fn blank(&mut self) {
        loop {
            self.cursor.skip_space();
            let line_start = self.cursor.at_line_start();
            if self.cursor.starts_with("/*") || self.cursor.starts_with("(*") {
                let close = if self.cursor.starts_with("/*") { "*/" } else { "*)" };
                let start = self.cursor.at + 2;
                self.cursor.skip_past(close);
                let end = self.cursor.at.max(start);
                self.file.directives.read_comment(Cursor::between(self.cursor.source, start, end));
            } else if line_start
                && (self.cursor.starts_with("//")
                    || self.cursor.peek() == Some(b'@')
                    || self.cursor.starts_with("--")
                    || self.cursor.peek() == Some(b'#') && self.cursor.peek_at(1) != Some(b'x'))
            {
                self.cursor.eat_while(|b| matches!(b, b'/' | b'#' | b'-'));
                let start = self.cursor.at;
                self.cursor.eat_line();
                let comment = Cursor::between(self.cursor.source, start, self.cursor.at);
                self.file.directives.read_comment(comment);
            } else {
                return;
            }
        }
    }

    fn rules(&mut self) -> Result<(), ImportError> {
        loop {
            self.blank();
            if self.cursor.at_end() {
                return Ok(());
            }
            let Some((at, name)) = self.left_side() else {
                return Err(self.cursor.error("expected `name ::=`"));
            };
            let tree = self.alternatives()?;
            self.file.add(name, at, tree);
        }
    }

    /// Steps over `[1] name ::=`, if that is next.
    fn left_side(&mut self) -> Option<(usize, String)> {
        let before = self.cursor;
        // The W3C numbers its rules.
        if self.cursor.eat("[") {
            let number = self.cursor.eat_while(|b| b.is_ascii_alphanumeric());
            if number.is_empty() || !self.cursor.eat("]") {
                self.cursor = before;
                return None;
            }
            self.cursor.skip_space();
        }
        let at = self.cursor.at;
        let name = self.symbol();
        self.cursor.skip_space();
        match name {
            Some(name) if self.cursor.eat("::=") => Some((at, name)),
            _ => {
                self.cursor = before;
                None
            }
        }
    }

    /// `name` or `<name>`
    fn symbol(&mut self) -> Option<String> {
        if self.cursor.eat("<") {
            let name = self.cursor.eat_while(|b| b != b'>' && b != b'\n' && b != b'<');
            let name = name.to_vec();
            return (self.cursor.eat(">") && !name.is_empty()).then(|| text(&name));
        }
        let name = self.cursor.eat_while(is_name_byte);
        (!name.is_empty()).then(|| text(name))
    }

    fn at_rule(&mut self) -> bool {
        let before = self.cursor;
        let found = self.left_side().is_some();
        self.cursor = before;
        found
    }

    fn alternatives(&mut self) -> Result<Tree, ImportError> {
        let mut alternatives = Vec::new();
        loop {
            alternatives.push(self.sequence()?);
            self.blank();
            if !self.cursor.eat("|") {
                return Ok(Tree::alt(alternatives));
            }
            self.cursor.eat("|");
        }
    }

    fn sequence(&mut self) -> Result<Tree, ImportError> {
        let mut parts = Vec::new();
        loop {
            self.blank();
            match self.cursor.peek() {
                None | Some(b'|' | b')' | b'}') => break,
                Some(b']') if self.depth > 0 => break,
                Some(b';' | b',') => {
                    self.cursor.at += 1;
                    continue;
                }
                Some(_) if self.depth == 0 && self.at_rule() => break,
                Some(_) => {}
            }
            if let Some(part) = self.element()? {
                parts.push(part);
            }
        }
        Ok(Tree::seq(parts))
    }

    fn element(&mut self) -> Result<Option<Tree>, ImportError> {
        let Some(mut tree) = self.primary()? else { return Ok(None) };
        let mut operators = 0;
        loop {
            tree = match self.cursor.peek() {
                Some(b'?') => Tree::repeat(tree, 0, Some(1)),
                Some(b'*') => Tree::repeat(tree, 0, None),
                Some(b'+') => Tree::repeat(tree, 1, None),
                _ => break,
            };
            self.cursor.at += 1;
            operators += 1;
            if operators + self.depth > MAX_NESTING {
                return Err(self.too_deep(self.cursor));
            }
        }
        // `A - B`, but not `--`.
        let before = self.cursor;
        self.blank();
        let at = self.cursor.at;
        if self.cursor.peek() == Some(b'-') && self.cursor.peek_at(1) != Some(b'-') {
            self.cursor.at += 1;
            self.blank();
            self.depth += 1;
            if self.depth > MAX_NESTING {
                return Err(self.too_deep(before));
            }
            let without = self.element()?;
            self.depth -= 1;
            if let Some(without) = without {
                let (of, without) = (Box::new(tree), Box::new(without));
                return Ok(Some(Tree::Minus { of, without, at }));
            }
        }
        self.cursor = before;
        Ok(Some(tree))
    }

    fn too_deep(&self, at: Cursor) -> ImportError {
        at.error(format!("groups are nested more than {MAX_NESTING} deep"))
    }

    fn primary(&mut self) -> Result<Option<Tree>, ImportError> {
        let open = self.cursor;
        let at = open.at;
        Ok(Some(match self.cursor.peek() {
            Some(quote @ (b'"' | b'\'')) => {
                self.cursor.at += 1;
                let text = self.cursor.eat_while(|b| b != quote && b != b'\n').to_vec();
                if self.cursor.bump() != Some(quote) {
                    return Err(open.error("this literal is never closed"));
                }
                Tree::Literal { text, any_case: false, at }
            }
            Some(b'#') if self.cursor.peek_at(1) == Some(b'x') => {
                let code = self.code(open)?;
                Tree::Chars { set: vec![(code, code)], at }
            }
            Some(b'[') => match self.bracket(open)? {
                Some(tree) => tree,
                None => return Ok(None),
            },
            Some(b'(') => self.group(open, b')')?,
            Some(b'{') => Tree::repeat(self.group(open, b'}')?, 0, None),
            _ => match self.symbol() {
                Some(name) if matches!(name.as_str(), "ε" | "epsilon" | "EPSILON") => Tree::Empty,
                Some(name) => Tree::Name { name, at },
                None => {
                    let mut look = open;
                    let found = look.bump_char().map_or(String::new(), |c| c.to_string());
                    return Err(open.error(format!("unexpected \"{found}\" in a rule")));
                }
            },
        }))
    }

    fn group(&mut self, open: Cursor<'a>, close: u8) -> Result<Tree, ImportError> {
        self.cursor.at += 1;
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err(self.too_deep(open));
        }
        let tree = self.alternatives()?;
        self.depth -= 1;
        if self.cursor.bump() != Some(close) {
            return Err(open.error("this group is never closed"));
        }
        Ok(tree)
    }

    /// A class, a remark (`[ wfc: … ]`, which is `None`), or an optional part.
    fn bracket(&mut self, open: Cursor<'a>) -> Result<Option<Tree>, ImportError> {
        let mut look = self.cursor;
        look.at += 1;
        let inside = look.eat_while(|b| b != b']' && b != b'\n');
        let trimmed = inside.trim_ascii();
        let remark =
            ["wfc:", "vc:", "WFC:", "VC:"].iter().any(|w| trimmed.starts_with(w.as_bytes()));
        if remark {
            self.cursor.skip_past("]");
            return Ok(None);
        }
        let optional =
            inside.first().is_some_and(|b| b" \t<\"'(".contains(b)) || self.names.contains(trimmed);
        if optional && inside.len() > 1 || inside.is_empty() && look.peek() == Some(b'\n') {
            return Ok(Some(Tree::repeat(self.group(open, b']')?, 0, Some(1))));
        }
        self.cursor.at += 1;
        let negated = self.cursor.eat("^");
        let mut set: Ranges = Vec::new();
        let mut first = true;
        loop {
            if self.cursor.peek() == Some(b']') && !first {
                self.cursor.at += 1;
                break;
            }
            first = false;
            let low = self.member(open)?;
            let range = self.cursor.peek() == Some(b'-')
                && !matches!(self.cursor.peek_at(1), Some(b']') | None);
            let high = if range {
                self.cursor.at += 1;
                self.member(open)?
            } else {
                low
            };
            if high < low {
                return Err(open.error("a range in this class has its end before its start"));
            }
            set.push((low, high));
        }
        let set = if negated { complement(&set) } else { set };
        Ok(Some(Tree::Chars { set, at: open.at }))
    }

    fn member(&mut self, open: Cursor) -> Result<u32, ImportError> {
        if self.cursor.starts_with("#x") {
            return self.code(open);
        }
        match self.cursor.bump_char() {
            None | Some('\n') => Err(open.error("this class is never closed")),
            Some(c) => Ok(c as u32),
        }
    }

    /// `#x20`
    fn code(&mut self, open: Cursor) -> Result<u32, ImportError> {
        self.cursor.at += 2;
        let digits = self.cursor.eat_while(|b| b.is_ascii_hexdigit());
        let code = u32::from_str_radix(&text(digits), 16).ok();
        match code.filter(|code| *code <= LAST_CHAR) {
            Some(code) => Ok(code),
            None => Err(open.error("expected #x and the number of a character")),
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-') || byte >= 0x80
}
