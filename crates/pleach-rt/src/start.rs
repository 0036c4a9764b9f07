//! The start of the runtime, before any instrumented code: shared memory, shadow, modules.
//!
//! The runtime starts from `.preinit_array`, before every constructor of the program and
//! its libraries. Without a driver (no `PLEACH_CTL`) the fast half does nothing, and the
//! symbolic half only maps its shadow.

use crate::sys;
use core::ffi::{c_char, c_int};
use pleach_abi::shm::{self, Header, Module};
use pleach_abi::{ABI_VERSION, section::Site};

pub struct State {
    /// The shared header, or null without a driver.
    pub header: *mut Header,
    /// The control socket, or -1.
    pub control: i32,
    pub shm_fd: i32,
    /// The input file (plain or container), or -1 without a driver.
    pub input_fd: i32,
    /// The driver's end of the terminal, or -1.
    pub terminal: i32,
    /// Number of sites of all modules so far.
    pub sites: u32,
    pub modules: [Sites; shm::MODULES_MAX],
    pub modules_len: usize,
    pub argc: c_int,
    pub argv: *mut *mut c_char,
}

/// Where the site records of a module are; the symbolic half looks sites up there.
#[cfg_attr(feature = "fast", expect(dead_code))]
#[derive(Clone, Copy)]
pub struct Sites {
    pub start: usize,
    pub stop: usize,
    pub base: u32,
}

static mut STATE: State = State {
    header: core::ptr::null_mut(),
    control: -1,
    shm_fd: -1,
    input_fd: -1,
    terminal: -1,
    sites: 0,
    modules: [Sites { start: 0, stop: 0, base: 0 }; shm::MODULES_MAX],
    modules_len: 0,
    argc: 0,
    argv: core::ptr::null_mut(),
};

/// The state of the runtime. It is written at start-up only, by one thread.
#[inline(always)]
pub fn state() -> &'static mut State {
    // Safety: a plain static; all writers run before the program has threads.
    unsafe { &mut *&raw mut STATE }
}

/// The shared header, if there is a driver or a private trace.
#[inline(always)]
pub fn header() -> Option<&'static mut Header> {
    // Safety: mapped for the life of the process once it is set.
    unsafe { state().header.as_mut() }
}

/// Tells libc where the environment is: this early it does not know, and `getenv` finds
/// nothing.
fn set_environ(envp: *mut *mut c_char) {
    unsafe extern "C" {
        static mut environ: *mut *mut c_char;
    }
    // Safety: libc sets it to the same value a little later.
    unsafe {
        if environ.is_null() {
            environ = envp;
        }
    }
}

#[used]
#[unsafe(link_section = ".preinit_array")]
static PREINIT: extern "C" fn(c_int, *mut *mut c_char, *mut *mut c_char) = preinit;

extern "C" fn preinit(argc: c_int, argv: *mut *mut c_char, envp: *mut *mut c_char) {
    set_environ(envp);
    let s = state();
    (s.argc, s.argv) = (argc, argv);
    #[cfg(feature = "symbolic")]
    crate::symbolic::map_shadow();
    attach();
    #[cfg(feature = "symbolic")]
    crate::symbolic::start();
    unsafe extern "C" {
        #[link_name = "__start_pleach_sites"]
        static SITES_START: [u8; 0];
        #[link_name = "__stop_pleach_sites"]
        static SITES_STOP: [u8; 0];
    }
    #[cfg(feature = "fast")]
    let (from, to) = crate::cover::own_counters();
    #[cfg(feature = "symbolic")]
    let (from, to) = (0, 0);
    __pleach_register_module(
        &raw const SITES_START as usize,
        &raw const SITES_STOP as usize,
        from,
        to,
    );
}

/// An empty record keeps the section, and with it its start and stop symbols,
/// in programs that have no site.
#[used]
#[unsafe(link_section = "pleach_sites")]
static NO_SITE: [u8; 0] = [];

/// Called above for the executable, and by the constructor that the compiler links into
/// every shared library.
#[unsafe(no_mangle)]
pub extern "C" fn __pleach_register_module(
    sites_start: usize,
    sites_stop: usize,
    counters_start: usize,
    counters_stop: usize,
) {
    let s = state();
    let count = ((sites_stop - sites_start) / size_of::<Site>()) as u32;
    // A fast library in a symbolic process runs concretely: it has no labels, and nobody
    // reads its counters.
    let foreign = cfg!(feature = "symbolic") && counters_start != 0;
    if foreign || s.modules_len == shm::MODULES_MAX {
        return;
    }
    let base = s.sites;
    s.modules[s.modules_len] = Sites { start: sites_start, stop: sites_stop, base };
    s.modules_len += 1;
    s.sites += count;
    let Some(h) = header() else { return };
    let at = h.modules_len as usize;
    if at >= shm::MODULES_MAX {
        return;
    }
    let m: &mut Module = &mut h.modules[at];
    m.site_base = base;
    m.sites = count;
    m.counters = (counters_stop - counters_start) as u64;
    set_module_path(sites_start, m);
    #[cfg(feature = "fast")]
    {
        m.cover_at = crate::cover::share(counters_start, counters_stop);
    }
    h.modules_len = at as u32 + 1;
}

#[repr(C)]
struct DlInfo {
    file: *const c_char,
    base: u64,
    symbol: *const c_char,
    address: u64,
}

unsafe extern "C" {
    fn dladdr(addr: *const u8, info: *mut DlInfo) -> c_int;
}

fn set_module_path(addr: usize, m: &mut Module) {
    let mut info =
        DlInfo { file: core::ptr::null(), base: 0, symbol: core::ptr::null(), address: 0 };
    // Safety: dladdr fills in the record or returns 0; the file name is a string.
    unsafe {
        if dladdr(addr as *const u8, &raw mut info) == 0 || info.file.is_null() {
            return;
        }
        m.bias = info.base;
        let mut i = 0;
        while i + 1 < m.path.len() && *info.file.add(i) != 0 {
            m.path[i] = *info.file.add(i) as u8;
            i += 1;
        }
        m.path[i] = 0;
    }
}

/// The name of the function at an address, or null if it is not a dynamic symbol.
#[cfg(feature = "symbolic")]
pub fn symbol_of(addr: usize) -> *const c_char {
    let mut info =
        DlInfo { file: core::ptr::null(), base: 0, symbol: core::ptr::null(), address: 0 };
    // Safety: as above.
    unsafe { dladdr(addr as *const u8, &raw mut info) };
    info.symbol
}

/// Finds the driver's descriptors and maps the shared memory.
fn attach() {
    // Safety: the environment is a list of zero-terminated strings.
    let value = unsafe { sys::getenv(c"PLEACH_CTL".as_ptr()) };
    if value.is_null() {
        #[cfg(feature = "symbolic")]
        crate::symbolic::attach_private();
        return;
    }
    let (added, rest) = parse_number(value);
    let (control, rest) = parse_number(unsafe { rest.add(1) });
    let (memory, rest) = parse_number(unsafe { rest.add(1) });
    let (input, rest) = parse_number(unsafe { rest.add(1) });
    // Safety: at the colon, or at the final zero.
    let terminal = unsafe { (*rest != 0).then(|| parse_number(rest.add(1)).0) };
    unsafe {
        for (i, (name, _)) in shm::ADDED_ENV.iter().enumerate() {
            if added >> i & 1 != 0 {
                sys::unsetenv(name.as_ptr());
            }
        }
        sys::unsetenv(c"PLEACH_CTL".as_ptr());
    }
    let mut head = [0u64; 3];
    sys::pread(memory as u64, head.as_mut_ptr() as u64, size_of_val(&head) as u64, 0);
    let (magic, version) = (head[0] as u32, (head[0] >> 32) as u32);
    let size = if cfg!(feature = "symbolic") { head[1] } else { head[2] };
    if magic != shm::MAGIC || version != ABI_VERSION {
        fail(&[b"this target was built by another version of Pleach: build it again"]);
    }
    // The symbolic half needs its nodes at a fixed address. The fast half has no nodes,
    // and its sanitizers may use that address.
    let (place, fixed) = match cfg!(feature = "symbolic") {
        true => (pleach_abi::layout::SHM_BASE, sys::MAP_FIXED_NOREPLACE),
        false => (0, 0),
    };
    let at = sys::mmap(
        place,
        size,
        sys::PROT_READ | sys::PROT_WRITE,
        sys::MAP_SHARED | sys::MAP_NORESERVE | fixed,
        memory as u64,
        0,
    );
    if at < 0 || (place != 0 && at != place as i64) {
        fail(&[b"cannot map the shared memory: its address range is in use"]);
    }
    let s = state();
    s.header = at as *mut Header;
    s.control = sys::move_out_of_the_way(control);
    s.shm_fd = sys::move_out_of_the_way(memory);
    s.input_fd = sys::move_out_of_the_way(input);
    if let Some(fd) = terminal {
        s.terminal = sys::move_out_of_the_way(fd);
        crate::terminal::attach();
    }
}

/// A decimal number, and where it ends.
fn parse_number(text: *const c_char) -> (i32, *const c_char) {
    let (mut n, mut p) = (0i32, text);
    // Safety: stops at the first byte that is not a digit, at the latest at the zero.
    unsafe {
        while (*p as u8).is_ascii_digit() {
            n = n.wrapping_mul(10).wrapping_add(i32::from(*p as u8 - b'0'));
            p = p.add(1);
        }
    }
    (n, p)
}

/// Reports why the target cannot run, to the driver or on standard error, and exits with
/// status 2.
pub fn fail(why: &[&[u8]]) -> ! {
    match header() {
        Some(h) => {
            let mut n = 0;
            for &b in why.iter().copied().flatten() {
                if n < shm::NOTE_CAP && b != 0 {
                    h.note[n] = b;
                    n += 1;
                }
            }
            h.note_len = n as u32;
        }
        None => {
            sys::print_error(&[b"pleach: "]);
            sys::print_error(why);
            sys::print_error(&[b"\n"]);
        }
    }
    sys::exit_now(2)
}
