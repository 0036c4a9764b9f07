//! What the inputs of a campaign exercised of its grammar.

use crate::commands::campaign::load_grammar;
use crate::exit::Failure;
use crate::show;
use pleach_campaign::findings::Findings;
use pleach_campaign::run::Kept;
use pleach_exec::growth::Growth;
use pleach_exec::{End, Target, TraceOptions};
use pleach_grammar::tree::Kind;
use pleach_grammar::{Automaton, Lexer, Parser};
use pleach_report::html::GrammarSection;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Longer inputs are not parsed.
const MAX_INPUT: usize = 64 << 10;
/// How many sentences are traced at most, to see if the program reads all of their tokens.
const MAX_TRACED: usize = 200;
/// How many rejected sentences are in the page, and how much of each.
const MAX_REJECTED: usize = 300;
const MAX_SHOWN: usize = 300;

/// The grammar, and what is known of it so far.
pub struct Exercised {
    grammar: Option<Result<Parser, String>>,
    section: GrammarSection,
    /// Inputs that were parsed.
    seen: HashSet<PathBuf>,
    traced: usize,
}

impl Exercised {
    pub fn of(findings: &Findings) -> Exercised {
        let grammar = findings.settings.grammar.as_ref().map(|asked| {
            let source = load_grammar(asked).map_err(|failure| failure.to_string())?;
            let lexer = Lexer::new(&source.grammar).map_err(|error| error.to_string())?;
            let automaton = Automaton::new(source.grammar).map_err(|error| error.to_string())?;
            Ok(Parser::new(Arc::new(automaton), lexer))
        });
        let mut section = GrammarSection::default();
        if let Some(Ok(parser)) = &grammar {
            let grammar = parser.grammar();
            let productions = grammar.production_ids();
            section.productions = productions.map(|id| (grammar.show(id), 0)).collect();
            let tokens = grammar.token_ids();
            section.tokens = tokens.map(|id| (grammar.token(id).shown(), 0)).collect();
        }
        Exercised { grammar, section, seen: HashSet::new(), traced: 0 }
    }

    /// The section of the page; `None` without a grammar.
    pub fn section(&mut self, findings: &mut Findings) -> Result<Option<GrammarSection>, Failure> {
        let Some(grammar) = &self.grammar else { return Ok(None) };
        let stats = findings.stats.clone();
        let section = &mut self.section;
        let parser = match grammar {
            Ok(parser) => parser,
            Err(why) => {
                let note = format!("The grammar cannot be read: {why}");
                return Ok(Some(GrammarSection { note, ..GrammarSection::default() }));
            }
        };
        let has_tokens = findings
            .layout
            .symbolic
            .tokens
            .iter()
            .any(|(_, f)| f.how != pleach_abi::token::How::Candidate);
        for i in 0..findings.inputs.len() {
            let input = &findings.inputs[i];
            if input.kept != Kept::Queue || !self.seen.insert(input.path.clone()) {
                continue;
            }
            let (end, len) = (input.end.clone(), input.len);
            let Some(bytes) = input.read().ok().filter(|_| len <= MAX_INPUT) else { continue };
            let Ok(parsed) = parser.parse(&bytes) else {
                section.foreign += 1;
                continue;
            };
            section.parsed += 1;
            let mut nodes: HashSet<(bool, usize)> = HashSet::new();
            for node in parsed.tree.nodes() {
                match node.kind {
                    Kind::Token(token, _) => nodes.insert((true, token.index())),
                    Kind::Rule(production) => nodes.insert((false, production.index())),
                };
            }
            for (is_token, index) in nodes {
                let list = if is_token { &mut section.tokens } else { &mut section.productions };
                if let Some((_, count)) = list.get_mut(index) {
                    *count += 1;
                }
            }
            let mut how = None;
            if has_tokens && self.traced < MAX_TRACED {
                self.traced += 1;
                how = stopped_at(findings, &bytes, parsed.lexemes.len())?;
            } else if !has_tokens {
                how = end.filter(|end| *end != End::Exit(0)).map(|end| show::end(&end));
            }
            if let Some(how) = how
                && section.rejected.len() < MAX_REJECTED
            {
                let text = String::from_utf8_lossy(&bytes);
                section.rejected.push((text.chars().take(MAX_SHOWN).collect(), how));
            }
        }
        section.note = format!(
            "{}. Counted are the inputs of the queue that the grammar derives.",
            findings.settings.grammar.as_ref().map_or_else(String::new, |g| g.file.to_string())
        );
        section.rejected_note = Some(match has_tokens {
            true => "The grammar has these sentences, and the program stopped before it had read \
                     all of their tokens."
                .into(),
            false => "The grammar has these sentences, and the program did not end with status 0. \
                      The program has no function that returns tokens, so this is all that shows."
                .into(),
        });
        section.rejected_at = stats.tokens.rejected_at.into_iter().collect();
        section.hints = stats.tokens.hints.into_iter().collect();
        Ok(Some(section.clone()))
    }
}

/// Where the program stopped, if it did not read all tokens of a sentence.
fn stopped_at(
    findings: &mut Findings,
    bytes: &[u8],
    tokens: usize,
) -> Result<Option<String>, Failure> {
    let options = TraceOptions {
        timeout: 10 * Duration::from_millis(findings.settings.timeout_ms),
        cpu_limit: None,
        tokens: true,
        holes: &[],
        growth: Growth::default(),
        losses: false,
    };
    let traced = findings.target().map_err(super::refused)?.trace(bytes, &options)?;
    let Ok(trace) = traced.trace else { return Ok(None) };
    let read = trace.tokens.len();
    let is_rejected = read < tokens && matches!(traced.outcome.end, End::Exit(_));
    Ok(is_rejected
        .then(|| format!("after {read} of {tokens} tokens, {}", show::end(&traced.outcome.end))))
}
