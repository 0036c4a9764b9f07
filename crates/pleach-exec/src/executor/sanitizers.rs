//! Options for the sanitizers in the fast half.

use std::ffi::OsString;
use std::process::Command;

/// Under a driver, a sanitizer must end a bad run at once, by a signal. Symbolic names and
/// the leak check at exit take longer than a run. A signal of the program's own must stay
/// that signal, so the sanitizers do not handle it.
const OPTIONS: [(&str, &str); 2] = [
    (
        "ASAN_OPTIONS",
        "abort_on_error=1:symbolize=0:detect_leaks=0:allocator_may_return_null=1:\
         handle_segv=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0:handle_abort=0",
    ),
    (
        "UBSAN_OPTIONS",
        "halt_on_error=1:abort_on_error=1:symbolize=0:print_stacktrace=0:\
         handle_segv=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0:handle_abort=0",
    ),
];

pub(super) fn set_options(command: &mut Command) {
    for (name, ours) in OPTIONS {
        command.env(name, with_user_options(ours, std::env::var_os(name)));
    }
}

/// Our options, then the user's: the last setting of an option counts.
fn with_user_options(ours: &str, users: Option<OsString>) -> OsString {
    let mut options = OsString::from(ours);
    if let Some(users) = users.filter(|o| !o.is_empty()) {
        options.push(":");
        options.push(users);
    }
    options
}
