//! The compiler driver: what `pleach cc` does with a command line.
//!
//! One command becomes several runs of clang: the front end for each source, the
//! two halves of each object, the two links. clang handles everything else
//! (languages, include paths, targets, warnings). A command that needs no
//! instrumentation goes to clang unchanged, and so does a command that clang would
//! refuse: then the user sees clang's own message.

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

/// The data that the steps of one command share.
struct Context {
    inv: Invocation,
    toolchain: Toolchain,
    scratch: Scratch,
    runtime: Runtime,
    /// True if symbolic halves are to be made.
    symbolic: bool,
    /// The objects made from the sources, in their order.
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
    if inv.mode == Mode::Clang || is_left_to_clang(&inv) {
        return Err(exec_clang(&toolchain, &inv, &words));
    }
    check_target(&inv)?;
    if inv.lto {
        eprintln!(
            "pleach-cc: warning: -flto is ignored: Pleach writes objects of machine code, which \
             link-time optimisation cannot use"
        );
    }
    process::guard_signals();
    let scratch = Scratch::new()?;
    let runtime = Runtime::install(scratch.path()).map_err(Error::io("write", scratch.path()))?;
    let is_enabled = std::env::var_os("PLEACH_SYMBOLIC").is_none_or(|v| v != "0");
    let symbolic = inv.symbolic && is_enabled;
    let mut cx = Context { inv, toolchain, scratch, runtime, symbolic, halves: Vec::new() };
    outputs::write_compilation_database(&cx, &words)?;
    cx.halves = compile_all(&cx)?;
    match cx.inv.mode {
        Mode::Link => link::link(&cx),
        _ => Ok(()),
    }
}

/// Compiles every source, even after one has failed, as clang does.
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
        Some(symbolic) => {
            fat::embed_object(fast, &read(symbolic)?).ok_or_else(|| Error::BadFile {
                path: halves.fast.clone(),
                what: "clang's object has no section headers, so the symbolic half cannot be \
                       added to it"
                    .into(),
            })?
        }
    };
    if path.as_os_str() == "-" {
        return std::io::stdout().write_all(&bytes).map_err(Error::io("write", path));
    }
    process::write_output(path, &bytes)
}

/// True for a command line that clang refuses before it compiles anything, so that
/// the user sees clang's message; and for a compile whose output goes to a device.
fn is_left_to_clang(inv: &Invocation) -> bool {
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

/// Replaces this process by clang. Returns only if that fails.
fn exec_clang(toolchain: &Toolchain, inv: &Invocation, words: &[OsString]) -> Stop {
    let clang = toolchain.clang(inv.language);
    let mut command = Command::new(clang);
    command.args(words.iter().filter(|w| !is_pleach_option(w)));
    if inv.complete && inv.inputs().next().is_some() {
        if words.first().is_some_and(|w| w.to_string_lossy().starts_with("-cc1")) {
            return Error::io("run", clang)(command.exec()).into();
        }
        // Not a scratch directory, because dependency files may name the headers.
        match Runtime::install(&std::env::temp_dir()) {
            Ok(runtime) => drop(command.args(front_end_extras(&runtime))),
            Err(e) => return Error::io("write", std::env::temp_dir())(e).into(),
        }
    }
    Error::io("run", clang)(command.exec()).into()
}

/// True for an option of Pleach, which clang does not know.
fn is_pleach_option(word: &OsStr) -> bool {
    use std::os::unix::ffi::OsStrExt;
    let ours: [&[u8]; 4] =
        [b"-fno-pleach-symbolic", b"-fpleach-symbolic", b"-fno-pleach-token", b"-fpleach-token"];
    ours.iter().any(|o| word.as_bytes() == *o) || word.as_bytes().starts_with(b"-fpleach-token=")
}

/// Pleach's macros and headers, for every run of clang that reads sources.
fn front_end_extras(runtime: &Runtime) -> Vec<OsString> {
    let mut extras: Vec<OsString> = vec!["--start-no-unused-arguments".into()];
    extras.extend(macros::DEFINITIONS.iter().map(OsString::from));
    // Searched last, so that the program's own header of the same name wins.
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
