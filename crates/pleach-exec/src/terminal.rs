//! Pseudo-terminals, for programs that need a terminal.
//!
//! A terminal has a fixed size, and at first the default modes of the system. A thread reads
//! and drops what the program writes to it: otherwise a program that writes more than the
//! kernel buffers would block. The runtime delivers the keys (see `terminal` in
//! `pleach-rt`); for the plain program they are typed.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::thread::JoinHandle;

/// Columns and rows, written `80x24`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Size {
    pub columns: u16,
    pub rows: u16,
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        let parts = text.split_once('x');
        let number = |text: &str| text.parse::<u16>().ok().filter(|n| (1..=1000).contains(n));
        let size = parts.and_then(|(columns, rows)| {
            Some(Size { columns: number(columns)?, rows: number(rows)? })
        });
        size.ok_or_else(|| format!("`{text}` is no size: columns and rows, as in 80x24"))
    }
}

impl TryFrom<String> for Size {
    type Error = String;

    fn try_from(text: String) -> Result<Size, String> {
        text.parse()
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}x{}", self.columns, self.rows)
    }
}

impl From<Size> for String {
    fn from(size: Size) -> String {
        size.to_string()
    }
}

/// A terminal that every program knows, and that programs do not query.
const TERM: &str = "vt100";

pub(crate) struct Terminal {
    ours: OwnedFd,
    /// Kept open, or reading from ours would fail when a program has ended.
    theirs: File,
    first_modes: libc::termios,
    /// Closing this ends the thread.
    stop: Option<OwnedFd>,
    reader: Option<JoinHandle<()>>,
}

fn modes_of(terminal: &File) -> libc::termios {
    // Safety: fills a structure of numbers, for our own descriptor.
    unsafe {
        let mut modes: libc::termios = std::mem::zeroed();
        libc::tcgetattr(terminal.as_raw_fd(), &raw mut modes);
        modes
    }
}

impl Terminal {
    pub fn new(size: Size) -> io::Result<Terminal> {
        let flags = libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC;
        let mut name = [0u8; 64];
        // Safety: system calls with our own descriptors and buffers.
        let ours = unsafe {
            let fd = libc::posix_openpt(flags);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            let ours = OwnedFd::from_raw_fd(fd);
            let window = libc::winsize {
                ws_row: size.rows,
                ws_col: size.columns,
                ws_xpixel: 0,
                ws_ypixel: 0,
            };
            if libc::grantpt(fd) != 0
                || libc::unlockpt(fd) != 0
                || libc::ptsname_r(fd, name.as_mut_ptr().cast(), name.len()) != 0
                || libc::ioctl(fd, libc::TIOCSWINSZ, &raw const window) != 0
            {
                return Err(io::Error::last_os_error());
            }
            ours
        };
        let end = name.iter().position(|&b| b == 0).unwrap_or(name.len());
        let name = String::from_utf8_lossy(&name[..end]).into_owned();
        let mut options = OpenOptions::new();
        options.read(true).write(true).custom_flags(libc::O_NOCTTY);
        let theirs = options.open(name)?;
        let (stopped, stop) = crate::process::socket_pair(libc::SOCK_STREAM)?;
        let mut output = File::from(ours.try_clone()?);
        let reader = std::thread::Builder::new().name("terminal".into()).spawn(move || {
            let mut chunk = vec![0; 1 << 16];
            let fds = [output.as_raw_fd(), stopped.as_raw_fd()];
            while let Ok(ready) = crate::process::readable(&fds, None) {
                if ready[1] || (ready[0] && output.read(&mut chunk).is_err()) {
                    break;
                }
            }
        })?;
        let first_modes = modes_of(&theirs);
        Ok(Terminal { ours, theirs, first_modes, stop: Some(stop), reader: Some(reader) })
    }

    /// Our end of the terminal.
    pub fn fd(&self) -> i32 {
        self.ours.as_raw_fd()
    }

    /// Gives a command this terminal, in the modes of a new one: the last program may have
    /// changed them.
    pub fn attach(&self, command: &mut Command) -> io::Result<()> {
        let modes = &raw const self.first_modes;
        // Safety: our own descriptor and structure.
        unsafe { libc::tcsetattr(self.theirs.as_raw_fd(), libc::TCSAFLUSH, modes) };
        let end = || self.theirs.try_clone().map(Stdio::from);
        command.stdin(end()?).stdout(end()?).stderr(end()?);
        command.env("TERM", TERM).env_remove("LINES").env_remove("COLUMNS");
        Ok(())
    }

    /// True if the kernel reports no key that is not read yet.
    pub fn is_read(&self) -> bool {
        let mut waiting: libc::c_int = 0;
        // Safety: our own descriptor and number.
        let done =
            unsafe { libc::ioctl(self.theirs.as_raw_fd(), libc::FIONREAD, &raw mut waiting) };
        done == 0 && waiting == 0
    }

    /// The current modes.
    pub fn modes(&self) -> Vec<u8> {
        let modes = modes_of(&self.theirs);
        let flags = [modes.c_iflag, modes.c_oflag, modes.c_cflag, modes.c_lflag];
        flags.iter().flat_map(|f| f.to_le_bytes()).chain(modes.c_cc).collect()
    }

    pub fn type_keys(&self, keys: &[u8]) -> io::Result<()> {
        File::from(self.ours.try_clone()?).write_all(keys)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_columns_and_rows() {
        assert_eq!("80x24".parse(), Ok(Size { columns: 80, rows: 24 }));
        assert_eq!(Size { columns: 132, rows: 43 }.to_string(), "132x43");
        for bad in ["", "80", "x", "80x", "0x24", "80x24x1", "-1x4", "99999x1", "80X24"] {
            assert!(bad.parse::<Size>().is_err(), "{bad}");
        }
    }

    /// The program knows the size, and can write more than the kernel buffers.
    #[test]
    fn output_never_blocks() {
        let terminal = Terminal::new(Size { columns: 80, rows: 24 }).expect("a terminal");
        let mut command = Command::new("sh");
        command.args([
            "-c",
            "stty size <&0 | grep -qx '24 80' && head -c 300000 /dev/zero && test -t 1",
        ]);
        terminal.attach(&mut command).expect("it has two ends");
        assert!(command.status().expect("there is a shell").success());
    }
}
