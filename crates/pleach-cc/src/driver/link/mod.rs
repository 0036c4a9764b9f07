//! Links both halves in parallel: the fast half by the user's own command plus the
//! runtime, the symbolic half by a command derived from it. Then the symbolic image
//! is added to the fast file as a section.
//!
//! The image is added to the finished file rather than linked in. So the two links
//! need not wait for each other, and no linker script, garbage collection or `-s`
//! can remove it.
//!
//! Many links need no instrumentation: links without instrumented inputs (most
//! tests of configure scripts), relocatable output, programs without libc. clang
//! does these alone.

mod inputs;
mod library;
mod libstdcxx;
mod line;
mod models;
mod symbolic;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use inputs::Inputs;
use line::{Element, without_dashes};

use super::Context;
use super::error::{Error, Stop};
use super::fat;
use super::invocation::{Arg, Kind};
use super::process::{Messages, Run, status_code};
use super::response;

/// What the link makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Product {
    Executable,
    Shared,
}

/// Linker options for the libraries that the runtime calls. Old versions of glibc
/// have them apart from libc.
const RUNTIME_LIBRARIES: &[&str] =
    &["--push-state", "--as-needed", "-lpthread", "-ldl", "--pop-state"];

/// A symbol of the runtime. A reference to it links the whole runtime.
const ANCHOR: &str = "__pleach_register_module";

pub fn link(cx: &Context) -> Result<(), Stop> {
    let elements = line::elements(&cx.inv);
    let output = cx.inv.executable();
    if is_relocatable(&elements) {
        // The output is an object. The linker copies the inputs' symbolic halves to it.
        cx.halves.iter().try_for_each(|h| super::write_object(&h.fast, h))?;
        return fast_link(cx, None);
    }
    let Some(product) = product_with_libc(cx, &elements) else { return fast_link(cx, None) };
    let inputs = inputs::read(&elements, &cx.halves)?;
    if !inputs.has_instrumented {
        return fast_link(cx, None);
    }
    let forwarders = models::compile_forwarders(cx, product, &inputs)?;
    let runtime = Some(fast_runtime_argument(cx, product, &elements, forwarders)?);
    if !inputs.has_symbolic || !cx.symbolic || is_device(&output) {
        return fast_link(cx, runtime);
    }
    link_both(cx, product, &elements, inputs, runtime, &output)
}

fn link_both(
    cx: &Context,
    product: Product,
    elements: &[Element],
    inputs: Inputs,
    runtime: Option<OsString>,
    output: &Path,
) -> Result<(), Stop> {
    let image = cx.scratch.path().join("symbolic.image");
    let log = cx.scratch.path().join("symbolic.log");
    let cxx = match product {
        Product::Executable => libstdcxx::instrumented_object(cx, elements)?,
        Product::Shared => None,
    };
    let args = symbolic::arguments(cx, product, elements, inputs, cxx.as_deref(), &image)?;
    let run = Run::start(cx.clang(), &args, Messages::File(&log), &cx.scratch)?;
    let fast = fast_link(cx, runtime);
    let status = run.wait()?;
    fast?;
    let finish = || {
        if !status.success() {
            let text = std::fs::read(&log).unwrap_or_default();
            let text = String::from_utf8_lossy(&text).into_owned();
            return Err(Error::SymbolicLink { output: output.to_owned(), text });
        }
        let bytes = std::fs::read(&image).map_err(Error::io("read", &image))?;
        match fat::embed_image(output, &bytes)? {
            true => Ok(()),
            false => Err(Error::BadFile {
                path: output.to_owned(),
                what: "the linker wrote no section headers, so the symbolic half cannot be \
                       added; link without options that remove them, or with \
                       -fno-pleach-symbolic"
                    .into(),
            }),
        }
    };
    finish().map_err(|e| {
        // If the file stayed, make would take it for complete.
        let _ = std::fs::remove_file(output);
        e.into()
    })
}

/// Runs the user's link, with `runtime` as the last argument.
fn fast_link(cx: &Context, runtime: Option<OsString>) -> Result<(), Stop> {
    let mut args = Vec::new();
    let mut halves = cx.halves.iter();
    for arg in &cx.inv.args {
        match arg {
            Arg::Flag(flag) => args.extend(flag.words()),
            Arg::Input(input) if cx.inv.kind(input) == Kind::Linked => {
                args.push(input.path.clone())
            }
            Arg::Input(_) => args.extend(halves.next().map(|h| h.fast.clone().into())),
        }
    }
    if let Some(output) = &cx.inv.output {
        args.extend(["-o".into(), output.clone()]);
    }
    // The compile has used the options that the link does not use.
    if !cx.halves.is_empty() {
        args.push("-Qunused-arguments".into());
    }
    args.extend(runtime);
    let status = Run::start(cx.clang(), &args, Messages::User, &cx.scratch)?.wait()?;
    match status.success() {
        true => Ok(()),
        false => Err(Stop::Status(status_code(status))),
    }
}

/// The runtime and its options for the link of the fast half, as one argument. The
/// linker reads the words from a file: libtool parses the output of `-v` and would
/// otherwise add these objects to every library.
fn fast_runtime_argument(
    cx: &Context,
    product: Product,
    elements: &[Element],
    forwarders: Option<PathBuf>,
) -> Result<OsString, Error> {
    let file = |name: &str| OsString::from(cx.runtime.link_file(name));
    let mut words: Vec<OsString> = Vec::new();
    // The user's --whole-archive may still be in effect.
    let has_whole_archive = has_option(elements, &["whole-archive"]);
    if has_whole_archive {
        words.extend(["--push-state".into(), "--no-whole-archive".into()]);
    }
    words.extend(forwarders.map(OsString::from));
    match product {
        Product::Shared => words.push(file("shared_fast.o")),
        Product::Executable => {
            words.extend(["-u".into(), ANCHOR.into()]);
            // Libraries that the program loads later need these symbols. gold does not
            // know the option.
            if !cx.inv.has_flag(&["-fuse-ld=gold"]) {
                words.push("--export-dynamic-symbol=__pleach_*".into());
            }
            if cx.inv.fuzzer {
                words.extend(driver_path(cx)?.map(OsString::from));
                words.push(file("libpleach_fuzzer.a"));
            }
            words.push(file("libpleach_rt_fast.a"));
            words.extend(RUNTIME_LIBRARIES.iter().map(OsString::from));
        }
    }
    if has_whole_archive {
        words.push("--pop-state".into());
    }
    // Last, so that its page comes after all counters.
    words.push(file("counters.o"));
    let path = cx.scratch.path().join("fast.words");
    std::fs::write(&path, response::quote(&words)).map_err(Error::io("write", &path))?;
    let mut argument = OsString::from("-Wl,@");
    argument.push(path);
    Ok(argument)
}

/// An object with the path of the `pleach` beside this compiler. A fuzz target starts it.
fn driver_path(cx: &Context) -> Result<Option<PathBuf>, Error> {
    let compiler = std::env::current_exe().unwrap_or_default();
    // An installed compiler is in libexec/pleach of its prefix.
    let dir = compiler.parent().unwrap_or(Path::new("/"));
    let installed = dir.join("../../bin/pleach").canonicalize();
    let beside = dir.join("pleach");
    let path = if beside.exists() { beside } else { installed.unwrap_or(beside) };
    let Some(path) = path.to_str().filter(|path| !path.contains(['"', '\\', '\n'])) else {
        return Ok(None);
    };
    let source = cx.scratch.path().join("driver.s");
    let object = cx.scratch.path().join("driver.o");
    let text = format!(
        ".section .rodata\n.globl __pleach_driver\n__pleach_driver:\n.asciz \"{path}\"\n\
         .section .note.GNU-stack,\"\",@progbits\n"
    );
    std::fs::write(&source, text).map_err(Error::io("write", &source))?;
    let args = ["-c".into(), source.into(), "-o".into(), object.clone().into()];
    let status = Run::start(cx.clang(), &args, Messages::User, &cx.scratch)?.wait()?;
    Ok(status.success().then_some(object))
}

/// True if the driver or the linker gets one of these options (without dashes).
fn has_option(elements: &[Element], names: &[&str]) -> bool {
    elements.iter().any(|e| match e {
        Element::Driver(f) | Element::Linker(f) => names.contains(&without_dashes(f.name())),
        _ => false,
    })
}

fn is_relocatable(elements: &[Element]) -> bool {
    has_option(elements, &["r", "relocatable"])
}

/// What the link makes; `None` for a program without libc, which cannot have the
/// runtime.
fn product_with_libc(cx: &Context, elements: &[Element]) -> Option<Product> {
    if has_option(elements, &["shared", "Bshareable"]) {
        return Some(Product::Shared);
    }
    let omits_libc =
        cx.inv.has_flag(&["-nostdlib", "-nodefaultlibs", "-nolibc", "--no-standard-libraries"]);
    let names_libc = elements.iter().any(|e| match e {
        Element::Library(name) => name == "c" || name == ":libc.a" || name == ":libc.so",
        Element::File(path) => {
            let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
            name.starts_with("libc.so") || name == "libc.a" || name.starts_with("libc-2.")
        }
        _ => false,
    });
    (!omits_libc || names_libc).then_some(Product::Executable)
}

/// True for `/dev/null` and other devices, which cannot hold a symbolic half.
fn is_device(output: &Path) -> bool {
    output.as_os_str() == "-"
        || std::fs::metadata(output).is_ok_and(|m| !m.is_file() && !m.is_dir())
}
