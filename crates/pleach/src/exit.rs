//! Exit statuses.

use pleach_campaign::run::CampaignError;
use pleach_exec::trace::BrokenTrace;
use pleach_exec::{ExecError, ImageError};
use std::fmt;
use std::process::ExitCode;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    Ok,
    /// A check failed, or an input crashed or hung.
    Failed,
    /// A mistake of the user, or a problem of the machine. (clap uses the same status for
    /// wrong options.)
    UserError,
    /// A defect of Pleach.
    Internal,
    /// A status of libFuzzer.
    LibFuzzer(u8),
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> ExitCode {
        ExitCode::from(match code {
            Code::Ok => 0,
            Code::Failed => 1,
            Code::UserError => 2,
            Code::Internal => 3,
            Code::LibFuzzer(status) => status,
        })
    }
}

/// Why a command failed: one message, and the exit status.
#[derive(Debug)]
pub struct Failure {
    code: Code,
    error: anyhow::Error,
}

impl Failure {
    pub fn code(&self) -> Code {
        self.code
    }

    /// True if the reader of standard output has closed it. This is not an error.
    pub fn is_broken_pipe(&self) -> bool {
        let io = self.error.downcast_ref::<std::io::Error>();
        io.is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
    }

    pub fn failed_check(error: impl Into<anyhow::Error>) -> Failure {
        Failure { code: Code::Failed, error: error.into() }
    }

    pub fn internal(error: impl Into<anyhow::Error>) -> Failure {
        Failure { code: Code::Internal, error: error.into() }
    }

    pub fn user_error(error: impl Into<anyhow::Error>) -> Failure {
        Failure { code: Code::UserError, error: error.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{:#}", self.error)
    }
}

impl From<ImageError> for Failure {
    fn from(error: ImageError) -> Failure {
        Failure::user_error(error)
    }
}

impl From<ExecError> for Failure {
    fn from(error: ExecError) -> Failure {
        Failure::user_error(error)
    }
}

impl From<CampaignError> for Failure {
    fn from(error: CampaignError) -> Failure {
        Failure::user_error(error)
    }
}

impl From<BrokenTrace> for Failure {
    fn from(error: BrokenTrace) -> Failure {
        Failure { code: Code::Failed, error: error.into() }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure::user_error(error)
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Failure {
        match error.io_error_kind() {
            Some(kind) => std::io::Error::from(kind).into(),
            None => Failure { code: Code::Internal, error: error.into() },
        }
    }
}
