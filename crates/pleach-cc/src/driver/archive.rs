//! Static libraries: reading all their formats, and writing the one that the
//! symbolic half is linked with.
//!
//! The written archive has no symbol index: lld, which links every symbolic
//! half, reads the members itself. Several members may have the same name; this
//! is allowed, and build systems rely on it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use object::read::archive::ArchiveFile;

use super::error::Error;

pub struct Member {
    pub name: Vec<u8>,
    pub bytes: Vec<u8>,
}

pub fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(b"!<arch>\n") || bytes.starts_with(b"!<thin>\n")
}

/// Reads all members. Those of a thin archive are read from the files it names.
pub fn members(path: &Path, bytes: &[u8]) -> Result<Vec<Member>, Error> {
    let bad = |e: object::Error| Error::BadFile { path: path.to_owned(), what: e.to_string() };
    let archive = ArchiveFile::parse(bytes).map_err(bad)?;
    let directory = path.parent().unwrap_or(Path::new(""));
    archive
        .members()
        .map(|member| {
            let member = member.map_err(bad)?;
            let name = member.name().to_owned();
            let bytes = if archive.is_thin() {
                let file = directory.join(OsStr::from_bytes(&name));
                std::fs::read(&file).map_err(Error::io("read", file))?
            } else {
                member.data(bytes).map_err(bad)?.to_owned()
            };
            Ok(Member { name, bytes })
        })
        .collect()
}

/// Builds a regular archive of these members, in order.
pub fn write(members: &[Member]) -> Vec<u8> {
    let mut long_names = Vec::new();
    let mut body = Vec::new();
    for member in members {
        let name = member.name.rsplit(|&b| b == b'/').next().unwrap_or_default();
        // Every name goes to the table of long names, short ones too: one format is enough.
        let field = format!("/{}", long_names.len());
        long_names.extend(name);
        long_names.extend(b"/\n");
        push_member(&mut body, &field, &member.bytes);
    }
    let mut out = b"!<arch>\n".to_vec();
    push_member(&mut out, "//", &long_names);
    out.extend(body);
    out
}

fn push_member(out: &mut Vec<u8>, name: &str, bytes: &[u8]) {
    // Name, date, owner, group, mode, size.
    let head = format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 644, bytes.len());
    out.extend(head.as_bytes());
    out.extend(bytes);
    if bytes.len() % 2 == 1 {
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_archive_is_read_back() {
        let names: [&[u8]; 4] =
            [b"a.o", b"a.o", b"a name of more than fifteen bytes.o", b"dir/b.o"];
        let written: Vec<Member> = names
            .iter()
            .enumerate()
            .map(|(i, n)| Member { name: n.to_vec(), bytes: vec![i as u8; i] })
            .collect();
        let bytes = write(&written);
        assert!(is_archive(&bytes));
        let read = members(Path::new("lib.a"), &bytes).unwrap();
        let read: Vec<_> = read.iter().map(|m| (m.name.as_slice(), m.bytes.len())).collect();
        assert_eq!(read, [(names[0], 0), (names[1], 1), (names[2], 2), (b"b.o".as_slice(), 3)]);
    }

    #[test]
    fn a_truncated_archive_is_an_error() {
        let bytes = write(&[Member { name: b"a.o".to_vec(), bytes: vec![1; 100] }]);
        assert!(members(Path::new("lib.a"), &bytes[..bytes.len() - 50]).is_err());
    }
}
