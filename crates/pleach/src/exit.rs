//! Exit statuses, all of them.

use pleach_campaign::run::CampaignError;
use pleach_exec::trace::BrokenTrace;
use pleach_exec::{ExecError, ImageError};
use std::fmt;
use std::process::ExitCode;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    Ok = 0,
    /// A check failed, or the target was found wanting.
    Wanting = 1,
    /// The person's or the environment's fault. (Also clap's status for flags.)
    Person = 2,
    /// A defect of Pleach.
    Ours = 3,
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> ExitCode {
        ExitCode::from(code as u8)
    }
}

/// Why a command did not do what was asked: one message, and whose fault.
#[derive(Debug)]
pub struct Failure {
    code: Code,
    error: anyhow::Error,
}

impl Failure {
    pub fn code(&self) -> Code {
        self.code
    }

    /// Nobody reads what is printed: that is no error.
    pub fn is_broken_pipe(&self) -> bool {
        let io = self.error.downcast_ref::<std::io::Error>();
        io.is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
    }

    pub fn wanting(error: impl Into<anyhow::Error>) -> Failure {
        Failure { code: Code::Wanting, error: error.into() }
    }

    pub fn ours(error: impl Into<anyhow::Error>) -> Failure {
        Failure { code: Code::Ours, error: error.into() }
    }

    pub fn person(error: impl Into<anyhow::Error>) -> Failure {
        Failure { code: Code::Person, error: error.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{:#}", self.error)
    }
}

impl From<ImageError> for Failure {
    fn from(error: ImageError) -> Failure {
        Failure::person(error)
    }
}

impl From<ExecError> for Failure {
    fn from(error: ExecError) -> Failure {
        Failure::person(error)
    }
}

impl From<CampaignError> for Failure {
    fn from(error: CampaignError) -> Failure {
        Failure::person(error)
    }
}

impl From<BrokenTrace> for Failure {
    fn from(error: BrokenTrace) -> Failure {
        Failure { code: Code::Wanting, error: error.into() }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure::person(error)
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Failure {
        match error.io_error_kind() {
            Some(kind) => std::io::Error::from(kind).into(),
            None => Failure { code: Code::Ours, error: error.into() },
        }
    }
}
