//! System calls and the few libc functions that the runtime uses.
//!
//! Mapping memory, printing errors and exiting must work whatever the target did to its
//! libc: these go to the kernel directly.

use core::arch::asm;
use core::ffi::{c_char, c_int, c_void};

pub const PROT_READ: u64 = 1;
pub const PROT_WRITE: u64 = 2;
pub const MAP_SHARED: u64 = 1;
pub const MAP_PRIVATE: u64 = 2;
pub const MAP_FIXED: u64 = 0x10;
pub const MAP_ANONYMOUS: u64 = 0x20;
pub const MAP_NORESERVE: u64 = 0x4000;
pub const MAP_FIXED_NOREPLACE: u64 = 0x10_0000;
#[cfg(feature = "symbolic")]
pub const MADV_NOHUGEPAGE: u64 = 15;

#[repr(C)]
#[derive(Default)]
pub struct Stat {
    pub dev: u64,
    pub ino: u64,
    pub nlink: u64,
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    pub pad: u32,
    pub rdev: u64,
    pub size: i64,
    rest: [u64; 11],
}

#[cfg(feature = "symbolic")]
impl Stat {
    /// When the file was last written: seconds and nanoseconds.
    pub fn modified(&self) -> (u64, u64) {
        (self.rest[4], self.rest[5])
    }
}

unsafe extern "C" {
    pub fn fork() -> c_int;
    pub fn getenv(name: *const c_char) -> *mut c_char;
    pub fn unsetenv(name: *const c_char) -> c_int;
    pub fn setenv(name: *const c_char, value: *const c_char, overwrite: c_int) -> c_int;
    pub fn __errno_location() -> *mut c_int;
    pub fn malloc(n: usize) -> *mut c_void;
    pub fn exit(code: c_int) -> !;
    pub fn raise(sig: c_int) -> c_int;
}

/// The address of a symbol that may be missing (in another version of libc, or in a C
/// program without the C++ library); 0 if it is.
macro_rules! weak {
    ($name:expr) => {{
        let at: usize;
        // Safety: reads the entry of the symbol in the linker's table; it is 0 if nothing
        // defines the symbol.
        unsafe {
            core::arch::asm!(
                concat!(".weak ", $name),
                concat!("mov {0}, qword ptr [rip + ", $name, "@GOTPCREL]"),
                out(reg) at,
                options(nostack, pure, readonly, preserves_flags)
            );
        }
        at
    }};
}
pub(crate) use weak;

/// A system call: its result, or a negated error number.
#[inline]
pub fn syscall(n: u64, a: [u64; 6]) -> i64 {
    let ret: i64;
    // Safety: the kernel uses only its arguments; callers pass their own addresses.
    unsafe {
        asm!("syscall", inlateout("rax") n as i64 => ret, in("rdi") a[0], in("rsi") a[1],
             in("rdx") a[2], in("r10") a[3], in("r8") a[4], in("r9") a[5],
             lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    ret
}

macro_rules! calls {
    ($($name:ident = $n:literal ($($arg:ident),*);)*) => {
        $(#[allow(dead_code)] #[inline] pub fn $name($($arg: u64),*) -> i64 {
            let given: &[u64] = &[$($arg),*];
            let mut all = [0u64; 6];
            all[..given.len()].copy_from_slice(given);
            syscall($n, all)
        })*
    };
}

calls! {
    read = 0(fd, buf, len);
    write = 1(fd, buf, len);
    open = 2(path, flags, mode);
    close = 3(fd);
    fstat_raw = 5(fd, buf);
    lseek = 8(fd, offset, whence);
    mmap = 9(addr, len, prot, flags, fd, offset);
    munmap = 11(addr, len);
    rt_sigprocmask = 14(how, set, old, size);
    ioctl = 16(fd, request, arg);
    pread = 17(fd, buf, len, offset);
    pwrite = 18(fd, buf, len, offset);
    writev = 20(fd, parts, n);
    sched_yield = 24();
    mremap = 25(addr, old_len, new_len, flags, new_addr);
    madvise = 28(addr, len, advice);
    dup2 = 33(old, new);
    getpid = 39();
    sendto = 44(fd, buf, len, flags, addr, addr_len);
    recvfrom = 45(fd, buf, len, flags, addr, addr_len);
    shutdown = 48(fd, how);
    getsockname = 51(fd, name, len);
    getpeername = 52(fd, name, len);
    socketpair = 53(domain, kind, protocol, pair);
    setsockopt = 54(fd, level, name, value, len);
    getsockopt = 55(fd, level, name, value, len);
    clone = 56(flags, stack, parent_tid, child_tid, tls);
    wait4 = 61(pid, status, options, usage);
    kill = 62(pid, signal);
    fcntl = 72(fd, cmd, arg);
    ftruncate = 77(fd, len);
    getdents = 217(fd, buf, len);
    setpgid = 109(pid, group);
    prctl = 157(option, a, b, c, d);
    gettid = 186();
    clock_gettime = 228(clock, time);
    exit_group = 231(code);
    memfd_create = 319(name, flags);
}

pub fn fstat(fd: i32) -> Option<Stat> {
    let mut st = Stat::default();
    (fstat_raw(fd as u64, &raw mut st as u64) == 0).then_some(st)
}

/// The runtime keeps its own descriptors at these numbers and above, where the program
/// does not expect its own. A fork copies the table up to the highest number: with numbers
/// above 900 that took 1 % of a short run.
pub const FIRST_OWN_FD: u64 = 240;

/// A copy of the descriptor among those of the runtime; negative on failure.
pub fn duplicate_out_of_the_way(fd: i32) -> i32 {
    const F_DUPFD_CLOEXEC: u64 = 1030;
    fcntl(fd as u64, F_DUPFD_CLOEXEC, FIRST_OWN_FD) as i32
}

/// Moves a descriptor to those of the runtime.
pub fn move_out_of_the_way(fd: i32) -> i32 {
    let new = duplicate_out_of_the_way(fd);
    if new < 0 {
        return fd;
    }
    close(fd as u64);
    new
}

/// Ends the process without exit handlers.
pub fn exit_now(code: i32) -> ! {
    loop {
        exit_group(code as u64);
    }
}

/// Writes to standard error, without the target's stdio.
pub fn print_error(parts: &[&[u8]]) {
    for p in parts {
        let end = p.iter().position(|&b| b == 0).unwrap_or(p.len());
        write(2, p.as_ptr() as u64, end as u64);
    }
}

/// Decimal digits, zero-terminated.
pub fn decimal(mut n: u64) -> [u8; 21] {
    let (mut rev, mut len) = ([0u8; 21], 0);
    loop {
        rev[len] = b'0' + (n % 10) as u8;
        n /= 10;
        len += 1;
        if n == 0 {
            break;
        }
    }
    let mut out = [0u8; 21];
    for i in 0..len {
        out[i] = rev[len - 1 - i];
    }
    out
}

/// Runs `f` and restores the target's errno.
pub fn keep_errno<T>(f: impl FnOnce() -> T) -> T {
    // Safety: glibc returns the address of this thread's errno.
    let place = unsafe { __errno_location() };
    let before = unsafe { *place };
    let out = f();
    unsafe { *place = before };
    out
}
