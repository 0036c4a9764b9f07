//! The functions that programs of the competitions on software testing and on software
//! verification declare but do not define (`__VERIFIER_*`). There is no header: each
//! program declares what it calls, sometimes with a wrong type. So every number is returned
//! in the whole register, extended by the sign of its own type, and the compiler resizes
//! its label to the declared width (`__pleach_resize_result`).
//!
//! All names are weak (the build of the archive does that): a program may define its own.

use crate::call_log;
use crate::typed::{Number, pleach_bytes, take_number};
use core::ffi::{c_int, c_void};

unsafe extern "C" {
    fn abort() -> !;
}

impl Number {
    /// The number extended to 64 bits.
    fn extended(self, signed: bool) -> u64 {
        let up = 64 - self.bits;
        if signed { ((self.val << up) as i64 >> up) as u64 } else { self.val }
    }
}

macro_rules! nondet {
    ($($name:ident: $bits:literal $signed:literal;)*) => {
        $(
            #[unsafe(no_mangle)]
            pub extern "C" fn $name() -> u64 {
                let n = take_number($bits);
                #[cfg(feature = "symbolic")]
                crate::symbolic::calls::set_signed_result($signed);
                n.return_from($name as *const () as usize);
                let all = n.extended($signed);
                call_log::record(stringify!($name), all.into());
                all
            }
        )*
    };
}

nondet! {
    __VERIFIER_nondet_char: 8 true;
    __VERIFIER_nondet_uchar: 8 false;
    __VERIFIER_nondet_short: 16 true;
    __VERIFIER_nondet_ushort: 16 false;
    __VERIFIER_nondet_int: 32 true;
    __VERIFIER_nondet_uint: 32 false;
    __VERIFIER_nondet_unsigned: 32 false;
    __VERIFIER_nondet_long: 64 true;
    __VERIFIER_nondet_ulong: 64 false;
    __VERIFIER_nondet_longlong: 64 true;
    __VERIFIER_nondet_ulonglong: 64 false;
    __VERIFIER_nondet_s8: 8 true;
    __VERIFIER_nondet_s16: 16 true;
    __VERIFIER_nondet_s32: 32 true;
    __VERIFIER_nondet_s64: 64 true;
    __VERIFIER_nondet_u8: 8 false;
    __VERIFIER_nondet_u16: 16 false;
    __VERIFIER_nondet_u32: 32 false;
    __VERIFIER_nondet_u64: 64 false;
    __VERIFIER_nondet_size_t: 64 false;
    __VERIFIER_nondet_ssize_t: 64 true;
    __VERIFIER_nondet_loff_t: 64 true;
    __VERIFIER_nondet_off_t: 64 true;
    __VERIFIER_nondet_sector_t: 64 false;
    __VERIFIER_nondet_pthread_t: 64 false;
    __VERIFIER_nondet_pointer: 64 false;
    __VERIFIER_nondet_pchar: 64 false;
    __VERIFIER_nondet_charp: 64 false;
}

/// 0 or 1: the lowest bit of one byte.
#[unsafe(no_mangle)]
pub extern "C" fn __VERIFIER_nondet_bool() -> u64 {
    let n = take_number(8);
    let one = Number { val: n.val & 1, bits: 1, label: 0 };
    #[cfg(feature = "symbolic")]
    let one = {
        crate::symbolic::calls::set_signed_result(false);
        let lowest = crate::models::api::V::arg(n.label, 8, n.val).trunc(1);
        Number { label: lowest.label, ..one }
    };
    call_log::record("bool", one.val.into());
    one.return_from(__VERIFIER_nondet_bool as *const () as usize)
}

macro_rules! wide {
    ($($name:ident;)*) => {
        $(
            #[unsafe(no_mangle)]
            pub extern "C" fn $name() -> u128 {
                let mut val = 0u128;
                let at = &raw mut val;
                pleach_bytes(at.cast(), 16);
                #[cfg(feature = "symbolic")]
                {
                    use crate::symbolic::{calls, shadow, tls};
                    calls::set_signed_result(false);
                    let label = shadow::load(at as u64, 128);
                    shadow::clear(at as u64, 16);
                    tls::set_result($name as *const () as usize, label);
                }
                // Safety: a local variable; volatile, since the call wrote to it by address.
                let val = unsafe { at.read_volatile() };
                call_log::record(stringify!($name), val);
                val
            }
        )*
    };
}

wide! {
    __VERIFIER_nondet_int128;
    __VERIFIER_nondet_uint128;
    __VERIFIER_nondet_u128;
}

macro_rules! float {
    ($($name:ident: $t:ident $bits:literal $n:ident;)*) => {
        $(
            #[unsafe(no_mangle)]
            pub extern "C" fn $name() -> $t {
                let n = take_number($bits);
                #[cfg(feature = "symbolic")]
                crate::symbolic::tls::set_result($name as *const () as usize, n.label);
                call_log::record(stringify!($name), n.val.into());
                $t::from_bits(n.val as $n)
            }
        )*
    };
}

float! {
    __VERIFIER_nondet_float: f32 32 u32;
    __VERIFIER_nondet_double: f64 64 u64;
}

/// # Safety
/// There is room for `n` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __VERIFIER_nondet_memory(at: *mut c_void, n: usize) {
    crate::typed::pin_arguments(
        __VERIFIER_nondet_memory as *const () as usize,
        [(at as u64, 64), (n as u64, 64)],
    );
    pleach_bytes(at.cast(), n);
}

/// Ends the run if the condition does not hold.
#[unsafe(no_mangle)]
pub extern "C" fn __VERIFIER_assume(holds: c_int) {
    let me = __VERIFIER_assume as *const () as usize;
    let condition = Number::argument::<1>(me, holds as u32 as u64, 32);
    #[cfg(feature = "symbolic")]
    let condition = condition.as_wide_as_label();
    condition.assume();
}

#[unsafe(no_mangle)]
pub extern "C" fn __VERIFIER_error() -> ! {
    // Safety: ends the program like a failed `assert`.
    unsafe { abort() }
}

/// Most programs define it themselves.
#[unsafe(no_mangle)]
pub extern "C" fn reach_error() -> ! {
    __VERIFIER_error()
}
