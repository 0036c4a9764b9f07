//! The lexemes of a yacc file. Comments are skipped, and a piece of C is one lexeme, so
//! that the parser sees declarations and rules only. Lexemes are read one at a time,
//! and not stored.

use crate::ImportError;
use crate::ccode;
use crate::text::{Cursor, Source};

#[derive(Clone, Debug, PartialEq)]
pub enum Lexeme {
    /// `%name`. `%<` and the like of old yaccs have their modern name.
    Directive(String),
    Name(String),
    Char(Vec<u8>),
    Str(Vec<u8>),
    Number(i64),
    /// `<type>`
    Tag,
    /// `{…}`, `%{…%}`, `%?{…}`
    Code,
    /// `[name]` behind a symbol
    Reference,
    /// `%%`
    Section,
    Colon,
    Bar,
    Semicolon,
    /// `@NAME@`, to be replaced by a configure script
    Marker(String),
    /// A line that starts with `#`
    Conditional(String),
    Other(u8),
    End,
}

#[derive(Clone, Copy)]
pub struct Lexer<'a> {
    cursor: Cursor<'a>,
}

impl<'a> Lexer<'a> {
    pub fn new(source: &'a Source<'a>) -> Lexer<'a> {
        Lexer { cursor: source.cursor() }
    }

    /// The next lexeme and its offset.
    pub fn next(&mut self) -> Result<(usize, Lexeme), ImportError> {
        self.skip_blank();
        let at = self.cursor.at;
        Ok((at, self.lexeme()?))
    }

    fn skip_blank(&mut self) {
        loop {
            self.cursor.skip_space();
            if !ccode::eat_comment(&mut self.cursor) {
                return;
            }
        }
    }

    fn lexeme(&mut self) -> Result<Lexeme, ImportError> {
        let cursor = &mut self.cursor;
        let Some(byte) = cursor.peek() else { return Ok(Lexeme::End) };
        Ok(match byte {
            b'%' => return self.directive(),
            // Old yaccs accept a backslash for the percent sign.
            b'\\' => return self.directive(),
            b'{' => {
                ccode::skip_braces(cursor)?;
                Lexeme::Code
            }
            b'\'' => Lexeme::Char(self.quoted(b'\'')?),
            b'"' => Lexeme::Str(self.quoted(b'"')?),
            b'<' => self.tag()?,
            b'[' => {
                cursor.eat_while(|b| b != b']' && b != b'\n');
                cursor.eat("]");
                Lexeme::Reference
            }
            b'#' if cursor.at_line_start() => {
                Lexeme::Conditional(String::from_utf8_lossy(cursor.eat_line()).into_owned())
            }
            b'@' => self.marker(),
            b'0'..=b'9' => self.number()?,
            _ if is_name_start(byte) => self.name()?,
            _ => {
                cursor.at += 1;
                match byte {
                    b':' => Lexeme::Colon,
                    b'|' => Lexeme::Bar,
                    b';' => Lexeme::Semicolon,
                    other => Lexeme::Other(other),
                }
            }
        })
    }

    fn directive(&mut self) -> Result<Lexeme, ImportError> {
        let open = self.cursor;
        let cursor = &mut self.cursor;
        cursor.at += 1;
        Ok(match cursor.peek() {
            Some(b'%' | b'\\') => {
                cursor.at += 1;
                Lexeme::Section
            }
            Some(b'{') => {
                cursor.at += 1;
                loop {
                    if cursor.at_end() {
                        return Err(open.error("this %{ is never closed by %}"));
                    }
                    if cursor.eat("%}") {
                        return Ok(Lexeme::Code);
                    }
                    ccode::skip_lexeme(cursor);
                }
            }
            Some(b'?') => {
                cursor.at += 1;
                cursor.skip_space();
                if cursor.peek() == Some(b'{') {
                    ccode::skip_braces(cursor)?;
                }
                Lexeme::Code
            }
            Some(old @ (b'<' | b'>' | b'2' | b'0' | b'=')) => {
                cursor.at += 1;
                let name = match old {
                    b'<' => "left",
                    b'>' => "right",
                    b'2' => "nonassoc",
                    b'0' => "token",
                    _ => "prec",
                };
                Lexeme::Directive(name.into())
            }
            _ => {
                let name =
                    cursor.eat_while(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
                Lexeme::Directive(String::from_utf8_lossy(name).replace('_', "-"))
            }
        })
    }

    /// `<type>`, with brackets inside as C++ types have them.
    fn tag(&mut self) -> Result<Lexeme, ImportError> {
        let open = self.cursor;
        let mut depth = 0;
        while let Some(byte) = self.cursor.peek() {
            match byte {
                b'<' => depth += 1,
                b'>' if self.cursor.source.bytes[self.cursor.at - 1] != b'-' => depth -= 1,
                b'\n' | b';' => break,
                _ => {}
            }
            self.cursor.at += 1;
            if depth == 0 {
                return Ok(Lexeme::Tag);
            }
        }
        Err(open.error("this < is never closed by >"))
    }

    fn marker(&mut self) -> Lexeme {
        let cursor = &mut self.cursor;
        cursor.at += 1;
        let name = cursor.eat_while(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !name.is_empty() && cursor.eat("@") {
            Lexeme::Marker(String::from_utf8_lossy(name).into_owned())
        } else {
            Lexeme::Other(b'@')
        }
    }

    fn number(&mut self) -> Result<Lexeme, ImportError> {
        let start = self.cursor;
        let digits = self.cursor.eat_while(|b| b.is_ascii_alphanumeric());
        let text = String::from_utf8_lossy(digits);
        let value = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            Some(hex) => i64::from_str_radix(hex, 16),
            None => text.parse(),
        };
        let value = value.map_err(|_| start.error(format!("{text} is not a number")))?;
        Ok(Lexeme::Number(value))
    }

    fn name(&mut self) -> Result<Lexeme, ImportError> {
        let bytes = self.cursor.eat_while(|b| is_name_start(b) || b.is_ascii_digit() || b == b'-');
        // `_("text")` is an alias that is translated for messages.
        if bytes == b"_" && self.cursor.eat("(") {
            self.skip_blank();
            if self.cursor.peek() == Some(b'"') {
                let text = self.quoted(b'"')?;
                self.skip_blank();
                self.cursor.eat(")");
                return Ok(Lexeme::Str(text));
            }
        }
        Ok(Lexeme::Name(String::from_utf8_lossy(bytes).into_owned()))
    }

    /// The bytes of a literal, with its escapes replaced.
    fn quoted(&mut self, quote: u8) -> Result<Vec<u8>, ImportError> {
        let open = self.cursor;
        let cursor = &mut self.cursor;
        cursor.at += 1;
        let mut bytes = Vec::new();
        loop {
            match cursor.bump() {
                None | Some(b'\n') => return Err(open.error("this literal is never closed")),
                Some(b'\\') => bytes.extend(ccode::read_escape(cursor, ccode::HEX_DIGITS_OF_C)),
                Some(byte) if byte == quote => return Ok(bytes),
                Some(byte) => bytes.push(byte),
            }
        }
    }
}

fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b'.' || byte >= 0x80
}
