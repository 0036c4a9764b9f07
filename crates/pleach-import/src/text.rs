//! The text of a grammar file, and a cursor that reads it.
//!
//! Files are read as bytes: yacc and lex files are often older than UTF-8, and lexers
//! match bytes. Formats that are defined over characters (ANTLR, EBNF, JSON) check
//! first that the file is UTF-8 ([`Source::text`]).

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::ImportError;
use pleach_grammar::{Language, Note, Place, Severity};

/// Bytes of the largest file that is read. Real grammars stay below two megabytes.
pub const MAX_FILE: usize = 16 << 20;

/// How deep groups may nest in a file. Importers recurse once for each level, so this
/// bounds the stack.
pub const MAX_NESTING: usize = 250;

/// The text of a grammar: one file, or several that belong together. Several are
/// joined end to end, so that one offset names a place in any of them.
pub(crate) struct Source<'a> {
    pub bytes: Cow<'a, [u8]>,
    /// The offset and the name of each file.
    files: Vec<(usize, Arc<str>)>,
    /// The offset of each line.
    lines: Vec<u32>,
}

impl<'a> Source<'a> {
    pub fn new(file: &str, bytes: &'a [u8]) -> Result<Source<'a>, ImportError> {
        let file: Arc<str> = file.into();
        if bytes.len() > MAX_FILE {
            return Err(ImportError::TooLarge { file });
        }
        Ok(Source::with_lines(Cow::Borrowed(bytes), vec![(0, file)]))
    }

    /// The same for formats defined over characters: invalid UTF-8 is an error.
    pub fn text(file: &str, bytes: &'a [u8]) -> Result<Source<'a>, ImportError> {
        let source = Source::new(file, bytes)?;
        source.check_utf8()?;
        Ok(source)
    }

    /// Several files of UTF-8, by name and text.
    pub fn joined(files: &[(String, Vec<u8>)]) -> Result<Source<'static>, ImportError> {
        let (mut bytes, mut starts) = (Vec::new(), Vec::new());
        for (name, text) in files {
            let name: Arc<str> = name.as_str().into();
            if bytes.len() + text.len() > MAX_FILE {
                return Err(ImportError::TooLarge { file: name });
            }
            starts.push((bytes.len(), name));
            bytes.extend_from_slice(text);
            // The last line of a file must not run into the next file.
            bytes.push(b'\n');
        }
        let source = Source::with_lines(Cow::Owned(bytes), starts);
        source.check_utf8()?;
        Ok(source)
    }

    fn with_lines(bytes: Cow<'a, [u8]>, files: Vec<(usize, Arc<str>)>) -> Source<'a> {
        let starts = bytes.iter().enumerate().filter(|(_, b)| **b == b'\n');
        let lines = std::iter::once(0).chain(starts.map(|(at, _)| at as u32 + 1)).collect();
        Source { bytes, files, lines }
    }

    fn check_utf8(&self) -> Result<(), ImportError> {
        match std::str::from_utf8(&self.bytes) {
            Ok(_) => Ok(()),
            Err(e) => Err(self.error(e.valid_up_to(), "invalid UTF-8")),
        }
    }

    fn line_index(&self, at: usize) -> usize {
        self.lines.partition_point(|start| *start as usize <= at) - 1
    }

    pub fn place(&self, at: usize) -> Place {
        let at = at.min(self.bytes.len());
        let file = self.files.partition_point(|(start, _)| *start <= at) - 1;
        let (start, name) = &self.files[file];
        let line = self.line_index(at);
        let column = at - self.lines[line] as usize;
        Place::new(name, (line - self.line_index(*start)) as u32 + 1, column as u32 + 1)
    }

    /// The span of each file.
    pub fn files(&self) -> Vec<Range<usize>> {
        let ends = self.files.iter().skip(1).map(|(start, _)| *start).chain([self.bytes.len()]);
        self.files.iter().zip(ends).map(|((start, _), end)| *start..end).collect()
    }

    pub fn error(&self, at: usize, message: impl Into<String>) -> ImportError {
        ImportError::Syntax { place: self.place(at), message: one_line(&message.into()) }
    }

    pub fn note(&self, at: usize, severity: Severity, text: impl Into<String>) -> Note {
        Note { place: self.place(at), severity, text: text.into() }
    }

    pub fn cursor(&'a self) -> Cursor<'a> {
        Cursor { source: self, at: 0, end: self.bytes.len() }
    }
}

/// The severity of a note on a change of the language.
pub(crate) fn severity_of(change: Language) -> Severity {
    if change == Language::Same { Severity::Info } else { Severity::Warning }
}

/// A position in a [`Source`], and an end that may be before the end of the file.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    pub source: &'a Source<'a>,
    pub at: usize,
    pub end: usize,
}

impl<'a> Cursor<'a> {
    pub fn between(source: &'a Source<'a>, at: usize, end: usize) -> Cursor<'a> {
        Cursor { source, at, end }
    }

    pub fn rest(&self) -> &'a [u8] {
        &self.source.bytes[self.at.min(self.end)..self.end]
    }

    pub fn at_end(&self) -> bool {
        self.at >= self.end
    }

    pub fn peek(&self) -> Option<u8> {
        self.rest().first().copied()
    }

    pub fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.rest().get(ahead).copied()
    }

    pub fn bump(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    /// The next character. A byte that is not UTF-8 is returned as the character of
    /// the same number.
    pub fn bump_char(&mut self) -> Option<char> {
        let rest = self.rest();
        let length = match *rest.first()? {
            0xf0.. => 4,
            0xe0.. => 3,
            0xc0.. => 2,
            _ => 1,
        };
        let decoded = rest.get(..length).and_then(|bytes| std::str::from_utf8(bytes).ok());
        match decoded.and_then(|text| text.chars().next()) {
            Some(c) => {
                self.at += length;
                Some(c)
            }
            None => self.bump().map(char::from),
        }
    }

    pub fn starts_with(&self, text: &str) -> bool {
        self.rest().starts_with(text.as_bytes())
    }

    /// Steps over `text` if it is next.
    pub fn eat(&mut self, text: &str) -> bool {
        let found = self.starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    /// Steps over all bytes that `accepts` is true for, and returns them.
    pub fn eat_while(&mut self, accepts: impl Fn(u8) -> bool) -> &'a [u8] {
        let rest = self.rest();
        let length = rest.iter().position(|b| !accepts(*b)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Steps over the rest of the line, but not over its end.
    pub fn eat_line(&mut self) -> &'a [u8] {
        self.eat_while(|b| b != b'\n')
    }

    pub fn skip_space(&mut self) {
        self.eat_while(|b| b.is_ascii_whitespace() || b == 0x0b);
    }

    /// True if only blanks are between the start of the line and the cursor.
    pub fn at_line_start(&self) -> bool {
        let before = &self.source.bytes[..self.at];
        before.iter().rev().take_while(|b| **b != b'\n').all(|b| matches!(b, b' ' | b'\t' | b'\r'))
    }

    /// Goes to just after the next `text`. Without one, goes to the end and returns
    /// false.
    pub fn skip_past(&mut self, text: &str) -> bool {
        match find(self.rest(), text.as_bytes()) {
            Some(found) => {
                self.at += found + text.len();
                true
            }
            None => {
                self.at = self.end;
                false
            }
        }
    }

    pub fn error(&self, message: impl Into<String>) -> ImportError {
        self.source.error(self.at, message)
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

pub(crate) fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    find(haystack, needle).is_some()
}

/// True if a line starts with `word`. Blanks may stand before the first line.
pub(crate) fn has_line_start(bytes: &[u8], word: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(word) || contains(bytes, &[b"\n", word].concat())
}

/// A message in one line: control characters of the file in it are escaped.
pub(crate) fn one_line(message: &str) -> String {
    let plain = |c: char| -> String {
        if c.is_control() { c.escape_default().collect() } else { c.into() }
    };
    message.chars().map(plain).collect()
}

/// Bytes of the file for a message: escaped and shortened.
pub(crate) fn show(bytes: &[u8]) -> String {
    const MAX_BYTES: usize = 40;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_BYTES)]);
    let mut text: String = text.chars().flat_map(char::escape_debug).collect();
    if bytes.len() > MAX_BYTES {
        text.push('…');
    }
    text
}
