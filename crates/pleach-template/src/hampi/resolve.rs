//! Resolves the names of a file, and reports all errors that are left after parsing.
//!
//! A statement may refer to later ones, but a `reg` or `val` must not be made of itself.
//! Chains of references can be as long as the file, so nothing here recurses along them.

use super::HampiError;
use super::language::{LanguageBuilder, MAX_PARTS, PartId};
use super::layout::MAX_SIZES;
use super::problem::{
    Assertion, Claim, Definition, MAX_LENGTH, Piece, Problem, Variable, reg_names,
};
use pleach_import::hampi::{Cfg, File, Name, Reg, Statement, Test, Val};

const MAX_VARIABLES: usize = 128;

pub(super) fn resolve(file: &File) -> Result<Problem, HampiError> {
    Resolver::new(file)?.resolve()
}

/// What a name is defined as.
#[derive(Clone, Copy)]
enum Meaning {
    /// The number of the variable.
    Variable(usize),
    Cfg,
    Reg,
    /// The number of the statement.
    Val(usize),
}

struct Resolver<'a> {
    file: &'a File<'a>,
    /// By the number of the name.
    meaning: Vec<Option<Meaning>>,
    variables: Vec<Variable>,
    /// The values that variables and `val`s have become, by the number of the name.
    value_of: Vec<Option<usize>>,
    /// True for a name whose value is being built.
    open: Vec<bool>,
    values: Vec<Vec<Piece>>,
    /// The maximal length of each value.
    max_lengths: Vec<usize>,
    languages: LanguageBuilder,
}

impl<'a> Resolver<'a> {
    fn new(file: &'a File<'a>) -> Result<Resolver<'a>, HampiError> {
        let mut meaning: Vec<Option<Meaning>> = vec![None; file.names()];
        let mut variables = Vec::new();
        let mut combinations = 1usize;
        for (number, statement) in file.statements.iter().enumerate() {
            let (name, new) = match statement {
                Statement::Var { name, low, high } => {
                    let (min_size, max_size) = (*low as usize, *high as usize);
                    if max_size > MAX_LENGTH {
                        let message = format!("a size is at most {MAX_LENGTH}");
                        return Err(file.error(name.at, message).into());
                    }
                    combinations *= max_size - min_size + 1;
                    if combinations > MAX_SIZES || variables.len() == MAX_VARIABLES {
                        let message = format!(
                            "up to here there are more than {MAX_SIZES} combinations of sizes, or \
                             more than {MAX_VARIABLES} variables"
                        );
                        return Err(file.error(name.at, message).into());
                    }
                    let text = file.name(name.id).to_owned();
                    variables.push(Variable { name: text, min_size, max_size });
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
            value_of: vec![None; file.names()],
            open: vec![false; file.names()],
            values: Vec::new(),
            max_lengths: Vec::new(),
            languages,
        })
    }

    fn resolve(mut self) -> Result<Problem, HampiError> {
        self.check_cycles()?;
        let definitions = self.define_languages()?;
        let assertions = self.resolve_assertions()?;
        let (variables, values) = (self.variables, self.values);
        Ok(Problem { variables, values, assertions, parts: self.languages.finish(), definitions })
    }

    fn define_languages(&mut self) -> Result<Vec<Option<Definition>>, HampiError> {
        let mut definitions: Vec<Option<Definition>> = vec![None; self.file.names()];
        for statement in &self.file.statements {
            match statement {
                Statement::Cfg { name, body } => {
                    let id = self.cfg(body)?;
                    self.languages.define(name.id, id);
                    match &mut definitions[name.id.index()] {
                        Some(Definition::Cfg(bodies)) => bodies.push(body.clone()),
                        new => *new = Some(Definition::Cfg(vec![body.clone()])),
                    }
                }
                Statement::Reg { name, body } => {
                    let id = self.reg(body)?;
                    self.languages.define(name.id, id);
                    definitions[name.id.index()] = Some(Definition::Reg(body.clone()));
                }
                _ => {}
            }
            self.check_parts(statement.at())?;
        }
        Ok(definitions)
    }

    fn resolve_assertions(&mut self) -> Result<Vec<Assertion>, HampiError> {
        let mut assertions = Vec::new();
        for statement in &self.file.statements {
            let Statement::Assert { left, not, test, at } = statement else { continue };
            let left = self.value(left, *at)?;
            let claim = match test {
                Test::In(reg) => Claim::In { language: self.reg(reg)?, written: reg.clone() },
                Test::Contains(text) => Claim::Contains(text.clone()),
                Test::Equals(val) => Claim::Equals(self.value(val, *at)?),
            };
            self.check_parts(*at)?;
            assertions.push(Assertion { left, is_denied: *not, claim });
        }
        Ok(assertions)
    }

    fn check_parts(&self, at: u32) -> Result<(), HampiError> {
        if self.languages.is_full() {
            let message = format!("up to here the languages have more than {MAX_PARTS} parts");
            return Err(self.error(at, message));
        }
        Ok(())
    }

    fn error(&self, at: u32, message: impl Into<String>) -> HampiError {
        self.file.error(at, message).into()
    }

    fn undefined(&self, name: Name) -> HampiError {
        self.error(name.at, format!("{} is not defined", self.file.name(name.id)))
    }

    fn wrong_kind(&self, name: Name, kind: &str) -> HampiError {
        self.error(name.at, format!("{} is not a {kind}", self.file.name(name.id)))
    }

    fn made_of_itself(&self, name: Name) -> HampiError {
        self.error(name.at, format!("{} is made of itself", self.file.name(name.id)))
    }

    /// Checks that no `reg` is made of itself. A `cfg` may be.
    fn check_cycles(&self) -> Result<(), HampiError> {
        let mut bodies: Vec<Option<&Reg>> = vec![None; self.file.names()];
        for statement in &self.file.statements {
            if let Statement::Reg { name, body } = statement {
                bodies[name.id.index()] = Some(body);
            }
        }
        let names_in = |reg: &Reg| {
            let mut names = Vec::new();
            reg_names(reg, &mut names);
            names
        };
        let mut below = |id: usize| bodies[id].map(names_in).unwrap_or_default();
        find_cycle(self.file.names(), &mut below).map_or(Ok(()), |n| Err(self.made_of_itself(n)))
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
                Some(_) => Err(self.wrong_kind(*name, "cfg")),
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
                Some(_) => Err(self.wrong_kind(*name, "language")),
                None => Err(self.undefined(*name)),
            },
            Reg::Fix { of, size } => match self.meaning[of.id.index()] {
                Some(Meaning::Cfg) => {
                    let inner = self.languages.named(of.id);
                    Ok(self.languages.fix(inner, *size))
                }
                Some(_) => Err(self.wrong_kind(*of, "cfg")),
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

    /// Adds a value, after all values that it is made of. Returns its number.
    fn value(&mut self, val: &Val, at: u32) -> Result<usize, HampiError> {
        let mut names = Vec::new();
        val_names(val, &mut names);
        for name in names {
            self.resolve_value(name)?;
        }
        let pieces = self.pieces(val)?;
        self.push_value(pieces, at)
    }

    fn push_value(&mut self, pieces: Vec<Piece>, at: u32) -> Result<usize, HampiError> {
        let length = |piece: &Piece| match piece {
            Piece::Text(text) => text.len(),
            Piece::Variable(v) => self.variables[*v].max_size,
            Piece::Value(v) => self.max_lengths[*v],
            Piece::Part { length, .. } => *length,
        };
        let max_length = pieces.iter().map(length).fold(0, usize::saturating_add);
        if max_length > MAX_LENGTH {
            let message = format!("this value may have more than {MAX_LENGTH} bytes");
            return Err(self.error(at, message));
        }
        self.values.push(pieces);
        self.max_lengths.push(max_length);
        Ok(self.values.len() - 1)
    }

    /// Adds the value of a name, after all values that it is made of.
    fn resolve_value(&mut self, name: Name) -> Result<(), HampiError> {
        let mut stack = vec![(name, false)];
        while let Some((name, below_done)) = stack.pop() {
            let index = name.id.index();
            if self.value_of[index].is_some() {
                continue;
            }
            let statement = match self.meaning[index] {
                None => return Err(self.undefined(name)),
                Some(Meaning::Cfg | Meaning::Reg) => return Err(self.wrong_kind(name, "value")),
                Some(Meaning::Variable(v)) => {
                    let number = self.push_value(vec![Piece::Variable(v)], name.at)?;
                    self.value_of[index] = Some(number);
                    continue;
                }
                Some(Meaning::Val(statement)) => statement,
            };
            let Statement::Val { body, .. } = &self.file.statements[statement] else { continue };
            if below_done {
                let pieces = self.pieces(body)?;
                let number = self.push_value(pieces, name.at)?;
                self.value_of[index] = Some(number);
                continue;
            }
            if std::mem::replace(&mut self.open[index], true) {
                return Err(self.made_of_itself(name));
            }
            stack.push((name, true));
            let mut below = Vec::new();
            val_names(body, &mut below);
            stack.extend(below.into_iter().rev().map(|name| (name, false)));
        }
        Ok(())
    }

    /// The pieces of a value. All names in it have a value already.
    fn pieces(&self, val: &Val) -> Result<Vec<Piece>, HampiError> {
        let number = |name: &Name| self.value_of[name.id.index()].unwrap_or_default();
        Ok(match val {
            Val::Text(text) => vec![Piece::Text(text.clone())],
            Val::Name(name) => vec![Piece::Value(number(name))],
            Val::Part { of, offset, length } => {
                let (of_value, offset, length) = (number(of), *offset as usize, *length as usize);
                let max_length = self.max_lengths[of_value];
                if offset + length > max_length {
                    let name = self.file.name(of.id);
                    let message =
                        format!("{name} has at most {max_length} bytes; this part needs more");
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

/// Visits every name and the names below it. Returns the first name that closes a cycle.
fn find_cycle(count: usize, below: &mut dyn FnMut(usize) -> Vec<Name>) -> Option<Name> {
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
                    OPEN => return Some(name),
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
    None
}

/// Collects the names that a value refers to.
fn val_names(val: &Val, names: &mut Vec<Name>) {
    match val {
        Val::Text(_) => {}
        Val::Name(name) | Val::Part { of: name, .. } => names.push(*name),
        Val::Concat(parts) => parts.iter().for_each(|part| val_names(part, names)),
    }
}
