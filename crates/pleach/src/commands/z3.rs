//! Z3 as a process that answers one script after the other, for comparison.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A running `z3 -in`.
pub struct Z3 {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
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
    /// not depend on the machine, and `milliseconds`.
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
        writeln!(to, "(set-option :rlimit {limit})")?;
        writeln!(to, "(set-option :timeout {milliseconds})")?;
        Ok(Z3 { child, to, from })
    }

    /// Answers a script that ends with `(check-sat)`, and the values after it.
    pub fn ask(&mut self, script: &str, values: &str) -> io::Result<Said> {
        writeln!(self.to, "(push)\n{script}")?;
        self.to.flush()?;
        let said = match self.line()?.as_str() {
            "unsat" => Said::Unsat,
            "unknown" => Said::Unknown,
            "sat" => {
                writeln!(self.to, "{values}\n(echo \"end\")")?;
                self.to.flush()?;
                let mut text = String::new();
                loop {
                    match self.line()? {
                        end if end == "end" => break,
                        line => text.push_str(&line),
                    }
                }
                Said::Sat(text)
            }
            other => return Err(io::Error::other(format!("z3 said: {other}"))),
        };
        writeln!(self.to, "(pop)")?;
        Ok(said)
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.from.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim().to_string())
    }
}

impl Drop for Z3 {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
