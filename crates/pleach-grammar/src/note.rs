//! Places in grammar files, and notes to the user about them.

use std::fmt;
use std::sync::Arc;

/// A place in a grammar file. Lines and columns start at 1; line 0 is the whole file.
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

    /// For grammars that do not come from a file.
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
    /// The language is that of the file.
    Info,
    /// The language differs from that of the file, or a rule is suspicious.
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

/// What an importer or a check reports to the user.
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
    /// Every text of the file's language is accepted, and perhaps others. Texts that
    /// the grammar rejects can be pruned.
    Larger,
    /// Only texts of the file's language are accepted.
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
            Language::Unknown => "language may differ",
        })
    }
}
