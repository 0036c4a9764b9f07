//! `pleach doctor`: what this machine lacks, one line for each check. Whatever can be tried is
//! tried: a small program is compiled and run by both halves, with and without a sanitizer.

use crate::args::Doctor;
use crate::compiler;
use crate::exit::{Code, Failure};
use anyhow::{Context, anyhow, bail};
use nix::sys::personality::{self, Persona};
use nix::sys::statvfs::statvfs;
use pleach_exec::{End, Executor, Half, Layout, Output, TargetOptions, Triage};
use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// Only a run that hangs takes this long.
const TIMEOUT: Duration = Duration::from_secs(20);
/// With less free space than this a long campaign may end early.
const WANTED_DISK: u64 = 1 << 30;
/// Shared memory of one worker, with room for copies of a directory.
const WANTED_SHM: u64 = 256 << 20;

/// Reads its input and decides on it; crashes on `!`, leaves a heap object on `+`.
const PROGRAM: &str = r#"#include <stdio.h>
#include <stdlib.h>
int main(void) {
    char *buffer = malloc(4);
    int byte = getchar();
    if (byte == '!') abort();
    buffer[byte == '+' ? 4 : 0] = (char)byte;
    int status = buffer[0] == 'x' ? 3 : 4;
    free(buffer);
    return status;
}
"#;
const CXX_PROGRAM: &str = r#"#include <iostream>
#include <string>
int main() {
    std::string word;
    std::cin >> word;
    return word == "x" ? 3 : 4;
}
"#;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Ok,
    /// Something works less well.
    Note,
    /// Searching or compiling does not work.
    Missing,
}

struct Report {
    has_failed: bool,
    /// A problem of the compiler is only a note.
    needs_compiler: bool,
}

pub fn run(args: &Doctor) -> Result<Code, Failure> {
    let mut report = Report { has_failed: false, needs_compiler: args.program.is_none() };
    let dir = tempfile::Builder::new().prefix("pleach-doctor-").tempdir();
    let dir = dir.context("temporary directory").map_err(Failure::user_error)?;
    check_compiler(&mut report, dir.path())?;
    if let Some(program) = &args.program {
        let done = try_halves(program, b"\n");
        report.result("program", done.map(|ends| format!("{}: {ends}", program.display())))?;
    }
    check_system(&mut report, dir.path())?;
    Ok(if report.has_failed { Code::Failed } else { Code::Ok })
}

impl Report {
    fn line(&mut self, state: State, what: &str, text: impl Display) -> Result<(), Failure> {
        self.has_failed |= state == State::Missing;
        let word = match state {
            State::Ok => "ok",
            State::Note => "note",
            State::Missing => "missing",
        };
        let mut out = std::io::stdout().lock();
        writeln!(out, "{word:<8} {what:<12} {text}")?;
        Ok(())
    }

    /// `Missing` if it failed.
    fn result(&mut self, what: &str, done: anyhow::Result<String>) -> Result<(), Failure> {
        match done {
            Ok(text) => self.line(State::Ok, what, text),
            Err(error) => self.line(State::Missing, what, one_line(&error)),
        }
    }

    /// As `result`, for a part of compiling.
    fn compiling(&mut self, what: &str, done: anyhow::Result<String>) -> Result<(), Failure> {
        match done {
            Err(error) if !self.needs_compiler => self.line(State::Note, what, one_line(&error)),
            done => self.result(what, done),
        }
    }

    /// As `result`, for something that is not always needed.
    fn optional(&mut self, what: &str, done: anyhow::Result<String>) -> Result<(), Failure> {
        match done {
            Ok(text) => self.line(State::Ok, what, text),
            Err(error) => self.line(State::Note, what, one_line(&error)),
        }
    }
}

fn one_line(error: &anyhow::Error) -> String {
    let text = format!("{error:#}");
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}

fn check_compiler(report: &mut Report, dir: &Path) -> Result<(), Failure> {
    let Some(compiler) = compiler::find() else {
        let text = "pleach-cc is neither beside pleach nor in PATH; only searching is possible";
        return report.compiling("compiler", Err(anyhow!(text)));
    };
    let version = compiler::llvm_version(&compiler);
    let has_llvm = version.is_ok();
    let shown = version.map(|v| format!("{} with LLVM {v}", compiler.display()));
    report.compiling("compiler", shown)?;
    if !has_llvm {
        return Ok(());
    }
    let plain = compile(&compiler, dir, "plain.c", PROGRAM, &[]);
    let halves = plain.and_then(|program| try_halves(&program, b"x").map(|ends| (program, ends)));
    match halves {
        Ok((program, ends)) => {
            report.line(
                State::Ok,
                "program",
                format!("compiled, and run by both halves: {ends}"),
            )?;
            report.optional("ptrace", try_crash(&program))?;
        }
        Err(error) => report.compiling("program", Err(error))?,
    }
    let cxx = compile(&compiler, dir, "plain.cc", CXX_PROGRAM, &[]);
    let cxx = cxx.and_then(|program| try_halves(&program, b"x"));
    report.optional("C++", cxx.map(|ends| format!("compiled, and run by both halves: {ends}")))?;
    let asan = compile(&compiler, dir, "asan.c", PROGRAM, &["-fsanitize=address"]);
    let asan = asan.and_then(|program| try_sanitizer(&program));
    report.optional("ASan", asan.context("libclang-rt-22-dev"))
}

fn compile(
    compiler: &Path,
    dir: &Path,
    name: &str,
    text: &str,
    flags: &[&str],
) -> anyhow::Result<PathBuf> {
    use std::os::unix::process::CommandExt;
    let program = dir.join(name.replace('.', "-"));
    std::fs::write(dir.join(name), text).with_context(|| dir.display().to_string())?;
    let mut command = Command::new(compiler);
    command.arg0(if name.ends_with(".cc") { "pleach-c++" } else { "pleach-cc" });
    command.args(["-g", "-O1", name, "-o"]).arg(&program).args(flags);
    let out = command.current_dir(dir).stdin(Stdio::null()).output()?;
    if !out.status.success() {
        let text = String::from_utf8_lossy(&out.stderr);
        let lines = text.lines().filter(|line| line.contains("error") || line.contains("cannot"));
        let line = lines.chain(text.lines()).next().unwrap_or("no message").to_owned();
        bail!("{} fails: {line}", compiler.display());
    }
    Ok(program)
}

fn target(program: &Path, half: Half) -> TargetOptions {
    let mut target = TargetOptions::new(half, vec![program.into()]);
    target.output = Output::Capture { limit: 1 << 20 };
    target.scratch = true;
    target
}

/// Runs both halves on an input. The symbolic half reserves its shadow memory, which is where
/// a limit on address space shows.
fn try_halves(program: &Path, input: &[u8]) -> anyhow::Result<String> {
    let layout = Arc::new(Layout::private(program)?);
    let run = |half, what: &str| -> anyhow::Result<Executor> {
        let mut executor = Executor::new(layout.clone(), target(program, half))?;
        let outcome = executor.run(input, TIMEOUT).with_context(|| what.to_owned())?;
        match outcome.end {
            End::Exit(_) => Ok(executor),
            other => bail!("{what}: {}", crate::show::end(&other)),
        }
    };
    run(Half::Fast, "the fast half")?;
    let symbolic = run(Half::Symbolic, "the symbolic half")?;
    let decisions = symbolic.trace()?.events.len();
    let plural = if decisions == 1 { "" } else { "s" };
    Ok(format!("{decisions} decision{plural} on the input"))
}

/// A crash is examined by `ptrace`.
fn try_crash(program: &Path) -> anyhow::Result<String> {
    let layout = Arc::new(Layout::private(program)?);
    let mut triage = Triage::new(layout, &target(program, Half::Fast), TIMEOUT)?;
    match triage.examine(b"!")?.crash {
        Some(crash) if crash.top().is_some() => Ok(format!("a crash was examined: {crash}")),
        _ => Err(anyhow!(
            "stacks of crashes cannot be read: allow ptrace of own children (in a container: \
             --cap-add=SYS_PTRACE or another seccomp profile)"
        )),
    }
}

fn try_sanitizer(program: &Path) -> anyhow::Result<String> {
    let layout = Arc::new(Layout::private(program)?);
    let mut executor = Executor::new(layout, target(program, Half::Fast))?;
    match executor.run(b"+", TIMEOUT)?.end {
        End::Signal(_) => Ok("a heap overflow was found".into()),
        other => bail!("a heap overflow was not found: {}", crate::show::end(&other)),
    }
}

fn check_system(report: &mut Report, dir: &Path) -> Result<(), Failure> {
    report.result("directory", executable_dir(dir))?;
    report.optional("/dev/shm", space(Path::new("/dev/shm"), WANTED_SHM))?;
    report.optional(
        "disk",
        std::env::current_dir().map_err(Into::into).and_then(|here| space(&here, WANTED_DISK)),
    )?;
    report.result("addresses", address_space())?;
    report.optional("ASLR", address_randomisation())?;
    report.optional("cores", core_pattern())?;
    report.optional("processors", governor())?;
    report.optional("git", git())
}

/// Targets are unpacked into the temporary directory and run there.
fn executable_dir(dir: &Path) -> anyhow::Result<String> {
    use std::os::unix::fs::PermissionsExt;
    let parent = std::env::temp_dir();
    let script = dir.join("script");
    std::fs::write(&script, "#!/bin/sh\nexit 0\n").with_context(|| parent.display().to_string())?;
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o700))?;
    match Command::new(&script).status() {
        Ok(status) if status.success() => Ok(format!("{} can run programs", parent.display())),
        _ => bail!("{} cannot run programs (noexec?): set TMPDIR", parent.display()),
    }
}

/// Free space where a file can be written.
fn space(dir: &Path, wanted: u64) -> anyhow::Result<String> {
    let shown = dir.display();
    tempfile::tempfile_in(dir).with_context(|| shown.to_string())?;
    let free = statvfs(dir).map(|s| s.blocks_available() * s.fragment_size())?;
    let mib = free >> 20;
    match free >= wanted {
        true => Ok(format!("{mib} MiB free in {shown}")),
        false => bail!("only {mib} MiB free in {shown}; {} MiB are better", wanted >> 20),
    }
}

/// The symbolic half reserves 80 TiB of addresses, none of which needs memory.
fn address_space() -> anyhow::Result<String> {
    let limits = std::fs::read_to_string("/proc/self/limits").context("/proc/self/limits")?;
    let line = limits.lines().find(|line| line.starts_with("Max address space")).unwrap_or("");
    let soft = line.split_whitespace().nth(3).unwrap_or("unlimited");
    if soft != "unlimited" {
        bail!("the address space is limited to {soft} bytes: run `ulimit -v unlimited`");
    }
    let overcommit = std::fs::read_to_string("/proc/sys/vm/overcommit_memory").unwrap_or_default();
    match overcommit.trim() {
        "2" => bail!(
            "vm.overcommit_memory is 2, so shadow memory cannot be reserved: run `sysctl \
             vm.overcommit_memory=0`"
        ),
        _ => Ok("shadow memory can be reserved".into()),
    }
}

fn address_randomisation() -> anyhow::Result<String> {
    let before = personality::get()?;
    let done = personality::set(before | Persona::ADDR_NO_RANDOMIZE);
    let is_off = done.is_ok()
        && personality::get().is_ok_and(|now| now.contains(Persona::ADDR_NO_RANDOMIZE));
    let _ = personality::set(before);
    match is_off {
        true => Ok("can be turned off".into()),
        false => bail!("cannot be turned off here, so addresses in reports differ between runs"),
    }
}

fn core_pattern() -> anyhow::Result<String> {
    let pattern = std::fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default();
    match pattern.starts_with('|') {
        true => bail!(
            "each crash starts a program ({}): `echo core > /proc/sys/kernel/core_pattern` makes \
             crashes faster",
            pattern.trim()
        ),
        false => Ok("crashes start no other program".into()),
    }
}

fn governor() -> anyhow::Result<String> {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    let path = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
    match std::fs::read_to_string(path).unwrap_or_default().trim() {
        governor @ ("powersave" | "ondemand" | "conservative") => bail!(
            "{count} processors, with the governor {governor}: `performance` gives more runs a \
             second"
        ),
        _ => Ok(format!("{count}")),
    }
}

fn git() -> anyhow::Result<String> {
    let out = Command::new("git").arg("--version").output();
    match out {
        Ok(out) if out.status.success() => Ok(String::from_utf8_lossy(&out.stdout).trim().into()),
        _ => bail!("not installed; only options that read a repository need it"),
    }
}
