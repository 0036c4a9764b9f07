//! A report as one page: a file that needs no server, no network and no other file.
//!
//! The page is a frame, a style sheet, a program in JavaScript, and the data as JSON. The
//! program shows one part of the data at a time, so that a page with a hundred thousand
//! branches opens fast. The data is untrusted: sources, inputs and messages of a target. It
//! lies in a block that no browser runs, with every `<` escaped. The program only makes text
//! of it, and the page's policy forbids all other scripts and every request.

mod campaign;
mod comparison;
mod reasons;
mod sources;

#[cfg(feature = "sample")]
pub use campaign::sample_page;
pub use campaign::{CrashSection, GrammarSection, Sections, campaign_page, replay_flags};
pub use comparison::comparison_page;
pub use reasons::{Words, words};
pub use sources::Sources;

use serde::Serialize;

const FRAME: &str = include_str!("assets/page.html");
const STYLE: &str = include_str!("assets/page.css");
const SCRIPTS: [&str; 6] = [
    include_str!("assets/base.js"),
    include_str!("assets/charts.js"),
    include_str!("assets/source.js"),
    include_str!("assets/views.js"),
    include_str!("assets/compare.js"),
    include_str!("assets/main.js"),
];

/// The page with this data.
fn page(title: &str, data: &impl Serialize) -> String {
    // This cannot fail: there are only numbers, strings and maps with string keys.
    let data = serde_json::to_string(data).unwrap_or_default().replace('<', "\\u003c");
    // Only scripts with this number run. A target cannot predict it.
    let nonce = format!("{:016x}", pleach_hash::hash_bytes(data.as_bytes()));
    let scripts = SCRIPTS.concat();
    let parts = [
        ("@NONCE@", &*nonce),
        ("@TITLE@", &escaped(title)),
        ("@STYLE@", STYLE),
        ("@SCRIPT@", &scripts),
        ("@DATA@", &data),
    ];
    let mut page = String::with_capacity(FRAME.len() + STYLE.len() + scripts.len() + data.len());
    let mut rest = FRAME;
    // The marks of the frame are replaced, and none in what replaces them.
    while let Some((before, behind)) = rest.split_once('@') {
        page.push_str(before);
        let mark =
            parts.iter().find_map(|(mark, text)| Some((behind.strip_prefix(&mark[1..])?, *text)));
        match mark {
            Some((behind, text)) => {
                page.push_str(text);
                rest = behind;
            }
            None => {
                page.push('@');
                rest = behind;
            }
        }
    }
    page.push_str(rest);
    page
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Bytes as base64.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let all = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let value = (all >> (18 - 6 * digit)) & 63;
            let is_there = digit <= chunk.len();
            text.push(if is_there { char::from(DIGITS[value as usize]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_as_base64() {
        let texts = ["", "f", "fo", "foo", "foob"].map(|text| base64(text.as_bytes()));
        assert_eq!(texts, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]);
        assert_eq!(base64(&[0xff, 0xfe, 0xfd]), "//79");
    }

    #[test]
    fn data_cannot_leave_its_block() {
        let hostile = "</script><script>alert(1)</script><!-- @NONCE@ @DATA@";
        let page = page(hostile, &[hostile]);
        assert_eq!(page.matches("<script").count(), 2);
        assert_eq!(page.matches("</script>").count(), 2);
        assert!(page.contains("\\u003c/script>\\u003cscript>alert(1)"));
        assert!(page.contains("&lt;/script&gt;"));
        assert!(!page.contains("<!--"));
        assert_eq!(page.matches("@NONCE@ @DATA@").count(), 2);
    }
}
