//! How the allocator of this process treats large blocks.
//!
//! A trace and its prepared path are blocks of megabytes that live for seconds. By default,
//! glibc maps such a block separately only until the first one is freed; from then on it takes
//! them from its heap, which small blocks keep from shrinking. So resident memory stays at the
//! sum of the largest moments, far above what is in use.

/// The smallest block that is mapped by itself, and goes back to the system when it is freed.
const MAPPED: libc::c_int = 512 << 10;
/// So many free bytes at the end of the heap go back to the system.
const FREE: libc::c_int = 16 << 20;

/// Has large blocks go back to the system when they are freed, for as long as this process
/// runs.
pub fn return_large_blocks() {
    // Safety: it only sets options of the allocator, which locks itself.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED);
        libc::mallopt(libc::M_TRIM_THRESHOLD, FREE);
    }
}
