//! The JSON of the fuzzing book, F1 and the AFL++ grammar mutator.
//!
//! The file is an object that has a list of alternatives for each name `<a>`. An
//! alternative is a text with names in angle brackets, or a list of names and texts; in
//! a list, other brackets are plain text. The start is `<start>`, or else the first
//! name. The format has neither tokens nor separators: every text becomes a token.

use super::Input;
use crate::ImportError;
use crate::json::{self, Json, Value};
use crate::text::Source;
use crate::tree::{Lowerer, Tree};
use pleach_grammar::builder::Attributes;
use pleach_grammar::{Grammar, Language, Lexing};

pub(super) fn recognises(bytes: &[u8]) -> bool {
    json::is_object(bytes)
}

pub(super) fn import(input: &Input) -> Result<Grammar, ImportError> {
    let source = Source::text(input.file, input.bytes)?;
    let json = Json::parse(&source)?;
    let Some(rules) = json.object() else {
        return Err(source.error(json.at, "expected an object of rules"));
    };
    let mut lowerer = Lowerer::new(&source);
    for (name, alternatives) in rules {
        lowerer.builder.rule(name, source.place(alternatives.at));
    }
    for (name, alternatives) in rules {
        let Some(items) = alternatives.array() else {
            let message = format!("expected the list of alternatives of {name}");
            return Err(source.error(alternatives.at, message));
        };
        for item in items {
            let place = source.place(item.at);
            let (tree, weight) = alternative(&source, &mut lowerer, item)?;
            let body = lowerer.lower(&tree)?;
            let rule = lowerer.builder.rule(name, place.clone());
            let attributes = Attributes { weight, ..Attributes::at(place) };
            lowerer.builder.production(rule, body, attributes);
        }
    }
    if let Some((name, value)) = rules.iter().find(|(name, _)| name == "<start>") {
        lowerer.builder.start(name, source.place(value.at));
    }
    Ok(Grammar { lexing: Lexing::Context, ..lowerer.builder.finish()? })
}

/// An alternative and its weight. It is a text, a list, or a pair of a text and its
/// options, of which only `prob` is used.
fn alternative(
    source: &Source,
    lowerer: &mut Lowerer,
    item: &Json,
) -> Result<(Tree, f64), ImportError> {
    let wrong = |at| source.error(at, "expected a text or a list of texts");
    match &item.value {
        Value::String(text) => Ok((split(text, item.at), 1.0)),
        Value::Array(parts) => {
            if let [text, Json { value: Value::Object(_), .. }] = &parts[..] {
                let options = &parts[1];
                let weight = match options.get("prob").map(|prob| &prob.value) {
                    Some(Value::Number(prob)) if *prob > 0.0 => *prob,
                    _ => 1.0,
                };
                if options.object().is_some_and(|o| o.iter().any(|(name, _)| name != "prob")) {
                    let text = "options other than prob are ignored";
                    lowerer.note(options.at, Language::Larger, text);
                }
                let text = text.string().ok_or_else(|| wrong(text.at))?;
                return Ok((split(text, item.at), weight));
            }
            let parts = parts.iter().map(|part| {
                let text = part.string().ok_or_else(|| wrong(part.at))?;
                let is_rule = lowerer.builder.find_rule(text).is_some();
                Ok(if is_rule {
                    Tree::Name { name: text.into(), at: part.at }
                } else {
                    Tree::Literal { text: text.into(), any_case: false, at: part.at }
                })
            });
            Ok((Tree::seq(parts.collect::<Result<_, ImportError>>()?), 1.0))
        }
        _ => Err(wrong(item.at)),
    }
}

/// Splits `"<a>+<b>"` into a name, a text and a name. A name has no blanks.
fn split(text: &str, at: usize) -> Tree {
    let mut parts = Vec::new();
    let literal = |text: &str| Tree::Literal { text: text.into(), any_case: false, at };
    let mut rest = text;
    let mut plain = 0;
    while let Some(open) = rest[plain..].find('<').map(|found| plain + found) {
        let inside = &rest[open + 1..];
        let close = inside.find(['<', '>', ' ']);
        match close {
            Some(length) if inside[length..].starts_with('>') => {
                if open > 0 {
                    parts.push(literal(&rest[..open]));
                }
                let end = open + 1 + length + 1;
                parts.push(Tree::Name { name: rest[open..end].into(), at });
                rest = &rest[end..];
                plain = 0;
            }
            // A bracket that opens no name.
            _ => plain = open + 1,
        }
    }
    if !rest.is_empty() {
        parts.push(literal(rest));
    }
    Tree::seq(parts)
}
