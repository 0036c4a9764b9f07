//! Function records: the control flow of a function and its place in the source.
//! The compiler writes one for each instrumented function into section
//! `pleach_functions`; the linker concatenates them.
//!
//! A record is `PLFN`, the length of the whole record (u32), and then the fields below
//! in their order: numbers as LEB128, strings as length and bytes. The reader skips
//! unknown bytes at the end of a record.

use crate::section::SiteKind;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    pub file: String,
    pub line: u32,
    /// Successors of each block, by block index; block 0 is the entry.
    pub blocks: Vec<Vec<u32>>,
    pub sites: Vec<SiteInfo>,
    pub calls: Vec<Call>,
}

impl Function {
    /// The file that a site of this function is in.
    pub fn file_of<'a>(&'a self, site: &'a SiteInfo) -> &'a str {
        if site.file.is_empty() { &self.file } else { &site.file }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteInfo {
    pub hash: u64,
    pub kind: SiteKind,
    /// Empty if it is the function's file.
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub block: u32,
    /// The blocks that control may go to. Branch: the block if true, then the block
    /// if false. Switch: one for each case, then the default. Others: none.
    pub targets: Vec<u32>,
    /// Switch: the values of the cases, zero-extended.
    pub cases: Vec<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub block: u32,
    /// Linkage name; empty for an indirect call.
    pub callee: String,
}

const MAGIC: &[u8; 4] = b"PLFN";

impl Function {
    pub fn encode(&self) -> Vec<u8> {
        let mut w = Writer(MAGIC.to_vec());
        w.0.extend([0; 4]);
        w.text(&self.name);
        w.text(&self.file);
        w.number(self.line.into());
        w.number(self.blocks.len() as u64);
        for successors in &self.blocks {
            w.list(successors);
        }
        w.number(self.sites.len() as u64);
        for s in &self.sites {
            w.0.extend(s.hash.to_le_bytes());
            w.0.push(s.kind as u8);
            w.text(&s.file);
            w.number(s.line.into());
            w.number(s.column.into());
            w.number(s.block.into());
            w.list(&s.targets);
            w.number(s.cases.len() as u64);
            s.cases.iter().for_each(|&c| w.number(c));
        }
        w.number(self.calls.len() as u64);
        for c in &self.calls {
            w.number(c.block.into());
            w.text(&c.callee);
        }
        let len = (w.0.len() as u32).to_le_bytes();
        w.0[4..8].copy_from_slice(&len);
        w.0
    }

    /// Every record of a section, in order; `None` if the section is damaged.
    pub fn decode_all(mut bytes: &[u8]) -> Option<Vec<Function>> {
        let mut out = Vec::new();
        while !bytes.is_empty() {
            if bytes[0] == 0 {
                bytes = &bytes[1..];
                continue;
            }
            let head = bytes.get(..8)?;
            let len = u32::from_le_bytes(head[4..8].try_into().ok()?) as usize;
            if &head[..4] != MAGIC || len < 8 {
                return None;
            }
            out.push(decode(Reader(bytes.get(8..len)?))?);
            bytes = &bytes[len..];
        }
        Some(out)
    }
}

fn decode(mut r: Reader) -> Option<Function> {
    let (name, file, line) = (r.text()?, r.text()?, r.number_u32()?);
    let blocks = r.list(|r| r.list(Reader::number_u32))?;
    let sites = r.list(|r| {
        let hash = u64::from_le_bytes(r.bytes(8)?.try_into().ok()?);
        let kind = SiteKind::from_u8(r.bytes(1)?[0])?;
        Some(SiteInfo {
            hash,
            kind,
            file: r.text()?,
            line: r.number_u32()?,
            column: r.number_u32()?,
            block: r.number_u32()?,
            targets: r.list(Reader::number_u32)?,
            cases: r.list(Reader::number)?,
        })
    })?;
    let calls = r.list(|r| Some(Call { block: r.number_u32()?, callee: r.text()? }))?;
    Some(Function { name, file, line, blocks, sites, calls })
}

pub(crate) struct Writer(pub(crate) Vec<u8>);

impl Writer {
    pub(crate) fn number(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.0.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.0.push(n as u8);
    }

    pub(crate) fn text(&mut self, s: &str) {
        self.number(s.len() as u64);
        self.0.extend(s.as_bytes());
    }

    fn list(&mut self, items: &[u32]) {
        self.number(items.len() as u64);
        items.iter().for_each(|&i| self.number(i.into()));
    }
}

pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn bytes(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(n)?;
        self.0 = tail;
        Some(head)
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut n = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.bytes(1)?[0];
            n |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(n);
            }
        }
        None
    }

    pub(crate) fn number_u32(&mut self) -> Option<u32> {
        self.number()?.try_into().ok()
    }

    pub(crate) fn text(&mut self) -> Option<String> {
        let n = self.number()?.try_into().ok()?;
        Some(String::from_utf8_lossy(self.bytes(n)?).into_owned())
    }

    pub(crate) fn list<T>(
        &mut self,
        mut one: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        // The count is untrusted: reserve no memory for it.
        let n = self.number()?;
        (0..n).map(|_| one(self)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_survive_encoding_and_padding() {
        let f = Function {
            name: "parse".into(),
            file: "calc.c".into(),
            line: 300,
            blocks: vec![vec![1, 2], vec![], vec![1]],
            sites: vec![SiteInfo {
                hash: 0x0123_4567_89ab_cdef,
                kind: SiteKind::Switch,
                file: String::new(),
                line: 301,
                column: 7,
                block: 0,
                targets: vec![1, 2],
                cases: vec![u64::MAX],
            }],
            calls: vec![Call { block: 2, callee: "strlen".into() }],
        };
        let mut bytes = f.encode();
        bytes.extend([0; 3]);
        bytes.extend(f.encode());
        assert_eq!(Function::decode_all(&bytes), Some(vec![f.clone(), f.clone()]));
        for cut in 1..f.encode().len() {
            assert_eq!(Function::decode_all(&f.encode()[..cut]), None, "cut at {cut}");
        }
    }
}
