//! Which columns to give up if a layer has too many nodes.

use super::build::NewColumn;
use super::plan::Source;
use super::{FEW_NODES, PrefixGraph};
use pleach_expr::Pool;
use pleach_hash::hash_words;
use rustc_hash::{FxHashMap, FxHashSet};

/// Columns that are given up together.
struct ColumnGroup {
    places: Vec<usize>,
    /// About how many conditions depend on them.
    weight: f64,
}

impl PrefixGraph {
    /// The columns to give up so that few nodes are left: those that tell the most nodes
    /// apart for the fewest conditions.
    pub(super) fn choose_given_up(
        &self,
        pool: &Pool,
        rows: &[u64],
        columns: &[NewColumn],
    ) -> Vec<Source> {
        let width = columns.len();
        let count = rows.len() / width;
        // The hash of a row is the exclusive or of the hashes of its values, so that some
        // columns can be taken out.
        let hash = |place: usize, row: usize| hash_words([rows[row * width + place], place as u64]);
        let mut hashes: Vec<u64> =
            (0..count).map(|row| (0..width).fold(0, |h, place| h ^ hash(place, row))).collect();
        let mut groups: Vec<ColumnGroup> = Vec::new();
        let mut by_key: FxHashMap<(bool, u64), usize> = FxHashMap::default();
        for (place, column) in columns.iter().enumerate() {
            let source = column.source;
            let key = self.group_key(pool, source, rows.iter().skip(place).step_by(width));
            let weight = self.plan.weight(pool, source, self.layers.len() as u32);
            let group = *by_key.entry(key).or_insert_with(|| {
                groups.push(ColumnGroup { places: Vec::new(), weight: 0.0 });
                groups.len() - 1
            });
            groups[group].places.push(place);
            groups[group].weight += weight;
        }
        let mut seen: FxHashSet<u64> = FxHashSet::default();
        let mut distinct = |hashes: &mut dyn Iterator<Item = u64>| {
            seen.clear();
            seen.extend(hashes);
            seen.len()
        };
        let without = |group: &ColumnGroup, row: usize, all: u64| {
            group.places.iter().fold(all, |h, &place| h ^ hash(place, row))
        };
        let mut given_up = Vec::new();
        loop {
            let now = distinct(&mut hashes.iter().copied());
            if now <= FEW_NODES || groups.is_empty() || pleach_work::is_stopping() {
                return given_up;
            }
            let mut gains: Vec<(f64, usize)> = Vec::new();
            for (at, group) in groups.iter().enumerate() {
                let mut rest = hashes.iter().enumerate().map(|(row, &h)| without(group, row, h));
                let gain = (now as f64 / distinct(&mut rest) as f64).ln();
                gains.push((gain / (1.0 + group.weight), at));
            }
            gains.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
            let mut chosen: Vec<usize> =
                gains.iter().take(groups.len().div_ceil(16)).map(|g| g.1).collect();
            chosen.sort_unstable();
            for at in chosen.into_iter().rev() {
                let group = groups.swap_remove(at);
                given_up.extend(group.places.iter().map(|&place| columns[place].source));
                hashes.iter_mut().enumerate().for_each(|(row, h)| *h = without(&group, row, *h));
            }
        }
    }

    /// Columns with the same key tell the same nodes apart, or depend on the same byte
    /// alone: to give up one of them without the others is no use.
    fn group_key<'a>(
        &self,
        pool: &Pool,
        source: Source,
        values: impl Iterator<Item = &'a u64>,
    ) -> (bool, u64) {
        let byte = match source {
            Source::Byte(layer) => Some(self.plan.offsets[layer as usize]),
            Source::Term(term) => pool.reads(term).single().and_then(|v| v.as_byte()),
        };
        if let Some(byte) = byte {
            return (true, byte.into());
        }
        let mut firsts: FxHashMap<u64, u64> = FxHashMap::default();
        let numbered = values.map(|&value| {
            let next = firsts.len() as u64;
            *firsts.entry(value).or_insert(next)
        });
        (false, hash_words(numbered))
    }
}
