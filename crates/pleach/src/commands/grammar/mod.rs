//! `pleach grammar`: commands on grammars, one file each.

mod check;
mod complete;
mod convert;
mod count;
mod enumerate;
mod parse;
mod reduce;
mod sample;
mod symbolic;

pub use self::symbolic::{parse_choices, parse_holes};
use crate::exit::{Code, Failure};
use clap::{Args, Subcommand};
use pleach_grammar::count::Unit;
use pleach_grammar::detokenize::Detokenizer;
use pleach_grammar::{Automaton, Grammar, Lexer, Parser, TokenId};
use pleach_import::{self as import, Ambiguity, FORMATS, Options};
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Subcommand)]
pub enum Command {
    /// Report useless rules, recursion, ambiguity and sizes
    Check(check::Check),
    /// Write the grammar in another format
    Convert(convert::Convert),
    /// Replace tokens by symbolic constants, and print the resulting grammar
    Symbolic(symbolic::Symbolic),
    /// Count derivations by length or height, exactly
    Count(count::Count),
    /// Print every derivation up to a length or height, each once
    Enumerate(enumerate::Enumerate),
    /// Print random sentences, or a few that cover the grammar
    Sample(sample::Sample),
    /// Print the derivation tree of an input
    Parse(parse::Parse),
    /// Print the input of a derivation tree
    Unparse(parse::Unparse),
    /// Make an input smaller while a command succeeds on it
    Reduce(reduce::Reduce),
    /// Complete the beginning of a sentence, with as few tokens as possible
    Complete(complete::Complete),
}

/// The options of all grammar commands.
#[derive(Args)]
pub struct Source {
    #[arg(help = format_names("Grammar file"), long_help = format_list("Grammar file"))]
    pub grammar: PathBuf,
    /// Lexer of the grammar: a lex or ANTLR file, or a list of tokens and patterns
    #[arg(long, value_name = "FILE")]
    pub lexer: Option<PathBuf>,
    #[command(flatten)]
    pub keywords: Keywords,
    /// Precedences of a yacc file (%left, %prec and so on): ignore them, or drop the
    /// derivations that they exclude
    #[arg(long, value_name = "WHAT", default_value = "keep")]
    pub precedence: Precedence,
}

/// Help in one line: `what`, and the names of all formats.
pub fn format_names(what: &str) -> String {
    format!("{what}: {}", import::format_names())
}

/// Help in full: one line for each format.
pub fn format_list(what: &str) -> String {
    let mut text = format!("{what}, in one of these formats:");
    for format in FORMATS {
        text.push_str(&format!("\n  {:<14} {}", format.name, format.about));
    }
    text
}

/// Keywords that the scanner looks up in a table.
#[derive(Args, Clone, Default)]
pub struct Keywords {
    /// File with words that the scanner of a yacc grammar looks up in a table: the C file
    /// with the table, or lines `word TOKEN`. Tables in the grammar and the lexer are found
    /// without this option
    #[arg(long, value_name = "FILE", requires = "grammar")]
    pub keywords: Vec<PathBuf>,
    /// Keywords are case-insensitive
    #[arg(long, requires = "grammar")]
    pub caseless_keywords: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
pub enum Precedence {
    /// Ignore precedences; the grammar stays ambiguous
    Keep,
    /// Drop the derivations that the yacc parser would never take
    Drop,
}

#[derive(Clone, Copy, clap::ValueEnum)]
pub enum UnitName {
    Bytes,
    Tokens,
}

impl From<UnitName> for Unit {
    fn from(name: UnitName) -> Unit {
        match name {
            UnitName::Bytes => Unit::Bytes,
            UnitName::Tokens => Unit::Tokens,
        }
    }
}

pub fn run(command: Command) -> Result<Code, Failure> {
    match command {
        Command::Check(args) => check::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Symbolic(args) => symbolic::run(&args),
        Command::Count(args) => count::run(&args),
        Command::Enumerate(args) => enumerate::run(&args),
        Command::Sample(args) => sample::run(&args),
        Command::Parse(args) => parse::run(&args),
        Command::Unparse(args) => parse::unparse(&args),
        Command::Reduce(args) => reduce::run(&args),
        Command::Complete(args) => complete::run(&args),
    }
}

impl Source {
    fn load(&self) -> Result<Arc<Grammar>, Failure> {
        let ambiguity = match self.precedence {
            Precedence::Keep => Ambiguity::Keep,
            Precedence::Drop => Ambiguity::Drop,
        };
        load(&self.grammar, self.lexer.as_deref(), &self.keywords, ambiguity)
    }

    fn parser(&self) -> Result<Parser, Failure> {
        let grammar = self.load()?;
        let lexer = Lexer::new(&grammar).map_err(Failure::user_error)?;
        let automaton = Automaton::new(grammar).map_err(Failure::user_error)?;
        Ok(Parser::new(Arc::new(automaton), lexer))
    }
}

/// Loads a grammar from the files that the user named.
pub fn load(
    grammar: &Path,
    lexer: Option<&Path>,
    keywords: &Keywords,
    ambiguity: Ambiguity,
) -> Result<Arc<Grammar>, Failure> {
    let Keywords { keywords, caseless_keywords } = keywords;
    let keywords = import::read_keywords(keywords, *caseless_keywords);
    let options = Options { ambiguity, keywords: keywords.map_err(Failure::user_error)? };
    let grammar = import::load_with(grammar, lexer, &options);
    grammar.map(Arc::new).map_err(Failure::user_error)
}

fn detokenizer(grammar: &Grammar) -> Result<Detokenizer, Failure> {
    Detokenizer::new(grammar).map_err(Failure::user_error)
}

/// Finds a token by its name or its text.
fn find_token(grammar: &Grammar, name: &str) -> Result<TokenId, Failure> {
    let quoted = format!("\"{name}\"");
    let found = grammar.find_token(name).or_else(|| grammar.find_token(&quoted));
    found.ok_or_else(|| Failure::user_error(anyhow::anyhow!("the grammar has no token {name}")))
}
