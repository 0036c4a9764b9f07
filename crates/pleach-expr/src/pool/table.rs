//! Tables of bytes and sets of numbers, which terms refer to.

use super::mix;
use crate::eval::mask;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// The bytes of a snapshot. Tables with the same bytes are the same table, also in
/// different runs.
#[derive(Clone, Debug)]
pub struct Table {
    pub bytes: Arc<[u8]>,
    pub(super) hash: u64,
    /// By width of entries: the significant bits of the largest entry. Filled by
    /// [`Table::bits`].
    bits: Arc<Mutex<HashMap<u32, u32>>>,
}

impl Table {
    pub fn new(bytes: &[u8]) -> Table {
        let chunks = bytes.chunks_exact(8);
        let tail = chunks.remainder().iter().fold(1, |t, &b| t << 8 | u64::from(b));
        let words = chunks.map(|c| c.iter().fold(0, |w, &b| w << 8 | u64::from(b)));
        let hash = words.fold(bytes.len() as u64, mix);
        Table { bytes: bytes.into(), hash: mix(hash, tail), bits: Arc::default() }
    }

    /// A hash of the bytes.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// The entry at a byte offset; 0 outside of the table.
    pub fn get(&self, offset: u64, width: u32) -> u128 {
        let bytes = usize::try_from(offset)
            .ok()
            .and_then(|at| self.bytes.get(at..)?.get(..width as usize / 8));
        bytes.map_or(0, |b| b.iter().rev().fold(0, |v, &b| v << 8 | u128::from(b)))
    }

    /// As [`Table::get`] for entries of up to 64 bits.
    #[inline]
    pub fn get64(&self, offset: u64, width: u32) -> u64 {
        let bytes = usize::try_from(offset)
            .ok()
            .and_then(|at| self.bytes.get(at..)?.get(..width as usize / 8));
        match *bytes.unwrap_or(&[]) {
            [] => 0,
            [a] => a.into(),
            [a, b] => u16::from_le_bytes([a, b]).into(),
            [a, b, c, d] => u32::from_le_bytes([a, b, c, d]).into(),
            ref bytes => bytes.iter().rev().fold(0, |v, &b| v << 8 | u64::from(b)),
        }
    }

    /// An upper bound of the significant bits of all entries of a width, at all offsets,
    /// aligned or not.
    pub(super) fn bits(&self, width: u32) -> u32 {
        let Ok(mut bits) = self.bits.lock() else { return width };
        *bits.entry(width).or_insert_with(|| {
            let bytes = width as usize / 8;
            // All bits that byte `i` of any entry has.
            let bits_at = |i: usize| {
                let last = self.bytes.len().saturating_sub(bytes) + i + 1;
                self.bytes.get(i..last).unwrap_or(&[]).iter().fold(0, |all, &b| all | b)
            };
            let top = (0..bytes).rev().find(|&i| bits_at(i) != 0);
            top.map_or(0, |top| 8 * top as u32 + 8 - bits_at(top).leading_zeros())
        })
    }
}

/// A set of numbers, for `Member`.
#[derive(Clone, Debug)]
pub struct Set {
    /// Sorted.
    pub values: Arc<[u64]>,
    pub(super) hash: u64,
}

impl Set {
    pub(super) fn new(values: impl Iterator<Item = u128>) -> Set {
        let mut values: Vec<u64> = values.map(|v| v as u64).collect();
        values.sort_unstable();
        values.dedup();
        let hash = values.iter().copied().fold(values.len() as u64, mix);
        Set { values: values.into(), hash }
    }

    /// A hash of the values.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    pub fn contains(&self, value: u128) -> bool {
        value & !mask(64) == 0 && self.values.binary_search(&(value as u64)).is_ok()
    }
}
