//! The streams of the input. A plain input is one stream; a container (see
//! `pleach_abi::container`) holds several. A descriptor is input if it refers to the
//! driver's input file, or to the file that the runtime has put in the place of standard
//! input. So the runtime needs no table of descriptors that follows `dup`, `fcntl` and
//! `fopen`.
//!
//! Offsets are offsets in the input file, in every stream.

use crate::start::{header, state};
use crate::sys;
use core::ffi::c_char;
use pleach_abi::{container, shm};

#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Stream {
    pub kind: u8,
    /// Offset of its first byte in the input file.
    pub at: u64,
    pub len: u64,
    pub dev: u64,
    pub ino: u64,
    /// Bytes taken so far, for a descriptor that has no offset.
    pub taken: u64,
    /// The descriptor that is at the end of the stream for every length of it, because
    /// a read was cut short or a seek went to the end; -1: none.
    pub end_of: i32,
}

const MAX_STREAMS: usize = 64;
const NONE: Stream = Stream { kind: 0, at: 0, len: 0, dev: 0, ino: 0, taken: 0, end_of: -1 };

pub struct Streams {
    pub all: [Stream; MAX_STREAMS],
    pub len: usize,
    /// The next connection delivers the first socket stream from this one on.
    pub next_socket: usize,
}

static mut STREAMS: Streams = Streams { all: [NONE; MAX_STREAMS], len: 0, next_socket: 0 };

pub fn streams() -> &'static mut Streams {
    // Safety: filled in when a run begins, by its only thread.
    unsafe { &mut *&raw mut STREAMS }
}

/// In the server, before it forks: does what a run begins with, as far as it is the same in
/// every process. A child that must write to a page of its own copies it first, which is a
/// large part of what a short run costs. False if the child must begin the run itself.
#[cfg(feature = "fast")]
pub fn begin_run_before_fork(flags: u32) -> bool {
    let is_plain = flags & !(shm::RUN_FRESH | shm::RUN_FIXED) == 0;
    let Some(h) = header().filter(|_| is_plain && !crate::terminal::is_on()) else {
        return false;
    };
    streams().set_one(h);
    crate::typed::begin_run();
    // The child reads standard input at the same offset. In the server, standard input stays
    // what it is.
    static mut STDIN_IS_INPUT: Option<bool> = None;
    // Safety: only the server's one thread uses it.
    let is_input = unsafe { &mut *&raw mut STDIN_IS_INPUT };
    if *is_input.get_or_insert_with(|| is_stdin_input(h)) {
        sys::lseek(0, 0, 0);
    }
    true
}

/// At the start of every run, in the process that will run the program.
pub fn begin_run() {
    #[cfg(feature = "symbolic")]
    crate::symbolic::begin_run();
    let Some(h) = header() else { return };
    let s = streams();
    s.next_socket = 0;
    if h.run_flags & shm::RUN_CONTAINER == 0 {
        s.set_one(h);
    } else {
        s.len = 0;
        unpack(h, s);
    }
    rewind_stdin(h);
    crate::typed::begin_run();
    crate::terminal::begin_run();
    crate::live::begin_run();
    if crate::live::is_on() {
        // It has no end.
        s.all[0].len = u64::MAX >> 1;
    }
}

impl Streams {
    /// A plain input: one stream. Most inputs differ in little or nothing of it, and to write to
    /// a page after a fork costs a page fault.
    fn set_one(&mut self, h: &shm::Header) {
        let is_socket = h.run_flags & shm::RUN_SOCKET != 0;
        let one = Stream {
            kind: if is_socket { container::SOCKET } else { container::STDIN },
            at: 0,
            len: h.input_len,
            dev: h.input_dev,
            ino: h.input_ino,
            ..NONE
        };
        if self.all[0] != one {
            self.all[0] = one;
        }
        if self.len != 1 {
            self.len = 1;
        }
    }
}

/// Begins standard input at its first byte, if it is the input file. With labels but without
/// a driver, the position stays as the shell left it.
fn rewind_stdin(h: &shm::Header) {
    if state().input_fd >= 0 && !is_in_batch_memory() && is_stdin_input(h) {
        sys::lseek(0, 0, 0);
    }
}

/// True if standard input is the input file.
fn is_stdin_input(h: &shm::Header) -> bool {
    sys::fstat(0).is_some_and(|st| st.dev == h.input_dev && st.ino == h.input_ino)
}

/// True if the input is one of a batch, and the program takes it from memory: then it has no
/// file.
fn is_in_batch_memory() -> bool {
    #[cfg(feature = "fast")]
    return crate::batch::bytes().is_some() && crate::fuzzer::is_in_memory();
    #[cfg(feature = "symbolic")]
    false
}

fn unpack(h: &shm::Header, s: &mut Streams) {
    let fd = state().input_fd as u64;
    let mut at = container::MAGIC.len() as u64;
    while at + container::RECORD_HEAD as u64 <= h.input_len && s.len < MAX_STREAMS {
        let mut head = [0u8; container::RECORD_HEAD];
        sys::pread(fd, head.as_mut_ptr() as u64, head.len() as u64, at);
        at += head.len() as u64;
        let len = u64::from(u32::from_le_bytes([head[4], head[5], head[6], head[7]]));
        let mut stream = Stream { kind: head[0], at, len: len.min(h.input_len - at), ..NONE };
        let number = s.len;
        match stream.kind {
            container::STDIN => replace_stdin(fd, &mut stream),
            container::FILE => (stream.dev, stream.ino) = (h.input_dev, h.input_ino),
            container::ARG => add_argument(fd, stream),
            container::ENV => set_variable(fd, stream),
            _ => {}
        }
        at += stream.len;
        s.all[number] = stream;
        s.len += 1;
    }
}

/// Replaces standard input by a file with the bytes of the stream.
#[inline(never)]
fn replace_stdin(fd: u64, stream: &mut Stream) {
    let file = sys::memfd_create(c"stdin".as_ptr() as u64, 0);
    if file < 0 {
        return;
    }
    let mut chunk = [0u8; 4096];
    let mut done = 0;
    while done < stream.len {
        let want = (stream.len - done).min(4096);
        let n = sys::pread(fd, chunk.as_mut_ptr() as u64, want, stream.at + done);
        if n <= 0 {
            break;
        }
        sys::write(file as u64, chunk.as_ptr() as u64, n as u64);
        done += n as u64;
    }
    sys::lseek(file as u64, 0, 0);
    sys::dup2(file as u64, 0);
    sys::close(file as u64);
    if let Some(st) = sys::fstat(0) {
        (stream.dev, stream.ino) = (st.dev, st.ino);
    }
}

/// The bytes of the stream as a string that is never freed.
fn stream_as_string(fd: u64, stream: Stream) -> *mut u8 {
    // Safety: new memory of that size.
    unsafe {
        let p = sys::malloc(stream.len as usize + 1).cast::<u8>();
        let n = sys::pread(fd, p as u64, stream.len, stream.at).max(0);
        *p.add(n as usize) = 0;
        p
    }
}

fn add_argument(fd: u64, stream: Stream) {
    let text = stream_as_string(fd, stream);
    let s = state();
    let n = s.argc as usize;
    // Safety: copies the old vector into one with room for one more and the null.
    unsafe {
        let argv = sys::malloc((n + 2) * 8).cast::<*mut c_char>();
        for i in 0..n {
            *argv.add(i) = *s.argv.add(i);
        }
        *argv.add(n) = text.cast();
        *argv.add(n + 1) = core::ptr::null_mut();
        s.argv = argv;
    }
    s.argc += 1;
    #[cfg(feature = "symbolic")]
    {
        let (base, size) = (s.argv as u64, 8 * (n as u64 + 2));
        use crate::symbolic::objects;
        objects::add(objects::Object { base, size, constant: false });
        crate::symbolic::label_input(text as u64, stream.at, stream.len);
    }
}

fn set_variable(fd: u64, stream: Stream) {
    let text = stream_as_string(fd, stream);
    // Safety: with a zero for the equals sign, name and value are strings.
    unsafe {
        let mut eq = 0;
        while eq < stream.len as usize && *text.add(eq) != b'=' {
            eq += 1;
        }
        if eq == stream.len as usize {
            return;
        }
        *text.add(eq) = 0;
        sys::setenv(text.cast(), text.add(eq + 1).cast(), 1);
        #[cfg(feature = "symbolic")]
        {
            let value = sys::getenv(text.cast());
            let skip = eq as u64 + 1;
            crate::symbolic::label_input(value as u64, stream.at + skip, stream.len - skip);
        }
    }
}

/// True if a socket delivers the input.
pub fn is_connection(dev: u64, ino: u64) -> bool {
    let s = streams();
    s.all[..s.len].iter().any(|x| x.ino == ino && x.dev == dev && x.ino != 0)
}

/// The stream that a descriptor reads, if it is input.
pub fn stream_of(fd: i32) -> Option<usize> {
    let s = streams();
    if s.len == 0 {
        return None;
    }
    let st = sys::fstat(fd)?;
    if crate::terminal::is_dev_tty(&st) {
        return Some(0);
    }
    s.all[..s.len].iter().position(|x| x.ino == st.ino && x.dev == st.dev && x.ino != 0)
}

/// The stream that typed calls read: the first for standard input, or the only stream if
/// that is a file or a connection.
pub fn find_for_calls() -> Option<usize> {
    let s = streams();
    let all = &s.all[..s.len];
    let only = |&[Stream { kind, .. }]: &[Stream; 1]| {
        matches!(kind, container::FILE | container::SOCKET).then_some(0)
    };
    let stdin = all.iter().position(|x| x.kind == container::STDIN);
    stdin.or_else(|| all.as_array().and_then(only))
}
