//! Where a token is: `ret`, `arg0->t.token`, `*arg1`, `ret.kind`, `@token`.

use crate::instrument::llvm::{Context, Debug, Module, Shape, Value};
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    start: Start,
    steps: Vec<Step>,
    /// What all that leads to is a pointer to the token.
    pointer: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Start {
    Result,
    Argument(usize),
    Global(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// `->name`
    Arrow(String),
    /// `.name`
    Dot(String),
}

impl Place {
    pub fn result() -> Place {
        Place { start: Start::Result, steps: Vec::new(), pointer: false }
    }

    /// Reads what a person wrote; the error says what may be written.
    pub fn parse(text: &str) -> Result<Place, String> {
        let wrong =
            || format!("`{text}` is no place: ret, ret->kind, arg0->t.token, *arg1, @token");
        let (pointer, rest) = match text.strip_prefix('*') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let end = rest.find(['.', '-']).unwrap_or(rest.len());
        let (head, mut rest) = rest.split_at(end);
        let start = match head {
            "ret" => Start::Result,
            _ if head.starts_with('@') && is_name(&head[1..]) => Start::Global(head[1..].into()),
            _ => {
                let number = head.strip_prefix("arg").ok_or_else(wrong)?;
                Start::Argument(number.parse().map_err(|_| wrong())?)
            }
        };
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let (arrow, after) = match rest.strip_prefix("->") {
                Some(after) => (true, after),
                None => (false, rest.strip_prefix('.').ok_or_else(wrong)?),
            };
            let end = after.find(['.', '-']).unwrap_or(after.len());
            let (name, tail) = after.split_at(end);
            if !is_name(name) {
                return Err(wrong());
            }
            steps.push(if arrow { Step::Arrow(name.into()) } else { Step::Dot(name.into()) });
            rest = tail;
        }
        Ok(Place { start, steps, pointer })
    }

    /// Whether it takes types to find it.
    pub fn needs_types(&self) -> bool {
        *self != Place::result()
    }
}

fn is_name(text: &str) -> bool {
    let first = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    first && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(if self.pointer { "*" } else { "" })?;
        match &self.start {
            Start::Result => f.write_str("ret")?,
            Start::Argument(n) => write!(f, "arg{n}")?,
            Start::Global(name) => write!(f, "@{name}")?,
        }
        self.steps.iter().try_for_each(|s| match s {
            Step::Arrow(name) => write!(f, "->{name}"),
            Step::Dot(name) => write!(f, ".{name}"),
        })
    }
}

/// A place in a function of a module.
pub struct Found<'a> {
    pub base: Base,
    /// What is added on the way; what is there is the next address.
    pub offsets: Vec<i64>,
    /// As the runtime has it, see [`shape`].
    pub shape: u64,
    pub token: Debug<'a>,
}

pub enum Base {
    Value(Value),
    /// The result is the address.
    Result,
    /// The result lies where it is loaded from.
    ResultInMemory,
}

/// Width and sign in one number, as `pleach-rt` reads them.
pub fn shape(width: u32, signed: bool) -> u64 {
    u64::from(width) | u64::from(signed) << 8
}

/// Follows a place by the types of a function. The error is for the person.
pub fn follow<'a>(
    ctx: &'a Context,
    module: &Module,
    function: Value,
    place: &Place,
) -> Result<Found<'a>, String> {
    let name = function.name();
    let signature = Debug::of_function(ctx, function).and_then(Debug::signature);
    let (result, arguments) = signature.unwrap_or_default();
    let sret = function.has_attribute_at(1, "sret");
    let params = function.params();
    let has_types = result.is_some() || !arguments.is_empty();
    let has_some = !params.is_empty() || function.value_type().returns() != ctx.void();
    if has_some && !has_types && !matches!(place.start, Start::Global(_)) {
        return Err("the debug information has no types to find it by; compile with -g".into());
    }
    let (base, mut at) = match &place.start {
        Start::Result => {
            let t = result.ok_or_else(|| format!("{name} returns nothing"))?;
            match t.shape() {
                Shape::Pointer => (Base::Result, t),
                _ if sret => (Base::Value(params[0]), t),
                _ => (Base::ResultInMemory, t),
            }
        }
        Start::Argument(n) => {
            let t = arguments.get(*n).copied().flatten();
            let t = t.ok_or_else(|| format!("{name} has no arg{n}"))?;
            if params.len() - usize::from(sret) != arguments.len() {
                return Err(format!(
                    "the arguments of {name} are spread over registers; mark the token in the \
                     source with pleach_token"
                ));
            }
            (Base::Value(params[n + usize::from(sret)]), t)
        }
        Start::Global(global) => {
            let v = module.global(global);
            let v = v.ok_or_else(|| format!("there is no global {global} where {name} is"))?;
            let t = Debug::of_global(ctx, v);
            (Base::Value(v), t.ok_or_else(|| format!("the type of {global} is not known"))?)
        }
    };
    // Whether the address so far is that of a thing of type `at`, or its value.
    let mut is_value = match (&place.start, &base) {
        (Start::Argument(_), _) | (_, Base::Result) => true,
        (Start::Global(_), _) | (_, Base::Value(_) | Base::ResultInMemory) => false,
    };
    let mut offsets = vec![0i64];
    let mut so_far = Place { steps: Vec::new(), pointer: false, ..place.clone() };
    for step in &place.steps {
        let (Step::Arrow(field) | Step::Dot(field)) = step;
        if let Step::Arrow(_) = step {
            at = pointed(at).ok_or_else(|| format!("{so_far} is no pointer to a structure"))?;
            if !std::mem::take(&mut is_value) {
                offsets.push(0);
            }
        } else if is_value {
            return Err(format!("{so_far} is no structure in memory"));
        }
        let member = at.member(field);
        let (offset, t) = member
            .ok_or_else(|| format!("{so_far} has no member {field} that fills whole bytes"))?;
        if let Some(last) = offsets.last_mut() {
            *last += offset as i64;
        }
        at = t;
        so_far.steps.push(step.clone());
    }
    if place.pointer {
        at = pointed(at).ok_or_else(|| format!("{so_far} is no pointer"))?;
        if !std::mem::take(&mut is_value) {
            offsets.push(0);
        }
    }
    if is_value {
        return Err(format!("{so_far} is a copy that the caller never sees"));
    }
    let signed = match at.shape() {
        Shape::Integer { signed } => signed,
        Shape::Enumeration => at.bits() >= 32,
        _ => return Err(format!("{so_far} is no integer and no enumeration")),
    };
    let width = at.bits() as u32;
    if !matches!(width, 8 | 16 | 32 | 64) {
        return Err(format!("{so_far} has {width} bits"));
    }
    if let Base::Value(v) = base
        && v.ty() != ctx.pointer()
    {
        return Err(format!("{so_far} is not in memory"));
    }
    Ok(Found { base, offsets, shape: shape(width, signed), token: at })
}

fn pointed(t: Debug) -> Option<Debug> {
    (t.shape() == Shape::Pointer).then(|| t.target()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_they_are_written() {
        for text in ["ret", "ret->kind", "ret.kind", "arg0->t.token", "*arg12", "@tok", "@t.a->b"] {
            assert_eq!(Place::parse(text).map(|p| p.to_string()), Ok(text.to_string()));
        }
        for text in ["", "arg", "argx", "result", "ret-kind", "ret->", "@", "arg0->t.", "**arg0"] {
            assert!(Place::parse(text).is_err(), "{text}");
        }
    }
}
