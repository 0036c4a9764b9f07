//! ABNF: RFC 5234 with the strings of RFC 7405.
//!
//! Numbers below 256 are bytes, because protocols are defined over bytes; larger
//! numbers are characters. Rule names and texts in quotes ignore case. The core rules
//! (ALPHA, DIGIT, CRLF …) are added if a file uses them and does not define them.

use super::{File, Input};
use crate::ImportError;
use crate::text::{Cursor, MAX_NESTING, Source, contains};
use crate::tree::{LAST_CHAR, Tree};
use pleach_grammar::{ByteSet, Grammar, Language, Lexing};

/// True for `=`, and numbers as ABNF has them (`%x41`), `=/`, or rules without an end
/// mark.
pub fn recognises(bytes: &[u8]) -> bool {
    let marks: [&[u8]; 3] = [b"%x", b"%d", b"=/"];
    // A comment of ABNF starts with the mark that ends a rule of ISO's.
    let has_end_marks = bytes.split(|b| *b == b'\n').any(|line| {
        let line = line.trim_ascii_end();
        line.ends_with(b";") || line.ends_with(b".") && line.contains(&b'=')
    });
    let is_abnf = marks.iter().any(|mark| contains(bytes, mark)) || !has_end_marks;
    contains(bytes, b"=") && is_abnf
}

pub fn import(input: &Input) -> Result<Grammar, ImportError> {
    super::import(input, parse, Lexing::Context)
}

fn parse(source: &Source) -> Result<File, ImportError> {
    let mut cursor = source.cursor();
    cursor.eat("\u{feff}");
    let mut parser = Parser { cursor, file: File::default(), depth: 0, names: Vec::new() };
    parser.rules()?;
    parser.add_core_rules();
    parser.file.directives.ignore_case();
    Ok(parser.file)
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    file: File,
    depth: usize,
    /// Names that rules refer to.
    names: Vec<(usize, String)>,
}

impl<'a> Parser<'a> {
    /// Steps over blanks, ends of lines and comments.
    fn blank(&mut self) {
        loop {
            self.cursor.skip_space();
            if self.cursor.peek() != Some(b';') {
                return;
            }
            let start = self.cursor.at + 1;
            self.cursor.eat_line();
            let comment = Cursor::between(self.cursor.source, start, self.cursor.at);
            self.file.directives.read_comment(comment);
        }
    }

    fn rules(&mut self) -> Result<(), ImportError> {
        loop {
            self.blank();
            if self.cursor.at_end() {
                return Ok(());
            }
            let Some((at, name, _)) = self.left_side() else {
                return Err(self.cursor.error("expected `name =`"));
            };
            let tree = self.alternatives()?;
            self.file.add(name.to_ascii_lowercase(), at, tree);
        }
    }

    /// Steps over `name =` or `name =/`.
    fn left_side(&mut self) -> Option<(usize, String, bool)> {
        let before = self.cursor;
        let at = before.at;
        let name = self.name();
        self.cursor.skip_space();
        match name {
            Some(name) if self.cursor.eat("=") => Some((at, name, self.cursor.eat("/"))),
            _ => {
                self.cursor = before;
                None
            }
        }
    }

    fn name(&mut self) -> Option<String> {
        // `<name>` is a name, too.
        let bracketed = self.cursor.eat("<");
        let starts = self.cursor.peek().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
        let name = self.cursor.eat_while(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        let closed = !bracketed || self.cursor.eat(">");
        (starts && closed).then(|| String::from_utf8_lossy(name).into_owned())
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
            if !self.cursor.eat("/") && !self.cursor.eat("|") {
                return Ok(Tree::alt(alternatives));
            }
        }
    }

    fn sequence(&mut self) -> Result<Tree, ImportError> {
        let mut parts = Vec::new();
        loop {
            self.blank();
            match self.cursor.peek() {
                None | Some(b'/' | b'|' | b')' | b']') => break,
                Some(_) if self.depth == 0 && self.at_rule() => break,
                Some(_) => parts.push(self.repetition()?),
            }
        }
        Ok(Tree::seq(parts))
    }

    /// `2*5x`, `*x`, `3x`, and lists `1#x`.
    fn repetition(&mut self) -> Result<Tree, ImportError> {
        let open = self.cursor;
        let low = self.count(open)?;
        let sign = self.cursor.peek().filter(|b| matches!(b, b'*' | b'#'));
        if sign.is_some() {
            self.cursor.at += 1;
        }
        let high = if sign.is_some() { self.count(open)? } else { low };
        if let (Some(low), Some(high)) = (low, high)
            && high < low
        {
            return Err(open.error("the maximum of this repetition is below its minimum"));
        }
        let element = self.element()?;
        Ok(match sign {
            Some(b'*') => Tree::repeat(element, low.unwrap_or(0), high),
            Some(_) => {
                let text =
                    "the grammar allows no white space around the commas of this list".to_owned();
                self.file.changes.push((open.at, Language::Smaller, text));
                list(element, low.unwrap_or(0), high, open.at)
            }
            None => match low {
                Some(times) => Tree::repeat(element, times, Some(times)),
                None => element,
            },
        })
    }

    fn count(&mut self, open: Cursor) -> Result<Option<u32>, ImportError> {
        let digits = self.cursor.eat_while(|b| b.is_ascii_digit());
        if digits.is_empty() {
            return Ok(None);
        }
        match String::from_utf8_lossy(digits).parse() {
            Ok(count) => Ok(Some(count)),
            Err(_) => Err(open.error("this count is too large")),
        }
    }

    fn element(&mut self) -> Result<Tree, ImportError> {
        self.cursor.eat_while(|b| b == b' ' || b == b'\t');
        let open = self.cursor;
        let at = open.at;
        match self.cursor.peek() {
            Some(b'"') => self.text(true),
            Some(b'%') => {
                self.cursor.at += 1;
                match self.cursor.bump().map(|b| b.to_ascii_lowercase()) {
                    Some(b's') => self.text(false),
                    Some(b'i') => self.text(true),
                    Some(b'x') => self.number(open, 16),
                    Some(b'd') => self.number(open, 10),
                    Some(b'b') => self.number(open, 2),
                    _ => Err(open.error("expected x, d, b, s or i after %")),
                }
            }
            Some(b'(') => self.group(b')'),
            Some(b'[') => Ok(Tree::repeat(self.group(b']')?, 0, Some(1))),
            _ => {
                if let Some(name) = self.name() {
                    let name = name.to_ascii_lowercase();
                    self.names.push((at, name.clone()));
                    return Ok(Tree::Name { name, at });
                }
                self.cursor = open;
                if self.cursor.eat("<") {
                    let prose = self.cursor.eat_while(|b| b != b'>' && b != b'\n');
                    let prose = String::from_utf8_lossy(prose);
                    let text = format!("the prose <{prose}> is treated as empty");
                    self.file.changes.push((at, Language::Unknown, text));
                    self.cursor.eat(">");
                    return Ok(Tree::Empty);
                }
                let mut look = open;
                let found =
                    look.bump_char().map_or("the end of the file".into(), |c| format!("\"{c}\""));
                Err(open.error(format!("unexpected {found} in a rule")))
            }
        }
    }

    fn group(&mut self, close: u8) -> Result<Tree, ImportError> {
        let open = self.cursor;
        self.cursor.at += 1;
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err(open.error(format!("groups are nested more than {MAX_NESTING} deep")));
        }
        let tree = self.alternatives()?;
        self.depth -= 1;
        if self.cursor.bump() != Some(close) {
            return Err(open.error("this group is never closed"));
        }
        Ok(tree)
    }

    fn text(&mut self, any_case: bool) -> Result<Tree, ImportError> {
        let open = self.cursor;
        if !self.cursor.eat("\"") {
            return Err(open.error("expected a text in quotes"));
        }
        let text = self.cursor.eat_while(|b| b != b'"' && b != b'\n').to_vec();
        if !self.cursor.eat("\"") {
            return Err(open.error("this literal is never closed"));
        }
        Ok(Tree::Literal { text, any_case, at: open.at })
    }

    /// `41`, `41-5A`, `0D.0A`, behind `%x`.
    fn number(&mut self, open: Cursor, radix: u32) -> Result<Tree, ImportError> {
        let first = self.code(open, radix)?;
        let at = open.at;
        if self.cursor.eat("-") {
            let last = self.code(open, radix)?;
            if last < first {
                return Err(open.error("the end of this range is before its start"));
            }
            return Ok(range(first, last, at));
        }
        let mut codes = vec![first];
        while self.cursor.peek() == Some(b'.') {
            self.cursor.at += 1;
            codes.push(self.code(open, radix)?);
        }
        let mut text = Vec::new();
        for code in codes {
            match u8::try_from(code) {
                Ok(byte) => text.push(byte),
                Err(_) => {
                    let c = char::from_u32(code)
                        .ok_or_else(|| open.error("there is no such character"))?;
                    text.extend(c.to_string().bytes());
                }
            }
        }
        Ok(Tree::Literal { text, any_case: false, at })
    }

    fn code(&mut self, open: Cursor, radix: u32) -> Result<u32, ImportError> {
        let digits = self.cursor.eat_while(|b| (b as char).is_digit(radix));
        let code = u32::from_str_radix(&String::from_utf8_lossy(digits), radix).ok();
        code.filter(|code| *code <= LAST_CHAR)
            .ok_or_else(|| open.error("expected the number of a character"))
    }

    /// Adds the core rules that are used and not defined.
    fn add_core_rules(&mut self) {
        let at = self.cursor.end;
        // Core rules refer to other core rules, so `names` grows in the loop.
        let mut next = 0;
        while next < self.names.len() {
            let name = self.names[next].1.clone();
            next += 1;
            if self.file.index.contains_key(&name) {
                continue;
            }
            if let Some(tree) = core_rule(&name, at) {
                tree.visit(&mut |tree| {
                    if let Tree::Name { name, at } = tree {
                        self.names.push((*at, name.clone()));
                    }
                });
                self.file.add(name, at, tree);
            }
        }
    }
}

/// A range of bytes if both ends are bytes, otherwise of characters.
fn range(first: u32, last: u32, at: usize) -> Tree {
    match (u8::try_from(first), u8::try_from(last)) {
        (Ok(first), Ok(last)) => Tree::Bytes { set: ByteSet::range(first, last), at },
        _ => Tree::Chars { set: vec![(first, last)], at },
    }
}

/// `1#x` of older RFCs: elements separated by commas.
fn list(element: Tree, min: u32, max: Option<u32>, at: usize) -> Tree {
    let comma = Tree::Literal { text: b",".to_vec(), any_case: false, at };
    let more = Tree::seq(vec![comma, element.clone()]);
    let rest = Tree::repeat(more, min.saturating_sub(1), max.map(|max| max.saturating_sub(1)));
    let some = Tree::seq(vec![element, rest]);
    if min == 0 { Tree::repeat(some, 0, Some(1)) } else { some }
}

/// The core rules of RFC 5234, appendix B.1.
fn core_rule(name: &str, at: usize) -> Option<Tree> {
    let set = |ranges: &[(u8, u8)]| {
        let sets = ranges.iter().map(|(low, high)| ByteSet::range(*low, *high));
        Tree::Bytes { set: sets.fold(ByteSet::EMPTY, |all, set| all.union(&set)), at }
    };
    let name_of = |name: &str| Tree::Name { name: name.into(), at };
    Some(match name {
        "alpha" => set(&[(b'A', b'Z'), (b'a', b'z')]),
        "bit" => set(&[(b'0', b'1')]),
        "char" => set(&[(1, 0x7f)]),
        "cr" => set(&[(13, 13)]),
        "crlf" => Tree::Literal { text: b"\r\n".to_vec(), any_case: false, at },
        "ctl" => set(&[(0, 0x1f), (0x7f, 0x7f)]),
        "digit" => set(&[(b'0', b'9')]),
        "dquote" => set(&[(b'"', b'"')]),
        // The RFC has "A" to "F" in quotes, and those ignore case.
        "hexdig" => set(&[(b'0', b'9'), (b'A', b'F'), (b'a', b'f')]),
        "htab" => set(&[(9, 9)]),
        "lf" => set(&[(10, 10)]),
        "lwsp" => {
            let folded = Tree::seq(vec![name_of("crlf"), name_of("wsp")]);
            Tree::repeat(Tree::alt(vec![name_of("wsp"), folded]), 0, None)
        }
        "octet" => set(&[(0, 255)]),
        "sp" => set(&[(b' ', b' ')]),
        "vchar" => set(&[(0x21, 0x7e)]),
        "wsp" => set(&[(b' ', b' '), (9, 9)]),
        _ => return None,
    })
}
