//! Random files of constraints, and their meaning in the simplest form: a language is the set
//! of its strings up to some length.

use std::collections::BTreeSet;
use std::fmt::Write;

type Strings = BTreeSet<Vec<u8>>;

/// Longer strings are left out of every language.
const MAX_LEN: usize = 6;

#[derive(Clone, Debug)]
pub enum Expr {
    Text(Vec<u8>),
    Range(u8, u8),
    Cfg(usize),
    Reg(usize),
    Fix(usize, usize),
    Seq(Vec<Expr>),
    Alt(Vec<Expr>),
    Optional(Box<Expr>),
    Star(Box<Expr>),
    Plus(Box<Expr>),
}

#[derive(Clone, Debug)]
pub enum Piece {
    Text(Vec<u8>),
    Var(usize),
    Val(usize),
    VarPart(usize, usize, usize),
    ValPart(usize, usize, usize),
}

#[derive(Clone, Debug)]
pub enum Test {
    InCfg(usize),
    InReg(usize),
    Contains(Vec<u8>),
    Equals(Piece),
}

#[derive(Clone, Debug, Default)]
pub struct Case {
    pub vars: Vec<(usize, usize)>,
    pub cfgs: Vec<Expr>,
    pub regs: Vec<Expr>,
    pub vals: Vec<Vec<Piece>>,
    pub asserts: Vec<(Piece, bool, Test)>,
    cfg_strings: Vec<Strings>,
    reg_strings: Vec<Strings>,
}

pub struct Generator {
    pub rng: fastrand::Rng,
}

impl Generator {
    pub fn new(seed: u64) -> Generator {
        Generator { rng: fastrand::Rng::with_seed(seed) }
    }

    pub fn case(&mut self) -> Case {
        let mut case = Case::default();
        let vars = if self.rng.u8(..4) == 0 { 2 } else { 1 };
        for _ in 0..vars {
            // Two variables together have at most as many bytes as one alone.
            let low = self.rng.usize(0..=3 / vars);
            let more = self.rng.usize(0..=2);
            let high = if self.rng.bool() { low } else { (low + more).min(4 / vars) };
            case.vars.push((low, high));
        }
        let (cfgs, regs) = (self.rng.usize(0..=3), self.rng.usize(0..=3));
        case.cfgs = (0..cfgs).map(|_| self.body(3, Some(cfgs), 0, 0)).collect();
        case.regs = (0..regs).map(|at| self.body(3, None, cfgs, at)).collect();
        for at in 0..self.rng.usize(0..=2) {
            let pieces = (0..self.rng.usize(1..=3)).map(|_| self.piece(&case, at)).collect();
            case.vals.push(pieces);
        }
        for _ in 0..self.rng.usize(1..=4) {
            let left = self.side(&case);
            let test = match self.rng.u8(..10) {
                0..=4 if cfgs + regs > 0 => {
                    let which = self.rng.usize(..cfgs + regs);
                    if which < cfgs { Test::InCfg(which) } else { Test::InReg(which - cfgs) }
                }
                5 | 6 => Test::Equals(self.side(&case)),
                _ => Test::Contains(self.text()),
            };
            case.asserts.push((left, self.rng.u8(..3) == 0, test));
        }
        case.find_strings();
        case
    }

    fn text(&mut self) -> Vec<u8> {
        (0..self.rng.usize(0..=3)).map(|_| self.rng.u8(b'a'..=b'b')).collect()
    }

    /// The body of a `cfg`, which may refer to `rules` of its kind; or of a `reg`, which may
    /// refer to earlier ones and to any `cfg`.
    fn body(&mut self, depth: usize, rules: Option<usize>, cfgs: usize, regs: usize) -> Expr {
        let inner = |this: &mut Self| this.body(depth - 1, rules, cfgs, regs);
        match self.rng.u8(..if depth == 0 { 4 } else { 11 }) {
            0 => Expr::Text(self.text()),
            1 => Expr::Text(vec![self.rng.u8(b'a'..=b'b')]),
            2 if self.rng.bool() => {
                let low = self.rng.u8(b'a'..=b'b');
                Expr::Range(low, self.rng.u8(low..=b'b'))
            }
            2 | 3 => match rules {
                Some(rules) => Expr::Cfg(self.rng.usize(..rules)),
                None if regs > 0 && self.rng.bool() => Expr::Reg(self.rng.usize(..regs)),
                None if cfgs > 0 && self.rng.bool() => Expr::Cfg(self.rng.usize(..cfgs)),
                None if cfgs > 0 => Expr::Fix(self.rng.usize(..cfgs), self.rng.usize(0..=4)),
                None => Expr::Text(self.text()),
            },
            4..=6 => Expr::Seq((0..self.rng.usize(1..=3)).map(|_| inner(self)).collect()),
            7..=8 => Expr::Alt((0..self.rng.usize(1..=3)).map(|_| inner(self)).collect()),
            9 if rules.is_some() && self.rng.bool() => Expr::Optional(Box::new(inner(self))),
            9 if rules.is_some() => Expr::Plus(Box::new(inner(self))),
            _ => Expr::Star(Box::new(inner(self))),
        }
    }

    fn piece(&mut self, case: &Case, vals: usize) -> Piece {
        match self.rng.u8(..6) {
            0 | 1 => Piece::Text(self.text()),
            2 if vals > 0 => Piece::Val(self.rng.usize(..vals)),
            3 if vals > 0 => {
                let of = self.rng.usize(..vals);
                let (offset, length) = self.part(case.longest(&case.vals[of]));
                Piece::ValPart(of, offset, length)
            }
            4 => {
                let of = self.rng.usize(..case.vars.len());
                let (offset, length) = self.part(case.vars[of].1);
                Piece::VarPart(of, offset, length)
            }
            _ => Piece::Var(self.rng.usize(..case.vars.len())),
        }
    }

    fn part(&mut self, longest: usize) -> (usize, usize) {
        let offset = self.rng.usize(0..=longest);
        (offset, self.rng.usize(0..=longest - offset))
    }

    /// A side of an assertion.
    fn side(&mut self, case: &Case) -> Piece {
        match self.rng.u8(..5) {
            0..=2 if !case.vals.is_empty() => Piece::Val(self.rng.usize(..case.vals.len())),
            3 => self.piece(case, case.vals.len()),
            _ => Piece::Var(self.rng.usize(..case.vars.len())),
        }
    }
}

impl Case {
    fn longest(&self, pieces: &[Piece]) -> usize {
        let one = |piece: &Piece| match piece {
            Piece::Text(text) => text.len(),
            Piece::Var(v) => self.vars[*v].1,
            Piece::Val(v) => self.longest(&self.vals[*v]),
            Piece::VarPart(_, _, length) | Piece::ValPart(_, _, length) => *length,
        };
        pieces.iter().map(one).sum()
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for (at, (low, high)) in self.vars.iter().enumerate() {
            match low == high {
                true => writeln!(out, "var v{at} : {low};").unwrap(),
                false => writeln!(out, "var v{at} : {low} .. {high};").unwrap(),
            }
        }
        for (at, body) in self.cfgs.iter().enumerate() {
            writeln!(out, "cfg C{at} := {};", cfg_text(body)).unwrap();
        }
        for (at, body) in self.regs.iter().enumerate() {
            writeln!(out, "reg R{at} := {};", reg_text(body)).unwrap();
        }
        for (at, pieces) in self.vals.iter().enumerate() {
            let pieces: Vec<String> = pieces.iter().map(piece_text).collect();
            writeln!(out, "val w{at} := concat({});", pieces.join(", ")).unwrap();
        }
        for (left, not, test) in &self.asserts {
            let not = if *not { "not " } else { "" };
            let test = match test {
                Test::InCfg(at) => format!("in C{at}"),
                Test::InReg(at) => format!("in R{at}"),
                Test::Contains(text) => format!("contains {}", quoted(text)),
                Test::Equals(right) => format!("equals {}", piece_text(right)),
            };
            writeln!(out, "assert {} {not}{test};", piece_text(left)).unwrap();
        }
        out
    }

    /// Finds the strings of every language: starts with none, and adds what follows, until
    /// nothing changes.
    fn find_strings(&mut self) {
        self.cfg_strings = vec![Strings::new(); self.cfgs.len()];
        loop {
            let next: Vec<Strings> = self.cfgs.iter().map(|body| self.strings(body)).collect();
            if next == self.cfg_strings {
                break;
            }
            self.cfg_strings = next;
        }
        for at in 0..self.regs.len() {
            let strings = self.strings(&self.regs[at]);
            self.reg_strings.push(strings);
        }
    }

    fn strings(&self, expr: &Expr) -> Strings {
        match expr {
            Expr::Text(text) => Strings::from([text.clone()]),
            Expr::Range(low, high) => (*low..=*high).map(|b| vec![b]).collect(),
            Expr::Cfg(at) => self.cfg_strings[*at].clone(),
            Expr::Reg(at) => self.reg_strings[*at].clone(),
            Expr::Fix(at, size) => {
                self.cfg_strings[*at].iter().filter(|s| s.len() == *size).cloned().collect()
            }
            Expr::Seq(parts) => parts
                .iter()
                .fold(Strings::from([Vec::new()]), |before, p| concat(&before, &self.strings(p))),
            Expr::Alt(parts) => parts.iter().flat_map(|part| self.strings(part)).collect(),
            Expr::Optional(inner) => {
                let mut strings = self.strings(inner);
                strings.insert(Vec::new());
                strings
            }
            Expr::Star(inner) => star(&self.strings(inner)),
            Expr::Plus(inner) => {
                let strings = self.strings(inner);
                concat(&strings, &star(&strings))
            }
        }
    }

    fn value(&self, piece: &Piece, values: &[Vec<u8>]) -> Option<Vec<u8>> {
        let whole = |at: usize| -> Option<Vec<u8>> {
            let parts: Option<Vec<_>> =
                self.vals[at].iter().map(|p| self.value(p, values)).collect();
            Some(parts?.concat())
        };
        let cut = |text: Vec<u8>, offset: usize, length: usize| {
            text.get(offset..offset + length).map(<[u8]>::to_vec)
        };
        match piece {
            Piece::Text(text) => Some(text.clone()),
            Piece::Var(v) => Some(values[*v].clone()),
            Piece::Val(v) => whole(*v),
            Piece::VarPart(v, offset, length) => cut(values[*v].clone(), *offset, *length),
            Piece::ValPart(v, offset, length) => cut(whole(*v)?, *offset, *length),
        }
    }

    /// True if values satisfy all assertions. `None` if a text is longer than the strings of
    /// the languages.
    pub fn holds(&self, values: &[Vec<u8>]) -> Option<bool> {
        let mut holds = true;
        for (left, not, test) in &self.asserts {
            let Some(left) = self.value(left, values) else { return Some(false) };
            let known =
                |strings: &Strings| (left.len() <= MAX_LEN).then(|| strings.contains(&left));
            let claim = match test {
                Test::InCfg(at) => known(&self.cfg_strings[*at])?,
                Test::InReg(at) => known(&self.reg_strings[*at])?,
                Test::Contains(text) => (0..=left.len()).any(|at| left[at..].starts_with(text)),
                Test::Equals(right) => {
                    let Some(right) = self.value(right, values) else { return Some(false) };
                    left == right
                }
            };
            holds &= claim != *not;
        }
        Some(holds)
    }

    /// All values of all sizes over an alphabet.
    pub fn candidates(&self, alphabet: &[u8]) -> Vec<Vec<Vec<u8>>> {
        let mut all: Vec<Vec<Vec<u8>>> = vec![Vec::new()];
        for &(low, high) in &self.vars {
            let mut strings = vec![Vec::new()];
            let mut level = strings.clone();
            for _ in 0..high {
                level = level
                    .iter()
                    .flat_map(|s: &Vec<u8>| alphabet.iter().map(move |&b| [&s[..], &[b]].concat()))
                    .collect();
                strings.extend(level.iter().cloned());
            }
            strings.retain(|s| s.len() >= low);
            all = all
                .iter()
                .flat_map(|values| {
                    strings.iter().map(move |s| {
                        let mut values = values.clone();
                        values.push(s.clone());
                        values
                    })
                })
                .collect();
        }
        all
    }
}

fn concat(left: &Strings, right: &Strings) -> Strings {
    let mut all = Strings::new();
    for a in left {
        all.extend(
            right.iter().filter(|b| a.len() + b.len() <= MAX_LEN).map(|b| [&a[..], b].concat()),
        );
    }
    all
}

fn star(inner: &Strings) -> Strings {
    let mut all = Strings::from([Vec::new()]);
    loop {
        let more: Strings = concat(&all, inner).union(&all).cloned().collect();
        if more == all {
            return all;
        }
        all = more;
    }
}

fn quoted(text: &[u8]) -> String {
    format!("\"{}\"", String::from_utf8_lossy(text))
}

fn cfg_text(expr: &Expr) -> String {
    let all = |parts: &[Expr], between: &str| {
        let parts: Vec<String> = parts.iter().map(cfg_text).collect();
        format!("({})", parts.join(between))
    };
    match expr {
        Expr::Text(text) => quoted(text),
        Expr::Range(low, high) => format!("['{}'-'{}']", *low as char, *high as char),
        Expr::Cfg(at) | Expr::Reg(at) | Expr::Fix(at, _) => format!("C{at}"),
        Expr::Seq(parts) => all(parts, " "),
        Expr::Alt(parts) => all(parts, " | "),
        Expr::Optional(inner) => format!("({})?", cfg_text(inner)),
        Expr::Star(inner) => format!("({})*", cfg_text(inner)),
        Expr::Plus(inner) => format!("({})+", cfg_text(inner)),
    }
}

fn reg_text(expr: &Expr) -> String {
    let all = |parts: &[Expr]| parts.iter().map(reg_text).collect::<Vec<_>>().join(", ");
    match expr {
        Expr::Text(text) => quoted(text),
        Expr::Range(low, high) => format!("['{}'-'{}']", *low as char, *high as char),
        Expr::Cfg(at) => format!("C{at}"),
        Expr::Reg(at) => format!("R{at}"),
        Expr::Fix(at, size) => format!("fix(C{at}, {size})"),
        Expr::Seq(parts) => format!("concat({})", all(parts)),
        Expr::Alt(parts) => format!("or({})", all(parts)),
        Expr::Optional(inner) => format!("or({}, \"\")", reg_text(inner)),
        Expr::Star(inner) => format!("star({})", reg_text(inner)),
        Expr::Plus(inner) => {
            let inner = reg_text(inner);
            format!("concat({inner}, star({inner}))")
        }
    }
}

fn piece_text(piece: &Piece) -> String {
    match piece {
        Piece::Text(text) => quoted(text),
        Piece::Var(v) => format!("v{v}"),
        Piece::Val(v) => format!("w{v}"),
        Piece::VarPart(v, offset, length) => format!("v{v}[{offset}:{length}]"),
        Piece::ValPart(v, offset, length) => format!("w{v}[{offset}:{length}]"),
    }
}
