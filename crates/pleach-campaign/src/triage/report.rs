//! What sanitizers print: the kind of a fault, and the stack that AddressSanitizer
//! gives as files and offsets.

use super::unwind::Address;
use std::path::PathBuf;

/// What a sanitizer said of a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Report {
    pub kind: String,
    /// The first stack of the report: where it happened.
    pub stack: Vec<Address>,
}

/// A target may print anything: no more lines than this are read as frames.
const MOST: usize = 256;

/// The report in what a run wrote to standard error, if there is one.
pub(crate) fn parse(stderr: &[u8]) -> Option<Report> {
    let text = String::from_utf8_lossy(stderr);
    let error = text.lines().position(|l| l.contains("ERROR: ") && l.contains("Sanitizer: "));
    if let Some(at) = error {
        let first = text.lines().nth(at)?;
        let summary = text.lines().skip(at).find(|l| l.starts_with("SUMMARY: "));
        let said = summary.unwrap_or(first).split_once("Sanitizer: ")?.1;
        let kind = word(said)?;
        let frames = text.lines().skip(at + 1).skip_while(|l| !l.trim_start().starts_with("#0 "));
        let stack = frames.map_while(frame).take(MOST).collect();
        return Some(Report { kind, stack });
    }
    let line = text.lines().find_map(|l| l.split_once(": runtime error: "))?;
    Some(Report { kind: format!("runtime error: {}", rule(line.1)), stack: Vec::new() })
}

/// Whether a sanitizer reported a fault in what a run wrote to standard error.
pub fn has_report(stderr: &[u8]) -> bool {
    parse(stderr).is_some()
}

/// The first word, of what a kind is made of.
fn word(text: &str) -> Option<String> {
    let word = text.split_whitespace().next()?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let word: String = word.chars().take_while(|&c| plain(c)).take(64).collect();
    (!word.is_empty()).then_some(word)
}

/// `    #1 0x55d0 in name (/path/prog+0x55d0) (BuildId: 12ab)`
fn frame(line: &str) -> Option<Address> {
    let line = line.trim_start().strip_prefix('#')?;
    let (_, rest) = line.split_once(" 0x")?;
    let (_, rest) = rest.split_once(" (")?;
    let place = match rest.find(") (BuildId") {
        Some(end) => &rest[..end],
        None => rest.trim_end().strip_suffix(')')?,
    };
    let (file, offset) = place.rsplit_once("+0x")?;
    Some(Address { file: PathBuf::from(file), address: u64::from_str_radix(offset, 16).ok()? })
}

/// What UndefinedBehaviorSanitizer objects to, without the values of this run:
/// `index 12 out of bounds for type 'int[4]'` is `index N out of bounds`.
fn rule(text: &str) -> String {
    let text = [": ", " for type", " of type", " '", " in type"]
        .iter()
        .filter_map(|stop| text.find(stop))
        .min()
        .map_or(text, |end| &text[..end]);
    let mut out = String::new();
    for part in text.split(' ').filter(|p| !p.is_empty()).take(16) {
        if !out.is_empty() {
            out.push(' ');
        }
        match part.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit()) {
            true => out.push('N'),
            false => out.extend(part.chars().filter(|c| !c.is_control())),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heap_overflow() {
        let text = b"noise\n\
=====================================================\n\
==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000074 at pc 0x55 bp 0x7f sp 0x7f\n\
WRITE of size 1 at 0x602000000074 thread T0\n\
    #0 0x55555563f2a1  (/tmp/some dir/prog+0xeb2a1) (BuildId: 7aa9)\n\
    #1 0x7ffff7c29d8f in start (/lib/libc.so.6+0x29d8f)\n\
\n\
0x602000000074 is located 0 bytes after 4-byte region\n\
allocated by thread T0 here:\n\
    #0 0x5555 (/tmp/prog+0x99)\n\
SUMMARY: AddressSanitizer: heap-buffer-overflow (/tmp/some dir/prog+0xeb2a1) \n";
        let report = parse(text).unwrap();
        assert_eq!(report.kind, "heap-buffer-overflow");
        let address = |file: &str, address| Address { file: file.into(), address };
        let stack = [address("/tmp/some dir/prog", 0xeb2a1), address("/lib/libc.so.6", 0x29d8f)];
        assert_eq!(report.stack, stack);
    }

    #[test]
    fn kinds_come_from_the_summary() {
        let text =
            b"==7==ERROR: AddressSanitizer: attempting double-free on 0x6020 in thread T0:\n\
SUMMARY: AddressSanitizer: double-free (/tmp/prog+0x1) in free\n";
        assert_eq!(parse(text).unwrap().kind, "double-free");
        // It was killed before it was done.
        let text = b"==7==ERROR: AddressSanitizer: use-after-poison on 0x6020\n";
        assert_eq!(parse(text).unwrap().kind, "use-after-poison");
    }

    #[test]
    fn rules_have_no_values() {
        for (said, kind) in [
            ("signed integer overflow: 2147483647 + 120 cannot", "signed integer overflow"),
            ("index 12 out of bounds for type 'int[4]'", "index N out of bounds"),
            ("store to null pointer of type 'char'", "store to null pointer"),
            ("division by zero", "division by zero"),
            ("shift exponent -3 is negative", "shift exponent N is negative"),
            (
                "load of misaligned address 0x01 for type 'int', which",
                "load of misaligned address N",
            ),
        ] {
            let text = format!("prog.c:11:40: runtime error: {said}\n");
            assert_eq!(parse(text.as_bytes()).unwrap().kind, format!("runtime error: {kind}"));
        }
    }

    #[test]
    fn anything_else_is_no_report() {
        for text in [&b""[..], b"#0 0x1 (/x+0x1)\n", b"\xff\xfe", b"ERROR: AddressSanitizer: \n"] {
            assert_eq!(parse(text), None);
        }
        let text = b"ERROR: AddressSanitizer: x\n#0 0x1 (/x+0xzz)\n#0 0x\n";
        assert_eq!(parse(text).unwrap().stack, []);
    }
}
