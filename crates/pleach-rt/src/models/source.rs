//! Reads of the input: the labels of the bytes, and decisions on the length of the input.
//!
//! The end of a stream is a condition like any other. A read that gets all bytes that it
//! asked for shows that the stream is at least that long. A read that is cut short shows
//! that it is not; its count is the expression `length - position`. From then on the
//! descriptor is at the end *for every length*: the next read returns 0 for every length
//! that takes this path, so it decides nothing. Without this rule, the usual loop up to the
//! first 0 would pin the length of every input.

use super::api::V;
use crate::input::{self, Stream};
use crate::live;
use crate::start::state;
use crate::symbolic::tls::tls;
use crate::symbolic::{
    arena, decide_read_len, events, holes, is_labelling, label_input, label_of_read_len, shadow,
};
use crate::sys;
use pleach_abi::event::Kind;
use pleach_abi::node::Op;

/// A descriptor that reads a stream of the input, and its position.
#[derive(Clone, Copy)]
pub struct Source {
    pub stream: usize,
    /// -1 for a read at a given position (`pread`).
    fd: i32,
    pub pos: u64,
    seekable: bool,
}

/// The descriptor as a source of labelled bytes; `None` if it is not input.
pub fn of(fd: i32) -> Option<Source> {
    if !is_labelling() {
        return None;
    }
    let stream = input::stream_of(fd)?;
    if live::is_on() {
        return Some(Source { stream, fd, pos: live::labelled_taken(), seekable: false });
    }
    const SEEK_CUR: u64 = 1;
    let at = sys::lseek(fd as u64, 0, SEEK_CUR);
    let seekable = at >= 0;
    let pos = if seekable { at as u64 } else { input::streams().all[stream].taken };
    Some(Source { stream, fd, pos, seekable })
}

/// As [`of`], for a read at a given position.
pub fn at(fd: i32, pos: u64) -> Option<Source> {
    if !is_labelling() {
        return None;
    }
    let stream = input::stream_of(fd)?;
    Some(Source { stream, fd: -1, pos, seekable: true })
}

impl Source {
    fn stream_data(&self) -> &'static mut Stream {
        &mut input::streams().all[self.stream]
    }

    /// The source `n` bytes earlier, such as the position of a buffer with `n` bytes.
    pub fn back(self, n: u64) -> Source {
        Source { pos: self.pos.wrapping_sub(n), ..self }
    }

    /// Labels the `n` bytes at `addr`: they are the input from `skip` bytes after the
    /// position on.
    pub fn label(&self, addr: u64, skip: u64, n: u64) {
        let s = self.stream_data();
        let from = self.pos + skip;
        label_input(addr, s.at + from, n.min(s.len.saturating_sub(from)));
    }

    /// After a read of `want` bytes to `addr` that got `got`: labels the bytes that the end
    /// of the input left unfilled. A longer input would have filled them, so a program that
    /// reads them (a string without a terminator) decides on the length.
    pub fn label_past_end(&self, addr: u64, got: u64, want: u64) {
        const MAX_LABELLED: u64 = 64;
        if live::is_on() {
            return;
        }
        let end = self.pos + got;
        // A read that got nothing at the end leaves the bytes of earlier reads.
        let ended = got < want && end == self.stream_data().len && (got != 0 || end == 0);
        let n = (want - got.min(want)).min(MAX_LABELLED);
        if ended
            && shadow::is_clean(addr + got, n)
            && let Some(first) = arena::labels_past_end(self.stream, end, n)
        {
            shadow::set_run(addr + got, first, n);
        }
    }

    /// Advances the position of a source without an offset by `n` bytes.
    pub fn advance(&self, n: u64) {
        if !self.seekable {
            self.stream_data().taken += n;
        }
    }

    /// Records the decisions of a read of `want` bytes that got `got`; returns the count.
    pub fn decide_outcome(&self, want: V, got: u64) -> V {
        let count = V::new(64, got);
        // The input of a live run has no end.
        if want.val == 0 || live::is_on() || self.is_at_end() {
            return count;
        }
        let s = self.stream_data();
        self.leave_end();
        if got == 0 && !self.seekable && state().input_fd < 0 {
            // A pipe, without a driver: only now is its length known.
            s.len = self.pos;
        }
        decide_read_len(self.stream, self.pos);
        if self.pos > s.len {
            return count;
        }
        let ended = got < want.val && self.pos + got == s.len;
        if holes::are_on() && want.val > 1 && want.label == 0 && (ended || got == want.val) {
            // That enough bytes are left is a condition on the lengths of the holes. A read
            // of a whole buffer just wants all bytes: its outcome is only assumed.
            const BUFFER: u64 = 4096;
            let enough = want.ule(self.bytes_left());
            let kind = if want.val < BUFFER { Kind::Model } else { Kind::Assume };
            events::decide(tls().site, enough.label, kind, enough.val != 0, 0);
        }
        if want.label != 0 && (ended || got == want.val) {
            return self.decide_relative(want);
        }
        if ended {
            decide_read_len(self.stream, self.pos + want.val);
            self.reach_end();
            // The count is less than one, so it is 0 for every length.
            return if want.val == 1 { count } else { self.bytes_left() };
        }
        decide_read_len(self.stream, self.pos + got);
        count
    }

    /// As [`Source::decide_outcome`], for a labelled size, most often the length of the input. The
    /// decision compares the two expressions, so the length stays open; a number would fix
    /// it.
    fn decide_relative(&self, want: V) -> V {
        let left = self.bytes_left();
        let whole = want.label == left.label || is_same_length(want, left);
        if whole || want.ule(left).decide() {
            return want;
        }
        self.reach_end();
        left
    }

    /// Number of bytes from the position to the end.
    fn bytes_left(&self) -> V {
        if holes::are_on() && input::streams().len == 1 && self.pos <= self.stream_data().len {
            return holes::bytes_left(self.pos, self.stream_data().len);
        }
        length(self.stream).sub_constant(self.pos)
    }

    /// True if the source is at the end for every length that takes this path.
    pub fn is_at_end(&self) -> bool {
        let s = self.stream_data();
        self.fd >= 0 && s.end_of == self.fd && self.pos == s.len
    }

    fn reach_end(&self) {
        if self.fd >= 0 {
            self.stream_data().end_of = self.fd;
        }
    }

    fn leave_end(&self) {
        let s = self.stream_data();
        if self.fd >= 0 && s.end_of == self.fd {
            s.end_of = -1;
        }
    }

    /// The position after a seek by `offset` that returned `to`; `self` is the source before
    /// it.
    pub fn position_after_seek(&self, offset: i64, whence: i32, to: i64) -> V {
        const SEEK_CUR: i32 = 1;
        const SEEK_END: i32 = 2;
        let plain = V::new(64, to as u64);
        let was_at_end = self.is_at_end();
        if to < 0 {
            return plain;
        }
        if !(whence == SEEK_END || whence == SEEK_CUR && was_at_end) {
            self.leave_end();
            return plain;
        }
        let place = length(self.stream).sub_constant((offset as u64).wrapping_neg());
        if offset == 0 {
            self.reach_end();
            return place;
        }
        // A position relative to the end: which bytes are read there depends on the length.
        self.leave_end();
        place.pin();
        plain
    }
}

/// The length of a stream.
pub fn length(stream: usize) -> V {
    V { label: label_of_read_len(stream), width: 64, val: input::streams().all[stream].len }
}

/// True if both are the length of the same stream.
fn is_same_length(a: V, b: V) -> bool {
    let (a, b) = (arena::node(a.label), arena::node(b.label));
    a.op == Op::InputLen as u8 && b.op == Op::InputLen as u8 && a.a == b.a
}

/// Records that the program has taken the byte with this label: if it is an input byte, the
/// input is longer than its offset.
pub fn decide_byte_taken(label: u32) {
    if label == 0 {
        return;
    }
    let is = arena::node(label);
    if is.op != Op::Input as u8 {
        return;
    }
    let at = u64::from(is.a);
    let s = input::streams();
    let Some(number) = s.all[..s.len].iter().position(|x| at.wrapping_sub(x.at) < x.len) else {
        return;
    };
    decide_read_len(number, at - s.all[number].at + 1);
}

/// As [`decide_byte_taken`], for `n` bytes in memory.
pub fn decide_bytes_taken(addr: u64, n: u64) {
    if n != 0 {
        decide_byte_taken(V::byte(addr + n - 1).label);
    }
}
