//! From one source to the two halves of its object.
//!
//! The front end runs once, on the user's own command line, with its action
//! replaced underneath (`-Xclang -emit-llvm-bc`): clang's driver believes that
//! it makes an object, so every message that it has for the user is the one
//! that plain clang would give, about unused options too. The bitcode is split
//! into the two halves in this process, and both are compiled by clang, at the
//! same time where they can be, with the user's options for code generation.
//!
//! Some errors are found only when machine code is made: inline assembly that
//! does not assemble, above all. Compiling IR, clang reports them without a
//! place in the source. So when the fast half does not compile, plain clang is
//! asked once more about the source, without warnings, as the front end has
//! given them already. What it then says is what the user sees.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::Context;
use super::error::{Error, Stop};
use super::invocation::{Input, Kind, Mode, stem};
use super::options;
use super::outputs;
use super::process::{Messages, Run, status_code};
use crate::instrument::tokens::{Named, Place, Tokens};
use crate::{Language, instrument};

/// The objects that one source became.
pub struct Halves {
    pub fast: PathBuf,
    /// None for plain objects, which serve both halves.
    pub symbolic: Option<PathBuf>,
}

/// Compiles a source. `number` is its place among the command's sources.
pub fn compile(cx: &Context, input: &Input, number: usize) -> Result<Halves, Stop> {
    let dir = cx.scratch.sub(&format!("s{number}"))?;
    let name = stem(&input.path);
    let file = |half: &str, extension: &str| {
        let mut name = name.clone();
        name.push(".");
        name.push(extension);
        let path = dir.join(half);
        // One directory for each half keeps the source's name in messages.
        std::fs::create_dir_all(&path).map_err(Error::io("make", &path))?;
        Ok::<_, Error>(path.join(name))
    };
    if cx.inv.kind(input) == Kind::Plain {
        let fast = match cx.inv.mode {
            Mode::Assembly => cx.inv.object_path(input),
            _ => file("fast", "o")?,
        };
        plain(cx, input, number, &fast, &[])?;
        return Ok(Halves { fast, symbolic: None });
    }

    let bitcode = file("ir", "bc")?;
    front_end(cx, input, number, &bitcode)?;
    save_preprocessed(cx, input)?;
    let (fast_ir, symbolic_ir) = (file("fast", "bc")?, file("symbolic", "bc")?);
    let options = instrument_options(cx)?;
    let broken = |source| match source {
        instrument::Error::Token(why) => {
            Error::Token(format!("{}: {why}", Path::new(&input.path).display()))
        }
        source => Error::Instrument { input: input.path.clone().into(), source },
    };
    let twin = instrument::fast(&bitcode, &fast_ir, &options).map_err(broken)?;

    let to_assembly = cx.inv.mode == Mode::Assembly;
    let fast = if to_assembly { cx.inv.object_path(input) } else { file("fast", "o")? };
    let symbolic = (cx.symbolic && !to_assembly).then(|| file("symbolic", "o")).transpose()?;
    let fast_log = dir.join("fast.log");
    let symbolic_log = dir.join("symbolic.log");
    let args = fast_args(cx, input, &fast_ir, &fast);
    // Assembly on standard output is the one thing of ours that the user reads there.
    let messages = match fast.as_os_str() == "-" {
        true => Messages::User,
        false => Messages::File(&fast_log),
    };
    let fast_run = Run::start(cx.clang(), &args, messages, &cx.scratch)?;
    // While clang compiles the fast half, the symbolic one is made here.
    let made = symbolic.as_ref().map(|_| twin.write(&symbolic_ir, &options)).transpose();
    if let Err(e) = made {
        fast_run.wait()?;
        return Err(broken(e).into());
    }
    let symbolic_run = symbolic
        .as_ref()
        .map(|object| {
            let args = symbolic_args(cx, &symbolic_ir, object);
            Run::start(cx.clang(), &args, Messages::File(&symbolic_log), &cx.scratch)
        })
        .transpose()?;
    let fast_done = fast_run.wait()?;
    let symbolic_done = symbolic_run.map(Run::wait).transpose()?;
    if !fast_done.success() {
        if input.path != "-" {
            plain(cx, input, 1, &file("again", "o")?, &["-w"])?;
        }
        return Err(second_compile(input, &fast_log));
    }
    if symbolic_done.is_some_and(|s| !s.success()) {
        return Err(second_compile(input, &symbolic_log));
    }
    Ok(Halves { fast, symbolic })
}

fn instrument_options(cx: &Context) -> Result<instrument::Options, Error> {
    let (fast_models, symbolic_models) = crate::runtime::models();
    Ok(instrument::Options {
        fast_models,
        symbolic_models,
        tokens: tokens(cx)?,
        strip_debug: !wants_debug(cx),
        verify: std::env::var_os("PLEACH_VERIFY").is_some(),
    })
}

/// What the user says of token functions.
fn tokens(cx: &Context) -> Result<Tokens, Error> {
    let one = |text: &String| {
        // A C++ name has colons of its own.
        let (name, place) = match text.rsplit_once(':') {
            Some((name, place)) if !name.ends_with(':') => (name, place),
            _ => (text.as_str(), "ret"),
        };
        let wrong = |why: String| Error::Token(format!("-fpleach-token={text}: {why}"));
        if name.is_empty() {
            return Err(wrong("it names no function".into()));
        }
        Ok(Named { name: name.into(), place: Place::parse(place).map_err(wrong)? })
    };
    let named = cx.inv.tokens.iter().map(one).collect::<Result<_, _>>()?;
    Ok(Tokens { by_name: !cx.inv.no_token_names, named })
}

/// Whether debug information is the user's wish, or what a step of the fast
/// half works on. Otherwise the front end still makes line tables, since sites
/// have lines whatever the program is built with, and they go afterwards.
fn wants_debug(cx: &Context) -> bool {
    let asked = cx.inv.flags().filter_map(|f| options::debug_info(f.name())).last();
    asked == Some(true) || cx.inv.flags().any(|f| options::reads_debug_info(f.name()))
}

fn second_compile(input: &Input, log: &Path) -> Stop {
    let text = std::fs::read(log).unwrap_or_default();
    // The first lines say what; a crash of clang has a long tail.
    let text: Vec<_> = String::from_utf8_lossy(&text).lines().take(10).map(str::to_owned).collect();
    let text = text.join("\n");
    Error::SecondCompile { input: input.path.clone().into(), text }.into()
}

fn front_end(cx: &Context, input: &Input, number: usize, bitcode: &Path) -> Result<(), Stop> {
    let mut args = source_args(cx, number, true);
    args.extend(outputs::dependency_args(&cx.inv, input));
    args.extend(outputs::note_args(&cx.inv, input, false));
    // A token's place is found by types.
    let lines = match tokens(cx)?.named.iter().any(|n| n.place.needs_types()) {
        true => "-g",
        false => "-gline-tables-only",
    };
    args.extend((!wants_debug(cx)).then(|| lines.into()));
    let action = ["-emit-llvm-bc", "-disable-llvm-passes", "-disable-O0-optnone"];
    args.extend(action.iter().flat_map(|a| ["-Xclang".into(), OsString::from(a)]));
    finish(cx, args, input, bitcode)
}

/// `-save-temps`: the fast half's compile saves the assembly; what the
/// preprocessor makes is saved here, as the front end does not stop there.
fn save_preprocessed(cx: &Context, input: &Input) -> Result<(), Stop> {
    let saves = |name: &str| name.starts_with("-save-temps") || name.starts_with("--save-temps");
    if input.path == "-" || !cx.inv.flags().any(|f| saves(f.name())) {
        return Ok(());
    }
    let extension = match (&input.language, cx.inv.language) {
        (Some(x), _) if x == "c" => "i",
        (None, Language::C) if input.path.as_bytes().ends_with(b".c") => "i",
        (Some(x), _) if x != "c++" => return Ok(()),
        (None, _)
            if [".i", ".ii", ".bc", ".ll"]
                .iter()
                .any(|e| input.path.as_bytes().ends_with(e.as_bytes())) =>
        {
            return Ok(());
        }
        _ => "ii",
    };
    let mut name = stem(&input.path);
    name.push(".");
    name.push(extension);
    let mut args = source_args(cx, 1, true);
    args.extend(["-E", "-w"].map(OsString::from));
    finish(cx, args, input, Path::new(&name))
}

/// Compiles a source without instrumentation.
fn plain(
    cx: &Context,
    input: &Input,
    number: usize,
    object: &Path,
    more: &[&str],
) -> Result<(), Stop> {
    let mut args = source_args(cx, number, false);
    args.extend(outputs::dependency_args(&cx.inv, input));
    args.extend(more.iter().map(OsString::from));
    finish(cx, args, input, object)
}

fn finish(cx: &Context, mut args: Vec<OsString>, input: &Input, output: &Path) -> Result<(), Stop> {
    args.extend(["-o".into(), output.into()]);
    if let Some(x) = &input.language {
        args.extend(["-x".into(), x.clone()]);
    }
    let guard = input.path.to_str().is_some_and(|p| p.starts_with('-') && p != "-");
    args.extend(guard.then(|| "--".into()));
    args.push(input.path.clone());
    let status = Run::start(cx.clang(), &args, Messages::User, &cx.scratch)?.wait()?;
    match status.success() {
        true => Ok(()),
        false => Err(Stop::Status(status_code(status))),
    }
}

/// The user's options for a run that reads the source. Messages about unused
/// options and inputs belong to the first source alone, and in a link, whose
/// options a compile cannot use, to none.
fn source_args(cx: &Context, number: usize, instrumented: bool) -> Vec<OsString> {
    let inv = &cx.inv;
    let linking = inv.mode == Mode::Link;
    let mut args = Vec::new();
    for flag in inv.flags() {
        let name = flag.name();
        // These split clang's job into several, each of which would get our action.
        let splits = name.starts_with("-save-temps")
            || ["--save-temps", "-fno-integrated-as", "-no-integrated-as", "-via-file-asm"]
                .contains(&name)
            || name.starts_with("-fembed-bitcode");
        let done = name.starts_with("-MJ");
        if !(done || linking && options::is_linker_input(name) || instrumented && splits) {
            args.extend(flag.words());
        }
    }
    args.extend(super::front_end_extras(&cx.runtime));
    args.push(if inv.mode == Mode::Assembly { "-S" } else { "-c" }.into());
    if linking || number > 0 {
        args.push("-Qunused-arguments".into());
    } else {
        // For clang's own word about inputs that a compile does not use.
        let unused = inv.inputs().filter(|i| inv.kind(i) == Kind::Linked);
        args.extend(unused.map(|i| i.path.clone()));
    }
    args
}

fn ir_args(cx: &Context, keep: impl Fn(&str) -> bool, ir: &Path, object: &Path) -> Vec<OsString> {
    let flags = cx.inv.flags().filter(|f| keep(f.name()));
    let mut args: Vec<OsString> = flags.flat_map(|f| f.words()).collect();
    args.extend(
        ["-Qunused-arguments", "-w", "-fno-crash-diagnostics", "-x", "ir"].map(OsString::from),
    );
    args.extend([ir.into(), "-o".into(), object.into()]);
    args
}

fn fast_args(cx: &Context, input: &Input, ir: &Path, object: &Path) -> Vec<OsString> {
    let mut args = ir_args(cx, options::is_codegen, ir, object);
    args.extend(outputs::note_args(&cx.inv, input, true));
    args.push(if cx.inv.mode == Mode::Assembly { "-S" } else { "-c" }.into());
    args
}

fn symbolic_args(cx: &Context, ir: &Path, object: &Path) -> Vec<OsString> {
    let mut args = ir_args(cx, options::is_symbolic_codegen, ir, object);
    // The code is mostly blocks that never run. The basic register allocator
    // does as well there as the greedy one, whose splitting of live ranges took
    // a third of the time that sqlite3.c took to compile. Fast instruction
    // selection saves another fifth; what it leaves to the slow one are the calls
    // and the arithmetic, so the code that does run is slower by 2 to 7 %.
    let ours = ["-c", "-O2", "-fPIC", "-Xclang", "-disable-llvm-passes"];
    let machine = ["-regalloc=basic", "-fast-isel"];
    args.extend(ours.iter().map(OsString::from));
    args.extend(machine.iter().flat_map(|m| ["-mllvm", m]).map(OsString::from));
    args
}
