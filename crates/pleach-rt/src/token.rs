//! Tokens that the source marks: what is behind `pleach_token` and
//! `pleach_token_begin` of `pleach.h`. The fast half has no tokens.

use crate::typed::settle;
use core::ffi::{c_int, c_void};

/// The number at `at` is a token. (Of `pleach_token(&x)`, with what the compiler
/// knows of `x`.)
///
/// # Safety
/// `bytes` bytes are there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pleach_token_at(at: *const c_void, bytes: usize, signed: c_int) {
    let me = pleach_token_at as *const () as usize;
    settle(me, [(at as u64, 64), (bytes as u64, 64), (signed as u32 as u64, 32)]);
    #[cfg(feature = "symbolic")]
    crate::symbolic::tokens::mark(at as u64, bytes, signed != 0);
}

/// The bytes of the next token are looked at from here on.
#[unsafe(no_mangle)]
pub extern "C" fn pleach_token_begin() {
    #[cfg(feature = "symbolic")]
    {
        // Above all frames that the runtime has under the caller's.
        const ABOVE: u64 = 64;
        let here = 0u8;
        crate::symbolic::tokens::begin(core::hint::black_box(&raw const here) as u64 + ABOVE);
    }
}
