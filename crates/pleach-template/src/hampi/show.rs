//! Bytes for people.

use pleach_automata::ByteSet;

/// A text in quotes as HAMPI writes it, so that an answer can go back into a file:
/// what can be typed as it is, the rest as `\ddd`.
pub fn quoted(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => text.extend(['\\', char::from(byte)]),
            b' '..=b'~' => text.push(char::from(byte)),
            _ => text.push_str(&format!("\\{byte:03}")),
        }
    }
    text.push('"');
    text
}

/// The byte of a set that people read best.
pub(super) fn best(set: &ByteSet) -> u8 {
    set.iter().min_by_key(|&byte| rank(byte)).unwrap_or_default()
}

/// Letters and digits first.
pub(super) fn rank(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => 0,
        b'0'..=b'9' => 1,
        b'A'..=b'Z' => 2,
        b' '..=b'~' => 3,
        _ => 4,
    }
}
