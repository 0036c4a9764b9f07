//! Compiles one source to the two halves of its object.
//!
//! The front end runs once, on the user's own command line. Only its action is
//! replaced (`-Xclang -emit-llvm-bc`). clang's driver still assumes that it makes
//! an object, so the user gets the same messages as from plain clang, including
//! those about unused options. This process splits the bitcode into the two
//! halves. clang compiles both, in parallel where possible, with the user's
//! options for code generation.
//!
//! Some errors appear only when machine code is made, for example bad inline
//! assembly. When clang compiles IR, it reports them without a source location.
//! So if the fast half does not compile, plain clang compiles the source again,
//! and the user sees its errors. Warnings are off in this run, because the front
//! end has already given them.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::Context;
use super::error::{Error, Stop};
use super::invocation::{Input, Kind, Mode, stem};
use super::options;
use super::outputs;
use super::process::{Messages, Run, status_code};
use crate::instrument::tokens::{Place, TokenOption, Tokens};
use crate::{Language, instrument};

/// The objects made from one source.
pub struct Halves {
    pub fast: PathBuf,
    /// `None` for plain objects, which are linked into both halves.
    pub symbolic: Option<PathBuf>,
}

/// Compiles a source. `number` is its index among the command's sources.
pub fn compile(cx: &Context, input: &Input, number: usize) -> Result<Halves, Stop> {
    let files = SourceFiles { dir: cx.scratch.sub(&format!("s{number}"))?, input };
    match cx.inv.kind(input) {
        Kind::Plain => {
            let fast = match cx.inv.mode {
                Mode::Assembly => cx.inv.object_path(input),
                _ => files.path("fast", "o")?,
            };
            compile_plain(cx, input, number, &fast, &[])?;
            Ok(Halves { fast, symbolic: None })
        }
        _ => {
            let bitcode = files.path("ir", "bc")?;
            run_front_end(cx, input, number, &bitcode)?;
            save_preprocessed(cx, input)?;
            compile_halves(cx, &files, &bitcode)
        }
    }
}

/// The scratch files of one source.
struct SourceFiles<'a> {
    dir: PathBuf,
    input: &'a Input,
}

impl SourceFiles<'_> {
    /// A file of one step. Each step has its own directory, so that the file keeps
    /// the source's name, which appears in messages.
    fn path(&self, step: &str, extension: &str) -> Result<PathBuf, Error> {
        let mut name = stem(&self.input.path);
        name.push(".");
        name.push(extension);
        let dir = self.dir.join(step);
        std::fs::create_dir_all(&dir).map_err(Error::io("create", &dir))?;
        Ok(dir.join(name))
    }
}

/// Instruments the front end's bitcode and compiles both halves.
fn compile_halves(cx: &Context, files: &SourceFiles, bitcode: &Path) -> Result<Halves, Stop> {
    let input = files.input;
    let (fast_ir, symbolic_ir) = (files.path("fast", "bc")?, files.path("symbolic", "bc")?);
    let options = instrument_options(cx)?;
    let instrument_error = |source| match source {
        instrument::Error::Token(why) => {
            Error::Token(format!("{}: {why}", Path::new(&input.path).display()))
        }
        source => Error::Instrument { input: input.path.clone().into(), source },
    };
    let symbolic_module = instrument::write_fast_half(bitcode, &fast_ir, &options);
    let symbolic_module = symbolic_module.map_err(instrument_error)?;

    let to_assembly = cx.inv.mode == Mode::Assembly;
    let fast = if to_assembly { cx.inv.object_path(input) } else { files.path("fast", "o")? };
    let symbolic =
        (cx.symbolic && !to_assembly).then(|| files.path("symbolic", "o")).transpose()?;
    let fast_log = files.dir.join("fast.log");
    let symbolic_log = files.dir.join("symbolic.log");
    let args = fast_args(cx, input, &fast_ir, &fast);
    // Assembly on standard output goes to the user directly.
    let messages = match fast.as_os_str() == "-" {
        true => Messages::User,
        false => Messages::File(&fast_log),
    };
    let fast_run = Run::start(cx.clang(), &args, messages, &cx.scratch)?;
    // This process instruments the symbolic half while clang compiles the fast one.
    let written =
        symbolic.as_ref().map(|_| symbolic_module.write(&symbolic_ir, &options)).transpose();
    if let Err(e) = written {
        fast_run.wait()?;
        return Err(instrument_error(e).into());
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
            compile_plain(cx, input, 1, &files.path("again", "o")?, &["-w"])?;
        }
        return Err(second_compile_error(input, &fast_log));
    }
    if symbolic_done.is_some_and(|s| !s.success()) {
        return Err(second_compile_error(input, &symbolic_log));
    }
    Ok(Halves { fast, symbolic })
}

fn instrument_options(cx: &Context) -> Result<instrument::Options, Error> {
    let (fast_models, symbolic_models) = crate::runtime::modelled_functions();
    Ok(instrument::Options {
        fast_models,
        symbolic_models,
        tokens: token_options(cx)?,
        strip_debug: !keeps_debug_info(cx),
        verify: std::env::var_os("PLEACH_VERIFY").is_some(),
    })
}

/// The user's options about token functions.
fn token_options(cx: &Context) -> Result<Tokens, Error> {
    let parse = |text: &String| {
        // A C++ name contains `::`, so a colon before the last one is part of the name.
        let (name, place) = match text.rsplit_once(':') {
            Some((name, place)) if !name.ends_with(':') => (name, place),
            _ => (text.as_str(), "ret"),
        };
        let wrong = |why: String| Error::Token(format!("-fpleach-token={text}: {why}"));
        if name.is_empty() {
            return Err(wrong("the name of the function is missing".into()));
        }
        Ok(TokenOption { name: name.into(), place: Place::parse(place).map_err(wrong)? })
    };
    let by_option = cx.inv.tokens.iter().map(parse).collect::<Result<_, _>>()?;
    Ok(Tokens { by_known_name: !cx.inv.no_token_names, by_option })
}

/// True if the user asked for debug information, or if a step of the fast half
/// reads it. Otherwise the front end still makes line tables, because sites need
/// line numbers, and they are removed later.
fn keeps_debug_info(cx: &Context) -> bool {
    let asked = cx.inv.flags().filter_map(|f| options::debug_info(f.name())).last();
    asked == Some(true) || cx.inv.flags().any(|f| options::reads_debug_info(f.name()))
}

fn second_compile_error(input: &Input, log: &Path) -> Stop {
    let text = std::fs::read(log).unwrap_or_default();
    // The first lines name the error. After a crash, clang prints many more.
    let text: Vec<_> = String::from_utf8_lossy(&text).lines().take(10).map(str::to_owned).collect();
    let text = text.join("\n");
    Error::SecondCompile { input: input.path.clone().into(), text }.into()
}

fn run_front_end(cx: &Context, input: &Input, number: usize, bitcode: &Path) -> Result<(), Stop> {
    let mut args = source_args(cx, number, true);
    args.extend(outputs::dependency_args(&cx.inv, input));
    args.extend(outputs::side_file_args(&cx.inv, input, false));
    // Some token places can be found only with type information.
    let debug = match token_options(cx)?.by_option.iter().any(|n| n.place.needs_types()) {
        true => "-g",
        false => "-gline-tables-only",
    };
    args.extend((!keeps_debug_info(cx)).then(|| debug.into()));
    let action = ["-emit-llvm-bc", "-disable-llvm-passes", "-disable-O0-optnone"];
    args.extend(action.iter().flat_map(|a| ["-Xclang".into(), OsString::from(a)]));
    // `orient` reads the names of blocks.
    args.push("-fno-discard-value-names".into());
    run_clang_on(cx, args, input, bitcode)
}

/// `-save-temps`: saves the preprocessed source. The front end's run does not stop
/// after the preprocessor. The fast half's compile saves the assembly.
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
    run_clang_on(cx, args, input, Path::new(&name))
}

/// Compiles a source without instrumentation.
fn compile_plain(
    cx: &Context,
    input: &Input,
    number: usize,
    object: &Path,
    more: &[&str],
) -> Result<(), Stop> {
    let mut args = source_args(cx, number, false);
    args.extend(outputs::dependency_args(&cx.inv, input));
    args.extend(more.iter().map(OsString::from));
    run_clang_on(cx, args, input, object)
}

/// Runs clang with these options on a source.
fn run_clang_on(
    cx: &Context,
    mut args: Vec<OsString>,
    input: &Input,
    output: &Path,
) -> Result<(), Stop> {
    args.extend(["-o".into(), output.into()]);
    if let Some(x) = &input.language {
        args.extend(["-x".into(), x.clone()]);
    }
    let looks_like_option = input.path.to_str().is_some_and(|p| p.starts_with('-') && p != "-");
    args.extend(looks_like_option.then(|| "--".into()));
    args.push(input.path.clone());
    let status = Run::start(cx.clang(), &args, Messages::User, &cx.scratch)?.wait()?;
    match status.success() {
        true => Ok(()),
        false => Err(Stop::Status(status_code(status))),
    }
}

/// The user's options for a run that reads the source. Only the run for the first
/// source reports unused options and inputs. In a link no run does, because a
/// compile cannot use the link's options.
fn source_args(cx: &Context, number: usize, instrumented: bool) -> Vec<OsString> {
    let inv = &cx.inv;
    let linking = inv.mode == Mode::Link;
    let mut args = Vec::new();
    for flag in inv.flags() {
        let name = flag.name();
        // These split clang's job into several, and each would get the replaced action.
        let splits = name.starts_with("-save-temps")
            || ["--save-temps", "-fno-integrated-as", "-no-integrated-as", "-via-file-asm"]
                .contains(&name)
            || name.starts_with("-fembed-bitcode");
        let is_database = name.starts_with("-MJ");
        if !(is_database || linking && options::is_linker_input(name) || instrumented && splits) {
            args.extend(flag.words());
        }
    }
    args.extend(super::front_end_extras(&cx.runtime));
    args.push(if inv.mode == Mode::Assembly { "-S" } else { "-c" }.into());
    if linking || number > 0 {
        args.push("-Qunused-arguments".into());
    } else {
        // So that clang warns about inputs that a compile does not use.
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
    args.extend(outputs::side_file_args(&cx.inv, input, true));
    args.push(if cx.inv.mode == Mode::Assembly { "-S" } else { "-c" }.into());
    args
}

fn symbolic_args(cx: &Context, ir: &Path, object: &Path) -> Vec<OsString> {
    let mut args = ir_args(cx, options::is_symbolic_codegen, ir, object);
    // Most of this code is cold blocks that never run. For them the basic register
    // allocator is as good as the greedy one, and it saves a third of the compile
    // time of sqlite3.c. Fast instruction selection saves another fifth; the code
    // that does run is then slower by 2 to 7 %.
    let fixed = ["-c", "-O2", "-fPIC", "-Xclang", "-disable-llvm-passes"];
    let backend = ["-regalloc=basic", "-fast-isel"];
    args.extend(fixed.iter().map(OsString::from));
    args.extend(backend.iter().flat_map(|m| ["-mllvm", m]).map(OsString::from));
    args
}
