//! Random events, made where they are wanted.
//!
//! Uniform numbers of 32 bits never meet twice, and most uniform bytes mean
//! nothing to a program that reads text. So only some events are uniform
//! (`Bias::uniform` of 256). Others are small, or what was made lately, or one
//! of the numbers and bytes that the driver found in the program.

use crate::start::header;
use pleach_abi::shm::{ALPHABET_CAP, NUMBERS_CAP};

/// What was made lately.
const LATELY: usize = 16;

struct State {
    word: u64,
    lately: [u64; LATELY],
    count: usize,
}

static mut STATE: State = State { word: 0, lately: [0; LATELY], count: 0 };

fn state() -> &'static mut State {
    // Safety: input is taken by one thread at a time.
    unsafe { &mut *&raw mut STATE }
}

pub fn seed(seed: u64) {
    state().word = seed;
}

/// splitmix64: one word of state, and any seed will do.
fn next() -> u64 {
    let s = state();
    s.word = s.word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = s.word;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Whether a read that was given `got` random bytes gets one more.
pub fn more(got: u64) -> bool {
    got < 64 && next() & 15 != 0
}

/// One byte of a stream.
///
/// # Safety
/// There is room for it.
pub unsafe fn byte(to: *mut u8) {
    let r = next();
    // Safety: the caller's.
    unsafe { *to = some_byte(r) };
}

fn some_byte(r: u64) -> u8 {
    let uniform = (r >> 8) as u8;
    let Some(h) = header() else { return uniform };
    let n = (h.bias.alphabet_len as usize).min(ALPHABET_CAP);
    if (r & 255) < u64::from(h.bias.uniform) || n == 0 {
        return uniform;
    }
    h.bias.alphabet[(r >> 16) as usize % n]
}

/// The bytes of a typed call: one number if there are 2, 4 or 8, text otherwise.
///
/// # Safety
/// There is room for them.
pub unsafe fn number(to: *mut u8, n: u64) {
    if !matches!(n, 2 | 4 | 8) {
        for i in 0..n as usize {
            // Safety: the caller's.
            unsafe { byte(to.add(i)) };
        }
        return;
    }
    let value = some_number().to_le_bytes();
    // Safety: at most eight bytes, for which there is room.
    unsafe { core::ptr::copy_nonoverlapping(value.as_ptr(), to, n as usize) };
}

fn some_number() -> u64 {
    let (r, value) = (next(), next());
    let s = state();
    let Some(h) = header() else { return value };
    if (r & 255) < u64::from(h.bias.uniform) {
        return remember(value);
    }
    let known = (h.bias.numbers_len as usize).min(NUMBERS_CAP);
    match (r >> 8) % 4 {
        0 if s.count != 0 => s.lately[(r >> 16) as usize % s.count.min(LATELY)],
        1 if known != 0 => {
            let about = ((r >> 32) % 3).wrapping_sub(1);
            remember(h.bias.numbers[(r >> 16) as usize % known].wrapping_add(about))
        }
        2 => remember(value % 256),
        _ => remember(value % 16),
    }
}

fn remember(value: u64) -> u64 {
    let s = state();
    s.lately[s.count % LATELY] = value;
    s.count += 1;
    value
}
