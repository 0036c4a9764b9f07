//! Operations on text: numbers, words, and groups in brackets. Each reads only a few bytes
//! around its place, so a long input costs no more than a short one.

use super::{Work, splice_in};

/// Boundary values in decimal.
const NUMBERS: [&[u8]; 20] = [
    b"0",
    b"1",
    b"-1",
    b"9",
    b"10",
    b"127",
    b"128",
    b"255",
    b"256",
    b"32768",
    b"65535",
    b"65536",
    b"2147483647",
    b"2147483648",
    b"-2147483648",
    b"4294967295",
    b"9223372036854775807",
    b"-9223372036854775808",
    b"18446744073709551616",
    b"1e999",
];
/// How many bytes are searched for a word, a number or the start of a group.
const SEARCH_RANGE: usize = 256;

/// Finds something at or after a place: where it starts, and its length.
type Find = fn(&[u8], usize) -> Option<(usize, usize)>;

impl Work<'_> {
    /// Changes a number, a word or a group. If there is none, nothing changes.
    pub fn change_text(&mut self, out: &mut Vec<u8>) {
        if out.is_empty() {
            return;
        }
        match self.rng.below(8) {
            0 | 1 => self.change_number(out),
            2 | 3 => {
                // A word of the other input or of this one, inserted or in place of a word.
                let from_other = !self.other.is_empty() && self.rng.coin();
                let source = if from_other { self.other } else { &out[..] };
                let Some((at, len)) = word(source, self.rng.below(source.len())) else { return };
                let mut block = std::mem::take(self.scratch);
                block.clear();
                block.extend_from_slice(&source[at..at + len]);
                if self.rng.coin() {
                    self.replace_word(out, &block);
                } else {
                    self.insert(out, &block);
                }
                *self.scratch = block;
            }
            4 => self.rearrange(out, word),
            _ => self.rearrange(out, group),
        }
    }

    /// Replaces a word by a token.
    pub fn replace_word(&mut self, out: &mut Vec<u8>, token: &[u8]) -> bool {
        if out.is_empty() {
            return self.insert(out, token);
        }
        match word(out, self.rng.below(out.len())) {
            Some((at, len)) => splice_in(out, at, len, token, self.max_len),
            None => false,
        }
    }

    /// Replaces a number by a boundary value, or by a number near it.
    fn change_number(&mut self, out: &mut Vec<u8>) {
        let from = self.rng.below(out.len());
        let end = out.len().min(from + SEARCH_RANGE);
        let Some(inside) = out[from..end].iter().position(u8::is_ascii_digit) else { return };
        let (at, len) = extend(out, from + inside, |b| b.is_ascii_digit());
        let value =
            std::str::from_utf8(&out[at..at + len]).ok().and_then(|t| t.parse::<i64>().ok());
        match (self.rng.below(3), value) {
            (0, Some(value)) => {
                let near = match self.rng.below(4) {
                    0 => value.wrapping_add(1),
                    1 => value.wrapping_sub(1),
                    2 => value.wrapping_mul(2),
                    _ => value.wrapping_neg(),
                };
                let (text, start) = decimal(near);
                splice_in(out, at, len, &text[start..], self.max_len);
            }
            _ => {
                let number = NUMBERS[self.rng.below(NUMBERS.len())];
                splice_in(out, at, len, number, self.max_len);
            }
        }
    }

    /// Removes, copies, unwraps or swaps what `find` finds.
    fn rearrange(&mut self, out: &mut Vec<u8>, find: Find) {
        let Some((at, len)) = find(out, self.rng.below(out.len())) else { return };
        match self.rng.below(5) {
            0 => {
                splice_in(out, at, len, &[], self.max_len);
            }
            1 => {
                self.copy_block(out, at, len);
                let block = std::mem::take(self.scratch);
                splice_in(out, at, 0, &block, self.max_len);
                *self.scratch = block;
            }
            2 => {
                self.copy_block(out, at, len);
                self.paste_block(out, false);
            }
            3 => {
                // The inside replaces the whole.
                if len > 2 {
                    self.copy_block(out, at + 1, len - 2);
                    let block = std::mem::take(self.scratch);
                    splice_in(out, at, len, &block, self.max_len);
                    *self.scratch = block;
                }
            }
            _ => {
                let Some((b, b_len)) = find(out, self.rng.below(out.len())) else { return };
                let ((a, a_len), (b, b_len)) =
                    if at <= b { ((at, len), (b, b_len)) } else { ((b, b_len), (at, len)) };
                if a + a_len <= b {
                    // Two rotations: the first block goes to the end, then the second to the
                    // start.
                    let all = &mut out[a..b + b_len];
                    all.rotate_left(a_len);
                    let rest = all.len() - a_len;
                    all[..rest].rotate_right(b_len);
                }
            }
        }
    }
}

/// The word at or after a place: letters, digits, `_` and bytes that are not ASCII. Any other
/// sign is a word of its own.
fn word(text: &[u8], from: usize) -> Option<(usize, usize)> {
    let end = text.len().min(from + SEARCH_RANGE);
    let at = from + text.get(from..end)?.iter().position(|b| !b.is_ascii_whitespace())?;
    let is_part = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80;
    if !is_part(text[at]) {
        return Some((at, 1));
    }
    Some(extend(text, at, is_part))
}

/// The range around a place whose bytes satisfy a condition: its start and its length.
fn extend(text: &[u8], at: usize, is_part: impl Fn(u8) -> bool) -> (usize, usize) {
    let near = &text[at.saturating_sub(SEARCH_RANGE)..at];
    let before = near.iter().rev().take_while(|b| is_part(**b)).count();
    let after = text[at..].iter().take(SEARCH_RANGE).take_while(|b| is_part(**b)).count();
    (at - before, before + after)
}

/// The first group in brackets or quotes that opens at or after a place.
fn group(text: &[u8], from: usize) -> Option<(usize, usize)> {
    let is_opening = |b: &u8| matches!(b, b'(' | b'[' | b'{' | b'<' | b'"');
    let end = text.len().min(from + SEARCH_RANGE);
    let at = from + text.get(from..end)?.iter().position(is_opening)?;
    let rest = &text[at..text.len().min(at + 4 * SEARCH_RANGE)];
    let open = rest[0];
    let close = match open {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        b'<' => b'>',
        quote => {
            let close = rest[1..].iter().position(|&b| b == quote)?;
            return Some((at, close + 2));
        }
    };
    let mut depth = 0u32;
    for (i, &b) in rest.iter().enumerate() {
        depth += u32::from(b == open);
        depth -= u32::from(b == close);
        if depth == 0 {
            return Some((at, i + 1));
        }
    }
    None
}

/// A number in decimal, without allocation. Returns a buffer and where the text starts.
fn decimal(value: i64) -> ([u8; 20], usize) {
    let (mut text, mut at, mut rest) = ([0; 20], 20, value.unsigned_abs());
    loop {
        at -= 1;
        text[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        at -= 1;
        text[at] = b'-';
    }
    (text, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_agrees_with_the_standard_library() {
        for value in [0, 7, -1, 10, 1234, i64::MAX, i64::MIN] {
            let (text, at) = decimal(value);
            assert_eq!(text[at..], *value.to_string().as_bytes());
        }
    }

    #[test]
    fn words_and_groups_are_found_from_any_place() {
        let text = b"  while (x[1] < \"a)b\") y";
        let of = |span: Option<(usize, usize)>| span.map(|(at, len)| &text[at..at + len]);
        assert_eq!(of(word(text, 0)), Some(&b"while"[..]));
        assert_eq!(of(word(text, 4)), Some(&b"while"[..]));
        assert_eq!(of(word(text, 8)), Some(&b"("[..]));
        assert_eq!(of(word(text, text.len() - 1)), Some(&b"y"[..]));
        assert_eq!(word(text, text.len()), None);
        assert_eq!(of(group(text, 9)), Some(&b"[1]"[..]));
        assert_eq!(of(group(text, 15)), Some(&b"\"a)b\""[..]));
        // It is never closed, or never opened.
        assert_eq!(group(b"((a)", 0), None);
        assert_eq!(group(b"a)", 0), None);
    }
}
