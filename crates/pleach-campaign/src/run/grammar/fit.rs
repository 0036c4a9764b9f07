//! How well a grammar fits the program: which of its sentences the program accepts.
//!
//! Programs reject an input in different ways: they exit with any status, print a message,
//! or continue with the next line. A run on tokens shows which tokens the program asked its
//! lexer for, and a parser that gives up asks for no more. So a sentence is *accepted* if
//! the program read all of its tokens. Otherwise it is *rejected* at the last token that
//! the program read. A program that stops in the middle for another reason (a division by
//! zero in a calculator that computes as it reads) counts as one that rejects. A lexer that
//! reads the whole input first accepts everything.
//!
//! The program may also accept what the grammar does not have. If the grammar refuses a
//! flip, it names tokens that the program told apart in that place. If they are few, each is
//! tried there: in the place of the token there, before it, and before it with a copy of
//! the token before. If the program then reads all tokens, and ends with a status that an
//! accepted sentence ended with, the grammar lacks something. That is a *hint*, with the
//! input as an example.

use crate::run::ring::Runner;
use crate::run::search::Question;
use crate::run::shared::{Shared, SharedTokens};
use pleach_exec::executor::{End, ExecError};
use pleach_expr::Var;
use pleach_grammar::{TokenId, TokenSet};
use pleach_search::{Decision, TokenUse};
use pleach_solve::Path;
use pleach_template::solve::Traced;
use pleach_template::{Sentence, TokenEdit, Vocabulary};
use std::collections::{BTreeSet, HashSet};
use std::time::Instant;

/// If none of this many sentences is accepted, the grammar is reported as a mismatch.
pub const MISFIT_SENTENCES: usize = 36;
/// How many tokens are tried at most to find what the grammar lacks, and for one flip.
const MAX_TRIES: usize = 400;
const MAX_TRIES_PER_FLIP: usize = 3;
/// How many places are told apart, and how many hints are kept.
const MAX_PLACES: usize = 200;

#[derive(Default)]
pub struct Fit {
    /// Exit statuses of accepted sentences.
    statuses: BTreeSet<i32>,
    /// What was tried: the decision, the token before the place, and the new one.
    tried: HashSet<(u64, Option<TokenId>, TokenId)>,
}

/// Counts how many tokens of an input the program read. Returns what each decision's token
/// is nested in, if the input is a sentence.
pub fn check_accepted(
    shared: &Shared,
    traced: &Traced,
    tokens_read: usize,
    decided: (&[Decision], &Path),
    end: &End,
) -> Vec<u64> {
    let (Some(tokens), Some(sentence)) = (&shared.tokens, &traced.sentence) else {
        return Vec::new();
    };
    let start = Instant::now();
    let nestings = tokens.read().nestings(sentence);
    shared.lock().account.stats.time_s.grammar += start.elapsed().as_secs_f64();
    // What is no sentence may well be rejected.
    let Some(nestings) = nestings else { return Vec::new() };
    let first = traced.first_token;
    if let (End::Exit(status), false) = (end, sentence.lexemes.is_empty()) {
        match tokens_read >= sentence.lexemes.len() {
            true => record_accepted(shared, *status),
            false => record_rejected(shared, tokens, sentence, (first, tokens_read), decided),
        }
    }
    // The last token that a decision depends on, by its number or its text.
    let nesting = |ranges: &[(u32, u32)]| {
        let last = ranges.iter().rev().find_map(|r| Var(r.1 - 1).as_byte())?;
        let place = match last.checked_sub(first) {
            Some(token) => token as usize / 4,
            None => sentence.lexemes.partition_point(|l| l.span.1 <= last as usize),
        };
        nestings.get(place).copied()
    };
    decided.1.by_support(|ranges| nesting(ranges).unwrap_or(0))
}

fn record_accepted(shared: &Shared, status: i32) {
    let mut state = shared.lock();
    state.account.stats.tokens.read += 1;
    state.account.stats.tokens.accepted += 1;
    state.fit.statuses.insert(status);
}

/// Counts a rejected sentence by the token and the place where the program gave up.
fn record_rejected(
    shared: &Shared,
    tokens: &SharedTokens,
    sentence: &Sentence,
    (first, tokens_read): (u32, usize),
    (decisions, path): (&[Decision], &Path),
) {
    let last = sentence.lexemes.get(tokens_read.saturating_sub(1));
    let token = match last {
        Some(lexeme) => tokens.read().name(lexeme.token).to_owned(),
        None => "nothing".into(),
    };
    // The last decision on the last token that was read.
    let offset = first + 4 * tokens_read.saturating_sub(1) as u32;
    let on_token = |at: usize| path.last_byte(at).is_some_and(|last| last >= offset);
    let branch = |at: usize| decisions[at].branch(decisions[at].outcome);
    let decided = (0..decisions.len()).rev().filter(|&at| on_token(at)).find_map(branch);
    let place = decided.and_then(|b| shared.map.place(b));
    let place = place.map(|(file, line)| format!(" at {file}:{line}")).unwrap_or_default();
    let what = format!("{token}{place}");
    let mut state = shared.lock();
    let stats = &mut state.account.stats.tokens;
    stats.read += 1;
    stats.rejected += 1;
    if stats.rejected_at.len() < MAX_PLACES || stats.rejected_at.contains_key(&what) {
        *stats.rejected_at.entry(what.clone()).or_default() += 1;
    }
    if stats.accepted == 0 && stats.rejected == MISFIT_SENTENCES as u64 {
        let most = stats.rejected_at.iter().max_by_key(|(_, n)| **n).map(|(what, _)| what);
        let most = most.unwrap_or(&what);
        let note = misfit_note(&format!("most often it gave up after {most}"));
        state.account.note(note);
    }
}

/// Tries tokens that the grammar does not allow in a place where the program tells them
/// apart.
pub fn try_refused(
    runner: &mut Runner,
    question: &Question,
    (place, wanted): &(usize, TokenSet),
) -> Result<(), ExecError> {
    let shared = runner.shared.clone();
    let (Some(tokens), Some(sentence)) = (&shared.tokens, &question.traced.sentence) else {
        return Ok(());
    };
    // Where most tokens will do, the program only tells one from all others.
    if tokens.token_use != TokenUse::Complete || wanted.len() > MAX_TRIES_PER_FLIP {
        return Ok(());
    }
    let before = place.checked_sub(1).and_then(|b| sentence.lexemes.get(b)).map(|l| l.token);
    for token in wanted.iter() {
        {
            let fit = &mut shared.lock().fit;
            // Before a sentence was accepted, nobody knows what that looks like.
            if fit.statuses.is_empty() || fit.tried.len() >= MAX_TRIES {
                continue;
            }
            if !fit.tried.insert((question.key, before, token)) {
                continue;
            }
        }
        for edit in [TokenEdit::Replace, TokenEdit::Insert, TokenEdit::InsertAndRepeat] {
            let traced = &question.traced;
            let input = tokens.read().edit_token((&traced.input, sentence), *place, token, edit);
            if is_accepted(runner, tokens, &input)? {
                let what = {
                    let vocabulary = tokens.read();
                    let after = before.map_or("the start", |b| vocabulary.name(b));
                    format!("{} after {after}", vocabulary.name(token))
                };
                let hints = &mut shared.lock().account.stats.tokens.hints;
                if hints.len() < MAX_PLACES {
                    let example = String::from_utf8_lossy(&input).into_owned();
                    hints.entry(what).or_insert(example);
                }
                break;
            }
        }
    }
    Ok(())
}

/// True if the program reads all of an input that is no sentence of the grammar.
fn is_accepted(
    runner: &mut Runner,
    tokens: &SharedTokens,
    input: &[u8],
) -> Result<bool, ExecError> {
    let traced = runner.trace(input, &[], true)?;
    let (Ok(trace), End::Exit(status)) = (traced.trace, traced.outcome.end) else {
        return Ok(false);
    };
    runner.shared.lock().account.stats.traces += 1;
    let numbers = trace.token_numbers();
    let Ok(sentence) = tokens.write().align(input, &numbers) else { return Ok(false) };
    let is_whole = numbers.len() > sentence.lexemes.len();
    let is_new = is_whole && tokens.read().nestings(&sentence).is_none();
    Ok(is_new && runner.shared.lock().fit.statuses.contains(&status))
}

/// Checks that the program accepts some sentence of the grammar, where the search itself
/// will not work on tokens and could not tell.
pub fn try_grammar(
    runner: &mut Runner,
    vocabulary: &mut Vocabulary,
    sentences: &[Vec<u8>],
) -> Result<(), ExecError> {
    let (mut rejected, mut first) = (0, None);
    for input in sentences {
        if rejected == MISFIT_SENTENCES || runner.shared.is_stopping() {
            break;
        }
        let numbers = runner.probe_tokens(input)?.unwrap_or_default();
        // Whatever that function is for, these are not the grammar's tokens.
        let Ok(sentence) = vocabulary.align(input, &numbers) else { return Ok(()) };
        if numbers.is_empty() || numbers.len() >= sentence.lexemes.len() {
            return Ok(());
        }
        rejected += 1;
        let last = vocabulary.name(sentence.lexemes[numbers.len() - 1].token);
        first.get_or_insert_with(|| last.to_owned());
    }
    if let (MISFIT_SENTENCES, Some(first)) = (rejected, first) {
        let note = misfit_note(&format!("of the first it read nothing after {first}"));
        runner.shared.lock().account.note(note);
    }
    Ok(())
}

/// The note on a grammar of which no sentence was accepted.
fn misfit_note(where_it_ends: &str) -> String {
    format!(
        "the grammar does not fit the program: it read none of {MISFIT_SENTENCES} sentences to \
         the end; {where_it_ends}"
    )
}
