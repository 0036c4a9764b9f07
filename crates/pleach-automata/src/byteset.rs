//! A set of byte values: 256 bits.

use std::fmt;

/// A set of bytes: one bit for each value, the lowest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ByteSet(pub [u64; 4]);

impl ByteSet {
    pub const EMPTY: ByteSet = ByteSet([0; 4]);
    pub const ALL: ByteSet = ByteSet([u64::MAX; 4]);

    pub fn of(byte: u8) -> ByteSet {
        let mut set = ByteSet::EMPTY;
        set.insert(byte);
        set
    }

    /// Both ends included; empty if `low` is above `high`.
    pub fn range(low: u8, high: u8) -> ByteSet {
        (low..=high).collect()
    }

    pub fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    pub fn remove(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] &= !(1 << (byte & 63));
    }

    pub fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 != 0
    }

    pub fn len(&self) -> usize {
        self.0.iter().map(|w| w.count_ones() as usize).sum()
    }

    pub fn is_empty(&self) -> bool {
        *self == ByteSet::EMPTY
    }

    #[must_use]
    pub fn union(&self, other: &ByteSet) -> ByteSet {
        ByteSet(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }

    #[must_use]
    pub fn intersection(&self, other: &ByteSet) -> ByteSet {
        ByteSet(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }

    #[must_use]
    pub fn difference(&self, other: &ByteSet) -> ByteSet {
        ByteSet(std::array::from_fn(|i| self.0[i] & !other.0[i]))
    }

    #[must_use]
    pub fn complement(&self) -> ByteSet {
        ByteSet::ALL.difference(self)
    }

    pub fn iter(&self) -> impl Iterator<Item = u8> + use<> {
        let words = self.0;
        (0..4u8).flat_map(move |i| {
            let mut word = words[usize::from(i)];
            std::iter::from_fn(move || {
                (word != 0).then(|| {
                    let bit = word.trailing_zeros() as u8;
                    word &= word - 1;
                    64 * i + bit
                })
            })
        })
    }

    /// The set as ranges, both ends included.
    pub fn ranges(&self) -> Vec<(u8, u8)> {
        let mut ranges: Vec<(u8, u8)> = Vec::new();
        for byte in self.iter() {
            match ranges.last_mut() {
                Some((_, high)) if u16::from(*high) + 1 == u16::from(byte) => *high = byte,
                _ => ranges.push((byte, byte)),
            }
        }
        ranges
    }

    /// The byte of the set to use in place of `current`: `current` itself if it is in
    /// the set. Otherwise a character that a keyboard has is better than any other
    /// byte, then one of the same kind (a digit for a digit, a letter for a letter),
    /// then the nearest value.
    pub fn nearest(&self, current: u8) -> Option<u8> {
        if self.contains(current) {
            return Some(current);
        }
        let is_typed = |v: u8| matches!(v, b' '..=b'~' | b'\n' | b'\t');
        let kind = |v: u8| match v {
            b'0'..=b'9' => 0,
            b'a'..=b'z' | b'A'..=b'Z' => 1,
            v if is_typed(v) => 2,
            _ => 3,
        };
        let rank = |v: u8| (!is_typed(v), kind(v) != kind(current), v.abs_diff(current), v);
        self.iter().min_by_key(|&v| rank(v))
    }
}

impl FromIterator<u8> for ByteSet {
    fn from_iter<I: IntoIterator<Item = u8>>(bytes: I) -> ByteSet {
        let mut set = ByteSet::EMPTY;
        bytes.into_iter().for_each(|b| set.insert(b));
        set
    }
}

impl fmt::Debug for ByteSet {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("[")?;
        for (low, high) in self.ranges() {
            write!(f, "{}", low.escape_ascii())?;
            if low < high {
                write!(f, "-{}", high.escape_ascii())?;
            }
        }
        f.write_str("]")
    }
}

/// The coarsest partition of `whole` in which each of `sets`, cut to `whole`, is a
/// union of parts. There is at least one part, even if `whole` is empty.
pub fn partition(whole: ByteSet, sets: impl IntoIterator<Item = ByteSet>) -> Vec<ByteSet> {
    let mut parts = vec![whole];
    for set in sets {
        for at in 0..parts.len() {
            let (inside, outside) = (parts[at].intersection(&set), parts[at].difference(&set));
            if !inside.is_empty() && !outside.is_empty() {
                parts[at] = inside;
                parts.push(outside);
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_contains_the_inserted_bytes_only() {
        let values = [0u8, 1, 63, 64, 127, 128, 200, 255];
        let set: ByteSet = values.into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), values);
        assert_eq!((set.len(), set.complement().len()), (8, 248));
        assert!((0..=255).all(|v| set.contains(v) == values.contains(&v)));
        assert!(set.intersection(&set.complement()).is_empty());
    }

    #[test]
    fn the_nearest_is_of_the_same_kind() {
        let set: ByteSet = [0, b'9', b':', b'z'].into_iter().collect();
        assert_eq!(set.nearest(b'a'), Some(b'z'));
        assert_eq!(set.nearest(b'1'), Some(b'9'));
        assert_eq!(set.nearest(0), Some(0));
        assert_eq!(set.nearest(b'/'), Some(b':'));
        assert_eq!(ByteSet::EMPTY.nearest(7), None);
        assert_eq!(ByteSet::of(200).nearest(7), Some(200));
    }

    #[test]
    fn sets_have_ranges_and_a_short_form() {
        let set: ByteSet = b"abcx".iter().copied().collect();
        assert_eq!(set.ranges(), [(b'a', b'c'), (b'x', b'x')]);
        assert_eq!(set.complement().len(), 252);
        assert!(ByteSet::range(b'z', b'a').is_empty());
        assert_eq!(format!("{set:?}"), "[a-cx]");
    }
}
