//! Operations on bytes and blocks of bytes.

use super::{Work, splice_in};

/// Boundary values: the ends of the ranges of signed and unsigned numbers, powers of two, and
/// their neighbours.
const INTERESTING_8: [i8; 9] = [-128, -1, 0, 1, 16, 32, 64, 100, 127];
const INTERESTING_16: [i16; 10] = [-32768, -129, 128, 255, 256, 512, 1000, 1024, 4096, 32767];
const INTERESTING_32: [i32; 8] =
    [i32::MIN, -100_663_046, -32769, 32768, 65535, 65536, 100_663_045, i32::MAX];
/// The largest number that is added or subtracted.
const MAX_STEP: usize = 35;
/// The longest run of one byte that is written.
const MAX_RUN: usize = 32;

impl Work<'_> {
    /// Changes a few bytes in place.
    pub fn change_bytes(&mut self, out: &mut [u8]) {
        if out.is_empty() {
            return;
        }
        let at = self.rng.below(out.len());
        match self.rng.below(10) {
            0 | 1 => out[at] ^= 1 << self.rng.below(8),
            // Not by 0, so that the byte changes.
            2 | 3 => out[at] ^= 1 + self.rng.below(255) as u8,
            4 => self.add(out, at),
            5 => self.add_wide(out, at),
            6 => out[at] = INTERESTING_8[self.rng.below(INTERESTING_8.len())] as u8,
            7 => self.interesting_wide(out, at),
            // A program is likelier to understand a byte of this input than a random one.
            8 => out[at] = out[self.rng.below(out.len())],
            _ => out[at] = b' ' + self.rng.below(95) as u8,
        }
    }

    /// Removes, copies, fills or swaps blocks.
    pub fn change_block(&mut self, out: &mut Vec<u8>) {
        match self.rng.below(8) {
            0..=2 => {
                if out.len() > 1 {
                    let (at, len) = self.draw_span(out.len());
                    splice_in(out, at, len, &[], self.max_len);
                }
            }
            3 | 4 => {
                let (from, len) = self.draw_span(out.len());
                self.copy_block(out, from, len);
                self.paste_block(out, false);
            }
            5 => {
                let (from, len) = self.draw_span(out.len());
                self.copy_block(out, from, len);
                self.paste_block(out, true);
            }
            6 => {
                // A run of one byte: of the input, or a random one.
                let len = 1 + self.rng.below(MAX_RUN);
                let byte = match self.rng.below(out.len() + 1) {
                    at if self.rng.coin() && at < out.len() => out[at],
                    _ => self.rng.below(256) as u8,
                };
                self.scratch.clear();
                self.scratch.resize(len, byte);
                let overwrite = self.rng.coin();
                self.paste_block(out, overwrite);
            }
            _ => self.swap(out),
        }
    }

    /// Inserts a block of the other input, or writes it over other bytes, or replaces the end
    /// of this input by the end of the other.
    pub fn splice(&mut self, out: &mut Vec<u8>) {
        let other = self.other;
        if self.rng.below(4) == 0 {
            let head = self.rng.below(out.len() + 1);
            let tail = &other[self.rng.below(other.len())..];
            let len = out.len() - head;
            let room = self.max_len.saturating_sub(head);
            splice_in(out, head, len, &tail[..tail.len().min(room)], self.max_len);
            return;
        }
        let (from, len) = self.draw_span(other.len());
        let block = &other[from..from + len];
        if self.rng.coin() || !self.overwrite_with(out, block) {
            self.insert(out, block);
        }
    }

    /// Adds a few random bytes to an empty input.
    pub fn add_first_bytes(&mut self, out: &mut Vec<u8>) {
        let printable = self.rng.coin();
        for _ in 0..(1 + self.rng.below(8)).min(self.max_len) {
            let byte = if printable { 32 + self.rng.below(95) } else { self.rng.below(256) };
            out.push(byte as u8);
        }
    }

    /// Adds to a byte or subtracts from it.
    fn add(&mut self, out: &mut [u8], at: usize) {
        let by = 1 + self.rng.below(MAX_STEP) as u8;
        out[at] = if self.rng.coin() { out[at].wrapping_add(by) } else { out[at].wrapping_sub(by) };
    }

    /// The same for a number of two or four bytes, in either byte order.
    fn add_wide(&mut self, out: &mut [u8], at: usize) {
        let mut by = 1 + self.rng.below(MAX_STEP) as u32;
        if self.rng.coin() {
            by = by.wrapping_neg();
        }
        let big = self.rng.coin();
        if let Some(b) = out.get_mut(at..).and_then(|o| o.first_chunk_mut::<4>())
            && self.rng.coin()
        {
            *b = match big {
                true => u32::from_be_bytes(*b).wrapping_add(by).to_be_bytes(),
                false => u32::from_le_bytes(*b).wrapping_add(by).to_le_bytes(),
            };
        } else if let Some(b) = out.get_mut(at..).and_then(|o| o.first_chunk_mut::<2>()) {
            let by = by as u16;
            *b = match big {
                true => u16::from_be_bytes(*b).wrapping_add(by).to_be_bytes(),
                false => u16::from_le_bytes(*b).wrapping_add(by).to_le_bytes(),
            };
        } else {
            self.add(out, at);
        }
    }

    /// Writes a boundary value of two or four bytes.
    fn interesting_wide(&mut self, out: &mut [u8], at: usize) {
        let big = self.rng.coin();
        let rest = &mut out[at..];
        if rest.len() >= 4 && self.rng.coin() {
            // The boundary values of 16 bits are interesting for 32 bits, too.
            let value = match self.rng.below(INTERESTING_32.len() + INTERESTING_16.len()) {
                i if i < INTERESTING_32.len() => INTERESTING_32[i],
                i => i32::from(INTERESTING_16[i - INTERESTING_32.len()]),
            };
            let bytes = if big { value.to_be_bytes() } else { value.to_le_bytes() };
            rest[..4].copy_from_slice(&bytes);
        } else if rest.len() >= 2 {
            let value = INTERESTING_16[self.rng.below(INTERESTING_16.len())];
            let bytes = if big { value.to_be_bytes() } else { value.to_le_bytes() };
            rest[..2].copy_from_slice(&bytes);
        }
    }

    /// Swaps two blocks that do not overlap.
    fn swap(&mut self, out: &mut [u8]) {
        if out.len() < 2 {
            return;
        }
        let middle = 1 + self.rng.below(out.len() - 1);
        let (left, right) = out.split_at_mut(middle);
        let len = 1 + self.rng.below(left.len().min(right.len()));
        let a = self.rng.below(left.len() - len + 1);
        let b = self.rng.below(right.len() - len + 1);
        left[a..a + len].swap_with_slice(&mut right[b..b + len]);
    }

    /// Draws a block of something of length `whole`: its start and its length. Short blocks
    /// are likelier: the length is drawn below a random bound.
    fn draw_span(&mut self, whole: usize) -> (usize, usize) {
        if whole == 0 {
            return (0, 0);
        }
        let bound = 1 + self.rng.below(whole);
        let len = 1 + self.rng.below(bound);
        (self.rng.below(whole - len + 1), len)
    }

    /// Copies a block of the mutant.
    pub fn copy_block(&mut self, out: &[u8], from: usize, len: usize) {
        self.scratch.clear();
        self.scratch.extend_from_slice(&out[from..from + len]);
    }

    /// Inserts the copied block at a random place, or writes it over other bytes.
    pub fn paste_block(&mut self, out: &mut Vec<u8>, overwrite: bool) {
        let block = std::mem::take(self.scratch);
        if !(overwrite && self.overwrite_with(out, &block)) {
            self.insert(out, &block);
        }
        *self.scratch = block;
    }
}
