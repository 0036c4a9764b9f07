//! The compiler driver: what `pleach cc` does with a command line.
//!
//! One command becomes a few runs of clang: the front end for each source, the
//! two halves of each object, the two links. Everything else about the command
//! (languages, include paths, targets, warnings) stays clang's affair; what
//! does not concern us is handed over to clang whole, and what clang would
//! refuse is handed over too, so that the refusal is its own.

mod archive;
mod compile;
mod elf;
mod error;
mod fat;
mod invocation;
mod link;
mod macros;
mod options;
mod outputs;
mod process;
mod response;
mod sanitize;
mod toolchain;

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

use compile::Halves;
use error::{Error, Stop};
use invocation::{Invocation, Mode};
use process::Scratch;
use toolchain::Toolchain;

use crate::Language;
use crate::runtime::Runtime;

/// All that the steps of one command share.
struct Context {
    inv: Invocation,
    toolchain: Toolchain,
    scratch: Scratch,
    runtime: Runtime,
    /// Symbolic halves are wanted.
    symbolic: bool,
    /// What the sources became, in their order.
    halves: Vec<Halves>,
}

impl Context {
    fn clang(&self) -> &Path {
        self.toolchain.clang(self.inv.language)
    }
}

pub fn main(language: Language, args: impl IntoIterator<Item = OsString>) -> ExitCode {
    match run(language, args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Status(status)) => ExitCode::from(status),
        Err(Stop::Error(error)) => {
            eprintln!("pleach-cc: error: {error}");
            ExitCode::from(error.exit_status())
        }
    }
}

fn run(language: Language, args: impl IntoIterator<Item = OsString>) -> Result<(), Stop> {
    let words = response::expand(args);
    let inv = Invocation::parse(language, &words);
    let toolchain = Toolchain::find()?;
    if inv.mode == Mode::Clang || clang_refuses(&inv) {
        return Err(hand_over(&toolchain, &inv, &words));
    }
    check_target(&inv)?;
    if inv.lto {
        eprintln!("pleach-cc: warning: -flto is ignored: the two halves are separate machine code");
    }
    process::guard_signals();
    let scratch = Scratch::new()?;
    let runtime = Runtime::install(scratch.path()).map_err(Error::io("write", scratch.path()))?;
    let wanted = std::env::var_os("PLEACH_SYMBOLIC").is_none_or(|v| v != "0");
    let symbolic = inv.symbolic && wanted;
    let mut cx = Context { inv, toolchain, scratch, runtime, symbolic, halves: Vec::new() };
    outputs::compilation_database(&cx, &words)?;
    cx.halves = compile_all(&cx)?;
    match cx.inv.mode {
        Mode::Link => link::link(&cx),
        _ => Ok(()),
    }
}

/// Every source is compiled, as clang does, even after one has failed.
fn compile_all(cx: &Context) -> Result<Vec<Halves>, Stop> {
    let mut halves = Vec::new();
    let mut status = None;
    for (number, input) in cx.inv.sources().enumerate() {
        match compile::compile(cx, input, number) {
            Ok(h) => {
                if cx.inv.mode == Mode::Object {
                    write_object(&cx.inv.object_path(input), &h)?;
                }
                halves.push(h);
            }
            Err(Stop::Status(s)) => status = status.or(Some(s)),
            Err(error) => return Err(error),
        }
    }
    status.map_or(Ok(halves), |s| Err(Stop::Status(s)))
}

fn write_object(path: &Path, halves: &Halves) -> Result<(), Error> {
    let read = |path: &Path| std::fs::read(path).map_err(Error::io("read", path));
    let fast = read(&halves.fast)?;
    let bytes = match &halves.symbolic {
        None => fast,
        Some(symbolic) => fat::join(fast, &read(symbolic)?).ok_or_else(|| Error::BadFile {
            path: halves.fast.clone(),
            what: "clang's object has no section headers".into(),
        })?,
    };
    if path.as_os_str() == "-" {
        return std::io::stdout().write_all(&bytes).map_err(Error::io("write", path));
    }
    process::write_output(path, &bytes)
}

/// Command lines that clang answers with an error before it starts: it is the
/// one to say so. Also compiles whose output nobody will see.
fn clang_refuses(inv: &Invocation) -> bool {
    let missing = inv.inputs().any(|i| i.path != "-" && !Path::new(&i.path).exists());
    let compiles = matches!(inv.mode, Mode::Object | Mode::Assembly);
    let several = compiles && inv.output.is_some() && inv.sources().count() > 1;
    let nowhere = inv.output.as_ref().filter(|o| *o != "-").is_some_and(|output| {
        let path = Path::new(output);
        let parent = path.parent().filter(|p| !p.as_os_str().is_empty());
        let special = std::fs::metadata(path).is_ok_and(|m| !m.is_file());
        parent.is_some_and(|p| !p.is_dir()) || special && compiles || path.is_dir()
    });
    let nothing = compiles && inv.sources().next().is_none();
    missing || several || nowhere || nothing
}

/// Becomes clang. Returns only if that fails.
fn hand_over(toolchain: &Toolchain, inv: &Invocation, words: &[OsString]) -> Stop {
    let clang = toolchain.clang(inv.language);
    let mut command = Command::new(clang);
    command.args(words.iter().filter(|w| !is_ours(w)));
    if inv.complete && inv.inputs().next().is_some() {
        if words.first().is_some_and(|w| w.to_string_lossy().starts_with("-cc1")) {
            return Error::io("run", clang)(command.exec()).into();
        }
        // A directory that lasts: dependency files may name the headers.
        match Runtime::install(&std::env::temp_dir()) {
            Ok(runtime) => drop(command.args(front_end_extras(&runtime))),
            Err(e) => return Error::io("write", std::env::temp_dir())(e).into(),
        }
    }
    Error::io("run", clang)(command.exec()).into()
}

/// Options that clang does not know.
fn is_ours(word: &OsStr) -> bool {
    use std::os::unix::ffi::OsStrExt;
    let ours: [&[u8]; 4] =
        [b"-fno-pleach-symbolic", b"-fpleach-symbolic", b"-fno-pleach-token", b"-fpleach-token"];
    ours.iter().any(|o| word.as_bytes() == *o) || word.as_bytes().starts_with(b"-fpleach-token=")
}

/// Macros and headers of ours, for every run that reads sources.
fn front_end_extras(runtime: &Runtime) -> Vec<OsString> {
    let mut extras: Vec<OsString> = vec!["--start-no-unused-arguments".into()];
    extras.extend(macros::DEFINITIONS.iter().map(OsString::from));
    // Behind everything else, so that a program's own header of that name wins.
    extras.extend(["-idirafter".into(), runtime.include().into()]);
    extras.push("--end-no-unused-arguments".into());
    extras
}

fn check_target(inv: &Invocation) -> Result<(), Error> {
    for flag in inv.flags() {
        let triple = flag.joined("--target=").or_else(|| match flag.name() {
            "-target" => flag.value.as_deref(),
            _ => None,
        });
        let refused = match triple.and_then(OsStr::to_str) {
            Some(triple) => !is_supported(triple),
            None => ["-m32", "-mx32", "-m16"].contains(&flag.name()),
        };
        if refused {
            let text: Vec<_> = flag.words().map(|w| w.to_string_lossy().into_owned()).collect();
            return Err(Error::Target { target: text.join(" ") });
        }
    }
    Ok(())
}

fn is_supported(triple: &str) -> bool {
    let machine = triple.starts_with("x86_64-") || triple.starts_with("amd64-");
    machine
        && triple.contains("linux")
        && !["musl", "gnux32", "android"].iter().any(|x| triple.contains(x))
}
