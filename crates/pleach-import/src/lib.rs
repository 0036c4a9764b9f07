//! Importers: from grammar files that people have to a [`Grammar`]. They read yacc
//! and lex, ANTLR 4, EBNF dialects, tree-sitter, the fuzzing book's JSON and HAMPI's
//! `cfg`, all unmodified.
//!
//! Each module of `formats` reads one format. What several formats share is beside
//! it: a file under reading (`text`), right sides of rules (`tree`), the tokens of a
//! lexer (`lexicon`).
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
pub use self::formats::{FORMATS, Format, hampi};
pub use self::text::{MAX_FILE, MAX_NESTING};
use pleach_automata::dfa::MAX_PIECES;
use pleach_grammar::{Grammar, GrammarError, Note, Pattern, Place, Severity};

/// Reads a grammar, and the lexer beside it where the format has one, whatever
/// the formats are. A grammar of ANTLR finds the files that it names beside
/// itself.
pub fn load(path: &Path, lexer: Option<&Path>) -> Result<Grammar, ImportError> {
    load_with(path, lexer, &Options::default())
}

/// What a person can say beside the files.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub ambiguity: Ambiguity,
    pub keywords: KeywordFiles,
}

/// Reads the files that `--keywords` names.
pub fn read_keywords(paths: &[PathBuf], caseless: bool) -> Result<KeywordFiles, ImportError> {
    let mut files = Vec::new();
    for path in paths {
        files.push((path.display().to_string(), read(path)?));
    }
    Ok(KeywordFiles { files, caseless })
}

/// The same as [`load`] with options.
pub fn load_with(
    path: &Path,
    lexer: Option<&Path>,
    options: &Options,
) -> Result<Grammar, ImportError> {
    let bytes = read(path)?;
    let lexer = match lexer {
        Some(path) => Some((path.display().to_string(), read(path)?)),
        None => None,
    };
    let lexer = lexer.as_ref().map(|(file, bytes)| (file.as_str(), bytes.as_slice()));
    let find = |name: &str| {
        // Build tools of ANTLR keep what is only imported in `imports`.
        let places =
            [format!("{name}.g4"), format!("imports/{name}.g4"), format!("../imports/{name}.g4")];
        places.iter().find_map(|place| {
            let path = path.with_file_name(place);
            read(&path).ok().map(|bytes| (path.display().to_string(), bytes))
        })
    };
    let file = path.display().to_string();
    import(&Input { file: &file, bytes: &bytes, lexer, options, find: &find })
}

/// The same from memory; `file` is the name that messages use, and what its end
/// says about the format counts.
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

/// A regular expression as programmers write them; what is wrong with it in words.
pub fn regex(pattern: &str) -> Result<pleach_grammar::Regex, String> {
    let found = javascript::parse(pattern, "")?;
    match found.anchors {
        true => Err(format!("/{pattern}/: anchors and word boundaries have no meaning here")),
        false => Ok(found.regex),
    }
}

/// What holds for every format: a file without rules is named, and so is a token
/// that no lexer could be made for.
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

/// Finds the format, imports the file, and checks what holds for every format.
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
        let text = format!("the grammar has its own tokens; this {what} is not read");
        grammar.notes.push(Note { place, severity: Severity::Warning, text });
    }
    Ok(grammar)
}

/// A file, or what keeps it from being read. One that is too long is not read at
/// all, and neither is one that only claims to be short.
fn read(path: &Path) -> Result<Vec<u8>, ImportError> {
    let failed = |problem| ImportError::Read { path: path.to_owned(), problem };
    let mut bytes = Vec::new();
    let mut file = File::open(path).map_err(failed)?.take(MAX_FILE as u64 + 1);
    file.read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > MAX_FILE {
        return Err(ImportError::TooLarge { file: path.display().to_string().into() });
    }
    Ok(bytes)
}

/// All are faults of the file or of its path.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("{}: {problem}", path.display())]
    Read { path: PathBuf, problem: io::Error },
    #[error("{file}: the file is too long for a grammar: {MAX_FILE} bytes are the limit")]
    TooLarge { file: Arc<str> },
    #[error("{file}: neither the name nor the text of this file says what kind of grammar it is")]
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
