//! Flips of decisions on tokens (Godefroid, Kiezun and Levin, "Grammar-based whitebox
//! fuzzing", PLDI 2008).
//!
//! In a run on tokens, a decision of the parser is a condition on the tokens that the lexer
//! returned: a comparison, a range, a switch, or a look into bison's tables, which depends
//! on earlier tokens too. Whatever the form, the condition becomes a set of tokens: the
//! earlier tokens stay as they are, and every token of the grammar is tried in the last
//! place. The context-free solver then looks for a sentence that starts like the input,
//! continues with a token of the set, and stays near the rest of the input. If there is
//! none, no sentence of the grammar takes the decision the other way, and the search can
//! skip everything behind it. New tokens get a text; the others keep theirs.
//!
//! A decision may depend on many tokens; in bison's tables, on all before it. If no token
//! works in the last place, the places before it are tried in the same way, the nearest
//! first. The tokens from there to the last place stay.
//!
//! If the decision also depends on bytes of texts, tokens and bytes are solved in one
//! request: a token is a word of four bytes that must be the number of some token. The
//! tokens that the solver chooses are then completed to a sentence.

use super::{MAX_ENTRIES, Sentence, Vocabulary};
use crate::template::{Hole, Template};
use pleach_automata::{Dfa, Regex};
use pleach_expr::Var;
use pleach_grammar::{Chart, TokenId, TokenSet};
use pleach_solve::{Goal, HoleLanguage, Path, Trial};
use pleach_work::Task;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The result of a flip on tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TokenFlip {
    Input(Vec<u8>),
    /// No token takes the decision the other way.
    NoToken,
    /// Some tokens would in this place, but the grammar allows none of them there.
    Refused {
        place: usize,
        wanted: TokenSet,
    },
    /// The decision does not depend on tokens.
    NotOnTokens,
    /// The chart of the input is too large.
    TooLarge,
}

/// What all flips of one run on tokens share.
pub(crate) struct TokenRun {
    chart: Chart,
    /// For each step, the places of the tokens that it depends on, as ranges in order. A
    /// parser decides on all tokens so far, so lists would take quadratic memory.
    places: Vec<Arc<[Range<u32>]>>,
    /// The offset of the first token's number, behind the input.
    first_token: u32,
    /// What the context-free solver has done since this was last taken.
    pub(crate) grammar_work: GrammarWork,
}

/// What the context-free solver has done.
#[derive(Clone, Copy, Debug, Default)]
pub struct GrammarWork {
    pub time: Duration,
    pub requests: u64,
    pub unsat: u64,
}

/// How a new token is put into a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenEdit {
    /// It replaces the token at the place.
    Replace,
    /// It is inserted before the token at the place.
    Insert,
    /// It is inserted there, followed by a copy of the token before it.
    InsertAndRepeat,
}

/// Work on the chart for one request.
const MAX_WORK: u64 = 20_000_000;
/// How many places before the last are tried for one flip.
const MAX_EARLIER_PLACES: usize = 4;

impl GrammarWork {
    pub(crate) fn add(&mut self, other: &GrammarWork) {
        self.time += other.time;
        self.requests += other.requests;
        self.unsat += other.unsat;
    }
}

impl Vocabulary {
    /// Prepares the flips of a run. Its path has the numbers of the tokens from the offset
    /// `first_token` on.
    pub(crate) fn prepare_run(&self, path: &Path, first_token: u32) -> TokenRun {
        let places = path.by_support(|ranges| {
            let mut places: Vec<Range<u32>> = Vec::new();
            let is_byte = |r: &&(u32, u32)| Var(r.1 - 1).as_byte().is_some();
            for &(from, to) in ranges.iter().filter(is_byte).filter(|r| r.1 > first_token) {
                let from = from.max(first_token) - first_token;
                let (from, to) = (from / 4, (to - first_token).div_ceil(4));
                match places.last_mut() {
                    Some(last) if from <= last.end => last.end = to,
                    _ => places.push(from..to),
                }
            }
            Arc::from(places)
        });
        let chart = Chart::new(self.automaton.clone());
        TokenRun { chart, places, first_token, grammar_work: GrammarWork::default() }
    }

    /// Flips a decision by another token. `input` is the plain input. If `completes` is
    /// false, the grammar is not asked, and only the last token is replaced.
    pub(crate) fn flip(
        &self,
        (input, sentence): (&[u8], &Sentence),
        path: &Path,
        (at, goal): (usize, Goal),
        (run, completes): (&mut TokenRun, bool),
    ) -> TokenFlip {
        let places = run.places.get(at).cloned().unwrap_or_default();
        let Some(last) = places.last().map(|range| range.end - 1) else {
            return TokenFlip::NotOnTokens;
        };
        let lexemes = &sentence.lexemes;
        if last as usize > lexemes.len() {
            return TokenFlip::NoToken;
        }
        let tokens = sentence.tokens();
        let (mut trial, mut refused) = (Trial::default(), None);
        let nearest = places.iter().rev().flat_map(|range| range.clone().rev());
        for place in nearest.take(1 + MAX_EARLIER_PLACES) {
            let (is_last, here) = (place == last, (place as usize, last as usize));
            let steps = run.steps_on(place, (at, goal));
            let offset = run.first_token + 4 * place;
            let mut works = |number: i32| {
                let bytes = (offset..).zip(number.to_le_bytes());
                let changes: Vec<(Var, u64)> =
                    bytes.map(|(o, b)| (Var::byte(o), b.into())).collect();
                !pleach_work::is_stopping() && trial.holds(path, &changes, steps.iter().copied())
            };
            let known = self.numbers.iter().filter(|(_, number)| works(**number));
            let set = TokenSet::of(self.grammar.tokens.len(), known.map(|(&token, _)| token));
            let may_end = is_last && works(self.end);
            if set.is_empty() && !may_end {
                continue;
            }
            let found = match completes {
                true => run.ask_grammar(|chart| {
                    let drawn = draw_tokens(&set, (input, at)).find_map(|token| {
                        let one = TokenSet::of(self.grammar.tokens.len(), [token]);
                        complete_sentence(chart, &tokens, here, &one, false)
                    });
                    drawn.or_else(|| complete_sentence(chart, &tokens, here, &set, may_end))
                }),
                false if is_last => replace_token(&tokens, here.0, &set, may_end),
                false => None,
            };
            if let Some(found) = found {
                return TokenFlip::Input(self.rewrite(input, lexemes, &tokens, &found));
            }
            if is_last && !set.is_empty() {
                refused = Some(TokenFlip::Refused { place: here.0, wanted: set });
            }
        }
        pleach_work::count(trial.work());
        match run.is_too_large() {
            true => TokenFlip::TooLarge,
            false => refused.unwrap_or(TokenFlip::NoToken),
        }
    }

    /// Adds the tokens to a template: each is a hole of four bytes that may hold the number
    /// of any token.
    pub(crate) fn add_token_holes(
        &self,
        template: &Template,
        first_token: u32,
        count: u32,
    ) -> Option<Template> {
        let numbers = self.number_words()?;
        let mut template = template.clone();
        for token in 0..count {
            let start = first_token + 4 * token;
            let (end, language) = (start + 4, numbers.clone());
            template.holes.push(Hole { start, end, language, filling: (end, end) });
        }
        Some(template)
    }

    /// Replaces tokens by those with the given numbers, by place, and completes the
    /// sentence after the place `last`.
    pub(crate) fn replace_tokens(
        &self,
        (input, sentence): (&[u8], &Sentence),
        numbers: &[(usize, i32)],
        last: usize,
        run: &mut TokenRun,
    ) -> Option<Vec<u8>> {
        let old = sentence.tokens();
        let mut tokens = old.clone();
        for (place, number) in numbers {
            let same_number = self.numbers.iter().filter(|(_, n)| *n == number);
            *tokens.get_mut(*place)? = same_number.map(|(&token, _)| token).min()?;
        }
        let place = last.min(tokens.len().checked_sub(1)?);
        let set = TokenSet::of(self.grammar.tokens.len(), [tokens[place]]);
        // From the first new token on, the chart holds other tokens.
        let first = numbers.iter().map(|(place, _)| *place).min().unwrap_or(0);
        run.chart.truncate(first);
        let found =
            run.ask_grammar(|chart| complete_sentence(chart, &tokens, (place, place), &set, false));
        run.chart.truncate(first);
        let found = found?;
        Some(self.rewrite(input, &sentence.lexemes, &old, &found))
    }

    /// The input with a token put in at a place. It need not be a sentence.
    pub fn edit_token(
        &self,
        (input, sentence): (&[u8], &Sentence),
        place: usize,
        token: TokenId,
        edit: TokenEdit,
    ) -> Vec<u8> {
        let old = sentence.tokens();
        let place = place.min(old.len());
        let rest = place + usize::from(edit == TokenEdit::Replace && place < old.len());
        let before = place.checked_sub(1).map(|before| old[before]);
        let copy = before.filter(|_| edit == TokenEdit::InsertAndRepeat);
        let mut new = old[..place].to_vec();
        new.push(token);
        new.extend(copy);
        new.extend_from_slice(&old[rest..]);
        self.rewrite(input, &sentence.lexemes, &old, &new)
    }

    /// The numbers of all tokens, as words of four bytes.
    fn number_words(&self) -> Option<Arc<HoleLanguage>> {
        let numbers = self.numbers.values().chain([&self.end]);
        let words = Regex::alt(numbers.map(|n| Regex::literal(&n.to_le_bytes())));
        let language = HoleLanguage::new(Dfa::new(&[&words]).ok()?);
        language.ok().map(Arc::new)
    }
}

impl TokenRun {
    /// True if the chart has more entries than a request may make.
    fn is_too_large(&self) -> bool {
        self.chart.entries() > MAX_ENTRIES
    }

    /// The last place that a step depends on.
    pub(crate) fn last_place(&self, step: usize) -> Option<usize> {
        Some(self.places.get(step)?.last()?.end as usize - 1)
    }

    /// The steps that another token in a place must satisfy: those before `at` that depend
    /// on the place decide as they did, and the step `at` reaches the goal.
    fn steps_on(&self, place: u32, (at, goal): (usize, Goal)) -> Vec<(usize, Option<Goal>)> {
        let is_on = |step: &usize| {
            let ranges = &self.places[*step];
            let after = ranges.partition_point(|range| range.end <= place);
            ranges.get(after).is_some_and(|range| range.start <= place)
        };
        let before = (0..at).filter(is_on);
        before.map(|step| (step, None)).chain([(at, Some(goal))]).collect()
    }

    fn ask_grammar(
        &mut self,
        ask: impl FnOnce(&mut Chart) -> Option<Vec<TokenId>>,
    ) -> Option<Vec<TokenId>> {
        let start = Instant::now();
        let _asking = pleach_work::enter(Task::Tokens);
        let before = self.chart.work();
        let found = ask(&mut self.chart);
        pleach_work::count(self.chart.work() - before);
        self.grammar_work.time += start.elapsed();
        self.grammar_work.requests += 1;
        self.grammar_work.unsat += u64::from(found.is_none());
        found
    }
}

/// Draws a few tokens of a set at random, for half of the flips that leave a choice. The
/// shortest completion is always the same: in a block that must not be empty it would be an
/// empty statement, and never a `return`.
fn draw_tokens(set: &TokenSet, (input, at): (&[u8], usize)) -> impl Iterator<Item = TokenId> {
    const DRAWS: usize = 3;
    let mut hash = FxHasher::default();
    (input, at).hash(&mut hash);
    let mut random = fastrand::Rng::with_seed(hash.finish());
    let count = if set.len() > 1 && random.bool() { DRAWS } else { 0 };
    let all: Vec<TokenId> = set.iter().collect();
    (0..count).filter_map(move |_| random.choice(&all).copied())
}

/// Finds a sentence that has the given tokens before `place` and a token of the set there.
/// The tokens from there to `last` stay. The rest stays near the given tokens. If
/// `may_end`, a sentence that ends before `place` is accepted, too.
fn complete_sentence(
    chart: &mut Chart,
    tokens: &[TokenId],
    (place, last): (usize, usize),
    set: &TokenSet,
    may_end: bool,
) -> Option<Vec<TokenId>> {
    let most_work = chart.work() + MAX_WORK;
    chart.truncate(place);
    while chart.len() < place {
        let is_over =
            chart.entries() > MAX_ENTRIES || chart.work() > most_work || pleach_work::is_stopping();
        if is_over || !chart.push_token(tokens[chart.len()]) {
            return None;
        }
    }
    if !set.is_empty() && chart.push(set) {
        let held = tokens.get(place + 1..tokens.len().min(last + 1)).unwrap_or_default();
        let rest = tokens.get(last + 1..).unwrap_or_default();
        let found = match held.iter().all(|&t| chart.push_token(t)) {
            // The decision depends on where the input ends, so that must stay.
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
    let whole = chart.complete().filter(|c| may_end && c.tokens.len() == place);
    whole.map(|c| c.tokens)
}

/// The tokens with one of the set in a place. If the set is empty and `may_end`, the tokens
/// before the place.
fn replace_token(
    tokens: &[TokenId],
    place: usize,
    set: &TokenSet,
    may_end: bool,
) -> Option<Vec<TokenId>> {
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
        None => may_end.then(|| tokens[..place].to_vec()),
    }
}
