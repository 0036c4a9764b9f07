//! Z3 as a process that answers one script after the other, for comparison.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// A running `z3 -in`.
pub struct Z3 {
    child: Child,
    to: ChildStdin,
    lines: Receiver<String>,
    patience: Duration,
}

/// What Z3 said, with what it printed for the values that were asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    Sat(String),
    Unsat,
    Unknown,
}

impl Z3 {
    /// Starts it. A script may take `limit` of Z3's own units of work, which do
    /// not depend on the machine, and `milliseconds`. Not all of Z3 looks at the
    /// clock: where it does not, it is killed a while later.
    pub fn start(limit: u64, milliseconds: u64) -> io::Result<Z3> {
        let mut child = Command::new("z3")
            .args(["-in", "-smt2"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let broken = || io::Error::from(io::ErrorKind::BrokenPipe);
        let mut to = child.stdin.take().ok_or_else(broken)?;
        let from = BufReader::new(child.stdout.take().ok_or_else(broken)?);
        let (send, lines) = channel();
        std::thread::spawn(move || {
            // Ends with Z3's output, or when nobody listens.
            for line in from.lines().map_while(Result::ok) {
                if send.send(line.trim().to_string()).is_err() {
                    break;
                }
            }
        });
        let patience = Duration::from_millis(2 * milliseconds + 1000);
        writeln!(to, "(set-option :rlimit {limit})")?;
        writeln!(to, "(set-option :timeout {milliseconds})")?;
        Ok(Z3 { child, to, lines, patience })
    }

    /// Answers a script that ends with `(check-sat)`, and the values after it. After
    /// `Unknown` it must be started again: its limit of work counts from its start,
    /// and it may be gone.
    pub fn ask(&mut self, script: &str, values: &str) -> io::Result<Said> {
        match self.answer(script, values) {
            // It has crashed on the script: a limit of another kind.
            Err(gone) if gone.kind() == io::ErrorKind::BrokenPipe => Ok(Said::Unknown),
            Err(gone) if gone.kind() == io::ErrorKind::UnexpectedEof => Ok(Said::Unknown),
            said => said,
        }
    }

    fn answer(&mut self, script: &str, values: &str) -> io::Result<Said> {
        writeln!(self.to, "(push)\n{script}")?;
        self.to.flush()?;
        let Some(answer) = self.line()? else { return Ok(Said::Unknown) };
        let said = match answer.as_str() {
            "unsat" => Said::Unsat,
            "unknown" => Said::Unknown,
            "sat" => {
                writeln!(self.to, "{values}\n(echo \"end\")")?;
                self.to.flush()?;
                let mut text = String::new();
                loop {
                    match self.line()? {
                        Some(end) if end == "end" => break,
                        Some(line) => text.push_str(&line),
                        None => return Ok(Said::Unknown),
                    }
                }
                Said::Sat(text)
            }
            other => return Err(io::Error::other(format!("z3 said: {other}"))),
        };
        writeln!(self.to, "(pop)")?;
        Ok(said)
    }

    /// The next line; none if it takes too long.
    fn line(&mut self) -> io::Result<Option<String>> {
        match self.lines.recv_timeout(self.patience) {
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Timeout) => {
                self.child.kill()?;
                Ok(None)
            }
            Err(RecvTimeoutError::Disconnected) => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

impl Drop for Z3 {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
