//! What stands in the way to a place that was not reached: of all sites that some run came to,
//! the side that nobody took and that is nearest to the place.

use crate::run::account::{Inquiry, Obstacle, Reason};
use crate::run::search::Map;
use crate::run::state::State;
use pleach_exec::image::side_name;
use pleach_exec::triage::readable;
use pleach_search::{BranchId, Coverage, Distances, FAR, Goal};
use std::collections::HashSet;

/// Finds obstacles. It has the static graph, so it serves for many places.
pub struct Obstacles<'a> {
    map: &'a Map,
    coverage: Coverage,
    distances: Distances,
    /// Branches that a traced run decided on its input, or could have taken there.
    decided: HashSet<BranchId>,
}

impl<'a> Obstacles<'a> {
    pub fn new(map: &'a Map, coverage: Coverage, state: &State) -> Obstacles<'a> {
        let decisions = state.search.runs.iter().flat_map(|run| &run.decisions);
        let branches = decisions.flat_map(|d| (0..d.outcomes).filter_map(|o| d.branch(o)));
        let (decided, distances) = (branches.collect(), Distances::with_pointers(&map.program));
        Obstacles { map, coverage, distances, decided }
    }

    /// The side that nobody took and that is nearest to a goal, and its distance. Among those
    /// at the same distance, one that some run decided on symbolic data comes first.
    fn nearest(&mut self, goal: &Goal) -> Option<(BranchId, u32)> {
        self.distances.update_toward(goal.blocks.iter().copied());
        let sites = self.map.program.functions().iter().flat_map(|f| &f.sites);
        let reached = sites.filter(|site| {
            (site.first..site.first + site.sides).any(|side| self.coverage.has(side))
        });
        let sides = reached.flat_map(|site| site.first..site.first + site.sides);
        let open = sides.filter(|&side| !self.coverage.has(side));
        let distances = open.map(|side| (self.distances.toward(side), side));
        let near = distances.filter(|(distance, _)| *distance != FAR);
        let best = near.min_by_key(|(d, side)| (*d, !self.decided.contains(side), *side));
        best.map(|(distance, side)| (side, distance))
    }

    /// What stands in the way to a goal.
    pub fn find(&mut self, goal: &Goal, state: &State) -> Option<Obstacle> {
        let (branch, distance) = self.nearest(goal)?;
        let function = self.map.program.function_of(branch)?;
        let record = self.map.functions().nth(function as usize)?;
        let site = self.map.program.site_of(branch)?;
        let info = record
            .sites
            .iter()
            .find(|info| self.map.program.site(info.hash).is_some_and(|s| s.first == site.first))?;
        let side = side_name(record, info, (branch - site.first) as usize);
        let is_covered = |branch| self.coverage.has(branch);
        let ledger = &state.account.ledger;
        let reason = Inquiry::new(self.map, ledger, None, &is_covered).reason(branch);
        Some(Obstacle {
            place: format!("{}:{}:{}", record.file_of(info), info.line, info.column),
            function: readable(&record.name),
            side,
            distance,
            reason: describe(&reason),
        })
    }
}

/// Why a branch was not taken, in a few words.
fn describe(reason: &Reason) -> String {
    let on_paths = |n: u32| if n == 1 { "on 1 path".to_string() } else { format!("on {n} paths") };
    match reason {
        Reason::Refuted { paths, pinned: 0, .. } => format!("refuted {}", on_paths(*paths)),
        Reason::Refuted { paths, pinned, pin } => {
            let pin = pin.as_ref().map(|at| format!(" at {}:{}", at.file, at.line));
            let (paths, pin) = (on_paths(*paths), pin.unwrap_or_default());
            format!("refuted {paths}; {} only because a value was pinned{pin}", on_paths(*pinned))
        }
        Reason::Unsolved { paths, .. } => format!("not solved in time {}", on_paths(*paths)),
        Reason::Missed { solved, .. } => {
            format!("solved {}, but the runs went elsewhere", on_paths(*solved))
        }
        Reason::Lost(loss) => {
            let from = loss.function.as_ref().map(|f| format!(" in {f}")).unwrap_or_default();
            format!("it depends on something that was lost{from} ({})", loss.cause)
        }
        Reason::NeverAsked => "not asked yet".into(),
        Reason::Fixed => "it depends only on what the grammar fixes".into(),
        Reason::Folded => "the compiler removed it".into(),
        Reason::Proved => "the compiler has proved that it is never taken".into(),
        Reason::Decided => "the run has decided on the same value before".into(),
        Reason::Concrete => "it does not depend on the input".into(),
        Reason::NotTraced => "no run that was traced decided it on its input".into(),
        Reason::Unreached(_) => "never reached".into(),
        Reason::Taken => "only a crash or a hang took it".into(),
    }
}
