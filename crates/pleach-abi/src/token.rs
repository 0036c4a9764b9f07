//! Token records: the functions that return tokens. The compiler writes one for each
//! into section `pleach_tokens` of the symbolic half; the linker concatenates them.
//!
//! A record is `PLTK`, the length of the whole record (u32), and then the fields below
//! in their order: numbers as LEB128, strings as length and bytes.

use crate::function::{Reader, Writer};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenFunction {
    /// Linkage name.
    pub name: String,
    pub file: String,
    pub line: u32,
    /// Where the function leaves the token: `ret`, `arg0->t.token`, `@token`.
    pub place: String,
    pub how: How,
    /// Names of token numbers, from an enumeration in the debug information.
    pub names: Vec<(i32, String)>,
}

/// How the compiler recognised a token function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum How {
    /// It has a usual name of token functions.
    #[default]
    Name = 1,
    /// `-fpleach-token` names it.
    Flag = 2,
    /// It calls `pleach_token`.
    Source = 3,
    /// It has a usual name, but its result is not a number. It is not a border until
    /// the user says where the token is.
    Candidate = 4,
}

impl How {
    pub const fn from_u8(n: u8) -> Option<How> {
        Some(match n {
            1 => How::Name,
            2 => How::Flag,
            3 => How::Source,
            4 => How::Candidate,
            _ => return None,
        })
    }
}

const MAGIC: &[u8; 4] = b"PLTK";

impl TokenFunction {
    pub fn encode(&self) -> Vec<u8> {
        let mut w = Writer(MAGIC.to_vec());
        w.0.extend([0; 4]);
        w.text(&self.name);
        w.text(&self.file);
        w.number(self.line.into());
        w.text(&self.place);
        w.0.push(self.how as u8);
        w.number(self.names.len() as u64);
        for (number, name) in &self.names {
            w.0.extend(number.to_le_bytes());
            w.text(name);
        }
        let len = (w.0.len() as u32).to_le_bytes();
        w.0[4..8].copy_from_slice(&len);
        w.0
    }

    /// Every record of a section with its offset; `None` if the section is damaged.
    pub fn decode_all(section: &[u8]) -> Option<Vec<(u64, TokenFunction)>> {
        let mut out = Vec::new();
        let mut at = 0;
        while at < section.len() {
            let bytes = &section[at..];
            if bytes[0] == 0 {
                at += 1;
                continue;
            }
            let head = bytes.get(..8)?;
            let len = u32::from_le_bytes(head[4..8].try_into().ok()?) as usize;
            if &head[..4] != MAGIC || len < 8 {
                return None;
            }
            out.push((at as u64, decode(Reader(bytes.get(8..len)?))?));
            at += len;
        }
        Some(out)
    }
}

fn decode(mut r: Reader) -> Option<TokenFunction> {
    Some(TokenFunction {
        name: r.text()?,
        file: r.text()?,
        line: r.number_u32()?,
        place: r.text()?,
        how: How::from_u8(r.bytes(1)?[0])?,
        names: r.list(|r| Some((i32::from_le_bytes(r.bytes(4)?.try_into().ok()?), r.text()?)))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_survive_encoding_and_padding() {
        let f = TokenFunction {
            name: "yylex".into(),
            file: "lex.yy.c".into(),
            line: 700,
            place: "arg0->token".into(),
            how: How::Flag,
            names: vec![(-2, "YYEMPTY".into()), (258, "NUMBER".into())],
        };
        let one = f.encode();
        let mut bytes = one.clone();
        bytes.extend([0; 3]);
        bytes.extend(&one);
        let second = one.len() as u64 + 3;
        assert_eq!(
            TokenFunction::decode_all(&bytes),
            Some(vec![(0, f.clone()), (second, f.clone())])
        );
        for cut in 1..one.len() {
            assert_eq!(TokenFunction::decode_all(&one[..cut]), None, "cut at {cut}");
        }
    }
}
