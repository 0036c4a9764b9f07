//! Stepping over C and C++, which yacc and lex files are full of.
//!
//! Nothing here understands C. What matters is where a piece of it ends: braces
//! inside strings, characters and comments do not count. Two things of C++ have
//! to be known for that, raw strings and digit separators.

use super::ImportError;
use super::text::Cursor;

/// From an opening brace to just after the one that closes it.
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

/// One string, character constant, comment or raw string; otherwise one byte.
pub(crate) fn skip_lexeme(cursor: &mut Cursor) {
    match cursor.peek() {
        Some(b'"') if opens_raw_string(cursor) => skip_raw_string(cursor),
        Some(b'"') => skip_quoted(cursor, b'"'),
        Some(b'\'') if !separates_digits(cursor) => skip_quoted(cursor, b'\''),
        Some(b'/') if cursor.peek_at(1) == Some(b'*') => skip_comment(cursor),
        Some(b'/') if cursor.peek_at(1) == Some(b'/') => skip_line_comment(cursor),
        Some(_) => cursor.at += 1,
        None => {}
    }
}

/// A comment of either kind, if one starts here.
pub(crate) fn eat_comment(cursor: &mut Cursor) -> bool {
    let comment = cursor.starts_with("/*") || cursor.starts_with("//");
    if comment {
        skip_lexeme(cursor);
    }
    comment
}

/// The same where a backslash does not join lines.
pub(crate) fn eat_plain_comment(cursor: &mut Cursor) -> bool {
    if cursor.starts_with("//") {
        cursor.eat_line();
        return true;
    }
    cursor.starts_with("/*") && eat_comment(cursor)
}

/// A literal that is not closed ends with its line: apostrophes in text under
/// `#if 0` must not swallow the file.
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
    let known: [&[u8]; 5] = [b"R", b"RL", b"Ru", b"RU", b"R8u"];
    known.contains(&word.as_slice())
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

/// `1'000'000` of C++14.
fn separates_digits(cursor: &Cursor) -> bool {
    let before = cursor.at.checked_sub(1).map(|at| cursor.source.bytes[at]);
    before.is_some_and(|b| b.is_ascii_digit())
        && cursor.peek_at(1).is_some_and(|b| b.is_ascii_hexdigit())
        && cursor.peek_at(2) != Some(b'\'')
}
