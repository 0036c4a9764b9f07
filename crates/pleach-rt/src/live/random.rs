//! Random events of a live run.
//!
//! Two uniform numbers of 32 bits are practically never equal, and most uniform bytes
//! mean nothing to a program that reads text. So only some events are uniform
//! (`Bias::uniform` of 256). The others are small numbers, recent ones, or numbers and
//! bytes that the driver found in the program.
//!
//! Some events begin a *phrase*; the events after it take the rest of its bytes. A word is
//! a phrase that the program compares its input with. A sentence is a phrase that a search
//! found from some state. It may be useful in another state, too, and the search would not
//! find it again: there it covers nothing new.
//!
//! If all events are equally likely, a program stays near its average state: it deletes as
//! many lines as it inserts. So each stretch of events has a *style*, drawn from its seed:
//! how often phrases begin, and whether the other bytes come from a small set (Groce et
//! al.: *Swarm testing*, ISSTA 2012). In one style all bytes are uniform; that style is
//! more frequent on a terminal, where every byte is a key.

use crate::start::header;
use pleach_abi::shm::{ALPHABET_CAP, Bias, NUMBERS_CAP, PHRASES_CAP, TEXT_CAP};

/// Number of recent numbers that are remembered.
const RECENT: usize = 16;
/// Maximum size of the small set of bytes of a style.
const MAX_SMALL_SET: usize = 16;
/// How many of 256 events begin a sentence or a word: each style has one of these rates.
const RATES: [u64; 4] = [2, 8, 32, 128];
/// After half of the words, chosen at random, follows one of these.
const SEPARATORS: [u8; 8] = *b"\n\n\n   =,";

struct State {
    /// The state of the generator.
    generator: u64,
    recent: [u64; RECENT],
    /// Numbers put into `recent` so far.
    recent_count: usize,
    /// The rest of the current phrase, in the driver's text.
    at: usize,
    end: usize,
    style: Style,
    /// The next byte is the first of a line.
    at_line_start: bool,
    /// The current phrase is a word.
    is_word: bool,
    /// The last byte ended a word.
    is_after_word: bool,
}

struct Style {
    uniform: bool,
    /// How many of 256 events begin a sentence, and how many a word.
    sentences: u64,
    words: u64,
    /// The small set of bytes; none if its length is 0.
    small_set: [u8; MAX_SMALL_SET],
    small_set_len: usize,
}

static mut STATE: State = State {
    generator: 0,
    recent: [0; RECENT],
    recent_count: 0,
    at: 0,
    end: 0,
    style: Style {
        uniform: false,
        sentences: 0,
        words: 0,
        small_set: [0; MAX_SMALL_SET],
        small_set_len: 0,
    },
    at_line_start: true,
    is_word: false,
    is_after_word: false,
};

fn state() -> &'static mut State {
    // Safety: input is taken by one thread at a time.
    unsafe { &mut *&raw mut STATE }
}

/// Begins a stretch of events.
pub fn begin_stretch(seed: u64) {
    let s = state();
    s.generator = seed;
    (s.at, s.end) = (0, 0);
    let r = next();
    s.style.sentences = RATES[r as usize % RATES.len()];
    s.style.words = RATES[(r >> 8) as usize % RATES.len()];
    s.style.small_set_len = 0;
    let Some(h) = header() else { return };
    let every = if crate::terminal::is_on() { 2 } else { 4 };
    s.style.uniform = (r >> 20).is_multiple_of(every) && h.bias.strict == 0;
    let n = (h.bias.alphabet_len as usize).min(ALPHABET_CAP);
    if r >> 16 & 1 == 0 || n == 0 {
        return;
    }
    s.style.small_set_len = 2 + (r >> 32) as usize % (MAX_SMALL_SET - 1);
    for byte in &mut s.style.small_set[..s.style.small_set_len] {
        *byte = h.bias.alphabet[next() as usize % n];
    }
}

/// splitmix64: one word of state, and every seed is good.
fn next() -> u64 {
    let s = state();
    s.generator = s.generator.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = s.generator;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// True if a read that has `got` random bytes gets one more.
pub fn continues_read(got: u64) -> bool {
    let s = state();
    if s.at < s.end {
        return true;
    }
    let strict = header().is_some_and(|h| h.bias.strict != 0 && h.bias.sentences != 0);
    !strict && got < 64 && next() & 15 != 0
}

/// Writes one random byte of a stream.
///
/// # Safety
/// There is room for it.
pub unsafe fn write_byte(to: *mut u8) {
    let byte = make_byte();
    state().at_line_start = byte == b'\n';
    // Safety: the caller guarantees it.
    unsafe { *to = byte };
}

fn make_byte() -> u8 {
    let r = next();
    let uniform = (r >> 8) as u8;
    let Some(h) = header().filter(|_| !state().style.uniform) else { return uniform };
    let n = (h.bias.alphabet_len as usize).min(ALPHABET_CAP);
    if core::mem::take(&mut state().is_after_word)
        && let Some(&byte) = SEPARATORS.get((r >> 40) as usize % (2 * SEPARATORS.len()))
    {
        return byte;
    }
    if let Some([byte]) = next_phrase_bytes::<1>(&h.bias, 1) {
        let s = state();
        s.is_after_word = s.is_word && s.at == s.end;
        return byte;
    }
    if (r & 255) < u64::from(h.bias.uniform) || n == 0 {
        return uniform;
    }
    let style = &state().style;
    match style.small_set_len {
        0 => h.bias.alphabet[(r >> 16) as usize % n],
        n => style.small_set[(r >> 16) as usize % n],
    }
}

/// The next `n` bytes of the current phrase, or of a new one; `None` if there is none.
fn next_phrase_bytes<const ROOM: usize>(bias: &Bias, n: usize) -> Option<[u8; ROOM]> {
    if state().at >= state().end {
        maybe_begin_phrase(bias);
    }
    let s = state();
    if s.end - s.at < n {
        // The rest is too short: the program makes other calls here.
        (s.at, s.end) = (0, 0);
        return None;
    }
    let mut bytes = [0; ROOM];
    bytes[..n].copy_from_slice(&bias.text[s.at..s.at + n]);
    s.at += n;
    Some(bytes)
}

/// Begins a phrase or not, at random.
fn maybe_begin_phrase(bias: &Bias) {
    let s = state();
    (s.at, s.end) = (0, 0);
    let words = (bias.words as usize).min(PHRASES_CAP);
    let sentences = (bias.sentences as usize).min(PHRASES_CAP - words);
    let r = next();
    if bias.strict == 0 && (r >> 48 & 255) < u64::from(bias.uniform) {
        return;
    }
    // Sentences are more likely at the start of a line.
    let rate = s.style.sentences << u32::from(s.at_line_start);
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

/// Writes the bytes of a typed call: a number if there are 2, 4 or 8, text otherwise.
///
/// # Safety
/// There is room for them.
pub unsafe fn write_call(to: *mut u8, n: u64) {
    if !matches!(n, 2 | 4 | 8) {
        for i in 0..n as usize {
            // Safety: the caller guarantees it.
            unsafe { write_byte(to.add(i)) };
        }
        return;
    }
    let value = make_number(n as usize);
    // Safety: at most eight bytes, for which there is room.
    unsafe { core::ptr::copy_nonoverlapping(value.as_ptr(), to, n as usize) };
}

fn make_number(n: usize) -> [u8; 8] {
    if let Some(bytes) = header().and_then(|h| next_phrase_bytes::<8>(&h.bias, n)) {
        return bytes;
    }
    let (r, value) = (next(), next());
    let s = state();
    let Some(h) = header() else { return value.to_le_bytes() };
    if (r & 255) < u64::from(h.bias.uniform) {
        return remember(value);
    }
    let known = (h.bias.numbers_len as usize).min(NUMBERS_CAP);
    match (r >> 8) % 4 {
        0 if s.recent_count != 0 => {
            s.recent[(r >> 16) as usize % s.recent_count.min(RECENT)].to_le_bytes()
        }
        1 if known != 0 => {
            let minus_one_to_one = ((r >> 32) % 3).wrapping_sub(1);
            remember(h.bias.numbers[(r >> 16) as usize % known].wrapping_add(minus_one_to_one))
        }
        2 => remember(value % 256),
        _ => remember(value % 16),
    }
}

fn remember(value: u64) -> [u8; 8] {
    let s = state();
    s.recent[s.recent_count % RECENT] = value;
    s.recent_count += 1;
    value.to_le_bytes()
}
