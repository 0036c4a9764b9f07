//! Input by calls: `pleach.h`. (`klee` has the bodies behind `klee/klee.h`
//! and `crest.h`, `fuzzer` those of AFL's shared buffer and libFuzzer.)
//!
//! Calls take the bytes of the input in order, from the start, whatever else
//! reads it. Without a driver the input is the file that `PLEACH_INPUT` names,
//! or standard input, read to its end at the first call.
//!
//! `growth` has what becomes of calls past the end of the input.

use crate::growth::{self, calls, is_end_seen, see_end};
use crate::start::state;
use crate::{input, live, sys};
use core::ffi::{c_char, c_int};

/// The input of a run by hand.
static mut HELD: Held = Held { at: core::ptr::null_mut(), len: 0, read: false };

struct Held {
    at: *mut u8,
    len: u64,
    read: bool,
}

unsafe extern "C" {
    fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    fn realloc(p: *mut u8, n: usize) -> *mut u8;
}

/// At the start of every run: calls begin with the first byte again.
pub fn begin_run() {
    // Safety: one thread begins a run.
    unsafe { WINDOW.len = 0 };
    growth::begin_run();
    crate::fuzzer::begin_run();
}

/// What calls read: the stream's number, where it begins in the input, and how
/// long it is there.
#[cfg_attr(feature = "fast", allow(dead_code, reason = "labels are the other half's"))]
pub struct Whole {
    /// `None`: a container without a stream for calls. They may add one.
    pub stream: Option<usize>,
    pub at: u64,
    pub len: u64,
}

pub fn whole() -> Whole {
    if state().input_fd < 0 {
        let held = held();
        let s = input::streams();
        if s.len != 0 {
            s.all[0].len = held.len;
        }
        return Whole { stream: Some(0), at: 0, len: held.len };
    }
    match input::find_for_calls() {
        Some(stream) => {
            let s = input::streams().all[stream];
            Whole { stream: Some(stream), at: s.at, len: s.len }
        }
        None => Whole { stream: None, at: 0, len: 0 },
    }
}

/// Copies bytes of the input, from offset `from` of the whole on, with labels.
pub fn fetch(w: &Whole, from: u64, to: *mut u8, n: u64) {
    if state().input_fd < 0 {
        // Safety: the caller stays within the whole.
        unsafe { core::ptr::copy_nonoverlapping(held().at.add(from as usize), to, n as usize) };
    } else {
        through_window(w.at + from, to, n);
    }
    #[cfg(feature = "symbolic")]
    crate::symbolic::label_input(to as u64, w.at + from, n);
}

/// A part of the input file, so that not every call is a system call.
struct Window {
    at: u64,
    len: u64,
    bytes: [u8; 4096],
}

static mut WINDOW: Window = Window { at: 0, len: 0, bytes: [0; 4096] };

fn through_window(from: u64, to: *mut u8, n: u64) {
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
    // Safety: within the window; the caller has room for as many.
    unsafe {
        core::ptr::copy_nonoverlapping(w.bytes.as_ptr().add((from - w.at) as usize), to, n as usize)
    };
}

fn held() -> &'static Held {
    // Safety: input calls are made by one thread at a time.
    let held = unsafe { &mut *&raw mut HELD };
    if held.read {
        return held;
    }
    held.read = true;
    // Safety: a name from the environment; memory of the size that it grows to.
    unsafe {
        let name = sys::getenv(c"PLEACH_INPUT".as_ptr());
        let fd = if name.is_null() { 0 } else { open(name, 0) };
        if fd < 0 {
            sys::say(&[b"pleach: cannot open the file that PLEACH_INPUT names\n"]);
            sys::exit_now(2);
        }
        let mut room = 0;
        loop {
            if held.len == room {
                room = (2 * room).max(4096);
                held.at = realloc(held.at, room as usize);
            }
            let n = sys::read(fd as u64, held.at as u64 + held.len, room - held.len);
            if n <= 0 {
                break;
            }
            held.len += n as u64;
        }
    }
    held
}

/// Takes the next `n` bytes of the input into `to`. Ends the run at the end.
#[unsafe(no_mangle)]
pub extern "C" fn pleach_bytes(to: *mut u8, n: usize) {
    settle(pleach_bytes as *const () as usize, [(to as u64, 64), (n as u64, 64)]);
    if live::on() {
        live::take(to, n as u64);
        // Labels may have come on while it waited.
        #[cfg(feature = "symbolic")]
        {
            let at = live::labelled().saturating_sub(n as u64);
            crate::symbolic::label_input(to as u64, at, n as u64);
        }
        return;
    }
    let (w, c, n) = (whole(), calls(), n as u64);
    let end = c.taken.saturating_add(n);
    if is_end_seen(&w) {
        #[cfg(feature = "symbolic")]
        w.stream.into_iter().for_each(|stream| crate::symbolic::decide_len(stream, end));
        if end > w.len + c.fresh {
            leave();
        }
    } else if end > w.len + c.fresh && !growth::grow(&w, end) {
        leave();
    }
    let there = w.len.saturating_sub(c.taken).min(n);
    if there != 0 {
        fetch(&w, c.taken, to, there);
    }
    growth::add_fresh(c.taken + there, to.wrapping_add(there as usize), n - there);
    c.taken = end;
}

/// The quiet end of a run, through the program's own exit handlers.
pub fn leave() -> ! {
    // Safety: any program may do that at any time.
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
    /// An argument of `function`, of which it is the `N`th.
    pub fn argument<const N: usize>(_function: usize, val: u64, bits: u32) -> Number {
        #[cfg(feature = "symbolic")]
        let label = crate::symbolic::tls::take_arguments::<N>(_function)[N - 1];
        #[cfg(feature = "fast")]
        let label = 0;
        Number { val, bits, label }
    }

    /// Leaves the label for `function`'s caller; the value.
    pub fn give_back(self, _function: usize) -> u64 {
        #[cfg(feature = "symbolic")]
        crate::symbolic::tls::set_result(_function, self.label);
        self.val
    }

    /// The program goes on only if this is not 0: recorded as assumed.
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
            leave();
        }
    }

    /// An argument whose declared type may be another: as wide as its label.
    #[cfg(feature = "symbolic")]
    pub fn as_wide_as_label(self) -> Number {
        if self.label == 0 {
            return self;
        }
        let bits = u32::from(crate::symbolic::arena::node(self.label).width);
        let mask = if bits < 64 { (1 << bits) - 1 } else { u64::MAX };
        Number { bits, val: self.val & mask, ..self }
    }

    /// `low <= self <= high`, as signed numbers if `signed`.
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
            // One comparison says both, and this is the same for both signs.
            let width = V::new(self.bits, high.wrapping_sub(low));
            let inside = me.sub(V::new(self.bits, low)).ule(width);
            inside.check(pleach_abi::event::Kind::Assume, 0);
        }
        if !ok {
            leave();
        }
    }

    /// `low + self % count`, where a count of 0 stands for all numbers.
    fn spread(self, low: u64, count: u64) -> Number {
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

/// Arguments of `function` that say how much or what is wanted, as value and
/// width: the run is about these values only.
pub fn settle<const N: usize>(_function: usize, _arguments: [(u64, u32); N]) {
    #[cfg(feature = "symbolic")]
    {
        let labels = crate::symbolic::tls::take_arguments::<N>(_function);
        for (label, (val, bits)) in labels.into_iter().zip(_arguments) {
            crate::models::api::V::arg(label, bits, val).pin();
        }
    }
}

/// The next number of the input, of 8, 16, 32 or 64 bits.
pub fn draw(bits: u32) -> Number {
    let mut val = 0u64;
    let at = &raw mut val;
    pleach_bytes(at.cast(), bits as usize / 8);
    // Safety: our own variable; read after the bytes were put there.
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
                draw(<$t>::BITS).give_back($name as *const () as usize) as $t
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

/// 0 or 1, by the lowest bit of one byte.
#[unsafe(no_mangle)]
pub extern "C" fn pleach_bool() -> c_int {
    let n = draw(8).spread(0, 2);
    #[cfg(feature = "symbolic")]
    let n = Number { label: widened(n), ..n };
    n.give_back(pleach_bool as *const () as usize) as c_int
}

/// A number from `low` to `high`, both included, by four bytes of the input.
/// Every input means one: nothing is refused.
#[unsafe(no_mangle)]
pub extern "C" fn pleach_range(low: i32, high: i32) -> i32 {
    let me = pleach_range as *const () as usize;
    settle(me, [(low as u32 as u64, 32), (high as u32 as u64, 32)]);
    let count = i64::from(high) - i64::from(low) + 1;
    draw(32).spread(low as u32 as u64, count.max(1) as u64).give_back(me) as i32
}

/// A number below `n`, by four bytes of the input.
#[unsafe(no_mangle)]
pub extern "C" fn pleach_choice(n: u32) -> u32 {
    let me = pleach_choice as *const () as usize;
    settle(me, [(n.into(), 32)]);
    draw(32).spread(0, n.max(1).into()).give_back(me) as u32
}

#[cfg(feature = "symbolic")]
fn widened(n: Number) -> u32 {
    crate::models::api::V::arg(n.label, n.bits, n.val).zext(32).label
}

/// The run is of interest only if the condition holds.
#[unsafe(no_mangle)]
pub extern "C" fn pleach_assume(holds: c_int) {
    let me = pleach_assume as *const () as usize;
    Number::argument::<1>(me, holds as u32 as u64, 32).assume();
}

/// Bytes of the whole input.
#[unsafe(no_mangle)]
pub extern "C" fn pleach_length() -> usize {
    let me = pleach_length as *const () as usize;
    length(0).give_back(me) as usize
}

/// Bytes that calls have not taken yet.
#[unsafe(no_mangle)]
pub extern "C" fn pleach_left() -> usize {
    let me = pleach_left as *const () as usize;
    length(calls().taken).give_back(me) as usize
}

/// The length of the input without its first `without` bytes, which are there.
fn length(without: u64) -> Number {
    if live::on() {
        return Number { val: live::left(), bits: 64, label: 0 };
    }
    let (w, c) = (whole(), calls());
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
