//! An input that expressions are evaluated on: the bytes of the file, and the lengths of
//! the streams in it.

/// A plain file is one stream, number 0. In a container (see `pleach_abi::container`),
/// the number of a stream is the index of its record. Offsets of bytes are always offsets
/// in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input<'a> {
    bytes: &'a [u8],
    lengths: Vec<u64>,
}

impl<'a> Input<'a> {
    pub fn plain(bytes: &'a [u8]) -> Self {
        Input { bytes, lengths: vec![bytes.len() as u64] }
    }

    pub fn streams(bytes: &'a [u8], lengths: Vec<u64>) -> Self {
        Input { bytes, lengths }
    }

    /// The same streams with the extended input: the input and the variables after it.
    pub fn extended<'b>(&self, bytes: &'b [u8]) -> Input<'b> {
        Input { bytes, lengths: self.lengths.clone() }
    }

    /// The byte at an offset; 0 past the end, so that a condition of a longer input can be
    /// evaluated on a shorter one.
    pub fn byte(&self, offset: usize) -> u8 {
        self.bytes.get(offset).copied().unwrap_or(0)
    }

    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The length of a stream; 0 for one that this input does not have.
    pub fn length(&self, stream: u32) -> u64 {
        self.lengths.get(stream as usize).copied().unwrap_or(0)
    }
}
