//! `pleach grammar count`: counts derivations or strings.

use super::{Source, UnitName};
use crate::exit::{Code, Failure};
use crate::show;
use pleach_grammar::count::{Counts, Unit, by_height};
use pleach_grammar::enumerate::{Enumerator, Limits};
use pleach_grammar::symbolic::{Abstraction, Symbolic};
use std::collections::HashSet;
use std::io::Write;

/// Distinct strings are kept in memory, so there is a limit.
const MAX_DISTINCT: usize = 20_000_000;

#[derive(clap::Args)]
pub struct Count {
    #[command(flatten)]
    source: Source,
    /// Maximum length
    #[arg(long, value_name = "N", default_value_t = 10, conflicts_with = "max_height")]
    max_length: usize,
    /// Count by height instead of length, up to this height
    #[arg(long, value_name = "H")]
    max_height: Option<usize>,
    /// Unit of lengths
    #[arg(long, value_enum, default_value = "bytes")]
    unit: UnitName,
    /// Count distinct strings instead of derivations
    #[arg(long, conflicts_with = "max_height")]
    distinct: bool,
    /// Count derivations of the symbolic grammar
    #[arg(long)]
    symbolic: bool,
}

pub fn run(args: &Count) -> Result<Code, Failure> {
    let mut grammar = args.source.load()?;
    if args.symbolic {
        let symbolic =
            Symbolic::new(&grammar, |_| Abstraction::Auto).map_err(Failure::user_error)?;
        grammar = symbolic.grammar.into();
    }
    let unit = Unit::from(args.unit);
    let unit_name = match unit {
        Unit::Bytes => "bytes",
        Unit::Tokens => "tokens",
    };
    let mut out = show::out();
    if let Some(height) = args.max_height {
        writeln!(out, "height  derivations up to it")?;
        let numbers = by_height(&grammar, unit, height).map_err(Failure::user_error)?;
        for (height, number) in numbers.iter().enumerate().skip(1) {
            writeln!(out, "{height:>6}  {number}")?;
        }
    } else if args.distinct {
        let limits = Limits { unit, longest: args.max_length, highest: None, constants: None };
        let all = Enumerator::new(&grammar, &limits).map_err(Failure::user_error)?;
        let mut numbers = vec![0u64; args.max_length + 1];
        let mut seen: HashSet<Vec<u8>> = HashSet::new();
        all.walk(|d| {
            let length = if unit == Unit::Bytes { d.bytes.len() } else { d.tokens.len() };
            let key = match unit {
                Unit::Bytes => d.bytes.to_vec(),
                Unit::Tokens => d.tokens.iter().flat_map(|t| t.0.0.to_le_bytes()).collect(),
            };
            numbers[length] += u64::from(seen.insert(key));
            seen.len() <= MAX_DISTINCT
        });
        if seen.len() > MAX_DISTINCT {
            let message = "there are more than {} distinct strings; use a smaller --max-length";
            let message = message.replace("{}", &MAX_DISTINCT.to_string());
            return Err(Failure::user_error(anyhow::anyhow!(message)));
        }
        writeln!(out, "length in {unit_name}  strings  up to it")?;
        let mut sum = 0;
        for (length, number) in numbers.iter().enumerate() {
            sum += number;
            writeln!(out, "{length:>6}  {number}  {sum}")?;
        }
    } else {
        let counts = Counts::new(&grammar, unit, args.max_length).map_err(Failure::user_error)?;
        writeln!(out, "length in {unit_name}  derivations  up to it")?;
        for length in 0..=args.max_length {
            writeln!(out, "{length:>6}  {}  {}", counts.of_length(length), counts.up_to(length))?;
        }
    }
    out.flush()?;
    Ok(Code::Ok)
}
