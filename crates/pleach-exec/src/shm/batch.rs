//! The inputs of a batch, and their results: see `pleach_abi::shm::BatchEntry`.

use super::counters::CounterRanges;
use super::{Growth, Shm};
use pleach_abi::shm::{
    BATCH_LINES, BATCH_MAX, BatchEntry, Header, LINE_BYTES, LINE_COUNTERS, Line,
};
use std::mem::offset_of;

const ENTRY: usize = size_of::<BatchEntry>();
const LINE: usize = size_of::<Line>();
const INPUTS_AT: usize = (BATCH_MAX * ENTRY).next_multiple_of(8);

/// Bytes of the batch region, for inputs of this many bytes together.
pub(super) fn region(inputs: u64) -> u64 {
    if inputs == 0 { 0 } else { INPUTS_AT as u64 + inputs }
}

/// The number of lines that there is room for: after [`BATCH_LINES`], one input may still
/// move all of its lines.
pub(super) fn lines(inputs: u64, cover: u64) -> u64 {
    if inputs == 0 { 0 } else { BATCH_LINES as u64 + cover.div_ceil(LINE_BYTES as u64) }
}

impl Shm {
    /// Puts inputs in place for the next run. Returns how many there is room for.
    pub fn put_batch<'a>(&mut self, inputs: impl Iterator<Item = (&'a [u8], Growth)>) -> usize {
        let (mut at, mut count) = (INPUTS_AT, 0);
        for (bytes, growth) in inputs.take(BATCH_MAX) {
            let end = at + bytes.len();
            if end > INPUTS_AT + self.sizes.batch as usize {
                break;
            }
            let Growth { limit, seed, reached, calls } = growth;
            let words = [at as u64, bytes.len() as u64, limit, seed, reached, calls, 0];
            let entry: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
            self.batch.write(count * ENTRY, &entry);
            self.batch.write(at, bytes);
            (at, count) = (end.next_multiple_of(8), count + 1);
        }
        self.put(offset_of!(Header, batch_len), &(count as u32).to_le_bytes());
        self.header.write(offset_of!(Header, batch_at), &[0; 4]);
        count
    }

    /// The input that the batch is at: those before it are done. The target may have written
    /// any number.
    pub fn batch_at(&self) -> usize {
        self.header.read_u32(offset_of!(Header, batch_at)) as usize
    }

    /// Appends the lines that an input of the batch moved. Returns what its typed calls did.
    /// Lines that cannot be are left out.
    pub fn take_batch_lines(
        &self,
        input: usize,
        ranges: &CounterRanges,
        out: &mut Vec<Line>,
    ) -> Growth {
        let entry = input * ENTRY;
        let word = |field: usize| self.batch.read_u64(entry + field);
        let growth = offset_of!(BatchEntry, growth);
        let reported = Growth {
            limit: word(growth + offset_of!(Growth, limit)),
            seed: word(growth + offset_of!(Growth, seed)),
            reached: word(growth + offset_of!(Growth, reached)),
            calls: word(growth + offset_of!(Growth, calls)),
        };
        let capacity = lines(self.sizes.batch, self.sizes.cover) as usize;
        let half = |field: usize| self.batch.read_u32(entry + field) as usize;
        let from = half(offset_of!(BatchEntry, lines_from)).min(capacity);
        let to = half(offset_of!(BatchEntry, lines_to)).min(capacity);
        let mut filter = ranges.filter();
        for line in from..to {
            let at = line * LINE;
            let first = self.lines.read_u32(at + offset_of!(Line, first));
            if !filter.accept(first) {
                continue;
            }
            let mut counts = [0; LINE_COUNTERS];
            for (i, four) in counts.as_chunks_mut().0.iter_mut().enumerate() {
                *four = self.lines.read_u32(at + offset_of!(Line, counts) + 4 * i).to_ne_bytes();
            }
            out.push(Line { first, counts });
        }
        reported
    }
}
