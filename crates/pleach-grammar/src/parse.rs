//! Parsing for every grammar: bytes to tokens to a derivation tree.
//!
//! If one token of lookahead decides, [`Lalr`] parses. Otherwise the chart does, in
//! linear time for most grammars and in cubic time at worst. The first attempt uses the
//! tokens of the lexer. If it fails, a second one gives the chart all tokens that match
//! the text of each lexeme, with a penalty on those that the lexer did not choose.
//!
//! With [`Lexing::Context`] there is a third attempt. At each place, the matches of the
//! lexer are offered to the chart, the longest first. If none is accepted, the parser
//! goes back to the last place with another match, a limited number of times. For
//! example, `//` in a string looks like a comment until the end of the string is
//! missing.

use crate::chart::{Automaton, Chart};
use crate::grammar::{Grammar, Lexing, TokenId};
use crate::lalr::Lalr;
use crate::lexer::{Lexeme, Lexer};
use crate::token_set::TokenSet;
use crate::tree::Tree;
use pleach_work::Task;
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

/// Entries of the chart, of about 32 bytes each.
const MAX_ENTRIES: usize = 100_000_000;
/// Work on the chart for each entry that it may have: an ambiguous grammar visits entries
/// many times.
const WORK_PER_ENTRY: u64 = 64;
/// For tokens in context: how often the parser goes back.
const MAX_RETURNS: usize = 10_000;
/// For tokens in context: places that the parser can go back to.
const MAX_BRANCHES: usize = 4096;
/// For tokens in context: other matches that are stored for each place.
const MAX_OTHERS: usize = 16;

pub struct Parser {
    automaton: Arc<Automaton>,
    lexer: Lexer,
    /// Built at its first use.
    lalr: OnceLock<Option<Lalr>>,
    max_entries: usize,
}

#[derive(Debug)]
pub struct Parsed {
    pub tree: Tree,
    /// One for each leaf of the tree, with the token of that leaf.
    pub lexemes: Vec<Lexeme>,
}

/// Matches at a place: the end of each, and its lexeme unless it is a separator.
type Readings = std::vec::IntoIter<(usize, Option<Lexeme>)>;

/// A place with other matches that were not tried.
struct Branch {
    left: Readings,
    /// The number of tokens before it.
    tokens: usize,
}

/// Why an input is not parsed.
#[derive(Debug, thiserror::Error)]
pub enum ParseError {
    #[error("{place}: no token begins here")]
    Lexical { place: Spot },
    #[error("{place}: {found} is not expected here; {}", expectation(.expected))]
    Syntax {
        place: Spot,
        found: String,
        expected: Vec<String>,
        /// A tree of the input up to here, completed with as few tokens as possible.
        /// Leaves from number `read` on are not in the input.
        partial: Box<Tree>,
        read: usize,
    },
    #[error("the input is too ambiguous for this grammar: more than {0} chart entries")]
    TooLarge(usize),
}

/// A place in an input. Lines and columns start at 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    pub offset: usize,
    pub line: usize,
    pub column: usize,
}

impl Spot {
    pub fn new(input: &[u8], offset: usize) -> Spot {
        let before = &input[..offset.min(input.len())];
        let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|&&b| b != b'\n').count() + 1;
        Spot { offset, line, column }
    }
}

impl std::fmt::Display for Spot {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

fn expectation(expected: &[String]) -> String {
    const MAX_SHOWN: usize = 8;
    let mut text = format!("expected {}", expected[..expected.len().min(MAX_SHOWN)].join(", "));
    if expected.len() > MAX_SHOWN {
        text.push_str(&format!(" or one of {} others", expected.len() - MAX_SHOWN));
    }
    text
}

impl Parser {
    pub fn new(automaton: Arc<Automaton>, lexer: Lexer) -> Parser {
        Parser { automaton, lexer, lalr: OnceLock::new(), max_entries: MAX_ENTRIES }
    }

    /// Limits the entries of a chart. A parse that needs more fails.
    pub fn with_entries(self, max_entries: usize) -> Parser {
        Parser { max_entries, ..self }
    }

    pub fn grammar(&self) -> &Arc<Grammar> {
        &self.automaton.grammar
    }

    pub fn lexer(&self) -> &Lexer {
        &self.lexer
    }

    pub fn parse(&self, input: &[u8]) -> Result<Parsed, ParseError> {
        let _parsing = pleach_work::enter(Task::Parse);
        let parsed = self.parse_longest(input);
        let is_refused =
            matches!(parsed, Err(ParseError::Lexical { .. } | ParseError::Syntax { .. }));
        if is_refused && self.grammar().lexing == Lexing::Context {
            return self.parse_in_context(input)?.map_or(parsed, Ok);
        }
        parsed
    }

    /// Parses with the tokens that the chart accepts at each place.
    fn parse_in_context(&self, input: &[u8]) -> Result<Option<Parsed>, ParseError> {
        let mut chart = Chart::new(Arc::clone(&self.automaton));
        let mut lexemes: Vec<Lexeme> = Vec::new();
        let mut branches: VecDeque<Branch> = VecDeque::new();
        let (mut returns, mut scanned) = (0, 0);
        let mut left = self.readings(input, 0);
        loop {
            let accepted = left.find(|(_, lexeme)| match lexeme {
                Some(lexeme) => self.push_any(&mut chart, lexeme),
                None => true,
            });
            if let Some((end, lexeme)) = accepted {
                let tokens = lexemes.len();
                lexemes.extend(lexeme);
                if end == input.len()
                    && let Some(tree) = chart.tree()
                {
                    return Ok(Some(finish(tree, lexemes)));
                }
                let others: Vec<_> = left.take(MAX_OTHERS).collect();
                if !others.is_empty() {
                    branches.push_back(Branch { left: others.into_iter(), tokens });
                    if branches.len() > MAX_BRANCHES {
                        branches.pop_front();
                    }
                }
                left = self.readings(input, end);
                // The longest match was read.
                let longest = left.as_slice().first().map_or(0, |(to, _)| to - end);
                scanned += 1 + longest as u64;
                self.check_size(&chart, scanned)?;
                continue;
            }
            let Some(last) = branches.pop_back().filter(|_| returns < MAX_RETURNS) else {
                // The empty input has no matches, but may be a sentence.
                let tree = input.is_empty().then(|| chart.tree()).flatten();
                return Ok(tree.map(|tree| finish(tree, lexemes)));
            };
            returns += 1;
            left = last.left;
            lexemes.truncate(last.tokens);
            chart.truncate(last.tokens);
        }
    }

    /// All matches at a place, the longest first.
    fn readings(&self, input: &[u8], at: usize) -> Readings {
        if at == input.len() {
            return Vec::new().into_iter();
        }
        let (mut readings, mut has_separator) = (Vec::new(), false);
        for found in self.lexer.matches(input, at) {
            if let Some(lexeme) = found.lexeme {
                readings.push((found.end, Some(lexeme)));
            }
            // Only the longest separator: a comment must not end before its end.
            if found.separator && !std::mem::replace(&mut has_separator, true) {
                readings.push((found.end, None));
            }
        }
        readings.into_iter()
    }

    /// Pushes all tokens that match the text of a lexeme. The choice of the lexer is
    /// preferred.
    fn push_any(&self, chart: &mut Chart, lexeme: &Lexeme) -> bool {
        let all = self.lexer.alternatives(lexeme);
        match all.single() {
            Some(token) => chart.push_token(token),
            None => chart.push_near(all, lexeme.token, 1),
        }
    }

    /// Parses with the longest matches: the tokens of the lexer, or others for the same
    /// texts.
    fn parse_longest(&self, input: &[u8]) -> Result<Parsed, ParseError> {
        let lexemes = self
            .lexer
            .lex(input)
            .map_err(|e| ParseError::Lexical { place: Spot::new(input, e.offset) })?;
        if let Some(lalr) = self.lalr.get_or_init(|| Lalr::new(self.grammar()))
            && let Some(tree) = lalr.tree(lexemes.iter().map(|l| l.token))
        {
            return Ok(Parsed { tree, lexemes });
        }
        let mut chart = Chart::new(Arc::clone(&self.automaton));
        let winners = |chart: &mut Chart, l: &Lexeme| chart.push_token(l.token);
        if let Some(tree) = self.run(&mut chart, &lexemes, winners)? {
            return Ok(finish(tree, lexemes));
        }
        let has_several = |l: &Lexeme| self.lexer.alternatives(l).single().is_none();
        if lexemes.iter().any(has_several) {
            let mut second = Chart::new(Arc::clone(&self.automaton));
            let all = |chart: &mut Chart, l: &Lexeme| self.push_any(chart, l);
            if let Some(tree) = self.run(&mut second, &lexemes, all)? {
                return Ok(finish(tree, lexemes));
            }
            if second.len() > chart.len() {
                chart = second;
            }
        }
        Err(self.explain(input, &mut chart, &lexemes))
    }

    fn run(
        &self,
        chart: &mut Chart,
        lexemes: &[Lexeme],
        push: impl Fn(&mut Chart, &Lexeme) -> bool,
    ) -> Result<Option<Tree>, ParseError> {
        for lexeme in lexemes {
            if !push(chart, lexeme) {
                return Ok(None);
            }
            self.check_size(chart, 0)?;
        }
        pleach_work::count(chart.work() + lexemes.len() as u64);
        Ok(chart.tree())
    }

    /// Refuses a chart that is too large, or took too much work. `scanned` is the work of
    /// the lexer.
    fn check_size(&self, chart: &Chart, scanned: u64) -> Result<(), ParseError> {
        let max_work = WORK_PER_ENTRY * self.max_entries as u64;
        let is_too_large = chart.entries() > self.max_entries || chart.work() + scanned > max_work;
        if is_too_large || pleach_work::is_stopping() {
            pleach_work::count(chart.work() + scanned);
            return Err(ParseError::TooLarge(self.max_entries));
        }
        Ok(())
    }

    /// The error for the place at which a chart refused a token.
    fn explain(&self, input: &[u8], chart: &mut Chart, lexemes: &[Lexeme]) -> ParseError {
        let grammar = self.grammar();
        let read = chart.len();
        let (offset, found) = match lexemes.get(read) {
            Some(l) => (l.span.0, grammar.token(l.token).name.clone()),
            None => (input.len(), "the end of the input".into()),
        };
        let mut expected: Vec<String> =
            chart.expected().iter().map(|t| grammar.token(t).name.clone()).collect();
        if chart.tree().is_some() {
            expected.push("the end of the input".into());
        }
        let completion = chart.complete();
        let partial = completion.and_then(|c| {
            let mut whole = Chart::new(Arc::clone(&self.automaton));
            c.tokens.iter().all(|&t| whole.push_token(t)).then(|| whole.tree()).flatten()
        });
        let partial = Box::new(partial.unwrap_or_else(Tree::empty));
        ParseError::Syntax { place: Spot::new(input, offset), found, expected, partial, read }
    }
}

fn finish(tree: Tree, mut lexemes: Vec<Lexeme>) -> Parsed {
    for (lexeme, token) in lexemes.iter_mut().zip(tree.tokens()) {
        lexeme.token = token;
    }
    Parsed { tree, lexemes }
}

impl Chart {
    /// The tokens that can come next.
    pub fn expected(&mut self) -> TokenSet {
        let universe = self.automaton().grammar.tokens.len();
        let automaton = Arc::clone(self.automaton());
        let ids = automaton.grammar.token_ids();
        let at = self.len();
        let mut is_accepted = |t: &TokenId| {
            let pushed = self.push_token(*t);
            self.truncate(at);
            pushed
        };
        TokenSet::of(universe, ids.filter(|t| is_accepted(t)))
    }
}
