//! Requests over the small input `7=abc;`: the digit and the name may change.

use super::*;
use crate::template::Hole;
use pleach_abi::event::Kind;
use pleach_abi::node::{Node, Op};
use pleach_automata::{ByteSet, Dfa, Regex};
use pleach_expr::{Expr, Variables};
use pleach_solve::{HoleLanguage, Shape, Step};

const INPUT: &[u8] = b"7=abc;";
const MAX_HOLE: u32 = 100;
/// The labels of the digit and of the name's first letter.
const DIGIT: u32 = 1;
const LETTER: u32 = 3;

/// The expressions of a run.
struct Builder {
    nodes: Vec<Node>,
    /// The label of the name's length.
    length: u32,
}

impl Builder {
    fn new() -> Builder {
        let byte = |(at, &byte): (u32, &u8)| Node {
            op: Op::Input as u8,
            width: 8,
            a: at,
            val: byte.into(),
            ..Node::default()
        };
        let bytes = (0..).zip(INPUT).map(byte);
        let nodes = [Node::default()].into_iter().chain(bytes).collect();
        let mut builder = Builder { nodes, length: 0 };
        // The name is the second hole.
        builder.length = builder.add(Op::HoleLen, 32, [1, 0], 0);
        builder
    }

    fn add(&mut self, op: Op, width: u8, [a, b]: [u32; 2], imm: u64) -> u32 {
        self.nodes.push(Node { op: op as u8, width, a, b, imm, ..Node::default() });
        self.nodes.len() as u32 - 1
    }

    /// A run with these conditions and outcomes.
    fn traced(self, decided: &[(u32, bool)]) -> Traced {
        let word = |range: (u8, u8)| {
            let letters = Regex::star(Regex::Class(ByteSet::range(range.0, range.1)));
            Arc::new(HoleLanguage::new(Dfa::new(&[&letters]).unwrap()).unwrap())
        };
        let digit = Regex::Class(ByteSet::range(b'0', b'9'));
        let digit = Arc::new(HoleLanguage::new(Dfa::new(&[&digit]).unwrap()).unwrap());
        let holes = vec![Hole::new(0, b"7", digit), Hole::new(2, b"abc", word((b'a', b'z')))];
        let roots: Vec<u32> = decided.iter().map(|d| d.0).collect();
        let behind = Variables { lengths: 2, tokens: 0 };
        let expr = Expr::with_variables(self.nodes, Vec::new(), INPUT.len() as u32, behind, roots);
        // The first step has no condition. The template is required from there on.
        let nothing = Step { label: 0, shape: Shape::Bool { taken: true } };
        let step = |&(label, taken): &(u32, bool)| Step { label, shape: Shape::Bool { taken } };
        let steps: Vec<Step> = [nothing].into_iter().chain(decided.iter().map(step)).collect();
        let mut extended = INPUT.to_vec();
        extended.extend([1u32, 3].iter().flat_map(|n| n.to_le_bytes()));
        let mut traced = Traced {
            template: Some(Arc::new(Template { holes })),
            first_token: extended.len() as u32,
            extended: Some(extended),
            ..Traced::new(expr.unwrap(), steps, INPUT.into())
        };
        let nothing = Decided { kind: Kind::Assume, key: 0, outcome: 0 };
        let decision = |(i, &(_, taken)): (usize, &(u32, bool))| Decided {
            kind: Kind::Branch,
            key: 100 + i as u64,
            outcome: taken.into(),
        };
        let decisions: Vec<Decided> =
            [nothing].into_iter().chain(decided.iter().enumerate().map(decision)).collect();
        let (mut path, len) = (traced.prepare_path(), INPUT.len() as u32);
        traced.lengths = LengthDecisions::find(&mut path, decisions.into_iter(), len, 2);
        traced
    }
}

/// Flips the last decision.
fn solve(traced: &Traced) -> Answer {
    let last = traced.steps.len() as u32 - 1;
    let Shape::Bool { taken } = traced.steps[last as usize].shape else { unreachable!() };
    let request = Request {
        run: 0,
        traced,
        at: last,
        goal: Goal::Not,
        outcome: (!taken).into(),
        tokens: None,
        max_hole: MAX_HOLE,
    };
    FlipSolver::new(Config::default()).solve(&mut Prepared::default(), &request)
}

fn text(found: &Option<Found>) -> &str {
    found.as_ref().map_or("nothing", |f| std::str::from_utf8(&f.bytes).unwrap())
}

#[test]
fn bytes_change_within_their_holes() {
    let mut b = Builder::new();
    let is_x = b.add(Op::Eq, 1, [LETTER, 0], b'x'.into());
    let answer = solve(&b.traced(&[(is_x, false)]));
    assert_eq!((answer.verdict, text(&answer.found)), (Verdict::Sat, "7=xbc;"));
    let found = answer.found.unwrap();
    assert!(matches!(found.prediction, Prediction::Path) && found.template.is_some());
    assert!(answer.boundary.is_none() && answer.cost > 0.0);
    // A digit cannot become a letter.
    let mut b = Builder::new();
    let is_x = b.add(Op::Eq, 1, [DIGIT, 0], b'x'.into());
    let answer = solve(&b.traced(&[(is_x, false)]));
    assert_eq!((answer.verdict, text(&answer.found)), (Verdict::Unsat, "nothing"));
}

#[test]
fn the_flip_of_a_length_gives_both_sides_of_the_boundary() {
    let mut b = Builder::new();
    let length = b.length;
    let is_long = b.add(Op::Ult, 1, [0, length], 5); // 5 < length
    let traced = b.traced(&[(is_long, false)]);
    assert!(traced.lengths.contains(1));
    let answer = solve(&traced);
    assert_eq!((answer.verdict, answer.tier), (Verdict::Sat, "lengths"));
    assert_eq!((text(&answer.found), text(&answer.boundary)), ("7=abcccc;", "7=abccc;"));
    let predicted = |found: &Option<Found>| match &found.as_ref().unwrap().prediction {
        Prediction::Lengths(lengths) => lengths.to_vec(),
        Prediction::Path => panic!("not a path"),
    };
    assert_eq!(predicted(&answer.found), [(100, 1)]);
    assert_eq!(predicted(&answer.boundary), [(100, 0)]);
}

/// `10 * length == digit + 35`: only length 4 and digit 5 satisfy it. Neither the digit nor
/// the length alone is enough.
#[test]
fn bytes_and_lengths_change_in_one_request() {
    let mut b = Builder::new();
    let length = b.length;
    let tenfold = b.add(Op::Mul, 32, [length, 0], 10);
    let digit = b.add(Op::ZExt, 32, [DIGIT, 0], 0);
    let sum = b.add(Op::Add, 32, [digit, 0], 35u64.wrapping_sub(b'0'.into()) & 0xffff_ffff);
    let equal = b.add(Op::Eq, 1, [tenfold, sum], 0);
    let answer = solve(&b.traced(&[(equal, false)]));
    assert_eq!((answer.verdict, text(&answer.found)), (Verdict::Sat, "5=abcc;"));
    assert!(matches!(answer.found.unwrap().prediction, Prediction::Lengths(_)));
}

#[test]
fn a_joint_request_keeps_earlier_conditions() {
    let mut b = Builder::new();
    let length = b.length;
    let is_even = {
        let bit = b.add(Op::And, 8, [DIGIT, 0], 1);
        b.add(Op::Eq, 1, [bit, 0], 0)
    };
    let digit = b.add(Op::ZExt, 32, [DIGIT, 0], 0);
    let sum = b.add(Op::Add, 32, [digit, length], 0);
    // The digit must stay odd: 9 and 51 letters, 7 and 53, and so on.
    let is_108 = b.add(Op::Eq, 1, [sum, 0], u64::from(b'9') + 51);
    let answer = solve(&b.traced(&[(is_even, false), (is_108, false)]));
    let found = answer.found.expect("there is one").bytes;
    assert_eq!(answer.verdict, Verdict::Sat);
    assert!(found[0] % 2 == 1 && usize::from(found[0]) + (found.len() - 3) == 108, "{found:?}");
}
