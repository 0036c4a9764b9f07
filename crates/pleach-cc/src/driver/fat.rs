//! Fat objects: the fast object contains the symbolic one, as a frame in a section
//! that every linker drops (SHF_EXCLUDE). `ld -r` concatenates such sections, so an
//! object may contain several frames.

use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use object::elf;
use pleach_abi::section::{
    COUNTERS, FRAME_MAGIC, FUNCTIONS, SITES, SYMBOLIC_IMAGE, SYMBOLIC_OBJECT,
};

use super::elf as file;
use super::error::Error;

/// What an input of the link contains.
#[derive(Debug, PartialEq, Eq)]
pub enum Contents<'a> {
    /// Not an object: a linker script, or another format.
    Unknown,
    /// An object without instrumentation. It is linked into both halves.
    Plain,
    /// An instrumented object made with `-fno-pleach-symbolic`.
    FastOnly,
    /// A fat object, with its symbolic objects.
    Fat(Vec<&'a [u8]>),
    /// A shared library, with its symbolic twin if it has one.
    Shared(Option<&'a [u8]>),
}

pub fn classify(bytes: &[u8]) -> Result<Contents<'_>, &'static str> {
    match file::file_type(bytes) {
        None => Ok(Contents::Unknown),
        Some(elf::ET_DYN) => Ok(Contents::Shared(file::section(bytes, SYMBOLIC_IMAGE))),
        Some(_) => match file::section(bytes, SYMBOLIC_OBJECT) {
            Some(section) => Ok(Contents::Fat(frames(section)?)),
            None if [SITES, COUNTERS, FUNCTIONS]
                .iter()
                .any(|s| file::section(bytes, s).is_some()) =>
            {
                Ok(Contents::FastOnly)
            }
            None => Ok(Contents::Plain),
        },
    }
}

/// Makes a fat object. `None` if the fast object has no section headers.
pub fn embed_object(fast: Vec<u8>, symbolic: &[u8]) -> Option<Vec<u8>> {
    let added = file::append_section(&fast, SYMBOLIC_OBJECT, elf::SHF_EXCLUDE, &frame(symbolic))?;
    let mut bytes = fast;
    bytes[..added.header.len()].copy_from_slice(&added.header);
    bytes.extend(added.tail);
    Some(bytes)
}

/// Adds the symbolic image to a linked executable or library, in place.
/// `Ok(false)` if the file has no section headers.
pub fn embed_image(output: &Path, image: &[u8]) -> Result<bool, Error> {
    let bytes = std::fs::read(output).map_err(Error::io("read", output))?;
    if file::file_type(&bytes).is_none() {
        // The output of `--oformat=binary`, for example, which Pleach cannot run.
        return Ok(true);
    }
    let Some(added) = file::append_section(&bytes, SYMBOLIC_IMAGE, 0, image) else {
        return Ok(false);
    };
    let write = || {
        let mut f = std::fs::OpenOptions::new().write(true).open(output)?;
        f.seek(SeekFrom::Start(bytes.len() as u64))?;
        f.write_all(&added.tail)?;
        // The header is written last: until then the linker's file is unchanged.
        f.seek(SeekFrom::Start(0))?;
        f.write_all(&added.header)
    };
    write().map_err(Error::io("write", output))?;
    Ok(true)
}

fn frame(object: &[u8]) -> Vec<u8> {
    let mut out = FRAME_MAGIC.to_vec();
    out.extend((object.len() as u64).to_le_bytes());
    out.extend(object);
    out.resize(out.len().next_multiple_of(8), 0);
    out
}

fn frames(mut section: &[u8]) -> Result<Vec<&[u8]>, &'static str> {
    const DAMAGED: &str = "its symbolic half is damaged; compile the file again";
    let mut out = Vec::new();
    while let Some(start) = section.iter().position(|&b| b != 0) {
        let record = section[start..].strip_prefix(&FRAME_MAGIC).ok_or(DAMAGED)?;
        let (len, rest) = record.split_first_chunk::<8>().ok_or(DAMAGED)?;
        let len = usize::try_from(u64::from_le_bytes(*len)).map_err(|_| DAMAGED)?;
        let (object, rest) = rest.split_at_checked(len).ok_or(DAMAGED)?;
        out.push(object);
        section = rest;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_survive_concatenation_and_padding() {
        let objects: [&[u8]; 3] = [b"one", b"", b"three objects"];
        let mut section = Vec::new();
        for o in objects {
            section.extend(frame(o));
            section.extend([0; 8]);
        }
        assert_eq!(frames(&section).unwrap(), objects);
        assert!(frames(&[]).unwrap().is_empty());
    }

    #[test]
    fn a_damaged_section_is_an_error() {
        let whole = frame(b"object that is long enough");
        for cut in 1..16 + 26 {
            assert!(frames(&whole[..cut]).is_err(), "cut at {cut}");
        }
        assert!(frames(b"garbage").is_err());
    }
}
