//! The model of `daemon`, in both halves: under the driver it does not fork. The real
//! function ends the parent, and with it the run.

use crate::start::state;
use crate::sys;
use core::ffi::c_int;

unsafe extern "C" {
    fn daemon(nochdir: c_int, noclose: c_int) -> c_int;
    fn chdir(path: *const core::ffi::c_char) -> c_int;
    fn open(path: *const core::ffi::c_char, flags: c_int, ...) -> c_int;
    fn setsid() -> c_int;
}

/// # Safety
/// As the C function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __pleach_m_daemon(nochdir: c_int, noclose: c_int) -> c_int {
    // Safety: ordinary calls with literal arguments.
    unsafe {
        if state().input_fd < 0 {
            return daemon(nochdir, noclose);
        }
        // This fails, since the server has made this process the leader of its group.
        // The program does not notice: `daemon` hides it.
        sys::keep_errno(|| setsid());
        if nochdir == 0 {
            chdir(c"/".as_ptr());
        }
        if noclose == 0 {
            const O_RDWR: c_int = 2;
            let null = open(c"/dev/null".as_ptr(), O_RDWR);
            if null < 0 {
                return -1;
            }
            for fd in 0..3 {
                sys::dup2(null as u64, fd);
            }
            if null > 2 {
                sys::close(null as u64);
            }
        }
    }
    0
}
