//! Text in XML.

/// Escapes text for elements and attributes. Characters that XML forbids, such as the zero
/// byte, become `U+FFFD`.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            // A reader would take it for a line break.
            '\r' => out.push_str("&#13;"),
            c if c < ' ' || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// The same for bytes: those that are no UTF-8 become `U+FFFD`.
pub fn escape_bytes(bytes: &[u8]) -> String {
    escape(&String::from_utf8_lossy(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_stays_text() {
        assert_eq!(escape("a<b>&\"c\"\r\n"), "a&lt;b&gt;&amp;&quot;c&quot;&#13;\n");
        assert_eq!(escape_bytes(b"\0\x1b\xff]]>"), "\u{fffd}\u{fffd}\u{fffd}]]&gt;");
    }
}
