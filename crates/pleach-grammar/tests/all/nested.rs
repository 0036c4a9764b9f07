//! Sentences with nested choices.

use pleach_grammar::detokenize::Detokenizer;
use pleach_grammar::sample::Nested;
use std::collections::HashSet;
use std::sync::Arc;

fn sentences(text: &str, max_chains: usize) -> Vec<String> {
    let grammar = Arc::new(pleach_import::from_bytes("n.ebnf", text.as_bytes(), None).unwrap());
    let detokenizer = Detokenizer::new(&grammar).unwrap();
    let trees = Nested::new(grammar.clone(), max_chains, 1);
    trees.map(|tree| String::from_utf8(detokenizer.sentence(&tree)).unwrap()).collect()
}

const BLOCKS: &str = "s ::= item*\nitem ::= 'fn' block | statement\n\
    statement ::= 'loop' statement | 'try' block (catch | finally)? | 'stop' 'far'? | block | e ';'\n\
    catch ::= 'catch' block\nfinally ::= 'finally' block\nblock ::= '{' item* '}'\ne ::= 'x' | '(' e ')' | '-' e\n\
    space ::= ' '+\n@skip space\n";

#[test]
fn choices_are_nested_across_rules_without_alternatives() {
    let all = sentences(BLOCKS, 10_000);
    let has = |wanted: &str| all.iter().any(|s| s.replace(' ', "") == wanted);
    for wanted in [
        "looptry{stop}",
        "fn{try{stop}}",
        "try{}catch{stop}",
        "looptry{}catch{stop}",
        "looptry{}finally{stop}",
        "looploopstopfar",
        "fn{loopstop}",
        "((-x));",
        "looploopx;",
    ] {
        assert!(has(wanted), "{wanted}: {all:#?}");
    }
    // `x;` and `(x)` are not a nesting: an expression derives no statement.
    assert!(!has("loop(x);"), "{all:#?}");
    // Short chains come first.
    let place = |wanted: &str| all.iter().position(|s| s.replace(' ', "") == wanted);
    assert!(place("loopstop") < place("looploopstop"));
    assert!(place("looploopstop") < place("looplooploopstop"));
}

#[test]
fn the_number_of_chains_is_limited() {
    let all = sentences(BLOCKS, 10_000);
    assert!(all.len() > 500 && all.len() < 10_000, "{}", all.len());
    let few = sentences(BLOCKS, 100);
    assert!(few.len() > 50 && few.len() <= 300, "{few:?}");
    assert_eq!(few.iter().collect::<HashSet<_>>().len(), few.len());
    assert!(sentences("s ::= 'a' 'b'\n", 100).is_empty());
    assert!(sentences("s ::= 'a' | 'b' s\n", 0).is_empty());
}
