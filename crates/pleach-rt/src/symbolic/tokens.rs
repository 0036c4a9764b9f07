//! The token border.
//!
//! In a run with `RUN_TOKENS`, decisions inside a token function are not recorded. When
//! the function returns, its result is a fresh variable with the number that it had. The
//! bytes keep their labels, so what the program does later with the text of a token is
//! still recorded.
//!
//! One word for each thread says whether it is inside: the stack address of the return
//! address of the outermost token function. A token function that another one calls has
//! a lower frame, and does not count. A token function may also be left by a jump or an
//! exception, without a return. Then control arrives in a function with a higher frame,
//! and the compiler calls [`unwound`] at such places (after `setjmp`, at landing pads).
//! If there is no instrumented code in between (contexts that are switched by hand), the
//! next token function with a higher frame ends it, or a decision above the frame.
//!
//! A decision that is not recorded must not set flags of nodes, such as "already
//! decided". So all code that sets such a flag checks [`in_token_function`] first.

use super::arena::{self, cast, fetch_add, mask, node};
use super::events::count_loss;
use super::shadow;
use super::tls::tls;
use crate::start::header;
use core::arch::asm;
use pleach_abi::layout::SHM_BASE;
use pleach_abi::node::{Node, Op};
use pleach_abi::shm::{self, Loss, Token};

/// True if this run has the token border.
fn are_on() -> bool {
    const BOTH: u32 = shm::RUN_TOKENS | shm::RUN_LABEL;
    header().is_some_and(|h| h.run_flags & BOTH == BOTH)
}

/// True if this thread is inside a token function: nothing is recorded.
#[inline(always)]
pub fn in_token_function() -> bool {
    tls().token_frame != 0 && check_frame()
}

#[cold]
fn check_frame() -> bool {
    let here: u64;
    // Safety: reads a register.
    unsafe { asm!("mov {}, rsp", out(reg) here, options(nostack, nomem, preserves_flags)) };
    let t = tls();
    // The frames of the runtime lie below the frame of its caller.
    if here > t.token_frame {
        t.token_frame = 0;
    }
    t.token_frame != 0
}

/// Notes which input bytes a decision that is not recorded depends on.
#[cold]
pub fn note_examined(label: u32) {
    // The byte is nearly always a few nodes away: a short search is enough.
    const NODES: usize = 24;
    let mut stack = [0u32; NODES];
    stack[0] = label;
    let (mut n, mut seen, mut end) = (1, 0, 0);
    while n > 0 && seen < NODES {
        n -= 1;
        seen += 1;
        let is = node(stack[n]);
        let after = |bytes: u32| is.a.saturating_add(bytes);
        match Op::from_u8(is.op) {
            Some(Op::Input) => end = end.max(after(1)),
            // The first byte is node `a`, which is one more than its offset.
            Some(Op::Read) => end = end.max(after(u32::from(is.width) / 8).saturating_sub(1)),
            Some(Op::InputLen | Op::Wide | Op::Const | Op::Token | Op::HoleLen) | None => {}
            Some(op) => {
                let c = if matches!(op, Op::Ite | Op::FShl | Op::FShr) { is.c } else { 0 };
                let b = if matches!(op, Op::Extract | Op::Lookup) { 0 } else { is.b };
                for operand in [is.a, b, c] {
                    if operand != 0 && n < NODES {
                        stack[n] = operand;
                        n += 1;
                    }
                }
            }
        }
    }
    // Safety: a race between threads loses an update at worst.
    unsafe { EXAMINED = EXAMINED.max(end) };
}

/// The offset after the last byte that a token function has examined. (A program that
/// reads its input in blocks has read far more.)
static mut EXAMINED: u32 = 0;

pub fn begin_run() {
    tls().token_frame = 0;
    // Safety: one thread, at the start of a run.
    unsafe { EXAMINED = 0 };
}

/// At the entry of a token function, whose return address is at `frame`.
#[unsafe(no_mangle)]
pub extern "C" fn __pleach_token_enter(frame: u64) {
    if !are_on() {
        return;
    }
    let t = tls();
    // A frame at or above the old one: that function was left without a return.
    if t.token_frame == 0 || frame >= t.token_frame {
        t.token_frame = frame;
    }
}

/// Leaves the function of this frame; true if it was the outermost token function.
fn leave_frame(frame: u64) -> bool {
    let t = tls();
    let outermost = t.token_frame == frame && are_on();
    if outermost {
        t.token_frame = 0;
    }
    outermost
}

/// Flag in `width`: the number is signed. (That matters below 32 bits.)
const SIGNED: u32 = 1 << 8;

/// At a return: the label of the result; `label` is the one that it would have without
/// the border.
pub extern "C" fn result(frame: u64, val: u64, width: u32, label: u32, record: u64) -> u32 {
    match leave_frame(frame) {
        true => add_token(val, width & 0xff, width & SIGNED != 0, record).unwrap_or(label),
        false => label,
    }
}

/// How to get from an address in a token function to its token: add an offset, load the
/// next address from there, add the next offset, and so on.
#[repr(C)]
pub struct Steps {
    /// The width of the token, with [`SIGNED`].
    width: u32,
    n: u32,
    offsets: [i64; 0],
}

/// At a return of a token function whose token is in memory.
#[unsafe(no_mangle)]
pub extern "C" fn __pleach_token_at(frame: u64, base: u64, steps: *const Steps, record: u64) {
    if !leave_frame(frame) {
        return;
    }
    const FIRST_VALID_ADDRESS: u64 = 4096;
    // Safety: the steps come from the compiler, which knows the types of the program. A
    // null pointer on the way means that there is no token.
    unsafe {
        let mut at = base;
        for i in 0..(*steps).n as usize {
            if i > 0 {
                at = (at as *const u64).read_unaligned();
            }
            if at < FIRST_VALID_ADDRESS {
                return;
            }
            at = at.wrapping_add_signed(*(*steps).offsets.as_ptr().add(i));
        }
        make_token_at(at, (*steps).width & 0xff, (*steps).width & SIGNED != 0, record);
    }
}

/// Control may have come by a jump or an exception to the function whose return address
/// is at `frame`.
pub extern "C" fn unwound(frame: u64) {
    let t = tls();
    if frame > t.token_frame {
        t.token_frame = 0;
    }
}

/// `pleach_token_begin()`: as the entry of a token function.
pub fn begin(frame: u64) {
    __pleach_token_enter(frame);
}

/// `pleach_token(&x)`: makes the number at `at` a token.
pub fn mark(at: u64, bytes: usize, signed: bool) {
    if are_on() {
        tls().token_frame = 0;
        make_token_at(at, 8 * bytes as u32, signed, 0);
    }
}

/// Makes the number in memory a token.
fn make_token_at(at: u64, width: u32, signed: bool, record: u64) {
    let bytes = u64::from(width / 8);
    if !width.is_multiple_of(8) || !matches!(bytes, 1 | 2 | 4 | 8) {
        return count_loss(Loss::Shape);
    }
    // Safety: a variable of the program.
    let byte = |i| unsafe { *((at + i) as *const u8) };
    let val = (0..bytes).fold(0, |v, i| v | u64::from(byte(i)) << (8 * i));
    if let Some(label) = add_token(val, width, signed, record) {
        shadow::store(at, label, width);
    }
}

/// Adds a token: the label of its number, `width` bits wide. `None` if the value does not
/// fit a token number, or if there is no room.
fn add_token(val: u64, width: u32, signed: bool, record: u64) -> Option<u32> {
    let h = header()?;
    let up = 64 - width;
    let wide = if signed { (((val << up) as i64) >> up) as u64 } else { val & mask(width) };
    // A token number has 32 bits.
    let number = wide as u32;
    let (extended, op) = match wide {
        _ if wide == u64::from(number) => (u64::from(number), Op::ZExt),
        _ => (number as i32 as i64 as u64, Op::SExt),
    };
    if extended != wide || h.cut != 0 {
        count_loss(Loss::Shape);
        return None;
    }
    // Safety: the count in the shared header.
    let k = unsafe { fetch_add(&raw mut h.tokens, 1) };
    if u64::from(k) >= h.tokens_cap {
        h.tokens = k;
        h.cut |= shm::CUT_TOKENS;
        return None;
    }
    // Safety: a plain static, see `note_examined`.
    let examined = unsafe { EXAMINED };
    let read = if examined == 0 { h.input_read } else { examined.min(h.input_read) };
    let record =
        Token { source: record, number: number as i32, read, events: h.events, reserved: 0 };
    // Safety: below the cap.
    unsafe { *((SHM_BASE + h.tokens_off) as *mut Token).add(k as usize) = record };
    let whole = arena::push(Node {
        op: Op::Token as u8,
        width: 32,
        a: k,
        val: number.into(),
        ..Node::default()
    });
    Some(match (whole, width) {
        (0, _) => return None,
        (_, 32) => whole,
        (_, ..32) => cast(Op::Trunc, whole, width, val),
        _ => cast(op, whole, width, val),
    })
    .filter(|&l| l != 0)
}
