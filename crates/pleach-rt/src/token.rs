//! Tokens that the source marks: the functions behind `pleach_token` and
//! `pleach_token_begin` of `pleach.h`. In the fast half they do nothing.

use crate::typed::pin_arguments;
use core::ffi::{c_int, c_void};

/// Makes the number at `at` a token. `pleach_token(&x)` expands to this, with the size and
/// the sign of `x`.
///
/// # Safety
/// `at` points to `bytes` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pleach_token_at(at: *const c_void, bytes: usize, signed: c_int) {
    let me = pleach_token_at as *const () as usize;
    pin_arguments(me, [(at as u64, 64), (bytes as u64, 64), (signed as u32 as u64, 32)]);
    #[cfg(feature = "symbolic")]
    crate::symbolic::tokens::mark(at as u64, bytes, signed != 0);
}

/// From here on the program examines the bytes of the next token.
#[unsafe(no_mangle)]
pub extern "C" fn pleach_token_begin() {
    #[cfg(feature = "symbolic")]
    {
        // The address must be above the frame of this function.
        const ABOVE: u64 = 64;
        let here = 0u8;
        crate::symbolic::tokens::begin(core::hint::black_box(&raw const here) as u64 + ABOVE);
    }
}
