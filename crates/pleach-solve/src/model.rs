//! What the solver found, and the input file that it makes.

use crate::request::Changes;
use pleach_expr::container::{self, Stream};

/// New values for a part of the input; the rest stays as it is.
///
/// A stream that gets longer has new bytes at its end. No condition reads them, so the
/// model does not name them: they become [`Model::FILL`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    /// Offset in the file, new value; in order of the offset.
    pub bytes: Vec<(u32, u8)>,
    /// Stream, new length.
    pub lengths: Vec<(u32, u64)>,
}

impl Model {
    /// For new bytes: a space separates words in most languages and is a character in all.
    pub const FILL: u8 = b' ';

    pub(crate) fn new(changes: &Changes) -> Model {
        let mut model = Model::default();
        for &(var, value) in changes {
            if let Some(offset) = var.as_byte() {
                model.bytes.push((offset, value as u8));
            } else if let Some(stream) = var.as_length() {
                model.lengths.push((stream, value));
            }
        }
        model
    }

    /// The new input file. Offsets of the model are offsets in `input`, the file that was
    /// traced: one plain stream, or a container of several.
    pub fn apply(&self, input: &[u8]) -> Vec<u8> {
        let streams = match container::is_container(input) && !self.lengths.is_empty() {
            true => container::parse(input).ok(),
            false => None,
        };
        let mut bytes = input.to_vec();
        match streams {
            Some(streams) => {
                self.put_bytes(&mut bytes);
                self.resize_streams(&bytes, &streams).unwrap_or(bytes)
            }
            None => {
                self.resize(0, &mut bytes);
                self.put_bytes(&mut bytes);
                bytes
            }
        }
    }

    fn put_bytes(&self, bytes: &mut [u8]) {
        for &(offset, value) in &self.bytes {
            if let Some(byte) = bytes.get_mut(offset as usize) {
                *byte = value;
            }
        }
    }

    fn resize(&self, stream: usize, bytes: &mut Vec<u8>) {
        if let Some(&(_, length)) = self.lengths.iter().find(|(s, _)| *s as usize == stream) {
            bytes.resize(usize::try_from(length).unwrap_or(bytes.len()), Model::FILL);
        }
    }

    /// A container of the same streams, each with its new length.
    fn resize_streams(&self, bytes: &[u8], streams: &[Stream]) -> Option<Vec<u8>> {
        let resized = streams.iter().enumerate().map(|(number, stream)| {
            let mut part = bytes[stream.offset..stream.offset + stream.bytes.len()].to_vec();
            self.resize(number, &mut part);
            (stream.kind, part)
        });
        let resized: Vec<(u8, Vec<u8>)> = resized.collect();
        container::build(resized.iter().map(|(kind, part)| (*kind, &part[..]))).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_abi::container::{ARG, STDIN};

    #[test]
    fn bytes_and_length_of_a_plain_file() {
        let model = Model { bytes: vec![(0, b'x'), (4, b'y'), (9, b'z')], lengths: vec![(0, 6)] };
        assert_eq!(model.apply(b"abc"), b"xbc y ");
        let shorter = Model { bytes: vec![], lengths: vec![(0, 1)] };
        assert_eq!(shorter.apply(b"abc"), b"a");
    }

    #[test]
    fn a_stream_grows_inside_its_container() {
        let file = container::build([(STDIN, &b"ab"[..]), (ARG, b"cd")]).unwrap();
        let (lengths, offsets) = container::extents(&file);
        assert_eq!(lengths, [2, 2]);
        let model = Model { bytes: vec![(offsets[1] as u32, b'x')], lengths: vec![(0, 3)] };
        let expected = container::build([(STDIN, &b"ab "[..]), (ARG, b"xd")]).unwrap();
        assert_eq!(model.apply(&file), expected);
    }
}
