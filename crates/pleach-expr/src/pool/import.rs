//! Turns the nodes of a trace into terms, in one pass.

use super::{Code, Pool, Table, Term};
use crate::graph::{Arg, Expr};
use pleach_abi::node::Op;
use pleach_work::Task;
use std::collections::HashMap;

/// The terms of a trace's labels.
#[derive(Clone, Debug)]
pub struct Imported {
    pub pool: Pool,
    terms: Vec<u32>,
}

/// In place of a term: the label has none.
const NO_TERM: u32 = u32::MAX;
/// Labels that are imported between two looks at the stop flag.
const CHUNK: usize = 1 << 12;

impl Imported {
    /// The term of a live label.
    pub fn term(&self, label: u32) -> Option<Term> {
        self.terms.get(label as usize).filter(|&&t| t != NO_TERM).map(|&t| Term(t))
    }
}

impl Pool {
    /// The terms of all live labels. If the thread must stop, the remaining labels have
    /// none.
    pub fn import(expr: &Expr) -> Imported {
        let _importing = pleach_work::enter(Task::Import);
        let top = expr.order().iter().max().map_or(0, |&l| l as usize + 1);
        let mut terms = vec![NO_TERM; top];
        let mut pool = Pool::with_capacity(expr.order().len());
        let mut tables: HashMap<u32, Table> = HashMap::new();
        for chunk in expr.order().chunks(CHUNK) {
            let before = pool.work();
            for &label in chunk {
                let term = pool.import_node(expr, label, &terms, &mut tables);
                terms[label as usize] = term.0;
            }
            if pleach_work::spend(chunk.len() as u64 + pool.work() - before) {
                break;
            }
        }
        Imported { pool, terms }
    }

    fn import_node(
        &mut self,
        expr: &Expr,
        label: u32,
        terms: &[u32],
        tables: &mut HashMap<u32, Table>,
    ) -> Term {
        let node = expr.node(label);
        let width = u32::from(node.width);
        let at = |l: u32| Term(terms[l as usize]);
        let op = expr.op(label);
        match op {
            Op::Input => self.read(node.a, 1),
            Op::Read => self.read(node.a - 1, width / 8),
            Op::InputLen => self.length(node.a),
            Op::Const | Op::Wide => self.number(expr.immediate(label), width),
            Op::ZExt => self.zext(at(node.a), width),
            Op::SExt => self.sext(at(node.a), width),
            Op::Trunc => self.extract(at(node.a), 0, width),
            Op::Extract => self.extract(at(node.a), node.b, width),
            Op::Bswap => self.reverse_bytes(at(node.a)),
            Op::Concat => {
                let (low, high) = expr.pair(label);
                let low = self.import_arg(low, node.c, terms);
                let high = self.import_arg(high, width - node.c, terms);
                self.concat(low, high)
            }
            Op::Ite => self.ite(at(node.a), at(node.b), at(node.c)),
            Op::FShl => self.funnel(Code::FShl, at(node.a), at(node.b), at(node.c)),
            Op::FShr => self.funnel(Code::FShr, at(node.a), at(node.b), at(node.c)),
            Op::FFma => self.funnel(Code::FFma, at(node.a), at(node.b), at(node.c)),
            Op::FToS => self.convert(Code::FToS, at(node.a), width),
            Op::FToU => self.convert(Code::FToU, at(node.a), width),
            Op::SToF => self.convert(Code::SToF, at(node.a), width),
            Op::UToF => self.convert(Code::UToF, at(node.a), width),
            Op::FToF => self.convert(Code::FToF, at(node.a), width),
            Op::FDecimal => {
                let (digits, power) = expr.pair(label);
                let digits = self.import_arg(digits, 64, terms);
                let power = self.import_arg(power, 32, terms);
                self.decimal(digits, power, width)
            }
            Op::Lookup => {
                let base = self.number(node.imm.into(), 64);
                let offset = self.pair(Code::Sub, at(node.a), base);
                let table =
                    tables.entry(node.b).or_insert_with(|| Table::new(expr.snapshot(label)));
                self.lookup(offset, table, width)
            }
            _ => match term_code(op) {
                Some(code) if code.arity() == 1 => self.unary(code, at(node.a)),
                Some(code) => {
                    let (a, b) = expr.pair(label);
                    let operand = expr.pair_width(label);
                    let a = self.import_arg(a, operand, terms);
                    let b = self.import_arg(b, operand, terms);
                    self.pair(code, a, b)
                }
                None => self.number(0, width),
            },
        }
    }

    fn import_arg(&mut self, arg: Arg, width: u32, terms: &[u32]) -> Term {
        match arg {
            Arg::Label(l) => Term(terms[l as usize]),
            Arg::Const(value) => self.number(value, width),
        }
    }

    fn reverse_bytes(&mut self, a: Term) -> Term {
        let bytes = self.width(a) / 8;
        let mut out = self.extract(a, 8 * (bytes - 1), 8);
        for i in (0..bytes - 1).rev() {
            let byte = self.extract(a, 8 * i, 8);
            out = self.concat(out, byte);
        }
        out
    }
}

/// The operation of terms that computes the same as one of nodes.
fn term_code(op: Op) -> Option<Code> {
    SAME_OPERATIONS.iter().find(|(o, _)| *o == op).map(|&(_, c)| c)
}

/// The operation of nodes that computes the same as one of terms.
pub fn node_op(code: Code) -> Option<Op> {
    SAME_OPERATIONS.iter().find(|(_, c)| *c == code).map(|&(o, _)| o)
}

/// Operations that are the same in nodes and terms.
const SAME_OPERATIONS: [(Op, Code); 89] = [
    (Op::Add, Code::Add),
    (Op::Eq, Code::Eq),
    (Op::Ne, Code::Ne),
    (Op::Ult, Code::Ult),
    (Op::Ule, Code::Ule),
    (Op::Slt, Code::Slt),
    (Op::Sle, Code::Sle),
    (Op::And, Code::And),
    (Op::Or, Code::Or),
    (Op::Xor, Code::Xor),
    (Op::Sub, Code::Sub),
    (Op::Shl, Code::Shl),
    (Op::LShr, Code::LShr),
    (Op::AShr, Code::AShr),
    (Op::Mul, Code::Mul),
    (Op::UDiv, Code::UDiv),
    (Op::SDiv, Code::SDiv),
    (Op::URem, Code::URem),
    (Op::SRem, Code::SRem),
    (Op::UAddO, Code::UAddO),
    (Op::SAddO, Code::SAddO),
    (Op::USubO, Code::USubO),
    (Op::SSubO, Code::SSubO),
    (Op::UMulO, Code::UMulO),
    (Op::SMulO, Code::SMulO),
    (Op::ZExt, Code::ZExt),
    (Op::SExt, Code::SExt),
    (Op::Ite, Code::Ite),
    (Op::Ctlz, Code::Ctlz),
    (Op::Cttz, Code::Cttz),
    (Op::Popcnt, Code::Popcnt),
    (Op::BitRev, Code::BitRev),
    (Op::FShl, Code::FShl),
    (Op::FShr, Code::FShr),
    (Op::FAdd, Code::FAdd),
    (Op::FSub, Code::FSub),
    (Op::FMul, Code::FMul),
    (Op::FDiv, Code::FDiv),
    (Op::FRem, Code::FRem),
    (Op::FIeeeRem, Code::FIeeeRem),
    (Op::FMin, Code::FMin),
    (Op::FMax, Code::FMax),
    (Op::FPow, Code::FPow),
    (Op::FAtan2, Code::FAtan2),
    (Op::FHypot, Code::FHypot),
    (Op::FScale, Code::FScale),
    (Op::FDecimal, Code::FDecimal),
    (Op::FSqrt, Code::FSqrt),
    (Op::FFloor, Code::FFloor),
    (Op::FCeil, Code::FCeil),
    (Op::FChop, Code::FChop),
    (Op::FRound, Code::FRound),
    (Op::FRint, Code::FRint),
    (Op::FSin, Code::FSin),
    (Op::FCos, Code::FCos),
    (Op::FTan, Code::FTan),
    (Op::FAsin, Code::FAsin),
    (Op::FAcos, Code::FAcos),
    (Op::FAtan, Code::FAtan),
    (Op::FSinh, Code::FSinh),
    (Op::FCosh, Code::FCosh),
    (Op::FTanh, Code::FTanh),
    (Op::FExp, Code::FExp),
    (Op::FExp2, Code::FExp2),
    (Op::FExpm1, Code::FExpm1),
    (Op::FLog, Code::FLog),
    (Op::FLog2, Code::FLog2),
    (Op::FLog10, Code::FLog10),
    (Op::FLog1p, Code::FLog1p),
    (Op::FCbrt, Code::FCbrt),
    (Op::FFma, Code::FFma),
    (Op::FAsinh, Code::FAsinh),
    (Op::FAcosh, Code::FAcosh),
    (Op::FAtanh, Code::FAtanh),
    (Op::FExp10, Code::FExp10),
    (Op::FErf, Code::FErf),
    (Op::FErfc, Code::FErfc),
    (Op::FGamma, Code::FGamma),
    (Op::FNextAfter, Code::FNextAfter),
    (Op::FDim, Code::FDim),
    (Op::FEq, Code::FEq),
    (Op::FLt, Code::FLt),
    (Op::FLe, Code::FLe),
    (Op::FUno, Code::FUno),
    (Op::FToS, Code::FToS),
    (Op::FToU, Code::FToU),
    (Op::SToF, Code::SToF),
    (Op::UToF, Code::UToF),
    (Op::FToF, Code::FToF),
];
