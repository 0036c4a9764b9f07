//! What can go wrong, and whose fault it is.

use std::path::PathBuf;

/// Why the driver stops.
#[derive(Debug)]
pub enum Stop {
    /// clang or the linker has told the user; this is its exit status.
    Status(u8),
    Error(Error),
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The user's machine lacks something.
    #[error(
        "LLVM 22 is needed and {found}; install it (Debian: apt-get install clang-22 llvm-22-dev \
         libclang-rt-22-dev lld-22) or set PLEACH_LLVM to its prefix"
    )]
    NoLlvm { found: String },
    /// The user asks for a target that we do not have.
    #[error("{target} is not supported: targets are x86-64 Linux programs with glibc")]
    Target { target: String },
    /// The user's disk or permissions.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: std::io::Error },
    /// A file that some other tool left damaged.
    #[error("{}: {what}", path.display())]
    BadFile { path: PathBuf, what: String },
    /// The symbolic half cannot be linked where the fast half could.
    #[error(
        "{}: no symbolic half: its link failed\n{text}\
         pleach-cc: note: -fno-pleach-symbolic (or PLEACH_SYMBOLIC=0) links without it",
        output.display()
    )]
    SymbolicLink { output: PathBuf, text: String },
    /// The user names a token that is not there.
    #[error("{0}")]
    Token(String),
    /// Ours: instrumented code that clang does not take.
    #[error("{}: the instrumented code does not compile; this is a defect of pleach-cc\n{text}", input.display())]
    SecondCompile { input: PathBuf, text: String },
    /// Ours, or IR that we do not know.
    #[error("{}: cannot instrument: {source}", input.display())]
    Instrument { input: PathBuf, source: crate::instrument::Error },
}

impl Error {
    /// 2 for what the user must change, 1 for the rest, as clang has it.
    pub fn exit_status(&self) -> u8 {
        match self {
            Error::NoLlvm { .. } | Error::Target { .. } | Error::Token(_) => 2,
            _ => 1,
        }
    }

    pub fn io(
        doing: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.into();
        move |source| Error::Io { doing, path, source }
    }
}

impl From<Error> for Stop {
    fn from(e: Error) -> Stop {
        Stop::Error(e)
    }
}
