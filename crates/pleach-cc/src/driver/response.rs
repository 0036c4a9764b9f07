//! Response files: `@file` on a command line stands for the words in the file.
//!
//! The rules are those of clang and GCC on Unix: words are separated by white
//! space, both kinds of quotes group, a backslash takes the next character
//! literally (inside quotes too), files may name further files, and an `@file`
//! that does not exist is an ordinary word.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Bounds the expansion of a file that names itself. No real command nests this deep.
const MAX_NESTING: usize = 32;

pub fn expand(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut out = Vec::new();
    for arg in args {
        expand_one(arg, MAX_NESTING, &mut out);
    }
    out
}

fn expand_one(arg: OsString, depth: usize, out: &mut Vec<OsString>) {
    let contents = arg
        .as_bytes()
        .strip_prefix(b"@")
        .filter(|_| depth > 0)
        .and_then(|path| std::fs::read(OsStr::from_bytes(path)).ok());
    match contents {
        Some(text) => words(&text).into_iter().for_each(|w| expand_one(w, depth - 1, out)),
        None => out.push(arg),
    }
}

fn words(text: &[u8]) -> Vec<OsString> {
    let mut out = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = text.iter().copied();
    while let Some(b) = bytes.next() {
        match (b, quote) {
            (b'\\', _) => {
                let literal = bytes.next().unwrap_or(b'\\');
                word.get_or_insert_default().push(literal);
            }
            (b'"' | b'\'', None) => {
                quote = Some(b);
                word.get_or_insert_default();
            }
            (_, Some(q)) if q == b => quote = None,
            (b' ' | b'\t' | b'\r' | b'\n', None) => {
                out.extend(word.take().map(OsString::from_vec));
            }
            _ => word.get_or_insert_default().push(b),
        }
    }
    out.extend(word.map(OsString::from_vec));
    out
}

/// Writes the words as a response file that clang reads back unchanged.
pub fn quote(args: &[OsString]) -> Vec<u8> {
    let mut out = Vec::new();
    for arg in args {
        out.push(b'"');
        for &b in arg.as_bytes() {
            if b == b'"' || b == b'\\' {
                out.push(b'\\');
            }
            out.push(b);
        }
        out.extend(b"\"\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_user_expects() {
        let check =
            |text: &str, expected: &[&str]| assert_eq!(words(text.as_bytes()), expected, "{text}");
        check("", &[]);
        check(" -c\ta.c\n-o 'a b.o'", &["-c", "a.c", "-o", "a b.o"]);
        check(r#"-DS=\"x\" "-DT=\"y z\"" ''"#, &["-DS=\"x\"", "-DT=\"y z\"", ""]);
        check(r"a\ b 'c\'d' e\", &["a b", "c'd", "e\\"]);
    }

    #[test]
    fn quoting_is_undone_by_splitting() {
        let args: Vec<OsString> =
            ["", "a b", "q\"uo\\te", "'", "\n"].iter().map(OsString::from).collect();
        assert_eq!(words(&quote(&args)), args);
    }

    #[test]
    fn expanding_a_file_that_names_itself_terminates() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("args");
        let word = OsString::from(format!("@{}", path.display()));
        std::fs::write(&path, word.as_bytes()).unwrap();
        assert_eq!(expand([word.clone()]), [word]);
        let missing = OsString::from("@/no/such/file");
        assert_eq!(expand([missing.clone()]), [missing]);
    }
}
