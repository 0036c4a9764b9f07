//! A token list: the side file for a lexer that is written by hand. It has the pattern
//! of each token.
//!
//! ```text
//! # One token in each line: its name in the parser, and a pattern as in flex.
//! NUMBER   [0-9]+
//! '+'      "+"
//! IF       "if"
//! %define  letter [a-zA-Z_]
//! NAME     {letter}({letter}|[0-9])*
//! %skip    [ \t\n]+
//! ```
//!
//! The order counts as in flex: of two matches of the same length, the first wins. A
//! token on two lines has two patterns. `%skip` is a pattern that may stand between
//! tokens, `%define` names a pattern, `%caseless` ignores case from there on.

use std::collections::HashMap;

use super::Input;
use super::lex::parse::Span;
use super::lex::pattern::{Flags, Patterns};
use crate::ImportError;
use crate::lexicon::{KEYWORD_PRIORITY, Key, Lexicon};
use crate::text::{Cursor, Source};
use pleach_grammar::{Grammar, Language};

/// True if the name of a lexer's file is that of a token list.
pub(super) fn is_token_list(file: &str) -> bool {
    super::extension(file) == "tokens"
}

/// A token list alone: any sequence of its tokens.
pub(super) fn import(input: &Input) -> Result<Grammar, ImportError> {
    let source = Source::new(input.file, input.bytes)?;
    read(&source)?.into_grammar(source.place(0))
}

pub(crate) fn read(source: &Source) -> Result<Lexicon, ImportError> {
    let lines = lines(source)?;
    let mut definitions: HashMap<Vec<u8>, Span> = HashMap::new();
    for line in &lines {
        if let Line::Define(name, pattern) = line {
            definitions.insert(name.clone(), pattern.clone());
        }
    }
    let mut patterns = Patterns::new(source, &definitions);
    let mut lexicon = Lexicon::default();
    let mut flags = Flags::default();
    for (priority, line) in lines.into_iter().enumerate() {
        match line {
            Line::Define(..) => {}
            Line::Caseless => {
                flags.ignore_case = true;
                lexicon.caseless = true;
            }
            Line::Token(key, span) => {
                let parsed = patterns.parse(span.clone(), flags)?;
                if parsed.line_start || parsed.trailing {
                    let text = "the context of the pattern is ignored; \
                                the grammar allows the token everywhere";
                    lexicon.note(source, span.start, Language::Larger, text);
                }
                let priority = priority as u32 + KEYWORD_PRIORITY + 1;
                lexicon.add_token(key, parsed.regex, priority, source.place(span.start));
            }
            Line::Skip(span) => {
                let parsed = patterns.parse(span.clone(), flags)?;
                let name = crate::text::show(&source.bytes[span]);
                lexicon.add_separator(name, parsed.regex);
            }
        }
    }
    Ok(lexicon)
}

enum Line {
    Token(Key, Span),
    Skip(Span),
    Define(Vec<u8>, Span),
    Caseless,
}

fn lines(source: &Source) -> Result<Vec<Line>, ImportError> {
    let mut lines = Vec::new();
    let mut cursor = source.cursor();
    while !cursor.at_end() {
        cursor.skip_space();
        if cursor.at_end() {
            break;
        }
        if cursor.peek() == Some(b'#') {
            cursor.eat_line();
            continue;
        }
        let open = cursor;
        let word = word(&mut cursor);
        let line = match word {
            b"%caseless" => Line::Caseless,
            b"%skip" => Line::Skip(pattern(&mut cursor)?),
            b"%define" => {
                cursor.eat_while(|b| b == b' ' || b == b'\t');
                let name = cursor.eat_while(|b| !b.is_ascii_whitespace()).to_vec();
                Line::Define(name, pattern(&mut cursor)?)
            }
            [b'\'', b'\\', escaped, b'\''] => {
                let byte = match escaped {
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    other => *other,
                };
                Line::Token(Key::Char(byte), pattern(&mut cursor)?)
            }
            [b'\'', byte, b'\''] => Line::Token(Key::Char(*byte), pattern(&mut cursor)?),
            _ if word.iter().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(b)) => {
                let name = String::from_utf8_lossy(word).into_owned();
                Line::Token(Key::Name(name), pattern(&mut cursor)?)
            }
            _ => return Err(open.error("expected a token's name, %skip, %define or %caseless")),
        };
        lines.push(line);
        cursor.eat_line();
    }
    Ok(lines)
}

/// The next word: a character in quotes, or all bytes up to a blank.
fn word<'a>(cursor: &mut Cursor<'a>) -> &'a [u8] {
    let rest = cursor.rest();
    let quoted = match rest {
        [b'\'', b'\\', _, b'\'', ..] => 4,
        [b'\'', _, b'\'', ..] => 3,
        _ => 0,
    };
    if quoted > 0 {
        cursor.at += quoted;
        return &rest[..quoted];
    }
    cursor.eat_while(|b| !b.is_ascii_whitespace())
}

/// The rest of the line.
fn pattern(cursor: &mut Cursor) -> Result<Span, ImportError> {
    cursor.eat_while(|b| b == b' ' || b == b'\t');
    let start = cursor.at;
    let length = cursor.eat_line().trim_ascii_end().len();
    if length == 0 {
        return Err(cursor.error("expected a pattern"));
    }
    Ok(start..start + length)
}
