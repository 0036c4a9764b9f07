//! Writes grammars in other formats: W3C's EBNF, ANTLR 4, the JSON of F1 and the
//! fuzzing book, and HAMPI's `cfg`.
//!
//! All four have rules, alternatives and quoted literals. They differ in names, in how
//! a byte is written, and in classes and repetitions. JSON has neither of these, so
//! patterns become rules there.

use crate::grammar::{Grammar, Pattern, RuleId, Symbol};
use crate::lexer::Lexer;
use pleach_automata::dfa::{self, Dfa};
use pleach_automata::{ByteSet, Regex};
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Ebnf,
    G4,
    Json,
    Hampi,
}

#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    #[error("{place}: token {token} has no pattern, which this format cannot express")]
    Unknown { token: String, place: crate::Place },
    #[error(transparent)]
    Pattern(#[from] dfa::TooLarge),
}

/// The grammar as text, and notes on what is lost. Tokens that no rule uses need no
/// pattern.
pub fn convert(grammar: &Grammar, form: Form) -> Result<(String, Vec<String>), ConvertError> {
    for symbol in grammar.productions.iter().flat_map(|p| &p.symbols) {
        let Symbol::Token(id) = *symbol else { continue };
        let token = grammar.token(id);
        if token.pattern == Pattern::Unknown {
            let (token, place) = (token.name.clone(), token.place.clone());
            return Err(ConvertError::Unknown { token, place });
        }
    }
    let mut notes = Vec::new();
    let high = |p: &Pattern| match p {
        Pattern::Literal(bytes) => bytes.iter().any(|b| *b > 127),
        Pattern::Regex(regex) => has_high(regex),
        Pattern::Unknown => false,
    };
    if form != Form::Hampi && grammar.tokens.iter().any(|t| high(&t.pattern)) {
        notes.push(
            "bytes above 127 are written as code points, which other tools read as UTF-8".into(),
        );
    }
    if !grammar.separators.is_empty() && matches!(form, Form::Json | Form::Hampi) {
        notes.push("separators are left out: this format cannot express them".into());
    }
    let names = Names::new(grammar, form);
    let text = match form {
        Form::Json => json(grammar, &names)?,
        _ => rules(grammar, form, &names),
    };
    Ok((text, notes))
}

fn has_high(regex: &Regex) -> bool {
    match regex {
        Regex::Empty => false,
        Regex::Class(set) => set.iter().any(|b| b > 127),
        Regex::Concat(parts) | Regex::Alt(parts) => parts.iter().any(has_high),
        Regex::Repeat { inner, .. } => has_high(inner),
    }
}

/// Reserved words of ANTLR, and its token for the end of the input.
const ANTLR_RESERVED: [&str; 15] = [
    "catch", "channels", "finally", "fragment", "grammar", "import", "lexer", "locals", "mode",
    "options", "parser", "returns", "throws", "tokens", "EOF",
];

/// Unique names that the format allows.
struct Names {
    rules: Vec<String>,
    tokens: Vec<String>,
}

impl Names {
    fn new(grammar: &Grammar, form: Form) -> Names {
        let mut used: HashSet<String> = match form {
            Form::G4 => ANTLR_RESERVED.iter().map(|&word| word.into()).collect(),
            _ => HashSet::new(),
        };
        let mut make = |name: &str, is_token: bool| {
            let mut allowed: String = name
                .chars()
                .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
                .skip_while(|c| !c.is_ascii_alphabetic())
                .collect();
            if allowed.is_empty() {
                allowed = "x".into();
            }
            // In ANTLR, the first letter of a token is a capital, and of a rule it is not.
            if form == Form::G4 {
                let first = allowed.remove(0);
                let first =
                    if is_token { first.to_ascii_uppercase() } else { first.to_ascii_lowercase() };
                allowed.insert(0, first);
            }
            let mut unique = allowed.clone();
            let mut number = 1;
            while !used.insert(unique.clone()) {
                number += 1;
                unique = format!("{allowed}_{number}");
            }
            unique
        };
        let rules = grammar.rules.iter().map(|r| make(&r.name, false)).collect();
        let tokens = grammar.tokens.iter().map(|t| make(&t.name, true)).collect();
        Names { rules, tokens }
    }
}

/// The grammar in any format but JSON.
fn rules(grammar: &Grammar, form: Form, names: &Names) -> String {
    let (is, bar, end) = match form {
        Form::Ebnf => (" ::= ", "\n    | ", ""),
        Form::G4 => ("\n    : ", "\n    | ", "\n    ;"),
        Form::Hampi | Form::Json => (" := ", "\n    | ", ";"),
    };
    let mut out = String::new();
    if form == Form::G4 {
        out.push_str("grammar converted;\n\n");
    }
    let symbol = |s: &Symbol| match s {
        Symbol::Rule(r) => names.rules[r.index()].clone(),
        Symbol::Token(t) => match &grammar.token(*t).pattern {
            Pattern::Literal(bytes) if !bytes.is_empty() => literal(bytes, form),
            _ => names.tokens[t.index()].clone(),
        },
    };
    let start = grammar.start;
    let order = std::iter::once(start).chain(grammar.rule_ids().filter(|&r| r != start));
    for rule in order.filter(|&r| !grammar.rule(r).productions.is_empty()) {
        let prefix = if form == Form::Hampi { "cfg " } else { "" };
        let bodies: Vec<String> = grammar
            .rule(rule)
            .productions
            .iter()
            .map(|&p| {
                let symbols: Vec<String> =
                    grammar.production(p).symbols.iter().map(symbol).collect();
                match (symbols.is_empty(), form) {
                    (true, Form::Ebnf | Form::Hampi) => "\"\"".to_owned(),
                    _ => symbols.join(" "),
                }
            })
            .collect();
        let _ = writeln!(out, "{prefix}{}{is}{}{end}", names.rules[rule.index()], bodies.join(bar));
    }
    for id in grammar.token_ids() {
        let token = grammar.token(id);
        let prefix = if form == Form::Hampi { "cfg " } else { "" };
        if let Pattern::Regex(pattern) = &token.pattern {
            let (name, text) = (&names.tokens[id.index()], regex(pattern, form));
            if form == Form::Ebnf {
                let _ = writeln!(out, "/* @token {name} */");
            }
            let _ = writeln!(out, "{prefix}{name}{is}{text}{end}");
        }
    }
    for (i, separator) in grammar.separators.iter().enumerate() {
        let text = regex(&separator.pattern, form);
        let _ = match form {
            Form::G4 => writeln!(out, "SEPARATOR_{i}\n    : {text} -> skip\n    ;"),
            Form::Ebnf => {
                writeln!(out, "/* @skip Separator_{i} */\nSeparator_{i} ::= {text}")
            }
            Form::Json | Form::Hampi => Ok(()),
        };
    }
    out
}

fn literal(bytes: &[u8], form: Form) -> String {
    match form {
        Form::G4 => format!("'{}'", bytes.iter().map(|&b| escaped(b, form)).collect::<String>()),
        Form::Hampi | Form::Json => {
            format!("\"{}\"", bytes.iter().map(|&b| escaped(b, form)).collect::<String>())
        }
        // W3C's EBNF has no escapes: a literal is split at a byte that needs one.
        Form::Ebnf => {
            let plain = |b: u8| matches!(b, b' '..=b'~') && b != b'"';
            let mut parts = Vec::new();
            for run in bytes.chunk_by(|&a, &b| plain(a) && plain(b)) {
                match run {
                    [b] if !plain(*b) => parts.push(format!("#x{b:X}")),
                    run => parts.push(format!("\"{}\"", String::from_utf8_lossy(run))),
                }
            }
            if parts.len() == 1 { parts.remove(0) } else { format!("({})", parts.join(" ")) }
        }
    }
}

/// A byte as it is written inside quotes or brackets.
fn escaped(byte: u8, form: Form) -> String {
    match (form, byte) {
        (Form::G4, b'\'' | b'\\' | b']' | b'-') => format!("\\u{byte:04X}"),
        (Form::G4, b' '..=b'~') => (byte as char).to_string(),
        (Form::G4, _) => format!("\\u{byte:04X}"),
        (_, b'"' | b'\\' | b'\'') => format!("\\{byte:03}"),
        (_, b' '..=b'~') => (byte as char).to_string(),
        _ => format!("\\{byte:03}"),
    }
}

fn class(set: &ByteSet, form: Form) -> String {
    let ranges = set.ranges();
    match form {
        Form::Ebnf => {
            let code = |b: u8| match b {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => (b as char).to_string(),
                _ => format!("#x{b:X}"),
            };
            let range = |&(low, high): &(u8, u8)| match low == high {
                true => code(low),
                false => format!("{}-{}", code(low), code(high)),
            };
            // Letters and digits first: behind `#x20` they would be read as its digits.
            let plain = |r: &&(u8, u8)| r.0.is_ascii_alphanumeric() && r.1.is_ascii_alphanumeric();
            let first: String = ranges.iter().filter(plain).map(range).collect();
            let rest: String = ranges.iter().filter(|r| !plain(r)).map(range).collect();
            format!("[{first}{rest}]")
        }
        Form::G4 => {
            let range = |&(low, high): &(u8, u8)| match low == high {
                true => escaped(low, form),
                false => format!("{}-{}", escaped(low, form), escaped(high, form)),
            };
            format!("[{}]", ranges.iter().map(range).collect::<String>())
        }
        Form::Hampi | Form::Json => {
            let range = |&(low, high): &(u8, u8)| match low == high {
                true => literal(&[low], form),
                false => format!("['{}'-'{}']", escaped(low, form), escaped(high, form)),
            };
            let parts: Vec<String> = ranges.iter().map(range).collect();
            if parts.len() == 1 { parts[0].clone() } else { format!("({})", parts.join(" | ")) }
        }
    }
}

fn regex(pattern: &Regex, form: Form) -> String {
    match pattern {
        Regex::Empty => match form {
            Form::G4 => "()".into(),
            _ => "\"\"".into(),
        },
        Regex::Class(set) => class(set, form),
        Regex::Concat(parts) => {
            let parts: Vec<String> = parts.iter().map(|p| regex(p, form)).collect();
            format!("({})", parts.join(" "))
        }
        Regex::Alt(parts) => {
            let parts: Vec<String> = parts.iter().map(|p| regex(p, form)).collect();
            format!("({})", parts.join(" | "))
        }
        Regex::Repeat { inner, min, max } => {
            let one = regex(inner, form);
            match (min, max) {
                (0, None) => format!("({one})*"),
                (1, None) => format!("({one})+"),
                (0, Some(1)) => format!("({one})?"),
                (min, None) => {
                    format!("({} ({one})*)", vec![one.clone(); *min as usize].join(" "))
                }
                (min, Some(max)) => {
                    let mut text = String::new();
                    for _ in *min..*max {
                        let inner =
                            if text.is_empty() { String::new() } else { format!(" {text}") };
                        text = format!("({one}{inner})?");
                    }
                    let mut parts = vec![one; *min as usize];
                    parts.extend((!text.is_empty()).then_some(text));
                    format!("({})", parts.join(" "))
                }
            }
        }
    }
}

/// `{"<start>": [["<a>", "+"], …], …}`: each rule has a list of expansions, and an
/// expansion is a list of parts.
fn json(grammar: &Grammar, names: &Names) -> Result<String, ConvertError> {
    let lexer = Lexer::new(grammar)?;
    let rule = |r: RuleId| match r == grammar.start {
        true => "<start>".to_owned(),
        false => format!("<{}>", names.rules[r.index()]),
    };
    let mut all: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    for id in grammar.rule_ids() {
        let expansions = grammar.rule(id).productions.iter().map(|&p| {
            let part = |s: &Symbol| match s {
                Symbol::Rule(r) => rule(*r),
                Symbol::Token(t) => match &grammar.token(*t).pattern {
                    Pattern::Literal(bytes) => latin(bytes),
                    _ => format!("<{}>", names.tokens[t.index()]),
                },
            };
            grammar.production(p).symbols.iter().map(part).collect()
        });
        all.insert(rule(id), expansions.collect());
    }
    for id in grammar.token_ids() {
        if let Pattern::Regex(_) = grammar.token(id).pattern {
            add_automaton(&names.tokens[id.index()], &lexer.language(id), &mut all);
        }
    }
    let string = |s: &String| {
        let mut out = String::from("\"");
        for c in s.chars() {
            match c {
                '"' | '\\' => out.extend(['\\', c]),
                c if (c as u32) < 32 || (c as u32) > 126 => {
                    let _ = write!(out, "\\u{:04x}", c as u32);
                }
                c => out.push(c),
            }
        }
        out + "\""
    };
    let mut out = String::from("{\n");
    for (i, (name, expansions)) in all.iter().enumerate() {
        let list: Vec<String> = expansions
            .iter()
            .map(|e| format!("[{}]", e.iter().map(string).collect::<Vec<_>>().join(", ")))
            .collect();
        let comma = if i + 1 < all.len() { "," } else { "" };
        let _ = writeln!(out, "  {}: [{}]{comma}", string(name), list.join(", "));
    }
    out.push_str("}\n");
    Ok(out)
}

/// Bytes as the code points of the same numbers.
fn latin(bytes: &[u8]) -> String {
    bytes.iter().map(|&b| b as char).collect()
}

/// Adds a rule for each state of a token's automaton: one alternative for each byte, and
/// an empty one if the token may end.
fn add_automaton(name: &str, dfa: &Dfa, all: &mut BTreeMap<String, Vec<Vec<String>>>) {
    let state = |s: u32| match s {
        0 => format!("<{name}>"),
        s => format!("<{name}-{s}>"),
    };
    for s in 0..dfa.states() as u32 {
        let mut expansions: Vec<Vec<String>> = Vec::new();
        if !dfa.accepts(s).is_empty() {
            expansions.push(Vec::new());
        }
        for (byte, to) in dfa.moves(s) {
            let mut expansion = vec![latin(&[byte])];
            if !(dfa.moves(to).is_empty()) {
                expansion.push(state(to));
            }
            expansions.push(expansion);
        }
        if s == 0 || !dfa.moves(s).is_empty() {
            all.insert(state(s), expansions);
        }
    }
}
