//! Forwarders for modelled functions in the fast half.
//!
//! An instrumented object calls `__pleach_m_read` where the source calls `read`.
//! The runtime in the executable defines this model. In two cases the link adds a
//! forwarder: a function `__pleach_m_read` that jumps to the real `read`.
//! - The program defines or wraps `read` itself. Then calls must go there. In a
//!   shared library the forwarder is hidden, so that the executable's model cannot
//!   replace it.
//! - A shared library may be loaded into a program without the runtime. Here the
//!   forwarder is weak: the executable's model replaces it, if there is one.
//!
//! The symbolic half needs no forwarders: its objects are rewritten before the
//! link, and its libraries never run outside Pleach.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::PathBuf;

use super::Product;
use super::inputs::Inputs;
use crate::driver::Context;
use crate::driver::elf::MODEL_PREFIX;
use crate::driver::error::{Error, Stop};
use crate::driver::process::{Messages, Run, status_code};

/// Assembles an object with the forwarders; `None` if none is needed.
pub fn compile_forwarders(
    cx: &Context,
    product: Product,
    inputs: &Inputs,
) -> Result<Option<PathBuf>, Stop> {
    let mut text = String::new();
    for name in &inputs.fast_models {
        let is_defined = inputs.defined.contains(name);
        let name = String::from_utf8_lossy(name);
        let binding = match (product, is_defined) {
            (Product::Executable, false) => continue,
            (Product::Executable, true) => vec![".globl"],
            (Product::Shared, true) => vec![".globl", ".hidden"],
            (Product::Shared, false) => vec![".weak"],
        };
        // Writing to a string cannot fail.
        for directive in binding {
            let _ = writeln!(text, "{directive} {MODEL_PREFIX}{name}");
        }
        let model = format!("{MODEL_PREFIX}{name}");
        let _ = writeln!(text, ".type {model}, @function\n{model}: jmp {name}@PLT");
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
