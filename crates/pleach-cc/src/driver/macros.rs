//! Macros that are defined in every program that `pleach cc` compiles.
//!
//! `__PLEACH__` lets a program detect Pleach. With the others, programs that were
//! prepared for AFL++ compile unchanged. The macros are defined on the command
//! line, not in a header included with `-include`: such a header would appear in
//! the files that `-MD` writes. Each expansion declares the function that it
//! calls under a different name, with an explicit symbol name. So it works in C
//! and in C++, and cannot conflict with another declaration.

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
