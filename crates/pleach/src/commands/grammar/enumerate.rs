//! `pleach grammar enumerate`: prints every derivation within bounds.

use super::{Source, UnitName};
use crate::exit::{Code, Failure};
use crate::show;
use pleach_grammar::count::Unit;
use pleach_grammar::enumerate::{Enumerator, Limits};
use pleach_grammar::symbolic::{Abstraction, CONSTANT, Symbolic};
use std::collections::HashSet;
use std::io::Write;

#[derive(clap::Args)]
pub struct Enumerate {
    #[command(flatten)]
    source: Source,
    /// Maximum length
    #[arg(long, value_name = "N", default_value_t = 6)]
    max_length: usize,
    /// Maximum height [default: no limit]
    #[arg(long, value_name = "H")]
    max_height: Option<usize>,
    /// Unit of lengths
    #[arg(long, value_enum, default_value = "bytes")]
    unit: UnitName,
    /// Print each string only once (keeps all strings in memory)
    #[arg(long)]
    distinct: bool,
    /// Enumerate the symbolic grammar, strings with few symbolic constants first
    #[arg(long)]
    symbolic: bool,
    /// Print at most N
    #[arg(long, value_name = "N")]
    count: Option<u64>,
    /// Print only the number of derivations
    #[arg(long)]
    quiet: bool,
}

pub fn run(args: &Enumerate) -> Result<Code, Failure> {
    let mut grammar = args.source.load()?;
    let mut constants = None;
    if args.symbolic {
        let symbolic =
            Symbolic::new(&grammar, |_| Abstraction::Auto).map_err(Failure::user_error)?;
        constants = Some(symbolic.constants);
        grammar = symbolic.grammar.into();
    }
    let unit = Unit::from(args.unit);
    let is_constant = |t: usize| constants.as_ref().is_some_and(|c: &Vec<bool>| c[t]);
    let limits = Limits {
        unit,
        longest: args.max_length,
        highest: args.max_height,
        constants: constants.clone(),
    };
    let all = Enumerator::new(&grammar, &limits).map_err(Failure::user_error)?;
    let detokenizer = super::detokenizer(&grammar)?;
    let mut out = show::out();
    let (mut failed, mut printed) = (None, 0u64);
    let mut seen: HashSet<Vec<u8>> = HashSet::new();
    let max_printed = args.count.unwrap_or(u64::MAX);
    if max_printed == 0 {
        return Ok(Code::Ok);
    }
    let mut line = Vec::new();
    all.walk(|d| {
        if args.distinct || !args.quiet {
            line.clear();
            let mut start = 0;
            let mut before: Option<(pleach_grammar::TokenId, &[u8])> = None;
            for &(token, end) in d.tokens {
                let text = &d.bytes[start as usize..end as usize];
                if is_constant(token.index()) {
                    line.extend_from_slice(CONSTANT.as_bytes());
                    before = None;
                } else {
                    if let Some((token, last)) = before {
                        line.extend_from_slice(detokenizer.between(token, last, text));
                    }
                    line.extend_from_slice(text);
                    before = Some((token, text));
                }
                start = end;
            }
            if args.distinct && !seen.insert(line.clone()) {
                return true;
            }
        }
        printed += 1;
        if !args.quiet {
            line.push(b'\n');
            if let Err(error) = out.write_all(&line) {
                failed = Some(error);
                return false;
            }
        }
        printed < max_printed
    });
    if let Some(error) = failed {
        return Err(error.into());
    }
    if args.quiet {
        writeln!(out, "{printed}")?;
    }
    out.flush()?;
    Ok(Code::Ok)
}
