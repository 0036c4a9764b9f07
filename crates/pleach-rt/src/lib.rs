//! The runtime that is linked into every target: a static library without the
//! Rust standard library, without unwinding and without a heap of its own.
//!
//! Feature `fast` makes the fast half's archive: coverage counters, fork
//! server, input sources. Feature `symbolic` makes the symbolic half's: the
//! same, and labels. Nothing here solves anything, allocates through the
//! target's malloc, or panics into the target: a panic is a defect of ours and
//! ends the process with a message.
#![no_std]

mod daemon;
mod fuzzer;
mod growth;
mod input;
mod klee;
mod live;
mod server;
mod sleep;
mod socket;
mod start;
mod sys;
mod terminal;
mod token;
mod typed;
mod verifier;

#[cfg(feature = "fast")]
mod cover;
#[cfg(feature = "symbolic")]
mod models;
#[cfg(feature = "fast")]
mod reading;
#[cfg(feature = "symbolic")]
mod symbolic;

#[panic_handler]
fn panic(info: &core::panic::PanicInfo) -> ! {
    let line = info.location().map_or(0, |l| l.line());
    sys::say(&[b"pleach runtime: internal error at line ", &sys::decimal(line.into())[..], b"\n"]);
    sys::exit_now(125)
}
