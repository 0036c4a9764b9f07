//! What random events are made of: the constants of the program, the words of the seeds, what
//! runs compared their input with, and what searches have found.

use super::phrases::Phrases;
use crate::mutate::Dictionary;
use pleach_abi::shm::{ALPHABET_CAP, Bias, NUMBERS_CAP, PHRASES_CAP, TEXT_CAP};
use pleach_search::Rng;

/// Keys that interactive programs expect. Some occur several times, to be drawn more often.
const KEYS: &[u8] = b"\n\n\n\n \x1b\x1b\r\t\x08\x7f:/!.,;0123456789";
/// How many words and phrases are drawn for a stretch of events.
const WORD_COUNT: usize = 96;
const PHRASE_COUNT: usize = 128;

/// Chooses what random events are made of. `uniform` percent of them are uniform.
pub fn make_bias(dictionary: &Dictionary, phrases: &Phrases, rng: &mut Rng, uniform: u32) -> Bias {
    let mut alphabet: Vec<u8> = letters(dictionary);
    alphabet.truncate(ALPHABET_CAP);
    let mut numbers: Vec<u64> =
        dictionary.iter().filter_map(|(token, _)| as_number(token)).collect();
    numbers.truncate(NUMBERS_CAP);
    let mut bias = Bias {
        uniform: (uniform.min(100) * 256).div_ceil(100),
        alphabet_len: alphabet.len() as u32,
        numbers_len: numbers.len() as u32,
        words: 0,
        sentences: 0,
        strict: 0,
        alphabet: [0; ALPHABET_CAP],
        numbers: [0; NUMBERS_CAP],
        ends: [0; PHRASES_CAP],
        text: [0; TEXT_CAP],
    };
    bias.alphabet[..alphabet.len()].copy_from_slice(&alphabet);
    bias.numbers[..numbers.len()].copy_from_slice(&numbers);
    let words: Vec<&[u8]> = (0..WORD_COUNT)
        .filter_map(|_| dictionary.pick(rng).map(|id| dictionary.token(id)))
        .filter(|word| word.len() > 1)
        .collect();
    bias.words = add_texts(&mut bias, &words);
    let drawn = phrases.draw(rng, dictionary, PHRASE_COUNT);
    let drawn: Vec<&[u8]> = drawn.iter().map(Vec::as_slice).collect();
    bias.sentences = add_texts(&mut bias, &drawn);
    bias
}

/// Makes events of these sentences and nothing else.
pub fn restrict(bias: &mut Bias, sentences: &[&[u8]]) {
    bias.words = 0;
    bias.sentences = 0;
    bias.sentences = add_texts(bias, sentences);
    bias.strict = 1;
}

/// Adds texts behind those that are there, as long as there is room. Returns how many were
/// added.
fn add_texts(bias: &mut Bias, texts: &[&[u8]]) -> u32 {
    let first = (bias.words + bias.sentences) as usize;
    let mut at = first.checked_sub(1).map_or(0, |last| bias.ends[last] as usize);
    let mut count = 0;
    for text in texts {
        if first + count == PHRASES_CAP || at + text.len() > TEXT_CAP {
            break;
        }
        bias.text[at..at + text.len()].copy_from_slice(text);
        at += text.len();
        bias.ends[first + count] = at as u16;
        count += 1;
    }
    count as u32
}

/// Keys, printable characters, and the bytes of the dictionary.
pub fn letters(dictionary: &Dictionary) -> Vec<u8> {
    let mut alphabet: Vec<u8> = KEYS.to_vec();
    alphabet.extend(b' '..=b'~');
    for (token, _) in dictionary.iter() {
        if alphabet.len() + token.len() <= ALPHABET_CAP {
            alphabet.extend(token);
        }
    }
    alphabet
}

/// A token of 2, 4 or 8 bytes as a number.
fn as_number(token: &[u8]) -> Option<u64> {
    matches!(token.len(), 2 | 4 | 8)
        .then(|| token.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bias: &Bias, number: usize) -> &[u8] {
        let from = if number == 0 { 0 } else { bias.ends[number - 1] as usize };
        &bias.text[from..bias.ends[number] as usize]
    }

    #[test]
    fn tokens_become_letters_and_numbers_as_far_as_there_is_room() {
        let mut dictionary = Dictionary::default();
        dictionary.add(b"\xfe\xff", 1);
        dictionary.add(b"\x01\x02\x03\x04", 1);
        let (phrases, mut rng) = (Phrases::default(), Rng::new(1));
        let made = make_bias(&dictionary, &phrases, &mut rng, 25);
        assert_eq!(made.uniform, 64);
        assert_eq!(made.numbers[..made.numbers_len as usize], [0xfffe, 0x0403_0201]);
        assert!(made.alphabet[..made.alphabet_len as usize].contains(&0xfe));
        for i in 0..5000u32 {
            dictionary.add(&i.to_le_bytes(), 1);
        }
        let full = make_bias(&dictionary, &phrases, &mut rng, 100);
        assert_eq!((full.uniform, full.numbers_len as usize), (256, NUMBERS_CAP));
        assert!(full.alphabet_len as usize <= ALPHABET_CAP);
    }

    #[test]
    fn words_come_before_phrases() {
        let mut dictionary = Dictionary::default();
        dictionary.add(b"rewind", 8);
        let mut phrases = Phrases::default();
        phrases.add(b":sort\n");
        let mut rng = Rng::new(2);
        let mut made = make_bias(&dictionary, &phrases, &mut rng, 25);
        let words = made.words as usize;
        assert_eq!((words, made.sentences as usize), (WORD_COUNT, PHRASE_COUNT));
        assert_eq!((text(&made, 0), text(&made, words - 1)), (&b"rewind"[..], &b"rewind"[..]));
        let sentences: Vec<&[u8]> = (words..words + PHRASE_COUNT).map(|i| text(&made, i)).collect();
        assert!(sentences.contains(&&b":sort\n"[..]) && sentences.contains(&&b":rewind\n"[..]));
        restrict(&mut made, &[b"a", b"bc", &[b'x'; TEXT_CAP]]);
        assert_eq!((made.words, made.sentences, made.strict), (0, 2, 1));
        assert_eq!((text(&made, 0), text(&made, 1)), (&b"a"[..], &b"bc"[..]));
    }
}
