//! The tests of the library, in one executable: to link one for each file takes longer
//! than to run most of them.

mod documents;
mod hostile;
mod precedence;
