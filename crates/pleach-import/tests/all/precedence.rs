//! Compares a grammar with precedence dropped to a parser that decides as yacc does,
//! for random tables of operators and all texts up to a length.

use std::collections::HashMap;
use std::fmt::Write;

use pleach_grammar::{Grammar, RuleId, Symbol};
use pleach_import::{Ambiguity, Options};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fix {
    Binary,
    Prefix,
    Postfix,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Assoc {
    Left,
    Right,
    Nonassoc,
}

/// Operators: letter, kind, level, and the associativity of the level.
type Table = Vec<(u8, Fix, usize, Assoc)>;

fn table() -> impl Strategy<Value = Table> {
    let fix = prop_oneof![3 => Just(Fix::Binary), 2 => Just(Fix::Prefix), 1 => Just(Fix::Postfix)];
    let assoc = prop_oneof![Just(Assoc::Left), Just(Assoc::Right), Just(Assoc::Nonassoc)];
    let operators = prop::collection::vec((fix, 0..3usize), 2..5);
    (operators, prop::collection::vec(assoc, 3)).prop_map(|(operators, assocs)| {
        let letters = b"pqrstu".iter().copied();
        letters.zip(operators).map(|(c, (fix, level))| (c, fix, level, assocs[level])).collect()
    })
}

fn yacc_file(table: &Table) -> String {
    let mut text = String::new();
    for level in 0..3 {
        let on_level: Vec<_> = table.iter().filter(|op| op.2 == level).collect();
        if let Some(first) = on_level.first() {
            let word = match first.3 {
                Assoc::Left => "%left",
                Assoc::Right => "%right",
                Assoc::Nonassoc => "%nonassoc",
            };
            let tokens: String = on_level.iter().map(|op| format!(" '{}'", op.0 as char)).collect();
            writeln!(text, "{word}{tokens}").unwrap();
        }
    }
    text.push_str("%%\ne: 'a' | '(' e ')'\n");
    for (letter, fix, ..) in table {
        let letter = *letter as char;
        let rule = match fix {
            Fix::Binary => format!("e '{letter}' e"),
            Fix::Prefix => format!("'{letter}' e"),
            Fix::Postfix => format!("e '{letter}'"),
        };
        writeln!(text, "| {rule}").unwrap();
    }
    text.push_str(";\n");
    text
}

/// True if a parser that decides as yacc does accepts a text. `E` on the stack is an
/// expression.
fn accepts(table: &Table, text: &[u8]) -> bool {
    let find = |letter: u8| table.iter().find(|op| op.0 == letter);
    let mut stack: Vec<u8> = Vec::new();
    let mut at = 0;
    loop {
        let next = text.get(at).copied();
        // The complete production on top of the stack: its length and its operator.
        let complete = match stack[..] {
            [.., b'a'] => Some((1, None)),
            [.., b'(', b'E', b')'] => Some((3, None)),
            [.., b'E', op] if find(op).is_some_and(|op| op.1 == Fix::Postfix) => {
                Some((2, find(op)))
            }
            [.., b'E', op, b'E'] if find(op).is_some_and(|op| op.1 == Fix::Binary) => {
                Some((3, find(op)))
            }
            [.., op, b'E'] if find(op).is_some_and(|op| op.1 == Fix::Prefix) => Some((2, find(op))),
            _ => None,
        };
        if let Some((length, operator)) = complete {
            // Behind an expression, the next token could be shifted instead.
            let rival = next
                .filter(|_| stack.last() == Some(&b'E'))
                .and_then(find)
                .filter(|op| op.1 != Fix::Prefix);
            let reduce = match (operator, rival) {
                (Some(operator), Some(rival)) => match operator.2.cmp(&rival.2) {
                    std::cmp::Ordering::Greater => true,
                    std::cmp::Ordering::Less => false,
                    std::cmp::Ordering::Equal => match rival.3 {
                        Assoc::Left => true,
                        Assoc::Right => false,
                        Assoc::Nonassoc => return false,
                    },
                },
                _ => true,
            };
            if reduce {
                stack.truncate(stack.len() - length);
                stack.push(b'E');
                continue;
            }
        }
        let Some(next) = next else { return stack == b"E" };
        let after_operand = matches!(stack.last(), Some(b'E'));
        let is_possible = match next {
            b'a' | b'(' => !after_operand,
            b')' => after_operand && stack.iter().rev().nth(1) == Some(&b'('),
            letter => match find(letter).map(|op| op.1) {
                Some(Fix::Prefix) => !after_operand,
                Some(_) => after_operand,
                None => false,
            },
        };
        if !is_possible {
            return false;
        }
        stack.push(next);
        at += 1;
    }
}

fn import(file: &str, ambiguity: Ambiguity) -> Grammar {
    let options = Options { ambiguity, ..Options::default() };
    pleach_import::from_bytes_with("x.y", file.as_bytes(), None, &options).unwrap()
}

/// How many derivations a text of one-byte tokens has.
fn derivations(grammar: &Grammar, text: &[u8]) -> u64 {
    let mut known = HashMap::new();
    of_rule(grammar, text, grammar.start, 0, text.len(), &mut known)
}

type Known = HashMap<(RuleId, usize, usize), u64>;

fn of_rule(g: &Grammar, text: &[u8], rule: RuleId, i: usize, j: usize, known: &mut Known) -> u64 {
    if let Some(count) = known.get(&(rule, i, j)) {
        return *count;
    }
    let productions = g.rule(rule).productions.clone();
    let count = productions
        .iter()
        .map(|id| of_symbols(g, text, &g.production(*id).symbols, i, j, known))
        .sum();
    known.insert((rule, i, j), count);
    count
}

/// No symbol here is empty, so each takes at least one byte.
fn of_symbols(
    g: &Grammar,
    text: &[u8],
    symbols: &[Symbol],
    i: usize,
    j: usize,
    known: &mut Known,
) -> u64 {
    match symbols {
        [] => u64::from(i == j),
        _ if j - i < symbols.len() => 0,
        [Symbol::Token(token), rest @ ..] => {
            if g.token(*token).literal() == Some(&text[i..=i]) {
                of_symbols(g, text, rest, i + 1, j, known)
            } else {
                0
            }
        }
        [Symbol::Rule(rule)] => of_rule(g, text, *rule, i, j, known),
        [Symbol::Rule(rule), rest @ ..] => (i + 1..j)
            .map(|k| of_rule(g, text, *rule, i, k, known) * of_symbols(g, text, rest, k, j, known))
            .sum(),
    }
}

fn all_texts(alphabet: &[u8], max_length: usize) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..max_length {
        let to = all.len();
        for at in from..to {
            all.extend(
                alphabet.iter().map(|byte| [&all[at][..], &[*byte]].concat()).collect::<Vec<_>>(),
            );
        }
        from = to;
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, failure_persistence: None, ..Default::default() })]

    #[test]
    fn accepted_texts_have_one_derivation_and_others_none(table in table()) {
        let file = yacc_file(&table);
        let kept = import(&file, Ambiguity::Keep);
        let dropped = import(&file, Ambiguity::Drop);
        let alphabet: Vec<u8> = b"a".iter().copied().chain(table.iter().map(|op| op.0)).collect();
        let max_length = if alphabet.len() > 4 { 5 } else { 7 };
        for text in all_texts(&alphabet, max_length).into_iter().chain([b"p(aqa)ra".to_vec(), b"(a)".to_vec()]) {
            let accepted = accepts(&table, &text);
            let shown = String::from_utf8_lossy(&text);
            prop_assert_eq!(derivations(&dropped, &text), u64::from(accepted), "{} in\n{}", shown, file);
            prop_assert!(!accepted || derivations(&kept, &text) > 0, "{} in\n{}", shown, file);
        }
    }
}

#[test]
fn else_belongs_to_the_nearest_if() {
    let file = "%nonassoc LOW\n%nonassoc 'e'\n%%\ns: 'x' | 'i' s %prec LOW | 'i' s 'e' s | 'w' s ;";
    let kept = import(file, Ambiguity::Keep);
    let dropped = import(file, Ambiguity::Drop);
    let mut ambiguous = 0;
    for text in all_texts(b"xiew", 7) {
        let (before, after) = (derivations(&kept, &text), derivations(&dropped, &text));
        assert_eq!(after, before.min(1), "{}", String::from_utf8_lossy(&text));
        ambiguous += u64::from(before > 1);
    }
    assert!(ambiguous > 10, "{ambiguous}");
}
