//! A model of the solver put into an input file.

use pleach_exec::container::{self, Stream};
use pleach_solve::Model;

/// What stands in bytes that a model adds and says nothing of.
pub const FILL: u8 = b' ';

/// The input with a model's bytes and lengths. Offsets of a model are offsets
/// in the file that was traced.
pub fn apply(input: &[u8], model: &Model) -> Vec<u8> {
    let streams = container::is_container(input).then(|| container::parse(input));
    match streams {
        Some(Ok(streams)) => apply_streams(input, &streams, model),
        _ => {
            let mut bytes = input.to_vec();
            if let Some(&(_, len)) = model.lengths.iter().find(|(stream, _)| *stream == 0) {
                bytes.resize(usize::try_from(len).unwrap_or(bytes.len()), FILL);
            }
            put(&mut bytes, model);
            bytes
        }
    }
}

fn apply_streams(input: &[u8], streams: &[Stream], model: &Model) -> Vec<u8> {
    let mut bytes = input.to_vec();
    put(&mut bytes, model);
    let resized: Vec<(u8, Vec<u8>)> = streams
        .iter()
        .enumerate()
        .map(|(i, s)| {
            let mut part = bytes[s.offset..s.offset + s.bytes.len()].to_vec();
            if let Some(&(_, len)) = model.lengths.iter().find(|(stream, _)| *stream as usize == i)
            {
                part.resize(usize::try_from(len).unwrap_or(part.len()), FILL);
            }
            (s.kind, part)
        })
        .collect();
    let parts = resized.iter().map(|(kind, part)| (*kind, part.as_slice()));
    container::build(parts).unwrap_or(bytes)
}

fn put(bytes: &mut [u8], model: &Model) {
    for &(offset, byte) in &model.bytes {
        if let Some(place) = bytes.get_mut(offset as usize) {
            *place = byte;
        }
    }
}

/// Lengths of the streams of an input, and where each starts in the file.
pub fn streams(input: &[u8]) -> (Vec<u64>, Vec<u64>) {
    if !container::is_container(input) {
        return (vec![input.len() as u64], vec![0]);
    }
    let streams = container::parse(input).unwrap_or_default();
    (
        streams.iter().map(|s| s.bytes.len() as u64).collect(),
        streams.iter().map(|s| s.offset as u64).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_abi::container::{ARG, STDIN};

    #[test]
    fn bytes_and_length_of_a_plain_file() {
        let model = Model { bytes: vec![(0, b'x'), (4, b'y'), (9, b'z')], lengths: vec![(0, 6)] };
        assert_eq!(apply(b"abc", &model), b"xbc y ");
        let shorter = Model { bytes: vec![], lengths: vec![(0, 1)] };
        assert_eq!(apply(b"abc", &shorter), b"a");
    }

    #[test]
    fn a_stream_grows_inside_its_container() {
        let file = container::build([(STDIN, &b"ab"[..]), (ARG, b"cd")]).unwrap();
        let (lengths, offsets) = streams(&file);
        assert_eq!(lengths, [2, 2]);
        let model = Model { bytes: vec![(offsets[1] as u32, b'x')], lengths: vec![(0, 3)] };
        let expected = container::build([(STDIN, &b"ab "[..]), (ARG, b"xd")]).unwrap();
        assert_eq!(apply(&file, &model), expected);
    }
}
