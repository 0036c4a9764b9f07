//! Steps over the C and C++ in yacc and lex files.
//!
//! Nothing here understands C. It only finds where a piece of C ends: braces inside
//! strings, character constants and comments do not count. For C++ that includes raw
//! strings and digit separators. [`split_words`] splits C into words, for importers
//! that look for plain forms such as `return NUMBER;`.

use crate::ImportError;
use crate::text::Cursor;

/// A token of C. Comments and preprocessor lines are skipped.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Word {
    Name(String),
    Str(Vec<u8>),
    Char(u8),
    Number(i64),
    Punct(u8),
}

/// The words of a piece of C, each with its offset.
pub(crate) fn split_words(mut cursor: Cursor) -> Vec<(usize, Word)> {
    let mut words = Vec::new();
    while let Some(byte) = cursor.peek() {
        let at = cursor.at;
        match byte {
            b'"' => {
                skip_lexeme(&mut cursor);
                let text = literal_bytes(Cursor { at: at + 1, end: cursor.at, ..cursor }, b'"');
                words.push((at, Word::Str(text)));
            }
            b'/' if matches!(cursor.peek_at(1), Some(b'*' | b'/')) => skip_lexeme(&mut cursor),
            b'#' if cursor.at_line_start() => skip_line_comment(&mut cursor),
            b'\'' => {
                skip_lexeme(&mut cursor);
                let text = literal_bytes(Cursor { at: at + 1, end: cursor.at, ..cursor }, b'\'');
                if let [byte] = text[..] {
                    words.push((at, Word::Char(byte)));
                }
            }
            b'0'..=b'9' => {
                let digits = cursor.eat_while(|b| b.is_ascii_alphanumeric());
                let value = String::from_utf8_lossy(digits).parse().unwrap_or(-1);
                words.push((at, Word::Number(value)));
            }
            _ if byte.is_ascii_alphabetic() || byte == b'_' => {
                let name = cursor.eat_while(|b| b.is_ascii_alphanumeric() || b == b'_');
                let name = String::from_utf8_lossy(name).into_owned();
                // `token::NUMBER` and `Parser::NUMBER` are NUMBER.
                if cursor.eat("::") {
                    continue;
                }
                words.push((at, Word::Name(name)));
            }
            _ if byte.is_ascii_whitespace() => cursor.at += 1,
            _ => {
                cursor.at += 1;
                words.push((at, Word::Punct(byte)));
            }
        }
    }
    words
}

/// The bytes of a literal. The cursor is behind the opening quote.
fn literal_bytes(mut cursor: Cursor, quote: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    while let Some(byte) = cursor.bump() {
        match byte {
            b'\\' => bytes.extend(read_escape(&mut cursor, HEX_DIGITS_OF_C)),
            _ if byte == quote => break,
            _ => bytes.push(byte),
        }
    }
    bytes
}

/// Steps from an opening brace to just after the closing one.
pub(crate) fn skip_braces(cursor: &mut Cursor) -> Result<(), ImportError> {
    let open = *cursor;
    let mut depth = 0usize;
    while let Some(byte) = cursor.peek() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {
                skip_lexeme(cursor);
                continue;
            }
        }
        cursor.at += 1;
        if depth == 0 {
            return Ok(());
        }
    }
    Err(open.error("this brace is never closed"))
}

/// Steps over one string, character constant or comment; otherwise over one byte.
pub(crate) fn skip_lexeme(cursor: &mut Cursor) {
    match cursor.peek() {
        Some(b'"') if opens_raw_string(cursor) => skip_raw_string(cursor),
        Some(b'"') => skip_quoted(cursor, b'"'),
        Some(b'\'') if !is_digit_separator(cursor) => skip_quoted(cursor, b'\''),
        Some(b'/') if cursor.peek_at(1) == Some(b'*') => skip_comment(cursor),
        Some(b'/') if cursor.peek_at(1) == Some(b'/') => skip_line_comment(cursor),
        Some(_) => cursor.at += 1,
        None => {}
    }
}

/// Steps over a comment of either kind, if one is next.
pub(crate) fn eat_comment(cursor: &mut Cursor) -> bool {
    let comment = cursor.starts_with("/*") || cursor.starts_with("//");
    if comment {
        skip_lexeme(cursor);
    }
    comment
}

/// The same in formats in which a backslash does not join lines.
pub(crate) fn eat_plain_comment(cursor: &mut Cursor) -> bool {
    if cursor.starts_with("//") {
        cursor.eat_line();
        return true;
    }
    cursor.starts_with("/*") && eat_comment(cursor)
}

/// A literal that is not closed ends with its line. Otherwise an apostrophe in text
/// under `#if 0` would swallow the file.
fn skip_quoted(cursor: &mut Cursor, quote: u8) {
    cursor.at += 1;
    while let Some(byte) = cursor.peek() {
        match byte {
            b'\n' => return,
            b'\\' => cursor.at += 1,
            _ if byte == quote => {
                cursor.at += 1;
                return;
            }
            _ => {}
        }
        cursor.at = (cursor.at + 1).min(cursor.end);
    }
}

fn skip_comment(cursor: &mut Cursor) {
    cursor.at += 2;
    cursor.skip_past("*/");
}

fn skip_line_comment(cursor: &mut Cursor) {
    loop {
        let line = cursor.eat_line();
        let continued = line.ends_with(b"\\") || line.ends_with(b"\\\r");
        if !continued || cursor.bump().is_none() {
            return;
        }
    }
}

fn opens_raw_string(cursor: &Cursor) -> bool {
    let before = &cursor.source.bytes[..cursor.at];
    let word = before.iter().rev().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_');
    let word: Vec<u8> = word.copied().take(4).collect();
    let reversed_prefixes: [&[u8]; 5] = [b"R", b"RL", b"Ru", b"RU", b"R8u"];
    reversed_prefixes.contains(&word.as_slice())
}

fn skip_raw_string(cursor: &mut Cursor) {
    cursor.at += 1;
    let delimiter = cursor.eat_while(|b| b != b'(' && b != b'\n' && b != b'"');
    let close = [b")", delimiter, b"\""].concat();
    match std::str::from_utf8(&close) {
        Ok(close) => drop(cursor.skip_past(close)),
        Err(_) => drop(cursor.skip_past(")")),
    }
}

/// True in `1'000'000` of C++14.
fn is_digit_separator(cursor: &Cursor) -> bool {
    let before = cursor.at.checked_sub(1).map(|at| cursor.source.bytes[at]);
    before.is_some_and(|b| b.is_ascii_digit())
        && cursor.peek_at(1).is_some_and(|b| b.is_ascii_hexdigit())
        && cursor.peek_at(2) != Some(b'\'')
}

/// C reads all hexadecimal digits behind `\x`.
pub(crate) const HEX_DIGITS_OF_C: usize = usize::MAX;
/// flex reads at most two.
pub(crate) const HEX_DIGITS_OF_FLEX: usize = 2;

/// The byte of an escape. The cursor is behind the backslash; at the end of the text
/// there is none. `\x` without a digit is `x`.
pub(crate) fn read_escape(cursor: &mut Cursor, max_hex_digits: usize) -> Option<u8> {
    Some(match cursor.bump()? {
        b'a' => 7,
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        b'x' if cursor.peek().is_some_and(|b| b.is_ascii_hexdigit()) => {
            read_digits(cursor, 0, 16, max_hex_digits)
        }
        first @ b'0'..=b'7' => read_digits(cursor, first - b'0', 8, 2),
        other => other,
    })
}

/// Appends at most `max` digits to `value`, modulo 256.
fn read_digits(cursor: &mut Cursor, mut value: u8, radix: u8, max: usize) -> u8 {
    for _ in 0..max {
        let digit = cursor.peek().and_then(|b| char::from(b).to_digit(radix.into()));
        let Some(digit) = digit else { break };
        value = value.wrapping_mul(radix).wrapping_add(digit as u8);
        cursor.at += 1;
    }
    value
}
