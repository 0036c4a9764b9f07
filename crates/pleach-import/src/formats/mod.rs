//! The formats that can be imported: [`FORMATS`] lists them, and each has a module.
//!
//! The command line and the documents take what they say about formats from this
//! table. A new format is a new module here and a new entry in the table; see
//! `docs/contributing/add-an-importer.md`.

mod antlr;
mod ebnf;
mod fuzzingbook;
pub mod hampi;
mod lex;
mod tokens;
mod treesitter;
pub(crate) mod yacc;

use std::path::Path;

use self::ebnf::{abnf, iso, w3c};
use crate::{ImportError, Options};
use pleach_grammar::Grammar;

/// All formats. If the name of a file does not decide, the first format that
/// recognises the text is taken, so those that recognise almost any text come last.
pub const FORMATS: &[Format] = &[
    Format {
        name: "yacc",
        extensions: &["y", "yy", "ypp", "y++", "yxx", "yacc", "bison"],
        about: "yacc and bison; `--lexer` names the lexer",
        companions: Companions::LexerAndKeywords,
        recognises: Some(yacc::recognises),
        import: yacc::import,
    },
    Format {
        name: "lex",
        extensions: &["l", "ll", "lpp", "l++", "lxx", "lex", "flex"],
        about: "lex and flex; alone, any sequence of the tokens",
        recognises: Some(lex::recognises),
        import: lex::import,
        ..Format::ONE_FILE
    },
    Format {
        name: "ANTLR 4",
        extensions: &["g4"],
        about: "with its lexer and imports, found beside the file",
        companions: Companions::Lexer,
        recognises: Some(antlr::recognises),
        import: antlr::import,
    },
    Format {
        name: "tree-sitter",
        extensions: &["json"],
        about: "`src/grammar.json` of a tree-sitter parser",
        recognises: Some(treesitter::recognises),
        import: treesitter::import,
        ..Format::ONE_FILE
    },
    Format {
        name: "fuzzing book",
        extensions: &["json"],
        about: "JSON of the fuzzing book, F1, AFL++ grammar mutator",
        recognises: Some(fuzzingbook::recognises),
        import: fuzzingbook::import,
        ..Format::ONE_FILE
    },
    Format {
        name: "HAMPI",
        extensions: &["hmp"],
        about: "the `cfg` statements of a HAMPI file",
        recognises: Some(hampi::recognises),
        import: hampi::import,
        ..Format::ONE_FILE
    },
    Format {
        name: "W3C EBNF",
        extensions: &["ebnf", "bnf"],
        about: "EBNF with `::=`, as in the XML standard, and BNF",
        recognises: Some(w3c::recognises),
        import: w3c::import,
        ..Format::ONE_FILE
    },
    Format {
        name: "ABNF",
        extensions: &["abnf", "ebnf", "bnf"],
        about: "RFC 5234 with the strings of RFC 7405",
        recognises: Some(abnf::recognises),
        import: abnf::import,
        ..Format::ONE_FILE
    },
    Format {
        name: "ISO EBNF",
        extensions: &["ebnf", "bnf"],
        about: "ISO 14977, and the EBNF of Wirth and of Go",
        recognises: Some(iso::recognises),
        import: iso::import,
        ..Format::ONE_FILE
    },
    Format {
        name: "tokens",
        extensions: &["tokens"],
        about: "names and patterns for a lexer written by hand",
        import: tokens::import,
        ..Format::ONE_FILE
    },
];

/// The names of all formats, for help.
pub fn format_names() -> String {
    let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    names.join(", ")
}

/// A format as the rest of Pleach sees it.
pub struct Format {
    pub name: &'static str,
    /// In small letters, without the dot. Several formats may share one.
    pub extensions: &'static [&'static str],
    /// One short line for help and documents.
    pub about: &'static str,
    companions: Companions,
    /// True if a text looks like this format. Asked only if the extension of the file
    /// is unknown or shared. `None` for formats that only an extension shows.
    recognises: Option<fn(&[u8]) -> bool>,
    import: fn(&Input) -> Result<Grammar, ImportError>,
}

/// The files that an importer reads besides the grammar, if the user names them.
/// Others get a note that they are not read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Companions {
    None,
    Lexer,
    LexerAndKeywords,
}

/// What an importer gets.
pub(crate) struct Input<'a> {
    /// The name of the grammar's file, for messages.
    pub file: &'a str,
    pub bytes: &'a [u8],
    /// The lexer that the user named: file name and text.
    pub lexer: Option<(&'a str, &'a [u8])>,
    pub options: &'a Options,
    pub find: &'a FindFile<'a>,
}

/// Looks for a file that a grammar mentions, and returns its name and text.
type FindFile<'a> = dyn Fn(&str) -> Option<(String, Vec<u8>)> + 'a;

impl Format {
    /// What holds for most formats: one file has everything, and its extension says
    /// which format it is.
    const ONE_FILE: Format = Format {
        name: "",
        extensions: &[],
        about: "",
        companions: Companions::None,
        recognises: None,
        import: |input| Err(ImportError::Format { file: input.file.into() }),
    };

    /// The format of a file, by its extension if that is known, otherwise by its
    /// text. If several formats share the extension, the text decides, and the last
    /// of them takes what none recognises.
    pub fn detect(file: &str, bytes: &[u8]) -> Option<&'static Format> {
        let extension = extension(file);
        let named: Vec<&Format> =
            FORMATS.iter().filter(|format| format.extensions.contains(&&*extension)).collect();
        match named[..] {
            [] => FORMATS.iter().find(|format| format.looks_like(bytes)),
            [only] => Some(only),
            [.., last] => {
                Some(named.into_iter().find(|format| format.looks_like(bytes)).unwrap_or(last))
            }
        }
    }

    /// True if the format can be found by the text of a file alone.
    pub fn is_found_by_text(&self) -> bool {
        self.recognises.is_some()
    }

    fn looks_like(&self, bytes: &[u8]) -> bool {
        self.recognises.is_some_and(|recognises| recognises(bytes))
    }

    pub(crate) fn import(&self, input: &Input) -> Result<Grammar, ImportError> {
        (self.import)(input)
    }

    pub(crate) fn reads_lexer(&self) -> bool {
        self.companions != Companions::None
    }

    pub(crate) fn reads_keywords(&self) -> bool {
        self.companions == Companions::LexerAndKeywords
    }
}

/// The extension of a file in small letters. `grammar.y.in` is a yacc file that a
/// configure script completes.
fn extension(file: &str) -> String {
    let name = file.strip_suffix(".in").unwrap_or(file);
    let extension = Path::new(name).extension().and_then(|e| e.to_str());
    extension.unwrap_or_default().to_ascii_lowercase()
}
