//! The token border.
//!
//! In a run with `RUN_TOKENS`, what a token function decides on the bytes it reads
//! is nobody's business: while a thread is inside one, nothing is recorded, and
//! when it returns, its result is a fresh variable with the number it had. Labels
//! are not touched. The bytes keep theirs, so what the program does later with the
//! text of a token can be followed as ever.
//!
//! *Inside* is one word a thread: where the outermost token function has its return
//! address. A token function that another one calls has its own further down the
//! stack, and does not count. One that is left by a jump or an exception never
//! says goodbye; but then control arrives in a function whose return address lies
//! above, and the compiler has put a question at such places (after `setjmp`, at
//! landing pads): [`unwound`]. Where no instrumented code is in between (contexts
//! that are switched by hand), the next token function further up the stack, or a
//! decision made above the frame, ends it at the latest.
//!
//! What is suppressed must leave no trace either: nodes that remember "this is
//! decided already" must not say so of what was never recorded. So everything that
//! sets such a flag asks [`silent`] first.

use super::arena::{self, advance, cast, mask, node};
use super::events::loss;
use super::shadow;
use super::tls::tls;
use crate::start::header;
use core::arch::asm;
use pleach_abi::layout::SHM_BASE;
use pleach_abi::node::{Node, Op};
use pleach_abi::shm::{self, Loss, Token};

/// Whether this run has the border at all.
fn in_use() -> bool {
    const BOTH: u32 = shm::RUN_TOKENS | shm::RUN_LABEL;
    header().is_some_and(|h| h.run_flags & BOTH == BOTH)
}

/// Whether this thread is inside a token function, and nothing is to be recorded.
#[inline(always)]
pub fn silent() -> bool {
    tls().token_frame != 0 && still_inside()
}

#[cold]
fn still_inside() -> bool {
    let here: u64;
    // Safety: reads a register.
    unsafe { asm!("mov {}, rsp", out(reg) here, options(nostack, nomem, preserves_flags)) };
    let t = tls();
    // The runtime's own frames lie below those of whoever called it.
    if here > t.token_frame {
        t.token_frame = 0;
    }
    t.token_frame != 0
}

/// A decision that is not recorded: the input was looked at so far.
#[cold]
pub fn looked_at(label: u32) {
    // Nearly always the byte is close by: the walk is short rather than complete.
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
    // Safety: a race between threads loses a step at worst.
    unsafe { LOOKED = LOOKED.max(end) };
}

/// The offset after the last byte that a token function was seen to look at. A
/// program that reads its input in blocks has read far more.
static mut LOOKED: u32 = 0;

pub fn begin_run() {
    tls().token_frame = 0;
    // Safety: one thread, at the start of a run.
    unsafe { LOOKED = 0 };
}

/// At the entry of a token function, whose return address is at `frame`.
#[unsafe(no_mangle)]
pub extern "C" fn __pleach_token_enter(frame: u64) {
    if !in_use() {
        return;
    }
    let t = tls();
    // From a frame at or above it, the last one was left without a word.
    if t.token_frame == 0 || frame >= t.token_frame {
        t.token_frame = frame;
    }
}

/// Whether the function of this frame is the outermost one; it is left now.
fn leave(frame: u64) -> bool {
    let t = tls();
    let outermost = t.token_frame == frame && in_use();
    if outermost {
        t.token_frame = 0;
    }
    outermost
}

/// In `width`: the number is signed. (Below 32 bits that decides what it is.)
const SIGNED: u32 = 1 << 8;

/// At a return: the label of the result, which so far is `label`.
pub extern "C" fn result(frame: u64, val: u64, width: u32, label: u32, record: u64) -> u32 {
    match leave(frame) {
        true => variable(val, width & 0xff, width & SIGNED != 0, record).unwrap_or(label),
        false => label,
    }
}

/// How to get from an address that a token function has to its token: an offset is
/// added, and between two of them what is there is the next address.
#[repr(C)]
pub struct Steps {
    /// Of the token, with [`SIGNED`].
    width: u32,
    n: u32,
    offsets: [i64; 0],
}

/// At a return of a function whose token is in memory.
#[unsafe(no_mangle)]
pub extern "C" fn __pleach_token_at(frame: u64, base: u64, steps: *const Steps, record: u64) {
    if !leave(frame) {
        return;
    }
    const LEAST: u64 = 4096;
    // Safety: the compiler's own data; the program keeps addresses where its types
    // say so. A null pointer on the way means that there is no token.
    unsafe {
        let mut at = base;
        for i in 0..(*steps).n as usize {
            if i > 0 {
                at = (at as *const u64).read_unaligned();
            }
            if at < LEAST {
                return;
            }
            at = at.wrapping_add_signed(*(*steps).offsets.as_ptr().add(i));
        }
        put(at, (*steps).width & 0xff, (*steps).width & SIGNED != 0, record);
    }
}

/// Control is in the function whose return address is at `frame`, and may have come
/// there by a jump or an exception.
pub extern "C" fn unwound(frame: u64) {
    let t = tls();
    if frame > t.token_frame {
        t.token_frame = 0;
    }
}

/// `pleach_token_begin()`: as if a token function were entered here.
pub fn begin(frame: u64) {
    __pleach_token_enter(frame);
}

/// `pleach_token(&x)`: the number at `at` is a token.
pub fn mark(at: u64, bytes: usize, signed: bool) {
    if in_use() {
        tls().token_frame = 0;
        put(at, 8 * bytes as u32, signed, 0);
    }
}

/// The number in memory becomes a token.
fn put(at: u64, width: u32, signed: bool, record: u64) {
    let bytes = u64::from(width / 8);
    if !width.is_multiple_of(8) || !matches!(bytes, 1 | 2 | 4 | 8) {
        return loss(Loss::Shape);
    }
    // Safety: the program's own variable.
    let byte = |i| unsafe { *((at + i) as *const u8) };
    let val = (0..bytes).fold(0, |v, i| v | u64::from(byte(i)) << (8 * i));
    if let Some(label) = variable(val, width, signed, record) {
        shadow::store(at, label, width);
    }
}

/// A new token variable, as a value of `width` bits. `None` if the value is no
/// token number, or there is no room.
fn variable(val: u64, width: u32, signed: bool, record: u64) -> Option<u32> {
    let h = header()?;
    let up = 64 - width;
    let wide = if signed { (((val << up) as i64) >> up) as u64 } else { val & mask(width) };
    // What has no 32 bits has no number, whatever it is.
    let number = wide as u32;
    let (extended, op) = match wide {
        _ if wide == u64::from(number) => (u64::from(number), Op::ZExt),
        _ => (number as i32 as i64 as u64, Op::SExt),
    };
    if extended != wide || h.cut != 0 {
        loss(Loss::Shape);
        return None;
    }
    // Safety: the count in the shared header.
    let k = unsafe { advance(&raw mut h.tokens, 1) };
    if u64::from(k) >= h.tokens_cap {
        h.tokens = k;
        h.cut |= shm::CUT_TOKENS;
        return None;
    }
    // Safety: a plain static, see `looked_at`.
    let looked = unsafe { LOOKED };
    let read = if looked == 0 { h.input_read } else { looked.min(h.input_read) };
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
