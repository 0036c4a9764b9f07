//! Inputs that are similar to a given one. They are the same in every run of the tests.
//!
//! Only inputs that stay on the path for a while test a prediction. So most mutations change
//! one byte a little: to its neighbour in the alphabet, by a flipped bit, or to a byte that
//! occurs elsewhere in the input. Lengths change near the end, where programs decide on the
//! end of the input.

/// SplitMix64: a small generator that is good enough for mutations.
pub struct Random(u64);

impl Random {
    pub fn from_name(name: &str) -> Random {
        Random(
            name.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| {
                (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3)
            }),
        )
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// Bytes that many programs treat specially.
const SPECIAL: &[u8] = b"\0\n \t\x7f\x80\xff0123456789aAzZ_.,;:=+-*/()[]{}<>\"'\\%";

/// A mutated input. Only bytes at `places` change, and the length only if `resize`.
pub fn mutate(input: &[u8], places: &[usize], resize: bool, random: &mut Random) -> Vec<u8> {
    let mut out = input.to_vec();
    for _ in 0..1 + random.below(5) / 4 {
        match random.below(10) {
            0 if resize && !out.is_empty() => {
                let at = near_end(out.len(), random);
                out.remove(at);
            }
            1 if resize => {
                let at = near_end(out.len() + 1, random);
                let byte = any_byte(input, random);
                out.insert(at, byte);
            }
            2 if resize && !out.is_empty() => out.truncate(near_end(out.len(), random)),
            _ if places.is_empty() => {}
            _ => {
                let at = places[random.below(places.len())];
                let fresh = any_byte(input, random);
                if let Some(byte) = out.get_mut(at) {
                    *byte = match random.below(4) {
                        0 => byte.wrapping_add(1),
                        1 => byte.wrapping_sub(1),
                        2 => *byte ^ (1 << random.below(8)),
                        _ => fresh,
                    };
                }
            }
        }
    }
    out
}

fn near_end(len: usize, random: &mut Random) -> usize {
    let back = if random.below(3) == 0 { random.below(len) } else { random.below(len.min(4)) };
    len - 1 - back.min(len - 1)
}

fn any_byte(input: &[u8], random: &mut Random) -> u8 {
    match random.below(3) {
        0 if !input.is_empty() => input[random.below(input.len())],
        1 => SPECIAL[random.below(SPECIAL.len())],
        _ => random.next() as u8,
    }
}
