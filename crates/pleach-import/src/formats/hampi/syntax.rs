//! The syntax trees of a file. Offsets (`at`) are for
//! [`File::place`](super::File::place).

/// The number of a name in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NameId(pub(super) u32);

impl NameId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A name and its offset.
#[derive(Clone, Copy, Debug)]
pub struct Name {
    pub id: NameId,
    pub at: u32,
}

#[derive(Clone, Debug)]
pub enum Statement {
    /// `var v : low .. high;`. With one size, both are the same.
    Var {
        name: Name,
        low: u32,
        high: u32,
    },
    Cfg {
        name: Name,
        body: Cfg,
    },
    Reg {
        name: Name,
        body: Reg,
    },
    Val {
        name: Name,
        body: Val,
    },
    Assert {
        at: u32,
        left: Val,
        not: bool,
        test: Test,
    },
}

impl Statement {
    pub fn at(&self) -> u32 {
        match self {
            Statement::Var { name, .. }
            | Statement::Cfg { name, .. }
            | Statement::Reg { name, .. }
            | Statement::Val { name, .. } => name.at,
            Statement::Assert { at, .. } => *at,
        }
    }
}

/// The body of a `cfg`.
#[derive(Clone, Debug)]
pub enum Cfg {
    Text { text: Box<[u8]>, at: u32 },
    Range { low: u8, high: u8, at: u32 },
    Name(Name),
    Seq(Vec<Cfg>),
    Alt(Vec<Cfg>),
    Optional(Box<Cfg>),
    Star(Box<Cfg>),
    Plus(Box<Cfg>),
}

/// The body of a `reg`.
#[derive(Clone, Debug)]
pub enum Reg {
    Text(Box<[u8]>),
    Range {
        low: u8,
        high: u8,
    },
    Name(Name),
    /// `fix(of, size)`
    Fix {
        of: Name,
        size: u32,
    },
    Or(Vec<Reg>),
    Concat(Vec<Reg>),
    Star(Box<Reg>),
}

/// The body of a `val`.
#[derive(Clone, Debug)]
pub enum Val {
    Text(Box<[u8]>),
    Name(Name),
    /// `of[offset:length]`
    Part {
        of: Name,
        offset: u32,
        length: u32,
    },
    Concat(Vec<Val>),
}

/// The condition that an `assert` puts on its left side.
#[derive(Clone, Debug)]
pub enum Test {
    In(Reg),
    Contains(Box<[u8]>),
    Equals(Val),
}
