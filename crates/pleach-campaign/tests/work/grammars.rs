//! Parsing with a grammar.

use crate::growth::{INPUT_SIZES, check_growth, work_of};
use pleach_grammar::{Automaton, Lexer, ParseError, Parser};
use pleach_work::Task;
use std::sync::Arc;

fn parser(text: &str, max_entries: usize) -> Parser {
    let grammar = pleach_import::from_bytes("test.ebnf", text.as_bytes(), None).unwrap();
    let grammar = Arc::new(grammar);
    let lexer = Lexer::new(&grammar).unwrap();
    Parser::new(Arc::new(Automaton::new(grammar).unwrap()), lexer).with_entries(max_entries)
}

const LIST: &str = "list ::= '[' (item (',' item)*)? ']'\nitem ::= number | list\n\
    number ::= [0-9]+\n";
const SUMS: &str = "sum ::= number | sum '+' sum | sum '*' sum\nnumber ::= [0-9]+\n";
/// The lexer must read to the end to see that the first rule does not match.
const FAR: &str =
    "s ::= (long | letter)*\nlong ::= 'a'+ 'b'\nletter ::= 'a'\n@tokens long letter\n";

#[test]
fn parsing_what_one_token_decides() {
    let parser = parser(LIST, 100_000_000);
    let work = INPUT_SIZES.map(|n| {
        let input = format!("[{}1]", "12,[3],".repeat(n as usize / 7));
        let (parsed, work) = work_of(&[Task::Parse], || parser.parse(input.as_bytes()));
        assert!(parsed.is_ok());
        (n, work)
    });
    check_growth("list", &work, u64::MAX);
}

/// An ambiguous grammar takes cubic time. The parser ends at its limit, and says so.
#[test]
fn parsing_what_is_ambiguous() {
    const MAX_ENTRIES: usize = 250_000;
    let parser = parser(SUMS, MAX_ENTRIES);
    for n in INPUT_SIZES {
        let input = format!("{}1", "1+1*".repeat(n as usize / 4));
        let (parsed, work) = work_of(&[Task::Parse], || parser.parse(input.as_bytes()));
        assert!(n <= 1 << 10 || matches!(parsed, Err(ParseError::TooLarge(_))), "{n}");
        assert!(work < 100 * MAX_ENTRIES as u64 + 3 * n, "{work} for {n}");
    }
}

#[test]
fn reading_far_beyond_a_token() {
    let parser = parser(FAR, 100_000_000);
    for n in INPUT_SIZES {
        let input = vec![b'a'; n as usize];
        let (_, work) = work_of(&[Task::Parse], || parser.parse(&input));
        assert!(work <= 300 * (n + 300), "{work} for {n}");
    }
}
