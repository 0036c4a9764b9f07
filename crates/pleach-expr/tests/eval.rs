//! Compares every operation at every width with arithmetic on big integers, and checks
//! that broken graphs are refused.

mod common;

use common::{Builder, is_compare};
use num_bigint::{BigInt, BigUint};
use pleach_abi::node::{FLAG_WIDE, Node, Op};
use pleach_expr::{Broken, Expr, Input, apply, mask};
use proptest::prelude::*;

const BINARY: [Op; 25] = [
    Op::Add,
    Op::Sub,
    Op::Mul,
    Op::UDiv,
    Op::SDiv,
    Op::URem,
    Op::SRem,
    Op::Shl,
    Op::LShr,
    Op::AShr,
    Op::And,
    Op::Or,
    Op::Xor,
    Op::Eq,
    Op::Ne,
    Op::Ult,
    Op::Ule,
    Op::Slt,
    Op::Sle,
    Op::UAddO,
    Op::SAddO,
    Op::USubO,
    Op::SSubO,
    Op::UMulO,
    Op::SMulO,
];

fn unsigned(v: u128) -> BigInt {
    v.into()
}

fn signed(v: u128, width: u32) -> BigInt {
    let half = BigInt::from(1) << (width - 1);
    let v = BigInt::from(v);
    if v >= half { v - (half << 1) } else { v }
}

fn cut(v: BigInt, width: u32) -> u128 {
    let modulus = BigInt::from(1) << width;
    let positive: BigUint = (((v % &modulus) + &modulus) % &modulus).to_biguint().unwrap();
    positive.try_into().unwrap()
}

fn reference(op: Op, w: u32, a: u128, b: u128) -> u128 {
    let (ua, ub, sa, sb) = (unsigned(a), unsigned(b), signed(a, w), signed(b, w));
    let bit = |holds: bool| u128::from(holds);
    let unsigned_range = |v: BigInt| bit(v < BigInt::ZERO || v >= BigInt::from(1) << w);
    let signed_range = |v: BigInt| {
        let half = BigInt::from(1) << (w - 1);
        bit(v < -half.clone() || v >= half)
    };
    match op {
        Op::Add => cut(ua + ub, w),
        Op::Sub => cut(ua - ub, w),
        Op::Mul => cut(ua * ub, w),
        Op::UDiv | Op::SDiv | Op::URem | Op::SRem if b == 0 => 0,
        Op::UDiv => cut(ua / ub, w),
        Op::SDiv => cut(sa / sb, w),
        Op::URem => cut(ua % ub, w),
        Op::SRem => cut(sa % sb, w),
        Op::Shl | Op::LShr if b >= w.into() => 0,
        Op::Shl => cut(ua << b, w),
        Op::LShr => cut(ua >> b, w),
        Op::AShr => cut(sa >> b.min(200), w),
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::Eq => bit(a == b),
        Op::Ne => bit(a != b),
        Op::Ult => bit(ua < ub),
        Op::Ule => bit(ua <= ub),
        Op::Slt => bit(sa < sb),
        Op::Sle => bit(sa <= sb),
        Op::UAddO => unsigned_range(ua + ub),
        Op::USubO => unsigned_range(ua - ub),
        Op::UMulO => unsigned_range(ua * ub),
        Op::SAddO => signed_range(sa + sb),
        Op::SSubO => signed_range(sa - sb),
        Op::SMulO => signed_range(sa * sb),
        _ => unreachable!(),
    }
}

/// Values that overflow, or give 0, more often than random ones.
fn value() -> impl Strategy<Value = u128> {
    prop_oneof![
        any::<u128>(),
        (0u32..128).prop_map(|n| 1 << n),
        (0u32..128).prop_map(|n| (1 << n) - 1),
        (0u32..128).prop_map(|n| u128::MAX << n),
        0u128..130,
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn binary_operations_agree_with_big_integers(which in 0..BINARY.len(), w in 1u32..=128, a in value(), b in value()) {
        let (op, a, b) = (BINARY[which], a & mask(w), b & mask(w));
        let width = if is_compare(op) { 1 } else { w };
        prop_assert_eq!(apply(op, width, w, a, b, 0), reference(op, w, a, b));
        // The same in a graph, with two labels or one concrete operand.
        let mut graph = Builder::new(1);
        let (x, y) = (graph.node(Op::Const, w, [0; 3], a), graph.node(Op::Const, w, [0; 3], b));
        let both = graph.node(op, width, [x, y, 0], 0);
        let left = graph.node(op, width, [0, y, 0], a);
        let right = graph.node(op, width, [x, 0, 0], b);
        for label in [both, left, right] {
            prop_assert_eq!(graph.eval(label, b"?"), reference(op, w, a, b));
        }
    }

    #[test]
    fn extensions_extracts_and_bit_counts_agree_with_lists_of_bits(w in 1u32..=128, v in 1u32..=128, a in value(), at in 0u32..128) {
        let a = a & mask(w);
        let bits: Vec<u128> = (0..w).map(|i| a >> i & 1).collect();
        let number = |bits: &[u128]| bits.iter().rev().fold(0, |n, b| n << 1 | b);
        let mut graph = Builder::new(1);
        let x = graph.node(Op::Const, w, [0; 3], a);
        let mut eval = |op, width, b| {
            let label = graph.node(op, width, [x, b, 0], 0);
            graph.eval(label, b"?")
        };
        if v >= w {
            prop_assert_eq!(eval(Op::ZExt, v, 0), a);
            let mut extended = bits.clone();
            extended.resize(v as usize, bits[w as usize - 1]);
            prop_assert_eq!(eval(Op::SExt, v, 0), number(&extended));
        } else {
            prop_assert_eq!(eval(Op::Trunc, v, 0), number(&bits[..v as usize]));
            let from = at % (w - v + 1);
            let part = number(&bits[from as usize..(from + v) as usize]);
            prop_assert_eq!(eval(Op::Extract, v, from), part);
        }
        let reversed: Vec<_> = bits.iter().rev().copied().collect();
        prop_assert_eq!(eval(Op::BitRev, w, 0), number(&reversed));
        let zeros = |bits: &[u128]| bits.iter().take_while(|&&b| b == 0).count() as u128;
        prop_assert_eq!(eval(Op::Cttz, w, 0), zeros(&bits) & mask(w));
        prop_assert_eq!(eval(Op::Ctlz, w, 0), zeros(&reversed) & mask(w));
        prop_assert_eq!(eval(Op::Popcnt, w, 0), bits.iter().sum::<u128>() & mask(w));
        if w % 8 == 0 {
            let swapped: Vec<_> = bits.chunks(8).rev().flatten().copied().collect();
            prop_assert_eq!(eval(Op::Bswap, w, 0), number(&swapped));
        }
    }

    #[test]
    fn funnel_shifts_choices_and_concatenations_agree_with_big_integers(w in 1u32..=128, a in value(), b in value(), c in value()) {
        let [a, b, c] = [a, b, c].map(|v| v & mask(w));
        let mut graph = Builder::new(1);
        let [x, y, z] = [a, b, c].map(|v| graph.node(Op::Const, w, [0; 3], v));
        let whole = unsigned(a) << w | unsigned(b);
        let amount = c % u128::from(w);
        let left = graph.node(Op::FShl, w, [x, y, z], 0);
        prop_assert_eq!(graph.eval(left, b"?"), cut((whole.clone() << amount) >> w, w));
        let right = graph.node(Op::FShr, w, [x, y, z], 0);
        prop_assert_eq!(graph.eval(right, b"?"), cut(whole >> amount, w));
        let bit = graph.with(Op::Ult, x, (b & mask(127)) as i128);
        let choice = graph.node(Op::Ite, w, [bit, y, z], 0);
        let expected = if a < (b & mask(127)) { b } else { c };
        prop_assert_eq!(graph.eval(choice, b"?"), expected);
        if w >= 2 {
            let low = 1 + (c as u32) % (w - 1);
            let parts = [a & mask(low), b & mask(w - low)];
            let p = graph.node(Op::Const, low, [0; 3], parts[0]);
            let q = graph.node(Op::Const, w - low, [0; 3], parts[1]);
            let whole = parts[1] << low | parts[0];
            for (a, b, imm) in [(p, q, 0), (0, q, parts[0]), (p, 0, parts[1])] {
                let label = graph.node(Op::Concat, w, [a, b, low], imm);
                prop_assert_eq!(graph.eval(label, b"?"), whole);
            }
        }
    }

    /// An invalid array of nodes is refused. It never causes a panic.
    #[test]
    fn random_nodes_never_panic(bytes in prop::collection::vec(any::<[u8; 12]>(), 1..40), snaps in prop::collection::vec(any::<u8>(), 0..64)) {
        let ops: Vec<u8> = (0..=255).filter(|&n| Op::from_u8(n).is_some()).collect();
        let nodes: Vec<Node> = bytes.iter().map(|b| Node {
            op: if b[0] < 250 { ops[b[0] as usize % ops.len()] } else { b[0] },
            width: [1, 8, 8, 8, 64, 64, 128, b[1]][b[2] as usize % 8],
            flags: if b[3] < 20 { FLAG_WIDE } else { 0 },
            a: b[4] as u32 % 48,
            b: b[5] as u32 % 48,
            c: b[6] as u32 % 48,
            imm: b[7].into(),
            val: b[8].into(),
        }).collect();
        let top = nodes.len() as u32;
        if let Ok(expr) = Expr::new(nodes, snaps, 8, 1..top) {
            let values = expr.eval_all(&Input::plain(b"abcdefgh"));
            for &label in expr.order() {
                prop_assert!(values.get(label) <= mask(expr.width(label)));
                expr.support(&[label]);
                pleach_expr::Printer::new(&expr, &pleach_expr::NoSymbols).value(label);
            }
        }
    }
}

#[test]
fn leaves_read_the_input() {
    let mut b = Builder::new(4);
    let word = b.read(0, 4);
    let len = b.node(Op::InputLen, 64, [0; 3], 0);
    let other = b.node(Op::InputLen, 64, [2, 0, 0], 0);
    let expr = b.build(&[word, len, other, 3]);
    let labels = [word, len, other, 3];
    let values = expr.eval(&labels, &Input::plain(b"abcd"));
    assert_eq!(labels.map(|l| values.get(l)), [0x6463_6261, 4, 0, u128::from(b'c')]);
    let values = expr.eval(&labels, &Input::streams(b"ab", vec![7, 8, 9]));
    assert_eq!(labels.map(|l| values.get(l)), [0x6261, 7, 9, 0]);
    let support = expr.support(&[word, other]);
    assert_eq!(support.bytes.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(support.lengths.into_iter().collect::<Vec<_>>(), [2]);
}

#[test]
fn a_lookup_outside_of_its_table_is_0() {
    let mut b = Builder::new(1);
    let at = b.snapshot(0x1000, &[10, 11, 12, 13]);
    let index = b.zext(1, 64);
    let address = b.with(Op::Add, index, 0x1000);
    let byte = b.node(Op::Lookup, 8, [address, at, 0], 0x1000);
    let pair = b.node(Op::Lookup, 16, [address, at, 0], 0x1000);
    let read = |label, index| b.eval(label, &[index]);
    assert_eq!([0, 3, 4, 255].map(|i| read(byte, i)), [10, 13, 0, 0]);
    assert_eq!([2, 3].map(|i| read(pair, i)), [0x0d0c, 0]);
}

#[test]
fn nodes_of_several_threads_may_be_in_any_order() {
    let mut b = Builder::new(1);
    let label = b.raw(Node { op: Op::Add as u8, width: 8, a: 3, imm: 5, ..Node::default() });
    b.raw(Node { op: Op::Mul as u8, width: 8, a: 1, imm: 3, ..Node::default() });
    assert_eq!(b.eval(label, &[7]), 26);
}

#[test]
fn broken_graphs_are_refused() {
    let refuse = |node: Node| {
        let mut b = Builder::new(4);
        let label = b.raw(node);
        Expr::new(b.nodes, vec![0; 16], 4, [label]).expect_err("the node is broken")
    };
    let node = |op: Op, width| Node { op: op as u8, width, ..Node::default() };
    let label = 5;
    assert_eq!(refuse(Node::default()), Broken::Op { label, op: 0 });
    assert_eq!(refuse(node(Op::Wide, 8)), Broken::Op { label, op: 3 });
    assert_eq!(refuse(node(Op::Const, 0)), Broken::Width { label, width: 0 });
    assert_eq!(refuse(node(Op::Const, 129)), Broken::Width { label, width: 129 });
    assert_eq!(refuse(node(Op::Add, 8)), Broken::Widths { label });
    assert_eq!(refuse(Node { a: 1, ..node(Op::Add, 16) }), Broken::Widths { label });
    assert_eq!(refuse(Node { a: 9, ..node(Op::Add, 8) }), Broken::Operand { label, operand: 9 });
    assert_eq!(refuse(Node { a: 5, ..node(Op::Add, 8) }), Broken::Cycle { label });
    assert_eq!(refuse(Node { a: 4, ..node(Op::Input, 8) }), Broken::Input { label });
    assert_eq!(refuse(Node { a: 4, ..node(Op::Read, 16) }), Broken::Input { label });
    assert_eq!(refuse(Node { a: 0, ..node(Op::Read, 16) }), Broken::Input { label });
    assert_eq!(refuse(Node { flags: FLAG_WIDE, ..node(Op::Const, 8) }), Broken::Wide { label });
    assert_eq!(refuse(Node { a: 1, b: 8, ..node(Op::Lookup, 8) }), Broken::Snapshot { label });
    assert_eq!(refuse(Node { a: 1, b: 1, ..node(Op::Extract, 8) }), Broken::Widths { label });
    let b = Builder::new(1);
    let missing = Expr::new(b.nodes, vec![], 1, [77]).expect_err("no such node");
    assert_eq!(missing, Broken::Operand { label: 0, operand: 77 });
}

#[test]
fn nodes_that_no_event_reaches_may_be_half_written() {
    let mut b = Builder::new(1);
    let label = b.with(Op::Eq, 1, 5);
    b.raw(Node { op: 250, a: 4_000_000, ..Node::default() });
    assert_eq!(b.eval(label, &[5]), 1);
}

#[test]
fn a_long_chain_is_evaluated_without_recursion() {
    let mut b = Builder::new(1);
    let mut x = b.zext(1, 32);
    for _ in 0..1_000_000 {
        x = b.with(Op::Add, x, 1);
    }
    assert_eq!(b.eval(x, &[1]), 1_000_001);
}
