//! The branches that several runs took. A branch has two sides, a switch one for each case
//! and the default. Each side counts.

use crate::exit::Failure;
use crate::show;
use pleach_exec::executor::ModuleCounters;
use pleach_exec::image::side_name;
use pleach_exec::{Executor, Half, Image, Layout, Outcome};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// The branches that some runs took.
#[derive(Default)]
pub struct SideCounts {
    all: Vec<ModuleCounters>,
    /// True if branches in system headers count, too.
    system: bool,
}

/// The number of covered sides and of all sides.
#[derive(Clone, Copy, Default)]
pub struct Tally {
    pub covered: usize,
    pub total: usize,
}

/// A side that no run took.
pub struct Missing {
    pub place: String,
    pub function: String,
    /// See [`side_name`].
    pub side: String,
}

/// The coverage of each function, by file, line and name.
pub type Functions = BTreeMap<(String, u32, String), Tally>;

impl SideCounts {
    /// `system`: branches in system headers count, too.
    pub fn new(system: bool) -> SideCounts {
        SideCounts { all: Vec::new(), system }
    }

    /// Adds the counters of a run.
    pub fn add(&mut self, more: Vec<ModuleCounters>) {
        for new in more {
            match self.all.iter_mut().find(|m| m.module.path == new.module.path) {
                Some(old) => {
                    old.counters.iter_mut().zip(&new.counters).for_each(|(a, b)| *a = (*a).max(*b));
                }
                None => self.all.push(new),
            }
        }
    }

    /// Adds the last run. If it was the first round of a persistent process, the input runs
    /// again in the same process, because a first round may take other branches.
    pub fn add_run(
        &mut self,
        executor: &mut Executor,
        outcome: &Outcome,
        input: &[u8],
        timeout: Duration,
    ) -> Result<(), Failure> {
        self.add(executor.counters());
        if outcome.round == 1 && executor.is_waiting() {
            executor.run(input, timeout)?;
            self.add(executor.counters());
        }
        Ok(())
    }

    /// The coverage of each function, ordered by file and line.
    pub fn functions(&self, layout: &Layout) -> Functions {
        let mut functions = Functions::new();
        for m in &self.all {
            if let Some(image) = layout.module(&m.module, Half::Fast) {
                tally(image, self.counters_by_site(image, &m.counters), &mut functions);
            }
        }
        functions
    }

    /// The sides that no run took, in the order of the sites.
    pub fn missing(&self, layout: &Layout) -> Vec<Missing> {
        let mut missing = Vec::new();
        for m in &self.all {
            let Some(image) = layout.module(&m.module, Half::Fast) else { continue };
            for (i, sides) in self.counters_by_site(image, &m.counters) {
                let Some((function, info)) = image.describe(i) else { continue };
                let count = image.sites[i].counters as usize;
                for side in (0..count).filter(|&side| sides.get(side).is_none_or(|&c| c == 0)) {
                    let side = side_name(function, info, side);
                    let place = show::place(function, info);
                    missing.push(Missing { place, function: show::name(function), side });
                }
            }
        }
        missing
    }

    /// The number of each site that counts, with the counters of its sides. There are fewer
    /// counters than sides if some could not be read.
    fn counters_by_site<'a>(
        &self,
        image: &'a Image,
        counters: &'a [u8],
    ) -> impl Iterator<Item = (usize, &'a [u8])> + use<'a> {
        let system = self.system;
        let mut at = 0;
        image.sites.iter().enumerate().filter_map(move |(i, site)| {
            let from = at.min(counters.len());
            at += site.counters as usize;
            let is_counted = image.has_branches(i) && (system || !image.is_system(i));
            is_counted.then(|| (i, &counters[from..at.min(counters.len())]))
        })
    }

    pub fn sum(functions: &Functions) -> Tally {
        functions.values().fold(Tally::default(), |a, b| Tally {
            covered: a.covered + b.covered,
            total: a.total + b.total,
        })
    }
}

/// `   5/9     branches (55.6%)`
impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let percent = 100.0 * self.covered as f64 / self.total.max(1) as f64;
        write!(f, "{:>5}/{:<5} branches ({percent:.1}%)", self.covered, self.total)
    }
}

fn tally<'a>(
    image: &Image,
    sides: impl Iterator<Item = (usize, &'a [u8])>,
    functions: &mut Functions,
) {
    for (i, sides) in sides {
        let Some((function, _)) = image.describe(i) else { continue };
        let key = (function.file.clone(), function.line, show::name(function));
        let entry = functions.entry(key).or_default();
        entry.total += image.sites[i].counters as usize;
        entry.covered += sides.iter().filter(|&&c| c != 0).count();
    }
}
