//! The parser: recursive descent over bytes.
//!
//! It accepts the published language and a little more: `fixsize` for `fix`, groups
//! and operators on anything in a `cfg`, and expressions on both sides of an `assert`,
//! where the published tool accepts names only.

use super::syntax::{Cfg, Name, NameId, Reg, Statement, Test, Val};
use crate::ImportError;
use crate::ccode;
use crate::text::{Cursor, MAX_NESTING};
use std::collections::HashMap;

/// The largest number in a file.
pub const MAX_NUMBER: u32 = 1_000_000_000;

/// Words that cannot be names.
const RESERVED: &[&str] = &[
    "var", "cfg", "reg", "val", "assert", "fix", "fixsize", "or", "concat", "star", "in",
    "contains", "equals", "not",
];

pub(super) struct Reader<'a> {
    cursor: Cursor<'a>,
    names: Vec<String>,
    ids: HashMap<&'a [u8], NameId>,
    depth: usize,
}

impl<'a> Reader<'a> {
    pub fn new(cursor: Cursor<'a>) -> Reader<'a> {
        Reader { cursor, names: Vec::new(), ids: HashMap::new(), depth: 0 }
    }

    /// All statements, and the texts of all names.
    pub fn statements(mut self) -> Result<(Vec<Statement>, Vec<String>), ImportError> {
        let mut statements = Vec::new();
        loop {
            self.blank()?;
            if self.cursor.at_end() {
                return Ok((statements, self.names));
            }
            statements.push(self.statement()?);
            self.expect(";", "at the end of the statement")?;
        }
    }

    fn statement(&mut self) -> Result<Statement, ImportError> {
        let start = self.cursor;
        let at = start.at as u32;
        match self.word()? {
            b"var" => {
                let name = self.name("after var")?;
                self.expect(":", "after the name")?;
                let low = self.number()?;
                let high = if self.eat("..")? { self.number()? } else { low };
                if high < low {
                    return Err(start.error("the largest size is below the smallest"));
                }
                Ok(Statement::Var { name, low, high })
            }
            b"cfg" => {
                let name = self.defined_name("after cfg")?;
                Ok(Statement::Cfg { name, body: self.cfg()? })
            }
            b"reg" => {
                let name = self.defined_name("after reg")?;
                Ok(Statement::Reg { name, body: self.reg()? })
            }
            b"val" => {
                let name = self.defined_name("after val")?;
                Ok(Statement::Val { name, body: self.val()? })
            }
            b"assert" => {
                let left = self.val()?;
                let not = self.eat_word("not")?;
                let test = if self.eat_word("in")? {
                    Test::In(self.reg()?)
                } else if self.eat_word("contains")? {
                    self.blank()?;
                    Test::Contains(self.text()?)
                } else if self.eat_word("equals")? {
                    Test::Equals(self.val()?)
                } else {
                    return Err(self.cursor.error("expected in, contains or equals"));
                };
                Ok(Statement::Assert { at, left, not, test })
            }
            b"" => Err(start.error("expected a statement")),
            word => {
                let word = String::from_utf8_lossy(word);
                Err(start.error(format!("HAMPI has no statement {word}")))
            }
        }
    }

    /// Alternatives, each a sequence.
    fn cfg(&mut self) -> Result<Cfg, ImportError> {
        let mut alternatives = Vec::new();
        loop {
            let mut parts = Vec::new();
            loop {
                self.blank()?;
                match self.cursor.peek() {
                    None | Some(b'|' | b';' | b')') => break,
                    Some(_) => parts.push(self.cfg_element()?),
                }
            }
            alternatives.push(match parts.len() {
                1 => parts.remove(0),
                _ => Cfg::Seq(parts),
            });
            if !self.eat("|")? {
                break;
            }
        }
        Ok(match alternatives.len() {
            1 => alternatives.remove(0),
            _ => Cfg::Alt(alternatives),
        })
    }

    fn cfg_element(&mut self) -> Result<Cfg, ImportError> {
        let open = self.cursor;
        let at = open.at as u32;
        let element = match self.cursor.peek() {
            Some(b'"' | b'\'' | b'\\') => Cfg::Text { text: self.text()?, at },
            Some(b'[') => {
                let (low, high) = self.range()?;
                Cfg::Range { low, high, at }
            }
            Some(b'(') => {
                self.cursor.at += 1;
                self.enter_group(open)?;
                let inner = self.cfg()?;
                self.depth -= 1;
                self.close(open)?;
                inner
            }
            _ => Cfg::Name(self.name("or a literal or a range")?),
        };
        self.blank()?;
        let wrap = match self.cursor.peek() {
            Some(b'?') => Cfg::Optional,
            Some(b'*') => Cfg::Star,
            Some(b'+') => Cfg::Plus,
            _ => return Ok(element),
        };
        self.cursor.at += 1;
        Ok(wrap(Box::new(element)))
    }

    fn reg(&mut self) -> Result<Reg, ImportError> {
        self.blank()?;
        let open = self.cursor;
        match self.cursor.peek() {
            Some(b'"' | b'\'' | b'\\') => return Ok(Reg::Text(self.text()?)),
            Some(b'[') => {
                let (low, high) = self.range()?;
                return Ok(Reg::Range { low, high });
            }
            _ => {}
        }
        match self.word()? {
            b"fix" | b"fixsize" => {
                self.expect("(", "after fix")?;
                let of = self.name("of a cfg")?;
                self.expect(",", "and a size")?;
                let size = self.number()?;
                self.close(open)?;
                Ok(Reg::Fix { of, size })
            }
            b"star" => {
                self.expect("(", "after star")?;
                self.enter_group(open)?;
                let inner = self.reg()?;
                self.depth -= 1;
                self.close(open)?;
                Ok(Reg::Star(Box::new(inner)))
            }
            b"or" => Ok(Reg::Or(self.list(open, Self::reg)?)),
            b"concat" => Ok(Reg::Concat(self.list(open, Self::reg)?)),
            _ => {
                self.cursor = open;
                Ok(Reg::Name(self.name("or a literal, a range or an operation")?))
            }
        }
    }

    fn val(&mut self) -> Result<Val, ImportError> {
        self.blank()?;
        let open = self.cursor;
        if matches!(self.cursor.peek(), Some(b'"' | b'\'' | b'\\')) {
            return Ok(Val::Text(self.text()?));
        }
        if self.word()? == b"concat" {
            return Ok(Val::Concat(self.list(open, Self::val)?));
        }
        self.cursor = open;
        let of = self.name("or a literal or concat")?;
        if !self.eat("[")? {
            return Ok(Val::Name(of));
        }
        let offset = self.number()?;
        self.expect(":", "between offset and length")?;
        let length = self.number()?;
        self.expect("]", "after the length")?;
        Ok(Val::Part { of, offset, length })
    }

    /// `( item, item, … )`
    fn list<T>(
        &mut self,
        open: Cursor,
        item: fn(&mut Self) -> Result<T, ImportError>,
    ) -> Result<Vec<T>, ImportError> {
        self.expect("(", "and a list")?;
        self.enter_group(open)?;
        let mut items = vec![item(self)?];
        while self.eat(",")? {
            items.push(item(self)?);
        }
        self.depth -= 1;
        self.close(open)?;
        Ok(items)
    }

    fn enter_group(&mut self, open: Cursor) -> Result<(), ImportError> {
        self.depth += 1;
        match self.depth > MAX_NESTING {
            false => Ok(()),
            true => Err(open.error(format!("groups are nested more than {MAX_NESTING} deep"))),
        }
    }

    fn close(&mut self, open: Cursor) -> Result<(), ImportError> {
        self.blank()?;
        if self.cursor.at_end() {
            return Err(open.error("this group is never closed"));
        }
        self.expect(")", "at the end of the group")
    }

    fn blank(&mut self) -> Result<(), ImportError> {
        loop {
            self.cursor.skip_space();
            let open = self.cursor;
            if !ccode::eat_plain_comment(&mut self.cursor) {
                return Ok(());
            }
            let text = &open.rest()[..self.cursor.at - open.at];
            if text.starts_with(b"/*") && (text.len() < 4 || !text.ends_with(b"*/")) {
                return Err(open.error("this comment is never closed"));
            }
        }
    }

    fn eat(&mut self, text: &str) -> Result<bool, ImportError> {
        self.blank()?;
        Ok(self.cursor.eat(text))
    }

    fn expect(&mut self, text: &str, when: &str) -> Result<(), ImportError> {
        match self.eat(text)? {
            true => Ok(()),
            false => Err(self.cursor.error(format!("expected {text} {when}"))),
        }
    }

    /// The next word; empty if there is none.
    fn word(&mut self) -> Result<&'a [u8], ImportError> {
        self.blank()?;
        Ok(self.cursor.eat_while(is_word_byte))
    }

    fn eat_word(&mut self, word: &str) -> Result<bool, ImportError> {
        self.blank()?;
        let before = self.cursor;
        let found = self.word()? == word.as_bytes();
        if !found {
            self.cursor = before;
        }
        Ok(found)
    }

    /// A name. Backquotes around it are part of the name. `context` is for the message.
    fn name(&mut self, context: &str) -> Result<Name, ImportError> {
        self.blank()?;
        let open = self.cursor;
        let quoted = self.cursor.eat("`");
        let word = self.cursor.eat_while(is_word_byte);
        if quoted && (word.is_empty() || !self.cursor.eat("`")) {
            return Err(open.error("this name is never closed"));
        }
        if word.is_empty() {
            return Err(open.error(format!("expected a name {context}")));
        }
        if !quoted && RESERVED.iter().any(|reserved| reserved.as_bytes() == word) {
            let word = String::from_utf8_lossy(word);
            return Err(open.error(format!("{word} is reserved and cannot be a name")));
        }
        let text = &open.rest()[..self.cursor.at - open.at];
        let names = &mut self.names;
        let id = *self.ids.entry(text).or_insert_with(|| {
            names.push(String::from_utf8_lossy(text).into_owned());
            NameId(names.len() as u32 - 1)
        });
        Ok(Name { id, at: open.at as u32 })
    }

    /// `name :=`
    fn defined_name(&mut self, context: &str) -> Result<Name, ImportError> {
        let name = self.name(context)?;
        self.expect(":=", "after the name")?;
        Ok(name)
    }

    fn number(&mut self) -> Result<u32, ImportError> {
        self.blank()?;
        let open = self.cursor;
        let digits = self.cursor.eat_while(|b| b.is_ascii_digit());
        if digits.is_empty() {
            return Err(open.error("expected a number"));
        }
        let step = |n: u32, digit: &u8| {
            n.checked_mul(10)?.checked_add(u32::from(digit - b'0')).filter(|&n| n <= MAX_NUMBER)
        };
        let number = digits.iter().try_fold(0, step);
        number.ok_or_else(|| open.error(format!("numbers must be at most {MAX_NUMBER}")))
    }

    fn range(&mut self) -> Result<(u8, u8), ImportError> {
        let open = self.cursor;
        self.cursor.at += 1;
        let low = self.character(open)?;
        self.expect("-", "in a range")?;
        let high = self.character(open)?;
        if !self.eat("]")? {
            return Err(open.error("this range is never closed"));
        }
        match low <= high {
            true => Ok((low, high)),
            false => Err(open.error("the end of this range is before its start")),
        }
    }

    /// `"…"`, `'x'`, or `\065\066` alone.
    fn text(&mut self) -> Result<Box<[u8]>, ImportError> {
        let open = self.cursor;
        let mut text = Vec::new();
        let quote = match self.cursor.peek() {
            Some(quote @ (b'"' | b'\'')) => quote,
            Some(b'\\') => {
                while self.cursor.peek() == Some(b'\\') {
                    text.push(self.escape(open)?);
                }
                return Ok(text.into());
            }
            _ => return Err(open.error("expected a literal")),
        };
        self.cursor.at += 1;
        loop {
            match self.cursor.peek() {
                None => return Err(open.error("this literal is never closed")),
                Some(b'\\') => text.push(self.escape(open)?),
                Some(byte) => {
                    self.cursor.at += 1;
                    if byte == quote {
                        return Ok(text.into());
                    }
                    text.push(byte);
                }
            }
        }
    }

    /// One character: in quotes of either kind, plain, or an escape.
    fn character(&mut self, open: Cursor) -> Result<u8, ImportError> {
        self.blank()?;
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
            _ => Err(open.error("expected a range such as ['a'-'z']")),
        }
    }

    /// `\ddd` in decimal, or a letter as in C. Any other character stands for itself.
    fn escape(&mut self, open: Cursor) -> Result<u8, ImportError> {
        self.cursor.at += 1;
        let rest = self.cursor.rest();
        let digits = rest.iter().take(3).take_while(|b| b.is_ascii_digit()).count();
        if digits == 3 {
            self.cursor.at += 3;
            let text = String::from_utf8_lossy(&rest[..3]);
            return text
                .parse()
                .map_err(|_| open.error(format!("\\{text} does not fit in a byte")));
        }
        match self.cursor.bump() {
            None => Err(open.error("the file ends inside an escape")),
            Some(b'b') => Ok(8),
            Some(b't') => Ok(b'\t'),
            Some(b'n') => Ok(b'\n'),
            Some(b'f') => Ok(12),
            Some(b'r') => Ok(b'\r'),
            Some(byte) => Ok(byte),
        }
    }
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')
}
