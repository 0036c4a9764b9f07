//! The instrumented part of libstdc++ that symbolic executables are linked with.
//!
//! `link/libstdcxx.cc` says what it is. It is compiled here, from the headers
//! that the program itself is compiled with, because a binary made elsewhere
//! might not fit this machine's library. That takes seconds, so the object is
//! kept beside the runtime's files. What the preprocessor makes of the source
//! names it, and the compiler that made it: after an upgrade of the library or
//! of ours it is made anew.
//!
//! Two other ways were looked at. The macro `_GLIBCXX_EXTERN_TEMPLATE` cannot be
//! turned off from the command line: GCC 12's headers define it anew. And it
//! would not reach std::cin, whose buffer the library constructs. Models in the
//! runtime would have to say again what number parsing does in every locale.

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

/// The object, if the program is linked with libstdc++.
pub fn object(cx: &Context, elements: &[Element]) -> Result<Option<PathBuf>, Stop> {
    if !is_linked(cx, elements) {
        return Ok(None);
    }
    let source = cx.runtime.link_file("libstdcxx.cc");
    let mut words: Vec<OsString> = cx
        .inv
        .flags()
        .filter(|f| options::selects_library(f.name()))
        .flat_map(|f| f.words())
        .collect();
    words.extend(["-std=gnu++17", "-O2", "-w"].map(OsString::from));
    let text = cx.scratch.path().join("libstdcxx.ii");
    // Without the headers there is no program whose strings could be labelled.
    if !clang(cx, &words, &["-E", "-P"], &source, Some(&text))? {
        return Ok(None);
    }
    let mut hash = DefaultHasher::new();
    hash.write(&std::fs::read(&text).map_err(Error::io("read", &text))?);
    identify_compiler(&mut hash);
    let kept = cx.runtime.link_file(&format!("libstdcxx-{:016x}.o", hash.finish()));
    if kept.is_file() {
        return Ok(Some(kept));
    }
    if !clang(cx, &words, &["-fsyntax-only"], &source, None)? {
        eprintln!(
            "pleach-cc: warning: unknown version of libstdc++: what passes through its \
             compiled parts stays concrete"
        );
        return Ok(None);
    }
    make(words, &source, &kept, cx)
}

fn is_linked(cx: &Context, elements: &[Element]) -> bool {
    let named = elements.iter().any(|e| matches!(e, Element::Library(name) if name == "stdc++"));
    let without = ["-nostdlib++", "-stdlib=libc++", "-nostdlib", "-nodefaultlibs", "-nostdinc++"];
    named || cx.inv.language == Language::Cxx && !cx.inv.has(&without)
}

/// A compiler that was built anew may instrument otherwise.
fn identify_compiler(hash: &mut impl Hasher) {
    if let Ok(about) = std::env::current_exe().and_then(std::fs::metadata) {
        hash.write_u64(about.len());
        hash.write_i64(about.mtime());
        hash.write_i64(about.mtime_nsec());
    }
}

/// Runs clang on the source; whether it was content.
fn clang(
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

/// Compiles the source as if the user had, and keeps its symbolic half.
fn make(
    mut words: Vec<OsString>,
    source: &Path,
    kept: &Path,
    cx: &Context,
) -> Result<Option<PathBuf>, Stop> {
    words.extend(["-c".into(), source.into()]);
    let scratch = Scratch::new()?;
    let runtime = Runtime::install(scratch.path()).map_err(Error::io("write", scratch.path()))?;
    let own = Context {
        inv: Invocation::parse(Language::Cxx, &words),
        toolchain: Toolchain::find()?,
        scratch,
        runtime,
        symbolic: true,
        halves: Vec::new(),
    };
    let Some(input) = own.inv.sources().next() else { return Ok(None) };
    let Some(made) = compile::compile(&own, input, 0)?.symbolic else { return Ok(None) };
    let bytes = std::fs::read(&made).map_err(Error::io("read", &made))?;
    if write_output(kept, &bytes).is_ok() {
        return Ok(Some(kept.to_owned()));
    }
    // A cache that cannot be written to costs time, and nothing else.
    let once = cx.scratch.path().join("libstdcxx.o");
    write_output(&once, &bytes)?;
    Ok(Some(once))
}
