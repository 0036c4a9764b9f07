//! Wide characters: their classes and cases, and decoding them from bytes.
//!
//! ASCII is modelled exactly: that a character is in ASCII is a decision, and its class or
//! case is an expression. UTF-8 sequences of two to four bytes are exact, too: decisions fix
//! the form of the sequence, and the character is an expression. Everything else is pinned
//! to the bytes of this run: classes beyond ASCII, other encodings, sequences in parts,
//! errors.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::{V, clear};
use super::define::models;
use super::text::{Set, decide_end, is_between, pin_bytes};
use core::ffi::{CStr, c_char};

mod real {
    unsafe extern "C" {
        pub fn iswctype(c: u32, class: u64) -> i32;
        pub fn iswctype_l(c: u32, class: u64, locale: u64) -> i32;
        pub fn towctrans(c: u32, map: u64) -> u32;
        pub fn btowc(c: i32) -> u32;
        pub fn wctob(c: u32) -> i32;
        pub fn mbtowc(to: u64, s: u64, n: u64) -> i32;
        pub fn mbrtowc(to: u64, s: u64, n: u64, state: u64) -> u64;
        pub fn mblen(s: u64, n: u64) -> i32;
        pub fn mbrlen(s: u64, n: u64, state: u64) -> u64;
        pub fn mbsinit(state: u64) -> i32;
        pub fn mbstowcs(to: u64, s: u64, n: u64) -> u64;
        pub fn nl_langinfo(item: i32) -> u64;
    }
}

macro_rules! classes {
    ($($name:ident, $in_locale:ident;)*) => {
        mod real_classes {
            unsafe extern "C" {
                $(pub fn $name(c: u32) -> i32;
                pub fn $in_locale(c: u32, locale: u64) -> i32;)*
            }
        }
        models! {$(
            fn $name(c: u32) -> i32 {
                test_class(c, |c| real_classes::$name(c))
            }
            fn $in_locale(c: u32, locale: u64) -> i32 {
                let locale = locale.pin();
                test_class(c, |c| real_classes::$in_locale(c, locale))
            }
        )*}
    };
}

classes! {
    iswalnum, iswalnum_l;
    iswalpha, iswalpha_l;
    iswblank, iswblank_l;
    iswcntrl, iswcntrl_l;
    iswdigit, iswdigit_l;
    iswgraph, iswgraph_l;
    iswlower, iswlower_l;
    iswprint, iswprint_l;
    iswpunct, iswpunct_l;
    iswspace, iswspace_l;
    iswupper, iswupper_l;
    iswxdigit, iswxdigit_l;
}

macro_rules! cases {
    ($($name:ident, $in_locale:ident: $first:literal, $step:literal;)*) => {
        mod real_cases {
            unsafe extern "C" {
                $(pub fn $name(c: u32) -> u32;
                pub fn $in_locale(c: u32, locale: u64) -> u32;)*
            }
        }
        models! {$(
            fn $name(c: u32) -> u32 {
                change_case(c, $first, $step, |c| real_cases::$name(c))
            }
            fn $in_locale(c: u32, locale: u64) -> u32 {
                let locale = locale.pin();
                change_case(c, $first, $step, |c| real_cases::$in_locale(c, locale))
            }
        )*}
    };
}

cases! {
    towlower, towlower_l: b'A', 32;
    towupper, towupper_l: b'a', -32;
}

models! {
    fn iswctype(c: u32, kind: u64) -> i32 {
        let kind = kind.pin();
        test_class(c, |c| real::iswctype(c, kind))
    }
    fn iswctype_l(c: u32, kind: u64, locale: u64) -> i32 {
        let (kind, locale) = (kind.pin(), locale.pin());
        test_class(c, |c| real::iswctype_l(c, kind, locale))
    }
    fn towctrans(c: u32, map: u64) -> u32 {
        c.pin();
        real::towctrans(c.val as u32, map.pin())
    }

    /// In every encoding of glibc, an ASCII byte is the same character.
    fn btowc(c: i32) -> u32 {
        let wide = real::btowc(c.val as i32);
        if decide_ascii(c) { c } else { wide.into() }
    }
    fn wctob(c: u32) -> i32 {
        let byte = real::wctob(c.val as u32);
        if decide_ascii(c) { c } else { byte.into() }
    }

    /// libc keeps the start of an incomplete sequence in a hidden state.
    fn mbtowc(to: u64, s: u64, n: u64) -> i32 {
        let (to, s, n) = (to.pin(), s.pin(), n.pin());
        static mut IS_INCOMPLETE: bool = false;
        let used = real::mbtowc(to, s, n);
        label_decoded(to, s, n, i64::from(used) as u64, !IS_INCOMPLETE);
        IS_INCOMPLETE = used < 0;
        used
    }
    fn mbrtowc(to: u64, s: u64, n: u64, state: u64) -> u64 {
        let (to, s, n, state) = (to.pin(), s.pin(), n.pin(), state.pin());
        // A null pointer means libc's hidden state.
        let fresh = state != 0 && real::mbsinit(state) != 0;
        let used = real::mbrtowc(to, s, n, state);
        label_decoded(to, s, n, used, fresh);
        used
    }
    fn mblen(s: u64, n: u64) -> i32 {
        let (s, n) = (s.pin(), n.pin());
        static mut IS_INCOMPLETE: bool = false;
        let used = real::mblen(s, n);
        label_decoded(0, s, n, i64::from(used) as u64, !IS_INCOMPLETE);
        IS_INCOMPLETE = used < 0;
        used
    }
    fn mbrlen(s: u64, n: u64, state: u64) -> u64 {
        let (s, n, state) = (s.pin(), n.pin(), state.pin());
        let fresh = state != 0 && real::mbsinit(state) != 0;
        let used = real::mbrlen(s, n, state);
        label_decoded(0, s, n, used, fresh);
        used
    }
}

models! {
    fn mbstowcs(to: u64, s: u64, n: u64) -> u64 {
        let (to, s, n) = (to.pin(), s.pin(), n.pin());
        let count = real::mbstowcs(to, s, n);
        label_string(to, s, n, count);
        count
    }
}

/// Labels the characters of a string that libc has decoded; `count` is their number, or the
/// largest number after an error. Nothing is stored if `to` is 0.
fn label_string(to: u64, s: u64, n: u64, count: u64) {
    let mut from = s;
    for i in 0.. {
        if to != 0 && i == n {
            return;
        }
        let byte = V::byte(from);
        let is_end = decide_end(byte);
        let used = match is_end {
            true => 0,
            // What libc decodes here, with a state of its own.
            false => {
                let mut state = [0u64; 2];
                // Safety: the bytes are those of the string, and the state is a fresh one.
                unsafe { real::mbrtowc(0, from, MAX_SEQUENCE, &raw mut state as u64) }
            }
        };
        let place =
            if to == 0 || (count == u64::MAX && used > MAX_SEQUENCE) { 0 } else { to + 4 * i };
        label_decoded(place, from, MAX_SEQUENCE, used, true);
        if is_end || used > MAX_SEQUENCE {
            return;
        }
        from += used;
    }
}

/// The longest sequence of any encoding of glibc.
const MAX_SEQUENCE: u64 = 16;

/// Decides whether a character is in ASCII; pins it if it is not.
fn decide_ascii(c: V) -> bool {
    let yes = c.ult(V::new(c.width, 128)).decide();
    if !yes {
        c.pin();
    }
    yes
}

fn test_class(c: V, real: impl Fn(u32) -> i32) -> V {
    let is = real(c.val as u32);
    if c.label == 0 || !decide_ascii(c) {
        return is.into();
    }
    // All members have the same result. The set is made in each call, since the locale may
    // have changed.
    let mut members = Set::EMPTY;
    let mut answer = 0;
    for b in 0..128u8 {
        let one = real(b.into());
        if one != 0 {
            members.insert(b);
            answer = one;
        }
    }
    members.contains(c).choose(answer.into(), 0.into())
}

fn change_case(c: V, first: u8, step: i32, real: impl Fn(u32) -> u32) -> V {
    let to = real(c.val as u32);
    if c.label == 0 || !decide_ascii(c) {
        return to.into();
    }
    let letter = |b: u8| (first..first + 26).contains(&b);
    let plain = (0..128u8).all(|b| {
        real(b.into()) == u32::from(b).wrapping_add_signed(if letter(b) { step } else { 0 })
    });
    if !plain {
        c.pin();
        return to.into();
    }
    is_between(c, first, first + 25).choose(c.add(step.into()), c)
}

/// Labels a character that libc decoded from `used` bytes at `s` and stored at `to`, if that
/// is not 0. `used` is -1 or -2 if there was no character.
fn label_decoded(to: u64, s: u64, n: u64, used: u64, fresh: bool) {
    if s == 0 {
        return;
    }
    let exact = if fresh { decode(s, n, used) } else { None };
    if exact.is_none() {
        pin_bytes(s, if used <= MAX_SEQUENCE { used.max(1) } else { MAX_SEQUENCE }.min(n));
    }
    if to != 0 && used <= MAX_SEQUENCE {
        clear(to, 4);
        if let Some(c) = exact {
            c.store_label(to);
        }
    }
}

/// The character as an expression, after decisions on the form of the sequence. `None` if it
/// is not a character, or if libc decoded another one.
fn decode(s: u64, n: u64, used: u64) -> Option<V> {
    let lead = V::byte(s);
    if decide_end(lead) || lead.ult(V::new(8, 128)).decide() {
        return (used <= 1).then(|| lead.zext(32));
    }
    if !is_utf8() {
        return None;
    }
    let shaped = |b: V, mask: u64, marks: u64| b.and(V::new(8, mask)).eq(V::new(8, marks)).decide();
    let in_range = |c: V, least: u64, most: u64| {
        c.sub(V::new(32, least)).ule(V::new(32, most - least)).decide()
    };
    // Length, mask and marks of the first byte, and range of the characters.
    const FORMS: [(u64, u64, u64, u64, u64); 3] = [
        (2, 0xe0, 0xc0, 0x80, 0x7ff),
        (3, 0xf0, 0xe0, 0x800, 0xffff),
        (4, 0xf8, 0xf0, 0x1_0000, 0x10_ffff),
    ];
    for (len, mask, marks, least, most) in FORMS {
        if !shaped(lead, mask, marks) {
            continue;
        }
        let mut c = lead.and(V::new(8, !mask)).zext(32);
        for i in 1..len {
            if i == n || !shaped(V::byte(s + i), 0xc0, 0x80) {
                return None;
            }
            let low = V::byte(s + i).and(V::new(8, 0x3f)).zext(32);
            c = c.mul(V::new(32, 64)).add(low);
        }
        let surrogate = |c| len == 3 && in_range(c, 0xd800, 0xdfff);
        return (in_range(c, least, most) && !surrogate(c) && used == len).then_some(c);
    }
    None
}

fn is_utf8() -> bool {
    const CODESET: i32 = 14;
    // Safety: the result is a string.
    unsafe { CStr::from_ptr(real::nl_langinfo(CODESET) as *const c_char) == c"UTF-8" }
}
