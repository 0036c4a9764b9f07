//! Importers: from grammar files that people have to a [`Grammar`]. They read yacc
//! and lex, ANTLR 4, EBNF dialects, tree-sitter, the fuzzing book's JSON and HAMPI's
//! `cfg`, all unmodified.
//!
//! Each module of `formats` reads one format. Beside it is what several formats
//! share: the text of a file (`text`), right-hand sides of rules (`tree`), the tokens
//! of a lexer (`lexicon`).
//!
//! An importer reports what it cannot express as a [`Note`] with file and line.
//! [`Grammar::language`] says whether the grammar accepts the same texts as the file,
//! more, or fewer. A file of any size and content gives a grammar or one message with
//! file, line and column: sizes, nesting and expansion are limited ([`MAX_FILE`],
//! [`MAX_NESTING`]), and nothing panics.
//!
//! Not here, on purpose:
//! - Uses of a grammar. Those are in `pleach-grammar`, which knows no file format;
//!   its `convert` also writes grammars.
//! - The meaning of C. Actions are skipped, or a few plain forms of them are
//!   recognised. Nothing is compiled or run.

#![forbid(unsafe_code)]

mod ccode;
mod formats;
mod javascript;
mod json;
mod lexicon;
mod scanner;
mod text;
mod tree;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::formats::Input;
pub use self::formats::yacc::{Ambiguity, KeywordFiles};
pub use self::formats::{FORMATS, Format, format_names, hampi};
pub use self::text::{MAX_FILE, MAX_NESTING};
use pleach_automata::dfa::MAX_PIECES;
use pleach_grammar::{Grammar, GrammarError, Note, Pattern, Place, Severity};

/// Reads a grammar, and the lexer that belongs to it, in any of the [`FORMATS`]. Files
/// that an ANTLR grammar names are looked for beside it.
pub fn load(path: &Path, lexer: Option<&Path>) -> Result<Grammar, ImportError> {
    load_with(path, lexer, &Options::default())
}

/// What the user can choose besides the files.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub ambiguity: Ambiguity,
    pub keywords: KeywordFiles,
}

/// Reads the files that `--keywords` names.
pub fn read_keywords(paths: &[PathBuf], caseless: bool) -> Result<KeywordFiles, ImportError> {
    let mut files = Vec::new();
    for path in paths {
        files.push((path.display().to_string(), read_file(path)?));
    }
    Ok(KeywordFiles { files, caseless })
}

/// The same as [`load`] with options.
pub fn load_with(
    path: &Path,
    lexer: Option<&Path>,
    options: &Options,
) -> Result<Grammar, ImportError> {
    let bytes = read_file(path)?;
    let lexer = match lexer {
        Some(path) => Some((path.display().to_string(), read_file(path)?)),
        None => None,
    };
    let lexer = lexer.as_ref().map(|(file, bytes)| (file.as_str(), bytes.as_slice()));
    let find = |name: &str| {
        // Build tools of ANTLR keep imported grammars in `imports`.
        let places =
            [format!("{name}.g4"), format!("imports/{name}.g4"), format!("../imports/{name}.g4")];
        places.iter().find_map(|place| {
            let path = path.with_file_name(place);
            read_file(&path).ok().map(|bytes| (path.display().to_string(), bytes))
        })
    };
    let file = path.display().to_string();
    import(&Input { file: &file, bytes: &bytes, lexer, options, find: &find })
}

/// The same as [`load`] from memory. `file` is the name for messages; its extension
/// selects the format.
pub fn from_bytes(
    file: &str,
    bytes: &[u8],
    lexer: Option<(&str, &[u8])>,
) -> Result<Grammar, ImportError> {
    from_bytes_with(file, bytes, lexer, &Options::default())
}

/// The same as [`from_bytes`] with options.
pub fn from_bytes_with(
    file: &str,
    bytes: &[u8],
    lexer: Option<(&str, &[u8])>,
    options: &Options,
) -> Result<Grammar, ImportError> {
    import(&Input { file, bytes, lexer, options, find: &|_| None })
}

/// Parses a regular expression in JavaScript's syntax; the error is a message.
pub fn regex(pattern: &str) -> Result<pleach_grammar::Regex, String> {
    let parsed = javascript::parse(pattern, "")?;
    match parsed.has_anchors {
        true => Err(format!("/{pattern}/: anchors and word boundaries are not supported here")),
        false => Ok(parsed.regex),
    }
}

/// Checks for all formats: a message about missing rules names the file, and no token
/// is too large for a lexer.
fn checked(file: &str, imported: Result<Grammar, ImportError>) -> Result<Grammar, ImportError> {
    let grammar = match imported {
        Err(ImportError::Grammar(GrammarError::NoRules { .. })) => {
            let place = Place::new(&file.into(), 1, 1);
            return Err(GrammarError::NoRules { place }.into());
        }
        done => done?,
    };
    for token in &grammar.tokens {
        if let Pattern::Regex(regex) = &token.pattern
            && regex.pieces() > MAX_PIECES
        {
            let (name, place) = (token.name.clone(), token.place.clone());
            return Err(GrammarError::Expression { name, place }.into());
        }
    }
    Ok(grammar)
}

/// Imports a file in whatever format it has.
fn import(input: &Input) -> Result<Grammar, ImportError> {
    let Input { file, bytes, .. } = *input;
    let format = Format::detect(file, bytes);
    let format = format.ok_or_else(|| ImportError::Format { file: file.into() })?;
    let mut grammar = checked(file, format.import(input))?;
    let mut unread = Vec::new();
    if !format.reads_lexer() {
        unread.extend(input.lexer.map(|(name, _)| (name, "lexer")));
    }
    if !format.reads_keywords() {
        let files = &input.options.keywords.files;
        unread.extend(files.iter().map(|(name, _)| (name.as_str(), "list of keywords")));
    }
    for (name, what) in unread {
        let place = Place::new(&name.into(), 0, 0);
        let text = format!(
            "this {what} is ignored: a grammar of format {} has its own tokens",
            format.name
        );
        grammar.notes.push(Note { place, severity: Severity::Warning, text });
    }
    Ok(grammar)
}

/// Reads a file, but no more than [`MAX_FILE`] bytes of it, whatever size it claims.
fn read_file(path: &Path) -> Result<Vec<u8>, ImportError> {
    let failed = |problem| ImportError::Read { path: path.to_owned(), problem };
    let mut bytes = Vec::new();
    let mut file = File::open(path).map_err(failed)?.take(MAX_FILE as u64 + 1);
    file.read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > MAX_FILE {
        return Err(ImportError::TooLarge { file: path.display().to_string().into() });
    }
    Ok(bytes)
}

/// All are errors in the user's file or path.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("{}: {problem}", path.display())]
    Read { path: PathBuf, problem: io::Error },
    #[error("{file}: the file is too large for a grammar; the limit is {MAX_FILE} bytes")]
    TooLarge { file: Arc<str> },
    #[error("{file}: unknown grammar format; `pleach grammar check --help` lists the formats")]
    Format { file: Arc<str> },
    #[error("{place}: {message}")]
    Syntax { place: Place, message: String },
    #[error("{}", text::one_line(&.0.to_string()))]
    Grammar(GrammarError),
}

impl From<GrammarError> for ImportError {
    fn from(problem: GrammarError) -> ImportError {
        ImportError::Grammar(problem)
    }
}
