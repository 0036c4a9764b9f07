//! How long typed calls may make the inputs of a campaign.
//!
//! A run may read values up to `--max-len`, where a typed call ends it. A program that gets
//! there never stops asking: all its runs and traces would be that long. So from then on
//! its runs end at a shorter length, unless the user gave `--max-len`.

use crate::run::settings::Settings;
use pleach_abi::growth::ZEROS;
use pleach_exec::growth::{Calls, Growth};
use pleach_hash::Hash;
use pleach_search::Descriptor;

#[derive(Clone, Copy, Debug)]
pub struct Growing {
    max_len: u64,
    /// The limit for a program that never stops asking.
    endless_len: u64,
    /// A run has shown that the program never stops asking.
    endless: bool,
    /// Inputs do not grow; see [`Growth::fixed`].
    pub fixed: bool,
    /// Values are random by this seed; otherwise they are 0.
    seed: Option<u64>,
}

impl Growing {
    pub fn new(settings: &Settings, strategy: &Descriptor) -> Growing {
        // Sentences of a grammar are whole inputs, and a live run grows by itself.
        let is_live = strategy.live || settings.tty.is_some();
        let max_len = settings.calls_len.unwrap_or(settings.max_len);
        Growing {
            max_len,
            endless_len: settings.endless_len.map_or(max_len, |n| n.min(max_len)),
            endless: false,
            fixed: settings.grammar.is_some() || is_live,
            seed: strategy.random_values.then_some(settings.seed),
        }
    }

    /// What calls may add to an input.
    pub fn allow(&self, input: &[u8]) -> Growth {
        let limit = if self.endless { self.endless_len } else { self.max_len };
        let seed = self.seed.map_or(ZEROS, |seed| seed_of(seed, input));
        Growth { limit, seed, fixed: self.fixed }
    }

    /// Checks what calls did in a run with that allowance. False: the run must be repeated
    /// with the next one.
    pub fn accept(&mut self, allowed: &Growth, calls: &Calls, timed_out: bool) -> bool {
        if calls.mixed && !allowed.fixed {
            self.fixed = true;
            return false;
        }
        let is_long = calls.reached > self.endless_len && allowed.limit > self.endless_len;
        if is_long && (calls.ended || timed_out) {
            self.endless = true;
            return false;
        }
        true
    }
}

/// A seed for the fresh values of an input: other inputs get other values. Never 0, which
/// stands for zeros.
fn seed_of(seed: u64, input: &[u8]) -> u64 {
    Hash::new().add(seed).add_bytes(input).finish() | 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROWING: Growing =
        Growing { max_len: 1000, endless_len: 100, endless: false, fixed: false, seed: None };

    #[test]
    fn a_program_that_never_stops_asking_gets_less() {
        let mut growing = GROWING;
        let allowed = growing.allow(b"");
        let short = Calls { reached: 100, ended: false, mixed: false };
        assert!(growing.accept(&allowed, &short, true));
        let whole = Calls { reached: 1000, ..short };
        assert!(growing.accept(&allowed, &whole, false));
        assert!(!growing.accept(&allowed, &Calls { ended: true, ..whole }, false));
        let allowed = growing.allow(b"");
        assert_eq!(allowed.limit, 100);
        assert!(growing.accept(&allowed, &Calls { ended: true, ..short }, false));
    }

    #[test]
    fn an_input_that_is_read_as_a_stream_does_not_grow() {
        let mut growing = GROWING;
        let mixed = Calls { reached: 0, ended: false, mixed: true };
        assert!(!growing.accept(&growing.allow(b""), &mixed, false));
        let allowed = growing.allow(b"");
        assert!(allowed.fixed);
        assert!(growing.accept(&allowed, &mixed, false));
    }
}
