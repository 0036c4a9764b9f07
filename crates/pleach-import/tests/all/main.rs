//! All tests of the library but `files`, in one executable: linking one for each file would
//! take longer than running them.

mod documents;
mod hostile;
mod precedence;
