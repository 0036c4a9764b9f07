//! Errors of the driver. Each variant says whose fault it is.

use std::path::PathBuf;

/// Why the driver stops.
#[derive(Debug)]
pub enum Stop {
    /// clang or the linker has already reported the error; this is its exit status.
    Status(u8),
    Error(Error),
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The user's machine lacks something.
    #[error(
        "LLVM 22 is needed, but {found}; install it (Debian: apt-get install clang-22 llvm-22-dev \
         libclang-rt-22-dev lld-22) or set PLEACH_LLVM to the prefix where it is installed"
    )]
    NoLlvm { found: String },
    /// The user asks for an unsupported target.
    #[error(
        "{target} is not supported: Pleach compiles only for x86-64 Linux with glibc; remove the \
         option"
    )]
    Target { target: String },
    /// The user's disk or permissions.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: std::io::Error },
    /// A file that another tool damaged.
    #[error("{}: {what}", path.display())]
    BadFile { path: PathBuf, what: String },
    /// The fast half links and the symbolic half does not.
    #[error(
        "{}: cannot link the symbolic half; the linker reported:\n{text}\
         pleach-cc: note: to link without a symbolic half, use -fno-pleach-symbolic or set \
         PLEACH_SYMBOLIC=0",
        output.display()
    )]
    SymbolicLink { output: PathBuf, text: String },
    /// The user names a token place that does not exist.
    #[error("{0}")]
    Token(String),
    /// Pleach's fault: clang rejects the instrumented code.
    #[error(
        "{}: the instrumented code does not compile; this is a bug in pleach-cc, please report \
         it with the source file\n{text}",
        input.display()
    )]
    SecondCompile { input: PathBuf, text: String },
    /// Pleach's fault, or IR of another LLVM version.
    #[error("{}: cannot instrument: {source}", input.display())]
    Instrument { input: PathBuf, source: crate::instrument::Error },
}

impl Error {
    /// 2 for errors that the user must correct, 1 for the others, as in clang.
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
