//! Other bytes, tokens and lengths in one request.
//!
//! Tokens and lengths are words of four bytes behind the input. A token must be the number of
//! some token, and a length must be the length of some word of its hole. So the byte solver
//! can choose all of them. The input is then built from its choice.

use super::lengths::add_length_holes;
use super::{Answer, FlipSolver, Found, LENGTHS, Prediction, Prepared, Request, TOKENS, Verdict};
use crate::strings::preferred_bytes;
use crate::template::Template;
use std::sync::Arc;

/// The result of a joint request.
enum Joint {
    Found(Found),
    /// There is no such input.
    Unsat,
    Unknown,
}

impl FlipSolver {
    /// Flips a decision by other bytes and other tokens, and by other lengths if
    /// `with_lengths`.
    pub(super) fn flip_jointly(
        &mut self,
        prepared: &mut Prepared,
        request: &Request,
        with_lengths: bool,
    ) -> Answer {
        let tier = if with_lengths { LENGTHS } else { TOKENS };
        let mut answer = match self.solve_jointly(prepared, request, with_lengths) {
            Joint::Found(found) => Answer { found: Some(found), ..Answer::new(Verdict::Sat, tier) },
            Joint::Unsat => Answer::new(Verdict::Unsat, tier),
            Joint::Unknown => Answer::new(Verdict::Unknown, tier),
        };
        answer.grammar_work = prepared.take_grammar_work();
        answer
    }

    fn solve_jointly(
        &mut self,
        prepared: &mut Prepared,
        request: &Request,
        with_lengths: bool,
    ) -> Joint {
        let (traced, at) = (request.traced, request.at as usize);
        let tokens = request.tokens.zip(traced.sentence.as_ref());
        if !with_lengths && tokens.is_none_or(|(tokens, _)| !tokens.completes) {
            return Joint::Unsat;
        }
        let tokens = tokens.filter(|(tokens, _)| tokens.completes);
        let (Some(template), Some(extended)) = (&traced.template, &traced.extended) else {
            return Joint::Unknown;
        };
        let first_length = traced.lengths.variables.start;
        let mut joint = Some((**template).clone());
        if with_lengths {
            joint = joint.and_then(|t| add_length_holes(&t, first_length, request.max_hole));
        }
        if let Some((tokens, _)) = tokens {
            let count = (extended.len() as u32 - traced.first_token) / 4;
            joint = joint
                .and_then(|t| tokens.vocabulary.add_token_holes(&t, traced.first_token, count));
        }
        let Some(joint) = joint else { return Joint::Unknown };
        let is_soft = |at| with_lengths && traced.lengths.soft.contains(&at);
        let mut path = traced.path_under(&joint.requirements(extended), is_soft);
        let model = match self.solver.flip(&mut path, at, request.goal).verdict {
            pleach_solve::Verdict::Sat(model) => model,
            pleach_solve::Verdict::Unsat => return Joint::Unsat,
            _ => return Joint::Unknown,
        };
        let changed = model.apply(extended);
        // If these tokens do not start a sentence, others still may: the answer is unknown.
        let found = build_input(prepared, request, template, &changed, with_lengths);
        found.map_or(Joint::Unknown, Joint::Found)
    }
}

/// Builds the input of an answer. `changed` has its new bytes, followed by the lengths of its
/// holes and the numbers of its tokens.
fn build_input(
    prepared: &mut Prepared,
    request: &Request,
    template: &Template,
    changed: &[u8],
    with_lengths: bool,
) -> Option<Found> {
    let traced = request.traced;
    let (input_len, old) = (traced.input.len(), traced.extended.as_ref()?);
    let (mut bytes, mut resized) = (changed.get(..input_len)?.to_vec(), None);
    if with_lengths {
        let lengths = read_words(changed, input_len, template.holes.len());
        let (longer, template) = template.resized(&bytes, &lengths, &preferred_bytes())?;
        (bytes, resized) = (longer, Some(template));
    }
    if let Some((tokens, sentence)) = request.tokens.zip(traced.sentence.as_ref()) {
        let count = (old.len() - traced.first_token as usize) / 4;
        let numbers_in = |bytes| read_words(bytes, traced.first_token as usize, count);
        let pairs = numbers_in(changed).into_iter().zip(numbers_in(old)).enumerate();
        let numbers: Vec<(usize, i32)> = pairs
            .filter(|(_, (new, old))| new != old)
            .map(|(place, (new, _))| (place, new as i32))
            .collect();
        let (_, run) = prepared.tokens.as_mut().filter(|(run, _)| *run == request.run)?;
        if !with_lengths || !numbers.is_empty() {
            let moved = resized.as_ref().map(|new| sentence.after_resizing(template, new));
            let sentence = moved.as_ref().unwrap_or(sentence);
            let last = run.last_place(request.at as usize)?;
            let input = (&bytes[..], sentence);
            bytes = tokens.vocabulary.replace_tokens(input, &numbers, last, run)?;
        }
    }
    let prediction = match with_lengths {
        true => Prediction::Lengths(traced.lengths.predict(request.at, request.outcome)),
        false => Prediction::Path,
    };
    let template = resized.filter(|_| !traced.on_tokens).map(Arc::new);
    Some(Found { bytes, template, prediction })
}

/// Reads numbers of four bytes from an offset on.
fn read_words(bytes: &[u8], from: usize, count: usize) -> Vec<u32> {
    let words = bytes.get(from..).unwrap_or_default().chunks_exact(4).take(count);
    words.map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect()
}
