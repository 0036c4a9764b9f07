//! Linking: the fast half by the user's own command with the runtime added,
//! the symbolic half by a command made from it, both at the same time. Then
//! the symbolic image goes into a section of the fast file.
//!
//! The image is added to the finished file rather than linked in: the two
//! links need not wait for each other, and no linker script, garbage
//! collection or `-s` can lose it.
//!
//! Much of what passes through here is not for us: a link without instrumented
//! inputs (most probes of configure scripts), relocatable output, programs
//! without libc. Such a link is clang's alone.

mod inputs;
mod library;
mod libstdcxx;
mod line;
mod models;
mod symbolic;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use inputs::Inputs;
use line::{Element, bare};

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

/// Where the C library keeps what the runtime calls, on every glibc: words for
/// the linker.
const RUNTIME_LIBRARIES: &[&str] =
    &["--push-state", "--as-needed", "-lpthread", "-ldl", "--pop-state"];

/// A symbol of the runtime that brings in all of it.
const ANCHOR: &str = "__pleach_register_module";

pub fn link(cx: &Context) -> Result<(), Stop> {
    let elements = line::elements(&cx.inv);
    let output = cx.inv.executable();
    if is_relocatable(&elements) {
        // The output is an object again, and carries what its inputs carry.
        cx.halves.iter().try_for_each(|h| super::write_object(&h.fast, h))?;
        return fast_link(cx, None);
    }
    let Some(product) = product(cx, &elements) else { return fast_link(cx, None) };
    let inputs = inputs::read(&elements, &cx.halves)?;
    if !inputs.instrumented {
        return fast_link(cx, None);
    }
    let models = models::object(cx, product, &inputs)?;
    let extra = Some(fast_extra(cx, product, &elements, models)?);
    if !inputs.symbolic || !cx.symbolic || is_special(&output) {
        return fast_link(cx, extra);
    }
    both(cx, product, &elements, inputs, extra, &output)
}

fn both(
    cx: &Context,
    product: Product,
    elements: &[Element],
    inputs: Inputs,
    extra: Option<OsString>,
    output: &Path,
) -> Result<(), Stop> {
    let image = cx.scratch.path().join("symbolic.image");
    let log = cx.scratch.path().join("symbolic.log");
    let cxx = match product {
        Product::Executable => libstdcxx::object(cx, elements)?,
        Product::Shared => None,
    };
    let args = symbolic::arguments(cx, product, elements, inputs, cxx.as_deref(), &image)?;
    let run = Run::start(cx.clang(), &args, Messages::File(&log), &cx.scratch)?;
    let fast = fast_link(cx, extra);
    let status = run.wait()?;
    fast?;
    let finish = || {
        if !status.success() {
            let text = std::fs::read(&log).unwrap_or_default();
            let text = String::from_utf8_lossy(&text).into_owned();
            return Err(Error::SymbolicLink { output: output.to_owned(), text });
        }
        let bytes = std::fs::read(&image).map_err(Error::io("read", &image))?;
        match fat::embed(output, &bytes)? {
            true => Ok(()),
            false => Err(Error::BadFile {
                path: output.to_owned(),
                what: "the linker left no section headers, so the symbolic half has no place"
                    .into(),
            }),
        }
    };
    finish().map_err(|e| {
        // An executable that looks finished would hide the failure from make.
        let _ = std::fs::remove_file(output);
        e.into()
    })
}

/// The user's link, with `extra` at its end.
fn fast_link(cx: &Context, extra: Option<OsString>) -> Result<(), Stop> {
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
    // The compile had the options that the link does not use.
    if !cx.halves.is_empty() {
        args.push("-Qunused-arguments".into());
    }
    args.extend(extra);
    let status = Run::start(cx.clang(), &args, Messages::User, &cx.scratch)?.wait()?;
    match status.success() {
        true => Ok(()),
        false => Err(Stop::Status(status_code(status))),
    }
}

/// What the fast half is linked with besides, as one argument. The linker reads
/// the words from a file: libtool looks at what `-v` shows of a link, and would
/// make our objects part of every library from then on.
fn fast_extra(
    cx: &Context,
    product: Product,
    elements: &[Element],
    models: Option<PathBuf>,
) -> Result<OsString, Error> {
    let file = |name: &str| OsString::from(cx.runtime.link_file(name));
    let mut words: Vec<OsString> = Vec::new();
    // The user's last word may be --whole-archive.
    let open = has_option(elements, &["whole-archive"]);
    if open {
        words.extend(["--push-state".into(), "--no-whole-archive".into()]);
    }
    words.extend(models.map(OsString::from));
    match product {
        Product::Shared => words.push(file("shared_fast.o")),
        Product::Executable => {
            words.extend(["-u".into(), ANCHOR.into()]);
            // For libraries that are loaded later. gold has no such option.
            if !cx.inv.has(&["-fuse-ld=gold"]) {
                words.push("--export-dynamic-symbol=__pleach_*".into());
            }
            if cx.inv.fuzzer {
                words.push(file("libpleach_fuzzer.a"));
            }
            words.push(file("libpleach_rt_fast.a"));
            words.extend(RUNTIME_LIBRARIES.iter().map(OsString::from));
        }
    }
    if open {
        words.push("--pop-state".into());
    }
    // Last, so that its page lies behind every counter.
    words.push(file("counters.o"));
    let path = cx.scratch.path().join("fast.words");
    std::fs::write(&path, response::quote(&words)).map_err(Error::io("write", &path))?;
    let mut argument = OsString::from("-Wl,@");
    argument.push(path);
    Ok(argument)
}

/// Whether the driver or the linker gets one of these options (without dashes).
fn has_option(elements: &[Element], names: &[&str]) -> bool {
    elements.iter().any(|e| match e {
        Element::Driver(f) | Element::Linker(f) => names.contains(&bare(f.name())),
        _ => false,
    })
}

fn is_relocatable(elements: &[Element]) -> bool {
    has_option(elements, &["r", "relocatable"])
}

/// What is linked, if it is something for us.
fn product(cx: &Context, elements: &[Element]) -> Option<Product> {
    if has_option(elements, &["shared", "Bshareable"]) {
        return Some(Product::Shared);
    }
    let bare_metal =
        cx.inv.has(&["-nostdlib", "-nodefaultlibs", "-nolibc", "--no-standard-libraries"]);
    let libc = elements.iter().any(|e| match e {
        Element::Library(name) => name == "c" || name == ":libc.a" || name == ":libc.so",
        Element::File(path) => {
            let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
            name.starts_with("libc.so") || name == "libc.a" || name.starts_with("libc-2.")
        }
        _ => false,
    });
    (!bare_metal || libc).then_some(Product::Executable)
}

/// `/dev/null` and its like: there is no file to keep the symbolic half in.
fn is_special(output: &Path) -> bool {
    output.as_os_str() == "-"
        || std::fs::metadata(output).is_ok_and(|m| !m.is_file() && !m.is_dir())
}
