//! Tokens: their numbers follow the input.

mod common;

use common::Builder;
use pleach_abi::node::{Node, Op};
use pleach_expr::{Broken, Expr, Input, Pool, Printer, Symbols, Variables};

struct Names;

impl Symbols for Names {
    fn symbol(&self, _: u64) -> Option<(String, u64)> {
        None
    }

    fn token(&self, _: u32, number: i32) -> Option<String> {
        match number {
            258 => Some("NUMBER".into()),
            200 => Some("OTHER".into()),
            _ => None,
        }
    }
}

fn token(b: &mut Builder, ordinal: u32) -> u32 {
    b.node(Op::Token, 32, [ordinal, 0, 0], 0)
}

fn with_tokens(b: &Builder, tokens: u32, label: u32) -> Result<Expr, Broken> {
    let behind = Variables { lengths: 0, tokens };
    Expr::with_variables(b.nodes.clone(), b.snapshots.clone(), b.input_len, behind, [label])
}

#[test]
fn tokens_are_read_from_the_extended_input() {
    let mut b = Builder::new(3);
    let t = token(&mut b, 1);
    let wide = b.sext(t, 64);
    let expr = with_tokens(&b, 2, wide).expect("it is sound");
    assert_eq!((expr.tokens(), expr.input_len(), expr.extended_len()), (2, 3, 11));
    assert_eq!((expr.token(t), expr.token(wide)), (Some(1), None));
    assert_eq!([0, 2, 3, 6, 7, 10, 11].map(|at| expr.token_at(at)), {
        [None, None, Some(0), Some(0), Some(1), Some(1), None]
    });
    let mut input = b"abc".to_vec();
    input.extend(7i32.to_le_bytes());
    input.extend((-2i32).to_le_bytes());
    // The length is still that of the input.
    let input = Input::plain(b"abc").extended(&input);
    assert_eq!(input.length(0), 3);
    assert_eq!(expr.eval(&[wide], &input).get(wide), (-2i64) as u64 as u128);
    let imported = Pool::import(&expr);
    assert!(imported.term(t).is_some());
}

#[test]
fn tokens_that_do_not_exist_are_refused() {
    for (ordinal, width, tokens) in [(2, 32, 2), (u32::MAX, 32, 2), (0, 16, 2), (0, 32, 0)] {
        let mut b = Builder::new(3);
        let label = b.node(Op::Token, width, [ordinal, 0, 0], 0);
        let refused = with_tokens(&b, tokens, label).expect_err("the token does not exist");
        assert_eq!(refused, Broken::Op { label, op: Op::Token as u8 });
    }
    // More tokens than there are offsets.
    let mut b = Builder::new(3);
    let label = token(&mut b, 0);
    assert!(with_tokens(&b, 1 << 29, label).is_err());
    // A read past the last token.
    let mut b = Builder::new(3);
    let label = b.raw(Node { op: Op::Read as u8, width: 32, a: 9, ..Node::default() });
    assert_eq!(with_tokens(&b, 2, label).expect_err("it is broken"), Broken::Input { label });
}

#[test]
fn numbers_of_tokens_are_printed_as_names() {
    let print = |make: &dyn Fn(&mut Builder, u32) -> u32, holds: bool| {
        let mut b = Builder::new(3);
        let t = token(&mut b, 1);
        let label = make(&mut b, t);
        let expr = with_tokens(&b, 2, label).expect("it is sound");
        Printer::new(&expr, &Names).condition(label, holds)
    };
    assert_eq!(print(&|b, t| b.with(Op::Eq, t, 258), true), "tok[1] == NUMBER");
    assert_eq!(print(&|b, t| b.with(Op::Eq, t, 258), false), "tok[1] != NUMBER");
    assert_eq!(print(&|b, t| b.with(Op::Eq, t, 43), true), "tok[1] == '+'");
    assert_eq!(print(&|b, t| b.with(Op::Eq, t, 0), true), "tok[1] == 0");
    assert_eq!(print(&|b, t| b.with(Op::Eq, t, -1), true), "tok[1] == -1");
    assert_eq!(print(&|b, t| b.with(Op::Slt, t, 1), true), "tok[1] < 1");
    let small = |value: i128| {
        move |b: &mut Builder, t| {
            let byte = b.trunc(t, 8);
            b.with(Op::Eq, byte, value)
        }
    };
    assert_eq!(print(&small(7), true), "(int8_t)tok[1] == 7");
    // 200 has a name, so it is printed as an unsigned number.
    assert_eq!(print(&small(200), true), "(uint8_t)tok[1] == OTHER");
    assert_eq!(print(&small(201), true), "(int8_t)tok[1] == -55");
}
