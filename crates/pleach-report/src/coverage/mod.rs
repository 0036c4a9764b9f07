//! Coverage by source file: lines, functions and branches, from the branch counters of runs.
//!
//! The *count of a line* is how often its most frequent block ran, over all runs, where one
//! run counts each counter up to 255. A function that exists several times (a template, a
//! static function in a header) adds up. `flow` says how counts of blocks follow from
//! counters, and what is approximate about it.

mod flow;

use flow::Flow;
use pleach_abi::function::Function;
use pleach_abi::section::SiteKind;
use pleach_exec::executor::ModuleCounters;
use pleach_exec::image::side_name;
use pleach_exec::source::path_in;
use pleach_exec::triage::readable;
use pleach_exec::{Half, Image, Layout, is_system_file};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The coverage of a program, by the path of the source file as the compiler knew it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    pub files: BTreeMap<String, FileCoverage>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileCoverage {
    /// The lines that have code, and their counts.
    pub lines: BTreeMap<u32, u64>,
    /// By line and linkage name.
    pub functions: BTreeMap<(u32, String), FunctionCoverage>,
    /// By line, column and ordinal among the decisions there.
    pub branches: BTreeMap<(u32, u32, u32), Vec<Side>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionCoverage {
    /// Demangled.
    pub name: String,
    pub last_line: u32,
    /// How often it was called.
    pub count: u64,
}

/// One side of a branch, or one case of a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// `true`, `false`, `case 7`, `default`
    pub name: String,
    pub count: u64,
}

/// Covered and all of something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    pub covered: u64,
    pub total: u64,
}

impl Share {
    pub fn of(counts: impl Iterator<Item = u64>) -> Share {
        counts.fold(Share::default(), |s, count| Share {
            covered: s.covered + u64::from(count > 0),
            total: s.total + 1,
        })
    }

    pub fn percent(self) -> f64 {
        if self.total == 0 { 0.0 } else { 100.0 * self.covered as f64 / self.total as f64 }
    }

    pub fn rate(self) -> f64 {
        if self.total == 0 { 1.0 } else { self.covered as f64 / self.total as f64 }
    }
}

impl std::ops::Add for Share {
    type Output = Share;

    fn add(self, other: Share) -> Share {
        Share { covered: self.covered + other.covered, total: self.total + other.total }
    }
}

impl FileCoverage {
    pub fn line_share(&self) -> Share {
        Share::of(self.lines.values().copied())
    }

    pub fn function_share(&self) -> Share {
        Share::of(self.functions.values().map(|f| f.count))
    }

    pub fn branch_share(&self) -> Share {
        Share::of(self.branches.values().flatten().map(|s| s.count))
    }

    /// The decisions of a line.
    pub fn branches_of(&self, line: u32) -> impl Iterator<Item = (&(u32, u32, u32), &Vec<Side>)> {
        self.branches.range((line, 0, 0)..(line + 1, 0, 0))
    }
}

/// Adds up the counters of runs.
pub struct Collector {
    layout: Arc<Layout>,
    objects: Vec<Object>,
    /// Files of the system count, too.
    system: bool,
}

/// The counters of the executable or of one library.
struct Object {
    /// `None` for the executable, or the soname of a library.
    library: Option<String>,
    functions: Vec<FunctionCounters>,
    /// The function of each counter.
    owners: Vec<u32>,
    /// The sum of each counter over all runs.
    sums: Vec<u64>,
}

struct FunctionCounters {
    /// For each site, its first counter in the object, and their number.
    sites: Vec<(u32, u32)>,
    /// The counters in the object: the first, and the one after the last.
    range: (u32, u32),
    flow: Option<Flow>,
    /// The count of each block over all runs.
    blocks: Vec<u64>,
}

impl Collector {
    pub fn new(layout: Arc<Layout>, system: bool) -> Collector {
        let mut libraries: Vec<_> = layout.libraries.keys().cloned().collect();
        libraries.sort();
        let names = std::iter::once(None).chain(libraries.into_iter().map(Some));
        let objects = names.map(|library| {
            let image = image_of(&layout, library.as_deref());
            Object::new(image, library)
        });
        let objects = objects.collect();
        Collector { layout, objects, system }
    }

    /// Adds a run. `has_exited`: it did not crash and was not killed.
    pub fn add(&mut self, counters: &[ModuleCounters], has_exited: bool) {
        for counters in counters {
            let Some(image) = self.layout.module(&counters.module, Half::Fast) else { continue };
            let same =
                |o: &&mut Object| std::ptr::eq(image_of(&self.layout, o.library.as_deref()), image);
            if let Some(object) = self.objects.iter_mut().find(same) {
                object.add(image, &counters.counters, has_exited);
            }
        }
    }

    pub fn finish(mut self) -> Coverage {
        self.count_calls();
        let mut coverage = Coverage::default();
        for object in &self.objects {
            let image = image_of(&self.layout, object.library.as_deref());
            for (function, counters) in image.functions.iter().zip(&object.functions) {
                // Functions of the compiler have no line.
                let file = path_in(function, &function.file);
                if function.line > 0 && (self.system || !is_system_file(&file)) {
                    coverage.add(function, counters, &object.sums, self.system);
                }
            }
        }
        coverage
    }
}

impl Collector {
    /// A function without any counter ran as often as it was called. Calls through pointers
    /// need no attention: the functions that they reach have counters.
    fn count_calls(&mut self) {
        let mut uncounted: HashMap<&str, (usize, usize)> = HashMap::new();
        for (o, object) in self.objects.iter().enumerate() {
            let image = image_of(&self.layout, object.library.as_deref());
            let functions = image.functions.iter().zip(&object.functions).enumerate();
            for (f, (function, _)) in functions.filter(|(_, (_, c))| c.range.0 == u32::MAX) {
                uncounted.insert(&function.name, (o, f));
            }
        }
        for _ in 0..MAX_CALL_DEPTH {
            let mut sums: HashMap<(usize, usize), u64> = HashMap::new();
            for object in &self.objects {
                let image = image_of(&self.layout, object.library.as_deref());
                for (function, counters) in image.functions.iter().zip(&object.functions) {
                    for call in &function.calls {
                        let count = counters.blocks.get(call.block as usize).copied().unwrap_or(0);
                        if let Some(&place) = uncounted.get(call.callee.as_str()) {
                            *sums.entry(place).or_default() += count;
                        }
                    }
                }
            }
            let mut has_changed = false;
            for ((o, f), sum) in sums {
                let image = image_of(&self.layout, self.objects[o].library.as_deref());
                let function = &image.functions[f];
                let blocks = &mut self.objects[o].functions[f].blocks;
                // There is only one way, if nothing fails.
                let (mut at, mut steps) = (Some(0), 0);
                while let Some(block) = at.filter(|_| steps < function.blocks.len()) {
                    has_changed |= blocks[block] != sum;
                    blocks[block] = sum;
                    at = function.blocks[block].first().map(|&next| next as usize);
                    steps += 1;
                }
            }
            if !has_changed {
                break;
            }
        }
    }
}

/// How deep functions without counters may call each other.
const MAX_CALL_DEPTH: usize = 64;

fn image_of<'a>(layout: &'a Layout, library: Option<&str>) -> &'a Image {
    library.and_then(|name| layout.libraries.get(name)).map_or(&layout.fast, |l| &l.fast)
}

impl Object {
    fn new(image: &Image, library: Option<String>) -> Object {
        let mut functions: Vec<FunctionCounters> = image
            .functions
            .iter()
            .map(|f| FunctionCounters {
                sites: vec![(0, 0); f.sites.len()],
                range: (u32::MAX, 0),
                flow: None,
                blocks: vec![0; f.blocks.len()],
            })
            .collect();
        let mut owners = Vec::new();
        for (i, site) in image.sites.iter().enumerate().filter(|(_, s)| s.counters > 0) {
            let first = owners.len() as u32;
            let owner = image.described(i);
            let function = owner.map_or(u32::MAX, |(f, _)| f as u32);
            owners.resize(owners.len() + site.counters as usize, function);
            if let Some((f, s)) = owner {
                let (from, to) = functions[f].range;
                functions[f].range = (from.min(first), to.max(first + site.counters));
                functions[f].sites[s] = (first, site.counters);
            }
        }
        let sums = vec![0; owners.len()];
        Object { library, functions, owners, sums }
    }

    fn add(&mut self, image: &Image, counts: &[u8], has_exited: bool) {
        let mut last = None;
        for (counter, &count) in counts.iter().enumerate().take(self.owners.len()) {
            if count == 0 {
                continue;
            }
            self.sums[counter] += u64::from(count);
            let owner = self.owners[counter];
            if last == Some(owner) {
                continue;
            }
            last = Some(owner);
            if let Some(function) = self.functions.get_mut(owner as usize) {
                function.add(&image.functions[owner as usize], counts, has_exited);
            }
        }
    }
}

impl FunctionCounters {
    fn add(&mut self, function: &Function, counts: &[u8], has_exited: bool) {
        let (from, to) = self.range;
        let flow = self.flow.get_or_insert_with(|| {
            let within = |&(first, n): &(u32, u32)| (first.saturating_sub(from), n);
            let sites: Vec<_> = self.sites.iter().map(within).collect();
            Flow::new(function, &sites)
        });
        let counts = counts.get(from as usize..to as usize).unwrap_or_default();
        let blocks = flow.block_counts(counts, has_exited);
        self.blocks.iter_mut().zip(blocks).for_each(|(sum, count)| *sum += count);
    }
}

impl Coverage {
    fn add(
        &mut self,
        function: &Function,
        counters: &FunctionCounters,
        sums: &[u64],
        system: bool,
    ) {
        let is_shown = |file: &str| system || !is_system_file(file);
        let own_file = path_in(function, &function.file);
        // A line counts as often as its most frequent block.
        let mut lines: BTreeMap<(String, u32), u64> = BTreeMap::new();
        for (block, places) in function.places.iter().enumerate() {
            let count = counters.blocks.get(block).copied().unwrap_or(0);
            for place in places {
                let file = match place.file.is_empty() {
                    true => own_file.clone(),
                    false => path_in(function, &place.file),
                };
                let slot = lines.entry((file, place.line)).or_default();
                *slot = count.max(*slot);
            }
        }
        let mut ordinals: BTreeMap<(String, u32, u32), u32> = BTreeMap::new();
        for (site, &(first, number)) in function.sites.iter().zip(&counters.sites) {
            let file = path_in(function, function.file_of(site));
            if number == 0 || site.kind == SiteKind::Entry || site.line == 0 || !is_shown(&file) {
                continue;
            }
            lines.entry((file.clone(), site.line)).or_default();
            let ordinal = ordinals.entry((file.clone(), site.line, site.column)).or_default();
            let counts = (first..first + number).map(|c| sums[c as usize]);
            let names = (0..number as usize).map(|i| side_name(function, site, i));
            let sides = names.zip(counts).map(|(name, count)| Side { name, count });
            self.file(&file).add_branch((site.line, site.column, *ordinal), sides.collect());
            *ordinal += 1;
        }
        let own = lines.keys().filter(|(file, _)| *file == own_file).map(|(_, line)| *line);
        let last_line = own.max().unwrap_or(function.line);
        let entry = counters.blocks.first().copied().unwrap_or(0);
        let key = (function.line, function.name.clone());
        let known = self.file(&own_file).functions.entry(key).or_default();
        known.name = readable(&function.name);
        known.last_line = known.last_line.max(last_line).max(function.line);
        known.count += entry;
        // The line of the head has no code of its own in C.
        lines.entry((own_file, function.line)).or_insert(entry);
        for ((file, line), count) in lines.into_iter().filter(|((file, _), _)| is_shown(file)) {
            *self.file(&file).lines.entry(line).or_default() += count;
        }
    }

    fn file(&mut self, name: &str) -> &mut FileCoverage {
        self.files.entry(name.into()).or_default()
    }

    pub fn total(&self, share: impl Fn(&FileCoverage) -> Share) -> Share {
        self.files.values().map(share).fold(Share::default(), |a, b| a + b)
    }
}

impl FileCoverage {
    /// Adds a decision. One that is there already, of another copy of the function, adds up.
    fn add_branch(&mut self, place: (u32, u32, u32), sides: Vec<Side>) {
        match self.branches.get_mut(&place) {
            Some(known) if known.len() == sides.len() => {
                known.iter_mut().zip(sides).for_each(|(a, b)| a.count += b.count);
            }
            Some(_) => self.add_branch((place.0, place.1, place.2 + 1), sides),
            None => drop(self.branches.insert(place, sides)),
        }
    }
}
