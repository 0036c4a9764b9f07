//! The instrumented part of libstdc++ that symbolic executables are linked with.
//! `link/libstdcxx.cc` explains what it contains.
//!
//! It is compiled on the user's machine, with the same headers as the program,
//! because an object made elsewhere might not match this machine's library. This
//! takes seconds, so the object is cached beside the runtime's files. Its name
//! contains a hash of the preprocessed source and of this compiler, so it is
//! compiled again after an upgrade of the library or of Pleach.
//!
//! Two alternatives were rejected. Turning off `_GLIBCXX_EXTERN_TEMPLATE` on the
//! command line does not work: GCC 12's headers define the macro again. It would
//! not affect std::cin either, because the library constructs its buffer. Models
//! in the runtime would have to repeat number parsing for every locale.

use std::collections::hash_map::DefaultHasher;
use std::ffi::OsString;
use std::hash::Hasher;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::line::Element;
use crate::Language;
use crate::driver::compile;
use crate::driver::error::{Error, Stop};
use crate::driver::invocation::Invocation;
use crate::driver::process::{Messages, Run, Scratch, write_output};
use crate::driver::toolchain::Toolchain;
use crate::driver::{Context, options};
use crate::runtime::Runtime;

/// The object, from the cache or compiled; `None` if the program is not linked with
/// libstdc++.
pub fn instrumented_object(cx: &Context, elements: &[Element]) -> Result<Option<PathBuf>, Stop> {
    if !is_linked(cx, elements) {
        return Ok(None);
    }
    let source = cx.runtime.link_file("libstdcxx.cc");
    let mut words: Vec<OsString> = cx
        .inv
        .flags()
        .filter(|f| options::selects_cxx_library(f.name()))
        .flat_map(|f| f.words())
        .collect();
    words.extend(["-std=gnu++17", "-O2", "-w"].map(OsString::from));
    let text = cx.scratch.path().join("libstdcxx.ii");
    // Without the headers no C++ source of the program can have been compiled here.
    if !run_clang(cx, &words, &["-E", "-P"], &source, Some(&text))? {
        return Ok(None);
    }
    let mut hash = DefaultHasher::new();
    hash.write(&std::fs::read(&text).map_err(Error::io("read", &text))?);
    hash_compiler(&mut hash);
    let name = format!("libstdcxx-{:016x}.o", hash.finish());
    let cached = cx.runtime.made_file(&name).unwrap_or_else(|| cx.scratch.path().join(name));
    if cached.is_file() {
        return Ok(Some(cached));
    }
    if !run_clang(cx, &words, &["-fsyntax-only"], &source, None)? {
        eprintln!(
            "pleach-cc: warning: this version of libstdc++ is not supported: input that passes \
             through std::string or the input streams is not tracked; use the headers of \
             another GCC version (--gcc-install-dir=DIR)"
        );
        return Ok(None);
    }
    compile_object(words, &source, &cached, cx)
}

fn is_linked(cx: &Context, elements: &[Element]) -> bool {
    let named = elements.iter().any(|e| matches!(e, Element::Library(name) if name == "stdc++"));
    let without = ["-nostdlib++", "-stdlib=libc++", "-nostdlib", "-nodefaultlibs", "-nostdinc++"];
    named || cx.inv.language == Language::Cxx && !cx.inv.has_flag(&without)
}

/// Another build of this compiler may instrument differently.
fn hash_compiler(hash: &mut impl Hasher) {
    if let Ok(about) = std::env::current_exe().and_then(std::fs::metadata) {
        hash.write_u64(about.len());
        hash.write_i64(about.mtime());
        hash.write_i64(about.mtime_nsec());
    }
}

/// Runs clang on the source. True if clang succeeds.
fn run_clang(
    cx: &Context,
    words: &[OsString],
    action: &[&str],
    source: &Path,
    output: Option<&Path>,
) -> Result<bool, Error> {
    let mut args = words.to_vec();
    args.extend(action.iter().map(OsString::from));
    args.push(source.into());
    args.extend(output.into_iter().flat_map(|o| ["-o".into(), o.into()]));
    let log = cx.scratch.path().join("libstdcxx.log");
    let program = cx.toolchain.clang(Language::Cxx);
    Ok(Run::start(program, &args, Messages::File(&log), &cx.scratch)?.wait()?.success())
}

/// Compiles the source as if the user had, and caches its symbolic half.
fn compile_object(
    mut words: Vec<OsString>,
    source: &Path,
    cached: &Path,
    cx: &Context,
) -> Result<Option<PathBuf>, Stop> {
    words.extend(["-c".into(), source.into()]);
    let scratch = Scratch::new()?;
    let runtime = Runtime::install(scratch.path()).map_err(Error::io("write", scratch.path()))?;
    let inner = Context {
        inv: Invocation::parse(Language::Cxx, &words),
        toolchain: Toolchain::find()?,
        scratch,
        runtime,
        symbolic: true,
        halves: Vec::new(),
    };
    let Some(input) = inner.inv.sources().next() else { return Ok(None) };
    let Some(object) = compile::compile(&inner, input, 0)?.symbolic else { return Ok(None) };
    let bytes = std::fs::read(&object).map_err(Error::io("read", &object))?;
    if write_output(cached, &bytes).is_ok() {
        return Ok(Some(cached.to_owned()));
    }
    // If the cache cannot be written, every link compiles the object again.
    let uncached = cx.scratch.path().join("libstdcxx.o");
    write_output(&uncached, &bytes)?;
    Ok(Some(uncached))
}
