//! The tables of a fake program: functions, sites, counters. A site is known by its line.

use super::{FakeRun, FakeTarget};
use crate::executor::End;
use crate::image::{Image, Site};
use crate::layout::Layout;
use crate::shm::LoadedModule;
use pleach_abi::function::{Call, Function, SiteInfo};
use pleach_abi::section::SiteKind;
use std::path::Path;
use std::sync::Arc;

/// Every site is in this file.
pub const FILE: &str = "fake.c";

/// The static side of a fake program: all branches and switches that it may take.
#[derive(Clone, Debug, Default)]
pub struct FakeProgram {
    functions: Vec<Function>,
    pub(super) is_persistent: bool,
}

/// Where a site is in the tables.
pub(super) struct Place<'a> {
    /// Its place in the site table.
    pub index: u32,
    pub first_counter: usize,
    pub function: &'a str,
    pub info: &'a SiteInfo,
}

impl FakeProgram {
    pub fn new() -> FakeProgram {
        FakeProgram::default()
    }

    /// Adds branches of a function, by their lines.
    pub fn branches(mut self, function: &str, lines: impl IntoIterator<Item = u32>) -> FakeProgram {
        for line in lines {
            self.add_site(function, line, SiteKind::Branch, Vec::new());
        }
        self
    }

    /// Adds a switch of a function, by its line and its cases.
    pub fn switch<T: Into<u64>>(
        mut self,
        function: &str,
        line: u32,
        cases: impl IntoIterator<Item = T>,
    ) -> FakeProgram {
        let cases = cases.into_iter().map(Into::into).collect();
        self.add_site(function, line, SiteKind::Switch, cases);
        self
    }

    /// The fast half runs many inputs in one process (`__AFL_LOOP`). After a run with
    /// `End::Exit(0)` the process waits for its next input.
    pub fn persistent(mut self) -> FakeProgram {
        self.is_persistent = true;
        self
    }

    /// The target that runs this function as its `main`.
    pub fn target(self, main: impl Fn(&mut FakeRun) -> End + Send + Sync + 'static) -> FakeTarget {
        FakeTarget::new(self, Arc::new(main))
    }

    fn add_site(&mut self, function: &str, line: u32, kind: SiteKind, cases: Vec<u64>) {
        assert!(self.find(line).is_none(), "line {line} has a site already");
        let known = self.functions.iter().position(|f| f.name == function);
        let at = known.unwrap_or_else(|| {
            let (name, file) = (function.into(), FILE.into());
            self.functions.push(Function { name, file, line, ..Function::default() });
            self.functions.len() - 1
        });
        self.functions[at].sites.push(SiteInfo {
            hash: pleach_hash::mix(line.into()),
            kind,
            file: String::new(),
            line,
            column: 1,
            block: 0,
            targets: Vec::new(),
            cases,
        });
    }

    /// The tables as the driver reads them from an executable.
    pub(super) fn layout(&self) -> Layout {
        let mut functions = self.functions.clone();
        for i in 0..functions.len() {
            let callee = functions.get(i + 1).map(|next| next.name.clone());
            connect_blocks(&mut functions[i], callee);
        }
        let site = |info: &SiteInfo| Site {
            hash: info.hash,
            counters: sides(info) as u32,
            kind: Some(info.kind),
        };
        let sites = functions.iter().flat_map(|f| &f.sites).map(site).collect();
        Layout::of_tables(Image::of_tables(Path::new("fake"), functions, sites))
    }

    /// The only module of the program.
    pub(super) fn module(&self) -> LoadedModule {
        LoadedModule {
            place: 0,
            path: "fake".into(),
            site_base: 0,
            sites: self.functions.iter().map(|f| f.sites.len() as u32).sum(),
            cover_at: 0,
            counters: 4 * self.counters() as u64,
            bias: 0,
        }
    }

    pub(super) fn counters(&self) -> usize {
        self.functions.iter().flat_map(|f| &f.sites).map(sides).sum()
    }

    /// The site on a line.
    pub(super) fn find(&self, line: u32) -> Option<Place<'_>> {
        let (mut index, mut first_counter) = (0, 0);
        for (function, info) in
            self.functions.iter().flat_map(|f| f.sites.iter().map(move |s| (f, s)))
        {
            if info.line == line {
                return Some(Place { index, first_counter, function: &function.name, info });
            }
            (index, first_counter) = (index + 1, first_counter + sides(info));
        }
        None
    }
}

/// The sides of a branch: true, false. Those of a switch: its cases, the default.
fn sides(info: &SiteInfo) -> usize {
    if info.kind == SiteKind::Switch { info.cases.len() + 1 } else { 2 }
}

/// Gives a function a control-flow graph: its sites follow each other. The false side or
/// the default of a site leads to the next site; all other sides lead there through a
/// block of their own. The last block calls the next function.
fn connect_blocks(function: &mut Function, callee: Option<String>) {
    let last = function.sites.len() as u32;
    function.blocks = (0..last).map(|i| vec![last + 1 + i, i + 1]).collect();
    function.blocks.push(Vec::new());
    function.blocks.extend((0..last).map(|i| vec![i + 1]));
    for (i, site) in (0..).zip(&mut function.sites) {
        site.block = i;
        site.targets = vec![last + 1 + i; sides(site) - 1];
        site.targets.push(i + 1);
    }
    function.calls =
        callee.into_iter().map(|callee| Call { block: last, callee, shape: 0 }).collect();
}
