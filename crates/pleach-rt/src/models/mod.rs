//! libc models: one family of functions in each file. A model does what the function does,
//! mostly by calling the real function, and computes the labels.
//!
//! The compiler turns a call of `strlen` into a call of `__pleach_m_strlen`, unless the
//! program defines `strlen` itself. Every symbol of that form in the archive is a model.
//! Labels of arguments and results pass as in instrumented code: [`api::enter`],
//! [`api::leave`]. docs/contributing/add-a-libc-model.md says how to add a model.

pub mod address;
pub mod api;
pub mod arithmetic;
pub mod checksum;
pub mod compare;
pub mod ctype;
pub mod define;
pub mod digits;
pub mod environment;
pub mod fd;
pub mod file;
pub mod float;
pub mod format;
pub mod heap;
pub mod jump;
pub mod map;
pub mod memory;
pub mod multibyte;
pub mod number;
pub mod output;
pub mod position;
pub mod print;
pub mod process;
pub mod random;
pub mod scan;
pub mod scanf;
pub mod search;
pub mod sort;
pub mod source;
pub mod stat;
pub mod stdio;
pub mod stream_way;
pub mod string;
pub mod text;
pub mod thread;
pub mod va_list;
pub mod version;
pub mod wide;
