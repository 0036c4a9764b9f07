//! Flips over tokens (Godefroid, Kiezun and Levin, "Grammar-based whitebox fuzzing",
//! PLDI 2008).
//!
//! In a run that works on tokens, a decision of the parser is a condition on the
//! tokens that the lexer returned. Whatever C made of it (a comparison, a range, a
//! switch, bison's tables, which make it depend on earlier tokens too), it becomes a
//! set: the earlier tokens are held, and every token that the grammar has is tried in
//! the place of the last. The context-free solver then looks for a sentence that
//! begins like the input up to there, goes on with a token of the set, and stays near
//! the rest of the input; if there is none, nothing that the grammar allows takes the
//! decision the other way, and a whole subtree of the search is done with. New tokens
//! get a text, tokens that stay keep theirs.
//!
//! A decision may depend on many tokens: in bison's tables on all that came before.
//! Where no token will do in the last place, the places before it are tried in the same
//! way, the nearest first, with the tokens from there to the last held as they are. And
//! where it depends on bytes of texts as well, tokens and bytes can be solved for in
//! one request: a token is a word of four bytes that must be the number of one, and
//! what the solver chooses is then completed like any other sentence.
//!
//! Which number the program has for which token is learned from its runs: the tokens
//! of our own lexer and those that the program saw come in the same order.

use crate::nesting::nestings;
use crate::template::{Hole, Template};
use pleach_automata::{Dfa, Regex, dfa};
use pleach_expr::Var;
use pleach_grammar::chart;
use pleach_grammar::detokenize::{Detokenizer, Piece};
use pleach_grammar::{Automaton, Chart, Grammar, Lexeme, Pattern, TokenId, TokenSet};
use pleach_solve::{Goal, HoleLanguage, Path, Trial};
use rustc_hash::FxHasher;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[derive(Debug, thiserror::Error)]
pub enum TokensError {
    #[error("the lexer of the grammar is too large: {0}")]
    Lexer(#[from] dfa::TooLarge),
    #[error("the grammar is too large: {0}")]
    Grammar(#[from] chart::TooLarge),
}

/// A grammar, prepared for flips, and what is known of the program's numbers.
pub struct Vocabulary {
    grammar: Arc<Grammar>,
    automaton: Arc<Automaton>,
    detokenizer: Detokenizer,
    numbers: HashMap<TokenId, i32>,
    /// By token: its texts, where they are not too many.
    holes: HashMap<TokenId, Option<Arc<HoleLanguage>>>,
    /// What the program's lexer says at the end.
    end: i32,
}

/// An input as tokens, in step with what the program saw.
#[derive(Clone, Debug)]
pub struct Sentence {
    pub lexemes: Vec<Lexeme>,
}

/// Why an input has no tokens to flip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// The grammar's lexer does not read it.
    Unread,
    /// The program saw another token at this place than the grammar says.
    Token { at: usize, token: TokenId, number: i32 },
}

/// What a flip over tokens came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flipped {
    Input(Vec<u8>),
    /// No token decides so.
    None,
    /// Some would in this place, and the grammar allows none of them there.
    Refused {
        place: usize,
        wanted: TokenSet,
    },
    /// The step does not depend on tokens.
    Bytes,
    /// The input is too long and the grammar too ambiguous to say.
    TooLarge,
}

/// What the flips of one run share.
pub struct Reading {
    chart: Chart,
    /// By step: the places of the tokens that it depends on, in order.
    places: Vec<Arc<[u32]>>,
    /// The offset of the first token's number, behind the input.
    first: u32,
    /// Time that the context-free solver took since it was last asked for, and how
    /// often it was asked and found nothing.
    pub spent: Spent,
}

/// What the context-free solver did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    pub time: Duration,
    pub asked: u64,
    pub unsat: u64,
}

impl Spent {
    pub(crate) fn add(&mut self, other: &Spent) {
        self.time += other.time;
        self.asked += other.asked;
        self.unsat += other.unsat;
    }
}

impl Sentence {
    /// The same tokens after the holes of `from` have got the lengths that they have in
    /// `to`.
    pub(crate) fn moved(&self, from: &Template, to: &Template) -> Sentence {
        let pairs = || from.holes.iter().zip(&to.holes);
        let moved = |offset: usize| {
            let before = pairs().filter(|(old, _)| old.end as usize <= offset);
            before.fold(offset, |at, (old, new)| at + new.len() as usize - old.len() as usize)
        };
        let lexeme = |l: &Lexeme| Lexeme { span: (moved(l.span.0), moved(l.span.1)), ..l.clone() };
        Sentence { lexemes: self.lexemes.iter().map(lexeme).collect() }
    }
}

/// How a token comes into an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Try {
    /// In the place of another.
    Replace,
    /// Before it.
    Insert,
    /// Before it, with a copy of the token before that behind it.
    Repeat,
}

/// Places that are tried besides the last, for one flip.
const EARLIER: usize = 4;
/// Chart entries at which an input is given up. A long input of an ambiguous grammar has
/// as many as its tokens squared.
const MOST_ENTRIES: usize = 1_000_000;

impl Vocabulary {
    pub fn new(grammar: &Arc<Grammar>) -> Result<Vocabulary, TokensError> {
        // Numbers that the grammar file gives are only a first guess.
        let number = |id: TokenId| Some((id, i32::try_from(grammar.token(id).number?).ok()?));
        Ok(Vocabulary {
            automaton: Arc::new(Automaton::new(grammar.clone())?),
            detokenizer: Detokenizer::new(grammar)?,
            numbers: grammar.token_ids().filter_map(number).collect(),
            holes: HashMap::new(),
            end: 0,
            grammar: grammar.clone(),
        })
    }

    /// The tokens of an input, given the numbers that the program saw, in order.
    /// Numbers that were not known are from now on.
    pub fn align(&mut self, input: &[u8], seen: &[i32]) -> Result<Sentence, Mismatch> {
        let lexer = self.detokenizer.lexer();
        let mut lexemes = lexer.lex(input).map_err(|_| Mismatch::Unread)?;
        for (at, (lexeme, &number)) in lexemes.iter_mut().zip(seen).enumerate() {
            let known = self.numbers.get(&lexeme.token).copied();
            if known == Some(number) {
                continue;
            }
            // A word that is another token where the program says so.
            let others = lexer.alternatives(lexeme).iter();
            let other = others.into_iter().find(|t| self.numbers.get(t) == Some(&number));
            match (other, known) {
                (Some(other), _) => lexeme.token = other,
                (None, None) => _ = self.numbers.insert(lexeme.token, number),
                (None, Some(_)) => {
                    return Err(Mismatch::Token { at, token: lexeme.token, number });
                }
            }
        }
        if let Some(&end) = seen.get(lexemes.len()) {
            self.end = end;
        }
        Ok(Sentence { lexemes })
    }

    /// Whether the numbers of all tokens that have a text are known.
    pub fn is_complete(&self) -> bool {
        let known = |t: TokenId| self.numbers.contains_key(&t);
        let has_text = |t: TokenId| self.grammar.token(t).pattern != Pattern::Unknown;
        self.grammar.token_ids().all(|t| known(t) || !has_text(t))
    }

    /// Whether the text of a token may change and leave it the same token.
    fn is_hole(&self, token: TokenId) -> bool {
        matches!(self.grammar.token(token).pattern, Pattern::Regex(_))
    }

    /// What of an input may change while its tokens stay: the texts of those that
    /// have more than one. Texts that another token would win are left out.
    pub fn template(&mut self, input: &[u8], sentence: &Sentence) -> Template {
        let mut template = Template::default();
        for lexeme in &sentence.lexemes {
            if !self.is_hole(lexeme.token) {
                continue;
            }
            let lexer = self.detokenizer.lexer();
            let language = self.holes.entry(lexeme.token).or_insert_with(|| {
                HoleLanguage::new(lexer.language(lexeme.token)).ok().map(Arc::new)
            });
            if let Some(language) = language {
                let word = &input[lexeme.span.0..lexeme.span.1];
                template.holes.push(Hole::found(lexeme.span.0 as u32, word, language.clone()));
            }
        }
        template
    }

    /// The same of an input that was not run yet, as our own lexer reads it.
    pub fn unread(&mut self, input: &[u8]) -> Option<Template> {
        let lexemes = self.detokenizer.lexer().lex(input).ok()?;
        Some(self.template(input, &Sentence { lexemes }))
    }

    /// A mismatch in words.
    pub fn explain(&self, mismatch: &Mismatch) -> String {
        match mismatch {
            Mismatch::Unread => "the grammar's lexer does not read an input".into(),
            Mismatch::Token { at, .. } => {
                format!("token {at} of an input: {}", self.cause(mismatch))
            }
        }
    }

    /// Its cause, the same for all like it.
    pub fn cause(&self, mismatch: &Mismatch) -> String {
        match mismatch {
            Mismatch::Unread => "not read by the grammar's lexer".into(),
            Mismatch::Token { token, number, .. } => {
                let known = self.numbers.iter().find(|(_, n)| *n == number);
                let name = known.map(|(&t, _)| self.name(t));
                let name = name.unwrap_or("a token that the grammar does not have");
                format!("{} is {number} in the program ({name})", self.name(*token))
            }
        }
    }

    /// What the flips of a run need; its path has the tokens' numbers from an offset on.
    pub fn reading(&self, path: &Path, first: u32) -> Reading {
        let places = path.by_support(|vars| {
            let tokens = vars.into_iter().filter_map(|v| v.as_byte());
            let tokens = tokens.filter_map(|o| Some(o.checked_sub(first)? / 4));
            let mut places: Vec<u32> = tokens.collect();
            places.sort_unstable();
            places.dedup();
            Arc::from(places)
        });
        let chart = Chart::new(self.automaton.clone());
        Reading { chart, places, first, spent: Spent::default() }
    }

    /// Solves a flip of a decision on tokens. `input` is the plain input, which the
    /// path has with the tokens' numbers behind it, and perhaps lengths between. Where the
    /// grammar is not to be asked, the one token is replaced.
    pub fn flip(
        &self,
        (input, sentence): (&[u8], &Sentence),
        path: &Path,
        (at, goal): (usize, Goal),
        (reading, complete): (&mut Reading, bool),
    ) -> Flipped {
        let places = reading.places.get(at).cloned().unwrap_or_default();
        let Some(&last) = places.last() else { return Flipped::Bytes };
        let lexemes = &sentence.lexemes;
        if last as usize > lexemes.len() {
            return Flipped::None;
        }
        let tokens: Vec<TokenId> = lexemes.iter().map(|l| l.token).collect();
        let (mut trial, mut refused) = (Trial::default(), None);
        for (tried, &place) in places.iter().rev().take(1 + EARLIER).enumerate() {
            let place = place as usize;
            // What was decided on this token before must stay as it was.
            let steps =
                (0..at).filter(|&s| reading.places[s].binary_search(&(place as u32)).is_ok());
            let steps: Vec<(usize, Option<Goal>)> =
                steps.map(|s| (s, None)).chain([(at, Some(goal))]).collect();
            let offset = reading.first + 4 * place as u32;
            let mut fits = |number: i32| {
                let bytes = (offset..).zip(number.to_le_bytes());
                let changes: Vec<(Var, u64)> =
                    bytes.map(|(o, b)| (Var::byte(o), b.into())).collect();
                trial.holds(path, &changes, steps.iter().copied())
            };
            let known = self.numbers.iter().filter(|(_, number)| fits(**number));
            let set = TokenSet::of(self.grammar.tokens.len(), known.map(|(&token, _)| token));
            let ends = tried == 0 && fits(self.end);
            if set.is_empty() && !ends {
                continue;
            }
            let found = match complete {
                true => reading.timed(|chart| {
                    let here = (place, last as usize);
                    let some = drawn(&set, (input, at)).find_map(|token| {
                        let one = TokenSet::of(self.grammar.tokens.len(), [token]);
                        complete_at(chart, &tokens, here, &one, false)
                    });
                    some.or_else(|| complete_at(chart, &tokens, here, &set, ends))
                }),
                false if tried == 0 => replace(&tokens, place, &set, ends),
                false => None,
            };
            if let Some(found) = found {
                return Flipped::Input(self.text(input, lexemes, &tokens, &found));
            }
            if tried == 0 && !set.is_empty() {
                refused = Some(Flipped::Refused { place, wanted: set });
            }
        }
        match reading.chart.entries() > MOST_ENTRIES {
            true => Flipped::TooLarge,
            false => refused.unwrap_or(Flipped::None),
        }
    }

    /// What makes tokens part of a request: their words may be the number of any.
    pub fn with_tokens(&self, template: &Template, first: u32, tokens: u32) -> Option<Template> {
        let numbers = self.words()?;
        let mut template = template.clone();
        for token in 0..tokens {
            let start = first + 4 * token;
            let (end, language) = (start + 4, numbers.clone());
            template.holes.push(Hole { start, end, language, filling: (end, end) });
        }
        Some(template)
    }

    /// An input for what such a request was answered with: the input with its new
    /// bytes, and the new numbers by place.
    pub fn realise(
        &self,
        (input, sentence): (&[u8], &Sentence),
        numbers: &[(usize, i32)],
        last: usize,
        reading: &mut Reading,
    ) -> Option<Vec<u8>> {
        let old: Vec<TokenId> = sentence.lexemes.iter().map(|l| l.token).collect();
        let mut tokens = old.clone();
        for (place, number) in numbers {
            let named = self.numbers.iter().filter(|(_, n)| *n == number);
            *tokens.get_mut(*place)? = named.map(|(&token, _)| token).min()?;
        }
        let place = last.min(tokens.len().checked_sub(1)?);
        let set = TokenSet::of(self.grammar.tokens.len(), [tokens[place]]);
        // The chart is of other tokens from the first new one on.
        let first = numbers.iter().map(|(place, _)| *place).min().unwrap_or(0);
        reading.chart.truncate(first);
        let found = reading.timed(|chart| complete_at(chart, &tokens, (place, place), &set, false));
        reading.chart.truncate(first);
        let found = found?;
        Some(self.text(input, &sentence.lexemes, &old, &found))
    }

    /// The input with a token in a place.
    pub fn with_token(
        &self,
        (input, sentence): (&[u8], &Sentence),
        place: usize,
        token: TokenId,
        how: Try,
    ) -> Vec<u8> {
        let old: Vec<TokenId> = sentence.lexemes.iter().map(|l| l.token).collect();
        let place = place.min(old.len());
        let behind = place + usize::from(how == Try::Replace && place < old.len());
        let copy = place.checked_sub(1).filter(|_| how == Try::Repeat).map(|before| old[before]);
        let mut new = old[..place].to_vec();
        new.push(token);
        new.extend(copy);
        new.extend_from_slice(&old[behind..]);
        self.text(input, &sentence.lexemes, &old, &new)
    }

    /// If the tokens are a sentence of the grammar: what each of them is nested in, as a
    /// number.
    pub fn nestings(&self, sentence: &Sentence) -> Option<Vec<u64>> {
        let mut chart = Chart::new(self.automaton.clone());
        let mut push = |l: &Lexeme| chart.push_token(l.token) && chart.entries() <= MOST_ENTRIES;
        let all = sentence.lexemes.iter().all(&mut push);
        let tree = if all { chart.tree() } else { None };
        tree.map(|tree| nestings(&self.grammar, &tree))
    }

    pub(crate) fn grammar(&self) -> &Arc<Grammar> {
        &self.grammar
    }

    /// The program's number of a token, if it is known.
    pub fn number(&self, token: TokenId) -> Option<i32> {
        self.numbers.get(&token).copied()
    }

    pub(crate) fn set_number(&mut self, token: TokenId, number: i32) {
        self.numbers.insert(token, number);
    }

    pub fn name(&self, token: TokenId) -> &str {
        &self.grammar.token(token).name
    }

    /// The numbers of all tokens, as words of four bytes.
    fn words(&self) -> Option<Arc<HoleLanguage>> {
        let numbers = self.numbers.values().chain([&self.end]);
        let words = Regex::alt(numbers.map(|n| Regex::literal(&n.to_le_bytes())));
        let language = HoleLanguage::new(Dfa::new(&[&words]).ok()?);
        language.ok().map(Arc::new)
    }

    /// The text of a sentence. Tokens that are the input's keep theirs.
    fn text(&self, input: &[u8], lexemes: &[Lexeme], old: &[TokenId], new: &[TokenId]) -> Vec<u8> {
        let same = |pairs: usize| pairs as u32;
        let before = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let room = old.len().min(new.len()) - before;
        let ends = old.iter().rev().zip(new.iter().rev());
        let behind = ends.take(room).take_while(|(a, b)| a == b).count();
        let pieces = new.iter().enumerate().map(|(i, &token)| {
            let old = match i {
                i if i < before => Some(same(i)),
                i if i >= new.len() - behind => Some(same(i + old.len() - new.len())),
                _ => None,
            };
            Piece { token, old }
        });
        let pieces: Vec<Piece> = pieces.collect();
        self.detokenizer.edit(input, lexemes, &pieces)
    }
}

impl Reading {
    /// The last place that a step depends on.
    pub fn last(&self, step: usize) -> Option<usize> {
        Some(*self.places.get(step)?.last()? as usize)
    }

    fn timed(
        &mut self,
        ask: impl FnOnce(&mut Chart) -> Option<Vec<TokenId>>,
    ) -> Option<Vec<TokenId>> {
        let start = Instant::now();
        let found = ask(&mut self.chart);
        self.spent.time += start.elapsed();
        self.spent.asked += 1;
        self.spent.unsat += u64::from(found.is_none());
        found
    }
}

/// A few tokens of a set, drawn at random, for every other flip that leaves a choice. The
/// shortest way to go on is always the same: where a block is to have something in it, it
/// would be an empty statement, and never a `return`.
fn drawn(set: &TokenSet, (input, at): (&[u8], usize)) -> impl Iterator<Item = TokenId> {
    const DRAWN: usize = 3;
    let mut hash = FxHasher::default();
    (input, at).hash(&mut hash);
    let mut random = fastrand::Rng::with_seed(hash.finish());
    let count = if set.len() > 1 && random.bool() { DRAWN } else { 0 };
    let all: Vec<TokenId> = set.iter().collect();
    (0..count).filter_map(move |_| random.choice(&all).copied())
}

/// A sentence that begins like the tokens before `place`, has one of the set there or
/// ends, is as it was up to `last`, and goes on as the rest does where it can.
fn complete_at(
    chart: &mut Chart,
    tokens: &[TokenId],
    (place, last): (usize, usize),
    set: &TokenSet,
    ends: bool,
) -> Option<Vec<TokenId>> {
    chart.truncate(place);
    while chart.len() < place {
        if chart.entries() > MOST_ENTRIES || !chart.push_token(tokens[chart.len()]) {
            return None;
        }
    }
    if !set.is_empty() && chart.push(set) {
        let held = tokens.get(place + 1..tokens.len().min(last + 1)).unwrap_or_default();
        let rest = tokens.get(last + 1..).unwrap_or_default();
        let found = match held.iter().all(|&t| chart.push_token(t)) {
            // It is to end where it does.
            true if last >= tokens.len() && place < last => {
                chart.complete().filter(|c| c.tokens.len() == tokens.len())
            }
            true => chart.complete_near(rest),
            false => None,
        };
        chart.truncate(place);
        if let Some(found) = found {
            return Some(found.tokens);
        }
    }
    let whole = chart.complete().filter(|c| ends && c.tokens.len() == place);
    whole.map(|c| c.tokens)
}

/// The tokens with one of the set in a place, or cut off there.
fn replace(tokens: &[TokenId], place: usize, set: &TokenSet, ends: bool) -> Option<Vec<TokenId>> {
    match set.iter().next() {
        Some(token) => {
            let mut new = tokens.to_vec();
            new.truncate(place.max(tokens.len()));
            match new.get_mut(place) {
                Some(old) => *old = token,
                None => new.push(token),
            }
            Some(new)
        }
        None => ends.then(|| tokens[..place].to_vec()),
    }
}
