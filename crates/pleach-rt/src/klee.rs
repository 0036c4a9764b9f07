//! The functions behind `klee/klee.h` and `crest.h`, so that programs written
//! for those tools run unchanged. Symbolic objects take the next bytes of the
//! input; an assumption that does not hold ends the run quietly, with status 0.

use crate::sys;
use crate::typed::{Number, draw, leave, pleach_bytes, settle};
use core::ffi::{CStr, c_char, c_int, c_void};

unsafe extern "C" {
    fn abort() -> !;
}

/// # Safety
/// `n` bytes are there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn klee_make_symbolic(addr: *mut c_void, n: usize, _name: *const c_char) {
    settle(klee_make_symbolic as *const () as usize, [(addr as u64, 64), (n as u64, 64)]);
    pleach_bytes(addr.cast(), n);
}

#[unsafe(no_mangle)]
pub extern "C" fn klee_int(_name: *const c_char) -> c_int {
    draw(32).give_back(klee_int as *const () as usize) as c_int
}

/// A number from `begin` up to but not including `end`.
#[unsafe(no_mangle)]
pub extern "C" fn klee_range(begin: c_int, end: c_int, _name: *const c_char) -> c_int {
    let me = klee_range as *const () as usize;
    settle(me, [(begin as u32 as u64, 32), (end as u32 as u64, 32)]);
    if begin >= end {
        say(c"klee_range: the range is empty");
        // Safety: ends the program as a failed check does.
        unsafe { abort() }
    }
    if i64::from(begin) + 1 == i64::from(end) {
        return begin;
    }
    let n = draw(32);
    n.assume_between(begin as u32 as u64, (end - 1) as u32 as u64, true);
    n.give_back(me) as c_int
}

/// A number below `n`.
#[unsafe(no_mangle)]
pub extern "C" fn klee_choose(n: usize) -> usize {
    let me = klee_choose as *const () as usize;
    settle(me, [(n as u64, 64)]);
    let x = draw(64);
    if n == 0 {
        leave();
    }
    x.assume_between(0, n as u64 - 1, false);
    x.give_back(me) as usize
}

#[unsafe(no_mangle)]
pub extern "C" fn klee_assume(holds: usize) {
    Number::argument::<1>(klee_assume as *const () as usize, holds as u64, 64).assume();
}

#[unsafe(no_mangle)]
pub extern "C" fn klee_silent_exit(status: c_int) -> ! {
    Number::argument::<1>(klee_silent_exit as *const () as usize, 0, 32);
    // Safety: any program may do that at any time.
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
    // Safety: the caller's.
    let (file, message) = unsafe { (CStr::from_ptr(file), CStr::from_ptr(message)) };
    let line = sys::decimal(line.max(0) as u64);
    sys::say(&[file.to_bytes(), b":", &line, b": ", message.to_bytes(), b"\n"]);
    klee_abort()
}

fn say(message: &CStr) {
    sys::say(&[message.to_bytes(), b"\n"]);
}

/// # Safety
/// The argument is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn klee_warning(message: *const c_char) {
    // Safety: the caller's.
    say(unsafe { CStr::from_ptr(message) });
}

/// # Safety
/// The argument is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn klee_warning_once(message: *const c_char) {
    static mut SAID: [*const c_char; 64] = [core::ptr::null(); 64];
    // Safety: the caller's; a race would at worst say it twice.
    unsafe {
        let said = &mut *&raw mut SAID;
        let place = said.iter().position(|&m| m == message || m.is_null());
        if place.is_some_and(|i| said[i] == message) {
            return;
        }
        if let Some(i) = place {
            said[i] = message;
        }
        klee_warning(message);
    }
}

/// No value is symbolic to the program: both halves must behave alike.
#[unsafe(no_mangle)]
pub extern "C" fn klee_is_symbolic(_n: usize) -> u32 {
    Number::argument::<1>(klee_is_symbolic as *const () as usize, 0, 64);
    0
}

/// Every run here replays one concrete input.
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
            /// The value as it is, without its label.
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
            /// Means something to KLEE's engine only.
            #[unsafe(no_mangle)]
            pub extern "C" fn $name() {
                Number::argument::<1>($name as *const () as usize, 0, 32);
            }
        )*
    };
}

// The caller may pass arguments: by the calling convention they are ignored.
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
            /// The variable is there.
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
