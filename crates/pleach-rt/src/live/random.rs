//! Random events, made where they are wanted.
//!
//! Uniform numbers of 32 bits never meet twice, and most uniform bytes mean
//! nothing to a program that reads text. So only some events are uniform
//! (`Bias::uniform` of 256). Others are small, or what was made lately, or one
//! of the numbers and bytes that the driver found in the program.
//!
//! Some events begin a *phrase*, whose bytes follow one after the other. A word
//! is something that the program compares its input with; a sentence is what a
//! search has found from some state, and may mean as much in another: there the
//! search, which looks for new branches, would not look for it again.
//!
//! A program that is given everything alike stays near its average state: as
//! many lines are deleted as were put in. So each stretch of events has a
//! *style*, drawn from its seed: how often phrases begin, and which few bytes the
//! others are, if they are few (Groce et al.: *Swarm testing*, ISSTA 2012). In one style
//! all bytes are uniform; on a terminal more often, where every byte is a key.

use crate::start::header;
use pleach_abi::shm::{ALPHABET_CAP, Bias, NUMBERS_CAP, PHRASES_CAP, TEXT_CAP};

/// What was made lately.
const LATELY: usize = 16;
/// The most bytes that a style keeps to.
const FEW: usize = 16;
/// Of 256 events, how many begin a sentence or a word, by the style.
const RATES: [u64; 4] = [2, 8, 32, 128];
/// What stands after a word, every other time.
const SEPARATORS: [u8; 8] = *b"\n\n\n   =,";

struct State {
    word: u64,
    lately: [u64; LATELY],
    count: usize,
    /// The rest of a phrase, in the driver's text.
    at: usize,
    end: usize,
    style: Style,
    /// The last byte ended a line, or there was none.
    fresh: bool,
    /// The phrase is a word; the last byte ended one.
    is_word: bool,
    after_word: bool,
}

struct Style {
    uniform: bool,
    sentences: u64,
    words: u64,
    few: [u8; FEW],
    few_len: usize,
}

static mut STATE: State = State {
    word: 0,
    lately: [0; LATELY],
    count: 0,
    at: 0,
    end: 0,
    style: Style { uniform: false, sentences: 0, words: 0, few: [0; FEW], few_len: 0 },
    fresh: true,
    is_word: false,
    after_word: false,
};

fn state() -> &'static mut State {
    // Safety: input is taken by one thread at a time.
    unsafe { &mut *&raw mut STATE }
}

/// A stretch of events begins.
pub fn seed(seed: u64) {
    let s = state();
    s.word = seed;
    (s.at, s.end) = (0, 0);
    let r = next();
    s.style.sentences = RATES[r as usize % RATES.len()];
    s.style.words = RATES[(r >> 8) as usize % RATES.len()];
    s.style.few_len = 0;
    let Some(h) = header() else { return };
    let every = if crate::terminal::on() { 2 } else { 4 };
    s.style.uniform = (r >> 20).is_multiple_of(every) && h.bias.strict == 0;
    let n = (h.bias.alphabet_len as usize).min(ALPHABET_CAP);
    if r >> 16 & 1 == 0 || n == 0 {
        return;
    }
    s.style.few_len = 2 + (r >> 32) as usize % (FEW - 1);
    for byte in &mut s.style.few[..s.style.few_len] {
        *byte = h.bias.alphabet[next() as usize % n];
    }
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
    let s = state();
    if s.at < s.end {
        return true;
    }
    let strict = header().is_some_and(|h| h.bias.strict != 0 && h.bias.sentences != 0);
    !strict && got < 64 && next() & 15 != 0
}

/// One byte of a stream.
///
/// # Safety
/// There is room for it.
pub unsafe fn byte(to: *mut u8) {
    let made = some_byte();
    state().fresh = made == b'\n';
    // Safety: the caller's.
    unsafe { *to = made };
}

fn some_byte() -> u8 {
    let r = next();
    let uniform = (r >> 8) as u8;
    let Some(h) = header().filter(|_| !state().style.uniform) else { return uniform };
    let n = (h.bias.alphabet_len as usize).min(ALPHABET_CAP);
    if core::mem::take(&mut state().after_word)
        && let Some(&byte) = SEPARATORS.get((r >> 40) as usize % (2 * SEPARATORS.len()))
    {
        return byte;
    }
    if let Some([byte]) = said::<1>(&h.bias, 1) {
        let s = state();
        s.after_word = s.is_word && s.at == s.end;
        return byte;
    }
    if (r & 255) < u64::from(h.bias.uniform) || n == 0 {
        return uniform;
    }
    let style = &state().style;
    match style.few_len {
        0 => h.bias.alphabet[(r >> 16) as usize % n],
        few => style.few[(r >> 16) as usize % few],
    }
}

/// The next `n` bytes of a phrase: of the one under way, or of one that begins
/// here.
fn said<const ROOM: usize>(bias: &Bias, n: usize) -> Option<[u8; ROOM]> {
    if state().at >= state().end {
        begin(bias);
    }
    let s = state();
    if s.end - s.at < n {
        // Too little for what is asked for: the calls are others here.
        (s.at, s.end) = (0, 0);
        return None;
    }
    let mut bytes = [0; ROOM];
    bytes[..n].copy_from_slice(&bias.text[s.at..s.at + n]);
    s.at += n;
    Some(bytes)
}

/// Begins a phrase, or does not.
fn begin(bias: &Bias) {
    let s = state();
    (s.at, s.end) = (0, 0);
    let words = (bias.words as usize).min(PHRASES_CAP);
    let sentences = (bias.sentences as usize).min(PHRASES_CAP - words);
    let r = next();
    if bias.strict == 0 && (r >> 48 & 255) < u64::from(bias.uniform) {
        return;
    }
    // Where lines begin, so do sentences.
    let rate = s.style.sentences << u32::from(s.fresh);
    let number = if sentences != 0 && (bias.strict != 0 || (r & 255) < rate) {
        words + (r >> 16) as usize % sentences
    } else if words != 0 && (r >> 8 & 255) < s.style.words {
        (r >> 16) as usize % words
    } else {
        return;
    };
    let from = number.checked_sub(1).map_or(0, |before| bias.ends[before] as usize);
    let end = (bias.ends[number] as usize).min(TEXT_CAP);
    (s.at, s.end) = (from.min(end), end);
    s.is_word = number < words;
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
    let value = some_number(n as usize);
    // Safety: at most eight bytes, for which there is room.
    unsafe { core::ptr::copy_nonoverlapping(value.as_ptr(), to, n as usize) };
}

fn some_number(n: usize) -> [u8; 8] {
    if let Some(said) = header().and_then(|h| said::<8>(&h.bias, n)) {
        return said;
    }
    let (r, value) = (next(), next());
    let s = state();
    let Some(h) = header() else { return value.to_le_bytes() };
    if (r & 255) < u64::from(h.bias.uniform) {
        return remember(value);
    }
    let known = (h.bias.numbers_len as usize).min(NUMBERS_CAP);
    match (r >> 8) % 4 {
        0 if s.count != 0 => s.lately[(r >> 16) as usize % s.count.min(LATELY)].to_le_bytes(),
        1 if known != 0 => {
            let about = ((r >> 32) % 3).wrapping_sub(1);
            remember(h.bias.numbers[(r >> 16) as usize % known].wrapping_add(about))
        }
        2 => remember(value % 256),
        _ => remember(value % 16),
    }
}

fn remember(value: u64) -> [u8; 8] {
    let s = state();
    s.lately[s.count % LATELY] = value;
    s.count += 1;
    value.to_le_bytes()
}
