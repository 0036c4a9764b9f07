//! The branches of each module that the inputs of a campaign take.
//!
//! A module is a source file, or several files under one name. A campaign *covers* a branch
//! if a kept input, crash or hang takes it. The campaign itself counts, for each source
//! file, the runs that *reach* it. For several files under one name, the largest of these
//! numbers is reported. It is a lower bound for the runs that reach any of them.

use crate::commands::{inputs_in, read_input};
use crate::exit::Failure;
use anyhow::anyhow;
use pleach_campaign::run::{Dir, Stats};
use pleach_exec::executor::ModuleCounters;
use pleach_exec::{Executor, Half, Image, Layout, is_system_file};
use pleach_report::compare::{InModule, Module};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A run that ended within the campaign's time limit gets this many times as long here.
const TIMEOUT_FACTOR: u32 = 10;

/// All branches of a program.
pub struct Branches {
    /// The module of each counter, by object: "" is the executable, a library has the name of
    /// its file.
    objects: BTreeMap<String, Vec<usize>>,
    names: Vec<String>,
    sizes: Vec<u64>,
    /// The module of each source file.
    files: BTreeMap<String, usize>,
}

/// A set of branches: object, and number of the counter in it.
#[derive(Default)]
pub struct Taken(BTreeSet<(String, u32)>);

/// What the inputs of one campaign cover.
pub struct Replayed {
    pub taken: Taken,
    pub modules: Vec<InModule>,
}

impl Taken {
    pub fn add(&mut self, other: &Taken) {
        self.0.extend(other.0.iter().cloned());
    }

    pub fn count(&self) -> u64 {
        self.0.len() as u64
    }

    /// The number of branches that the other set does not have.
    pub fn without(&self, other: &Taken) -> u64 {
        self.0.difference(&other.0).count() as u64
    }
}

impl Branches {
    /// With the modules in `named`, or with one for each source file if there are none.
    pub fn new(layout: &Layout, named: &[(String, Vec<String>)]) -> anyhow::Result<Branches> {
        let mut modules = Modules {
            named,
            names: Vec::new(),
            sizes: Vec::new(),
            found: BTreeSet::new(),
            by_file: BTreeMap::new(),
        };
        for (name, _) in named {
            modules.number_of(name);
        }
        let mut objects = BTreeMap::new();
        objects.insert(String::new(), modules.of_counters(&layout.fast));
        for (name, library) in &layout.libraries {
            objects.insert(name.clone(), modules.of_counters(&library.fast));
        }
        for file in named.iter().flat_map(|(_, files)| files) {
            if !modules.found.contains(file) {
                return Err(anyhow!("--module: the program has no branch in {file}"));
            }
        }
        Ok(Branches { objects, names: modules.names, sizes: modules.sizes, files: modules.by_file })
    }

    pub fn total(&self) -> u64 {
        let all = self.objects.values().flatten();
        all.filter(|module| **module != SYSTEM).count() as u64
    }

    pub fn modules(&self) -> Vec<Module> {
        let pairs = self.names.iter().zip(&self.sizes);
        pairs.map(|(name, &branches)| Module { name: name.clone(), branches }).collect()
    }

    /// Runs the kept inputs of a campaign on the fast half.
    pub fn replay(&self, layout: &Arc<Layout>, dir: &Path) -> Result<Replayed, Failure> {
        let queue = inputs_in(dir, &["queue"])?;
        let crashes = inputs_in(dir, &["crashes"])?;
        let hangs = inputs_in(dir, &["hangs"])?;
        let settings = Dir::settings(dir).map_err(Failure::user_error)?;
        let workdir = settings.workdir().map_err(Failure::user_error)?;
        let target = settings.target(Half::Fast, workdir.as_ref());
        let mut executor = Executor::new(layout.clone(), target)?;
        let limit = Duration::from_millis(settings.timeout_ms);
        let ended = queue.iter().chain(&crashes).map(|path| (path, limit * TIMEOUT_FACTOR));
        let hung = hangs.iter().map(|path| (path, limit));
        let mut taken = Taken::default();
        let mut modules = vec![InModule::default(); self.names.len()];
        for (path, timeout) in ended.chain(hung) {
            for counters in executor.cover_alone(&read_input(path)?, timeout)? {
                self.collect(&counters, &mut taken);
            }
        }
        for (object, counter) in &taken.0 {
            let module = self.objects.get(object).and_then(|o| o.get(*counter as usize));
            if let Some(module) = module.and_then(|&m| modules.get_mut(m)) {
                module.covered += 1;
            }
        }
        Ok(Replayed { taken, modules })
    }

    /// Adds what a campaign counted by source file.
    pub fn add_counts(&self, stats: &Stats, modules: &mut [InModule]) {
        for module in modules.iter_mut() {
            module.of = stats.runs;
        }
        for (file, &module) in &self.files {
            let Some(module) = modules.get_mut(module) else { continue };
            let reached = stats.modules.get(file).map_or(0, |m| m.reached);
            module.reached = module.reached.max(reached);
            module.constraints += stats.symbolic.by_module.get(file).copied().unwrap_or(0);
        }
    }

    /// Adds the branches that a run took.
    fn collect(&self, counters: &[ModuleCounters], taken: &mut Taken) {
        for object in counters {
            let name = match object.module.place {
                0 => String::new(),
                _ => object
                    .module
                    .path
                    .file_name()
                    .map_or_else(String::new, |n| n.to_string_lossy().into_owned()),
            };
            let Some(branches) = self.objects.get(&name) else { continue };
            let pairs = object.counters.iter().zip(branches).enumerate();
            for (i, _) in pairs.filter(|(_, (count, m))| **count != 0 && **m != SYSTEM) {
                taken.0.insert((name.clone(), i as u32));
            }
        }
    }
}

/// The module of a branch that belongs to no module.
const NO_MODULE: usize = usize::MAX;
/// The module of a branch in a system header, which totals do not count.
const SYSTEM: usize = usize::MAX - 1;

/// Collects the modules.
struct Modules<'a> {
    named: &'a [(String, Vec<String>)],
    names: Vec<String>,
    sizes: Vec<u64>,
    /// Files of named modules that the program has.
    found: BTreeSet<String>,
    /// The module of each source file.
    by_file: BTreeMap<String, usize>,
}

impl Modules<'_> {
    /// The module of each counter of an object.
    fn of_counters(&mut self, image: &Image) -> Vec<usize> {
        let mut modules = Vec::new();
        for (i, site) in image.sites.iter().enumerate().filter(|(_, s)| s.counters > 0) {
            let module = match image.describe(i).filter(|_| image.has_branches(i)) {
                Some((function, site)) => {
                    let file = function.file_of(site);
                    let module = self.of_file(file);
                    self.by_file.insert(file.into(), module);
                    module
                }
                None => NO_MODULE,
            };
            if let Some(size) = self.sizes.get_mut(module) {
                *size += u64::from(site.counters);
            }
            modules.extend(std::iter::repeat_n(module, site.counters as usize));
        }
        modules
    }

    fn of_file(&mut self, file: &str) -> usize {
        if self.named.is_empty() {
            if is_system_file(file) {
                return SYSTEM;
            }
            let short = file.rsplit('/').next().unwrap_or(file);
            return self.number_of(short);
        }
        let named = self.named;
        for (i, (_, files)) in named.iter().enumerate() {
            if let Some(given) = files.iter().find(|given| ends_with(file, given)) {
                self.found.insert(given.clone());
                return i;
            }
        }
        if is_system_file(file) { SYSTEM } else { NO_MODULE }
    }

    /// The number of the module with a name, which may be new.
    fn number_of(&mut self, name: &str) -> usize {
        if let Some(known) = self.names.iter().position(|n| n == name) {
            return known;
        }
        self.names.push(name.into());
        self.sizes.push(0);
        self.names.len() - 1
    }
}

/// True if a path ends in these components.
fn ends_with(path: &str, end: &str) -> bool {
    Path::new(path).ends_with(end.strip_prefix("./").unwrap_or(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_found_by_the_end_of_its_path() {
        assert!(ends_with("/src/js/codegen.c", "codegen.c"));
        assert!(ends_with("js/codegen.c", "./js/codegen.c"));
        assert!(!ends_with("js/mycodegen.c", "codegen.c"));
    }

    #[test]
    fn sets_are_subtracted() {
        let set = |numbers: &[u32]| Taken(numbers.iter().map(|&n| (String::new(), n)).collect());
        let (a, b) = (set(&[1, 2, 3]), set(&[3, 4]));
        assert_eq!((a.count(), a.without(&b), b.without(&a)), (3, 2, 1));
    }
}
