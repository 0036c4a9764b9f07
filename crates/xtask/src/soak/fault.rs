//! The faults, and what must follow each.

use std::time::Duration;

use nix::sys::signal::Signal;

use super::family::Role;

/// What is done to a campaign at a random moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    KillDriver,
    KillRun,
    KillServer,
    KillWarden,
    Terminate,
    Interrupt,
    HangUp,
    /// The driver is stopped for a while, and continues.
    StopDriver,
    /// The fork server is stopped, and the driver is told to end.
    StopServer,
    DiskFull,
    ReadOnly,
    /// A limit on the size of files: the journal cannot grow.
    FileSize,
    /// A limit on the address space of the driver.
    Memory,
    /// A second driver is started on the same directory.
    SecondDriver,
}

impl Fault {
    pub const ALL: [Fault; 14] = [
        Fault::KillDriver,
        Fault::KillRun,
        Fault::KillServer,
        Fault::KillWarden,
        Fault::Terminate,
        Fault::Interrupt,
        Fault::HangUp,
        Fault::StopDriver,
        Fault::StopServer,
        Fault::DiskFull,
        Fault::ReadOnly,
        Fault::FileSize,
        Fault::Memory,
        Fault::SecondDriver,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Fault::KillDriver => "kill -9 of the driver",
            Fault::KillRun => "kill -9 of a run",
            Fault::KillServer => "kill -9 of a fork server",
            Fault::KillWarden => "kill -9 of a warden",
            Fault::Terminate => "SIGTERM",
            Fault::Interrupt => "SIGINT",
            Fault::HangUp => "SIGHUP",
            Fault::StopDriver => "SIGSTOP, then SIGCONT",
            Fault::StopServer => "fork server stopped, then SIGTERM",
            Fault::DiskFull => "disk full",
            Fault::ReadOnly => "directory read-only",
            Fault::FileSize => "size of files limited",
            Fault::Memory => "memory short",
            Fault::SecondDriver => "second driver",
        }
    }

    /// How often it occurs, compared with the others.
    pub fn weight(self) -> u32 {
        match self {
            Fault::KillDriver => 12,
            Fault::KillRun | Fault::KillServer | Fault::KillWarden => 4,
            Fault::Terminate | Fault::Interrupt => 2,
            _ => 1,
        }
    }

    /// True if it needs file systems of our own.
    pub fn needs_mounts(self) -> bool {
        matches!(self, Fault::DiskFull | Fault::ReadOnly)
    }

    /// The signal that the driver gets, if that is all.
    pub fn signal(self) -> Option<Signal> {
        match self {
            Fault::KillDriver => Some(Signal::SIGKILL),
            Fault::Terminate => Some(Signal::SIGTERM),
            Fault::Interrupt => Some(Signal::SIGINT),
            Fault::HangUp => Some(Signal::SIGHUP),
            _ => None,
        }
    }

    /// Whom it kills, besides the driver.
    pub fn victim(self) -> Option<Role> {
        match self {
            Fault::KillRun => Some(Role::Run),
            Fault::KillServer => Some(Role::Server),
            Fault::KillWarden => Some(Role::Warden),
            _ => None,
        }
    }

    /// How the driver must end after it. `None` if it must continue.
    pub fn end(self) -> Option<End> {
        Some(match self {
            Fault::KillDriver => End::Killed,
            Fault::Terminate | Fault::Interrupt | Fault::HangUp | Fault::StopServer => {
                End::Interrupted
            }
            Fault::DiskFull => End::Error("No space left on device"),
            Fault::ReadOnly => End::Error("Read-only file system"),
            Fault::FileSize => End::PerhapsError("File too large"),
            Fault::Memory => End::OutOfMemory,
            Fault::KillRun
            | Fault::KillServer
            | Fault::KillWarden
            | Fault::StopDriver
            | Fault::SecondDriver => return None,
        })
    }
}

/// How a driver must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Killed,
    /// Exit status 0, and at once.
    Interrupted,
    /// Exit status 2, and this in its last line.
    Error(&'static str),
    /// The same, or no end at all: perhaps it wrote no large file.
    PerhapsError(&'static str),
    /// An error, an abort, or no end at all: perhaps it had all the memory that it needed.
    OutOfMemory,
}

impl End {
    /// How long the driver may take, on a machine with nothing else to do.
    pub fn limit(self) -> Duration {
        match self {
            End::Killed | End::Interrupted => Duration::from_secs(1),
            // It writes its statistics every second.
            End::Error(_) => Duration::from_secs(10),
            End::PerhapsError(_) | End::OutOfMemory => Duration::from_secs(3),
        }
    }

    /// True if the driver need not end.
    pub fn is_optional(self) -> bool {
        matches!(self, End::PerhapsError(_) | End::OutOfMemory)
    }

    /// What is wrong with an end: its exit status or signal, and its last line.
    pub fn check(self, code: Option<i32>, signal: Option<i32>, last: &str) -> Option<String> {
        let fits = match self {
            End::Killed => signal == Some(Signal::SIGKILL as i32),
            End::Interrupted => code == Some(0),
            End::Error(text) | End::PerhapsError(text) => code == Some(2) && last.contains(text),
            End::OutOfMemory => code == Some(2) || signal == Some(Signal::SIGABRT as i32),
        };
        let how = match (code, signal) {
            (Some(code), _) => format!("exit status {code}"),
            (None, signal) => format!("signal {}", signal.unwrap_or(0)),
        };
        (!fits).then(|| format!("the driver ended with {how}, expected {self:?}; it said: {last}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_that_do_not_fit_are_found() {
        let full = "pleach: out/journal: cannot be written to: No space left on device";
        let good = [
            (Fault::KillDriver, None, Some(9), ""),
            (Fault::Interrupt, Some(0), None, "resume it with"),
            (Fault::DiskFull, Some(2), None, full),
            (Fault::Memory, None, Some(6), "memory allocation of 8 bytes failed"),
        ];
        for (fault, code, signal, last) in good {
            let end = fault.end().unwrap();
            assert_eq!(end.check(code, signal, last), None, "{fault:?}");
            assert!(end.check(Some(101), None, last).is_some(), "{fault:?}");
            assert!(end.check(None, Some(11), last).is_some(), "{fault:?}");
        }
        assert!(Fault::DiskFull.end().unwrap().check(Some(2), None, "no such program").is_some());
    }
}
