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
    /// The places that each block has code for, by block index, in the order of the code.
    pub places: Vec<Vec<Place>>,
    /// A hash of its type: an indirect call reaches only functions of its type.
    pub shape: u32,
    /// Linkage names of functions whose address this module takes. One record of each module
    /// has them.
    pub addresses: Vec<String>,
    /// The directory that relative names of files start from; empty if unknown.
    pub directory: String,
    /// A hash of its code, without its lines: equal if nothing has changed in another build.
    pub code: u32,
}

/// A place in the source that a block has code for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Empty if it is the function's file.
    pub file: String,
    pub line: u32,
    /// The column of the block's first code on this line.
    pub column: u32,
}

impl Function {
    /// The file that a place of this function is in.
    pub fn file_of_place<'a>(&'a self, place: &'a Place) -> &'a str {
        if place.file.is_empty() { &self.file } else { &place.file }
    }

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
    /// if false. Switch: one for each case, then the default. Jump: one for each label.
    /// Others: none.
    pub targets: Vec<u32>,
    /// Switch: the values of the cases, zero-extended.
    pub cases: Vec<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub block: u32,
    /// Linkage name; empty for an indirect call.
    pub callee: String,
    /// An indirect call: a hash of the type of the function that it calls.
    pub shape: u32,
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
        w.places(&self.places);
        w.number(self.shape.into());
        self.calls.iter().filter(|c| c.callee.is_empty()).for_each(|c| w.number(c.shape.into()));
        w.number(self.addresses.len() as u64);
        self.addresses.iter().for_each(|a| w.text(a));
        w.text(&self.directory);
        w.number(self.code.into());
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
    let call = |r: &mut Reader| Some(Call { block: r.number_u32()?, callee: r.text()?, shape: 0 });
    let mut calls = r.list(call)?;
    let places = r.places()?;
    let shape = r.number_u32()?;
    for call in calls.iter_mut().filter(|c| c.callee.is_empty()) {
        call.shape = r.number_u32()?;
    }
    let (addresses, directory) = (r.list(Reader::text)?, r.text()?);
    let code = r.number_u32()?;
    Some(Function {
        name,
        file,
        line,
        blocks,
        sites,
        calls,
        places,
        shape,
        addresses,
        directory,
        code,
    })
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

    /// Most neighbours are on the same or the next lines of one file, so lines are stored as
    /// differences, and files by their number.
    fn places(&mut self, places: &[Vec<Place>]) {
        let mut files: Vec<&str> = vec![""];
        for place in places.iter().flatten() {
            if !files.contains(&place.file.as_str()) {
                files.push(&place.file);
            }
        }
        self.number(files.len() as u64 - 1);
        files[1..].iter().for_each(|f| self.text(f));
        let mut line = 0;
        self.number(places.len() as u64);
        for block in places {
            self.number(block.len() as u64);
            for place in block {
                let file = files.iter().position(|f| *f == place.file).unwrap_or(0);
                let step = i64::from(place.line) - line;
                line = place.line.into();
                // Zigzag: small differences of either sign are small numbers.
                let zigzag = (step << 1 ^ step >> 63) as u64;
                self.number(zigzag << 1 | u64::from(file > 0));
                if file > 0 {
                    self.number(file as u64);
                }
                self.number(place.column.into());
            }
        }
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

    fn places(&mut self) -> Option<Vec<Vec<Place>>> {
        let mut files = vec![String::new()];
        files.extend(self.list(Reader::text)?);
        let mut line = 0i64;
        self.list(|r| {
            r.list(|r| {
                let number = r.number()?;
                let file = if number & 1 == 1 { r.number()? } else { 0 };
                let zigzag = number >> 1;
                line = line.checked_add((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))?;
                Some(Place {
                    file: files.get(usize::try_from(file).ok()?)?.clone(),
                    line: line.try_into().ok()?,
                    column: r.number_u32()?,
                })
            })
        })
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
            calls: vec![
                Call { block: 2, callee: "strlen".into(), shape: 0 },
                Call { block: 1, callee: String::new(), shape: 77 },
            ],
            places: vec![
                vec![
                    Place { file: String::new(), line: 301, column: 7 },
                    Place { file: "calc.y".into(), line: 12, column: 1 },
                ],
                vec![],
                vec![Place { file: String::new(), line: 4_000_000, column: 0 }],
            ],
            shape: u32::MAX,
            addresses: vec!["run".into()],
            directory: "/src".into(),
            code: 0xc0de,
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
