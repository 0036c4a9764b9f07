//! Flips over the lengths of holes.
//!
//! A run of a template knows the lengths of its holes as variables. What it decides on
//! them alone is answered by other lengths: the input is put together anew, and what
//! it decided on the bytes of a hole that changed is given up, since the hole's
//! language says which bytes may be there. So where such an input will go can be
//! foretold of its decisions on lengths only: all of them as before, the last one
//! turned round. What lies before that was searched with the length that it had, and
//! is not searched again.
//!
//! The same question comes up on many paths through one string (how long is the name,
//! whatever is in it). It is asked once for a string, the length of its holes aside,
//! for what was decided on lengths before, a place and a condition. What comes of a
//! length and of bytes that were decided on before it, together, may be missed by that;
//! otherwise each path would be searched once more for each boundary on it.
//!
//! A loop asks the same place about ever other lengths. The first few answers are had.
//!
//! Bugs by one sit on both sides of a boundary. So the last length before it is run,
//! too.

use super::store::Known;
use super::worker::{Promised, Traced, Worker};
use pleach_abi::event::Kind;
use pleach_abi::shm::{HOLES_MAX, Hole};
use pleach_exec::executor::ExecError;
use pleach_search::{Decision, Flip, InputId, Origin, Verdict};
use pleach_solve::{Goal, Holes, Path, Resized};
use pleach_template::{Template, order};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Decisions on lengths, in order: what was decided, and how.
pub type Foretold = Arc<[(u64, u32)]>;

/// The tier that answers.
const TIER: &str = "lengths";

/// How often a place is asked about other lengths, for one string.
const MOST_ASKED: u32 = 32;

/// What was asked about lengths so far.
#[derive(Default)]
pub struct Asked {
    conditions: HashSet<u64>,
    places: HashMap<u64, u32>,
}

/// What a run decided on the lengths of holes alone.
#[derive(Default)]
pub struct Sizes {
    /// The lengths, as bytes behind the input.
    range: Range<u32>,
    /// Places of the decisions, with what was decided.
    decided: Vec<(u32, u64, u32)>,
    /// Places of what need not stay when a length changes: addresses.
    soft: HashSet<u32>,
}

impl Sizes {
    /// Finds them among the decisions of a run whose input has `holes` holes.
    pub fn find(decisions: &[Decision], path: &mut Path, input_len: u32, holes: usize) -> Sizes {
        let range = input_len..input_len + 4 * holes as u32;
        let mut sizes = Sizes { range, ..Sizes::default() };
        if holes == 0 {
            return sizes;
        }
        let within = |at: &usize| path.is_within(*at, &sizes.range);
        let over: Vec<usize> = (0..decisions.len()).filter(within).collect();
        let is_pin = |at: &usize| decisions[*at].kind == Kind::Pin;
        let (pins, others): (Vec<usize>, Vec<usize>) = over.into_iter().partition(is_pin);
        let tight = path.find_tight(&others, input_len);
        sizes.soft = pins.iter().chain(&tight).map(|&at| at as u32).collect();
        for at in others.into_iter().filter(|at| tight.binary_search(at).is_err()) {
            let d = &decisions[at];
            // An assumption bounds what can be asked, and is no decision.
            if d.kind != Kind::Assume {
                sizes.decided.push((at as u32, d.key, d.outcome));
            }
        }
        sizes
    }

    /// Whether a decision was made on lengths alone.
    pub fn is_over(&self, at: u32) -> bool {
        self.decided.binary_search_by_key(&at, |d| d.0).is_ok()
    }

    /// Offers the decisions for flips, each once for a string; what is soft is
    /// settled.
    pub fn offer(&self, decisions: &mut [Decision], path: &Path, frame: u64, asked: &Mutex<Asked>) {
        let mut asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
        for &at in &self.soft {
            decisions[at as usize].settle();
        }
        let mut before = frame;
        for &(at, key, outcome) in &self.decided {
            let place = mixed(&[frame, key, outcome.into()]);
            let what = mixed(&[before, place, path.print(at as usize)]);
            before = mixed(&[before, key, outcome.into()]);
            let new = asked.conditions.insert(what);
            let times = asked.places.entry(place).or_default();
            *times += u32::from(new);
            match new && *times <= MOST_ASKED {
                true => decisions[at as usize].unsettle(),
                false => decisions[at as usize].settle(),
            }
        }
    }

    /// Whether the run decided on lengths as foretold. What it did up to there is
    /// settled.
    pub fn follow(&self, foretold: &[(u64, u32)], decisions: &mut [Decision]) -> bool {
        let pairs = self.decided.iter().zip(foretold);
        let agreed = pairs.take_while(|(d, f)| (d.1, d.2) == **f).count();
        let behind = agreed.checked_sub(1).map_or(0, |last| self.decided[last].0 as usize + 1);
        decisions[..behind].iter_mut().for_each(Decision::settle);
        agreed == foretold.len()
    }

    /// What a run will decide up to a place, with that decision as given.
    fn foretell(&self, at: u32, outcome: u32) -> Foretold {
        let before = self.decided.iter().filter(|d| d.0 < at).map(|d| (d.1, d.2));
        let here = self.decided.iter().filter(|d| d.0 == at).map(|d| (d.1, outcome));
        before.chain(here).collect()
    }

    fn outcome(&self, at: u32) -> u32 {
        self.decided.iter().find(|d| d.0 == at).map_or(0, |d| d.2)
    }
}

fn mixed(words: &[u64]) -> u64 {
    words.iter().fold(0, |hash: u64, word| {
        (hash.rotate_left(17) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    })
}

/// An input, and what of it may change.
type Rendered = (Vec<u8>, Template);

impl Worker {
    /// The holes of an input as the runtime is told of them; none if no length of
    /// theirs can change.
    pub(super) fn holes(&self, known: &Known) -> Vec<Hole> {
        let template = known.template.as_ref().filter(|t| t.holes.len() <= HOLES_MAX);
        let Some(template) = template else { return Vec::new() };
        if !self.shared.settings.lengths() || !template.holes.iter().any(|h| h.is_elastic()) {
            return Vec::new();
        }
        let hole = |h: &pleach_template::Hole| Hole {
            start: h.start,
            len: h.len(),
            grows: if h.is_elastic() { h.filling.1 } else { 0 },
            // Of a hole with filling nothing is flipped: only where it grows matters.
            filling: if h.is_filled() { h.start } else { h.filling.1 },
        };
        template.holes.iter().map(hole).collect()
    }

    /// Whether a flip depends on lengths that may change.
    pub(super) fn has_lengths(&mut self, traced: &Traced, flip: Flip) -> bool {
        let range = &traced.sizes.range;
        if range.is_empty() {
            return false;
        }
        let path = self.paths.get(flip.run, traced);
        path.depends(flip.at as usize, |v| v.as_byte().is_some_and(|at| range.contains(&at)))
    }

    /// A flip over lengths, begun at some time.
    pub(super) fn resize(
        &mut self,
        traced: &Traced,
        flip: Flip,
        goal: Goal,
        (parent, start): (InputId, Instant),
    ) -> Result<(), ExecError> {
        let (shared, before) = (self.shared.clone(), self.worked());
        let (verdict, found, edge) = match &traced.template {
            Some(template) => self.other_lengths(traced, template, flip, goal),
            None => (Verdict::Unknown, None, None),
        };
        let too_long = found.as_ref().is_some_and(|f| f.0.len() as u64 > shared.settings.max_len);
        let cost = self.worked() - before;
        let mut state = shared.lock();
        state.strategy.worked(flip, cost);
        state.stats.flips.count(verdict, TIER, false);
        let spent = start.elapsed().as_secs_f64();
        state.stats.flips.took(TIER, spent);
        state.stats.time_s.solve += spent;
        if verdict == Verdict::Unknown {
            state.partial("not solved");
        }
        let answer = state.answered(flip, if too_long { Verdict::Unsat } else { verdict });
        let Some((bytes, template)) = found.filter(|_| !too_long) else {
            answer.iter().for_each(|answer| state.record(answer));
            return Ok(());
        };
        drop(state);
        let sizes = &traced.sizes;
        let foretold = Some(sizes.foretell(flip.at, flip.outcome));
        // What may change of an input with tokens is found when it is traced.
        let own = |template| (!traced.tokens).then(|| Arc::new(template));
        let promised = Promised { expect: None, answer, template: own(template), foretold };
        self.execute(&bytes, Origin::Flip(flip), Some(parent), promised)?;
        if let Some((bytes, template)) = edge
            && !self.out_of_runs()
            && !shared.stopping()
        {
            let foretold = Some(sizes.foretell(flip.at, sizes.outcome(flip.at)));
            let template = own(template);
            let promised = Promised { expect: None, answer: None, template, foretold };
            self.execute(&bytes, Origin::Flip(flip), Some(parent), promised)?;
        }
        Ok(())
    }

    /// An input with other lengths, and the one at the boundary that it crossed.
    fn other_lengths(
        &mut self,
        traced: &Traced,
        template: &Template,
        flip: Flip,
        goal: Goal,
    ) -> (Verdict, Option<Rendered>, Option<Rendered>) {
        let sizes = &traced.sizes;
        let possible = template.holes.iter().map(|h| h.language.lengths()).collect();
        let most = self.shared.settings.max_hole();
        let holes = Holes { first: sizes.range.start, possible, most };
        let path = self.paths.get(flip.run, traced);
        let soft = |at: usize| sizes.soft.contains(&(at as u32));
        let render = |lengths: &[u32]| template.resized(&traced.input, lengths, &order());
        let (resized, work) = path.resize(flip.at as usize, goal, &holes, soft);
        self.resizing += work;
        match resized {
            Resized::Lengths { lengths, edge } => match render(&lengths) {
                Some(found) => {
                    (Verdict::Sat, Some(found), edge.and_then(|lengths| render(&lengths)))
                }
                None => (Verdict::Unknown, None, None),
            },
            Resized::Never => (Verdict::Unsat, None, None),
            Resized::Unknown => (Verdict::Unknown, None, None),
        }
    }
}
