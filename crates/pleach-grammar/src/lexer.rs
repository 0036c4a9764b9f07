//! From bytes to tokens, by the patterns of the grammar. The longest match wins; of
//! equally long ones, the token with the lowest priority number.
//!
//! A program's lexer may also decide by context: a word may be a keyword only in some
//! places. So a lexeme has all tokens that match its text. The parser uses the winner if
//! it can, and otherwise another.

use crate::grammar::{Grammar, Pattern, TokenId};
use crate::token_set::TokenSet;
use pleach_automata::Regex;
use pleach_automata::dfa::{self, DEAD, Dfa};
use std::borrow::Cow;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lexeme {
    pub token: TokenId,
    /// The start and the end of its text in the input.
    pub span: (usize, usize),
    /// The class of tokens that match its text; see [`Lexer::alternatives`].
    pub class: u32,
}

/// No token begins at this offset.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no token begins at byte {offset}")]
pub struct LexError {
    pub offset: usize,
}

/// How often each byte of an input may be read, on average.
const MAX_SCANS: u64 = 256;

#[derive(Clone, Debug)]
pub struct Lexer {
    dfa: Dfa,
    /// By pattern: its token, or `None` for a separator. Earlier patterns win.
    kinds: Vec<Option<TokenId>>,
    /// By state: the winner.
    wins: Vec<Win>,
    /// By class: the tokens that match.
    sets: Vec<TokenSet>,
}

/// A match at some offset.
pub(crate) struct Match {
    pub end: usize,
    /// The match as a token.
    pub lexeme: Option<Lexeme>,
    /// True if the match can be a separator.
    pub separator: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Win {
    Nothing,
    Separator,
    Token(TokenId, u32),
}

impl Lexer {
    pub fn new(grammar: &Grammar) -> Result<Lexer, dfa::TooLarge> {
        let mut patterns: Vec<(u32, Option<TokenId>, Cow<Regex>)> = Vec::new();
        for id in grammar.token_ids() {
            let token = grammar.token(id);
            let pattern = match &token.pattern {
                Pattern::Literal(bytes) => Cow::Owned(Regex::literal(bytes)),
                Pattern::Regex(regex) => Cow::Borrowed(regex),
                Pattern::Unknown => continue,
            };
            patterns.push((token.priority, Some(id), pattern));
        }
        patterns.sort_by_key(|p| p.0);
        for separator in &grammar.separators {
            patterns.push((u32::MAX, None, Cow::Borrowed(&separator.pattern)));
        }
        let regexes: Vec<&Regex> = patterns.iter().map(|p| p.2.as_ref()).collect();
        let dfa = Dfa::new(&regexes)?;
        let kinds: Vec<Option<TokenId>> = patterns.iter().map(|p| p.1).collect();
        let mut sets: Vec<TokenSet> = Vec::new();
        let mut wins = Vec::new();
        for state in 0..dfa.states() as u32 {
            let accepts = dfa.accepts(state);
            let tokens = accepts.iter().filter_map(|&a| kinds[a as usize]);
            wins.push(match accepts.first().map(|&a| kinds[a as usize]) {
                None => Win::Nothing,
                Some(None) => Win::Separator,
                Some(Some(token)) => {
                    let set = TokenSet::of(grammar.tokens.len(), tokens);
                    let class = sets.iter().position(|s| *s == set).unwrap_or_else(|| {
                        sets.push(set);
                        sets.len() - 1
                    });
                    Win::Token(token, class as u32)
                }
            });
        }
        Ok(Lexer { dfa, kinds, wins, sets })
    }

    /// All tokens that match the text of a lexeme, including the winner.
    pub fn alternatives(&self, lexeme: &Lexeme) -> &TokenSet {
        &self.sets[lexeme.class as usize]
    }

    /// The tokens of an input, without the separators between them.
    pub fn lex(&self, input: &[u8]) -> Result<Vec<Lexeme>, LexError> {
        let mut lexemes = Vec::with_capacity(input.len() / 4);
        let mut at = 0;
        // A rule such as `a*b` can read far beyond the token that is found, at each offset.
        let mut left = MAX_SCANS * (input.len() as u64 + MAX_SCANS);
        while at < input.len() {
            let (read, found) = self.longest(input, at);
            left = left.saturating_sub(read as u64);
            let is_over = left == 0 || pleach_work::spend(read as u64);
            let (end, win) = found.filter(|_| !is_over).ok_or(LexError { offset: at })?;
            if let Win::Token(token, class) = win {
                lexemes.push(Lexeme { token, span: (at, end), class });
            }
            at = end;
        }
        Ok(lexemes)
    }

    /// The longest match at an offset, and the bytes that were read to find it. Empty
    /// matches do not count.
    fn longest(&self, input: &[u8], at: usize) -> (usize, Option<(usize, Win)>) {
        let (mut state, mut found, mut read) = (Dfa::START, None, 0);
        for (i, &byte) in input[at..].iter().enumerate() {
            state = self.dfa.next(state, byte);
            read = i + 1;
            if state == DEAD {
                break;
            }
            match self.wins[state as usize] {
                Win::Nothing => {}
                win => found = Some((at + i + 1, win)),
            }
        }
        (read, found)
    }

    /// All matches at an offset, the longest first.
    pub(crate) fn matches(&self, input: &[u8], at: usize) -> Vec<Match> {
        let (mut state, mut found) = (Dfa::START, Vec::new());
        for (i, &byte) in input[at..].iter().enumerate() {
            state = self.dfa.next(state, byte);
            if state == DEAD {
                break;
            }
            let end = at + i + 1;
            let separator =
                || self.dfa.accepts(state).iter().any(|&a| self.kinds[a as usize].is_none());
            match self.wins[state as usize] {
                Win::Nothing => {}
                Win::Separator => found.push(Match { end, lexeme: None, separator: true }),
                Win::Token(token, class) => {
                    let lexeme = Some(Lexeme { token, span: (at, end), class });
                    found.push(Match { end, lexeme, separator: separator() });
                }
            }
        }
        found.reverse();
        found
    }

    /// True if the lexer reads `text` as this token when `behind` follows.
    pub fn reads_as(&self, text: &[u8], behind: &[u8], token: TokenId) -> bool {
        let both = [text, behind].concat();
        matches!(self.longest(&both, 0).1, Some((end, Win::Token(t, class)))
            if end == text.len() && (t == token || self.sets[class as usize].contains(token)))
    }

    /// The strings that the lexer reads as one of these tokens.
    pub fn language_of(&self, tokens: &TokenSet) -> Dfa {
        let is_in = |a: u32| self.kinds[a as usize].is_some_and(|t| tokens.contains(t));
        self.dfa.restrict(|a| a.first().is_some_and(|&a| is_in(a)))
    }

    /// The strings that the lexer reads as this token. Strings for which another token
    /// wins are excluded, unless that would exclude all.
    pub fn language(&self, token: TokenId) -> Dfa {
        let kind = |a: u32| self.kinds[a as usize];
        let won = self.dfa.restrict(|a| a.first().is_some_and(|&a| kind(a) == Some(token)));
        if won.is_nothing() {
            return self.dfa.restrict(|a| a.iter().any(|&a| kind(a) == Some(token)));
        }
        won
    }
}
