//! Fresh bytes: what typed calls get past the end of the input.
//!
//! A fresh byte depends only on the seed of the run and on its own offset. So both halves
//! and the driver can compute it without a message.

/// The seed that makes every fresh byte 0.
pub const ZEROS: u64 = 0;

/// The fresh byte at `offset` of the stream that typed calls read.
pub fn fresh_byte(seed: u64, offset: u64) -> u8 {
    if seed == ZEROS {
        return 0;
    }
    // SplitMix64, one step for every eight bytes.
    let mut n = seed.wrapping_add((offset / 8 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    n = (n ^ n >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    n = (n ^ n >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^= n >> 31;
    (n >> (8 * (offset % 8))) as u8
}
