//! Watching a process by `ptrace`.

use std::io;

/// A process or thread that this thread watches by `ptrace`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tracee(pub i32);

/// What a tracee is at.
pub(crate) enum State {
    Runs,
    Gone,
    /// By a signal, or by an event of `ptrace`.
    Stopped {
        signal: i32,
        event: i32,
    },
}

const NONE: *mut libc::c_void = std::ptr::null_mut();

// Safety, for all of it: numbers and places of ours; a process that is not
// there, or not ours to trace, is an error.
impl Tracee {
    /// Begins to watch it and all that it will fork. It goes on running; it
    /// dies when this thread ends.
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

    /// Lets it run, with a signal or without (0).
    pub fn go_on(self, signal: i32) {
        let signal = signal as usize as *mut libc::c_void;
        unsafe { libc::ptrace(libc::PTRACE_CONT, self.0, NONE, signal) };
    }

    /// It has been stopped as processes are (SIGSTOP), and stays so.
    pub fn stay_stopped(self) {
        unsafe { libc::ptrace(libc::PTRACE_LISTEN, self.0, NONE, NONE) };
    }

    /// Asks it to stop for a look.
    pub fn interrupt(self) -> bool {
        unsafe { libc::ptrace(libc::PTRACE_INTERRUPT, self.0, NONE, NONE) == 0 }
    }

    /// What it has just forked.
    pub fn new_child(self) -> Option<i32> {
        let mut child: libc::c_ulong = 0;
        let place = (&raw mut child).cast::<libc::c_void>();
        let done = unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, self.0, NONE, place) };
        (done == 0).then(|| i32::try_from(child).ok()).flatten()
    }

    /// Instruction, stack and base pointer.
    pub fn registers(self) -> Option<(u64, u64, u64)> {
        let mut regs: libc::user_regs_struct = unsafe { std::mem::zeroed() };
        let place = (&raw mut regs).cast::<libc::c_void>();
        let done = unsafe { libc::ptrace(libc::PTRACE_GETREGS, self.0, NONE, place) };
        (done == 0).then_some((regs.rip, regs.rsp, regs.rbp))
    }

    /// The address that the fault it has stopped for was at.
    pub fn fault_address(self) -> Option<u64> {
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        let place = (&raw mut info).cast::<libc::c_void>();
        let done = unsafe { libc::ptrace(libc::PTRACE_GETSIGINFO, self.0, NONE, place) };
        // Positive codes are the kernel's; another process sends none.
        (done == 0 && info.si_code > 0).then(|| unsafe { info.si_addr() } as u64)
    }
}
