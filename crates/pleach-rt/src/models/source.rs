//! What a read of the input means: which bytes arrived, and what their number
//! says about the input's length.
//!
//! Where a stream ends is a condition like any other. A read that is given all
//! it asked for shows that the stream is at least that long. A read that is cut
//! short shows that it is not, and its count is not a constant but
//! `length - position`. From then on the descriptor stands at the end *wherever
//! that is*: the next read gives 0 for every length that takes this path, so it
//! decides nothing. Without that, the usual loop up to the first 0 would pin
//! the length of every input.

use super::api::V;
use crate::input::{self, Stream};
use crate::live;
use crate::start::state;
use crate::symbolic::tls::tls;
use crate::symbolic::{
    arena, began, events, holes, label_input, labelling, len_decision, length_label, shadow,
};
use crate::sys;
use pleach_abi::event::Kind;
use pleach_abi::node::Op;
use pleach_abi::shm::Loss;

/// A descriptor that reads a stream of the input, and where it stands.
#[derive(Clone, Copy)]
pub struct Source {
    pub stream: usize,
    /// -1 for a read at a position of its own (`pread`).
    fd: i32,
    pub pos: u64,
    seekable: bool,
}

/// The descriptor as a source of labelled bytes, if it is one in this run.
pub fn of(fd: i32) -> Option<Source> {
    if !labelling() {
        return None;
    }
    let Some(stream) = input::stream_of(fd) else {
        lose_channel(fd);
        return None;
    };
    if live::on() {
        return Some(Source { stream, fd, pos: live::labelled(), seekable: false });
    }
    const SEEK_CUR: u64 = 1;
    let at = sys::lseek(fd as u64, 0, SEEK_CUR);
    let seekable = at >= 0;
    let pos = if seekable { at as u64 } else { input::streams().all[stream].taken };
    Some(Source { stream, fd, pos, seekable })
}

/// As [`of`], for a read at a position that the call names.
pub fn at(fd: i32, pos: u64) -> Option<Source> {
    if !labelling() {
        return None;
    }
    let Some(stream) = input::stream_of(fd) else {
        lose_channel(fd);
        return None;
    };
    Some(Source { stream, fd: -1, pos, seekable: true })
}

/// Counts a read from a descriptor that may bring back what depends on the input, without
/// labels: a pipe, a socket, or a file that was written since the run began.
fn lose_channel(fd: i32) {
    const KIND: u32 = 0o170_000;
    const PIPE: u32 = 0o010_000;
    const FILE: u32 = 0o100_000;
    const SOCKET: u32 = 0o140_000;
    let Some(st) = sys::fstat(fd) else { return };
    let lost = match st.mode & KIND {
        PIPE | SOCKET => true,
        FILE => st.size > 0 && st.modified() >= began(),
        _ => false,
    };
    if lost {
        events::loss(Loss::Channel);
    }
}

impl Source {
    fn data(&self) -> &'static mut Stream {
        &mut input::streams().all[self.stream]
    }

    /// The same, `n` bytes back: where a buffer in front of it stands.
    pub fn back(self, n: u64) -> Source {
        Source { pos: self.pos.wrapping_sub(n), ..self }
    }

    /// The bytes `skip ..` from the position on are now at `addr`.
    pub fn label(&self, addr: u64, skip: u64, n: u64) {
        let s = self.data();
        let from = self.pos + skip;
        label_input(addr, s.at + from, n.min(s.len.saturating_sub(from)));
    }

    /// A read of `want` bytes to `addr` was cut short by the end after `got`. A
    /// longer input would have filled the rest: a program that goes on to look
    /// at it (a string that the input's zeros never ended) decides on the length.
    pub fn beyond(&self, addr: u64, got: u64, want: u64) {
        const LOOK: u64 = 64;
        if live::on() {
            return;
        }
        let end = self.pos + got;
        // A read of nothing at the end leaves what the reads before it brought.
        let ended = got < want && end == self.data().len && (got != 0 || end == 0);
        let n = (want - got.min(want)).min(LOOK);
        if ended
            && shadow::is_clean(addr + got, n)
            && let Some(first) = arena::beyond_labels(self.stream, end, n)
        {
            shadow::set_run(addr + got, first, n);
        }
    }

    /// The kernel has handed out `n` bytes.
    pub fn took(&self, n: u64) {
        if !self.seekable {
            self.data().taken += n;
        }
    }

    /// What the outcome of a read of `want` bytes decides; its count.
    pub fn outcome(&self, want: V, got: u64) -> V {
        let count = V::new(64, got);
        // The input of a live run has no end that it could meet.
        if want.val == 0 || live::on() || self.at_end() {
            return count;
        }
        let s = self.data();
        self.leave_end();
        if got == 0 && !self.seekable && state().input_fd < 0 {
            // A pipe, by hand: its length is known only now.
            s.len = self.pos;
        }
        len_decision(self.stream, self.pos);
        if self.pos > s.len {
            return count;
        }
        let ended = got < want.val && self.pos + got == s.len;
        if holes::on() && want.val > 1 && want.label == 0 && (ended || got == want.val) {
            // Whether so much is left is a question of the holes' lengths. A read of a
            // whole buffer wants all there is: that it was not filled is taken for granted.
            const BUFFER: u64 = 4096;
            let enough = want.ule(self.left());
            let kind = if want.val < BUFFER { Kind::Model } else { Kind::Assume };
            events::decide(tls().site, enough.label, kind, enough.val != 0, 0);
        }
        if want.label != 0 && (ended || got == want.val) {
            return self.relative(want);
        }
        if ended {
            len_decision(self.stream, self.pos + want.val);
            self.reach_end();
            // Less than one byte is none, whatever the length.
            return if want.val == 1 { count } else { self.left() };
        }
        len_decision(self.stream, self.pos + got);
        count
    }

    /// As [`Source::outcome`], for a size that comes from the input itself,
    /// its length most of all: comparing the two as they are leaves the length
    /// open, where a number would fix it.
    fn relative(&self, want: V) -> V {
        let left = self.left();
        let whole = want.label == left.label || same_length(want, left);
        if whole || want.ule(left).decide() {
            return want;
        }
        self.reach_end();
        left
    }

    /// Bytes from the position to the end.
    fn left(&self) -> V {
        if holes::on() && input::streams().len == 1 && self.pos <= self.data().len {
            return holes::left(self.pos, self.data().len);
        }
        length(self.stream).sub_constant(self.pos)
    }

    /// Whether it stands at the end for every length that takes this path.
    pub fn at_end(&self) -> bool {
        let s = self.data();
        self.fd >= 0 && s.end_of == self.fd && self.pos == s.len
    }

    fn reach_end(&self) {
        if self.fd >= 0 {
            self.data().end_of = self.fd;
        }
    }

    fn leave_end(&self) {
        let s = self.data();
        if self.fd >= 0 && s.end_of == self.fd {
            s.end_of = -1;
        }
    }

    /// The position after a seek by `offset` from here (`self` is before it)
    /// that ended up at `to`.
    pub fn sought(&self, offset: i64, whence: i32, to: i64) -> V {
        const SEEK_CUR: i32 = 1;
        const SEEK_END: i32 = 2;
        let plain = V::new(64, to as u64);
        let was_at_end = self.at_end();
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
        // A position relative to the end: what is read there is one certain
        // part of the input only for this length.
        self.leave_end();
        place.pin();
        plain
    }
}

/// The length of a stream.
pub fn length(stream: usize) -> V {
    V { label: length_label(stream), width: 64, val: input::streams().all[stream].len }
}

impl V {
    /// `self - n`; a plain label for 0, since most reads begin there.
    fn sub_constant(self, n: u64) -> V {
        if n == 0 { self } else { self.sub(V::new(64, n)) }
    }
}

/// Whether both are the length of the same stream.
fn same_length(a: V, b: V) -> bool {
    let (a, b) = (arena::node(a.label), arena::node(b.label));
    a.op == Op::InputLen as u8 && b.op == Op::InputLen as u8 && a.a == b.a
}

/// The program has taken a byte that has this label: if it is a byte of the
/// input, the input is longer than its offset.
pub fn passed(label: u32) {
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
    len_decision(number, at - s.all[number].at + 1);
}

/// As [`passed`], for `n` bytes in memory.
pub fn passed_all(addr: u64, n: u64) {
    if n != 0 {
        passed(V::byte(addr + n - 1).label);
    }
}
