//! From tokens to bytes.
//!
//! A token that stays keeps its text. The bytes between two tokens stay if both tokens
//! stay. A new token gets a text that our lexer reads as that token and no other. A
//! separator is put between two tokens that would run together, which means that the
//! lexer would not read the first one as it is.

use crate::grammar::{Grammar, Lexing, Pattern, TokenId};
use crate::lexer::{Lexeme, Lexer, Match};
use crate::token_set::TokenSet;
use crate::tree::Tree;
use pleach_automata::Regex;
use pleach_automata::dfa;

pub struct Detokenizer {
    lexer: Lexer,
    /// By token: the text of a new one.
    texts: Vec<Vec<u8>>,
    separators: Vec<Vec<u8>>,
    /// True if a separator goes between any two tokens.
    required: bool,
    /// For [`Lexing::Context`]: the tokens that are literals.
    context: Option<TokenSet>,
}

/// A token of the new input, and the old lexeme that it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub token: TokenId,
    /// The index of its lexeme in the old input, if it stays.
    pub old: Option<u32>,
}

impl Detokenizer {
    pub fn new(grammar: &Grammar) -> Result<Detokenizer, dfa::TooLarge> {
        let lexer = Lexer::new(grammar)?;
        let texts = grammar.token_ids().map(|id| {
            let token = grammar.token(id);
            match &token.pattern {
                Pattern::Literal(bytes) => bytes.clone(),
                Pattern::Unknown => token.name.clone().into_bytes(),
                Pattern::Regex(_) => lexer.language(id).shortest().unwrap_or_default(),
            }
        });
        let texts = texts.collect();
        let mut separators = Vec::new();
        for separator in &grammar.separators {
            separators.extend(short_texts(&separator.pattern)?);
        }
        // Blanks are preferred, comments are the last resort.
        separators.sort_by_key(|s| (s.len(), s != b" ", s != b"\n"));
        let required = grammar.separators.iter().any(|s| s.required)
            || grammar.tokens.iter().all(|t| t.pattern == Pattern::Unknown);
        let literals = grammar.token_ids().filter(|&id| grammar.token(id).literal().is_some());
        let context = (grammar.lexing == Lexing::Context)
            .then(|| TokenSet::of(grammar.tokens.len(), literals));
        Ok(Detokenizer { lexer, texts, separators, required, context })
    }

    pub fn lexer(&self) -> &Lexer {
        &self.lexer
    }

    pub fn text(&self, token: TokenId) -> &[u8] {
        &self.texts[token.index()]
    }

    /// The bytes of new tokens.
    pub fn bytes(&self, tokens: &[TokenId]) -> Vec<u8> {
        let texts: Vec<_> = tokens.iter().map(|&t| (t, self.text(t))).collect();
        self.join(&texts)
    }

    /// The bytes of a tree's sentence, with new texts for all tokens.
    pub fn sentence(&self, tree: &Tree) -> Vec<u8> {
        self.bytes(&tree.tokens().collect::<Vec<_>>())
    }

    /// The bytes of tokens with given texts.
    pub fn join(&self, pieces: &[(TokenId, &[u8])]) -> Vec<u8> {
        let mut out = Vec::new();
        for (i, &(_, text)) in pieces.iter().enumerate() {
            if let Some((before, behind)) = i.checked_sub(1).map(|b| (pieces[b], text)) {
                out.extend_from_slice(self.between(before.0, before.1, behind));
            }
            out.extend_from_slice(text);
        }
        out
    }

    /// The bytes of tokens, some of which come from an old input.
    pub fn edit(&self, old: &[u8], lexemes: &[Lexeme], pieces: &[Piece]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut last: Option<(Piece, Vec<u8>)> = None;
        for &piece in pieces {
            let lexeme = piece.old.and_then(|i| lexemes.get(i as usize));
            let text = lexeme.map_or_else(|| self.text(piece.token), |l| &old[l.span.0..l.span.1]);
            // The offset from which the old input is copied, if the token before is the
            // same as there.
            let copied_from = match (&last, piece.old) {
                (None, Some(0)) => Some(0),
                (Some((before, _)), Some(i)) if i > 0 && before.old == Some(i - 1) => {
                    lexemes.get(i as usize - 1).map(|l| l.span.1)
                }
                _ => None,
            };
            match (copied_from, lexeme, &last) {
                (Some(from), Some(lexeme), _) => out.extend_from_slice(&old[from..lexeme.span.0]),
                (_, _, Some((before, before_text))) => {
                    out.extend_from_slice(self.between(before.token, before_text, text));
                }
                _ => {}
            }
            out.extend_from_slice(text);
            last = Some((piece, text.to_vec()));
        }
        // The bytes behind the last token.
        if let (Some((piece, _)), Some(end)) = (&last, lexemes.last())
            && piece.old == Some(lexemes.len() as u32 - 1)
        {
            out.extend_from_slice(&old[end.span.1..]);
        }
        out
    }

    /// The bytes of a string of tokens that is close to an old input. Tokens before and
    /// behind the change keep their texts, and the bytes between them.
    pub fn rewrite(&self, old: &[u8], lexemes: &[Lexeme], tokens: &[TokenId]) -> Vec<u8> {
        self.edit(old, lexemes, &pieces(lexemes, tokens))
    }

    /// The separator that is needed between two texts. It is empty if the lexer reads the
    /// first text as `token` without one.
    pub fn between(&self, token: TokenId, text: &[u8], behind: &[u8]) -> &[u8] {
        let first = self.separators.first().map_or(&b" "[..], |s| s);
        if self.required {
            return first;
        }
        if self.lexer.reads_as(text, behind, token) {
            return b"";
        }
        let separates = |s: &&Vec<u8>| self.lexer.reads_as(text, &[s, behind].concat(), token);
        match self.separators.iter().find(separates) {
            Some(separator) => separator,
            None if !self.separators.is_empty() && self.may_grow(text, behind) => first,
            // No separator keeps these tokens apart.
            None => b"",
        }
    }

    /// True if a text may become another token together with what is behind it: a longer
    /// literal (`-` and `--`), or a token that the text alone could be (`return` and a
    /// name). What the parser expects there is unknown, but an unneeded separator
    /// rarely harms.
    fn may_grow(&self, text: &[u8], behind: &[u8]) -> bool {
        let Some(literals) = &self.context else { return false };
        let matches = self.lexer.matches(&[text, behind].concat(), 0);
        let tokens = |m: &Match| m.lexeme.as_ref().map(|l| self.lexer.alternatives(l));
        let alone = matches.iter().find(|m| m.end == text.len()).and_then(tokens);
        let is_likely = |set: &TokenSet| {
            set.intersects(literals) || alone.is_some_and(|alone| set.intersects(alone))
        };
        matches.iter().filter(|m| m.end > text.len()).filter_map(tokens).any(is_likely)
    }
}

/// Finds the tokens of a new string that come from an old one: a common prefix, a
/// common suffix, and between them the longest common run that starts near the start of
/// both. So an edit in one place, with tokens that close it further on, is found in
/// linear time.
pub fn pieces(lexemes: &[Lexeme], tokens: &[TokenId]) -> Vec<Piece> {
    /// Tokens from the start of each middle at which a run may start.
    const MAX_RUN_START: usize = 16;
    let same = |(l, t): &(&Lexeme, &TokenId)| l.token == **t;
    let before = lexemes.iter().zip(tokens).take_while(same).count();
    let (old, new) = (&lexemes[before..], &tokens[before..]);
    let behind = old.iter().rev().zip(new.iter().rev()).take_while(same).count();
    let (old, new) = (&old[..old.len() - behind], &new[..new.len() - behind]);
    let starts = |length: usize| 0..length.min(MAX_RUN_START);
    let run = |i: usize, j: usize| old[i..].iter().zip(&new[j..]).take_while(same).count();
    let runs = starts(old.len()).flat_map(|i| starts(new.len()).map(move |j| (i, j)));
    let best = runs.max_by_key(|&(i, j)| (run(i, j), usize::MAX - i - j));
    let (from, to, length) = best.map_or((0, 0, 0), |(i, j)| (i, j, run(i, j)));
    let piece = |(at, &token): (usize, &TokenId)| {
        let kept = if at < before {
            Some(at)
        } else if at + behind >= tokens.len() {
            Some(at + lexemes.len() - tokens.len())
        } else {
            let inside = at - before;
            (to..to + length).contains(&inside).then(|| before + inside + from - to)
        };
        Piece { token, old: kept.map(|old| old as u32) }
    };
    tokens.iter().enumerate().map(piece).collect()
}

/// A blank, a newline and the shortest text, if the pattern matches them.
fn short_texts(pattern: &Regex) -> Result<Vec<Vec<u8>>, dfa::TooLarge> {
    let dfa = dfa::Dfa::new(&[pattern])?;
    let mut found: Vec<Vec<u8>> =
        [&b" "[..], b"\n"].iter().filter(|s| dfa.matches(s)).map(|s| s.to_vec()).collect();
    found.extend(dfa.shortest().filter(|s| !s.is_empty() && !found.contains(s)));
    Ok(found)
}
