//! The runtime that is linked into every target: a static library without the
//! Rust standard library, without unwinding and without a heap of its own.
//!
//! Feature `fast` builds the archive of the fast half: coverage counters, fork
//! server, input sources. Feature `symbolic` builds the archive of the symbolic
//! half: the same, and labels. The runtime solves nothing. It never unwinds into
//! the target: a panic is a bug in Pleach and ends the process with a message.
#![no_std]

mod by_hand;
mod call_log;
mod daemon;
mod fork;
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
mod batch;
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
    sys::print_error(&[
        b"pleach runtime: internal error at line ",
        &sys::decimal(line.into())[..],
        b"\n",
    ]);
    sys::exit_now(125)
}
