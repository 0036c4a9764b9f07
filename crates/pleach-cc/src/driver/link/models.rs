//! Calls of modelled functions in the fast half.
//!
//! An instrumented object calls `__pleach_m_read` where the source calls
//! `read`, and the runtime in the executable has the model. Two cases need a
//! function of that name which goes on to the real one:
//! - The program has a `read` of its own (or wraps it). Then that one is meant.
//!   In a library the name is hidden, so that the model of an executable cannot
//!   take its place.
//! - A shared library may be loaded into a program that has no runtime. Its
//!   own name is weak and gives way to the model of an executable that has one.
//!
//! The symbolic half does without this: its objects are rewritten on their way
//! into the link, and its libraries never run anywhere else.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::PathBuf;

use super::Product;
use super::inputs::Inputs;
use crate::driver::Context;
use crate::driver::elf::MODEL;
use crate::driver::error::{Error, Stop};
use crate::driver::process::{Messages, Run, status_code};

/// An object with these functions, if any is needed.
pub fn object(cx: &Context, product: Product, inputs: &Inputs) -> Result<Option<PathBuf>, Stop> {
    let mut text = String::new();
    for name in &inputs.fast_models {
        let own = inputs.own.contains(name);
        let name = String::from_utf8_lossy(name);
        let binding = match (product, own) {
            (Product::Executable, false) => continue,
            (Product::Executable, true) => vec![".globl"],
            (Product::Shared, true) => vec![".globl", ".hidden"],
            (Product::Shared, false) => vec![".weak"],
        };
        // Writing to a string cannot fail.
        for directive in binding {
            let _ = writeln!(text, "{directive} {MODEL}{name}");
        }
        let _ = writeln!(text, ".type {MODEL}{name}, @function\n{MODEL}{name}: jmp {name}@PLT");
    }
    if text.is_empty() {
        return Ok(None);
    }
    text.push_str(".section .note.GNU-stack,\"\",@progbits\n");
    let source = cx.scratch.path().join("models.s");
    let object = cx.scratch.path().join("models.o");
    std::fs::write(&source, text).map_err(Error::io("write", &source))?;
    let args = ["-c".into(), source.into(), "-o".into(), OsString::from(&object)];
    let status = Run::start(cx.clang(), &args, Messages::User, &cx.scratch)?.wait()?;
    match status.success() {
        true => Ok(Some(object)),
        false => Err(Stop::Status(status_code(status))),
    }
}
