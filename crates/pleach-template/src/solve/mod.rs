//! One solve: from a decision of a traced run to an input that decides otherwise.
//!
//! A [`Request`] names the traced run, the decision and the outcome that is asked for. The
//! [`Answer`] has the input, which parts of it may change, the path that it is predicted to
//! take, the verdict, the tier that answered and the cost. The caller does not know which
//! parts of the input had to change. They are tried in this order, the cheapest first:
//!
//! 1. A decision on the lengths of holes alone is answered by other lengths.
//! 2. Another token, where the run recorded decisions on tokens: the context-free solver
//!    completes the sentence (`tokens`).
//! 3. Other bytes, with the tokens as they are ([`pleach_solve::Solver::flip`]).
//! 4. Other tokens and other bytes in one request (`joint`).
//! 5. Other lengths, if the decision depends on some and nothing else helped.
//! 6. Other lengths, bytes and tokens in one request.
//!
//! Nothing here starts a process or reads a file, and every limit counts work: the same
//! requests in the same order have the same answers.

mod joint;
mod lengths;
mod prepared;
#[cfg(test)]
mod tests;
mod traced;

pub use crate::tokens::GrammarWork;
pub use lengths::{Decided, LengthDecision, LengthDecisions, LengthPath};
pub use prepared::Prepared;
pub use traced::Traced;

use crate::strings::preferred_bytes;
use crate::template::Template;
use crate::tokens::{TokenFlip, Vocabulary};
use pleach_grammar::TokenSet;
use pleach_solve::{Config, Goal, Holes, Resized, Solver};
use std::sync::Arc;

/// Asks for an input that takes one decision of a run another way.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The number of the run. Its prepared path is cached under this number.
    pub run: u32,
    pub traced: &'a Traced,
    /// The place of the decision among those of the run.
    pub at: u32,
    /// The outcome that is asked for, for the solver and as a number.
    pub goal: Goal,
    pub outcome: u32,
    /// The tokens of the program, where they may change.
    pub tokens: Option<Tokens<'a>>,
    /// No hole becomes longer than this.
    pub max_hole: u32,
}

/// How tokens may change.
#[derive(Clone, Copy)]
pub struct Tokens<'a> {
    pub vocabulary: &'a Vocabulary,
    /// The grammar completes the sentence. Otherwise one token is replaced, and the result
    /// need not be a sentence.
    pub completes: bool,
}

/// The result of a request.
pub struct Answer {
    pub verdict: Verdict,
    pub found: Option<Found>,
    /// For a flip of a length: the last length before the boundary that `found` crosses.
    /// Off-by-one errors are on both sides.
    pub boundary: Option<Found>,
    /// The name of the tier that answered, for the statistics.
    pub tier: &'static str,
    /// The answer of an equal request was cached.
    pub cached: bool,
    /// A place, and the tokens that take the decision the other way there. The grammar allows
    /// none of them.
    pub refused: Option<(usize, TokenSet)>,
    /// The cost in microseconds, computed from the work: no clock is read.
    pub cost: f64,
    pub grammar_work: GrammarWork,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The input satisfies every condition before the decision, and the goal.
    Sat,
    /// The input satisfies the goal, and only some of the conditions.
    Optimistic,
    /// There is no such input.
    Unsat,
    Unknown,
}

/// An input that answers a request.
#[derive(Debug)]
pub struct Found {
    pub bytes: Vec<u8>,
    /// The parts of it that may change. `None` if every byte may, or if they are found when
    /// the input is traced.
    pub template: Option<Arc<Template>>,
    pub prediction: Prediction,
}

/// Where the run of an input is predicted to go.
#[derive(Clone, Debug)]
pub enum Prediction {
    /// It decides as the traced run did, up to the decision that was flipped.
    Path,
    /// It takes these decisions on lengths; other decisions may change.
    Lengths(LengthPath),
}

/// The tiers of answers that do not come from the byte solver.
pub const TOKENS: &str = "tokens";
const LENGTHS: &str = "lengths";

/// Microseconds for one operation: to evaluate it, and to prepare it for a path.
const EVALUATING_COST: f64 = 0.005;
const PREPARING_COST: f64 = 0.3;

/// Answers requests, and caches the answers.
pub struct FlipSolver {
    solver: Solver,
    /// How many operations were evaluated to find other lengths.
    length_work: u64,
}

impl Answer {
    fn new(verdict: Verdict, tier: &'static str) -> Answer {
        Answer {
            verdict,
            found: None,
            boundary: None,
            tier,
            cached: false,
            refused: None,
            cost: 0.0,
            grammar_work: GrammarWork::default(),
        }
    }

    /// The answer of a flip on tokens. Without an input it is unsatisfiable.
    fn by_tokens(bytes: Option<Vec<u8>>) -> Answer {
        let verdict = if bytes.is_some() { Verdict::Sat } else { Verdict::Unsat };
        let found =
            bytes.map(|bytes| Found { bytes, template: None, prediction: Prediction::Path });
        Answer { found, ..Answer::new(verdict, TOKENS) }
    }
}

impl FlipSolver {
    pub fn new(config: Config) -> FlipSolver {
        FlipSolver { solver: Solver::new(config), length_work: 0 }
    }

    /// Answers a request.
    pub fn solve(&mut self, prepared: &mut Prepared, request: &Request) -> Answer {
        let before = self.cost(prepared);
        let mut answer = match request.traced.lengths.contains(request.at) {
            true => self.flip_lengths(prepared, request),
            false => self.flip_tokens_or_bytes(prepared, request),
        };
        if answer.verdict == Verdict::Unsat
            && answer.tier != LENGTHS
            && depends_on_lengths(prepared, request)
        {
            let mut by_lengths = self.flip_lengths(prepared, request);
            if by_lengths.verdict == Verdict::Unsat {
                by_lengths = self.flip_jointly(prepared, request, true);
            }
            by_lengths.grammar_work.add(&answer.grammar_work);
            answer = by_lengths;
        }
        answer.cost = self.cost(prepared) - before;
        answer
    }

    /// Finds inputs that satisfy only some of the conditions before a decision, for a request
    /// that is unsatisfiable. Also returns the cost.
    pub fn relax(&mut self, prepared: &mut Prepared, request: &Request) -> (Vec<Vec<u8>>, f64) {
        let before = self.cost(prepared);
        let path = prepared.path(request.run, request.traced);
        let (models, _) = self.solver.relax(path, request.at as usize, request.goal);
        let inputs = models.iter().map(|model| model.apply(&request.traced.input)).collect();
        (inputs, self.cost(prepared) - before)
    }

    /// Bytes of memory for what the solver remembers.
    pub fn memory(&self) -> usize {
        self.solver.memory()
    }

    /// The cost of everything so far.
    fn cost(&self, prepared: &Prepared) -> f64 {
        let evaluated = (self.solver.stats().work + self.length_work) as f64;
        EVALUATING_COST * evaluated + PREPARING_COST * prepared.nodes as f64
    }

    fn flip_tokens_or_bytes(&mut self, prepared: &mut Prepared, request: &Request) -> Answer {
        let mut answer = match flip_token(prepared, request) {
            TokenFlip::Input(bytes) => Answer::by_tokens(Some(bytes)),
            TokenFlip::NotOnTokens => self.flip_bytes(prepared, request),
            TokenFlip::TooLarge => Answer::new(Verdict::Unknown, TOKENS),
            TokenFlip::NoToken => self.flip_texts(prepared, request),
            TokenFlip::Refused { place, wanted } => {
                let answer = self.flip_texts(prepared, request);
                let refused = Some((place, wanted)).filter(|_| answer.found.is_none());
                Answer { refused, ..answer }
            }
        };
        answer.grammar_work.add(&prepared.take_grammar_work());
        answer
    }

    /// Another token alone is not enough: tries the texts of the tokens, then both.
    fn flip_texts(&mut self, prepared: &mut Prepared, request: &Request) -> Answer {
        if !depends_on_texts(prepared, request) {
            return Answer::by_tokens(None);
        }
        let answer = self.flip_bytes(prepared, request);
        match answer.verdict {
            Verdict::Unsat => self.flip_jointly(prepared, request, false),
            _ => answer,
        }
    }

    fn flip_bytes(&mut self, prepared: &mut Prepared, request: &Request) -> Answer {
        let traced = request.traced;
        let path = prepared.path(request.run, traced);
        let answer = self.solver.flip(path, request.at as usize, request.goal);
        let (mut verdict, model) = match answer.verdict {
            pleach_solve::Verdict::Sat(model) => (Verdict::Sat, Some(model)),
            pleach_solve::Verdict::Optimistic(model) => (Verdict::Optimistic, Some(model)),
            pleach_solve::Verdict::Unsat => (Verdict::Unsat, None),
            pleach_solve::Verdict::Unknown(_) => (Verdict::Unknown, None),
        };
        let mut bytes = model.map(|model| model.apply(&traced.input));
        // An optimistic answer may violate the template.
        if let (Some(template), Some(found)) = (&traced.template, &bytes)
            && verdict == Verdict::Optimistic
            && !template.covers(&traced.input, found)
        {
            (verdict, bytes) = (Verdict::Unknown, None);
        }
        // The template of an input with tokens is found when it is traced.
        let template = traced.template.clone().filter(|_| !traced.on_tokens);
        let found = bytes.map(|bytes| Found { bytes, template, prediction: Prediction::Path });
        Answer { found, cached: answer.cached, ..Answer::new(verdict, answer.tier.name()) }
    }

    /// Other lengths of holes. The holes that change get new bytes of their languages.
    fn flip_lengths(&mut self, prepared: &mut Prepared, request: &Request) -> Answer {
        let Request { traced, at, goal, outcome, max_hole, .. } = *request;
        let unknown = Answer::new(Verdict::Unknown, LENGTHS);
        let Some(template) = &traced.template else { return unknown };
        let lengths = &traced.lengths;
        let possible = template.holes.iter().map(|h| h.language.lengths()).collect();
        let holes = Holes { first: lengths.variables.start, possible, most: max_hole };
        let path = prepared.path(request.run, traced);
        let is_soft = |at: usize| lengths.soft.contains(&(at as u32));
        let (resized, work) = path.resize(at as usize, goal, &holes, is_soft);
        self.length_work += work;
        let (new, edge) = match resized {
            Resized::Lengths { lengths, edge } => (lengths, edge),
            Resized::Never => return Answer::new(Verdict::Unsat, LENGTHS),
            Resized::Unknown => return unknown,
        };
        let build = |new: &[u32], outcome| {
            let (bytes, template) = template.resized(&traced.input, new, &preferred_bytes())?;
            let template = (!traced.on_tokens).then(|| Arc::new(template));
            let prediction = Prediction::Lengths(lengths.predict(at, outcome));
            Some(Found { bytes, template, prediction })
        };
        let Some(found) = build(&new, outcome) else { return unknown };
        let boundary = edge.and_then(|edge| build(&edge, lengths.outcome(at)));
        Answer { found: Some(found), boundary, ..Answer::new(Verdict::Sat, LENGTHS) }
    }
}

/// Flips a decision by another token alone.
fn flip_token(prepared: &mut Prepared, request: &Request) -> TokenFlip {
    let Request { run, traced, .. } = *request;
    let (Some(tokens), Some(sentence)) = (request.tokens, &traced.sentence) else {
        return TokenFlip::NotOnTokens;
    };
    // Taken out while the path is borrowed.
    let mut token_run = match prepared.tokens.take() {
        Some((of, token_run)) if of == run => token_run,
        _ => tokens.vocabulary.prepare_run(prepared.path(run, traced), traced.first_token),
    };
    let path = prepared.path(run, traced);
    let (input, at) = ((&traced.input[..], sentence), (request.at as usize, request.goal));
    let flipped = tokens.vocabulary.flip(input, path, at, (&mut token_run, tokens.completes));
    prepared.tokens = Some((run, token_run));
    flipped
}

/// True if a decision depends on bytes in the texts of tokens.
fn depends_on_texts(prepared: &mut Prepared, request: &Request) -> bool {
    let Some(template) = &request.traced.template else { return false };
    let path = prepared.path(request.run, request.traced);
    path.depends(request.at as usize, |v| v.as_byte().is_some_and(|at| template.is_free(at)))
}

/// True if a decision depends on lengths that may change.
fn depends_on_lengths(prepared: &mut Prepared, request: &Request) -> bool {
    let lengths = &request.traced.lengths.variables;
    if lengths.is_empty() {
        return false;
    }
    let path = prepared.path(request.run, request.traced);
    path.depends(request.at as usize, |v| v.as_byte().is_some_and(|at| lengths.contains(&at)))
}
