//! Bytes as people read them.

use pleach_automata::ByteSet;

/// A text in quotes, as a file of constraints has it: printable bytes as they are, all others
/// as `\ddd`.
pub fn quote(bytes: &[u8]) -> String {
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

/// The byte of a set that is easiest to read.
pub(super) fn most_readable(set: &ByteSet) -> u8 {
    set.iter().min_by_key(|&byte| rank(byte)).unwrap_or_default()
}

/// The order in which bytes are preferred: letters and digits first.
pub(super) fn rank(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => 0,
        b'0'..=b'9' => 1,
        b'A'..=b'Z' => 2,
        b' '..=b'~' => 3,
        _ => 4,
    }
}
