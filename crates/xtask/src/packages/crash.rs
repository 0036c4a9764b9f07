//! Crashes of packages. Only what the plain build with ASan confirms counts. Two crashes are
//! the same if the two innermost lines of the package's own code are.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::bench::contest::program::{Program, command_on, files_in};
use crate::process;
use crate::project;
use crate::subjects::{Flavour, Recipe};

const RUN_LIMIT: Duration = Duration::from_secs(20);
const MINIMISE_LIMIT: Duration = Duration::from_secs(60);
/// Runs of `pleach tmin` for one crash.
const MINIMISE_RUNS: &str = "3000";
/// Frames that tell crashes apart.
const KEY_FRAMES: usize = 2;
const SHOWN_FRAMES: usize = 5;
/// Longer inputs are not written to the results.
const MAX_HEX_BYTES: usize = 4096;

/// A crash that the plain build with ASan confirms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crash {
    /// The words of ASan, such as `heap-buffer-overflow`, `READ of size 4`.
    pub fault: String,
    /// `function file:line`, innermost first.
    pub frames: Vec<String>,
    /// The length of the input.
    pub bytes: usize,
    /// The input, if it is short.
    pub hex: String,
}

impl Crash {
    pub fn markdown(&self) -> String {
        let mut text = format!("{}, {} bytes\n    {}\n", self.fault, self.bytes, self.hex);
        self.frames.iter().for_each(|frame| text += &format!("    {frame}\n"));
        text
    }
}

/// Where the crashing inputs of a package are kept.
pub fn directory(recipe: &Recipe) -> PathBuf {
    recipe.dir().join("crashes")
}

/// Adds the crashes of a campaign to those that are kept.
pub fn keep(found: &Path, kept: &Path) -> Result<()> {
    if !found.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(kept)?;
    for path in files_in(found)? {
        let bytes = fs::read(&path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // Each crash has its report beside it.
        let is_input = name.starts_with("id:") && !name.ends_with(".txt");
        if is_input {
            fs::write(kept.join(format!("{:016x}", pleach_hash::hash_bytes(&bytes))), bytes)?;
        }
    }
    Ok(())
}

/// Minimises and checks the kept crashes of a package; one of each cause is returned.
pub fn verify_kept(recipe: &Recipe) -> Result<Vec<Crash>> {
    let kept = directory(recipe);
    if !kept.is_dir() || files_in(&kept)?.is_empty() {
        return Ok(Vec::new());
    }
    let program = Program::package(recipe.clone());
    let mut by_cause: BTreeMap<_, (Crash, PathBuf)> = BTreeMap::new();
    for input in files_in(&kept)? {
        let Some(crash) = reproduce(&program, &input)? else { continue };
        let known = by_cause.entry(cause(&crash)).or_insert_with(|| (crash.clone(), input.clone()));
        if crash.bytes < known.0.bytes {
            *known = (crash, input);
        }
    }
    by_cause.into_values().map(|(crash, input)| minimise(&program, crash, &input)).collect()
}

/// What tells crashes apart: the two innermost lines of the package itself. (One cause may
/// show as a wild read or as an over-read. The innermost line alone may be that of a helper.)
fn cause(crash: &Crash) -> Vec<String> {
    let frames = crash.frames.iter().take(KEY_FRAMES).cloned().collect::<Vec<_>>();
    if frames.is_empty() { vec![crash.fault.clone()] } else { frames }
}

/// Runs `pleach tmin` on a crash, and keeps the smaller input if the plain build confirms it.
fn minimise(program: &Program, crash: Crash, input: &Path) -> Result<Crash> {
    let small = tempfile::NamedTempFile::new()?;
    let built = program.build(Flavour::Pleach)?;
    let mut command = Command::new(project::tool("pleach")?);
    command.args(["tmin", "-n", MINIMISE_RUNS, "-i"]).arg(input).arg("-o").arg(small.path());
    command.arg("--").args(&built.command).current_dir(&built.directory).stdin(Stdio::null());
    process::run(&mut command, MINIMISE_LIMIT)?;
    match reproduce(program, small.path())? {
        Some(smaller) if cause(&smaller) == cause(&crash) && smaller.bytes < crash.bytes => {
            fs::copy(small.path(), input)?;
            Ok(smaller)
        }
        _ => Ok(crash),
    }
}

/// Runs the plain build with ASan on an input.
fn reproduce(program: &Program, input: &Path) -> Result<Option<Crash>> {
    let built = program.build(Flavour::Asan)?;
    let scratch = tempfile::tempdir()?;
    let mut command = command_on(&built, input, scratch.path())?;
    command.env("ASAN_OPTIONS", "detect_leaks=0:handle_abort=1:allocator_may_return_null=1");
    command.env("ASAN_SYMBOLIZER_PATH", "/usr/lib/llvm-22/bin/llvm-symbolizer");
    let done = process::run(&mut command, RUN_LIMIT)?;
    let report = String::from_utf8_lossy(&done.stderr).into_owned();
    let bytes = fs::read(input)?;
    Ok(parse_report(&report, &built.directory).map(|(fault, frames)| Crash {
        fault,
        frames,
        bytes: bytes.len(),
        hex: match bytes.len() <= MAX_HEX_BYTES {
            true => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
            false => String::new(),
        },
    }))
}

/// The fault and the stack in a report of ASan. Frames outside the package, such as ASan's
/// own and those of libc, are left out.
fn parse_report(report: &str, directory: &Path) -> Option<(String, Vec<String>)> {
    let (_, rest) = report.split_once("ERROR: AddressSanitizer: ")?;
    let mut fault: String = rest.split_whitespace().next()?.trim_end_matches(':').into();
    let access = rest
        .lines()
        .map(str::trim)
        .find(|line| ["READ of size", "WRITE of size"].iter().any(|start| line.starts_with(start)));
    if let Some(access) = access {
        fault += &format!(", {}", access.split(" at ").next().unwrap_or(access));
    } else if let Some(caused) = rest.lines().find_map(|l| l.split_once("caused by a ")) {
        fault += &format!(", {}", caused.1.trim_end_matches('.'));
    }
    let root = format!("{}/", directory.display());
    let mut frames = Vec::new();
    let stack = rest.lines().skip_while(|line| !line.trim_start().starts_with("#0 "));
    for line in stack.take_while(|line| line.trim_start().starts_with('#')) {
        let Some((_, place)) = line.split_once(" in ") else { continue };
        let Some((function, file)) = place.rsplit_once(' ') else { continue };
        let is_foreign = ["/usr/", "(", "../"].iter().any(|start| file.starts_with(start));
        if is_foreign || file.ends_with(')') || file.contains("/sysdeps/") {
            continue;
        }
        let file = file.strip_prefix(&root).unwrap_or(file).trim_start_matches("./");
        let mut parts = file.split(':');
        let (file, line) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
        let function = function.split('(').next().unwrap_or(function);
        frames.push(format!("{function} {file}:{line}"));
    }
    frames.truncate(SHOWN_FRAMES);
    Some((fault, frames))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "some output\n\
        ==12==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1 at pc 0x2 bp 0x3\n\
        READ of size 4 at 0x1 thread T0\n\
        \x20   #0 0x3 in __strlen_evex string/../sysdeps/x86_64/multiarch/strlen-evex.S:79\n\
        \x20   #1 0x4 in get(unsigned char const*, int) /build/src/ole.c:12:3\n\
        \x20   #2 0x5 in main /build/./src/main.c:7:9\n\
        \x20   #3 0x6 in __libc_start_main (/lib/libc.so.6+0x1) (BuildId: 0ecc)\n\
        \n\
        0x1 is located 0 bytes after 4-byte region\n\
        allocated by thread T0 here:\n\
        \x20   #0 0x4 in malloc (/build/program+0x4)\n";

    #[test]
    fn the_stack_of_a_report_has_the_packages_frames_only() {
        let (fault, frames) = parse_report(REPORT, Path::new("/build")).unwrap();
        assert_eq!(fault, "heap-buffer-overflow, READ of size 4");
        assert_eq!(frames, ["get src/ole.c:12", "main src/main.c:7"]);
        assert_eq!(parse_report("all is well", Path::new("/build")), None);
    }
}
