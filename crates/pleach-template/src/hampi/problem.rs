//! A file with its names resolved: what is asked, without how to answer it.
//!
//! All faults of a person that are left after reading are found here. References
//! may go any way round among statements, but a `reg` or `val` must not be made of
//! itself. Chains of references can be as long as the file, so nothing here
//! recurses along them.

use super::HampiError;
use super::language::{LanguageBuilder, MOST_PARTS, Part, PartId};
use super::layout::MOST_SIZES;
use pleach_import::hampi::{self, Cfg, File, Name, NameId, Reg, Statement, Test, Val};

/// The largest size of a variable, and the longest text that an assertion is about.
pub const MOST_LENGTH: usize = 1 << 13;

/// Variables of a file.
const MOST_VARIABLES: usize = 128;

pub(super) struct Variable {
    pub name: String,
    pub low: usize,
    pub high: usize,
}

/// A piece of a value.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    Text(Box<[u8]>),
    Variable(usize),
    Value(usize),
    /// Of another value.
    Part {
        of: usize,
        offset: usize,
        length: usize,
    },
}

#[derive(Clone, Debug)]
pub(super) enum Claim {
    In {
        language: PartId,
        /// As it was written, for the check of a model.
        written: Reg,
    },
    Contains(Box<[u8]>),
    Equals(usize),
}

pub(super) struct Assertion {
    /// The value that it is about.
    pub left: usize,
    pub not: bool,
    pub claim: Claim,
}

/// What the language that a name stands for was written as.
#[derive(Clone, Debug)]
pub(super) enum Written {
    Cfg(Vec<Cfg>),
    Reg(Reg),
}

/// What a file asks.
pub struct Problem {
    pub(super) variables: Vec<Variable>,
    /// Only values that an assertion needs, each after those that it is made of.
    pub(super) values: Vec<Vec<Piece>>,
    pub(super) assertions: Vec<Assertion>,
    pub(super) parts: Vec<Part>,
    /// By number of the name.
    pub(super) written: Vec<Option<Written>>,
}

/// What a name stands for.
#[derive(Clone, Copy)]
enum Meaning {
    Variable(usize),
    Cfg,
    Reg,
    /// The number of its statement.
    Val(usize),
}

impl Problem {
    pub fn read(file: &str, bytes: &[u8]) -> Result<Problem, HampiError> {
        let file = hampi::parse(file, bytes)?;
        Resolver::new(&file)?.problem()
    }

    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().map(|v| v.name.as_str())
    }
}

struct Resolver<'a> {
    file: &'a File<'a>,
    meaning: Vec<Option<Meaning>>,
    variables: Vec<Variable>,
    /// By number of the name, what became of a variable or `val`.
    numbers: Vec<Option<usize>>,
    /// By number of the name, whether its number is being looked for.
    open: Vec<bool>,
    values: Vec<Vec<Piece>>,
    /// The longest that each value can be.
    longest: Vec<usize>,
    languages: LanguageBuilder,
}

impl<'a> Resolver<'a> {
    fn new(file: &'a File<'a>) -> Result<Resolver<'a>, HampiError> {
        let mut meaning: Vec<Option<Meaning>> = vec![None; file.names()];
        let mut variables = Vec::new();
        let mut choices = 1usize;
        for (number, statement) in file.statements.iter().enumerate() {
            let (name, new) = match statement {
                Statement::Var { name, low, high } => {
                    if *high as usize > MOST_LENGTH {
                        let message = format!("sizes may be {MOST_LENGTH} and no larger");
                        return Err(file.error(name.at, message).into());
                    }
                    let text = file.name(name.id).to_owned();
                    let (low, high) = (*low as usize, *high as usize);
                    choices *= high - low + 1;
                    if choices > MOST_SIZES || variables.len() == MOST_VARIABLES {
                        let message = format!(
                            "up to here there are more than {MOST_SIZES} combinations of sizes, or \
                             {MOST_VARIABLES} variables"
                        );
                        return Err(file.error(name.at, message).into());
                    }
                    variables.push(Variable { name: text, low, high });
                    (name, Meaning::Variable(variables.len() - 1))
                }
                Statement::Cfg { name, .. } => (name, Meaning::Cfg),
                Statement::Reg { name, .. } => (name, Meaning::Reg),
                Statement::Val { name, .. } => (name, Meaning::Val(number)),
                Statement::Assert { .. } => continue,
            };
            match (meaning[name.id.index()].replace(new), new) {
                (None, _) | (Some(Meaning::Cfg), Meaning::Cfg) => {}
                _ => {
                    let message = format!("{} is defined twice", file.name(name.id));
                    return Err(file.error(name.at, message).into());
                }
            }
        }
        if variables.is_empty() {
            return Err(file.error(0, "no variable is declared").into());
        }
        let languages = LanguageBuilder::new(file.names());
        Ok(Resolver {
            file,
            meaning,
            variables,
            numbers: vec![None; file.names()],
            open: vec![false; file.names()],
            values: Vec::new(),
            longest: Vec::new(),
            languages,
        })
    }

    fn problem(mut self) -> Result<Problem, HampiError> {
        self.check_circles()?;
        let mut written: Vec<Option<Written>> = vec![None; self.file.names()];
        for statement in &self.file.statements {
            match statement {
                Statement::Cfg { name, body } => {
                    let id = self.cfg(body)?;
                    self.languages.define(name.id, id);
                    match &mut written[name.id.index()] {
                        Some(Written::Cfg(bodies)) => bodies.push(body.clone()),
                        new => *new = Some(Written::Cfg(vec![body.clone()])),
                    }
                }
                Statement::Reg { name, body } => {
                    let id = self.reg(body)?;
                    self.languages.define(name.id, id);
                    written[name.id.index()] = Some(Written::Reg(body.clone()));
                }
                _ => {}
            }
            if self.languages.is_full() {
                let message = format!("up to here the languages have more than {MOST_PARTS} parts");
                return Err(self.error(statement.at(), message));
            }
        }
        let mut assertions = Vec::new();
        for statement in &self.file.statements {
            let Statement::Assert { left, not, test, at } = statement else { continue };
            let left = self.value(left, *at)?;
            let claim = match test {
                Test::In(reg) => Claim::In { language: self.reg(reg)?, written: reg.clone() },
                Test::Contains(text) => Claim::Contains(text.clone()),
                Test::Equals(val) => Claim::Equals(self.value(val, *at)?),
            };
            if self.languages.is_full() {
                let message = format!("up to here the languages have more than {MOST_PARTS} parts");
                return Err(self.error(*at, message));
            }
            assertions.push(Assertion { left, not: *not, claim });
        }
        let (variables, values) = (self.variables, self.values);
        Ok(Problem { variables, values, assertions, parts: self.languages.finish(), written })
    }

    fn error(&self, at: u32, message: impl Into<String>) -> HampiError {
        self.file.error(at, message).into()
    }

    fn undefined(&self, name: Name) -> HampiError {
        self.error(name.at, format!("{} is not defined", self.file.name(name.id)))
    }

    /// No `reg` is made of itself; a `cfg` may be. Depth first, with a stack of
    /// our own.
    fn check_circles(&self) -> Result<(), HampiError> {
        let mut bodies: Vec<Option<&Reg>> = vec![None; self.file.names()];
        for statement in &self.file.statements {
            if let Statement::Reg { name, body } = statement {
                bodies[name.id.index()] = Some(body);
            }
        }
        let named = |reg: &Reg| {
            let mut names = Vec::new();
            reg_names(reg, &mut names);
            names
        };
        walk(self.file.names(), &mut |id: usize| bodies[id].map(named).unwrap_or_default())
            .map_err(|name| {
                self.error(name.at, format!("{} is made of itself", self.file.name(name.id)))
            })?;
        Ok(())
    }

    fn cfg(&mut self, body: &Cfg) -> Result<PartId, HampiError> {
        let all = |this: &mut Self, parts: &[Cfg]| -> Result<Vec<PartId>, HampiError> {
            parts.iter().map(|part| this.cfg(part)).collect()
        };
        match body {
            Cfg::Text { text, .. } => Ok(self.languages.text(text)),
            Cfg::Range { low, high, .. } => Ok(self.languages.range(*low, *high)),
            Cfg::Name(name) => match self.meaning[name.id.index()] {
                Some(Meaning::Cfg) => Ok(self.languages.named(name.id)),
                Some(_) => {
                    let message = format!("{} is no cfg", self.file.name(name.id));
                    Err(self.error(name.at, message))
                }
                None => Err(self.undefined(*name)),
            },
            Cfg::Seq(parts) => {
                let parts = all(self, parts)?;
                Ok(self.languages.sequence(&parts))
            }
            Cfg::Alt(parts) => {
                let parts = all(self, parts)?;
                Ok(self.languages.either(parts))
            }
            Cfg::Optional(inner) => {
                let parts = vec![self.cfg(inner)?, self.languages.empty()];
                Ok(self.languages.either(parts))
            }
            Cfg::Star(inner) => {
                let inner = self.cfg(inner)?;
                Ok(self.languages.star(inner))
            }
            Cfg::Plus(inner) => {
                let inner = self.cfg(inner)?;
                let more = self.languages.star(inner);
                Ok(self.languages.sequence(&[inner, more]))
            }
        }
    }

    fn reg(&mut self, body: &Reg) -> Result<PartId, HampiError> {
        let all = |this: &mut Self, parts: &[Reg]| -> Result<Vec<PartId>, HampiError> {
            parts.iter().map(|part| this.reg(part)).collect()
        };
        match body {
            Reg::Text(text) => Ok(self.languages.text(text)),
            Reg::Range { low, high } => Ok(self.languages.range(*low, *high)),
            Reg::Name(name) => match self.meaning[name.id.index()] {
                Some(Meaning::Cfg | Meaning::Reg) => Ok(self.languages.named(name.id)),
                Some(_) => {
                    let message = format!("{} is no language", self.file.name(name.id));
                    Err(self.error(name.at, message))
                }
                None => Err(self.undefined(*name)),
            },
            Reg::Fix { of, size } => match self.meaning[of.id.index()] {
                Some(Meaning::Cfg) => {
                    let inner = self.languages.named(of.id);
                    Ok(self.languages.fix(inner, *size))
                }
                Some(_) => {
                    let message = format!("{} is no cfg", self.file.name(of.id));
                    Err(self.error(of.at, message))
                }
                None => Err(self.undefined(*of)),
            },
            Reg::Or(parts) => {
                let parts = all(self, parts)?;
                Ok(self.languages.either(parts))
            }
            Reg::Concat(parts) => {
                let parts = all(self, parts)?;
                Ok(self.languages.sequence(&parts))
            }
            Reg::Star(inner) => {
                let inner = self.reg(inner)?;
                Ok(self.languages.star(inner))
            }
        }
    }

    /// The number of a value, after all that it is made of.
    fn value(&mut self, val: &Val, at: u32) -> Result<usize, HampiError> {
        let mut names = Vec::new();
        val_names(val, &mut names);
        for name in names {
            self.named_value(name)?;
        }
        let pieces = self.pieces(val)?;
        self.push_value(pieces, at)
    }

    fn push_value(&mut self, pieces: Vec<Piece>, at: u32) -> Result<usize, HampiError> {
        let length = |piece: &Piece| match piece {
            Piece::Text(text) => text.len(),
            Piece::Variable(v) => self.variables[*v].high,
            Piece::Value(v) => self.longest[*v],
            Piece::Part { length, .. } => *length,
        };
        let longest = pieces.iter().map(length).fold(0, usize::saturating_add);
        if longest > MOST_LENGTH {
            let message = format!("this value may have more than {MOST_LENGTH} bytes");
            return Err(self.error(at, message));
        }
        self.values.push(pieces);
        self.longest.push(longest);
        Ok(self.values.len() - 1)
    }

    /// Makes sure that a name and all below it have numbers.
    fn named_value(&mut self, name: Name) -> Result<(), HampiError> {
        let mut stack = vec![(name, false)];
        while let Some((name, below_done)) = stack.pop() {
            let index = name.id.index();
            if self.numbers[index].is_some() {
                continue;
            }
            let statement = match self.meaning[index] {
                None => return Err(self.undefined(name)),
                Some(Meaning::Cfg | Meaning::Reg) => {
                    let message = format!("{} is no value", self.file.name(name.id));
                    return Err(self.error(name.at, message));
                }
                Some(Meaning::Variable(v)) => {
                    let number = self.push_value(vec![Piece::Variable(v)], name.at)?;
                    self.numbers[index] = Some(number);
                    continue;
                }
                Some(Meaning::Val(statement)) => statement,
            };
            let Statement::Val { body, .. } = &self.file.statements[statement] else { continue };
            if below_done {
                let pieces = self.pieces(body)?;
                let number = self.push_value(pieces, name.at)?;
                self.numbers[index] = Some(number);
                continue;
            }
            if std::mem::replace(&mut self.open[index], true) {
                let message = format!("{} is made of itself", self.file.name(name.id));
                return Err(self.error(name.at, message));
            }
            stack.push((name, true));
            let mut below = Vec::new();
            val_names(body, &mut below);
            stack.extend(below.into_iter().rev().map(|name| (name, false)));
        }
        Ok(())
    }

    /// The pieces of a value whose names all have numbers.
    fn pieces(&self, val: &Val) -> Result<Vec<Piece>, HampiError> {
        let number = |name: &Name| self.numbers[name.id.index()].unwrap_or_default();
        Ok(match val {
            Val::Text(text) => vec![Piece::Text(text.clone())],
            Val::Name(name) => vec![Piece::Value(number(name))],
            Val::Part { of, offset, length } => {
                let (of_value, offset, length) = (number(of), *offset as usize, *length as usize);
                let longest = self.longest[of_value];
                if offset + length > longest {
                    let name = self.file.name(of.id);
                    let message =
                        format!("{name} has {longest} bytes at most; this part needs more");
                    return Err(self.error(of.at, message));
                }
                vec![Piece::Part { of: of_value, offset, length }]
            }
            Val::Concat(parts) => {
                let mut pieces = Vec::new();
                for part in parts {
                    pieces.extend(self.pieces(part)?);
                }
                pieces
            }
        })
    }
}

/// Visits all names below all names; the first that closes a circle is the error.
fn walk(count: usize, below: &mut dyn FnMut(usize) -> Vec<Name>) -> Result<(), Name> {
    const NEW: u8 = 0;
    const OPEN: u8 = 1;
    const DONE: u8 = 2;
    let mut state = vec![NEW; count];
    for start in 0..count {
        if state[start] != NEW {
            continue;
        }
        state[start] = OPEN;
        let mut stack = vec![(start, below(start))];
        while let Some((at, rest)) = stack.last_mut() {
            match rest.pop() {
                None => {
                    state[*at] = DONE;
                    stack.pop();
                }
                Some(name) => match state[name.id.index()] {
                    OPEN => return Err(name),
                    DONE => {}
                    _ => {
                        state[name.id.index()] = OPEN;
                        let index = name.id.index();
                        stack.push((index, below(index)));
                    }
                },
            }
        }
    }
    Ok(())
}

pub(super) fn reg_names(reg: &Reg, names: &mut Vec<Name>) {
    match reg {
        Reg::Text(_) | Reg::Range { .. } => {}
        Reg::Name(name) | Reg::Fix { of: name, .. } => names.push(*name),
        Reg::Or(parts) | Reg::Concat(parts) => parts.iter().for_each(|p| reg_names(p, names)),
        Reg::Star(inner) => reg_names(inner, names),
    }
}

fn val_names(val: &Val, names: &mut Vec<Name>) {
    match val {
        Val::Text(_) => {}
        Val::Name(name) | Val::Part { of: name, .. } => names.push(*name),
        Val::Concat(parts) => parts.iter().for_each(|part| val_names(part, names)),
    }
}

impl Problem {
    pub(super) fn written(&self, name: NameId) -> Option<&Written> {
        self.written[name.index()].as_ref()
    }
}
