//! Whether a grammar fits the program: how much of its sentences the program takes.
//!
//! There is no common way to say that an input was refused: programs exit with any
//! status, print, or go on with the next line. What a run on tokens shows is which tokens
//! the program asked its lexer for. A parser that gives up asks for no more. So a
//! sentence is *accepted* if the program took all of its tokens, and *rejected* where it
//! took the last one otherwise. A program that ends for another reason in the middle (a
//! division by zero in a calculator that computes as it reads) counts as one that
//! rejects; a lexer that runs over the whole input first accepts everything.
//!
//! The other way round, the program may take what the grammar does not have. A flip that
//! the grammar refuses names tokens that the program told apart in that place. If they are
//! few, each is tried there, once for each decision and each token before it, alone and
//! with a copy of that one behind it, the rest of the input as it is: if the program then
//! takes all tokens, and ends with a status that a sentence ended with, the grammar lacks
//! something. That is a *hint*, with the input as an example.

use super::worker::{Traced, Worker};
use pleach_exec::executor::{End, ExecError};
use pleach_exec::triage::readable;
use pleach_expr::Var;
use pleach_grammar::{TokenId, TokenSet};
use pleach_search::{Decision, Flip, TokenUse};
use pleach_solve::Path;
use pleach_template::{Differ, Sentence, Try, Vocabulary};
use std::collections::{BTreeSet, HashSet};
use std::sync::PoisonError;
use std::time::Instant;

/// Sentences after which a grammar that none was accepted of is said not to fit.
pub const DOZENS: usize = 36;
/// Tokens that are tried at most to find what the grammar lacks, and for one flip.
const TRIES: usize = 400;
const AT_ONCE: usize = 3;
/// Places that are told apart, and hints that are kept.
const MOST: usize = 200;

#[derive(Default)]
pub struct Fit {
    /// Statuses that accepted sentences ended with.
    statuses: BTreeSet<i32>,
    /// What was tried: the decision, the token before the place, and the new one.
    tried: HashSet<(u64, Option<TokenId>, TokenId)>,
    /// Runs without a token.
    silent: usize,
}

impl Worker {
    /// Takes in how many tokens of an input the program took. What each decision's
    /// token is nested in, if the input is a sentence.
    pub(super) fn fits(
        &mut self,
        sentence: &Sentence,
        (first, taken): (u32, usize),
        (decisions, path): (&[Decision], &Path),
        end: &End,
    ) -> Vec<u64> {
        let shared = self.shared.clone();
        let Some((vocabulary, _)) = &shared.vocabulary else { return Vec::new() };
        let vocabulary = vocabulary.lock().unwrap_or_else(PoisonError::into_inner);
        let start = Instant::now();
        let nestings = vocabulary.nestings(sentence);
        drop(vocabulary);
        shared.lock().stats.time_s.grammar += start.elapsed().as_secs_f64();
        // What is no sentence may well be rejected.
        let Some(nestings) = nestings else { return Vec::new() };
        if !sentence.lexemes.is_empty() {
            self.accepted(sentence, (first, taken), (decisions, path), end);
        }
        // The last token that a decision depends on, or that its text is from.
        let nesting = |vars: Vec<Var>| {
            let last = vars.into_iter().filter_map(|v| v.as_byte()).max()?;
            let place = match last.checked_sub(first) {
                Some(token) => token as usize / 4,
                None => sentence.lexemes.partition_point(|l| l.span.1 <= last as usize),
            };
            nestings.get(place).copied()
        };
        path.by_support(|vars| nesting(vars).unwrap_or(0))
    }

    fn accepted(
        &mut self,
        sentence: &Sentence,
        (first, taken): (u32, usize),
        (decisions, path): (&[Decision], &Path),
        end: &End,
    ) {
        let shared = self.shared.clone();
        let Some((vocabulary, _)) = &shared.vocabulary else { return };
        let End::Exit(status) = end else { return };
        let vocabulary = vocabulary.lock().unwrap_or_else(PoisonError::into_inner);
        let accepted = taken >= sentence.lexemes.len();
        let last = sentence.lexemes.get(taken.saturating_sub(1));
        let token = last.map_or("nothing", |l| vocabulary.name(l.token)).to_owned();
        drop(vocabulary);
        let mut state = shared.lock();
        state.stats.tokens.read += 1;
        if accepted {
            state.stats.tokens.accepted += 1;
            drop(state);
            shared.fit.lock().unwrap_or_else(PoisonError::into_inner).statuses.insert(*status);
            return;
        }
        state.stats.tokens.rejected += 1;
        // The last decision on the token that was taken last.
        let offset = first + 4 * taken.saturating_sub(1) as u32;
        let on_token = |at: usize| path.depends(at, |v| v.as_byte().is_some_and(|o| o >= offset));
        let branch = |at: usize| decisions[at].branch(decisions[at].outcome);
        let decided = (0..decisions.len()).rev().filter(|&at| on_token(at)).find_map(branch);
        let place = decided.and_then(|b| shared.map.place(b));
        let place = place.map(|(file, line)| format!(" at {file}:{line}")).unwrap_or_default();
        let tokens = &mut state.stats.tokens;
        let what = format!("{token}{place}");
        if tokens.rejected_at.len() < MOST || tokens.rejected_at.contains_key(&what) {
            *tokens.rejected_at.entry(what.clone()).or_default() += 1;
        }
        if tokens.accepted == 0 && tokens.rejected == DOZENS as u64 {
            let most = tokens.rejected_at.iter().max_by_key(|(_, n)| **n).map(|(what, _)| what);
            let most = most.unwrap_or(&what);
            let note = misfit(&format!("most often it gave up after {most}"));
            state.note(note);
        }
    }

    /// Tries tokens that the grammar does not allow in a place where the program tells
    /// them apart.
    pub(super) fn wants(
        &mut self,
        traced: &Traced,
        flip: Flip,
        (place, wanted): (usize, &TokenSet),
    ) -> Result<(), ExecError> {
        let shared = self.shared.clone();
        let (Some((vocabulary, how)), Some(sentence)) = (&shared.vocabulary, &traced.sentence)
        else {
            return Ok(());
        };
        // Where most tokens will do, the program only tells one from all others.
        if *how != TokenUse::Complete || wanted.len() > AT_ONCE {
            return Ok(());
        }
        let decision = {
            let state = shared.lock();
            let run = state.runs.get(flip.run);
            run.and_then(|run| Some(run.decisions.get(flip.at as usize)?.key)).unwrap_or(0)
        };
        let before = place.checked_sub(1).and_then(|b| sentence.lexemes.get(b)).map(|l| l.token);
        for token in wanted.iter() {
            {
                let mut fit = shared.fit.lock().unwrap_or_else(PoisonError::into_inner);
                // Before a sentence was accepted, nobody knows how that looks.
                if fit.statuses.is_empty() || fit.tried.len() >= TRIES {
                    continue;
                }
                if !fit.tried.insert((decision, before, token)) {
                    continue;
                }
            }
            // In the place of the token there, before it, and before it with something
            // that can follow: what stood before it, as in `a + a`.
            for try_it in [Try::Replace, Try::Insert, Try::Repeat] {
                let lock = vocabulary.lock().unwrap_or_else(PoisonError::into_inner);
                let input = lock.with_token((&traced.input, sentence), place, token, try_it);
                drop(lock);
                if self.takes(&input)? {
                    let lock = vocabulary.lock().unwrap_or_else(PoisonError::into_inner);
                    let after = before.map_or("the start", |b| lock.name(b));
                    let what = format!("{} after {after}", lock.name(token));
                    drop(lock);
                    let mut state = shared.lock();
                    let hints = &mut state.stats.tokens.hints;
                    if hints.len() < MOST {
                        let example = String::from_utf8_lossy(&input).into_owned();
                        hints.entry(what).or_insert(example);
                    }
                    break;
                }
            }
        }
        Ok(())
    }

    /// Whether the program takes all of an input that is no sentence of the grammar.
    fn takes(&mut self, input: &[u8]) -> Result<bool, ExecError> {
        let shared = self.shared.clone();
        let Some((vocabulary, _)) = &shared.vocabulary else { return Ok(false) };
        self.symbolic.on_tokens(true);
        let outcome = self.run_symbolic_with(input, &[])?;
        let (Ok(trace), End::Exit(status)) = (self.symbolic.bounded_trace(), outcome.end) else {
            return Ok(false);
        };
        shared.lock().stats.traces += 1;
        let seen = trace.token_numbers();
        let mut vocabulary = vocabulary.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(sentence) = vocabulary.align(input, &seen) else { return Ok(false) };
        let whole = seen.len() > sentence.lexemes.len() && vocabulary.nestings(&sentence).is_none();
        let fit = shared.fit.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(whole && fit.statuses.contains(&status))
    }

    /// Whether the program takes any sentence of the grammar, where the search itself
    /// will not work on tokens and could not tell.
    pub fn try_grammar(
        &mut self,
        vocabulary: &mut Vocabulary,
        sentences: &[Vec<u8>],
    ) -> Result<(), ExecError> {
        let (mut rejected, mut first) = (0, None);
        for input in sentences {
            if rejected == DOZENS || self.shared.stopping() {
                break;
            }
            let seen = self.probed(input)?.unwrap_or_default();
            // Whatever that function is for, these are not its tokens.
            let Ok(sentence) = vocabulary.align(input, &seen) else { return Ok(()) };
            if seen.is_empty() || seen.len() >= sentence.lexemes.len() {
                return Ok(());
            }
            rejected += 1;
            let last = vocabulary.name(sentence.lexemes[seen.len() - 1].token);
            first.get_or_insert_with(|| last.to_owned());
        }
        if let (DOZENS, Some(first)) = (rejected, first) {
            let note = misfit(&format!("of the first it took nothing after {first}"));
            self.shared.lock().note(note);
        }
        Ok(())
    }

    /// A run gave no token: says so, and how many there were before.
    pub(super) fn silent(&self) -> usize {
        let functions = self.shared.map.token_functions();
        let names: Vec<_> = functions.iter().map(|f| readable(&f.name)).collect();
        let note = format!(
            "{} gave no token in a run on a sentence of the grammar: the program does not call \
             it, or only later",
            names.join(", ")
        );
        self.shared.lock().note(note);
        let mut fit = self.shared.fit.lock().unwrap_or_else(PoisonError::into_inner);
        fit.silent += 1;
        fit.silent
    }

    /// What the names of the program's tokens say besides what runs have shown.
    pub(super) fn named(&mut self) {
        let shared = self.shared.clone();
        let Some((vocabulary, _)) = &shared.vocabulary else { return };
        let functions = shared.map.token_functions();
        let names = functions.iter().flat_map(|f| &f.names);
        let names: Vec<(i32, &str)> = names.map(|(n, name)| (*n, &name[..])).collect();
        let mut vocabulary = vocabulary.lock().unwrap_or_else(PoisonError::into_inner);
        let differ = vocabulary.by_names(&names);
        drop(vocabulary);
        let mut state = shared.lock();
        for Differ { token, number, name, named } in differ {
            state.note(format!(
                "token {token} of the grammar was {number} in runs, and {name} in the program \
                 is {named}"
            ));
        }
    }
}

/// What is said of a grammar of which no sentence was accepted.
fn misfit(where_it_ends: &str) -> String {
    format!(
        "the grammar does not fit the program: of {DOZENS} sentences it took none to the end; \
         {where_it_ends}"
    )
}
