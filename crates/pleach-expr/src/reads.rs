//! The inputs that a term reads, as ranges.
//!
//! A program that sums up a file makes a term for each byte, and each term depends on all
//! bytes before it. Lists of bytes would take quadratic memory; a range is two numbers.
//! Most terms read one range. The others refer to a list of ranges, which all terms with
//! the same inputs share. A list of more than [`MAX_RANGES`] is shortened by closing gaps.
//! Then a term seems to read more than it does. That makes slices larger, but never wrong.

use std::collections::HashMap;

/// An input: a byte of the file by its offset, or the length of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(pub u32);

/// The number of the first length. Smaller numbers are offsets of bytes.
const LENGTHS: u32 = 1 << 31;
/// Ranges in one list.
const MAX_RANGES: usize = 64;

impl Var {
    pub const fn byte(offset: u32) -> Var {
        Var(offset)
    }

    pub const fn length(stream: u32) -> Var {
        Var(LENGTHS | stream)
    }

    /// The offset, if this is a byte.
    pub fn as_byte(self) -> Option<u32> {
        (self.0 < LENGTHS).then_some(self.0)
    }

    /// The stream, if this is a length.
    pub fn as_length(self) -> Option<u32> {
        (self.0 >= LENGTHS).then_some(self.0 & !LENGTHS)
    }
}

/// The inputs that a term reads. Its pool has the details.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reads(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    One((u32, u32)),
    List(u32),
}

impl Reads {
    pub(crate) const NONE: Reads = Reads(Kind::One((0, 0)));

    pub(crate) fn bytes(offset: u32, count: u32) -> Reads {
        Reads(Kind::One((offset, offset + count)))
    }

    pub(crate) fn length(stream: u32) -> Reads {
        let var = Var::length(stream).0;
        Reads(Kind::One((var, var + 1)))
    }

    /// The input, if the term reads exactly one.
    pub fn single(self) -> Option<Var> {
        match self.0 {
            Kind::One((from, to)) if to == from + 1 => Some(Var(from)),
            _ => None,
        }
    }

    pub fn is_empty(self) -> bool {
        self == Reads::NONE
    }
}

/// Lists of ranges, each stored once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    lists: Vec<Box<[(u32, u32)]>>,
    ids: HashMap<Box<[(u32, u32)]>, u32>,
    unions: HashMap<(u32, Reads), Reads>,
}

impl Ranges {
    pub fn memory(&self) -> usize {
        let lists: usize = self.lists.iter().map(|l| 2 * size_of_val(&**l) + 32).sum();
        lists + self.unions.capacity() * 24
    }

    pub fn ranges<'a>(&'a self, reads: &'a Reads) -> &'a [(u32, u32)] {
        match &reads.0 {
            Kind::One((from, to)) if from == to => &[],
            Kind::One(range) => std::slice::from_ref(range),
            Kind::List(id) => &self.lists[*id as usize],
        }
    }

    pub fn vars(&self, reads: Reads) -> impl Iterator<Item = Var> + '_ {
        let (one, list): (_, &[(u32, u32)]) = match reads.0 {
            Kind::One(range) => (Some(range), &[]),
            Kind::List(id) => (None, &self.lists[id as usize]),
        };
        one.into_iter().chain(list.iter().copied()).flat_map(|(from, to)| (from..to).map(Var))
    }

    pub fn contains(&self, reads: Reads, var: Var) -> bool {
        match reads.0 {
            Kind::One((from, to)) => (from..to).contains(&var.0),
            Kind::List(id) => {
                let list = &self.lists[id as usize];
                let at = list.partition_point(|r| r.1 <= var.0);
                list.get(at).is_some_and(|r| r.0 <= var.0)
            }
        }
    }

    pub fn union(&mut self, a: Reads, b: Reads) -> Reads {
        if a == b || b.is_empty() {
            return a;
        }
        if a.is_empty() {
            return b;
        }
        let (list, other) = match (a.0, b.0) {
            (Kind::One((f1, t1)), Kind::One((f2, t2))) => {
                if f2 <= t1 && f1 <= t2 {
                    return Reads(Kind::One((f1.min(f2), t1.max(t2))));
                }
                return self.merge(a, b);
            }
            (Kind::List(id), _) => (id, b),
            (_, Kind::List(id)) => (id, a),
        };
        if let Some(&cached) = self.unions.get(&(list, other)) {
            return cached;
        }
        let merged = self.merge(a, b);
        self.unions.insert((list, other), merged);
        merged
    }

    fn merge(&mut self, a: Reads, b: Reads) -> Reads {
        let mut all = [self.ranges(&a), self.ranges(&b)].concat();
        all.sort_unstable();
        let mut list: Vec<(u32, u32)> = Vec::with_capacity(all.len());
        for (from, to) in all {
            match list.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                _ => list.push((from, to)),
            }
        }
        if list.len() > MAX_RANGES {
            list = close_gaps(&list);
        }
        if let [one] = list[..] {
            return Reads(Kind::One(one));
        }
        let list = list.into_boxed_slice();
        if let Some(&id) = self.ids.get(&list) {
            return Reads(Kind::List(id));
        }
        let id = self.lists.len() as u32;
        self.ids.insert(list.clone(), id);
        self.lists.push(list);
        Reads(Kind::List(id))
    }
}

/// Halves the number of ranges by closing the smallest gaps. The gap between bytes and
/// lengths stays open.
fn close_gaps(list: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let stays_open = |w: &[(u32, u32)]| w[0].0 < LENGTHS && w[1].0 >= LENGTHS;
    let mut gaps: Vec<u32> =
        list.windows(2).filter(|w| !stays_open(w)).map(|w| w[1].0 - w[0].1).collect();
    gaps.sort_unstable();
    let limit = gaps[gaps.len() / 2];
    let mut out: Vec<(u32, u32)> = Vec::new();
    for &(from, to) in list {
        match out.last_mut() {
            Some(last) if from - last.1 <= limit && !stays_open(&[*last, (from, to)]) => {
                last.1 = to;
            }
            _ => out.push((from, to)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn unions_contain_both_sets() {
        let mut ranges = Ranges::default();
        let mut seed = 7u32;
        let mut next = |below: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) % below
        };
        let mut known: Vec<(Reads, BTreeSet<u32>)> = vec![(Reads::NONE, BTreeSet::new())];
        for _ in 0..2000 {
            let reads = match next(3) {
                0 => {
                    let (at, count) = (next(200), 1 + next(4));
                    (Reads::bytes(at, count), (at..at + count).collect())
                }
                1 if next(4) == 0 => (Reads::length(1), BTreeSet::from([Var::length(1).0])),
                _ => {
                    let count = known.len() as u32;
                    let (a, b) = (next(count) as usize, next(count) as usize);
                    let reads = ranges.union(known[a].0, known[b].0);
                    (reads, known[a].1.union(&known[b].1).copied().collect())
                }
            };
            known.push(reads);
        }
        for (reads, set) in &known {
            let got: BTreeSet<u32> = ranges.vars(*reads).map(|v| v.0).collect();
            assert!(got.is_superset(set), "{got:?} {set:?}");
            if ranges.ranges(reads).len() <= MAX_RANGES / 2 && set.len() < 20 {
                assert_eq!(&got, set);
            }
            assert!(set.iter().all(|&v| ranges.contains(*reads, Var(v))));
            let one = (set.len() == 1).then(|| Var(*set.iter().next().unwrap()));
            assert_eq!(reads.single(), one);
        }
    }

    #[test]
    fn closing_gaps_keeps_lengths_apart() {
        let mut ranges = Ranges::default();
        let mut all = Reads::length(0);
        for i in 0..400 {
            all = ranges.union(all, Reads::bytes(10 * i, 1));
        }
        assert!(ranges.ranges(&all).len() <= MAX_RANGES);
        assert!((0..400).all(|i| ranges.contains(all, Var::byte(10 * i))));
        assert!(!ranges.contains(all, Var(LENGTHS - 1)));
        assert!(ranges.contains(all, Var::length(0)));
    }
}
