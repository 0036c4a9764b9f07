//! How runs end, in words.

use pleach_exec::executor::End;
use pleach_exec::signal_name;

/// How a run ended, in words.
pub fn end_words(end: &End) -> String {
    match end {
        End::Exit(status) => format!("exit {status}"),
        End::Signal(signal) => signal_name(*signal),
        End::Timeout => "timeout".into(),
        End::Memory => "over its memory limit".into(),
        End::Output => "over its output limit".into(),
        End::Processes => "over its limit of processes".into(),
        End::Lost(why) => why.clone(),
    }
}
