//! Where a thing stands in the files of a person, and what is to be said of it.

use std::fmt;
use std::sync::Arc;

/// A place in a grammar's files. Lines and columns count from 1; a line of 0
/// means the file as a whole.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub file: Arc<str>,
    pub line: u32,
    pub column: u32,
}

impl Place {
    pub fn new(file: &Arc<str>, line: u32, column: u32) -> Place {
        Place { file: Arc::clone(file), line, column }
    }

    /// For what no person wrote: helper rules, grammars built by a program.
    pub fn none() -> Place {
        Place { file: Arc::from(""), line: 0, column: 0 }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match (self.file.is_empty(), self.line) {
            (true, 0) => f.write_str("grammar"),
            (true, line) => write!(f, "{line}:{}", self.column),
            (false, 0) => f.write_str(&self.file),
            (false, line) => write!(f, "{}:{line}:{}", self.file, self.column),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Good to know; the language is what the file says.
    Info,
    /// The language is not quite what the file says, or a rule is suspicious.
    Warning,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Severity::Info => "note",
            Severity::Warning => "warning",
        })
    }
}

/// Something that an importer or a check found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note {
    pub place: Place,
    pub severity: Severity,
    pub text: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {}: {}", self.place, self.severity, self.text)
    }
}

/// How the language of a grammar relates to that of the file it came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    #[default]
    Same,
    /// Accepts at least what the file says. Pruning by it is sound.
    Larger,
    /// Accepts only what the file says.
    Smaller,
    Unknown,
}

impl Language {
    /// The relation after a second change of the language.
    #[must_use]
    pub fn combine(self, other: Language) -> Language {
        match (self, other) {
            (Language::Same, x) | (x, Language::Same) => x,
            (x, y) if x == y => x,
            _ => Language::Unknown,
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Language::Same => "same language",
            Language::Larger => "larger language",
            Language::Smaller => "smaller language",
            Language::Unknown => "neither larger nor smaller for certain",
        })
    }
}
