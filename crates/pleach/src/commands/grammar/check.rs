//! `pleach grammar check`: prints remarks on a grammar, and its sizes.

use super::Source;
use crate::exit::{Code, Failure};
use crate::show;
use pleach_grammar::ambiguity::{self, Limits, Verdict};
use pleach_grammar::{Analysis, Automaton, Pattern, Severity};
use std::io::Write;
use std::sync::Arc;

#[derive(clap::Args)]
pub struct Check {
    #[command(flatten)]
    source: Source,
}

/// Ends with status 1 if there is a warning.
pub fn run(args: &Check) -> Result<Code, Failure> {
    let grammar = args.source.load()?;
    let analysis = Analysis::new(&grammar);
    let mut notes = grammar.notes.clone();
    notes.extend(analysis.notes(&grammar));
    let verdict = ambiguity::search(&grammar, &analysis, Limits::default());
    if let Verdict::Ambiguous(witnesses) = &verdict {
        notes.extend(witnesses.iter().map(|witness| witness.note(&grammar)));
    }
    let mut out = show::out();
    for note in &notes {
        writeln!(out, "{note}")?;
    }
    let start = grammar.start.index();
    let count = |flags: &[bool]| flags.iter().filter(|f| **f).count();
    let unknown = grammar.tokens.iter().filter(|t| t.pattern == Pattern::Unknown).count();
    writeln!(out, "tokens           {}", grammar.tokens.len())?;
    if unknown > 0 {
        writeln!(out, "  by name only   {unknown}")?;
    }
    writeln!(out, "rules            {}", grammar.rules.len())?;
    writeln!(out, "  can be empty   {}", count(&analysis.nullable))?;
    writeln!(out, "  left-recursive {}", count(&analysis.left_recursive))?;
    writeln!(out, "productions      {}", grammar.productions.len())?;
    writeln!(out, "separators       {}", grammar.separators.len())?;
    writeln!(out, "start            {}", grammar.rule(grammar.start).name)?;
    writeln!(out, "shortest         {} tokens", analysis.length[start])?;
    writeln!(out, "lowest           height {}", analysis.height[start])?;
    let automaton = Automaton::new(Arc::clone(&grammar)).map_err(Failure::user_error)?;
    writeln!(out, "chart states     {}", automaton.states())?;
    let ambiguity = match &verdict {
        Verdict::Unambiguous => "none: one token of lookahead decides".into(),
        Verdict::Endless => "endless".into(),
        Verdict::Ambiguous(witnesses) => format!("found in {} rules", witnesses.len()),
        Verdict::Unknown { tokens } => format!("none found in parts of up to {tokens} tokens"),
    };
    writeln!(out, "ambiguity        {ambiguity}")?;
    writeln!(out, "import           {}", grammar.language)?;
    out.flush()?;
    let warned = notes.iter().any(|n| n.severity == Severity::Warning);
    Ok(if warned { Code::Failed } else { Code::Ok })
}
