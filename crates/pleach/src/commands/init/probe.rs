//! Which of the programs that were built reads which files, and how?
//!
//! Every program runs on a few files of each group: on standard input, and as a file named by
//! its arguments. The symbolic half says how many branches depend on the input. The choice with
//! the most such branches wins; a harness wins over programs, because it is made for this.

use super::build::shell;
use super::plan::Plan;
use crate::exit::Failure;
use pleach_exec::triage::quoted;
use pleach_exec::{End, Executor, Half, Layout, Output, TargetOptions};
use pleach_project::{Harness, is_test_dir};
use pleach_report::Progress;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Arguments that make many programs read a file. Without any, the input is standard input.
const WAYS: [&[&str]; 4] = [&["@@"], &[], &["-f", "@@"], &["-"]];
const MAX_PROGRAMS: usize = 8;
const MAX_HARNESSES: usize = 3;
const MAX_GROUPS: usize = 4;
/// The files of a group that are run.
const MAX_FILES: usize = 3;
const TIMEOUT: Duration = Duration::from_secs(2);
const MEMORY_KIB: u64 = 2 << 20;
/// An input for programs without seeds.
const MADE_UP: &[u8] = b"a 1 + (2) = \"b\"\n";
/// Directories and names of programs that are parts of a build.
const NOT_PROGRAMS: [&str; 6] =
    ["CMakeFiles", "meson-private", "meson-info", "conftest", "installed", "staged"];

pub struct Chosen {
    pub program: PathBuf,
    pub args: &'static [&'static str],
    /// Files of the tree; absolute.
    pub seeds: Vec<PathBuf>,
    /// Branches that depend on the input.
    pub sites: usize,
}

impl Chosen {
    /// The program and its arguments.
    pub fn words(&self) -> Vec<String> {
        let args = self.args.iter().map(|arg| arg.to_string());
        std::iter::once(self.program.display().to_string()).chain(args).collect()
    }

    pub fn shown(&self) -> String {
        self.words().join(" ")
    }
}

/// A way to run a program on a group of files.
struct Choice {
    program: usize,
    args: &'static [&'static str],
    group: Option<usize>,
}

/// The best choice; `None` if no program decides on its input.
pub fn choose(plan: &Plan) -> Result<Option<Chosen>, Failure> {
    let harnesses = link_harnesses(plan)?;
    let built = find_programs(plan).into_iter();
    let programs: Vec<PathBuf> = match &plan.args.program {
        Some(name) => built.filter(|path| path.ends_with(name)).collect(),
        None => harnesses.iter().cloned().chain(built.filter(|p| !harnesses.contains(p))).collect(),
    };
    let groups: Vec<Vec<PathBuf>> = match &plan.args.seeds {
        Some(dir) => vec![super::super::inputs_in(dir, &["queue"])?],
        None => {
            let root = &plan.project.tree.root;
            let groups = plan.project.seeds.iter().take(MAX_GROUPS);
            groups.map(|g| g.files.iter().map(|f| root.join(&f.path)).collect()).collect()
        }
    };
    let mut choices = Vec::new();
    for (program, path) in programs.iter().enumerate() {
        let ways: &[&'static [&'static str]] =
            if harnesses.contains(path) { &[&[]] } else { &WAYS };
        for &args in ways {
            let some = (0..groups.len()).map(Some);
            let all: Vec<Option<usize>> =
                if groups.is_empty() { vec![None] } else { some.collect() };
            choices.extend(all.into_iter().map(|group| Choice { program, args, group }));
        }
    }
    let bar = Progress::new("trying programs and seeds", choices.len() as u64);
    let mut best: Option<(usize, Choice)> = None;
    let mut layouts: Vec<Option<Arc<Layout>>> = vec![None; programs.len()];
    for choice in choices {
        let path = &programs[choice.program];
        if layouts[choice.program].is_none() {
            layouts[choice.program] = Layout::private(path).ok().map(Arc::new);
        }
        let seeds = choice.group.map_or(&[][..], |group| &groups[group]);
        let sites = layouts[choice.program]
            .as_ref()
            .map_or(0, |layout| symbolic_sites(layout, path, choice.args, seeds));
        bar.inc();
        let is_better = best.as_ref().is_none_or(|(most, old)| {
            let (new_harness, old_harness) =
                (harnesses.contains(path), harnesses.contains(&programs[old.program]));
            match (new_harness, old_harness) {
                (false, true) => false,
                _ => sites > *most,
            }
        });
        if sites > 0 && is_better {
            best = Some((sites, choice));
        }
    }
    bar.finish();
    Ok(best.map(|(sites, choice)| Chosen {
        program: programs[choice.program].clone(),
        args: choice.args,
        seeds: choice.group.map_or_else(Vec::new, |group| groups[group].clone()),
        sites,
    }))
}

/// The number of branches that depend on the input, over a few files. 0 if the program does not
/// run, or is stopped.
fn symbolic_sites(layout: &Arc<Layout>, program: &Path, args: &[&str], seeds: &[PathBuf]) -> usize {
    let mut words: Vec<OsString> = vec![program.into()];
    words.extend(args.iter().map(OsString::from));
    let mut target = TargetOptions::new(Half::Symbolic, words);
    target.output = Output::Null;
    target.scratch = true;
    target.memory_kib = Some(MEMORY_KIB);
    let Ok(mut executor) = Executor::new(layout.clone(), target) else { return 0 };
    let mut inputs: Vec<Vec<u8>> =
        seeds.iter().take(MAX_FILES).filter_map(|path| std::fs::read(path).ok()).collect();
    if inputs.is_empty() {
        inputs.push(MADE_UP.into());
    }
    let mut sites = BTreeSet::new();
    for input in &inputs {
        let Ok(outcome) = executor.run(input, TIMEOUT) else { return 0 };
        if matches!(outcome.end, End::Lost(_)) {
            return 0;
        }
        if let Ok(trace) = executor.trace() {
            sites.extend(trace.events.iter().map(|event| event.site));
        }
    }
    sites.len()
}

/// True if a build has made a program that can be searched.
pub fn has_programs(plan: &Plan) -> bool {
    !find_programs(plan).is_empty()
}

/// Programs below the output directory that have a symbolic half, the most likely first.
fn find_programs(plan: &Plan) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut dirs = vec![plan.out.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let is_skipped = NOT_PROGRAMS.iter().any(|skipped| name == *skipped);
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !is_skipped => dirs.push(path),
                Ok(kind) if kind.is_file() && !is_skipped && is_program(&path) => found.push(path),
                _ => {}
            }
        }
    }
    let names = &plan.project.programs.all;
    found.sort_by_cached_key(|path| {
        let rank = names.iter().position(|p| path.file_name().is_some_and(|n| *n == *p.name));
        let inner = path.strip_prefix(plan.out).unwrap_or(path);
        let is_test = is_test_dir(inner.parent().unwrap_or(inner));
        (is_test, rank.unwrap_or(names.len()), inner.components().count(), path.clone())
    });
    found.truncate(MAX_PROGRAMS);
    found
}

/// True for an executable ELF file that is no library and no object.
fn is_program(path: &Path) -> bool {
    let is_executable = std::fs::metadata(path).is_ok_and(|m| m.permissions().mode() & 0o111 != 0);
    let is_library = path.file_name().is_some_and(|n| {
        let name = n.to_string_lossy();
        name.ends_with(".so") || name.contains(".so.") || name.ends_with(".o")
    });
    is_executable && !is_library && is_elf(path) && Layout::private(path).is_ok()
}

fn is_elf(path: &Path) -> bool {
    let mut magic = [0; 4];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && &magic == b"\x7fELF"
}

/// Links the harnesses of the tree with all static libraries that were built, or else with the
/// shared ones.
fn link_harnesses(plan: &Plan) -> Result<Vec<PathBuf>, Failure> {
    let harnesses: Vec<&Harness> = match plan.args.program {
        Some(_) => Vec::new(),
        None => plan.project.programs.harnesses.iter().take(MAX_HARNESSES).collect(),
    };
    let mut linked = Vec::new();
    let mut names: String = libraries(plan.out, ".a")
        .iter()
        .map(|path| format!("{} ", quoted(path.as_os_str())))
        .collect();
    if names.is_empty() {
        let shared = libraries(plan.out, ".so");
        let with_dir = shared.iter().map(|path| {
            let dir = quoted(path.parent().unwrap_or(path).as_os_str());
            format!("{} -Wl,-rpath,{dir} ", quoted(path.as_os_str()))
        });
        names = with_dir.collect();
    }
    let group = format!("-Wl,--start-group {names}-Wl,--end-group");
    for harness in harnesses {
        let (command, path) = plan.link_harness(harness, &group);
        eprintln!("$ {command}");
        let log = plan.out.join(format!("{}.log", harness.name()));
        match shell(&[command], &log, |_| ())? && path.is_file() {
            true => linked.push(path),
            false => eprintln!("the harness does not link; the log is {}", log.display()),
        }
    }
    Ok(linked)
}

/// The libraries that were built, by the end of their names.
fn libraries(out: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut dirs = vec![out.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => dirs.push(path),
                // Shared libraries may be links.
                Ok(_) if path.to_string_lossy().ends_with(ending) && path.is_file() => {
                    found.push(path);
                }
                _ => {}
            }
        }
    }
    found.sort();
    found
}
