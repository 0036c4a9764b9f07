//! Formats that other tools read. To add one: write a file here, and add it to [`FORMATS`].
//! Help texts and documents are made from this table.
//!
//! Nothing here runs a program: the caller replays the inputs, and gives the results.

mod cobertura;
mod junit;
mod lcov;
mod llvm_cov;
mod sarif;
pub mod suite;
mod testcomp;
mod xml;

use crate::coverage::Coverage;
use pleach_exec::CrashId;
use pleach_exec::source::tidy;
use std::path::{Path, PathBuf};
use std::time::Duration;
use suite::Runner;
pub use testcomp::{TestSuite, Value, write as write_test_suite};

/// A format of `pleach export`.
pub struct Format {
    /// What `--to` calls it.
    pub name: &'static str,
    pub about: &'static str,
    /// What it is made from, and how.
    pub kind: Kind,
}

#[derive(Clone, Copy)]
pub enum Kind {
    /// One file, from the coverage.
    Coverage(fn(&Coverage, &Context) -> Vec<u8>),
    /// One file, from the results of the inputs.
    Results(fn(&[Outcome], &Context) -> Vec<u8>),
    /// A directory with inputs, expected answers, and a runner.
    Suite(Runner),
    /// A file with results, or a suite, by the name of what is written.
    ResultsOrSuite(fn(&[Outcome], &Context) -> Vec<u8>, Runner),
    /// A directory with the values that `__VERIFIER_nondet_*` calls returned.
    Values,
}

/// All formats, in the order in which the help lists them.
pub const FORMATS: &[Format] = &[
    Format {
        name: "lcov",
        about: "LCOV tracefile: lines, functions and branches",
        kind: Kind::Coverage(lcov::write),
    },
    Format {
        name: "cobertura",
        about: "Cobertura XML: the same",
        kind: Kind::Coverage(cobertura::write),
    },
    Format {
        name: "llvm-cov",
        about: "JSON as llvm-cov export writes it: the same",
        kind: Kind::Coverage(llvm_cov::write),
    },
    Format {
        name: "sarif",
        about: "SARIF 2.1.0: each different crash and hang is a result",
        kind: Kind::Results(sarif::write),
    },
    Format {
        name: "junit",
        about: "OUT.xml: each input is a test case. Other OUT: a suite whose runner writes JUnit XML",
        kind: Kind::ResultsOrSuite(junit::write, Runner::Shell),
    },
    Format {
        name: "sh",
        about: "regression suite with a runner in POSIX shell",
        kind: Kind::Suite(Runner::Shell),
    },
    Format { name: "ctest", about: "regression suite for CMake", kind: Kind::Suite(Runner::CTest) },
    Format { name: "meson", about: "regression suite for Meson", kind: Kind::Suite(Runner::Meson) },
    Format { name: "make", about: "regression suite for make", kind: Kind::Suite(Runner::Make) },
    Format {
        name: "testcomp",
        about: "test suite of Test-Comp, for programs that call __VERIFIER_nondet_*",
        kind: Kind::Values,
    },
];

/// Finds a format by its name.
pub fn find(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|f| f.name == name)
}

/// What all formats may say about the export.
#[derive(Default)]
pub struct Context {
    /// The name of the program.
    pub program: String,
    /// The command, as a user writes it.
    pub command: String,
    /// The directory that the names of source files are relative to.
    pub source: PathBuf,
    /// Seconds since 1970.
    pub now: u64,
}

/// The result of one input.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The name of its file.
    pub name: String,
    /// Its path as the user gave it.
    pub path: String,
    /// `exit 0`, `SIGSEGV`, `timeout`
    pub end: String,
    /// True if the program exited by itself, without a report.
    pub has_passed: bool,
    pub time: Duration,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// Which crash or hang it is, if it could be examined.
    pub crash: Option<CrashId>,
    /// The crash was known before.
    pub is_known: bool,
    /// The decisions of the program on this input, last ones last.
    pub path_condition: Vec<Decision>,
}

/// A decision that depends on the input: where, and the condition as C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub condition: String,
}

impl Context {
    /// The path of a source file. If the compiler knew it at another place, it is looked for
    /// below the source directory, by as much of its path as possible.
    pub fn locate(&self, file: &str) -> PathBuf {
        let path = tidy(Path::new(file));
        if path.is_absolute() && path.exists() {
            return path;
        }
        let mut parts = path.components();
        while !parts.as_path().as_os_str().is_empty() {
            let part = parts.as_path();
            let below = self.source.join(part);
            if part.is_relative() && below.is_file() {
                return below;
            }
            parts.next();
        }
        path
    }

    /// The path of a source file relative to the source directory, if it is inside.
    pub fn relative(&self, file: &str) -> PathBuf {
        let path = self.locate(file);
        path.strip_prefix(&self.source).map(Path::to_path_buf).unwrap_or(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_different() {
        let mut names: Vec<_> = FORMATS.iter().map(|f| f.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), FORMATS.len());
    }
}
