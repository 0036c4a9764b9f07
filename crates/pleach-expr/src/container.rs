//! Inputs of several streams in one file; `pleach_abi::container` defines the format.

use crate::Input;
use pleach_abi::container::{MAGIC, RECORD_HEAD};
use thiserror::Error;

/// One stream of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream<'a> {
    /// One of the kinds of `pleach_abi::container`.
    pub kind: u8,
    /// Where the bytes start in the file.
    pub offset: usize,
    pub bytes: &'a [u8],
}

#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ContainerError {
    #[error("the container's record {record} is cut off at byte {offset} of the file")]
    Cut { record: usize, offset: usize },
    #[error("a stream of {len} bytes does not fit a container (at most 4 GiB)")]
    Long { len: usize },
}

pub fn is_container(file: &[u8]) -> bool {
    file.starts_with(MAGIC)
}

/// Puts streams into one file.
pub fn build<'a>(
    streams: impl IntoIterator<Item = (u8, &'a [u8])>,
) -> Result<Vec<u8>, ContainerError> {
    let mut file = MAGIC.to_vec();
    for (kind, bytes) in streams {
        let len =
            u32::try_from(bytes.len()).map_err(|_| ContainerError::Long { len: bytes.len() })?;
        file.extend([kind, 0, 0, 0]);
        file.extend(len.to_le_bytes());
        file.extend(bytes);
    }
    Ok(file)
}

/// The streams of a container, in order.
pub fn parse(file: &[u8]) -> Result<Vec<Stream<'_>>, ContainerError> {
    let mut streams = Vec::new();
    let mut at = MAGIC.len();
    while at < file.len() {
        let cut = ContainerError::Cut { record: streams.len(), offset: at };
        let head = file.get(at..at + RECORD_HEAD).ok_or_else(|| cut.clone())?;
        let len = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
        let offset = at + RECORD_HEAD;
        let bytes = file.get(offset..).and_then(|rest| rest.get(..len)).ok_or(cut)?;
        streams.push(Stream { kind: head[0], offset, bytes });
        at = offset + len;
    }
    Ok(streams)
}

/// The lengths of an input's streams, and the offset in the file where each starts. A
/// plain file is one stream.
pub fn extents(file: &[u8]) -> (Vec<u64>, Vec<u64>) {
    if !is_container(file) {
        return (vec![file.len() as u64], vec![0]);
    }
    let streams = parse(file).unwrap_or_default();
    let lengths = streams.iter().map(|s| s.bytes.len() as u64).collect();
    (lengths, streams.iter().map(|s| s.offset as u64).collect())
}

/// An input file as expressions see it. Of a damaged container it has the streams before
/// the damage, as the runtime does.
pub fn view(file: &[u8]) -> Input<'_> {
    if !is_container(file) {
        return Input::plain(file);
    }
    let mut lengths = Vec::new();
    let mut at = MAGIC.len();
    while let Some(head) = file.get(at..at + RECORD_HEAD) {
        let len = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
        at += RECORD_HEAD;
        if file.len() - at < len {
            break;
        }
        lengths.push(len as u64);
        at += len;
    }
    Input::streams(file, lengths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_abi::container::{ARG, STDIN};

    #[test]
    fn streams_are_the_same_after_a_file() {
        let file = build([(STDIN, &b"hello"[..]), (ARG, b""), (ARG, b"-x")]).unwrap();
        let streams = parse(&file).unwrap();
        let parts: Vec<_> = streams.iter().map(|s| (s.kind, s.bytes)).collect();
        assert_eq!(parts, [(STDIN, &b"hello"[..]), (ARG, b""), (ARG, b"-x")]);
        assert_eq!(&file[streams[2].offset..], b"-x");
        let view = view(&file);
        assert_eq!([0, 1, 2, 3].map(|s| view.length(s)), [5, 0, 2, 0]);
        assert_eq!(view.byte(streams[0].offset), b'h');
    }

    #[test]
    fn the_error_names_the_record_that_is_cut_off() {
        let file = build([(STDIN, &b"hello"[..]), (ARG, b"-x")]).unwrap();
        for end in MAGIC.len() + 1..file.len() {
            let whole_first = MAGIC.len() + RECORD_HEAD + 5;
            match parse(&file[..end]) {
                Ok(streams) => assert_eq!((end, streams.len()), (whole_first, 1)),
                Err(e) => {
                    let record = usize::from(end > whole_first);
                    assert!(matches!(e, ContainerError::Cut { record: r, .. } if r == record));
                }
            }
            view(&file[..end]);
        }
    }
}
