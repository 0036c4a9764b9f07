//! Z3 as a process that answers one script after another, for comparison.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// A running `z3 -in`.
pub struct Z3 {
    child: Child,
    to: ChildStdin,
    lines: Receiver<String>,
    timeout: Duration,
}

/// Z3's answer. `Sat` has the text that it printed for the values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Z3Answer {
    Sat(String),
    Unsat,
    Unknown,
}

impl Z3 {
    /// Starts Z3. A script may take `limit` of Z3's own units of work, which do not depend on
    /// the machine, and `milliseconds`. Some parts of Z3 ignore its time limit; then it is
    /// killed a while later.
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
            // The thread ends when Z3 closes its output, or the receiver is gone.
            for line in from.lines().map_while(Result::ok) {
                if send.send(line.trim().to_string()).is_err() {
                    break;
                }
            }
        });
        let timeout = Duration::from_millis(2 * milliseconds + 1000);
        writeln!(to, "(set-option :rlimit {limit})")?;
        writeln!(to, "(set-option :timeout {milliseconds})")?;
        Ok(Z3 { child, to, lines, timeout })
    }

    /// Answers a script that ends with `(check-sat)`, and asks for values if it is
    /// satisfiable. After `Unknown`, Z3 must be started again: its limit of work counts from
    /// its start, and it may have crashed.
    pub fn ask(&mut self, script: &str, values: &str) -> io::Result<Z3Answer> {
        match self.answer(script, values) {
            // Z3 crashed on the script.
            Err(gone) if gone.kind() == io::ErrorKind::BrokenPipe => Ok(Z3Answer::Unknown),
            Err(gone) if gone.kind() == io::ErrorKind::UnexpectedEof => Ok(Z3Answer::Unknown),
            answer => answer,
        }
    }

    fn answer(&mut self, script: &str, values: &str) -> io::Result<Z3Answer> {
        writeln!(self.to, "(push)\n{script}")?;
        self.to.flush()?;
        let Some(answer) = self.line()? else { return Ok(Z3Answer::Unknown) };
        let answer = match answer.as_str() {
            "unsat" => Z3Answer::Unsat,
            "unknown" => Z3Answer::Unknown,
            "sat" => {
                writeln!(self.to, "{values}\n(echo \"end\")")?;
                self.to.flush()?;
                let mut text = String::new();
                loop {
                    match self.line()? {
                        Some(end) if end == "end" => break,
                        Some(line) => text.push_str(&line),
                        None => return Ok(Z3Answer::Unknown),
                    }
                }
                Z3Answer::Sat(text)
            }
            other => return Err(io::Error::other(format!("unexpected answer: {other}"))),
        };
        writeln!(self.to, "(pop)")?;
        Ok(answer)
    }

    /// The next line of output; `None` if it takes too long.
    fn line(&mut self) -> io::Result<Option<String>> {
        match self.lines.recv_timeout(self.timeout) {
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
