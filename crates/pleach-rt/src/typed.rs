//! Typed calls: the functions of `pleach.h`. (Those of `klee/klee.h` and `crest.h` are in
//! `klee`; AFL's shared buffer and libFuzzer are in `fuzzer`.)
//!
//! Calls take the bytes of the input in order, from the start, whatever else the program
//! reads. Without a driver the input is the file that `PLEACH_INPUT` names, or standard
//! input; the first call reads it to its end.
//!
//! `growth` handles calls past the end of the input.

use crate::growth::{self, calls, is_end_seen, see_end};
use crate::start::state;
use crate::{input, live, sys};
use core::ffi::{c_char, c_int};

/// The input of a run without a driver.
static mut MANUAL_INPUT: ManualInput =
    ManualInput { at: core::ptr::null_mut(), len: 0, read: false };

struct ManualInput {
    at: *mut u8,
    len: u64,
    read: bool,
}

unsafe extern "C" {
    fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    fn realloc(p: *mut u8, n: usize) -> *mut u8;
}

/// At the start of every run: calls start at the first byte.
pub fn begin_run() {
    // Safety: one thread begins a run.
    if unsafe { WINDOW.len } != 0 {
        unsafe { WINDOW.len = 0 };
    }
    growth::begin_run();
    crate::fuzzer::begin_run();
}

/// The stream that typed calls read: its number, its offset in the input file, and its
/// length there.
#[cfg_attr(feature = "fast", allow(dead_code, reason = "labels are the other half's"))]
pub struct CallStream {
    /// `None`: a container without a stream for calls. Calls may add one.
    pub stream: Option<usize>,
    pub at: u64,
    pub len: u64,
}

pub fn call_stream() -> CallStream {
    if state().input_fd < 0 {
        let manual_input = manual_input();
        let s = input::streams();
        if s.len != 0 {
            s.all[0].len = manual_input.len;
        }
        return CallStream { stream: Some(0), at: 0, len: manual_input.len };
    }
    match input::find_for_calls() {
        Some(stream) => {
            let s = input::streams().all[stream];
            CallStream { stream: Some(stream), at: s.at, len: s.len }
        }
        None => CallStream { stream: None, at: 0, len: 0 },
    }
}

/// Copies `n` bytes from offset `from` of the stream, with labels.
pub fn fetch(w: &CallStream, from: u64, to: *mut u8, n: u64) {
    if state().input_fd < 0 {
        // Safety: the caller stays within the stream.
        unsafe {
            core::ptr::copy_nonoverlapping(manual_input().at.add(from as usize), to, n as usize)
        };
    } else if !copy_from_batch(w.at + from, to, n) {
        read_through_window(w.at + from, to, n);
    }
    #[cfg(feature = "symbolic")]
    crate::symbolic::label_input(to as u64, w.at + from, n);
}

/// Copies from an input of a batch; false if the input is none.
fn copy_from_batch(from: u64, to: *mut u8, n: u64) -> bool {
    #[cfg(feature = "fast")]
    if let Some(bytes) = crate::batch::bytes() {
        // Safety: the caller stays within the input, which is in the shared memory.
        unsafe { core::ptr::copy_nonoverlapping(bytes.add(from as usize), to, n as usize) };
        return true;
    }
    let _ = (from, to, n);
    false
}

/// A part of the input file that is cached: most calls need no system call.
struct Window {
    at: u64,
    len: u64,
    bytes: [u8; 4096],
}

static mut WINDOW: Window = Window { at: 0, len: 0, bytes: [0; 4096] };

fn read_through_window(from: u64, to: *mut u8, n: u64) {
    // Safety: input calls are made by one thread at a time.
    let w = unsafe { &mut *&raw mut WINDOW };
    let fd = state().input_fd as u64;
    if n > w.bytes.len() as u64 {
        sys::pread(fd, to as u64, n, from);
        return;
    }
    if from < w.at || from + n > w.at + w.len {
        let got = sys::pread(fd, w.bytes.as_mut_ptr() as u64, w.bytes.len() as u64, from);
        (w.at, w.len) = (from, got.max(0) as u64);
    }
    let n = n.min((w.at + w.len).saturating_sub(from));
    // Safety: within the window; the caller has room for them.
    unsafe {
        core::ptr::copy_nonoverlapping(w.bytes.as_ptr().add((from - w.at) as usize), to, n as usize)
    };
}

fn manual_input() -> &'static ManualInput {
    // Safety: input calls are made by one thread at a time.
    let manual_input = unsafe { &mut *&raw mut MANUAL_INPUT };
    if manual_input.read {
        return manual_input;
    }
    manual_input.read = true;
    // Safety: a name from the environment; memory of the size that it grows to.
    unsafe {
        let name = sys::getenv(c"PLEACH_INPUT".as_ptr());
        let fd = if name.is_null() { 0 } else { open(name, 0) };
        if fd < 0 {
            sys::print_error(&[b"pleach: cannot open the file that PLEACH_INPUT names\n"]);
            sys::exit_now(2);
        }
        let mut room = 0;
        loop {
            if manual_input.len == room {
                room = (2 * room).max(4096);
                manual_input.at = realloc(manual_input.at, room as usize);
            }
            let n = sys::read(
                fd as u64,
                manual_input.at as u64 + manual_input.len,
                room - manual_input.len,
            );
            if n <= 0 {
                break;
            }
            manual_input.len += n as u64;
        }
    }
    manual_input
}

/// Takes the next `n` bytes of the input to `to`. Ends the run if the input ends and may
/// not grow.
#[unsafe(no_mangle)]
pub extern "C" fn pleach_bytes(to: *mut u8, n: usize) {
    pin_arguments(pleach_bytes as *const () as usize, [(to as u64, 64), (n as u64, 64)]);
    if live::is_on() {
        live::take_exactly(to, n as u64);
        // The driver may have switched labels on while the run was paused.
        #[cfg(feature = "symbolic")]
        {
            let at = live::labelled_taken().saturating_sub(n as u64);
            crate::symbolic::label_input(to as u64, at, n as u64);
        }
        return;
    }
    let (w, c, n) = (call_stream(), calls(), n as u64);
    let end = c.taken.saturating_add(n);
    if is_end_seen(&w) {
        #[cfg(feature = "symbolic")]
        w.stream.into_iter().for_each(|stream| crate::symbolic::decide_len(stream, end));
        if end > w.len + c.fresh {
            end_run();
        }
    } else if end > w.len + c.fresh && !growth::grow(&w, end) {
        end_run();
    }
    let in_file = w.len.saturating_sub(c.taken).min(n);
    if in_file != 0 {
        fetch(&w, c.taken, to, in_file);
    }
    growth::add_fresh(c.taken + in_file, to.wrapping_add(in_file as usize), n - in_file);
    c.taken = end;
}

/// Ends the run with status 0, through the program's exit handlers.
pub fn end_run() -> ! {
    // Safety: a program may call it at any time.
    unsafe { sys::exit(0) }
}

/// A number with its label, which is always 0 in the fast half.
#[cfg_attr(feature = "fast", allow(dead_code, reason = "labels are the other half's"))]
#[derive(Clone, Copy)]
pub struct Number {
    pub val: u64,
    pub bits: u32,
    pub label: u32,
}

impl Number {
    /// The `N`th argument of `function`, counted from 1.
    pub fn argument<const N: usize>(_function: usize, val: u64, bits: u32) -> Number {
        #[cfg(feature = "symbolic")]
        let label = crate::symbolic::tls::take_arguments::<N>(_function)[N - 1];
        #[cfg(feature = "fast")]
        let label = 0;
        Number { val, bits, label }
    }

    /// Leaves the label for the caller of `function`, and returns the value.
    pub fn return_from(self, _function: usize) -> u64 {
        #[cfg(feature = "symbolic")]
        crate::symbolic::tls::set_result(_function, self.label);
        self.val
    }

    /// Records the assumption that this is not 0, and ends the run if it is 0.
    pub fn assume(self) {
        #[cfg(feature = "symbolic")]
        {
            use crate::models::api::V;
            let zero = V::new(self.bits, 0);
            V::arg(self.label, self.bits, self.val)
                .ne(zero)
                .check(pleach_abi::event::Kind::Assume, 0);
        }
        if self.val == 0 {
            end_run();
        }
    }

    /// The same number as wide as its label: the program may declare another type.
    #[cfg(feature = "symbolic")]
    pub fn as_wide_as_label(self) -> Number {
        if self.label == 0 {
            return self;
        }
        let bits = u32::from(crate::symbolic::arena::node(self.label).width);
        let mask = if bits < 64 { (1 << bits) - 1 } else { u64::MAX };
        Number { bits, val: self.val & mask, ..self }
    }

    /// Records the assumption `low <= self <= high` (signed numbers if `signed`), and ends
    /// the run if it does not hold.
    pub fn assume_between(self, low: u64, high: u64, signed: bool) {
        let up = 64 - self.bits;
        let lift = |n: u64| ((n << up) as i64) >> up;
        let cut = |n: u64| n << up >> up;
        let ok = if signed {
            lift(low) <= lift(self.val) && lift(self.val) <= lift(high)
        } else {
            cut(low) <= cut(self.val) && cut(self.val) <= cut(high)
        };
        #[cfg(feature = "symbolic")]
        {
            use crate::models::api::V;
            let me = V::arg(self.label, self.bits, self.val);
            // One comparison for both bounds, which is right for both signs.
            let width = V::new(self.bits, high.wrapping_sub(low));
            let inside = me.sub(V::new(self.bits, low)).ule(width);
            inside.check(pleach_abi::event::Kind::Assume, 0);
        }
        if !ok {
            end_run();
        }
    }

    /// `low + self % count`; a count of 0 means all numbers.
    fn map_to_range(self, low: u64, count: u64) -> Number {
        let mask = if self.bits < 64 { (1 << self.bits) - 1 } else { u64::MAX };
        let count = count & mask;
        let rest = if count == 0 { self.val } else { self.val % count };
        let val = rest.wrapping_add(low) & mask;
        #[cfg(feature = "symbolic")]
        if self.label != 0 {
            use crate::models::api::V;
            use crate::symbolic::arena::binary;
            use pleach_abi::node::Op;
            let label = if count == 0 {
                self.label
            } else {
                binary(Op::URem, self.bits, self.label, 0, count, rest)
            };
            let sum = V::arg(label, self.bits, rest).add(V::new(self.bits, low));
            return Number { val, label: sum.label, ..self };
        }
        Number { val, ..self }
    }
}

/// Pins arguments of `function`, given as value and width: the rest of the trace holds for
/// these values only.
pub fn pin_arguments<const N: usize>(_function: usize, _arguments: [(u64, u32); N]) {
    #[cfg(feature = "symbolic")]
    {
        let labels = crate::symbolic::tls::take_arguments::<N>(_function);
        for (label, (val, bits)) in labels.into_iter().zip(_arguments) {
            crate::models::api::V::arg(label, bits, val).pin();
        }
    }
}

/// Takes the next number of the input, of 8, 16, 32 or 64 bits.
pub fn take_number(bits: u32) -> Number {
    let mut val = 0u64;
    let at = &raw mut val;
    pleach_bytes(at.cast(), bits as usize / 8);
    // Safety: a local variable; volatile, since the call wrote to it by address.
    let val = unsafe { at.read_volatile() };
    #[cfg(feature = "symbolic")]
    let label = {
        use crate::symbolic::shadow;
        let label = shadow::load(at as u64, bits);
        shadow::clear(at as u64, 8);
        label
    };
    #[cfg(feature = "fast")]
    let label = 0;
    Number { val, bits, label }
}

macro_rules! typed {
    ($($name:ident -> $t:ty;)*) => {
        $(
            #[unsafe(no_mangle)]
            pub extern "C" fn $name() -> $t {
                take_number(<$t>::BITS).return_from($name as *const () as usize) as $t
            }
        )*
    };
}

typed! {
    pleach_u8 -> u8;
    pleach_u16 -> u16;
    pleach_u32 -> u32;
    pleach_u64 -> u64;
    pleach_i8 -> i8;
    pleach_i16 -> i16;
    pleach_i32 -> i32;
    pleach_i64 -> i64;
}

/// 0 or 1: the lowest bit of one byte.
#[unsafe(no_mangle)]
pub extern "C" fn pleach_bool() -> c_int {
    let n = take_number(8).map_to_range(0, 2);
    #[cfg(feature = "symbolic")]
    let n = Number { label: widened(n), ..n };
    n.return_from(pleach_bool as *const () as usize) as c_int
}

/// A number from `low` to `high`, both included, from four bytes of the input. Every four
/// bytes give such a number.
#[unsafe(no_mangle)]
pub extern "C" fn pleach_range(low: i32, high: i32) -> i32 {
    let me = pleach_range as *const () as usize;
    pin_arguments(me, [(low as u32 as u64, 32), (high as u32 as u64, 32)]);
    let count = i64::from(high) - i64::from(low) + 1;
    take_number(32).map_to_range(low as u32 as u64, count.max(1) as u64).return_from(me) as i32
}

/// A number below `n`, from four bytes of the input.
#[unsafe(no_mangle)]
pub extern "C" fn pleach_choice(n: u32) -> u32 {
    let me = pleach_choice as *const () as usize;
    pin_arguments(me, [(n.into(), 32)]);
    take_number(32).map_to_range(0, n.max(1).into()).return_from(me) as u32
}

#[cfg(feature = "symbolic")]
fn widened(n: Number) -> u32 {
    crate::models::api::V::arg(n.label, n.bits, n.val).zext(32).label
}

/// Ends the run if the condition does not hold.
#[unsafe(no_mangle)]
pub extern "C" fn pleach_assume(holds: c_int) {
    let me = pleach_assume as *const () as usize;
    Number::argument::<1>(me, holds as u32 as u64, 32).assume();
}

/// The length of the input.
#[unsafe(no_mangle)]
pub extern "C" fn pleach_length() -> usize {
    let me = pleach_length as *const () as usize;
    length(0).return_from(me) as usize
}

/// Number of bytes that calls have not taken yet.
#[unsafe(no_mangle)]
pub extern "C" fn pleach_left() -> usize {
    let me = pleach_left as *const () as usize;
    length(calls().taken).return_from(me) as usize
}

/// The length of the input without its first `without` bytes.
fn length(without: u64) -> Number {
    if live::is_on() {
        return Number { val: live::bytes_left(), bits: 64, label: 0 };
    }
    let (w, c) = (call_stream(), calls());
    see_end();
    let len = w.len + c.fresh;
    let n = Number { val: len - without, bits: 64, label: 0 };
    #[cfg(feature = "symbolic")]
    if let Some(stream) = w.stream {
        use crate::models::api::V;
        let whole = V::arg(crate::symbolic::label_of_len(stream), 64, len);
        let whole = growth::at_least_unseen(whole);
        let left = if without == 0 { whole } else { whole.sub(V::new(64, without)) };
        return Number { label: left.label, ..n };
    }
    n
}
