//! `pleach grammar …`: what can be done with a grammar, one file a command.

mod check;
mod complete;
mod convert;
mod count;
mod enumerate;
mod parse;
mod reduce;
mod sample;
mod symbolic;

pub use self::symbolic::{choices, holes};
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
    /// Report rules of no use, recursion, ambiguity where it is found, and sizes
    Check(check::Check),
    /// Write the grammar in another form
    Convert(convert::Convert),
    /// Replace tokens by symbolic constants, and print the grammar that results
    Symbolic(symbolic::Symbolic),
    /// Count derivations by length or height, exactly
    Count(count::Count),
    /// Print every derivation up to a length or height, each once
    Enumerate(enumerate::Enumerate),
    /// Print sentences at random, or few that cover much
    Sample(sample::Sample),
    /// Print the derivation tree of an input
    Parse(parse::Parse),
    /// Print the input of a tree that `parse` printed
    Unparse(parse::Unparse),
    /// Make an input smaller while a command keeps succeeding on it
    Reduce(reduce::Reduce),
    /// Complete a beginning, given as sets of tokens, to a shortest sentence
    Complete(complete::Complete),
}

/// What all of them take.
#[derive(Args)]
pub struct Source {
    #[arg(help = format_names("The grammar"), long_help = format_list("The grammar"))]
    pub grammar: PathBuf,
    /// Its lexer: a lex or ANTLR file, or a list of tokens and patterns
    #[arg(long, value_name = "FILE")]
    pub lexer: Option<PathBuf>,
    #[command(flatten)]
    pub keywords: Keywords,
    /// What %left, %right, %nonassoc and %prec of a yacc file are for: to drop the
    /// derivations that its parser would never take, or nothing
    #[arg(long, value_name = "WHAT", default_value = "keep")]
    pub precedence: Precedence,
}

/// Help in one line: `what`, and the names of all formats.
pub fn format_names(what: &str) -> String {
    format!("{what}: {}", import::format_names())
}

/// Help in full: one line a format.
pub fn format_list(what: &str) -> String {
    let mut text = format!("{what}, in one of these formats:");
    for format in FORMATS {
        text.push_str(&format!("\n  {:<14} {}", format.name, format.about));
    }
    text
}

/// Keywords that the scanner looks up in C, and not by a pattern.
#[derive(Args, Clone, Default)]
pub struct Keywords {
    /// Words that the scanner of a yacc grammar looks up in a table: the C file with the
    /// table, or lines `word TOKEN`; tables in grammar and lexer are found without this
    #[arg(long, value_name = "FILE", requires = "grammar")]
    pub keywords: Vec<PathBuf>,
    /// The scanner ignores the case of keywords
    #[arg(long, requires = "grammar")]
    pub caseless_keywords: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
pub enum Precedence {
    /// All derivations stay, and precedence is ambiguity
    Keep,
    /// Those that the parser would never take are gone
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
        let lexer = Lexer::new(&grammar).map_err(Failure::person)?;
        let automaton = Automaton::new(grammar).map_err(Failure::person)?;
        Ok(Parser::new(Arc::new(automaton), lexer))
    }
}

/// A grammar as a person names it.
pub fn load(
    grammar: &Path,
    lexer: Option<&Path>,
    keywords: &Keywords,
    ambiguity: Ambiguity,
) -> Result<Arc<Grammar>, Failure> {
    let Keywords { keywords, caseless_keywords } = keywords;
    let read = import::read_keywords(keywords, *caseless_keywords);
    let options = Options { ambiguity, keywords: read.map_err(Failure::person)? };
    let grammar = import::load_with(grammar, lexer, &options);
    grammar.map(Arc::new).map_err(Failure::person)
}

fn detokenizer(grammar: &Grammar) -> Result<Detokenizer, Failure> {
    Detokenizer::new(grammar).map_err(Failure::person)
}

/// The token that a person named, or a message.
fn find(grammar: &Grammar, name: &str) -> Result<TokenId, Failure> {
    let quoted = format!("\"{name}\"");
    let found = grammar.find_token(name).or_else(|| grammar.find_token(&quoted));
    found.ok_or_else(|| Failure::person(anyhow::anyhow!("the grammar has no token {name}")))
}
