//! Every reported ambiguity is real, and ambiguity in short sentences is found.

use std::collections::HashMap;

use crate::common::{grammar, names, random_grammar, sentences};
use pleach_grammar::ambiguity::{Limits, Verdict, Witness, search};
use pleach_grammar::{Analysis, Grammar, RuleId, Symbol, TokenId};

fn verdict(g: &Grammar) -> Verdict {
    search(g, &Analysis::new(g), Limits { all: 20_000, conflict: 20_000 })
}

fn witnesses(text: &str) -> Vec<String> {
    let g = grammar(text);
    let Verdict::Ambiguous(all) = verdict(&g) else { panic!("no ambiguity found in\n{text}") };
    all.iter().for_each(|w| check_witness(&g, w, text));
    all.iter().map(|w| w.note(&g).to_string()).collect()
}

/// Counts derivations of a grammar in which no rule derives itself.
struct Derivations<'a> {
    grammar: &'a Grammar,
    /// By rule: the length of its shortest string.
    shortest: Vec<u64>,
    tokens: &'a [TokenId],
    cache: HashMap<(RuleId, usize, usize), u64>,
}

impl Derivations<'_> {
    fn of(grammar: &Grammar, rule: RuleId, tokens: &[TokenId]) -> u64 {
        let shortest = Analysis::new(grammar).length;
        let mut this = Derivations { grammar, shortest, tokens, cache: HashMap::new() };
        this.of_rule(rule, 0, tokens.len())
    }

    fn shortest(&self, symbols: &[Symbol]) -> u64 {
        let one = |s: &Symbol| match s {
            Symbol::Token(_) => 1,
            Symbol::Rule(r) => self.shortest[r.index()],
        };
        symbols.iter().map(one).fold(0, u64::saturating_add)
    }

    fn of_rule(&mut self, rule: RuleId, from: usize, to: usize) -> u64 {
        if let Some(&count) = self.cache.get(&(rule, from, to)) {
            return count;
        }
        let grammar = self.grammar;
        let productions = grammar.rule(rule).productions.iter();
        let count =
            productions.map(|&p| self.of_symbols(&grammar.production(p).symbols, from, to)).sum();
        self.cache.insert((rule, from, to), count);
        count
    }

    fn of_symbols(&mut self, symbols: &[Symbol], from: usize, to: usize) -> u64 {
        let Some((first, rest)) = symbols.split_first() else { return u64::from(from == to) };
        let mut count = 0;
        for end in from..=to {
            if self.shortest(&[*first]) > (end - from) as u64
                || self.shortest(rest) > (to - end) as u64
            {
                continue;
            }
            let one = match first {
                Symbol::Token(t) => u64::from(self.tokens[from..end] == [*t]),
                Symbol::Rule(r) => self.of_rule(*r, from, end),
            };
            if one > 0 {
                count += one * self.of_symbols(rest, end, to);
            }
        }
        count
    }
}

/// Checks that the sentence and its part have several derivations.
fn check_witness(g: &Grammar, witness: &Witness, text: &str) {
    let part = &witness.sentence[witness.part.clone()];
    assert!(Derivations::of(g, witness.rule, part) > 1, "{} in\n{text}", names(g, part));
    let whole = &witness.sentence;
    assert!(Derivations::of(g, g.start, whole) > 1, "{} in\n{text}", names(g, whole));
}

#[test]
fn textbook_grammars() {
    assert_eq!(
        witnesses("s: 'x' '=' e ';'\ne: e '+' e | e '-' e | num"),
        ["test:2:1: note: ambiguous: num + num + num is e in two ways, both by \"e: e \"+\" e\" \
             (line 2), as in x = num + num + num ;"]
    );
    assert_eq!(
        witnesses("s: a | b\na: 'x' 'y'\nb: 'x' c\nc: 'y'"),
        ["test:1:1: note: ambiguous: x y is s in two ways, by \"s: a\" (line 1) and by \
             \"s: b\" (line 1)"]
    );
    // `y x` has two derivations: either `a?` can be the empty one.
    assert_eq!(witnesses("s: a? a? 'x'\na: 'y'").len(), 1);
}

/// The shortest ambiguous sentence has eleven tokens, and the grammar has dozens of
/// operators.
#[test]
fn the_dangling_else_is_found() {
    let levels: String = (0..12)
        .map(|n| {
            format!("e{n}: e{n} 'a{n}' e{} | e{n} 'b{n}' '?' e{} | e{}\n", n + 1, n + 1, n + 1)
        })
        .collect();
    let text = format!(
        "program: s*\ns: 'if' '(' e0 ')' s | 'if' '(' e0 ')' s 'else' s | e0 ';' | '{{' s* '}}'\n\
         {levels}e12: num | id | string | '(' e0 ')' | e12 '[' e0 ']' | e12 '.' id\n"
    );
    let found = witnesses(&text);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("if ( num ) if ( num ) "), "{}", found[0]);
}

#[test]
fn unambiguous_grammars_are_not_reported() {
    for (text, proved) in [
        ("e: e '+' t | t\nt: t '*' f | f\nf: num | '(' e ')'", true),
        // Palindromes: unambiguous, but not LR.
        ("p: 'a' p 'a' | 'b' p 'b' | 'a' | 'b' |", false),
    ] {
        match verdict(&grammar(text)) {
            Verdict::Unambiguous => assert!(proved, "{text}"),
            Verdict::Unknown { tokens } => assert!(!proved && tokens > 8, "{tokens}: {text}"),
            other => panic!("{other:?}: {text}"),
        }
    }
    assert!(matches!(verdict(&grammar("s: s | 'x'")), Verdict::Endless));
}

#[test]
fn dropping_precedence_removes_ambiguity() {
    use pleach_import::{Ambiguity, Options, from_bytes_with};
    let file = "%token NUM\n%nonassoc '<'\n%left '+' '-'\n%left '*'\n%right '^'\n%precedence NEG\n%%\n\
                e: NUM | e '+' e | e '-' e | e '*' e | e '^' e | e '<' e | '-' e %prec NEG\n | '(' e ')';\n";
    let import = |ambiguity| {
        let options = Options { ambiguity, ..Options::default() };
        from_bytes_with("x.y", file.as_bytes(), None, &options).unwrap()
    };
    assert!(matches!(verdict(&import(Ambiguity::Keep)), Verdict::Ambiguous(_)));
    let dropped = verdict(&import(Ambiguity::Drop));
    assert!(!matches!(dropped, Verdict::Ambiguous(_) | Verdict::Endless), "{dropped:?}");
}

#[test]
fn short_sentences_decide() {
    let mut random = fastrand::Rng::with_seed(41);
    let (mut ambiguous, mut proved) = (0, 0);
    for _ in 0..300 {
        let (text, g) = random_grammar(&mut random, 4);
        if Analysis::new(&g).cyclic_rule().is_some() {
            continue;
        }
        let twice = || {
            let mut all = sentences(&g, 5).into_iter();
            all.find(|sentence| Derivations::of(&g, g.start, sentence) > 1)
        };
        match verdict(&g) {
            Verdict::Endless => panic!("{text}"),
            Verdict::Ambiguous(all) => {
                all.iter().for_each(|witness| check_witness(&g, witness, &text));
                ambiguous += 1;
            }
            Verdict::Unambiguous => {
                assert_eq!(twice(), None, "{text}");
                proved += 1;
            }
            Verdict::Unknown { .. } => assert_eq!(twice(), None, "{text}"),
        }
    }
    assert!(ambiguous > 50 && proved > 25, "{ambiguous} {proved}");
}
