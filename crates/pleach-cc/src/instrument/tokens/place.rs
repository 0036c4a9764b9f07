//! Where a token is: `ret`, `arg0->t.token`, `*arg1`, `ret.kind`, `@token`. Parses such
//! a place and resolves it with the types of a function.

use crate::instrument::llvm::{Context, Debug, Module, Shape, Value};
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    start: Start,
    steps: Vec<Step>,
    /// True for `*place`: the path leads to a pointer to the token.
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

    /// Parses what the user wrote. The error lists valid places.
    pub fn parse(text: &str) -> Result<Place, String> {
        let wrong = || {
            format!(
                "`{text}` is not a place; valid are, for example, ret, ret->kind, ret.kind, arg0->t.token, *arg1 and @token"
            )
        };
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

    /// True if type information is needed to resolve the place.
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

/// A place, resolved in one function.
pub struct Resolved<'a> {
    pub base: Base,
    /// One offset for each address on the path. The runtime adds the first to the base
    /// and loads the next address from there, and so on.
    pub offsets: Vec<i64>,
    /// Width and sign of the token, see [`shape`].
    pub shape: u64,
    pub token: Debug<'a>,
}

/// Where a path starts.
pub enum Base {
    /// This value is the start address.
    Value(Value),
    /// The function returns the start address.
    Result,
    /// The path starts in the variable that the function loads its result from.
    ResultInMemory,
}

/// Width and sign in one number, as `pleach-rt` reads them.
pub fn shape(width: u32, signed: bool) -> u64 {
    u64::from(width) | u64::from(signed) << 8
}

/// Resolves a place with the types in the debug information. The error is a message
/// for the user.
pub fn resolve<'a>(
    ctx: &'a Context,
    module: &Module,
    function: Value,
    place: &Place,
) -> Result<Resolved<'a>, String> {
    let (base, start_type) = find_base(ctx, module, function, place)?;
    // An argument and a returned pointer are values; the other starts are in memory.
    let is_value = match (&place.start, &base) {
        (Start::Argument(_), _) | (_, Base::Result) => true,
        (Start::Global(_), _) | (_, Base::Value(_) | Base::ResultInMemory) => false,
    };
    let so_far = Place { steps: Vec::new(), pointer: false, ..place.clone() };
    let mut path = Path { ty: start_type, is_value, offsets: vec![0], so_far };
    for step in &place.steps {
        path.follow(step)?;
    }
    if place.pointer {
        path.dereference("a pointer")?;
    }
    let Path { ty: token, is_value, offsets, so_far } = path;
    if is_value {
        return Err(format!(
            "{so_far} is a copy that the caller never sees; if it points to the token, write \
             *{so_far}"
        ));
    }
    let signed = match token.shape() {
        Shape::Integer { signed } => signed,
        Shape::Enumeration => token.bits() >= 32,
        _ => return Err(format!("{so_far} is neither an integer nor an enumeration")),
    };
    let width = token.bits() as u32;
    if !matches!(width, 8 | 16 | 32 | 64) {
        return Err(format!("{so_far} has {width} bits; a token has 8, 16, 32 or 64"));
    }
    if let Base::Value(v) = base
        && v.ty() != ctx.pointer()
    {
        return Err(format!("{so_far} is not in memory"));
    }
    Ok(Resolved { base, offsets, shape: shape(width, signed), token })
}

/// The start of a path and its type.
fn find_base<'a>(
    ctx: &'a Context,
    module: &Module,
    function: Value,
    place: &Place,
) -> Result<(Base, Debug<'a>), String> {
    let name = function.name();
    let signature = Debug::of_function(ctx, function).and_then(Debug::signature);
    let (result, arguments) = signature.unwrap_or_default();
    let has_sret = function.has_attribute_at(1, "sret");
    let params = function.params();
    let has_types = result.is_some() || !arguments.is_empty();
    let needs_types = !params.is_empty() || function.value_type().returns() != ctx.void();
    if needs_types && !has_types && !matches!(place.start, Start::Global(_)) {
        return Err("the debug information has no types; compile with -g".into());
    }
    Ok(match &place.start {
        Start::Result => {
            let t = result.ok_or_else(|| format!("{name} returns nothing"))?;
            match t.shape() {
                Shape::Pointer => (Base::Result, t),
                _ if has_sret => (Base::Value(params[0]), t),
                _ => (Base::ResultInMemory, t),
            }
        }
        Start::Argument(n) => {
            let t = arguments.get(*n).copied().flatten();
            let t = t.ok_or_else(|| match arguments.len() {
                0 => format!("{name} has no arg{n}, because it takes no arguments"),
                1 => format!("{name} has no arg{n}; its only argument is arg0"),
                count => format!("{name} has no arg{n}; it has arg0 to arg{}", count - 1),
            })?;
            if params.len() - usize::from(has_sret) != arguments.len() {
                return Err(format!(
                    "{name} gets a structure in registers, so its arguments cannot be numbered; \
                     mark the token in the source with pleach_token"
                ));
            }
            (Base::Value(params[n + usize::from(has_sret)]), t)
        }
        Start::Global(global) => {
            let v = module.global(global);
            let v = v.ok_or_else(|| format!("the source file of {name} has no global {global}"))?;
            let t = Debug::of_global(ctx, v);
            (Base::Value(v), t.ok_or_else(|| format!("the type of {global} is not known"))?)
        }
    })
}

/// A path that is being followed.
struct Path<'a> {
    /// The type reached so far.
    ty: Debug<'a>,
    /// True if the base is a value of this type, false if it is the address of one.
    is_value: bool,
    offsets: Vec<i64>,
    /// The steps so far, for messages.
    so_far: Place,
}

impl Path<'_> {
    fn follow(&mut self, step: &Step) -> Result<(), String> {
        let (Step::Arrow(field) | Step::Dot(field)) = step;
        match step {
            Step::Arrow(_) => self.dereference("a pointer to a structure")?,
            Step::Dot(_) if self.is_value => {
                return Err(format!("{} is not a structure in memory", self.so_far));
            }
            Step::Dot(_) => {}
        }
        let member = self.ty.member(field);
        let (offset, t) = member.ok_or_else(|| {
            format!("{} has no member {field} that fills whole bytes", self.so_far)
        })?;
        if let Some(last) = self.offsets.last_mut() {
            *last += offset as i64;
        }
        self.ty = t;
        self.so_far.steps.push(step.clone());
        Ok(())
    }

    fn dereference(&mut self, expected: &str) -> Result<(), String> {
        let target = (self.ty.shape() == Shape::Pointer).then(|| self.ty.target()).flatten();
        self.ty = target.ok_or_else(|| format!("{} is not {expected}", self.so_far))?;
        if !std::mem::take(&mut self.is_value) {
            self.offsets.push(0);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_printed_as_they_were_parsed() {
        for text in ["ret", "ret->kind", "ret.kind", "arg0->t.token", "*arg12", "@tok", "@t.a->b"] {
            assert_eq!(Place::parse(text).map(|p| p.to_string()), Ok(text.to_string()));
        }
        for text in ["", "arg", "argx", "result", "ret-kind", "ret->", "@", "arg0->t.", "**arg0"] {
            assert!(Place::parse(text).is_err(), "{text}");
        }
    }
}
