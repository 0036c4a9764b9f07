//! The container: one file that holds an input of several streams.
//!
//! ```text
//! "PLEACH-INPUT-1\n"
//! repeated: kind (1 byte), three zero bytes, length (u32, little endian), bytes
//! ```
//! A file without the magic is a single stream. An offset in an expression is an
//! offset in this file, for the bytes of every stream. A stream's number is its
//! place among the records.

pub const MAGIC: &[u8; 15] = b"PLEACH-INPUT-1\n";
pub const RECORD_HEAD: usize = 8;

/// Standard input.
pub const STDIN: u8 = b'i';
/// The contents of the file that `@@` names.
pub const FILE: u8 = b'f';
/// One more command-line argument. It has no zero byte.
pub const ARG: u8 = b'a';
/// `NAME=value`: an environment variable. Only the value is input.
pub const ENV: u8 = b'e';
/// What one connection receives.
pub const SOCKET: u8 = b's';
