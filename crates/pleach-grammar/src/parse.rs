//! Parsing: bytes to tokens to a derivation tree, for every grammar.
//!
//! Where one token of lookahead decides, [`Lalr`] does the work. Elsewhere the
//! chart does: it takes linear time where a grammar is nearly so, and is cubic at
//! worst. Tokens are those of the lexer; if that leads nowhere, a last attempt
//! gives the chart, for every lexeme, all tokens that match its text, with a
//! penalty on those that the lexer would not choose.
//!
//! Where a grammar's tokens are found in context ([`Lexing::Context`]), there is one
//! more: the chart is asked at each place which match it can go on with, the longest
//! first. Where that leads nowhere, the last place with another match is tried again,
//! up to a number of times: in a string, `//` looks like a comment until the end of
//! the string is missed.

use crate::chart::{Automaton, Chart};
use crate::grammar::{Grammar, Lexing, TokenId};
use crate::lalr::Lalr;
use crate::lexer::{Lexeme, Lexer};
use crate::token_set::TokenSet;
use crate::tree::Tree;
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

/// Entries of the chart that a parse may make (about 32 bytes each).
const MOST_ENTRIES: usize = 100_000_000;
/// Where tokens are found in context: how often a choice is taken back, how many
/// choices can be, and how many other ways each has.
const MOST_RETURNS: usize = 10_000;
const MOST_TURNINGS: usize = 4096;
const MOST_OTHERS: usize = 16;

pub struct Parser {
    automaton: Arc<Automaton>,
    lexer: Lexer,
    /// Made when it is first needed.
    lalr: OnceLock<Option<Lalr>>,
    /// Entries that a chart may have.
    most: usize,
}

#[derive(Debug)]
pub struct Parsed {
    pub tree: Tree,
    /// One for each leaf of the tree, with the token that the tree gives it.
    pub lexemes: Vec<Lexeme>,
}

type Readings = std::vec::IntoIter<(usize, Option<Lexeme>)>;

/// A place where there were other ways to go on.
struct Turning {
    left: Readings,
    /// Tokens before it.
    tokens: usize,
}

/// Why an input is no sentence.
#[derive(Debug, thiserror::Error)]
pub enum ParseError {
    #[error("{place}: no token begins here")]
    Lexical { place: Spot },
    #[error("{place}: {found} is not expected here; {}", expectation(.expected))]
    Syntax {
        place: Spot,
        found: String,
        expected: Vec<String>,
        /// A tree of the input up to here, completed with as few tokens as
        /// possible: leaves from number `read` on are not in the input.
        partial: Box<Tree>,
        read: usize,
    },
    #[error("the input is too ambiguous for this grammar: more than {0} chart entries")]
    TooLarge(usize),
}

/// A place in an input.
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
    const SHOWN: usize = 8;
    let mut text = format!("expected {}", expected[..expected.len().min(SHOWN)].join(", "));
    if expected.len() > SHOWN {
        text.push_str(&format!(" or one of {} others", expected.len() - SHOWN));
    }
    text
}

impl Parser {
    pub fn new(automaton: Arc<Automaton>, lexer: Lexer) -> Parser {
        Parser { automaton, lexer, lalr: OnceLock::new(), most: MOST_ENTRIES }
    }

    /// Gives up when a chart has more entries than this.
    pub fn with_entries(self, most: usize) -> Parser {
        Parser { most, ..self }
    }

    pub fn grammar(&self) -> &Arc<Grammar> {
        &self.automaton.grammar
    }

    pub fn lexer(&self) -> &Lexer {
        &self.lexer
    }

    pub fn parse(&self, input: &[u8]) -> Result<Parsed, ParseError> {
        let done = self.parse_longest(input);
        let refused = matches!(done, Err(ParseError::Lexical { .. } | ParseError::Syntax { .. }));
        if refused && self.grammar().lexing == Lexing::Context {
            return self.parse_in_context(input)?.map_or(done, Ok);
        }
        done
    }

    /// With the tokens that the parser can go on with.
    fn parse_in_context(&self, input: &[u8]) -> Result<Option<Parsed>, ParseError> {
        let mut chart = Chart::new(Arc::clone(&self.automaton));
        let mut lexemes: Vec<Lexeme> = Vec::new();
        let mut turnings: VecDeque<Turning> = VecDeque::new();
        let mut returns = 0;
        let mut left = self.readings(input, 0);
        loop {
            let taken = left.find(|(_, lexeme)| match lexeme {
                Some(lexeme) => self.push_any(&mut chart, lexeme),
                None => true,
            });
            if let Some((end, lexeme)) = taken {
                let tokens = lexemes.len();
                lexemes.extend(lexeme);
                if end == input.len()
                    && let Some(tree) = chart.tree()
                {
                    return Ok(Some(finish(tree, lexemes)));
                }
                let others: Vec<_> = left.take(MOST_OTHERS).collect();
                if !others.is_empty() {
                    turnings.push_back(Turning { left: others.into_iter(), tokens });
                    if turnings.len() > MOST_TURNINGS {
                        turnings.pop_front();
                    }
                }
                left = self.readings(input, end);
                if chart.entries() > self.most {
                    return Err(ParseError::TooLarge(self.most));
                }
                continue;
            }
            let Some(last) = turnings.pop_back().filter(|_| returns < MOST_RETURNS) else {
                // The empty input has nothing to read.
                let tree = input.is_empty().then(|| chart.tree()).flatten();
                return Ok(tree.map(|tree| finish(tree, lexemes)));
            };
            returns += 1;
            left = last.left;
            lexemes.truncate(last.tokens);
            chart.truncate(last.tokens);
        }
    }

    /// What can be read at a place, the longest first: where it ends, and the token
    /// that it is, or none for a separator.
    fn readings(&self, input: &[u8], at: usize) -> Readings {
        if at == input.len() {
            return Vec::new().into_iter();
        }
        let (mut readings, mut separated) = (Vec::new(), false);
        for found in self.lexer.matches(input, at) {
            if let Some(lexeme) = found.lexeme {
                readings.push((found.end, Some(lexeme)));
            }
            // A comment goes to its end: no beginning of it is a separator, too.
            if found.separator && !std::mem::replace(&mut separated, true) {
                readings.push((found.end, None));
            }
        }
        readings.into_iter()
    }

    /// Any of the tokens that match a lexeme's text, rather the lexer's choice.
    fn push_any(&self, chart: &mut Chart, lexeme: &Lexeme) -> bool {
        let all = self.lexer.alternatives(lexeme);
        match all.single() {
            Some(token) => chart.push_token(token),
            None => chart.push_near(all, lexeme.token, 1),
        }
    }

    /// With the tokens of the lexer, or others for the same texts.
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
        let several = |l: &Lexeme| self.lexer.alternatives(l).single().is_none();
        if lexemes.iter().any(several) {
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
            if chart.entries() > self.most {
                return Err(ParseError::TooLarge(self.most));
            }
        }
        Ok(chart.tree())
    }

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
        let mut can = |t: &TokenId| {
            let pushed = self.push_token(*t);
            self.truncate(at);
            pushed
        };
        TokenSet::of(universe, ids.filter(|t| can(t)))
    }
}
