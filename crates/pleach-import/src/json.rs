//! JSON for the two formats that use it. Every value knows its offset, because
//! messages name the line. Members keep their order, because the first rule is the
//! start.

use crate::ImportError;
use crate::text::{Cursor, MAX_NESTING, Source};

/// One level of a grammar is two levels of JSON: an object in an array.
const MAX_DEPTH: usize = 2 * MAX_NESTING + 8;

#[derive(Clone, Debug)]
pub(crate) struct Json {
    pub at: usize,
    pub value: Value,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Null,
    Bool,
    Number(f64),
    String(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub fn parse(source: &Source) -> Result<Json, ImportError> {
        let mut reader = Reader { cursor: source.cursor(), depth: 0 };
        reader.cursor.eat("\u{feff}");
        let value = reader.value()?;
        reader.cursor.skip_space();
        if !reader.cursor.at_end() {
            return Err(reader.cursor.error("unexpected text after the JSON value"));
        }
        Ok(value)
    }

    /// The member of this name.
    pub fn get(&self, name: &str) -> Option<&Json> {
        match &self.value {
            Value::Object(members) => {
                members.iter().find(|(member, _)| member == name).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    pub fn string(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    pub fn array(&self) -> Option<&[Json]> {
        match &self.value {
            Value::Array(items) => Some(items),
            _ => None,
        }
    }

    pub fn object(&self) -> Option<&[(String, Json)]> {
        match &self.value {
            Value::Object(members) => Some(members),
            _ => None,
        }
    }
}

/// True if a text starts as a JSON object does.
pub(crate) fn is_object(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    bytes.trim_ascii_start().starts_with(b"{")
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    depth: usize,
}

impl Reader<'_> {
    fn value(&mut self) -> Result<Json, ImportError> {
        self.cursor.skip_space();
        let open = self.cursor;
        let value = match self.cursor.peek() {
            Some(b'{') => self.object()?,
            Some(b'[') => self.array()?,
            Some(b'"') => Value::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => {
                let digits =
                    self.cursor.eat_while(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
                let text = String::from_utf8_lossy(digits);
                let number =
                    text.parse().map_err(|_| open.error(format!("{text} is not a number")))?;
                Value::Number(number)
            }
            _ if self.cursor.eat("null") => Value::Null,
            _ if self.cursor.eat("true") || self.cursor.eat("false") => Value::Bool,
            _ => return Err(open.error("expected a JSON value")),
        };
        Ok(Json { at: open.at, value })
    }

    /// Steps into an object or array.
    fn enter(&mut self) -> Result<(), ImportError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("values are nested more than {MAX_DEPTH} deep");
            return Err(self.cursor.error(message));
        }
        self.cursor.at += 1;
        self.cursor.skip_space();
        Ok(())
    }

    /// After an item: true if another follows. Otherwise steps over the closing byte.
    fn more(&mut self, close: u8) -> Result<bool, ImportError> {
        self.cursor.skip_space();
        match self.cursor.peek() {
            Some(b',') => {
                self.cursor.at += 1;
                self.cursor.skip_space();
                Ok(true)
            }
            Some(byte) if byte == close => {
                self.cursor.at += 1;
                self.depth -= 1;
                Ok(false)
            }
            _ => Err(self.cursor.error(format!("expected , or {}", char::from(close)))),
        }
    }

    fn array(&mut self) -> Result<Value, ImportError> {
        self.enter()?;
        let mut items = Vec::new();
        if self.cursor.peek() == Some(b']') {
            self.more(b']')?;
            return Ok(Value::Array(items));
        }
        loop {
            items.push(self.value()?);
            if !self.more(b']')? {
                return Ok(Value::Array(items));
            }
        }
    }

    fn object(&mut self) -> Result<Value, ImportError> {
        self.enter()?;
        let mut members = Vec::new();
        if self.cursor.peek() == Some(b'}') {
            self.more(b'}')?;
            return Ok(Value::Object(members));
        }
        loop {
            let name = self.string()?;
            self.cursor.skip_space();
            if !self.cursor.eat(":") {
                return Err(self.cursor.error("expected : after a name"));
            }
            members.push((name, self.value()?));
            if !self.more(b'}')? {
                return Ok(Value::Object(members));
            }
        }
    }

    fn string(&mut self) -> Result<String, ImportError> {
        let open = self.cursor;
        if !self.cursor.eat("\"") {
            return Err(open.error("expected a string"));
        }
        let mut text = String::new();
        loop {
            match self.cursor.bump_char() {
                None => return Err(open.error("this string is never closed")),
                Some('"') => return Ok(text),
                Some('\\') => text.push(self.escape()?),
                Some(c) => text.push(c),
            }
        }
    }

    fn escape(&mut self) -> Result<char, ImportError> {
        let at = self.cursor;
        Ok(match self.cursor.bump() {
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'u') => {
                let high = self.utf16_unit(at)?;
                // A character above 0xffff has two units.
                let code = if (0xd800..0xdc00).contains(&high) && self.cursor.eat("\\u") {
                    let low = self.utf16_unit(at)?;
                    0x1_0000 + ((high - 0xd800) << 10) + (low.wrapping_sub(0xdc00) & 0x3ff)
                } else {
                    high
                };
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            _ => return Err(at.error("JSON has no such escape")),
        })
    }

    fn utf16_unit(&mut self, at: Cursor) -> Result<u32, ImportError> {
        let digits = self.cursor.rest().get(..4).unwrap_or_default();
        let code = std::str::from_utf8(digits).ok().and_then(|t| u32::from_str_radix(t, 16).ok());
        self.cursor.at += digits.len();
        code.ok_or_else(|| at.error("expected four hexadecimal digits after \\u"))
    }
}
