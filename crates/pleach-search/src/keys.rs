//! Hash maps whose keys are keys of decisions. Most of the time for a run of 30,000
//! decisions goes into these lookups. The keys are hashes already, so one round of mixing
//! is enough, and faster than the standard hasher, which resists chosen collisions.

use pleach_hash::Hash;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

pub(crate) type KeyMap<K, V> = HashMap<K, V, BuildHasherDefault<KeyHasher>>;

#[derive(Default)]
pub(crate) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&b| self.write_u64(b.into()));
    }

    fn write_u32(&mut self, n: u32) {
        self.write_u64(n.into());
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = Hash::from(self.0).add(n).finish();
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
