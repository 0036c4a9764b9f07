//! Regular expressions in JavaScript's syntax, as tree-sitter has them: without what
//! only a backtracking matcher can do.
//!
//! The crate regex-syntax parses them. Two things differ in JavaScript, and are
//! translated first: `\d`, `\w` and `\s` are ASCII only, and an opening bracket inside
//! a class stands for itself.

use regex_syntax::hir::{Class, Hir, HirKind};

use pleach_grammar::Regex;

#[derive(Debug)]
pub(crate) struct Parsed {
    pub regex: Regex,
    /// True if the pattern has anchors or word boundaries. They are not in `regex`.
    pub has_anchors: bool,
}

/// Parses a pattern; the error is a message.
pub(crate) fn parse(pattern: &str, flags: &str) -> Result<Parsed, String> {
    let translated = translate(pattern);
    let mut builder = regex_syntax::ParserBuilder::new();
    builder.nest_limit(crate::text::MAX_NESTING as u32).case_insensitive(flags.contains('i'));
    builder.dot_matches_new_line(flags.contains('s'));
    let hir = builder.build().parse(&translated).map_err(|problem| {
        let text = problem.to_string();
        let reason = text.lines().last().unwrap_or_default().trim_start_matches("error: ");
        format!("/{pattern}/: {reason}")
    })?;
    let mut has_anchors = false;
    let regex = convert(&hir, &mut has_anchors);
    Ok(Parsed { regex, has_anchors })
}

/// JavaScript's syntax in that of regex-syntax.
fn translate(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut chars = pattern.chars().peekable();
    let mut in_class = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('d') => out.push_str("[0-9]"),
                Some('D') => out.push_str("[^0-9]"),
                Some('w') => out.push_str("[0-9A-Za-z_]"),
                Some('W') => out.push_str("[^0-9A-Za-z_]"),
                Some('s') => out.push_str(r"[ \t\n\x0b\x0c\r]"),
                Some('S') => out.push_str(r"[^ \t\n\x0b\x0c\r]"),
                Some('b') if in_class => out.push_str(r"\x08"),
                Some('0') if !chars.peek().is_some_and(char::is_ascii_digit) => {
                    out.push_str(r"\x00")
                }
                // regex-syntax refuses to escape characters that need no escape.
                Some(plain) if !plain.is_alphanumeric() && !is_meta(plain) => out.push(plain),
                Some(other) => out.extend(['\\', other]),
                None => out.push('\\'),
            },
            '[' if in_class => out.push_str(r"\["),
            '[' => {
                in_class = true;
                out.push('[');
                if chars.peek() == Some(&'^') {
                    out.extend(chars.next());
                }
            }
            ']' if in_class => {
                in_class = false;
                out.push(']');
            }
            // Set operators of regex-syntax are plain characters in JavaScript.
            '&' | '~' if in_class => out.extend(['\\', c]),
            '-' if in_class && chars.peek() == Some(&'-') => out.push_str(r"\-"),
            _ => out.push(c),
        }
    }
    out
}

fn is_meta(c: char) -> bool {
    regex_syntax::is_meta_character(c)
}

fn convert(hir: &Hir, has_anchors: &mut bool) -> Regex {
    match hir.kind() {
        HirKind::Empty => Regex::Empty,
        HirKind::Literal(literal) => Regex::literal(&literal.0),
        HirKind::Class(Class::Unicode(class)) => {
            Regex::code_points(class.ranges().iter().map(|r| (r.start() as u32, r.end() as u32)))
        }
        HirKind::Class(Class::Bytes(class)) => {
            let bytes = class.ranges().iter().flat_map(|r| r.start()..=r.end());
            Regex::Class(bytes.collect())
        }
        HirKind::Look(_) => {
            *has_anchors = true;
            Regex::Empty
        }
        HirKind::Repetition(repetition) => {
            Regex::repeat(convert(&repetition.sub, has_anchors), repetition.min, repetition.max)
        }
        HirKind::Capture(capture) => convert(&capture.sub, has_anchors),
        HirKind::Concat(parts) => {
            Regex::concat(parts.iter().map(|part| convert(part, has_anchors)))
        }
        HirKind::Alternation(parts) => {
            Regex::alt(parts.iter().map(|part| convert(part, has_anchors)))
        }
    }
}
