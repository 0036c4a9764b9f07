//! Flips of runs on tokens: by another token that the grammar completes, by other bytes
//! in the texts of tokens, or by both at once (see [`pleach_template::Vocabulary`]).

use super::worker::{SYMBOLIC_PATIENCE, Traced, Worker};
use pleach_exec::executor::ExecError;
use pleach_grammar::TokenSet;
use pleach_search::{Flip, TokenUse, Verdict};
use pleach_solve::Goal;
use pleach_template::{Flipped, Vocabulary};
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

/// What flips over tokens count as among the tiers.
pub const TOKENS: &str = "tokens";

/// Runs without a token after which no more are made to learn numbers.
const SILENT: usize = 20;
/// CPU time of such a run. Its tokens come at its beginning; what it then does is its own
/// business, and may be endless.
const PROBING: Duration = Duration::from_millis(200);

/// What a flip came to.
pub struct Solved {
    pub verdict: Verdict,
    pub bytes: Option<Vec<u8>>,
    pub tier: &'static str,
    pub cached: bool,
    /// A place, and tokens that would do there if the grammar allowed one of them.
    pub refused: Option<(usize, TokenSet)>,
}

/// What a request over tokens and bytes was answered with.
enum Found {
    Input(Vec<u8>),
    /// There is none.
    Nothing,
}

impl Solved {
    fn tokens(bytes: Option<Vec<u8>>) -> Solved {
        let verdict = if bytes.is_some() { Verdict::Sat } else { Verdict::Unsat };
        Solved { verdict, bytes, tier: TOKENS, cached: false, refused: None }
    }
}

impl Worker {
    /// Solves a flip, on tokens first where it depends on some.
    pub(super) fn solve(&mut self, traced: &Traced, flip: Flip, goal: Goal) -> Solved {
        let refused = match self.flip_tokens(traced, flip, goal) {
            Flipped::Input(bytes) => return Solved::tokens(Some(bytes)),
            Flipped::Bytes => return self.flip_bytes(traced, flip, goal),
            Flipped::TooLarge => {
                return Solved { verdict: Verdict::Unknown, ..Solved::tokens(None) };
            }
            Flipped::Refused { place, wanted } => Some((place, wanted)),
            Flipped::None => None,
        };
        let mut solved = Solved::tokens(None);
        if self.has_bytes(traced, flip) {
            // With the tokens as they are, or with others.
            solved = self.flip_bytes(traced, flip, goal);
            if solved.verdict == Verdict::Unsat {
                solved = self.flip_both(traced, flip, goal);
            }
        }
        solved.refused = refused.filter(|_| solved.bytes.is_none());
        solved
    }

    fn flip_bytes(&mut self, traced: &Traced, flip: Flip, goal: Goal) -> Solved {
        let path = self.paths.get(flip.run, traced);
        let answer = self.solver.flip(path, flip.at as usize, goal);
        let (mut verdict, model) = match answer.verdict {
            pleach_solve::Verdict::Sat(model) => (Verdict::Sat, Some(model)),
            pleach_solve::Verdict::Optimistic(model) => (Verdict::Optimistic, Some(model)),
            pleach_solve::Verdict::Unsat => (Verdict::Unsat, None),
            pleach_solve::Verdict::Unknown(_) => (Verdict::Unknown, None),
        };
        let mut bytes = model.map(|model| model.apply(&traced.input));
        // What was solved without its path may have left the template.
        if let (Some(template), Some(found)) = (&traced.template, &bytes)
            && verdict == Verdict::Optimistic
            && !template.covers(&traced.input, found)
        {
            (verdict, bytes) = (Verdict::Unknown, None);
        }
        let (tier, cached) = (answer.tier.name(), answer.cached);
        Solved { verdict, bytes, tier, cached, refused: None }
    }

    /// By another token alone.
    fn flip_tokens(&mut self, traced: &Traced, flip: Flip, goal: Goal) -> Flipped {
        let shared = self.shared.clone();
        let (Some((vocabulary, how)), Some(sentence)) = (&shared.vocabulary, &traced.sentence)
        else {
            return Flipped::Bytes;
        };
        let vocabulary = vocabulary.lock().unwrap_or_else(PoisonError::into_inner);
        self.read(&vocabulary, traced, flip);
        let path = self.paths.get(flip.run, traced);
        let Some((_, reading)) = &mut self.reading else { return Flipped::Bytes };
        let input = (&traced.input[..], sentence);
        let complete = *how == TokenUse::Complete;
        let at = (flip.at as usize, goal);
        let flipped = vocabulary.flip(input, path, at, (&mut *reading, complete));
        drop(vocabulary);
        self.asked_grammar();
        flipped
    }

    /// Has the reading of a run at hand.
    fn read(&mut self, vocabulary: &MutexGuard<Vocabulary>, traced: &Traced, flip: Flip) {
        if self.reading.as_ref().is_none_or(|(run, _)| *run != flip.run) {
            let path = self.paths.get(flip.run, traced);
            self.reading = Some((flip.run, vocabulary.reading(path, traced.first)));
        }
    }

    /// Whether a flip depends on bytes that may change, besides tokens.
    fn has_bytes(&mut self, traced: &Traced, flip: Flip) -> bool {
        let Some(template) = &traced.template else { return false };
        let path = self.paths.get(flip.run, traced);
        path.depends(flip.at as usize, |v| v.as_byte().is_some_and(|at| template.is_free(at)))
    }

    /// By other tokens and other bytes in one request.
    fn flip_both(&mut self, traced: &Traced, flip: Flip, goal: Goal) -> Solved {
        let mut solved = Solved::tokens(None);
        match self.find_both(traced, flip, goal) {
            Some(Found::Input(bytes)) => solved = Solved::tokens(Some(bytes)),
            Some(Found::Nothing) => {}
            // What the solver chose is no beginning of a sentence; another choice may be.
            None => solved.verdict = Verdict::Unknown,
        }
        self.asked_grammar();
        solved
    }

    fn find_both(&mut self, traced: &Traced, flip: Flip, goal: Goal) -> Option<Found> {
        let shared = self.shared.clone();
        let (vocabulary, how) = shared.vocabulary.as_ref()?;
        let (sentence, template) = (traced.sentence.as_ref()?, traced.template.as_ref()?);
        if *how != TokenUse::Complete {
            return Some(Found::Nothing);
        }
        let extended = traced.extended.as_ref()?;
        let (plain, first) = (traced.input.len(), traced.first as usize);
        let vocabulary = vocabulary.lock().unwrap_or_else(PoisonError::into_inner);
        let tokens = (extended.len() - first) / 4;
        let template = vocabulary.with_tokens(template, traced.first, tokens as u32)?;
        let mut path = traced.path_under(&template.requirements(extended));
        let model = match self.solver.flip(&mut path, flip.at as usize, goal).verdict {
            pleach_solve::Verdict::Sat(model) => model,
            pleach_solve::Verdict::Unsat => return Some(Found::Nothing),
            _ => return None,
        };
        let changed = model.apply(extended);
        let numbers = changed.get(first..)?.chunks_exact(4).zip(extended[first..].chunks_exact(4));
        let numbers = numbers.enumerate().filter(|(_, (new, old))| new != old);
        let numbers: Vec<(usize, i32)> = numbers
            .filter_map(|(place, (new, _))| Some((place, i32::from_le_bytes(new.try_into().ok()?))))
            .collect();
        let (_, reading) = self.reading.as_mut().filter(|(run, _)| *run == flip.run)?;
        let last = reading.last(flip.at as usize)?;
        let input = (&changed[..plain], sentence);
        vocabulary.realise(input, &numbers, last, reading).map(Found::Input)
    }

    /// Counts what the context-free solver was asked.
    fn asked_grammar(&mut self) {
        let Some((_, reading)) = &mut self.reading else { return };
        let spent = std::mem::take(&mut reading.spent);
        let mut state = self.shared.lock();
        state.stats.tokens.asked += spent.asked;
        state.stats.tokens.unsat += spent.unsat;
        state.stats.time_s.grammar += spent.time.as_secs_f64();
    }

    /// The tokens that the program asks for in a short run on an input.
    pub(super) fn probed(&mut self, input: &[u8]) -> Result<Option<Vec<i32>>, ExecError> {
        self.symbolic.on_tokens(true);
        self.symbolic.limit_cpu(self.adaptive.then_some(PROBING));
        self.symbolic.run(input, self.timeout * SYMBOLIC_PATIENCE)?;
        let trace = self.symbolic.bounded_trace().ok();
        Ok(trace.map(|trace| trace.token_numbers()))
    }

    /// Runs inputs until the numbers of all tokens are known. An input that does not
    /// fit is passed over here: if it matters, it will come again.
    pub fn probe(&mut self, inputs: &[Vec<u8>]) -> Result<(), ExecError> {
        let shared = self.shared.clone();
        let Some((vocabulary, _)) = &shared.vocabulary else { return Ok(()) };
        for (i, input) in inputs.iter().enumerate() {
            let known = vocabulary.lock().unwrap_or_else(PoisonError::into_inner).is_complete();
            // One is run in any case, to see that the lexer is asked at all.
            if known && i > 0 || shared.stopping() {
                break;
            }
            let Some(seen) = self.probed(input)? else { continue };
            if seen.is_empty() && self.silent() >= SILENT {
                break;
            }
            let mut vocabulary = vocabulary.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = vocabulary.align(input, &seen);
        }
        self.named();
        Ok(())
    }
}
