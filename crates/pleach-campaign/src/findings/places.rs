//! The branches of a program by their places in the source.

use super::Findings;
use pleach_abi::section::SiteKind;
use pleach_exec::Image;
use pleach_exec::image::side_name;
use pleach_exec::source::{is_system_file, path_in};
use pleach_search::BranchId;

/// A function with its branches.
#[derive(Clone, Debug)]
pub struct FunctionPlace {
    /// The linkage name.
    pub name: String,
    /// The whole path, if the compiler noted where its names start.
    pub file: String,
    pub line: u32,
    pub branches: Vec<BranchPlace>,
}

/// A conditional branch or a switch.
#[derive(Clone, Debug)]
pub struct BranchPlace {
    /// Its first side. A branch has two, the true one first. A switch has one for each case,
    /// and the default last.
    pub first: BranchId,
    pub sides: u32,
    pub file: String,
    pub line: u32,
    pub column: u32,
    /// The values of the cases, if it is a switch.
    pub cases: Option<Vec<u64>>,
    /// The names of its sides, if it is a computed goto or a function that is called through
    /// pointers; else empty.
    pub names: Vec<String>,
    /// True if it is in a file of the system: totals leave it out.
    pub system: bool,
}

impl BranchPlace {
    /// What a side is called: `true`, `false`, `case 7`, `default`, `called`.
    pub fn side_name(&self, side: u32) -> String {
        if let Some(name) = self.names.get(side as usize) {
            return name.clone();
        }
        match (&self.cases, side) {
            (None, 0) => "true".into(),
            (None, _) => "false".into(),
            (Some(cases), side) => match cases.get(side as usize) {
                Some(&value) => format!("case {}", value as i64),
                None => "default".into(),
            },
        }
    }
}

impl Findings {
    /// The functions of the program that have branches, in the order of the executable and
    /// its libraries.
    pub fn functions(&self) -> Vec<FunctionPlace> {
        let mut libraries: Vec<_> = self.layout.libraries.iter().collect();
        libraries.sort_by_key(|(name, _)| name.as_str());
        let images = libraries.into_iter().map(|(_, library)| &library.fast);
        let images = std::iter::once(&self.layout.fast).chain(images);
        images.flat_map(|image| self.functions_of(image)).collect()
    }

    fn functions_of(&self, image: &Image) -> Vec<FunctionPlace> {
        let mut found = Vec::new();
        for function in &image.functions {
            let mut branches = Vec::new();
            for info in function.sites.iter().filter(|info| info.kind != SiteKind::Entry) {
                let Some(site) = self.map.program.site(info.hash) else { continue };
                let is_switch = info.kind == SiteKind::Switch;
                let has_names = matches!(info.kind, SiteKind::Jump | SiteKind::Called);
                let sides = 0..if has_names { site.sides as usize } else { 0 };
                branches.push(BranchPlace {
                    first: site.first,
                    sides: site.sides,
                    file: path_in(function, function.file_of(info)),
                    line: info.line,
                    column: info.column,
                    cases: is_switch.then(|| info.cases.clone()),
                    names: sides.map(|side| side_name(function, info, side)).collect(),
                    system: is_system_file(function.file_of(info)),
                });
            }
            if !branches.is_empty() {
                found.push(FunctionPlace {
                    name: function.name.clone(),
                    file: path_in(function, &function.file),
                    line: function.line,
                    branches,
                });
            }
        }
        found
    }
}
