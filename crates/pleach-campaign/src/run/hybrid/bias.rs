//! What random events are made of, from what is known of the program: its
//! constants, the words of the seeds, and what runs compared their input with.

use crate::mutate::Dictionary;
use pleach_abi::shm::{ALPHABET_CAP, Bias, NUMBERS_CAP};

/// Bytes that programs with a person in front of them expect.
const KEYS: &[u8] = b"\n\n\n\n \x1b\x1b\r\t\x08\x7f:/!.,;0123456789";

/// `uniform` percent of the events are uniform.
pub fn bias(dictionary: &Dictionary, uniform: u32) -> Bias {
    let mut alphabet: Vec<u8> = KEYS.to_vec();
    alphabet.extend(b' '..=b'~');
    let mut numbers = Vec::new();
    for (token, _) in dictionary.iter() {
        if alphabet.len() + token.len() <= ALPHABET_CAP {
            alphabet.extend(token);
        }
        if let Some(number) = number(token).filter(|_| numbers.len() < NUMBERS_CAP) {
            numbers.push(number);
        }
    }
    let mut bias = Bias {
        uniform: (uniform.min(100) * 256).div_ceil(100),
        alphabet_len: alphabet.len() as u32,
        numbers_len: numbers.len() as u32,
        reserved: 0,
        alphabet: [0; ALPHABET_CAP],
        numbers: [0; NUMBERS_CAP],
    };
    bias.alphabet[..alphabet.len()].copy_from_slice(&alphabet);
    bias.numbers[..numbers.len()].copy_from_slice(&numbers);
    bias
}

/// A token that can be a number of 16, 32 or 64 bits.
fn number(token: &[u8]) -> Option<u64> {
    matches!(token.len(), 2 | 4 | 8)
        .then(|| token.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_become_letters_and_numbers_as_far_as_there_is_room() {
        let mut dictionary = Dictionary::default();
        dictionary.add(b"\xfe\xff", 1);
        dictionary.add(b"\x01\x02\x03\x04", 1);
        let made = bias(&dictionary, 25);
        assert_eq!(made.uniform, 64);
        assert_eq!(made.numbers[..made.numbers_len as usize], [0xfffe, 0x0403_0201]);
        assert!(made.alphabet[..made.alphabet_len as usize].contains(&0xfe));
        for i in 0..5000u32 {
            dictionary.add(&i.to_le_bytes(), 1);
        }
        let full = bias(&dictionary, 100);
        assert_eq!((full.uniform, full.numbers_len as usize), (256, NUMBERS_CAP));
        assert!(full.alphabet_len as usize <= ALPHABET_CAP);
    }
}
