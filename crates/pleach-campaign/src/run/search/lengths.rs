//! Which decisions on the lengths of holes are offered for flips.
//!
//! The same question comes up on many paths through one string of a grammar: how long is
//! the name, whatever its bytes are? It is asked once for a string, leaving the lengths of
//! its holes aside, for the decisions on lengths before it, a place and a condition. This
//! can miss what a length and earlier decisions on bytes do together. Otherwise each path
//! would be searched once more for each boundary on it.
//!
//! A loop asks the same place about one length after another. Only the first
//! [`MAX_ASKED`] of these questions are asked.

use crate::run::ring::Candidate;
use pleach_abi::shm::{HOLES_MAX, Hole};
use pleach_hash::hash_words;
use pleach_search::Decision;
use pleach_solve::Path;
use pleach_template::solve::{Decided, LengthDecisions};
use std::collections::{HashMap, HashSet};

/// How often a place is asked about other lengths, for one string.
const MAX_ASKED: u32 = 32;

/// What was asked about lengths so far.
pub struct AskedLengths {
    conditions: HashSet<u64>,
    places: HashMap<u64, u32>,
    /// The most conditions. With more, all are forgotten, and may be asked again.
    max: usize,
}

/// Finds the decisions on lengths in a run whose input has `holes` holes.
pub fn find_lengths(
    path: &mut Path,
    decisions: &[Decision],
    input_len: u32,
    holes: usize,
) -> LengthDecisions {
    let decided =
        decisions.iter().map(|d| Decided { kind: d.kind, key: d.key, outcome: d.outcome });
    LengthDecisions::find(path, decided, input_len, holes)
}

impl AskedLengths {
    pub fn new(max: usize) -> AskedLengths {
        AskedLengths { conditions: HashSet::new(), places: HashMap::new(), max }
    }

    /// Offers the decisions on lengths for flips, each once for a string. `frame` stands
    /// for the string without its holes. Soft conditions are not offered.
    pub fn offer(
        &mut self,
        lengths: &LengthDecisions,
        decisions: &mut [Decision],
        path: &Path,
        frame: u64,
    ) {
        for &at in &lengths.soft {
            decisions[at as usize].freeze();
        }
        if self.conditions.len() > self.max {
            self.conditions.clear();
            self.places.clear();
        }
        let mut before = frame;
        for d in &lengths.decided {
            let place = hash_words([frame, d.key, d.outcome.into()]);
            let what = hash_words([before, place, path.print(d.at as usize)]);
            before = hash_words([before, d.key, d.outcome.into()]);
            let is_new = self.conditions.insert(what);
            let times = self.places.entry(place).or_default();
            *times += u32::from(is_new);
            match is_new && *times <= MAX_ASKED {
                true => decisions[d.at as usize].unfreeze(),
                false => decisions[d.at as usize].freeze(),
            }
        }
    }
}

/// True if a run decided on lengths as predicted. The decisions up to there are not
/// flipped again: they were searched with the lengths that the parent had.
pub fn follow_lengths(
    lengths: &LengthDecisions,
    predicted: &[(u64, u32)],
    decisions: &mut [Decision],
) -> bool {
    let pairs = lengths.decided.iter().zip(predicted);
    let agreed = pairs.take_while(|(d, p)| (d.key, d.outcome) == **p).count();
    let behind = agreed.checked_sub(1).map_or(0, |last| lengths.decided[last].at as usize + 1);
    decisions[..behind].iter_mut().for_each(Decision::freeze);
    agreed == predicted.len()
}

/// The holes of an input as the runtime is told of them; none if no length can change.
pub fn holes_of(candidate: &Candidate) -> Vec<Hole> {
    let template = candidate.template.as_ref().filter(|t| t.holes.len() <= HOLES_MAX);
    let Some(template) = template else { return Vec::new() };
    if !template.holes.iter().any(|h| h.is_elastic()) {
        return Vec::new();
    }
    let hole = |h: &pleach_template::Hole| Hole {
        start: h.start,
        len: h.len(),
        grows: if h.is_elastic() { h.filling.1 } else { 0 },
        // Nothing of a hole with filling is flipped: only where it grows matters.
        filling: if h.has_filling() { h.start } else { h.filling.1 },
    };
    template.holes.iter().map(hole).collect()
}
