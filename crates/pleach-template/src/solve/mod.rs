//! One solve: from a decision of a traced run to an input that decides otherwise.
//!
//! A [`Request`] names the traced run, the decision and the outcome that is asked for. The
//! [`Answer`] has the input, what of it may change, the path that it is predicted to take,
//! the verdict, who answered and what that cost. The caller does not know which parts of
//! the input had to change. They are tried in this order, the cheapest first:
//!
//! 1. A decision on the lengths of holes alone is answered by other lengths.
//! 2. Another token, where the run recorded decisions on tokens: the context-free solver
//!    completes the sentence ([`Vocabulary::flip`]).
//! 3. Other bytes, with the tokens as they are ([`pleach_solve::Solver::flip`]).
//! 4. Other tokens and other bytes in one request.
//! 5. Other lengths, if the decision depends on some and nothing else helped.
//! 6. Other lengths, bytes and tokens in one request.
//!
//! Nothing here starts a process or reads a file, and every limit counts work: the same
//! requests in the same order have the same answers.

mod lengths;
mod prepared;
#[cfg(test)]
mod tests;
mod traced;

pub use lengths::{Decided, LengthDecision, LengthDecisions, LengthPath};
pub use prepared::Prepared;
pub use traced::Traced;

use crate::strings::order;
use crate::template::Template;
use crate::tokens::{Flipped, Spent, Vocabulary};
use pleach_grammar::TokenSet;
use pleach_solve::{Config, Goal, Holes, Resized, Solver};
use std::sync::Arc;

/// Asks for an input that takes one decision of a run another way.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The number of the run, by which its prepared path is found again.
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
    /// The grammar completes the sentence. Otherwise one token is replaced, whether or not
    /// the result is a sentence.
    pub complete: bool,
}

/// The result of a request.
pub struct Answer {
    pub verdict: Verdict,
    pub found: Option<Found>,
    /// For a flip of a length: the last length before the boundary that `found` crosses.
    /// Off-by-one errors sit on both sides.
    pub boundary: Option<Found>,
    /// Who answered, as the statistics name it.
    pub tier: &'static str,
    /// The solver knew the answer of an equal request.
    pub cached: bool,
    /// A place, and tokens that would do there if the grammar allowed one of them.
    pub refused: Option<(usize, TokenSet)>,
    /// What it cost, in microseconds as counted: no clock is asked.
    pub cost: f64,
    /// What the context-free solver did.
    pub grammar: Spent,
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
    /// The parts of it that may change. `None` if every byte may, or if that is found when
    /// the input is traced.
    pub template: Option<Arc<Template>>,
    pub prediction: Prediction,
}

/// Where the run of an input is predicted to go.
#[derive(Clone, Debug)]
pub enum Prediction {
    /// It decides as the traced run did, up to the decision that was flipped.
    Path,
    /// It decides so on lengths; other decisions may change.
    Lengths(LengthPath),
}

/// The names of answers that no tier of the solver gave.
pub const TOKENS: &str = "tokens";
const LENGTHS: &str = "lengths";

/// Microseconds that one operation takes: to evaluate it, and to prepare a path of it.
const EVALUATING_COST: f64 = 0.005;
const PREPARING_COST: f64 = 0.3;

/// Answers requests. It remembers answers of equal requests.
pub struct FlipSolver {
    solver: Solver,
    /// Operations of all requests for other lengths.
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
            grammar: Spent::default(),
        }
    }

    /// An answer by tokens: the input, or that there is none.
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
            by_lengths.grammar.add(&answer.grammar);
            answer = by_lengths;
        }
        answer.cost = self.cost(prepared) - before;
        answer
    }

    /// Inputs that keep only some of the conditions before a decision, for a request that
    /// is unsatisfiable. Also returns what they cost.
    pub fn relax(&mut self, prepared: &mut Prepared, request: &Request) -> (Vec<Vec<u8>>, f64) {
        let before = self.cost(prepared);
        let path = prepared.path(request.run, request.traced);
        let (models, _) = self.solver.relax(path, request.at as usize, request.goal);
        let inputs = models.iter().map(|model| model.apply(&request.traced.input)).collect();
        (inputs, self.cost(prepared) - before)
    }

    /// What everything so far has cost.
    fn cost(&self, prepared: &Prepared) -> f64 {
        let evaluated = (self.solver.stats().work + self.length_work) as f64;
        EVALUATING_COST * evaluated + PREPARING_COST * prepared.nodes as f64
    }

    fn flip_tokens_or_bytes(&mut self, prepared: &mut Prepared, request: &Request) -> Answer {
        let mut answer = match flip_token(prepared, request) {
            Flipped::Input(bytes) => Answer::by_tokens(Some(bytes)),
            Flipped::Bytes => self.flip_bytes(prepared, request),
            Flipped::TooLarge => Answer::new(Verdict::Unknown, TOKENS),
            Flipped::None => self.flip_texts(prepared, request),
            Flipped::Refused { place, wanted } => {
                let answer = self.flip_texts(prepared, request);
                let refused = Some((place, wanted)).filter(|_| answer.found.is_none());
                Answer { refused, ..answer }
            }
        };
        if let Some((_, reading)) = &mut prepared.reading {
            answer.grammar.add(&std::mem::take(&mut reading.spent));
        }
        answer
    }

    /// No token alone does it: tries the texts of the tokens, then both together.
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
        // Without all conditions the answer may have left the template.
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

    /// Other bytes and other tokens in one request, and other lengths if they may change. A
    /// token is a word of four bytes that must be the number of some token, and a length
    /// one that must be the length of some word of its hole.
    fn flip_jointly(
        &mut self,
        prepared: &mut Prepared,
        request: &Request,
        with_lengths: bool,
    ) -> Answer {
        let tier = if with_lengths { LENGTHS } else { TOKENS };
        let mut answer = match self.find_jointly(prepared, request, with_lengths) {
            Joint::Found(found) => Answer { found: Some(found), ..Answer::new(Verdict::Sat, tier) },
            Joint::None => Answer::new(Verdict::Unsat, tier),
            Joint::Unknown => Answer::new(Verdict::Unknown, tier),
        };
        if let Some((_, reading)) = &mut prepared.reading {
            answer.grammar = std::mem::take(&mut reading.spent);
        }
        answer
    }

    fn find_jointly(
        &mut self,
        prepared: &mut Prepared,
        request: &Request,
        with_lengths: bool,
    ) -> Joint {
        let (traced, at) = (request.traced, request.at as usize);
        let tokens = request.tokens.zip(traced.sentence.as_ref());
        if !with_lengths && tokens.is_none_or(|(tokens, _)| !tokens.complete) {
            return Joint::None;
        }
        let tokens = tokens.filter(|(tokens, _)| tokens.complete);
        let (Some(template), Some(extended)) = (&traced.template, &traced.extended) else {
            return Joint::Unknown;
        };
        let first_length = traced.lengths.variables.start;
        let mut joint = Some((**template).clone());
        if with_lengths {
            joint = joint.and_then(|t| lengths::with_lengths(&t, first_length, request.max_hole));
        }
        if let Some((tokens, _)) = tokens {
            let count = (extended.len() as u32 - traced.first_token) / 4;
            joint =
                joint.and_then(|t| tokens.vocabulary.with_tokens(&t, traced.first_token, count));
        }
        let Some(joint) = joint else { return Joint::Unknown };
        let is_soft = |at| with_lengths && traced.lengths.soft.contains(&at);
        let mut path = traced.path_under(&joint.requirements(extended), is_soft);
        let model = match self.solver.flip(&mut path, at, request.goal).verdict {
            pleach_solve::Verdict::Sat(model) => model,
            pleach_solve::Verdict::Unsat => return Joint::None,
            _ => return Joint::Unknown,
        };
        let changed = model.apply(extended);
        // The solver's choice need not begin a sentence; another choice may.
        let found = self.realise(prepared, request, template, &changed, with_lengths);
        found.map_or(Joint::Unknown, Joint::Found)
    }

    /// The input for what a joint request was answered with: its bytes, the lengths of its
    /// holes, and the numbers of its tokens.
    fn realise(
        &mut self,
        prepared: &mut Prepared,
        request: &Request,
        template: &Template,
        changed: &[u8],
        with_lengths: bool,
    ) -> Option<Found> {
        let traced = request.traced;
        let (plain, old) = (traced.input.len(), traced.extended.as_ref()?);
        let (mut bytes, mut resized) = (changed.get(..plain)?.to_vec(), None);
        if with_lengths {
            let lengths = words_of(changed, plain, template.holes.len());
            let (longer, template) = template.resized(&bytes, &lengths, &order())?;
            (bytes, resized) = (longer, Some(template));
        }
        if let Some((tokens, sentence)) = request.tokens.zip(traced.sentence.as_ref()) {
            let count = (old.len() - traced.first_token as usize) / 4;
            let of = |bytes| words_of(bytes, traced.first_token as usize, count);
            let pairs = of(changed).into_iter().zip(of(old)).enumerate();
            let numbers: Vec<(usize, i32)> = pairs
                .filter(|(_, (new, old))| new != old)
                .map(|(place, (new, _))| (place, new as i32))
                .collect();
            let (_, reading) = prepared.reading.as_mut().filter(|(run, _)| *run == request.run)?;
            if !with_lengths || !numbers.is_empty() {
                let moved = resized.as_ref().map(|new| sentence.moved(template, new));
                let sentence = moved.as_ref().unwrap_or(sentence);
                let last = reading.last(request.at as usize)?;
                let input = (&bytes[..], sentence);
                bytes = tokens.vocabulary.realise(input, &numbers, last, reading)?;
            }
        }
        let prediction = match with_lengths {
            true => Prediction::Lengths(traced.lengths.predict(request.at, request.outcome)),
            false => Prediction::Path,
        };
        let template = resized.filter(|_| !traced.on_tokens).map(Arc::new);
        Some(Found { bytes, template, prediction })
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
        let render = |new: &[u32], outcome| {
            let (bytes, template) = template.resized(&traced.input, new, &order())?;
            let template = (!traced.on_tokens).then(|| Arc::new(template));
            let prediction = Prediction::Lengths(lengths.predict(at, outcome));
            Some(Found { bytes, template, prediction })
        };
        let Some(found) = render(&new, outcome) else { return unknown };
        let boundary = edge.and_then(|edge| render(&edge, lengths.outcome(at)));
        Answer { found: Some(found), boundary, ..Answer::new(Verdict::Sat, LENGTHS) }
    }
}

/// The result of a joint request.
enum Joint {
    Found(Found),
    /// There is no such input.
    None,
    Unknown,
}

/// Numbers of four bytes, from an offset on.
fn words_of(bytes: &[u8], from: usize, count: usize) -> Vec<u32> {
    let words = bytes.get(from..).unwrap_or_default().chunks_exact(4).take(count);
    words.map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect()
}

/// By another token alone.
fn flip_token(prepared: &mut Prepared, request: &Request) -> Flipped {
    let Request { run, traced, .. } = *request;
    let (Some(tokens), Some(sentence)) = (request.tokens, &traced.sentence) else {
        return Flipped::Bytes;
    };
    let known = prepared.reading.as_ref().is_some_and(|(of, _)| *of == run);
    if !known {
        let reading = tokens.vocabulary.reading(prepared.path(run, traced), traced.first_token);
        prepared.reading = Some((run, reading));
    }
    // The reading is taken out while the path is borrowed.
    let Some((_, mut reading)) = prepared.reading.take() else { return Flipped::Bytes };
    let path = prepared.path(run, traced);
    let (input, at) = ((&traced.input[..], sentence), (request.at as usize, request.goal));
    let flipped = tokens.vocabulary.flip(input, path, at, (&mut reading, tokens.complete));
    prepared.reading = Some((run, reading));
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
