//! Frames of a stack: those of the program, those that started it, and those that report
//! its fault.
//!
//! The stack of a crash has three parts. On top are the functions that *report* the fault:
//! `raise` and `abort`, a sanitizer, or the C++ runtime after an exception that nobody
//! catches. At the bottom are the functions that *start* the program: the C library, the
//! start of a thread, or the driver's loop around a libFuzzer target. Only the part between
//! them tells crashes apart, so the other two are dropped. The bottom is dropped first: if a
//! starter were taken for a reporter, everything above it would be dropped.

use super::symbols::VDSO;
use std::fmt;
use std::path::{Path, PathBuf};

/// One function on a stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// As in the source; empty if unknown.
    pub function: String,
    pub file: String,
    /// 0 if unknown.
    pub line: u32,
    /// The executable or library.
    pub module: PathBuf,
    /// The address in this file, as linked.
    pub address: u64,
    /// The start of the function, if only the unwind tables have it (a stripped file).
    pub start: Option<u64>,
}

impl Frame {
    /// A text that identifies the function.
    pub fn function_key(&self) -> String {
        match self.function.is_empty() {
            true => format!("{}+{:#x}", self.module_name(), self.start.unwrap_or(self.address)),
            false => self.function.clone(),
        }
    }

    /// A text that identifies the place in the function: by its line, or without debug
    /// information by its address.
    pub fn place_key(&self) -> String {
        match self.line {
            0 => format!("{}:{:#x}", self.function_key(), self.address),
            line => format!("{}:{line}", self.function_key()),
        }
    }

    /// For example `/src/calc.c:41`; `None` if the source is unknown.
    pub(crate) fn source(&self) -> Option<String> {
        match (self.file.as_str(), self.line) {
            ("", _) => None,
            (file, 0) => Some(file.into()),
            (file, line) => Some(format!("{file}:{line}")),
        }
    }

    fn module_name(&self) -> String {
        self.module.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// True for a function of the program: not of the C or C++ library, nor of a sanitizer.
    pub fn is_of_program(&self) -> bool {
        let intercepted = self.function.trim_start_matches('_').starts_with("interceptor_");
        !self.module.as_os_str().is_empty()
            && !self.is_of_system()
            && !self.is_of_cxx_library()
            && !intercepted
            && !self.is_reporter()
    }

    fn is_of_system(&self) -> bool {
        let module = self.module_name();
        SYSTEM.iter().any(|s| module.starts_with(s))
    }

    /// True for templates of the C++ library: they are compiled into the program.
    fn is_of_cxx_library(&self) -> bool {
        match self.file.is_empty() {
            true => CXX_NAMESPACES.iter().any(|n| self.function.starts_with(n)),
            false => CXX_HEADERS.iter().any(|part| self.file.contains(part)),
        }
    }

    /// True for functions that end a process or report why.
    fn is_reporter(&self) -> bool {
        let name = self.function.as_str();
        // The program may have its own function with the name `raise`.
        let own = self.line > 0 && !self.is_of_system() && !self.is_of_cxx_library();
        REPORTERS.contains(&name) && !own || REPORTERS_BEGIN.iter().any(|r| name.starts_with(r))
    }

    /// True for functions that call the program's entry.
    fn is_starter(&self) -> bool {
        let name = self.function.as_str();
        STARTERS.contains(&name) || STARTERS_BEGIN.iter().any(|s| name.starts_with(s))
    }
}

/// For example `parse (calc.c:41)`, or `? (calc+0x12f0)` without a name.
impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let function = if self.function.is_empty() { "?" } else { &self.function };
        write!(f, "{function}")?;
        let file = Path::new(&self.file).file_name().map(|n| n.to_string_lossy().into_owned());
        match (file, self.module_name()) {
            (Some(file), _) if self.line > 0 => write!(f, " ({file}:{})", self.line),
            (Some(file), _) => write!(f, " ({file})"),
            (None, module) if module.is_empty() => Ok(()),
            (None, module) if self.function.is_empty() && self.address > 0 => {
                write!(f, " ({module}+{:#x})", self.address)
            }
            (None, module) => write!(f, " ({module})"),
        }
    }
}

/// Drops the frames that started the program and those that report its fault.
pub(crate) fn without_noise(mut frames: Vec<Frame>) -> Vec<Frame> {
    drop_starters(&mut frames);
    // There may be unknown frames between two reporters. A frame with a line of the
    // program's own source is no reporter.
    let own = |f: &Frame| f.line > 0 && f.is_of_program();
    let candidates = frames.iter().take(MAX_REPORTERS).take_while(|f| !own(f)).count();
    let top = frames[..candidates].iter().rposition(Frame::is_reporter).map_or(0, |last| last + 1);
    let top = if top < frames.len() { top } else { 0 };
    frames.drain(..top);
    frames
}

/// Drops the frames below the program's entry.
fn drop_starters(frames: &mut Vec<Frame>) {
    let last = |name: &str| frames.iter().rposition(|f| f.function == name);
    // `main` of a libFuzzer target is the runtime's.
    let end = last(FUZZER_MAIN).or(last("main").map(|main| main + 1)).unwrap_or(frames.len());
    // Without `main` it is a constructor or a thread.
    let own = frames[..end].iter().rposition(|f| !f.is_starter() && !f.is_of_system());
    if let Some(own) = own {
        frames.truncate(own + 1);
    }
}

/// How many frames may report a fault.
const MAX_REPORTERS: usize = 32;
/// Functions that end a process or report why: their names, and how their names begin.
const REPORTERS: [&str; 7] =
    ["abort", "raise", "gsignal", "pthread_kill", "malloc_printerr", "tgkill", "_exit"];
const REPORTERS_BEGIN: [&str; 21] = [
    "__asan",
    "__ubsan",
    "__sanitizer",
    "__lsan",
    "__pleach",
    "__pthread_kill",
    "__GI_raise",
    "__GI_abort",
    "__assert",
    "__libc_message",
    "__libc_fatal",
    "__fortify_fail",
    "__chk_fail",
    "__stack_chk_fail",
    "__cxxabiv1::",
    "__cxa_",
    "__clang_call_terminate",
    "__gnu_cxx::__verbose_terminate",
    "std::terminate",
    "std::__throw_",
    "std::__glibcxx_assert_fail",
];

/// Calls `LLVMFuzzerTestOneInput`.
const FUZZER_MAIN: &str = "__pleach_fuzzer_main";
/// Functions that call the program's entry: their names, and how their names begin.
const STARTERS: [&str; 6] =
    ["_start", "__libc_start_main", "start_thread", "clone", "clone3", "asan_thread_start"];
const STARTERS_BEGIN: [&str; 3] = ["pleach_rt::", "__libc_start_", "__asan::AsanThread::"];

/// Libraries of the system, by the beginning of their names.
const SYSTEM: [&str; 11] = [
    "libc.so",
    "libc-",
    "ld-linux",
    "libm.so",
    "libpthread",
    "libgcc_s",
    "libstdc++",
    "libc++",
    "libasan",
    "libclang_rt",
    VDSO,
];
const CXX_NAMESPACES: [&str; 5] =
    ["std::", "__gnu_cxx::", "__cxxabiv1::", "operator new", "operator delete"];
const CXX_HEADERS: [&str; 2] = ["/include/c++/", "/c++/v1/"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::triage::tests::frames;

    fn names(text: &str) -> String {
        let kept = without_noise(frames(text));
        kept.iter().map(|f| f.function.clone()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn noise_is_dropped_at_both_ends() {
        let stack = "libc.so.6/raise libc.so.6/abort __sanitizer::Abort __asan_report_load1 \
                     parse:3 main:9 libc.so.6/__libc_start_main _start";
        assert_eq!(names(stack), "parse main");
        let stack = "libc.so.6/? libc.so.6/abort __sanitizer::Die handleIt __ubsan_handle_it f:3";
        assert_eq!(names(stack), "f");
        // If all frames are noise, they stay.
        assert_eq!(names("libc.so.6/raise libc.so.6/abort"), "raise abort");
        // Functions of the program with names like those of the library.
        assert_eq!(names("abort_parse:4 main:2"), "abort_parse main");
        assert_eq!(names("raise:4 main:2"), "raise main");
    }

    #[test]
    fn starters_are_not_taken_for_reporters() {
        let end = "libc.so.6/? libc.so.6/__libc_start_main _start";
        // A libFuzzer target, with and without debug information.
        let stack = format!(
            "libc.so.6/abort parse:3 LLVMFuzzerTestOneInput:9 pleach_rt::run __pleach_fuzzer_main \
             {end}"
        );
        assert_eq!(names(&stack), "parse LLVMFuzzerTestOneInput");
        let stack =
            format!("libc.so.6/abort parse LLVMFuzzerTestOneInput __pleach_fuzzer_main main {end}");
        assert_eq!(names(&stack), "parse LLVMFuzzerTestOneInput");
        let stack = format!("libc.so.6/abort LLVMFuzzerInitialize __pleach_fuzzer_main {end}");
        assert_eq!(names(&stack), "LLVMFuzzerInitialize");
        // The thread of a program with a sanitizer.
        let stack = "libc.so.6/abort work:3 __asan::AsanThread::ThreadStart asan_thread_start \
                     libc.so.6/start_thread";
        assert_eq!(names(stack), "work");
        // A constructor.
        let stack = format!("libc.so.6/abort set_up:3 libc.so.6/call_init {end}");
        assert_eq!(names(&stack), "set_up");
    }

    #[test]
    fn functions_of_the_cxx_library_report_exceptions() {
        let stack = "libc.so.6/abort libstdc++.so.6/__cxa_throw std::__throw_out_of_range \
                     parse:7 main:9";
        assert_eq!(names(stack), "parse main");
        assert_eq!(names("libc.so.6/abort __clang_call_terminate quiet:2 main:3"), "quiet main");
    }
}
