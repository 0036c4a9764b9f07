//! Strings in the comments at the top of test programs.

/// A quoted string with C's escapes; `\x` takes exactly two digits.
pub fn unquote(text: &str) -> Option<Vec<u8>> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?.as_bytes();
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(&byte) = inner.get(at) {
        at += 1;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let escape = *inner.get(at)?;
        at += 1;
        out.push(match escape {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'0' => 0,
            b'x' => {
                let digits = std::str::from_utf8(inner.get(at..at + 2)?).ok()?;
                at += 2;
                u8::from_str_radix(digits, 16).ok()?
            }
            b'\\' | b'"' | b'\'' => escape,
            _ => return None,
        });
    }
    Some(out)
}
