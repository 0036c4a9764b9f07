//! From tokens to bytes.
//!
//! A token that stays keeps its text, and what stood before it stays as well as
//! long as both its neighbours do. A new token gets a text that our lexer reads
//! as that token and no other. Between two tokens that would run together (the
//! lexer would take more than the first, or something else) goes a separator.

use crate::grammar::{Grammar, Lexing, Pattern, TokenId};
use crate::lexer::{Lexeme, Lexer, Match};
use crate::token_set::TokenSet;
use crate::tree::Tree;
use pleach_automata::Regex;
use pleach_automata::dfa;

pub struct Detokenizer {
    lexer: Lexer,
    /// By token: the text that a new one gets.
    texts: Vec<Vec<u8>>,
    separators: Vec<Vec<u8>>,
    /// Between any two tokens, whether they would run together or not.
    required: bool,
    /// The tokens that are literals, where tokens are found in context.
    context: Option<TokenSet>,
}

/// A token of the new string, and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub token: TokenId,
    /// Its lexeme in the old input, by number, if it stays.
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
            separators.extend(short(&separator.pattern)?);
        }
        // Blanks are what people expect; a comment is a last resort.
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

    /// Bytes for tokens that are all new.
    pub fn bytes(&self, tokens: &[TokenId]) -> Vec<u8> {
        let texts: Vec<_> = tokens.iter().map(|&t| (t, self.text(t))).collect();
        self.join(&texts)
    }

    /// Bytes for the sentence of a tree.
    pub fn sentence(&self, tree: &Tree) -> Vec<u8> {
        self.bytes(&tree.tokens().collect::<Vec<_>>())
    }

    /// Bytes for tokens with their texts.
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

    /// Bytes for tokens of which some come from an old input.
    pub fn edit(&self, old: &[u8], lexemes: &[Lexeme], pieces: &[Piece]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut last: Option<(Piece, Vec<u8>)> = None;
        for &piece in pieces {
            let lexeme = piece.old.and_then(|i| lexemes.get(i as usize));
            let text = lexeme.map_or_else(|| self.text(piece.token), |l| &old[l.span.0..l.span.1]);
            // What stood before it in the old input, if its neighbour is the same.
            let neighbour = match (&last, piece.old) {
                (None, Some(0)) => Some(0),
                (Some((before, _)), Some(i)) if i > 0 && before.old == Some(i - 1) => {
                    lexemes.get(i as usize - 1).map(|l| l.span.1)
                }
                _ => None,
            };
            match (neighbour, lexeme, &last) {
                (Some(from), Some(lexeme), _) => out.extend_from_slice(&old[from..lexeme.span.0]),
                (_, _, Some((before, before_text))) => {
                    out.extend_from_slice(self.between(before.token, before_text, text));
                }
                _ => {}
            }
            out.extend_from_slice(text);
            last = Some((piece, text.to_vec()));
        }
        // What stood behind the last token.
        if let (Some((piece, _)), Some(end)) = (&last, lexemes.last())
            && piece.old == Some(lexemes.len() as u32 - 1)
        {
            out.extend_from_slice(&old[end.span.1..]);
        }
        out
    }

    /// Bytes for a new string of tokens that stays near an old input: those before
    /// and behind what has changed keep their texts and what stands between them.
    pub fn rewrite(&self, old: &[u8], lexemes: &[Lexeme], tokens: &[TokenId]) -> Vec<u8> {
        self.edit(old, lexemes, &pieces(lexemes, tokens))
    }

    /// What has to stand between two texts: nothing, if the first is still read
    /// as it should be.
    pub fn between(&self, token: TokenId, text: &[u8], behind: &[u8]) -> &[u8] {
        let first = self.separators.first().map_or(&b" "[..], |s| s);
        if self.required {
            return first;
        }
        if self.lexer.reads(text, behind, token) {
            return b"";
        }
        let fits = |s: &&Vec<u8>| self.lexer.reads(text, &[s, behind].concat(), token);
        match self.separators.iter().find(fits) {
            Some(separator) => separator,
            None if !self.separators.is_empty() && self.grows(text, behind) => first,
            // Tokens that no separator keeps apart: nothing helps.
            None => b"",
        }
    }

    /// Whether a text becomes another token with what is behind it, as far as can
    /// be said without knowing what the parser expects there: a longer literal
    /// (`-` and `--`), or a token that the text could be alone (`return` and a
    /// name). A separator too many rarely harms.
    fn grows(&self, text: &[u8], behind: &[u8]) -> bool {
        let Some(literals) = &self.context else { return false };
        let matches = self.lexer.matches(&[text, behind].concat(), 0);
        let tokens = |m: &Match| m.lexeme.as_ref().map(|l| self.lexer.alternatives(l));
        let alone = matches.iter().find(|m| m.end == text.len()).and_then(tokens);
        let likely = |set: &TokenSet| {
            set.intersects(literals) || alone.is_some_and(|alone| set.intersects(alone))
        };
        matches.iter().filter(|m| m.end > text.len()).filter_map(tokens).any(likely)
    }
}

/// Which tokens of a new string are those of an old one: the same ones from the
/// beginning, the same ones from the end, and in what is left between them the
/// longest run that begins near its beginning in both. An edit in one place, with
/// something to close it at the end, is found so, in linear time.
pub fn pieces(lexemes: &[Lexeme], tokens: &[TokenId]) -> Vec<Piece> {
    const NEAR: usize = 16;
    let same = |(l, t): &(&Lexeme, &TokenId)| l.token == **t;
    let before = lexemes.iter().zip(tokens).take_while(same).count();
    let (old, new) = (&lexemes[before..], &tokens[before..]);
    let behind = old.iter().rev().zip(new.iter().rev()).take_while(same).count();
    let (old, new) = (&old[..old.len() - behind], &new[..new.len() - behind]);
    let starts = |length: usize| 0..length.min(NEAR);
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

/// A blank, a line's end and the shortest string, as far as the expression has
/// them.
fn short(pattern: &Regex) -> Result<Vec<Vec<u8>>, dfa::TooLarge> {
    let dfa = dfa::Dfa::new(&[pattern])?;
    let mut found: Vec<Vec<u8>> =
        [&b" "[..], b"\n"].iter().filter(|s| dfa.matches(s)).map(|s| s.to_vec()).collect();
    found.extend(dfa.shortest().filter(|s| !s.is_empty() && !found.contains(s)));
    Ok(found)
}
