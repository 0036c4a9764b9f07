//! Reports of sanitizers: the kind of the fault, and the stack, which AddressSanitizer
//! prints as files and offsets.

use super::Frame;
use super::unwind::Address;
use std::path::PathBuf;

/// The report of a sanitizer on a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Report {
    pub kind: String,
    /// The first stack of the report: where the fault happened.
    pub stack: Vec<Address>,
}

/// At most this many lines are read as frames: a target may print anything.
const MAX_FRAMES: usize = 256;
/// At most this many addresses of a report get names.
const MAX_SYMBOLISED: usize = 1024;

/// The report in the standard error of a run, if there is one.
pub(crate) fn parse(stderr: &[u8]) -> Option<Report> {
    let text = String::from_utf8_lossy(stderr);
    let error = text.lines().position(|l| l.contains("ERROR: ") && l.contains("Sanitizer: "));
    if let Some(at) = error {
        let first = text.lines().nth(at)?;
        let summary = text.lines().skip(at).find(|l| l.starts_with("SUMMARY: "));
        let text_of_kind = summary.unwrap_or(first).split_once("Sanitizer: ")?.1;
        let kind = first_word(text_of_kind)?;
        let frames = text.lines().skip(at + 1).skip_while(|l| !l.trim_start().starts_with("#0 "));
        let stack = frames.map_while(frame).take(MAX_FRAMES).collect();
        return Some(Report { kind, stack });
    }
    let line = text.lines().find_map(|l| l.split_once(": runtime error: "))?;
    Some(Report { kind: format!("runtime error: {}", rule(line.1)), stack: Vec::new() })
}

/// True if the standard error of a run has a sanitizer's report.
pub fn has_report(stderr: &[u8]) -> bool {
    parse(stderr).is_some()
}

/// The standard error of a run, with names and lines in the stacks and the summary of a
/// sanitizer's report. Inlined functions get frames of their own, as if the sanitizer had
/// printed them. All other lines stay as they are, byte by byte.
pub(crate) fn symbolise(
    stderr: &[u8],
    find_frames: &mut dyn FnMut(&Address) -> Vec<Frame>,
) -> Vec<u8> {
    if !has_report(stderr) {
        return stderr.to_vec();
    }
    let (mut out, mut number, mut left) = (Vec::new(), 0, MAX_SYMBOLISED);
    for line in stderr.split_inclusive(|&b| b == b'\n') {
        let text = std::str::from_utf8(line).unwrap_or_default();
        let address = match text.starts_with("SUMMARY: ") {
            true => place(text),
            false => frame(text),
        };
        let named = address.filter(|_| left > 0).map(|address| {
            left -= 1;
            find_frames(&address)
        });
        let first = named.iter().flatten().next().filter(|f| !f.function.is_empty());
        if let (Some((kind, _)), Some(first)) = (text.split_once(" ("), first)
            && text.starts_with("SUMMARY: ")
        {
            let source = first.source().unwrap_or_else(|| format!("({})", first.module.display()));
            out.extend(format!("{kind} {source} in {}\n", first.function).bytes());
            continue;
        }
        let Some((indent, rest)) = text.split_once('#').filter(|_| frame(text).is_some()) else {
            out.extend(line);
            continue;
        };
        number = if rest.starts_with("0 ") { 0 } else { number };
        let pc = rest.split_whitespace().nth(1).unwrap_or_default();
        let known = named.filter(|frames| frames.iter().any(|f| !f.function.is_empty()));
        for frame in known.iter().flatten() {
            let name = if frame.function.is_empty() { "??" } else { &frame.function };
            let source = frame.source().unwrap_or_else(|| format!("({})", frame.module.display()));
            out.extend(format!("{indent}#{number} {pc} in {name} {source}\n").bytes());
            number += 1;
        }
        if known.is_none() {
            let rest = rest.split_once(' ').map_or("\n", |(_, rest)| rest);
            out.extend(format!("{indent}#{number} {rest}").bytes());
            number += 1;
        }
    }
    out
}

/// The first word, if it can be the name of a kind.
fn first_word(text: &str) -> Option<String> {
    let word = text.split_whitespace().next()?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let word: String = word.chars().take_while(|&c| plain(c)).take(64).collect();
    (!word.is_empty()).then_some(word)
}

/// `    #1 0x55d0 in name (/path/prog+0x55d0) (BuildId: 12ab)`
fn frame(line: &str) -> Option<Address> {
    let line = line.trim_start().strip_prefix('#')?;
    let (_, rest) = line.split_once(" 0x")?;
    place(rest)
}

/// `… (/path/prog+0x55d0) (BuildId: 12ab)`
fn place(text: &str) -> Option<Address> {
    let (_, rest) = text.split_once(" (")?;
    let place = match rest.find(") (BuildId") {
        Some(end) => &rest[..end],
        None => rest.trim_end().strip_suffix(')')?,
    };
    let (file, offset) = place.rsplit_once("+0x")?;
    Some(Address { file: PathBuf::from(file), address: u64::from_str_radix(offset, 16).ok()? })
}

/// The complaint of UndefinedBehaviorSanitizer, without the values of this run:
/// `index 12 out of bounds for type 'int[4]'` becomes `index N out of bounds`.
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
    fn every_stack_of_a_report_gets_names() {
        let text = b"==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x60\n\
    #0 0x11  (/tmp/some dir/prog+0x1) (BuildId: 7aa9)\n\
    #1 0x12  (/tmp/prog+0x2)\n\
    #2 0x13  (/lib/libc.so.6+0x99)\n\
\n\
freed by thread T0 here:\n\
    #0 0x14  (/tmp/prog+0x3) (BuildId: 7aa9)\n\
SUMMARY: AddressSanitizer: heap-use-after-free (/tmp/prog+0x1) (BuildId: 7aa9) \n\
\xff #0 is not a frame\n";
        let frame = |function: &str, file: &str, line| Frame {
            function: function.into(),
            file: file.into(),
            line,
            module: "/tmp/prog".into(),
            ..Frame::default()
        };
        let named = symbolise(text, &mut |address| match address.address {
            1 => vec![frame("inlined", "/src/a.h", 3), frame("parse", "/src/a.c", 7)],
            2 => vec![frame("main", "/src/a.c", 9)],
            3 => vec![frame("drop", "", 0)],
            _ => vec![Frame::default()],
        });
        let expected = b"==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x60\n\
    #0 0x11 in inlined /src/a.h:3\n\
    #1 0x11 in parse /src/a.c:7\n\
    #2 0x12 in main /src/a.c:9\n\
    #3 0x13  (/lib/libc.so.6+0x99)\n\
\n\
freed by thread T0 here:\n\
    #0 0x14 in drop (/tmp/prog)\n\
SUMMARY: AddressSanitizer: heap-use-after-free /src/a.h:3 in inlined\n\
\xff #0 is not a frame\n";
        let show = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(show(&named), show(expected));
        // Without a report nothing changes.
        let plain = b"    #0 0x11 (/tmp/prog+0x1)\n";
        assert_eq!(symbolise(plain, &mut |_| vec![frame("f", "", 0)]), plain);
    }

    #[test]
    fn kinds_come_from_the_summary() {
        let text =
            b"==7==ERROR: AddressSanitizer: attempting double-free on 0x6020 in thread T0:\n\
SUMMARY: AddressSanitizer: double-free (/tmp/prog+0x1) in free\n";
        assert_eq!(parse(text).unwrap().kind, "double-free");
        // The run was killed before the summary.
        let text = b"==7==ERROR: AddressSanitizer: use-after-poison on 0x6020\n";
        assert_eq!(parse(text).unwrap().kind, "use-after-poison");
    }

    #[test]
    fn rules_have_no_values() {
        for (text, kind) in [
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
            let text = format!("prog.c:11:40: runtime error: {text}\n");
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
