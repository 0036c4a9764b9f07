//! libc models: one family a file. A model does what the function does (it
//! calls the real one where it can), and says what that means for labels.
//!
//! The compiler turns a call of `strlen` into a call of `__pleach_m_strlen`
//! when the program does not define `strlen` itself; every symbol of that form
//! in this archive is a model. Labels of arguments arrive and labels of results
//! leave as in instrumented code: [`api::enter`], [`api::leave`].

pub mod api;
pub mod arithmetic;
pub mod compare;
pub mod ctype;
pub mod define;
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
pub mod process;
pub mod scan;
pub mod scanf;
pub mod search;
pub mod sort;
pub mod source;
pub mod stat;
pub mod stdio;
pub mod string;
pub mod text;
pub mod thread;
pub mod va_list;
pub mod wide;
