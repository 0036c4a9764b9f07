//! Macros that every program compiled for Pleach sees.
//!
//! `__PLEACH__` lets a program know. The others let programs that were made
//! ready for AFL++ compile unchanged. They are defined on the command line
//! rather than in a header that is included by force: such a header would show
//! up in the files that `-MD` writes. Each expansion declares what it calls,
//! under a name of its own and with the symbol's name given explicitly: so it
//! is the same in C and in C++, and cannot clash with a declaration elsewhere.

pub const DEFINITIONS: &[&str] = &[
    "-D__PLEACH__=1",
    "-D__AFL_HAVE_MANUAL_CONTROL=1",
    "-D__AFL_INIT()=__extension__({\
        void __pleach_do_afl_init(void) __asm__(\"__pleach_afl_init\");\
        __pleach_do_afl_init(); })",
    "-D__AFL_LOOP(n)=__extension__({\
        int __pleach_do_afl_loop(unsigned int) __asm__(\"__pleach_afl_loop\");\
        __pleach_do_afl_loop(n); })",
    "-D__AFL_FUZZ_INIT()=int __pleach_do_afl_len(void) __asm__(\"__pleach_afl_len\")",
    "-D__AFL_FUZZ_TESTCASE_BUF=__extension__({\
        unsigned char *__pleach_do_afl_buf(void) __asm__(\"__pleach_afl_buf\");\
        __pleach_do_afl_buf(); })",
    "-D__AFL_FUZZ_TESTCASE_LEN=__extension__({\
        int __pleach_do_afl_len(void) __asm__(\"__pleach_afl_len\");\
        __pleach_do_afl_len(); })",
];
