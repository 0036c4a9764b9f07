//! Files of words, in the format of AFL++, which libFuzzer reads, too:
//!
//! ```text
//! # a comment
//! "while"
//! magic="\x89PNG"
//! rare@2="a\"b"
//! ```
//!
//! A word is in quotes. `\xNN`, `\\` and `\"` are the escapes. A word with a level is read
//! only if the user asks for that level or a higher one.

use thiserror::Error;

/// The longest word, as in AFL++.
pub const MAX_WORD_LEN: usize = 128;

/// What is wrong with a file of words.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {why}")]
pub struct WordsError {
    pub line: usize,
    pub why: &'static str,
}

/// The words of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    pub words: Vec<Vec<u8>>,
    /// How many words were left out because they are longer than [`MAX_WORD_LEN`].
    pub too_long: usize,
}

/// Parses a file of words. Words above `level` are left out.
pub fn parse_words(text: &[u8], level: u32) -> Result<Words, WordsError> {
    let mut found = Words::default();
    for (number, line) in (1..).zip(text.split(|&b| b == b'\n')) {
        let error = |why| WordsError { line: number, why };
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let Some(quote) = line.iter().position(|&b| b == b'"') else {
            return Err(error("no word in quotes"));
        };
        let (name, word) = (line[..quote].trim_ascii(), &line[quote + 1..]);
        let word_level = level_of(name).map_err(error)?;
        let word = unescape(word).map_err(error)?;
        if word.is_empty() {
            return Err(error("the word is empty"));
        }
        match word.len() <= MAX_WORD_LEN {
            _ if word_level > level => {}
            true => found.words.push(word),
            false => found.too_long += 1,
        }
    }
    Ok(found)
}

/// The level in what comes before a word: nothing, `name=` or `name@2=`.
fn level_of(before: &[u8]) -> Result<u32, &'static str> {
    let name = match before.strip_suffix(b"=") {
        Some(name) => name.trim_ascii(),
        None if before.is_empty() => return Ok(0),
        None => return Err("there must be = between the name and the word"),
    };
    let (name, level) = match name.iter().position(|&b| b == b'@') {
        Some(at) => (&name[..at], Some(&name[at + 1..])),
        None => (name, None),
    };
    if name.iter().any(u8::is_ascii_whitespace) {
        return Err("the name of a word has no spaces");
    }
    let level = level.map(|level| std::str::from_utf8(level).ok()?.parse().ok());
    level.unwrap_or(Some(0)).ok_or("the level after @ must be a number")
}

/// The bytes of a word, from behind its first quote to the end of the line.
fn unescape(text: &[u8]) -> Result<Vec<u8>, &'static str> {
    let (mut bytes, mut rest) = (Vec::new(), text);
    loop {
        rest = match rest {
            [] => return Err("the quote at the end of the word is missing"),
            [b'"', after @ ..] => {
                let after = after.trim_ascii();
                return match after.is_empty() || after.starts_with(b"#") {
                    true => Ok(bytes),
                    false => Err("there is something after the word; write \\\" for a quote in it"),
                };
            }
            [b'\\', quoted @ (b'"' | b'\\'), after @ ..] => {
                bytes.push(*quoted);
                after
            }
            [b'\\', b'x', high, low, after @ ..] => {
                let digits = [*high, *low].map(|b| char::from(b).to_digit(16));
                let [Some(high), Some(low)] = digits else { return Err(ESCAPES) };
                bytes.push((16 * high + low) as u8);
                after
            }
            [b'\\', ..] => return Err(ESCAPES),
            [byte, after @ ..] => {
                bytes.push(*byte);
                after
            }
        }
    }
}

const ESCAPES: &str = "the escapes are \\xNN, \\\\ and \\\"";

/// Writes words in this format, one a line, sorted, each with a name that says what it is.
pub fn write_words<'a>(words: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut words: Vec<_> = words.into_iter().collect();
    words.sort_unstable();
    words.dedup();
    let mut text = String::new();
    for word in words {
        let name: String = word.iter().map(|&b| name_char(b)).collect();
        let name = name.trim_matches('_');
        let escaped: String = word.iter().map(|&b| escape(b)).collect();
        match name.is_empty() {
            true => text.push_str(&format!("word=\"{escaped}\"\n")),
            false => text.push_str(&format!("word_{name}=\"{escaped}\"\n")),
        }
    }
    text
}

/// AFL++ takes letters, digits and `_` in a name.
fn name_char(byte: u8) -> char {
    if byte.is_ascii_alphanumeric() { char::from(byte) } else { '_' }
}

fn escape(byte: u8) -> String {
    match byte {
        b'"' | b'\\' => format!("\\{}", char::from(byte)),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_names_levels_and_escapes() {
        let text = b"# comment\n\n  \"plain\"\r\nname=\"\\x89P\\\"N\\\\G\"\na-b = \"x\" # more\n\
                     kw@1=\"one\"\nkw@2=\"two\"";
        let of = |level| parse_words(text, level).unwrap().words;
        let first: [&[u8]; 3] = [b"plain", b"\x89P\"N\\G", b"x"];
        assert_eq!(of(0), first);
        assert_eq!(of(1)[3..], [b"one"]);
        assert_eq!(of(2)[3..], [b"one", b"two"]);
    }

    #[test]
    fn a_broken_line_is_named() {
        for (text, part) in [
            ("\"a\"\nb", "no word in quotes"),
            ("\"a\"\n\"b", "is missing"),
            ("\"a\"\n\"b\\n\"", "escapes"),
            ("\"a\"\n\"\\x4\"", "escapes"),
            ("\"a\"\n\"\\xg0\"", "escapes"),
            ("\"a\"\n\"\"", "empty"),
            ("\"a\"\nname \"b\"", "="),
            ("\"a\"\na b=\"b\"", "spaces"),
            ("\"a\"\nx@y=\"b\"", "level"),
            ("\"a\"\n\"b\"c\"", "after the word"),
        ] {
            let error = parse_words(text.as_bytes(), 0).unwrap_err();
            assert!(error.line == 2 && error.why.contains(part), "{text}: {error}");
        }
        let long = format!("\"{}\"\n\"{}\"", "a".repeat(128), "b".repeat(129));
        let found = parse_words(long.as_bytes(), 0).unwrap();
        assert_eq!((found.words.len(), found.too_long), (1, 1));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let words: [&[u8]; 6] = [b"while", b"\x89PNG\0", b"a\"\\b", b"==", b"while", b"\n \xff"];
        let text = write_words(words);
        assert!(
            text.contains("word_while=\"while\"\n") && text.contains("word=\"==\"\n"),
            "{text}"
        );
        let mut all = words.to_vec();
        all.sort_unstable();
        all.dedup();
        assert_eq!(parse_words(text.as_bytes(), 0).unwrap().words, all);
    }
}
