//! The inputs that a persistent process has read. If a crash does not happen again in a
//! process of its own, one of them may be its cause.

use pleach_exec::Outcome;
use pleach_exec::executor::End;
use std::sync::Arc;

/// No more bytes are remembered. A process that reads more has no sequence.
const MAX_BYTES: usize = 16 << 20;
/// What an input takes besides its bytes.
const INPUT_BYTES: usize = 32;

#[derive(Default)]
pub struct History {
    /// The inputs that the waiting process has read.
    inputs: Vec<Arc<[u8]>>,
    bytes: usize,
}

impl History {
    /// A run ended. `waits`: its process waits for its next input. If it crashed, returns
    /// what the process had read before, if it is known that these are all inputs.
    pub fn add(
        &mut self,
        outcome: &Outcome,
        input: impl FnOnce() -> Arc<[u8]>,
        waits: bool,
    ) -> Option<Vec<Arc<[u8]>>> {
        if outcome.round == 1 {
            self.inputs.clear();
            self.bytes = 0;
        }
        if waits && self.bytes < MAX_BYTES {
            let input = input();
            self.bytes += input.len() + INPUT_BYTES;
            self.inputs.push(input);
        }
        let is_whole = outcome.round > 1 && self.inputs.len() as u32 + 1 == outcome.round;
        let has_crashed = !matches!(outcome.end, End::Exit(_));
        (has_crashed && is_whole).then(|| std::mem::take(&mut self.inputs))
    }
}
