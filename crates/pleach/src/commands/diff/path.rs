//! The path of a run, so that two builds can be compared: the functions that it executed, and
//! in functions whose code is the same in both builds, the branches that it took.

use crate::show;
use pleach_abi::function::Function;
use pleach_abi::section::SiteKind;
use pleach_exec::executor::ModuleCounters;
use pleach_exec::{Half, Layout};
use std::collections::{BTreeMap, BTreeSet};

/// A function in any build: its name and the name of its file.
type Name = (String, String);

/// See the module.
pub struct Path {
    /// By function: a hash of its code, and the sides of its sites that were taken.
    functions: BTreeMap<Name, (u32, BTreeSet<(usize, usize)>)>,
    places: BTreeMap<(Name, usize), String>,
}

impl PartialEq for Path {
    fn eq(&self, other: &Path) -> bool {
        let same = |(a, b): (&(u32, _), &(u32, _))| a.0 != b.0 || a.1 == b.1;
        self.functions.len() == other.functions.len()
            && self
                .functions
                .iter()
                .all(|(name, a)| other.functions.get(name).is_some_and(|b| same((a, b))))
    }
}

impl Path {
    pub fn new(layout: &Layout, modules: &[ModuleCounters]) -> Path {
        let (mut functions, mut places) = (BTreeMap::new(), BTreeMap::new());
        for module in modules {
            let Some(image) = layout.module(&module.module, Half::Fast) else { continue };
            let mut at = 0;
            for (i, site) in image.sites.iter().enumerate() {
                let sides = at..at + site.counters as usize;
                at = sides.end;
                let counters = module.counters.get(sides).unwrap_or_default();
                if counters.iter().all(|&c| c == 0) {
                    continue;
                }
                let Some((f, s)) = image.described(i) else { continue };
                let function = &image.functions[f];
                if image.is_system(i) {
                    continue;
                }
                let name = name_of(function);
                let (_, taken) = functions
                    .entry(name.clone())
                    .or_insert_with(|| (function.code, BTreeSet::new()));
                let sides = counters.iter().enumerate().filter(|(_, c)| **c != 0);
                taken.extend(sides.map(|(side, _)| (s, side)));
                let info = &function.sites[s];
                if info.kind != SiteKind::Entry {
                    places.insert((name, s), show::place(function, info));
                }
            }
        }
        Path { functions, places }
    }

    /// What a run of the new build did and one of the old build did not, and the other way
    /// round.
    pub fn describe_difference(&self, new: &Path) -> Vec<String> {
        const MAX_LINES: usize = 4;
        let mut lines = Vec::new();
        let only = |a: &Path, b: &Path| {
            let missing = a.functions.keys().filter(|name| !b.functions.contains_key(*name));
            let names: Vec<String> = missing.map(|(name, _)| name.clone()).collect();
            names.join(", ")
        };
        for (what, names) in
            [("executes", only(new, self)), ("no longer executes", only(self, new))]
        {
            if !names.is_empty() {
                lines.push(format!("{what} {names}"));
            }
        }
        for (name, (code, taken)) in &self.functions {
            let Some((new_code, new_taken)) = new.functions.get(name) else { continue };
            if code != new_code {
                continue;
            }
            for (paths, what, taken) in [
                (new, "takes", new_taken.difference(taken)),
                (self, "no longer takes", taken.difference(new_taken)),
            ] {
                for (site, side) in taken {
                    if let Some(place) = paths.places.get(&(name.clone(), *site)) {
                        lines.push(format!("{what} side {side} of {place} in {}", name.0));
                    }
                }
            }
        }
        if lines.len() > MAX_LINES {
            let more = lines.len() - MAX_LINES;
            lines.truncate(MAX_LINES);
            lines.push(format!("and {more} more"));
        }
        lines
    }

    /// True if the run executed one of these functions.
    pub fn executes(&self, names: &[String]) -> bool {
        self.functions.keys().any(|(name, _)| names.contains(name))
    }
}

fn name_of(function: &Function) -> Name {
    let file = function.file.rsplit('/').next().unwrap_or(&function.file);
    (show::name(function), file.into())
}

/// The functions of both builds by name. Several functions may have one name.
fn by_name(layout: &Layout) -> BTreeMap<Name, BTreeSet<u32>> {
    let mut functions: BTreeMap<Name, BTreeSet<u32>> = BTreeMap::new();
    for function in pleach_campaign::run::records(layout) {
        functions.entry(name_of(function)).or_default().insert(function.code);
    }
    functions
}

/// The functions of the new build whose code differs from that in the old one.
pub fn changed(old: Option<&Layout>, new: Option<&Layout>) -> Vec<String> {
    let (Some(old), Some(new)) = (old, new) else { return Vec::new() };
    let old = by_name(old);
    let new = by_name(new).into_iter();
    let changed = new.filter(|(name, code)| old.get(name) != Some(code));
    changed.map(|((name, _), _)| name).collect()
}
