//! Translates the tables of an executable for the search and the solver: it numbers all
//! branches of the program, and turns the events of a trace into decisions and steps.

use crate::run::account::Place;
use pleach_abi::event::{Event, Kind};
use pleach_abi::function::Function;
use pleach_abi::section::{Counter, SiteKind};
use pleach_abi::shm::Line;
use pleach_abi::token::{How, TokenFunction};
use pleach_exec::executor::{Half, Touched};
use pleach_exec::image::Image;
use pleach_exec::layout::{Layout, Library};
use pleach_exec::shm::LoadedModule;
use pleach_exec::source::is_system_file;
use pleach_exec::targets::{Target, Targets};
use pleach_exec::trace::{Trace, kind};
use pleach_expr::case_of;
use pleach_hash::Hash;
use pleach_search::{
    BranchId, Call, Counts, Coverage, Decision, FunctionShape, Program, SiteShape,
};
use pleach_solve::{Shape, Step};
use pleach_work::Task;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The branches of a program, with their counters and places.
pub struct Map {
    pub program: Program,
    layout: Arc<Layout>,
    /// The first branch of each library of the fast half, by soname. The branches of the
    /// executable start at 0.
    bases: HashMap<String, BranchId>,
    /// The file and line of each branch.
    places: Vec<Option<(u32, u32)>>,
    files: Vec<String>,
    /// Ranges of branches in the same file: the first, the one after the last, the file.
    ranges: Vec<(BranchId, BranchId, u32)>,
}

/// A site of the symbolic half.
struct SymbolicSite {
    hash: u64,
    /// Its first branch in the fast half.
    first: Option<BranchId>,
    /// The cases of a switch.
    cases: Option<Arc<[u64]>>,
}

/// The sites of modules, cached.
#[derive(Default)]
pub struct Sites {
    modules: HashMap<(u32, usize), Vec<SymbolicSite>>,
}

/// The decisions of a trace for the search, and as steps for the solver.
pub struct Decided {
    pub decisions: Vec<Decision>,
    pub steps: Vec<Step>,
    /// How many of them are complete, and how many were left out: see [`pleach_search::Run`].
    pub complete: u32,
    pub left_out: u64,
}

impl Decided {
    /// Inserts a first decision that stands for the requirements of a template. It has no
    /// other outcome.
    pub fn under_template(mut self) -> Decided {
        self.complete += 1;
        self.decisions.insert(0, Decision::new(0, Kind::Assume, 0, 1));
        self.steps.insert(0, Step { label: 0, shape: Shape::Bool { taken: true } });
        self
    }
}

impl Map {
    pub fn new(layout: Arc<Layout>) -> Map {
        let mut builder = Builder::default();
        let mut bases = HashMap::new();
        let names = [None].into_iter().chain(libraries(&layout).map(|(name, _)| Some(name)));
        for (name, image) in names.zip(images(&layout)) {
            bases.extend(name.map(|name| (name.clone(), builder.next)));
            builder.add(image);
        }
        builder.link(records(&layout));
        let program = Program::new(builder.functions, builder.hashes);
        let mut ranges: Vec<(BranchId, BranchId, u32)> = Vec::new();
        for (branch, place) in (0..).zip(&builder.places) {
            let Some((file, _)) = place else { continue };
            match ranges.last_mut() {
                Some((_, end, last)) if *end == branch && last == file => *end += 1,
                _ => ranges.push((branch, branch + 1, *file)),
            }
        }
        Map { program, bases, places: builder.places, files: builder.files, ranges, layout }
    }

    /// The records of all functions, in the order of the program's functions.
    pub fn functions(&self) -> impl Iterator<Item = &Function> {
        records(&self.layout)
    }

    /// The functions that return tokens, in the executable and its libraries.
    pub fn token_functions(&self) -> Vec<&TokenFunction> {
        token_functions(&self.layout)
    }

    /// The source files that have branches.
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// Calls `each` with the files that a run reached. It may be called twice with the same
    /// file.
    pub fn reached(&self, counts: &Counts, mut each: impl FnMut(usize)) {
        let (mut ranges, mut end_of_file) = (&self.ranges[..], 0);
        for line in counts.lines() {
            if line.first + line.counts.len() as BranchId <= end_of_file {
                continue;
            }
            for (branch, _) in (line.first..).zip(line.counts).filter(|(_, count)| *count != 0) {
                if branch < end_of_file {
                    continue;
                }
                let before = ranges.iter().position(|(_, end, _)| *end > branch);
                ranges = &ranges[before.unwrap_or(ranges.len())..];
                match ranges.first() {
                    Some(&(first, end, file)) if first <= branch => {
                        end_of_file = end;
                        each(file as usize);
                    }
                    _ => {}
                }
            }
        }
    }

    /// For each file, how many branches it has, and how many of them are covered.
    pub fn covered(&self, coverage: &Coverage) -> Vec<(u64, u64)> {
        let mut files = vec![(0, 0); self.files.len()];
        for &(first, end, file) in &self.ranges {
            let (branches, covered) = &mut files[file as usize];
            let is_branch =
                |b: &BranchId| self.program.site_of(*b).is_none_or(|s| s.counts || !s.is_entry());
            for branch in (first..end).filter(is_branch) {
                *branches += 1;
                *covered += u64::from(coverage.has(branch));
            }
        }
        files
    }

    /// The number of the file of a branch.
    pub fn file_of(&self, branch: BranchId) -> Option<usize> {
        self.places.get(branch as usize).copied().flatten().map(|(file, _)| file as usize)
    }

    /// Takes the counters that a run moved for counts of branches.
    pub fn collect(&self, touched: Touched, counts: &mut Counts) {
        counts.clear();
        for module in touched.modules {
            let Some(base) = self.base(module) else { continue };
            let at = (module.cover_at / size_of::<Counter>() as u64) as u32;
            for line in touched.lines_of(module) {
                counts.push(Line { first: base + (line.first - at), ..*line });
            }
        }
        counts.sort();
    }

    /// The file and line of a branch.
    pub fn place(&self, branch: BranchId) -> Option<(&str, u32)> {
        let (file, line) = (*self.places.get(branch as usize)?)?;
        Some((&self.files[file as usize], line))
    }

    /// The place of a site of the symbolic half, by its hash.
    pub fn place_of_site(&self, hash: u64) -> Option<Place> {
        let libraries = self.layout.libraries.values().map(|library| &library.symbolic);
        let mut images = std::iter::once(&self.layout.symbolic).chain(libraries);
        let (function, site) = images.find_map(|image| image.describe_hash(hash))?;
        let file = function.file_of(site).to_string();
        Some(Place { function: function.name.clone(), file, line: site.line })
    }

    /// The decisions of a trace, in order.
    pub fn decide(&self, sites: &mut Sites, trace: &Trace) -> Decided {
        let mut decided = Decided {
            decisions: Vec::with_capacity(trace.events.len()),
            steps: Vec::with_capacity(trace.events.len()),
            complete: trace.complete as u32,
            left_out: trace.left_out,
        };
        let _deciding = pleach_work::enter(Task::Decide);
        pleach_work::count(trace.events.len() as u64);
        let mut targets = Targets::new(&self.layout, trace);
        for event in &trace.events {
            let site = sites.find(self, trace, event);
            let (decision, step) = match kind(event) {
                Kind::Indirect => self.decide_target(trace, event, site, &mut targets),
                _ => decide(trace, event, site),
            };
            decided.decisions.push(decision);
            decided.steps.push(step);
        }
        decided
    }

    /// The decision of a call or jump through a pointer. If the pointer is from a table, each
    /// entry is a target. Else only the value that it had is known, so another value is another
    /// decision.
    fn decide_target(
        &self,
        trace: &Trace,
        event: &Event,
        site: Option<&SymbolicSite>,
        targets: &mut Targets,
    ) -> (Decision, Step) {
        let (label, value) = (event.label, trace.expr.recorded(event.label));
        let key = key_of(event, site);
        let found = targets.find(label).and_then(|all| {
            let identity =
                |t: &Target| t.site.map_or(t.value, |(site, side)| site ^ u64::from(side));
            let key = all.iter().fold(Hash::from(key), |key, t| key.add(identity(t))).finish();
            let outcome = all.iter().position(|t| u128::from(t.value) == value);
            let outcome = outcome.unwrap_or(all.len()) as u32;
            let branch = |t: &Target| {
                let (site, side) = t.site?;
                let shape = self.program.site(site)?;
                (side < shape.sides).then_some(shape.first + side)
            };
            let decision = Decision::through_table(key, outcome, all.iter().map(branch))?;
            Some((decision, Shape::Cases { cases: all.iter().map(|t| t.value).collect() }))
        });
        let (decision, shape) = found.unwrap_or_else(|| {
            let key = Hash::from(key).add(value as u64).finish();
            (Decision::new(key, Kind::Indirect, 0, 2), Shape::Value)
        });
        (decision, Step { label, shape })
    }

    /// The first branch of a module.
    fn base(&self, module: &LoadedModule) -> Option<BranchId> {
        if module.place == 0 {
            return Some(0);
        }
        self.bases.get(module.path.file_name()?.to_str()?).copied()
    }
}

/// The libraries of a program, in the order in which their branches are numbered.
fn libraries(layout: &Layout) -> impl Iterator<Item = (&String, &Library)> {
    let mut libraries: Vec<_> = layout.libraries.iter().collect();
    libraries.sort_by_key(|(name, _)| name.as_str());
    libraries.into_iter()
}

/// The fast halves of the executable and its libraries, in the order in which their branches
/// are numbered.
fn images(layout: &Layout) -> impl Iterator<Item = &Image> {
    [&layout.fast].into_iter().chain(libraries(layout).map(|(_, library)| &library.fast))
}

/// The records of all functions, in the order in which a search numbers them.
pub fn records(layout: &Layout) -> impl Iterator<Item = &Function> + Clone {
    let images: Vec<&Image> = images(layout).collect();
    images.into_iter().flat_map(|image| &image.functions)
}

/// The functions of a program that return tokens.
pub fn token_functions(layout: &Layout) -> Vec<&TokenFunction> {
    let mut libraries: Vec<_> = layout.libraries.iter().collect();
    libraries.sort_by_key(|(name, _)| *name);
    let images = libraries.into_iter().map(|(_, l)| &l.symbolic);
    let images = std::iter::once(&layout.symbolic).chain(images);
    let all = images.flat_map(|i| i.tokens.iter().map(|(_, f)| f));
    all.filter(|f| f.how != How::Candidate).collect()
}

impl Sites {
    fn find(&mut self, map: &Map, trace: &Trace, event: &Event) -> Option<&SymbolicSite> {
        let module = trace
            .modules
            .iter()
            .find(|m| event.site.checked_sub(m.site_base).is_some_and(|i| i < m.sites))?;
        let sites = self.modules.entry((module.site_base, module.place)).or_insert_with(|| {
            let image = map.layout.module(module, Half::Symbolic);
            image.map(|i| symbolic_sites(map, i)).unwrap_or_default()
        });
        sites.get((event.site - module.site_base) as usize)
    }
}

fn symbolic_sites(map: &Map, image: &Image) -> Vec<SymbolicSite> {
    let describe = |(i, site): (usize, &pleach_exec::image::Site)| {
        let switch = image.describe(i).filter(|(_, s)| s.kind == SiteKind::Switch);
        SymbolicSite {
            hash: site.hash,
            first: map.program.site(site.hash).map(|s| s.first),
            cases: switch.map(|(_, s)| s.cases.as_slice().into()),
        }
    };
    image.sites.iter().enumerate().map(describe).collect()
}

/// What a decision of the same kind at the same site has in common in all runs.
fn key_of(event: &Event, site: Option<&SymbolicSite>) -> u64 {
    site.map_or(u64::from(event.site), |s| s.hash).rotate_left(8) ^ kind(event) as u64
}

/// The decision of an event, and its step for the solver. Calls through pointers have
/// [`Map::decide_target`].
fn decide(trace: &Trace, event: &Event, site: Option<&SymbolicSite>) -> (Decision, Step) {
    let (kind, key) = (kind(event), key_of(event, site));
    let taken = event.dir == 1;
    let value = || trace.expr.recorded(event.label);
    let (decision, shape) = match kind {
        Kind::Len => {
            let (stream, bound) = (u32::from(event.stream), u64::from(event.aux));
            let key = key ^ (bound << 20) ^ u64::from(stream) << 52;
            (Decision::new(key, kind, taken.into(), 2), Shape::Len { stream, bound, taken })
        }
        Kind::Switch => {
            let narrow = trace.expr.width(event.label) <= 64;
            match site.and_then(|s| s.cases.as_ref()).filter(|_| narrow) {
                Some(cases) => {
                    let outcome = case_of(cases, value()).unwrap_or(cases.len()) as u32;
                    let decision = Decision::new(key, kind, outcome, cases.len() as u32 + 1);
                    (decision, Shape::Cases { cases: cases.clone() })
                }
                // Only the value that it had is known, so another value is another decision.
                None => {
                    let key = Hash::from(key).add(value() as u64).finish();
                    (Decision::new(key, Kind::Indirect, 0, 2), Shape::Value)
                }
            }
        }
        // An assumption that failed has ended the run, and may be flipped to get past it. One
        // that holds must stay.
        Kind::Assume => {
            let mut decision = Decision::new(key, kind, taken.into(), 2);
            if taken {
                decision.freeze();
            }
            (decision, Shape::Bool { taken })
        }
        _ => (Decision::new(key, kind, taken.into(), 2), Shape::Bool { taken }),
    };
    let first = site.and_then(|s| s.first);
    let decision = match (first, decision.kind) {
        (Some(first), Kind::Branch | Kind::Select | Kind::Switch) => decision.at(first),
        _ => decision,
    };
    (decision, Step { label: event.label, shape })
}

/// Numbers the branches of one image after the other.
#[derive(Default)]
struct Builder {
    functions: Vec<FunctionShape>,
    hashes: Vec<(u64, (u32, u32))>,
    /// For each function, the blocks with calls and the names of the called functions.
    calls: Vec<Vec<(u32, String)>>,
    next: BranchId,
    places: Vec<Option<(u32, u32)>>,
    files: Vec<String>,
    file_numbers: HashMap<String, u32>,
}

impl Builder {
    fn add(&mut self, image: &Image) {
        let base = self.functions.len();
        for f in &image.functions {
            self.functions.push(FunctionShape {
                name: f.name.clone(),
                blocks: f.blocks.clone(),
                ..FunctionShape::default()
            });
            self.calls.push(f.calls.iter().map(|c| (c.block, c.callee.clone())).collect());
        }
        for (i, site) in image.sites.iter().enumerate().filter(|(_, s)| s.counters > 0) {
            let first = self.next;
            self.next += site.counters;
            let Some((f, s)) = image.described(i) else {
                self.places.resize(self.next as usize, None);
                continue;
            };
            let function = &image.functions[f];
            let info = &function.sites[s];
            let name = function.file_of(info);
            let counts = image.has_branches(i) && !is_system_file(name);
            let file = self.file(name);
            self.places.resize(self.next as usize, Some((file, info.line)));
            let shape = &mut self.functions[base + f];
            self.hashes.push((site.hash, ((base + f) as u32, shape.sites.len() as u32)));
            shape.sites.push(SiteShape {
                first,
                sides: site.counters,
                block: info.block,
                targets: info.targets.clone(),
                counts,
            });
        }
    }

    fn file(&mut self, name: &str) -> u32 {
        *self.file_numbers.entry(name.into()).or_insert_with(|| {
            self.files.push(name.into());
            self.files.len() as u32 - 1
        })
    }

    /// Replaces the names of called functions by their numbers, and adds calls through pointers.
    fn link<'a>(&mut self, records: impl Iterator<Item = &'a Function> + Clone) {
        let by_name: HashMap<String, u32> =
            self.functions.iter().enumerate().map(|(i, f)| (f.name.clone(), i as u32)).collect();
        for (function, calls) in self.functions.iter_mut().zip(&self.calls) {
            let call = |(block, name): &(u32, String)| Call {
                block: *block,
                callee: by_name.get(name).copied(),
            };
            function.calls = calls.iter().map(call).collect();
        }
        let taken: HashSet<&str> =
            records.clone().flat_map(|f| &f.addresses).map(String::as_str).collect();
        for (function, record) in self.functions.iter_mut().zip(records) {
            let through_pointers = record.calls.iter().filter(|c| c.callee.is_empty());
            function.pointer_calls = through_pointers.map(|c| (c.block, c.shape)).collect();
            function.taken_as = taken.contains(&*record.name).then_some(record.shape);
        }
    }
}
