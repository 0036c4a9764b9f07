//! Printing. Each case is a graph, and the C text that it must be printed as.

mod common;

use common::Builder;
use pleach_abi::node::Op;
use pleach_expr::{Expr, NoSymbols, Printer, Symbols};

fn check(build: impl FnOnce(&mut Builder) -> u32, yes: &str, no: &str) {
    let mut b = Builder::new(64);
    let label = build(&mut b);
    let expr = b.build(&[label]);
    let printer = Printer::new(&expr, &NoSymbols);
    assert_eq!(printer.condition(label, true), yes);
    assert_eq!(printer.condition(label, false), no);
}

fn value(build: impl FnOnce(&mut Builder) -> u32, text: &str) {
    let mut b = Builder::new(64);
    let label = build(&mut b);
    let expr = b.build(&[label]);
    assert_eq!(Printer::new(&expr, &NoSymbols).value(label), text);
}

#[test]
fn constants_beside_bytes_are_characters() {
    check(|b| b.with(Op::Eq, 1, 97), "in[0] == 'a'", "in[0] != 'a'");
    check(|b| b.with(Op::Eq, 3, 10), "in[2] == '\\n'", "in[2] != '\\n'");
    check(|b| b.with(Op::Ult, 1, 10), "in[0] < 10", "in[0] >= 10");
    check(|b| b.with(Op::Ult, 1, 48), "in[0] < '0'", "in[0] >= '0'");
    check(|b| b.with(Op::Eq, 1, 0xff), "in[0] == 255", "in[0] != 255");
    check(|b| b.with(Op::Eq, 1, 39), "in[0] == '\\''", "in[0] != '\\''");
}

#[test]
fn a_switch_is_printed_as_its_case_or_as_none_of_them() {
    let case = |build: &dyn Fn(&mut Builder) -> u32, seen: u128, cases: Option<&[u64]>| {
        let mut b = Builder::new(64);
        let label = build(&mut b);
        let expr = b.build(&[label]);
        Printer::new(&expr, &NoSymbols).case(label, seen, cases)
    };
    let byte: &dyn Fn(&mut Builder) -> u32 = &|_| 1;
    let wide: &dyn Fn(&mut Builder) -> u32 = &|b| b.zext(1, 32);
    let signed: &dyn Fn(&mut Builder) -> u32 = &|b| b.sext(1, 32);
    assert_eq!(case(byte, 97, Some(&[97, 98])), "in[0] == 'a'");
    assert_eq!(case(byte, 99, Some(&[97, 98])), "in[0] != 'a' && in[0] != 'b'");
    assert_eq!(case(wide, 7, Some(&[3, 100])), "in[0] != 3 && in[0] != 'd'");
    assert_eq!(
        case(byte, 99, Some(&[1, 2, 3, 4, 5])),
        "in[0] != 1 && in[0] != 2 && in[0] != 3 && in[0] != 4 && …"
    );
    // Cases are zero-extended from the width of the switch.
    assert_eq!(case(signed, 0xffff_ffff, Some(&[0xffff_ffff])), "in[0] == 255");
    assert_eq!(case(signed, 3, Some(&[0xffff_ffff])), "in[0] != 255");
    // A switch with only a default decides nothing. Without cases, the value is printed.
    assert_eq!(case(byte, 99, Some(&[])), "true");
    assert_eq!(case(byte, 99, None), "in[0] == 'c'");
}

/// `memcmp(in, text, n)` as its model builds it, or `memcmp(text, in, n)`.
fn difference(b: &mut Builder, text: &[u8], swapped: bool) -> u32 {
    let links: Vec<u32> = text
        .iter()
        .enumerate()
        .map(|(i, &c)| {
            let byte = b.zext(1 + i as u32, 32);
            match swapped {
                true => b.node(Op::Sub, 32, [0, byte, 0], c.into()),
                false => b.with(Op::Sub, byte, c.into()),
            }
        })
        .collect();
    let rest = links.last().copied();
    let chain = links.iter().rev().skip(1).fold(rest.unwrap_or(1), |rest, &d| {
        let differs = b.with(Op::Ne, d, 0);
        b.node(Op::Ite, 32, [differs, d, rest], 0)
    });
    b.with(Op::Eq, chain, 0)
}

#[test]
fn a_comparison_of_strings_is_printed_byte_by_byte() {
    let yes = "in[0] == 'G' && in[1] == 'E' && in[2] == 'T'";
    let no = "in[0] != 'G' || in[1] != 'E' || in[2] != 'T'";
    check(|b| difference(b, b"GET", false), yes, no);
    check(|b| difference(b, b"GET", true), yes, no);
    // A difference other than 0 is not split into bytes.
    let below = |b: &mut Builder| {
        let equal = difference(b, b"ab", false);
        let chain = b.nodes[equal as usize].a;
        b.with(Op::Eq, chain, 3)
    };
    check(
        below,
        "(in[0] != 'a' ? in[0] - 'a' : in[1] - 'b') == 3",
        "(in[0] != 'a' ? in[0] - 'a' : in[1] - 'b') != 3",
    );
}

#[test]
fn extensions_are_not_printed_in_equalities() {
    let zext = |b: &mut Builder| {
        let wide = b.zext(1, 32);
        b.with(Op::Eq, wide, 97)
    };
    check(zext, "in[0] == 'a'", "in[0] != 'a'");
    let sext = |b: &mut Builder| {
        let wide = b.sext(1, 32);
        b.with(Op::Ne, wide, -1)
    };
    check(sext, "in[0] != 255", "in[0] == 255");
    // No byte extends to 300, so the extension stays.
    let never = |b: &mut Builder| {
        let wide = b.zext(1, 32);
        b.with(Op::Eq, wide, 300)
    };
    check(never, "in[0] == 300", "in[0] != 300");
}

#[test]
fn casts_only_where_c_needs_them() {
    let signed = |b: &mut Builder| {
        let wide = b.zext(1, 32);
        let digit = b.with(Op::Add, wide, -48);
        b.with(Op::Slt, digit, 10)
    };
    check(signed, "in[0] - '0' < 10", "in[0] - '0' >= 10");
    let unsigned = |b: &mut Builder| {
        let wide = b.zext(1, 32);
        let digit = b.with(Op::Add, wide, -48);
        b.with(Op::Ult, digit, 10)
    };
    check(unsigned, "(uint32_t)(in[0] - '0') < 10", "(uint32_t)(in[0] - '0') >= 10");
    let narrow = |b: &mut Builder| {
        let digit = b.with(Op::Add, 1, -48);
        b.with(Op::Ult, digit, 10)
    };
    check(narrow, "(uint8_t)(in[0] - '0') < 10", "(uint8_t)(in[0] - '0') >= 10");
    let negative = |b: &mut Builder| {
        let wide = b.sext(1, 32);
        b.with(Op::Slt, wide, 0)
    };
    check(negative, "(int8_t)in[0] < 0", "(int8_t)in[0] >= 0");
}

#[test]
fn several_bytes_are_one_number() {
    check(
        |b| {
            let word = b.read(4, 4);
            b.with(Op::Eq, word, 0x464c_457f)
        },
        "u32le(in+4) == 0x464c457f",
        "u32le(in+4) != 0x464c457f",
    );
    value(|b| b.read(0, 2), "u16le(in)");
    value(|b| b.node(Op::Concat, 16, [1, 2, 8], 0), "u16le(in)");
    value(|b| b.node(Op::Concat, 16, [2, 1, 8], 0), "u16be(in)");
    value(
        |b| {
            let word = b.read(8, 4);
            b.node(Op::Bswap, 32, [word, 0, 0], 0)
        },
        "u32be(in+8)",
    );
    value(|b| b.node(Op::Concat, 16, [1, 5, 8], 0), "in[4] << 8 | in[0]");
    value(
        |b| {
            let (low, high) = (b.zext(6, 32), b.zext(5, 32));
            let shifted = b.with(Op::Shl, high, 8);
            b.binary(Op::Or, shifted, low)
        },
        "u16be(in+4)",
    );
    check(
        |b| {
            let word = b.read(0, 4);
            let shifted = b.with(Op::LShr, word, 8);
            let byte = b.with(Op::And, shifted, 255);
            b.with(Op::Eq, byte, 80)
        },
        "in[1] == 'P'",
        "in[1] != 'P'",
    );
}

#[test]
fn constants_are_added_up() {
    check(
        |b| {
            let wide = b.zext(1, 64);
            let there = b.with(Op::Add, wide, 0x7fff_f7f5_33c0);
            let back = b.with(Op::Sub, there, 0x7fff_f7f5_32c0);
            b.with(Op::Ule, back, 766)
        },
        "in[0] + 256 <= 766",
        "in[0] + 256 > 766",
    );
    check(
        |b| {
            let wide = b.sext(1, 32);
            let digit = b.with(Op::Add, wide, -48);
            b.with(Op::Eq, digit, 5)
        },
        "in[0] == '5'",
        "in[0] != '5'",
    );
}

#[test]
fn masks_that_clear_no_bit_are_not_printed() {
    check(
        |b| {
            let len = b.node(Op::InputLen, 64, [0, 0, 0], 0);
            let masked = b.with(Op::And, len, 0x7fff_ffff);
            b.with(Op::Ult, masked, 3)
        },
        "len < 3",
        "len >= 3",
    );
    value(|b| b.with(Op::And, 1, 15), "in[0] & 15");
    value(
        |b| {
            let wide = b.zext(1, 32);
            b.with(Op::And, wide, 255)
        },
        "in[0]",
    );
}

#[test]
fn arithmetic_that_may_wrap_is_unsigned() {
    value(
        |b| {
            let (x, y) = (b.read(0, 4), b.read(4, 4));
            let sum = b.binary(Op::Add, x, y);
            b.with(Op::Mul, sum, 31)
        },
        "(u32le(in) + u32le(in+4)) * 31",
    );
    value(
        |b| {
            let wide = b.zext(1, 64);
            b.with(Op::Shl, wide, 40)
        },
        "(uint64_t)in[0] << 40",
    );
    value(
        |b| {
            let x = b.read(0, 4);
            let wide = b.sext(x, 64);
            let product = b.with(Op::Mul, wide, 10);
            b.trunc(product, 32)
        },
        "(uint32_t)((int64_t)(int)u32le(in) * 10)",
    );
}

#[test]
fn conditions_are_printed_without_comparisons_to_0() {
    check(
        |b| {
            let (lo, hi) = (b.with(Op::Ule, 1, 97), b.with(Op::Ult, 2, 10));
            let both = b.binary(Op::And, lo, hi);
            b.with(Op::Xor, both, 1)
        },
        "!(in[0] <= 'a' && in[1] < 10)",
        "in[0] <= 'a' && in[1] < 10",
    );
    check(
        |b| {
            let eq = b.with(Op::Eq, 1, 97);
            let wide = b.zext(eq, 32);
            b.with(Op::Ne, wide, 0)
        },
        "in[0] == 'a'",
        "in[0] != 'a'",
    );
    check(
        |b| {
            let len = b.node(Op::InputLen, 64, [0, 0, 0], 0);
            b.with(Op::Ult, len, 4)
        },
        "len < 4",
        "len >= 4",
    );
    check(|b| b.node(Op::Ult, 1, [0, 1, 0], 47), "in[0] > '/'", "in[0] <= '/'");
    assert_eq!(Printer::longer(2, 7, false), "len(2) <= 7");
}

struct Names;

impl Symbols for Names {
    fn symbol(&self, address: u64) -> Option<(String, u64)> {
        (0x1000..0x2000).contains(&address).then(|| ("yy_ec".into(), address - 0x1000))
    }
}

#[test]
fn lookups_are_printed_as_array_elements() {
    let lookup = |base: u64, scale: u32, width: u32| {
        let mut b = Builder::new(4);
        let at = b.snapshot(base, &[0; 64]);
        let index = b.zext(1, 64);
        let bytes = if scale == 0 { index } else { b.with(Op::Shl, index, scale.into()) };
        let address = b.with(Op::Add, bytes, base.into());
        let label = b.node(Op::Lookup, width, [address, at, 0], base.into());
        let expr: Expr = b.build(&[label]);
        Printer::new(&expr, &Names).value(label)
    };
    assert_eq!(lookup(0x1000, 0, 8), "yy_ec[in[0]]");
    assert_eq!(lookup(0x1000, 1, 16), "yy_ec[in[0]]");
    assert_eq!(lookup(0x1000, 2, 16), "u16le(yy_ec + (in[0] << 2))");
    assert_eq!(lookup(0x5000, 0, 8), "table_5000[in[0]]");
    assert_eq!(lookup(0x1008, 1, 16), "yy_ec[in[0] + 4]");
}

#[test]
fn large_expressions_are_cut_off() {
    let mut b = Builder::new(4);
    let mut x = b.zext(1, 32);
    for _ in 0..200 {
        x = b.binary(Op::Add, x, x);
    }
    let expr = b.build(&[x]);
    let text = Printer::new(&expr, &NoSymbols).value(x);
    assert!(text.len() < 10_000, "{} characters", text.len());
    assert!(text.contains('…'));
    // A long chain ends at the limit of depth.
    let mut b = Builder::new(4);
    let mut x = b.zext(1, 32);
    for _ in 0..200_000 {
        x = b.with(Op::Add, x, 3);
    }
    let expr = b.build(&[x]);
    assert!(Printer::new(&expr, &NoSymbols).value(x).len() < 10_000);
}
