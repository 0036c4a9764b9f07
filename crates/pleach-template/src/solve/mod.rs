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
//!
//! Nothing here starts a process or reads a file, and every limit counts work: the same
//! requests in the same order have the same answers.

mod lengths;
mod prepared;
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
            let grammar = answer.grammar;
            answer = Answer { grammar, ..self.flip_lengths(prepared, request) };
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
            answer.grammar = std::mem::take(&mut reading.spent);
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
            Verdict::Unsat => self.flip_jointly(prepared, request),
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

    /// Other tokens and other bytes in one request: a token is a word of four bytes that
    /// must be the number of some token.
    fn flip_jointly(&mut self, prepared: &mut Prepared, request: &Request) -> Answer {
        match self.find_jointly(prepared, request) {
            Some(found) => Answer::by_tokens(found),
            // The solver's choice does not begin a sentence; another choice may.
            None => Answer::new(Verdict::Unknown, TOKENS),
        }
    }

    /// `Some(None)` if there is no such input, `None` if that is not known.
    fn find_jointly(
        &mut self,
        prepared: &mut Prepared,
        request: &Request,
    ) -> Option<Option<Vec<u8>>> {
        let (traced, at) = (request.traced, request.at as usize);
        let Tokens { vocabulary, complete } = request.tokens?;
        let (sentence, template) = (traced.sentence.as_ref()?, traced.template.as_ref()?);
        if !complete {
            return Some(None);
        }
        let extended = traced.extended.as_ref()?;
        let (plain, first) = (traced.input.len(), traced.first_token as usize);
        let tokens = (extended.len() - first) / 4;
        let template = vocabulary.with_tokens(template, traced.first_token, tokens as u32)?;
        let mut path = traced.path_under(&template.requirements(extended));
        let model = match self.solver.flip(&mut path, at, request.goal).verdict {
            pleach_solve::Verdict::Sat(model) => model,
            pleach_solve::Verdict::Unsat => return Some(None),
            _ => return None,
        };
        let changed = model.apply(extended);
        let words = changed.get(first..)?.chunks_exact(4).zip(extended[first..].chunks_exact(4));
        let words = words.enumerate().filter(|(_, (new, old))| new != old);
        let numbers: Vec<(usize, i32)> = words
            .filter_map(|(place, (new, _))| Some((place, i32::from_le_bytes(new.try_into().ok()?))))
            .collect();
        let (_, reading) = prepared.reading.as_mut().filter(|(run, _)| *run == request.run)?;
        let last = reading.last(at)?;
        let input = (&changed[..plain], sentence);
        vocabulary.realise(input, &numbers, last, reading).map(Some)
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
