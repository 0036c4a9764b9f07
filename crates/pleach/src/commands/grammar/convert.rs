//! `pleach grammar convert`: writes a grammar in another format.

use super::Source;
use crate::exit::{Code, Failure};
use crate::show;
use pleach_grammar::convert::{Form, convert};
use std::io::Write;

#[derive(Clone, Copy, clap::ValueEnum)]
enum FormName {
    Ebnf,
    G4,
    Json,
    Hampi,
}

#[derive(clap::Args)]
pub struct Convert {
    #[command(flatten)]
    source: Source,
    /// The format: W3C's EBNF, ANTLR 4, the JSON of F1 and the Fuzzing Book, or HAMPI's cfg
    #[arg(long, value_enum)]
    to: FormName,
}

pub fn run(args: &Convert) -> Result<Code, Failure> {
    let grammar = args.source.load()?;
    let form = match args.to {
        FormName::Ebnf => Form::Ebnf,
        FormName::G4 => Form::G4,
        FormName::Json => Form::Json,
        FormName::Hampi => Form::Hampi,
    };
    let (text, notes) = convert(&grammar, form).map_err(Failure::user_error)?;
    for note in notes {
        eprintln!("pleach: {}: note: {note}", args.source.grammar.display());
    }
    let mut out = show::out();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(Code::Ok)
}
