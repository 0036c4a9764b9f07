//! Programs written for other fuzzers: AFL's shared buffer, and the `main` of
//! programs that have `LLVMFuzzerTestOneInput`.

use crate::start::state;
use crate::{sys, typed};
use core::ffi::{c_char, c_int};

/// Size of AFL's buffer: more than AFL ever passes.
const BUFFER_SIZE: u64 = 64 << 20;
/// Address of AFL's buffer, and length of the input in it. Programs ask for the address
/// once and for the length in each round. So the buffer never moves, and is filled when a
/// round begins.
static mut BUFFER: (u64, u64) = (0, 0);

/// The program has `LLVMFuzzerTestOneInput`, and its `main` is the one below.
static mut HAS_FUZZER_MAIN: bool = false;

/// True if the program takes its input from memory, not from a file.
#[cfg(feature = "fast")]
pub fn is_in_memory() -> bool {
    // Safety: set once each, by the program's one reading thread.
    unsafe { HAS_FUZZER_MAIN || BUFFER.0 != 0 }
}

/// At the start of every run, when the streams are known.
pub fn begin_run() {
    // Safety: one thread begins a run.
    if unsafe { BUFFER.0 } != 0 {
        fill_buffer();
    }
}

/// Fills the buffer, labelled, and sets its length.
fn fill_buffer() {
    let w = typed::call_stream();
    // Safety: mapped by the caller, and as large as `BUFFER_SIZE`.
    unsafe {
        BUFFER.1 = w.len.min(BUFFER_SIZE);
        typed::fetch(&w, 0, BUFFER.0 as *mut u8, BUFFER.1);
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn __pleach_afl_buf() -> *mut u8 {
    // Safety: called by the program's one reading thread.
    unsafe {
        if BUFFER.0 == 0 {
            let prot = sys::PROT_READ | sys::PROT_WRITE;
            let flags = sys::MAP_PRIVATE | sys::MAP_ANONYMOUS | sys::MAP_NORESERVE;
            let at = sys::mmap(0, BUFFER_SIZE, prot, flags, u64::MAX, 0);
            if at < 0 {
                return core::ptr::null_mut();
            }
            BUFFER.0 = at as u64;
            // Without a driver `begin_run` is not called. With one, the run may begin
            // later, in the program's loop, and fills the buffer then.
            if state().input_fd < 0 || crate::server::in_run() {
                fill_buffer();
            }
        }
        BUFFER.0 as *mut u8
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn __pleach_afl_len() -> c_int {
    // Safety: as above.
    let (at, len) = unsafe { BUFFER };
    if at == 0 {
        __pleach_afl_buf();
    }
    #[cfg(feature = "symbolic")]
    crate::symbolic::return_length(__pleach_afl_len as *const () as usize, 32);
    if at == 0 { unsafe { BUFFER.1 as c_int } } else { len as c_int }
}

pub type OneInput = extern "C" fn(*const u8, usize) -> c_int;
pub type Initialize = extern "C" fn(*mut c_int, *mut *mut *mut c_char) -> c_int;

unsafe extern "C" {
    fn free(p: *mut u8);
}

/// `main` of a program linked with `-fsanitize=fuzzer`. Under the driver it runs the
/// input. Without a driver it has libFuzzer's command line (`by_hand`).
#[unsafe(no_mangle)]
pub extern "C" fn __pleach_fuzzer_main(
    argc: c_int,
    argv: *mut *mut c_char,
    one: OneInput,
    initialize: Option<Initialize>,
) -> c_int {
    let (mut argc, mut argv) = (argc, argv);
    if state().input_fd < 0 {
        return crate::by_hand::run(argc, argv, one, initialize);
    }
    if let Some(f) = initialize {
        f(&raw mut argc, &raw mut argv);
    }
    // Safety: set before the first run.
    unsafe { HAS_FUZZER_MAIN = true };
    const ROUNDS: u32 = 10_000;
    while crate::server::__pleach_afl_loop(ROUNDS) != 0 {
        run_input(one);
    }
    0
}

/// Runs the input in memory of exactly its size, so that a sanitizer notices an
/// overread.
pub fn run_input(one: OneInput) {
    let w = typed::call_stream();
    // Safety: fresh memory of that size.
    unsafe {
        let p = sys::malloc(w.len.max(1) as usize).cast::<u8>();
        if p.is_null() {
            return;
        }
        typed::fetch(&w, 0, p, w.len);
        #[cfg(feature = "symbolic")]
        {
            crate::symbolic::objects::set_heap_object(p as u64, Some(w.len));
            crate::symbolic::pass_buffer(one as usize);
        }
        one(p, w.len as usize);
        #[cfg(feature = "symbolic")]
        {
            crate::symbolic::objects::set_heap_object(p as u64, None);
            crate::symbolic::shadow::clear(p as u64, w.len);
        }
        free(p);
    }
}
