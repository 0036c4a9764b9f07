//! Comparison of version strings: `strverscmp`, as glibc does it.
//!
//! The first difference counts, as with `strcmp`. But a number that begins with 1 to 9 is
//! compared by its value, and one that begins with 0 as a fraction: `a9` is less than `a10`,
//! and `a09` is less than `a1`. The equal characters before the difference say which rule
//! holds: they give its [`Place`].
//!
//! If one side is concrete, the place of every possible difference is known. Then the result
//! is one expression and no decision is recorded, as with `strcmp` (see `compare.rs`). If
//! both sides are labelled, the characters are decided one by one. So they are if the
//! strings are long, or if bytes after the terminator of the labelled side may not exist.

use super::api::{V, is_clean};
use super::compare::{MAX_CHAIN, readable_bytes, size_within};
use super::define::models;
use super::text::{decide_end, is_between};

mod real {
    unsafe extern "C" {
        pub fn strverscmp(a: u64, b: u64) -> i32;
    }
}

models! {
    fn strverscmp(a: u64, b: u64) -> i32 {
        let (a, b) = (a.pin(), b.pin());
        let sizes = [size_within(a, u64::MAX), size_within(b, u64::MAX)];
        let clean = [is_clean(a, sizes[0]), is_clean(b, sizes[1])];
        let versions = Versions { a, b };
        let (fixed, need, other, other_size) = match clean {
            // The function compares the addresses first.
            _ if a == b => return 0.into(),
            [true, true] => return real::strverscmp(a, b).into(),
            [false, false] => return versions.one_by_one(),
            [true, false] => (a, sizes[0], b, sizes[1]),
            [false, true] => (b, sizes[1], a, sizes[0]),
        };
        let have = if need <= other_size { need } else { readable_bytes(other, other_size, need) };
        // The labelled side may be shorter, for every input.
        let is_end = |c: V| c.label == 0 && c.val == 0;
        let all = have == need || is_end(V::byte(other + have - 1));
        if all && have <= MAX_CHAIN { versions.at_once(fixed, have) } else { versions.one_by_one() }
    }
}

/// Where a difference lies, by the equal characters before it.
#[derive(Clone, Copy)]
enum Place {
    /// Not after a digit.
    Text,
    /// In a number that begins with 1 to 9.
    Number,
    /// In a number of which there are only zeros so far.
    Zeros,
    /// In a number that begins with 0, after another digit.
    Fraction,
}

impl Place {
    /// The place after one more equal character.
    fn after(self, c: V) -> Place {
        if !is_digit(c).decide() {
            return Place::Text;
        }
        match self {
            Place::Number | Place::Fraction => self,
            Place::Text if is_zero(c).decide() => Place::Zeros,
            Place::Text => Place::Number,
            Place::Zeros if is_zero(c).decide() => Place::Zeros,
            Place::Zeros => Place::Fraction,
        }
    }

    /// True if a character is a figure here: a digit for which [`Place::result`] has a rule.
    fn is_figure(self, c: V) -> V {
        match self {
            Place::Text => is_between(c, b'1', b'9'),
            Place::Number | Place::Zeros => is_digit(c),
            Place::Fraction => V::new(1, 0),
        }
    }

    /// The result if two characters here differ. `x` and `y` say which of them are figures,
    /// `difference` is that of the characters, and `lengths` that of the digits after them.
    fn result(self, x: V, y: V, difference: V, lengths: V) -> V {
        let by_length = lengths.ne(EQUAL).choose(lengths, difference);
        let is_never = |v: V| v.label == 0 && v.val == 0;
        let (both, only_x, only_y) = match self {
            Place::Text if is_never(x) || is_never(y) => return difference,
            Place::Text => (by_length, difference, difference),
            Place::Number => (by_length, GREATER, LESS),
            Place::Zeros => (difference, LESS, GREATER),
            Place::Fraction => return difference,
        };
        x.choose(y.choose(both, only_x), y.choose(only_y, difference))
    }
}

const LESS: V = V::new(32, u32::MAX as u64);
const EQUAL: V = V::new(32, 0);
const GREATER: V = V::new(32, 1);

struct Versions {
    a: u64,
    b: u64,
}

impl Versions {
    fn bytes_at(&self, i: u64) -> (V, V) {
        (V::byte(self.a + i), V::byte(self.b + i))
    }

    /// The result over `n` bytes as one expression. The side at `fixed` is concrete.
    fn at_once(&self, fixed: u64, n: u64) -> V {
        let mut places = [Place::Text; MAX_CHAIN as usize + 1];
        for i in 0..n {
            places[i as usize + 1] = places[i as usize].after(V::byte(fixed + i));
        }
        let mut result = EQUAL;
        // Which side has more digits after the byte at `i`. It counts only inside a number.
        let mut lengths = EQUAL;
        for i in (0..n).rev() {
            let (x, y) = self.bytes_at(i);
            let place = places[i as usize];
            let difference = x.zext(32).sub(y.zext(32));
            let here = place.result(place.is_figure(x), place.is_figure(y), difference, lengths);
            result = difference.ne(EQUAL).choose(here, result);
            lengths = match place {
                Place::Number => {
                    let (x, y) = (is_digit(x), is_digit(y));
                    x.choose(y.choose(lengths, GREATER), y.choose(LESS, EQUAL))
                }
                _ => EQUAL,
            };
        }
        result
    }

    /// The result with decisions for each byte.
    fn one_by_one(&self) -> V {
        let mut place = Place::Text;
        for i in 0.. {
            let (x, y) = self.bytes_at(i);
            if !x.eq(y).decide() {
                let decide_figure = |c| V::new(1, place.is_figure(c).decide().into());
                let (figure_x, figure_y) = (decide_figure(x), decide_figure(y));
                let by_length = !matches!(place, Place::Zeros) && figure_x.val & figure_y.val != 0;
                let lengths = if by_length { self.decide_lengths(i + 1) } else { EQUAL };
                let difference = x.zext(32).sub(y.zext(32));
                return place.result(figure_x, figure_y, difference, lengths);
            }
            if decide_end(x) {
                break;
            }
            // Both are the same character. If one is concrete, this is no decision.
            place = place.after(if x.label == 0 { x } else { y });
        }
        EQUAL
    }

    /// Which side has more digits from the byte at `i` on.
    fn decide_lengths(&self, i: u64) -> V {
        for i in i.. {
            let (x, y) = self.bytes_at(i);
            match (is_digit(x).decide(), is_digit(y).decide()) {
                (true, true) => {}
                (true, false) => return GREATER,
                (false, true) => return LESS,
                (false, false) => break,
            }
        }
        EQUAL
    }
}

fn is_digit(c: V) -> V {
    is_between(c, b'0', b'9')
}

fn is_zero(c: V) -> V {
    c.eq(V::new(8, b'0'.into()))
}
