//! Functions that turn text into addresses and wide characters, and numbers into text:
//! `generational` alone reaches each goal of the programs in `tests/texts`.

use crate::goals::check_folder;

#[test]
fn goals_behind_converted_text_are_reached() {
    check_folder("texts", 5, &["-O1"]);
}
