//! A set of byte values: 256 bits.

/// What a byte may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ByteSet(pub [u64; 4]);

impl ByteSet {
    pub const ALL: ByteSet = ByteSet([u64::MAX; 4]);
    pub const NONE: ByteSet = ByteSet([0; 4]);

    pub fn one(value: u8) -> ByteSet {
        let mut set = ByteSet::NONE;
        set.insert(value);
        set
    }

    pub fn insert(&mut self, value: u8) {
        self.0[usize::from(value) / 64] |= 1 << (value % 64);
    }

    pub fn contains(&self, value: u8) -> bool {
        self.0[usize::from(value) / 64] >> (value % 64) & 1 == 1
    }

    pub fn and(&self, other: &ByteSet) -> ByteSet {
        ByteSet(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }

    pub fn not(&self) -> ByteSet {
        ByteSet(self.0.map(|w| !w))
    }

    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    pub fn len(&self) -> u32 {
        self.0.iter().map(|w| w.count_ones()).sum()
    }

    pub fn iter(self) -> impl Iterator<Item = u8> {
        (0..4u8).flat_map(move |i| {
            let mut word = self.0[usize::from(i)];
            std::iter::from_fn(move || {
                (word != 0).then(|| {
                    let bit = word.trailing_zeros() as u8;
                    word &= word - 1;
                    64 * i + bit
                })
            })
        })
    }

    /// The value to try first, where `current` does not fit: what a person could
    /// have typed before what is only a code, and of those the nearest, so that a
    /// digit becomes a digit and a letter a letter where both would do.
    pub fn nearest(&self, current: u8) -> Option<u8> {
        if self.contains(current) {
            return Some(current);
        }
        let typed = |v: u8| matches!(v, b' '..=b'~' | b'\n' | b'\t');
        let class = |v: u8| match v {
            b'0'..=b'9' => 0,
            b'a'..=b'z' | b'A'..=b'Z' => 1,
            v if typed(v) => 2,
            _ => 3,
        };
        let rank = |v: u8| (!typed(v), class(v) != class(current), v.abs_diff(current), v);
        self.iter().min_by_key(|&v| rank(v))
    }
}

impl FromIterator<u8> for ByteSet {
    fn from_iter<I: IntoIterator<Item = u8>>(values: I) -> ByteSet {
        let mut set = ByteSet::NONE;
        values.into_iter().for_each(|v| set.insert(v));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_was_put_in() {
        let values = [0u8, 1, 63, 64, 127, 128, 200, 255];
        let set: ByteSet = values.into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), values);
        assert_eq!((set.len(), set.not().len()), (8, 248));
        assert!((0..=255).all(|v| set.contains(v) == values.contains(&v)));
        assert!(set.and(&set.not()).is_empty());
    }

    #[test]
    fn the_nearest_is_of_the_same_kind() {
        let set: ByteSet = [0, b'9', b':', b'z'].into_iter().collect();
        assert_eq!(set.nearest(b'a'), Some(b'z'));
        assert_eq!(set.nearest(b'1'), Some(b'9'));
        assert_eq!(set.nearest(0), Some(0));
        assert_eq!(set.nearest(b'/'), Some(b':'));
        assert_eq!(ByteSet::NONE.nearest(7), None);
        assert_eq!(ByteSet::one(200).nearest(7), Some(200));
    }
}
