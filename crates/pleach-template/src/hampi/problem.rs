//! A file of constraints with its names resolved: the question, and nothing on how to answer
//! it.

use super::HampiError;
use super::language::{Part, PartId};
use super::resolve::resolve;
use pleach_import::hampi::{self, Cfg, Name, NameId, Reg};

/// The largest size of a variable, and the longest value.
pub(super) const MAX_LENGTH: usize = 1 << 13;

/// What a file asks for.
pub struct Problem {
    pub(super) variables: Vec<Variable>,
    /// The values that an assertion needs. A value comes after those that it is made of.
    pub(super) values: Vec<Vec<Piece>>,
    pub(super) assertions: Vec<Assertion>,
    pub(super) parts: Vec<Part>,
    /// The language that each name is defined as, by the number of the name.
    pub(super) definitions: Vec<Option<Definition>>,
}

pub(super) struct Variable {
    pub name: String,
    pub min_size: usize,
    pub max_size: usize,
}

/// A piece of a value.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    Text(Box<[u8]>),
    Variable(usize),
    Value(usize),
    /// A substring of another value.
    Part {
        of: usize,
        offset: usize,
        length: usize,
    },
}

pub(super) struct Assertion {
    /// The value that it is about.
    pub left: usize,
    pub is_denied: bool,
    pub claim: Claim,
}

#[derive(Clone, Debug)]
pub(super) enum Claim {
    In {
        language: PartId,
        /// The language as it is in the file, to check solutions.
        written: Reg,
    },
    Contains(Box<[u8]>),
    Equals(usize),
}

/// The definition of a language, as it is in the file.
#[derive(Clone, Debug)]
pub(super) enum Definition {
    /// The alternatives of all statements with the same name.
    Cfg(Vec<Cfg>),
    Reg(Reg),
}

impl Problem {
    /// Reads a file of constraints. `file` is its name, for messages.
    pub fn read(file: &str, bytes: &[u8]) -> Result<Problem, HampiError> {
        resolve(&hampi::parse(file, bytes)?)
    }

    /// The names of the variables, in the order of their declarations.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().map(|v| v.name.as_str())
    }

    pub(super) fn definition(&self, name: NameId) -> Option<&Definition> {
        self.definitions[name.index()].as_ref()
    }
}

/// Collects the names that a regular language refers to.
pub(super) fn reg_names(reg: &Reg, names: &mut Vec<Name>) {
    match reg {
        Reg::Text(_) | Reg::Range { .. } => {}
        Reg::Name(name) | Reg::Fix { of: name, .. } => names.push(*name),
        Reg::Or(parts) | Reg::Concat(parts) => parts.iter().for_each(|p| reg_names(p, names)),
        Reg::Star(inner) => reg_names(inner, names),
    }
}
