//! The functions behind `klee/klee.h` and `crest.h`, so that programs written for KLEE and
//! CREST run unchanged. A symbolic object takes the next bytes of the input. An assumption
//! that does not hold ends the run with status 0.

use crate::sys;
use crate::typed::{Number, end_run, pin_arguments, pleach_bytes, take_number};
use core::ffi::{CStr, c_char, c_int, c_void};

unsafe extern "C" {
    fn abort() -> !;
}

/// # Safety
/// There is room for `n` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn klee_make_symbolic(addr: *mut c_void, n: usize, _name: *const c_char) {
    pin_arguments(klee_make_symbolic as *const () as usize, [(addr as u64, 64), (n as u64, 64)]);
    pleach_bytes(addr.cast(), n);
}

#[unsafe(no_mangle)]
pub extern "C" fn klee_int(_name: *const c_char) -> c_int {
    take_number(32).return_from(klee_int as *const () as usize) as c_int
}

/// A number from `begin` to `end - 1`.
#[unsafe(no_mangle)]
pub extern "C" fn klee_range(begin: c_int, end: c_int, _name: *const c_char) -> c_int {
    let me = klee_range as *const () as usize;
    pin_arguments(me, [(begin as u32 as u64, 32), (end as u32 as u64, 32)]);
    if begin >= end {
        print_line(c"klee_range: the range is empty");
        // Safety: ends the program like a failed `assert`.
        unsafe { abort() }
    }
    if i64::from(begin) + 1 == i64::from(end) {
        return begin;
    }
    let n = take_number(32);
    n.assume_between(begin as u32 as u64, (end - 1) as u32 as u64, true);
    n.return_from(me) as c_int
}

/// A number below `n`.
#[unsafe(no_mangle)]
pub extern "C" fn klee_choose(n: usize) -> usize {
    let me = klee_choose as *const () as usize;
    pin_arguments(me, [(n as u64, 64)]);
    let x = take_number(64);
    if n == 0 {
        end_run();
    }
    x.assume_between(0, n as u64 - 1, false);
    x.return_from(me) as usize
}

#[unsafe(no_mangle)]
pub extern "C" fn klee_assume(holds: usize) {
    Number::argument::<1>(klee_assume as *const () as usize, holds as u64, 64).assume();
}

#[unsafe(no_mangle)]
pub extern "C" fn klee_silent_exit(status: c_int) -> ! {
    Number::argument::<1>(klee_silent_exit as *const () as usize, 0, 32);
    // Safety: a program may call it at any time.
    unsafe { sys::exit(status) }
}

#[unsafe(no_mangle)]
pub extern "C" fn klee_abort() -> ! {
    // Safety: as above.
    unsafe { abort() }
}

/// # Safety
/// The arguments are strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn klee_report_error(
    file: *const c_char,
    line: c_int,
    message: *const c_char,
    _suffix: *const c_char,
) -> ! {
    // Safety: the caller guarantees it.
    let (file, message) = unsafe { (CStr::from_ptr(file), CStr::from_ptr(message)) };
    let line = sys::decimal(line.max(0) as u64);
    sys::print_error(&[file.to_bytes(), b":", &line, b": ", message.to_bytes(), b"\n"]);
    klee_abort()
}

fn print_line(message: &CStr) {
    sys::print_error(&[message.to_bytes(), b"\n"]);
}

/// # Safety
/// The argument is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn klee_warning(message: *const c_char) {
    // Safety: the caller guarantees it.
    print_line(unsafe { CStr::from_ptr(message) });
}

/// # Safety
/// The argument is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn klee_warning_once(message: *const c_char) {
    static mut PRINTED: [*const c_char; 64] = [core::ptr::null(); 64];
    // Safety: the caller guarantees it; a race prints a message twice at worst.
    unsafe {
        let printed = &mut *&raw mut PRINTED;
        let place = printed.iter().position(|&m| m == message || m.is_null());
        if place.is_some_and(|i| printed[i] == message) {
            return;
        }
        if let Some(i) = place {
            printed[i] = message;
        }
        klee_warning(message);
    }
}

/// Always 0: both halves must behave alike, and the fast half has no symbolic values.
#[unsafe(no_mangle)]
pub extern "C" fn klee_is_symbolic(_n: usize) -> u32 {
    Number::argument::<1>(klee_is_symbolic as *const () as usize, 0, 64);
    0
}

/// Always 1: every run replays one concrete input.
#[unsafe(no_mangle)]
pub extern "C" fn klee_is_replay() -> u32 {
    1
}

#[unsafe(no_mangle)]
pub extern "C" fn klee_get_errno() -> c_int {
    // Safety: glibc returns the address of this thread's errno.
    unsafe { *sys::__errno_location() }
}

macro_rules! values {
    ($($name:ident: $t:ty;)*) => {
        $(
            /// The same value without its label.
            #[unsafe(no_mangle)]
            pub extern "C" fn $name(n: $t) -> $t {
                Number::argument::<1>($name as *const () as usize, 0, 32);
                n
            }
        )*
    };
}

values! {
    klee_get_valuef: f32;
    klee_get_valued: f64;
    klee_get_valuel: i64;
    klee_get_valuell: i64;
    klee_get_value_i32: i32;
    klee_get_value_i64: i64;
}

macro_rules! nothing {
    ($($name:ident;)*) => {
        $(
            /// Does nothing: it has a meaning for KLEE's engine only.
            #[unsafe(no_mangle)]
            pub extern "C" fn $name() {
                Number::argument::<1>($name as *const () as usize, 0, 32);
            }
        )*
    };
}

// Arguments of the caller are ignored; the calling convention allows that.
nothing! {
    klee_define_fixed_object;
    klee_mark_global;
    klee_alias_function;
    klee_print_expr;
    klee_print_range;
    klee_prefer_cex;
    klee_posix_prefer_cex;
    klee_check_memory_access;
    klee_set_forking;
    klee_stack_trace;
    klee_open_merge;
    klee_close_merge;
}

macro_rules! crest {
    ($($name:ident: $t:ty;)*) => {
        $(
            /// # Safety
            /// The pointer is valid.
            #[allow(non_snake_case, reason = "CREST's name")]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(x: *mut $t) {
                pleach_bytes(x.cast(), size_of::<$t>());
            }
        )*
    };
}

crest! {
    __CrestUChar: u8;
    __CrestUShort: u16;
    __CrestUInt: u32;
    __CrestChar: i8;
    __CrestShort: i16;
    __CrestInt: i32;
}
