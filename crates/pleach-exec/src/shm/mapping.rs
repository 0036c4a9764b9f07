//! The parts of the shared memory that the driver maps: those that every run uses.
//!
//! A target may write there at any time. So the driver reads single words, atomically, and
//! uses only its copies: a later write cannot undo a check. It cannot fault either: the file
//! is sealed against shrinking. (If the machine has no memory left for a page of the file,
//! the system ends the driver, as it does with a page of the driver's own.)

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// A part of the memory file, mapped for reading and writing.
#[derive(Debug)]
pub(super) struct Mapping {
    at: *mut libc::c_void,
    len: usize,
}

// Safety: the memory is only accessed as atomic words.
unsafe impl Send for Mapping {}
// Safety: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `len` bytes from `offset`, both multiples of the page size. `len` may be 0.
    pub fn new(file: &File, offset: u64, len: u64) -> io::Result<Mapping> {
        let len = len as usize;
        if len == 0 {
            return Ok(Mapping { at: std::ptr::null_mut(), len });
        }
        let (protection, fd) = (libc::PROT_READ | libc::PROT_WRITE, file.as_raw_fd());
        // Safety: a new mapping, at an address that the system chooses.
        let at = unsafe {
            let flags = libc::MAP_SHARED | libc::MAP_NORESERVE;
            libc::mmap(std::ptr::null_mut(), len, protection, flags, fd, offset as libc::off_t)
        };
        match at == libc::MAP_FAILED {
            true => Err(io::Error::last_os_error()),
            false => Ok(Mapping { at, len }),
        }
    }

    pub fn words(&self) -> &[AtomicU64] {
        if self.len == 0 {
            return &[];
        }
        // Safety: the mapping is as long as that, aligned, and lives as long as `self`. Any
        // bytes are valid words, and this process accesses them only as atomic words.
        unsafe { std::slice::from_raw_parts(self.at.cast(), self.len / size_of::<AtomicU64>()) }
    }

    /// The same memory in words of 32 bits.
    pub fn halves(&self) -> &[AtomicU32] {
        if self.len == 0 {
            return &[];
        }
        // Safety: as above.
        unsafe { std::slice::from_raw_parts(self.at.cast(), self.len / HALF) }
    }

    /// Writes bytes at an offset that is a multiple of four, as far as there is room. Zeros
    /// fill the last word.
    pub fn write(&self, at: usize, bytes: &[u8]) {
        let to = self.halves().get(at / HALF..).unwrap_or_default();
        let (words, rest) = bytes.as_chunks::<HALF>();
        for (to, &word) in to.iter().zip(words) {
            to.store(u32::from_ne_bytes(word), Relaxed);
        }
        if let Some(last) = to.get(words.len()).filter(|_| !rest.is_empty()) {
            let mut word = [0; HALF];
            word[..rest.len()].copy_from_slice(rest);
            last.store(u32::from_ne_bytes(word), Relaxed);
        }
    }

    /// The word at an offset that is a multiple of four; 0 outside of the mapping.
    pub fn read_u32(&self, at: usize) -> u32 {
        self.halves().get(at / HALF).map_or(0, |word| word.load(Relaxed))
    }

    /// The same with 64 bits.
    pub fn read_u64(&self, at: usize) -> u64 {
        u64::from(self.read_u32(at)) | u64::from(self.read_u32(at + HALF)) << 32
    }
}

const HALF: usize = size_of::<AtomicU32>();

impl Drop for Mapping {
    fn drop(&mut self) {
        if self.len != 0 {
            // Safety: our own mapping, and its length.
            unsafe { libc::munmap(self.at, self.len) };
        }
    }
}
