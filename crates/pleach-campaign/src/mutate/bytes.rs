//! Operations on bytes and blocks of bytes, whatever they mean.

use super::{Work, splice_in};

/// Values at which programs change their minds: the ends of the ranges of
/// signed and unsigned numbers, powers of two, and their neighbours.
const INTERESTING_8: [i8; 9] = [-128, -1, 0, 1, 16, 32, 64, 100, 127];
const INTERESTING_16: [i16; 10] = [-32768, -129, 128, 255, 256, 512, 1000, 1024, 4096, 32767];
const INTERESTING_32: [i32; 8] =
    [i32::MIN, -100_663_046, -32769, 32768, 65535, 65536, 100_663_045, i32::MAX];
/// The most that is added or subtracted.
const STEP: usize = 35;
/// The longest run of one byte that is put in.
const RUN: usize = 32;

impl Work<'_> {
    /// Changes a few bytes in place.
    pub fn change(&mut self, out: &mut [u8]) {
        if out.is_empty() {
            return;
        }
        let at = self.rng.below(out.len());
        match self.rng.below(10) {
            0 | 1 => out[at] ^= 1 << self.rng.below(8),
            // Never nothing: a change by 1 to 255.
            2 | 3 => out[at] ^= 1 + self.rng.below(255) as u8,
            4 => self.add(out, at),
            5 => self.add_wide(out, at),
            6 => out[at] = INTERESTING_8[self.rng.below(INTERESTING_8.len())] as u8,
            7 => self.interesting_wide(out, at),
            // A neighbour in the alphabet of this input is likelier to be
            // understood than any byte.
            8 => out[at] = out[self.rng.below(out.len())],
            _ => out[at] = b' ' + self.rng.below(95) as u8,
        }
    }

    /// Removes, doubles, moves or fills a block.
    pub fn block(&mut self, out: &mut Vec<u8>) {
        match self.rng.below(8) {
            0..=2 => {
                if out.len() > 1 {
                    let (at, len) = self.span(out.len());
                    splice_in(out, at, len, &[], self.max_len);
                }
            }
            3 | 4 => {
                let (from, len) = self.span(out.len());
                self.keep(out, from, len);
                self.put_back(out, false);
            }
            5 => {
                let (from, len) = self.span(out.len());
                self.keep(out, from, len);
                self.put_back(out, true);
            }
            6 => {
                // One byte over and over, or a byte of the input.
                let len = 1 + self.rng.below(RUN);
                let byte = match self.rng.below(out.len() + 1) {
                    at if self.rng.coin() && at < out.len() => out[at],
                    _ => self.rng.below(256) as u8,
                };
                self.scratch.clear();
                self.scratch.resize(len, byte);
                let over = self.rng.coin();
                self.put_back(out, over);
            }
            _ => self.swap(out),
        }
    }

    /// A block of the other input, put in or written over; or its tail behind
    /// our head.
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
        let (from, len) = self.span(other.len());
        let block = &other[from..from + len];
        if self.rng.coin() || !self.overwrite_with(out, block) {
            self.insert(out, block);
        }
    }

    /// A few bytes of any kind, where there are none yet.
    pub fn begin(&mut self, out: &mut Vec<u8>) {
        let printable = self.rng.coin();
        for _ in 0..(1 + self.rng.below(8)).min(self.max_len) {
            let byte = if printable { 32 + self.rng.below(95) } else { self.rng.below(256) };
            out.push(byte as u8);
        }
    }

    fn add(&mut self, out: &mut [u8], at: usize) {
        let by = 1 + self.rng.below(STEP) as u8;
        out[at] = if self.rng.coin() { out[at].wrapping_add(by) } else { out[at].wrapping_sub(by) };
    }

    /// The same on two or four bytes, in either order.
    fn add_wide(&mut self, out: &mut [u8], at: usize) {
        let mut by = 1 + self.rng.below(STEP) as u32;
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

    fn interesting_wide(&mut self, out: &mut [u8], at: usize) {
        let big = self.rng.coin();
        let rest = &mut out[at..];
        if rest.len() >= 4 && self.rng.coin() {
            // The narrow ones are interesting here too.
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

    /// Exchanges two blocks that do not overlap.
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

    /// A block of something: where it starts, and its length. Short ones are
    /// likelier: a length is below a bound that is itself any up to the whole.
    fn span(&mut self, whole: usize) -> (usize, usize) {
        if whole == 0 {
            return (0, 0);
        }
        let bound = 1 + self.rng.below(whole);
        let len = 1 + self.rng.below(bound);
        (self.rng.below(whole - len + 1), len)
    }

    /// Keeps a block of the mutant aside.
    pub fn keep(&mut self, out: &[u8], from: usize, len: usize) {
        self.scratch.clear();
        self.scratch.extend_from_slice(&out[from..from + len]);
    }

    /// Puts what was kept aside in somewhere, or over what is there.
    pub fn put_back(&mut self, out: &mut Vec<u8>, over: bool) {
        let block = std::mem::take(self.scratch);
        if !(over && self.overwrite_with(out, &block)) {
            self.insert(out, &block);
        }
        *self.scratch = block;
    }
}
