//! Input that is more than one stream: one file holds them all.
//!
//! ```text
//! "PLEACH-INPUT-1\n"
//! repeated: kind (1 byte), three zero bytes, length (u32, little endian), bytes
//! ```
//! A plain file, without the magic, is a single stream. Offsets in expressions
//! are offsets in this file, whichever stream a byte belongs to; a stream's
//! number is its place among the records.

pub const MAGIC: &[u8; 15] = b"PLEACH-INPUT-1\n";
pub const RECORD_HEAD: usize = 8;

/// Standard input.
pub const STDIN: u8 = b'i';
/// The contents of the file that `@@` names.
pub const FILE: u8 = b'f';
/// One more command-line argument (no zero byte inside).
pub const ARG: u8 = b'a';
/// `NAME=value`: an environment variable; the value is input.
pub const ENV: u8 = b'e';
/// What one connection receives.
pub const SOCKET: u8 = b's';
