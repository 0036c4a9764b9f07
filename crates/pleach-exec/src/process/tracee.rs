//! Watching a process by `ptrace`.

use std::io;

/// A process or thread that this thread watches by `ptrace`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tracee(pub i32);

/// What a tracee does.
pub(crate) enum State {
    Runs,
    Gone,
    /// Stopped by a signal, or by an event of `ptrace` if `event` is not 0.
    Stopped {
        signal: i32,
        event: i32,
    },
}

const NONE: *mut libc::c_void = std::ptr::null_mut();

// Safety, for all of these: numbers and our own variables. For a process that does not
// exist, or that this thread does not trace, the calls fail.
impl Tracee {
    /// Begins to watch it and all processes that it will fork. It continues to run. The
    /// kernel kills it when this thread ends.
    pub fn seize(self) -> io::Result<()> {
        let options = libc::PTRACE_O_EXITKILL
            | libc::PTRACE_O_TRACEFORK
            | libc::PTRACE_O_TRACEVFORK
            | libc::PTRACE_O_TRACECLONE;
        let options = options as usize as *mut libc::c_void;
        match unsafe { libc::ptrace(libc::PTRACE_SEIZE, self.0, NONE, options) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    pub fn state(self) -> State {
        let mut status = 0;
        let pid = unsafe { libc::waitpid(self.0, &mut status, libc::WNOHANG | libc::__WALL) };
        match pid {
            0 => State::Runs,
            p if p == self.0 && libc::WIFSTOPPED(status) => {
                State::Stopped { signal: libc::WSTOPSIG(status), event: status >> 16 }
            }
            _ => State::Gone,
        }
    }

    /// Lets it continue, and delivers a signal (0 for none).
    pub fn resume(self, signal: i32) {
        let signal = signal as usize as *mut libc::c_void;
        unsafe { libc::ptrace(libc::PTRACE_CONT, self.0, NONE, signal) };
    }

    /// Leaves it stopped: something has sent it SIGSTOP.
    pub fn stay_stopped(self) {
        unsafe { libc::ptrace(libc::PTRACE_LISTEN, self.0, NONE, NONE) };
    }

    /// Asks it to stop. False if that is not possible.
    pub fn interrupt(self) -> bool {
        unsafe { libc::ptrace(libc::PTRACE_INTERRUPT, self.0, NONE, NONE) == 0 }
    }

    /// The process or thread that it has just started.
    pub fn new_child(self) -> Option<i32> {
        let mut child: libc::c_ulong = 0;
        let place = (&raw mut child).cast::<libc::c_void>();
        let done = unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, self.0, NONE, place) };
        (done == 0).then(|| i32::try_from(child).ok()).flatten()
    }

    /// Its instruction pointer, stack pointer and base pointer.
    pub fn registers(self) -> Option<(u64, u64, u64)> {
        let mut regs: libc::user_regs_struct = unsafe { std::mem::zeroed() };
        let place = (&raw mut regs).cast::<libc::c_void>();
        let done = unsafe { libc::ptrace(libc::PTRACE_GETREGS, self.0, NONE, place) };
        (done == 0).then_some((regs.rip, regs.rsp, regs.rbp))
    }

    /// The address of the fault that it has stopped for.
    pub fn fault_address(self) -> Option<u64> {
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        let place = (&raw mut info).cast::<libc::c_void>();
        let done = unsafe { libc::ptrace(libc::PTRACE_GETSIGINFO, self.0, NONE, place) };
        // Positive codes come from the kernel; a signal of another process has none.
        (done == 0 && info.si_code > 0).then(|| unsafe { info.si_addr() } as u64)
    }
}
