//! flex's patterns as regular expressions over bytes.
//!
//! Two parts of a pattern are not in the expression: `^` in front, and trailing context
//! (`r/s`, `r$`). They restrict where a token may stand, and are returned beside it.
//! Definitions are expanded here. Each is parsed once, and the size of their expansion
//! is limited: ten definitions that use each other ten times would fill the memory.

use std::collections::HashMap;

use super::parse::Span;
use crate::scanner::count_nodes;
use crate::text::{Cursor, MAX_NESTING, Source};
use crate::{ImportError, ccode};
use pleach_grammar::{ByteSet, Regex};

/// Nodes that the definitions of one pattern may expand to.
const MAX_EXPANSION: usize = 200_000;

/// The largest count in `r{n,m}`.
const MAX_COUNT: u32 = 10_000;

#[derive(Clone)]
pub struct Parsed {
    pub regex: Regex,
    /// `^r`
    pub line_start: bool,
    /// `r/s` or `r$`
    pub trailing: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Flags {
    pub ignore_case: bool,
    pub dot_all: bool,
    pub extended: bool,
    pub seven_bit: bool,
}

/// Reads patterns of one file.
pub struct Patterns<'a> {
    source: &'a Source<'a>,
    definitions: &'a HashMap<Vec<u8>, Span>,
    /// Definitions that were parsed, with the node counts of their expressions.
    parsed: HashMap<(Vec<u8>, Flags), (Parsed, usize)>,
    depth: usize,
    /// Nodes that the current pattern has expanded to so far.
    expansion: usize,
}

impl<'a> Patterns<'a> {
    pub fn new(source: &'a Source<'a>, definitions: &'a HashMap<Vec<u8>, Span>) -> Patterns<'a> {
        Patterns { source, definitions, parsed: HashMap::new(), depth: 0, expansion: 0 }
    }

    pub fn parse(&mut self, span: Span, flags: Flags) -> Result<Parsed, ImportError> {
        self.expansion = 0;
        self.depth = 0;
        self.whole(Cursor::between(self.source, span.start, span.end), flags)
    }

    fn whole(&mut self, mut cursor: Cursor<'a>, flags: Flags) -> Result<Parsed, ImportError> {
        let line_start = cursor.peek() == Some(b'^') && cursor.rest().len() > 1;
        if line_start {
            cursor.at += 1;
        }
        let mut parsed = Parsed { regex: Regex::Empty, line_start, trailing: false };
        parsed.regex = self.alternatives(&mut cursor, flags, &mut parsed)?;
        if cursor.eat("/") {
            parsed.trailing = true;
            let mut context = parsed.clone();
            self.alternatives(&mut cursor, flags, &mut context)?;
        }
        if cursor.rest() == b"$" {
            parsed.trailing = true;
            cursor.at += 1;
        }
        match cursor.peek() {
            None => Ok(parsed),
            Some(byte) => {
                let shown = crate::text::show(&[byte]);
                Err(cursor.error(format!("unexpected {shown} in a pattern")))
            }
        }
    }

    fn alternatives(
        &mut self,
        cursor: &mut Cursor<'a>,
        flags: Flags,
        outer: &mut Parsed,
    ) -> Result<Regex, ImportError> {
        let mut alternatives = Vec::new();
        loop {
            alternatives.push(self.sequence(cursor, flags, outer)?);
            if !cursor.eat("|") {
                return Ok(Regex::alt(alternatives));
            }
        }
    }

    fn sequence(
        &mut self,
        cursor: &mut Cursor<'a>,
        flags: Flags,
        outer: &mut Parsed,
    ) -> Result<Regex, ImportError> {
        let mut parts = Vec::new();
        loop {
            if flags.extended {
                skip_extended_blank(cursor);
            }
            match cursor.peek() {
                None | Some(b'|' | b')' | b'/') => break,
                Some(b'$') if cursor.rest().len() == 1 => break,
                Some(_) => {}
            }
            let at = *cursor;
            let atom = self.atom(cursor, flags, outer)?;
            parts.push(self.repeated(cursor, at, atom, flags)?);
        }
        Ok(Regex::concat(parts))
    }

    fn repeated(
        &mut self,
        cursor: &mut Cursor<'a>,
        at: Cursor,
        mut atom: Regex,
        flags: Flags,
    ) -> Result<Regex, ImportError> {
        let mut operators = 0;
        loop {
            if flags.extended {
                skip_extended_blank(cursor);
            }
            atom = match cursor.peek() {
                Some(b'*') => Regex::star(atom),
                Some(b'+') => Regex::plus(atom),
                Some(b'?') => Regex::optional(atom),
                Some(b'{') if cursor.peek_at(1).is_some_and(|b| b.is_ascii_digit()) => {
                    let (min, max) = counts(cursor)?;
                    Regex::repeat(atom, min, max)
                }
                _ => return Ok(atom),
            };
            cursor.at += 1;
            operators += 1;
            if operators > MAX_NESTING {
                return Err(
                    at.error(format!("there are more than {MAX_NESTING} operators in a row"))
                );
            }
        }
    }

    fn atom(
        &mut self,
        cursor: &mut Cursor<'a>,
        flags: Flags,
        outer: &mut Parsed,
    ) -> Result<Regex, ImportError> {
        let open = *cursor;
        let Some(byte) = cursor.bump() else { return Ok(Regex::Empty) };
        Ok(match byte {
            b'"' => {
                let mut bytes = Vec::new();
                loop {
                    match cursor.bump() {
                        Some(b'"') => break,
                        Some(b'\\') => bytes.push(escape(cursor)),
                        Some(byte) => bytes.push(byte),
                        None => return Err(open.error("this quote is never closed")),
                    }
                }
                literal(&bytes, flags)
            }
            b'.' => {
                let mut set = all_bytes(flags);
                if !flags.dot_all {
                    set.remove(b'\n');
                }
                Regex::Class(set)
            }
            b'[' => {
                let mut set = class(cursor, open, flags)?;
                loop {
                    let removes = cursor.starts_with("{-}[");
                    if !removes && !cursor.starts_with("{+}[") {
                        break;
                    }
                    cursor.at += 4;
                    let other = class(cursor, open, flags)?;
                    set = if removes { set.difference(&other) } else { set.union(&other) };
                }
                Regex::Class(set)
            }
            b'(' => self.group(cursor, open, flags, outer)?,
            b'{' => self.definition(cursor, open, flags, outer)?,
            b'\\' => literal(&[escape(cursor)], flags),
            b'*' | b'+' | b'?' => {
                return Err(open.error("there is nothing before this to repeat"));
            }
            other => literal(&[other], flags),
        })
    }

    fn group(
        &mut self,
        cursor: &mut Cursor<'a>,
        open: Cursor,
        flags: Flags,
        outer: &mut Parsed,
    ) -> Result<Regex, ImportError> {
        if cursor.eat("?#") {
            cursor.skip_past(")");
            return Ok(Regex::Empty);
        }
        let inner = if cursor.eat("?") { group_flags(cursor, flags)? } else { flags };
        self.enter(open)?;
        let regex = self.alternatives(cursor, inner, outer)?;
        self.depth -= 1;
        if !cursor.eat(")") {
            return Err(open.error("this group is never closed"));
        }
        Ok(regex)
    }

    fn enter(&mut self, open: Cursor) -> Result<(), ImportError> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err(open.error(format!("groups are nested more than {MAX_NESTING} deep")));
        }
        Ok(())
    }

    fn definition(
        &mut self,
        cursor: &mut Cursor<'a>,
        open: Cursor,
        flags: Flags,
        outer: &mut Parsed,
    ) -> Result<Regex, ImportError> {
        let name = cursor.eat_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
        if name.is_empty() || !cursor.eat("}") {
            return Err(open.error("expected the name of a definition or a count between braces"));
        }
        let shown = String::from_utf8_lossy(name);
        let Some(span) = self.definitions.get(name) else {
            return Err(open.error(format!("{{{shown}}} is not defined")));
        };
        let key = (name.to_vec(), flags);
        if !self.parsed.contains_key(&key) {
            self.enter(open).map_err(|_| {
                open.error(format!("{{{shown}}} refers to itself, or is nested too deep"))
            })?;
            let inner = Cursor::between(self.source, span.start, span.end);
            let parsed = self.whole(inner, flags)?;
            self.depth -= 1;
            let nodes = count_nodes(&parsed.regex);
            self.parsed.insert(key.clone(), (parsed, nodes));
        }
        let (parsed, nodes) = &self.parsed[&key];
        self.expansion += nodes;
        if self.expansion > MAX_EXPANSION {
            let message = format!(
                "the definitions in this pattern expand to more than {MAX_EXPANSION} parts"
            );
            return Err(open.error(message));
        }
        outer.line_start |= parsed.line_start;
        outer.trailing |= parsed.trailing;
        Ok(parsed.regex.clone())
    }
}

fn all_bytes(flags: Flags) -> ByteSet {
    if flags.seven_bit { ByteSet::range(0, 127) } else { ByteSet::ALL }
}

fn literal(bytes: &[u8], flags: Flags) -> Regex {
    if flags.ignore_case { Regex::literal_any_case(bytes) } else { Regex::literal(bytes) }
}

fn skip_extended_blank(cursor: &mut Cursor) {
    loop {
        cursor.skip_space();
        if !(cursor.starts_with("/*") && cursor.skip_past("*/")) {
            return;
        }
    }
}

/// `{2}`, `{2,}`, `{2,5}`, without the closing brace.
fn counts(cursor: &mut Cursor) -> Result<(u32, Option<u32>), ImportError> {
    let open = *cursor;
    cursor.at += 1;
    let number = |cursor: &mut Cursor| {
        let digits = cursor.eat_while(|b| b.is_ascii_digit());
        String::from_utf8_lossy(digits).parse::<u32>().ok().filter(|n| *n <= MAX_COUNT)
    };
    let limit = || open.error(format!("counts must be at most {MAX_COUNT}"));
    let min = number(cursor).ok_or_else(limit)?;
    let max = if !cursor.eat(",") {
        Some(min)
    } else if cursor.peek() == Some(b'}') {
        None
    } else {
        Some(number(cursor).ok_or_else(limit)?)
    };
    if cursor.peek() != Some(b'}') {
        return Err(open.error("expected } after a count"));
    }
    if max.is_some_and(|max| max < min) {
        return Err(open.error("the maximum of this count is below its minimum"));
    }
    Ok((min, max))
}

/// Flags behind `(?`, such as `is-x:`.
fn group_flags(cursor: &mut Cursor, mut flags: Flags) -> Result<Flags, ImportError> {
    let mut on = true;
    loop {
        match cursor.bump() {
            Some(b'-') => on = false,
            Some(b'i') => flags.ignore_case = on,
            Some(b's') => flags.dot_all = on,
            Some(b'x') => flags.extended = on,
            Some(b':') => return Ok(flags),
            _ => return Err(cursor.error("expected one of i, s, x, - or : after (?")),
        }
    }
}

/// A class, from behind `[` to just after the closing bracket.
fn class(cursor: &mut Cursor, open: Cursor, flags: Flags) -> Result<ByteSet, ImportError> {
    let negated = cursor.eat("^");
    let mut set = ByteSet::EMPTY;
    let mut first = true;
    loop {
        let byte = match cursor.bump() {
            None => return Err(open.error("this class is never closed")),
            Some(b']') if !first => break,
            Some(b'[') if cursor.peek() == Some(b':') && named_class(cursor, &mut set, open)? => {
                first = false;
                continue;
            }
            Some(b'\\') => escape(cursor),
            Some(byte) => byte,
        };
        first = false;
        let is_range =
            cursor.peek() == Some(b'-') && !matches!(cursor.peek_at(1), Some(b']') | None);
        let high = if is_range {
            cursor.at += 1;
            match cursor.bump() {
                Some(b'\\') => escape(cursor),
                Some(high) => high,
                None => byte,
            }
        } else {
            byte
        };
        if high < byte {
            return Err(open.error("a range in this class has its end before its start"));
        }
        set = set.union(&ByteSet::range(byte, high));
    }
    if flags.ignore_case {
        let both = set.iter().flat_map(|b| [b.to_ascii_lowercase(), b.to_ascii_uppercase()]);
        set = both.collect();
    }
    Ok(if negated { all_bytes(flags).difference(&set) } else { set })
}

/// Adds `[:alpha:]` or `[:^alpha:]`, from behind the bracket. False if it is neither:
/// then the bracket stands for itself.
fn named_class(cursor: &mut Cursor, set: &mut ByteSet, open: Cursor) -> Result<bool, ImportError> {
    let mut look = *cursor;
    look.at += 1;
    let negated = look.eat("^");
    let name = look.eat_while(|b| b.is_ascii_alphabetic());
    if !look.eat(":]") {
        return Ok(false);
    }
    // flex ignores the case of these names.
    let test: fn(&u8) -> bool = match name.to_ascii_lowercase().as_slice() {
        b"alnum" => u8::is_ascii_alphanumeric,
        b"alpha" => u8::is_ascii_alphabetic,
        b"blank" => |b| matches!(b, b' ' | b'\t'),
        b"cntrl" => u8::is_ascii_control,
        b"digit" => u8::is_ascii_digit,
        b"graph" => u8::is_ascii_graphic,
        b"lower" => u8::is_ascii_lowercase,
        b"print" => |b| b.is_ascii_graphic() || *b == b' ',
        b"punct" => u8::is_ascii_punctuation,
        b"space" => |b| b.is_ascii_whitespace() || *b == 11,
        b"upper" => u8::is_ascii_uppercase,
        b"xdigit" => u8::is_ascii_hexdigit,
        _ => {
            let name = String::from_utf8_lossy(name);
            return Err(open.error(format!("flex has no class [:{name}:]")));
        }
    };
    let found: ByteSet = (0..=255u8).filter(test).collect();
    *set = set.union(&if negated { found.complement() } else { found });
    cursor.at = look.at;
    Ok(true)
}

/// The byte of an escape, from behind its backslash. A backslash at the end stands for
/// itself.
fn escape(cursor: &mut Cursor) -> u8 {
    ccode::read_escape(cursor, ccode::HEX_DIGITS_OF_FLEX).unwrap_or(b'\\')
}
