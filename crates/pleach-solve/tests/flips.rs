//! One small path for each kind of flip: the answer, and the tier that gives it.

mod common;

use common::{Builder, flips, random_path};
use pleach_abi::node::Op;
use pleach_expr::Input;
use pleach_solve::{
    Answer, BadRecording, Config, Goal, Limits, Recording, Shape, SmtRequest, Solver, Step, Tier,
    Verdict, Why,
};

/// A path of conditions, with the decisions of the input.
fn path(builder: &Builder, conditions: &[u32], input: &[u8]) -> Recording {
    let expr = builder.expr(conditions);
    let values = expr.eval_all(&Input::plain(input));
    let steps = conditions
        .iter()
        .map(|&label| Step { label, shape: Shape::Bool { taken: values.get(label) != 0 } })
        .collect();
    let lengths = vec![input.len() as u64];
    Recording { expr, steps, input: input.to_vec(), lengths, offsets: vec![0] }
}

fn flip(recording: &Recording, at: usize) -> Answer {
    let mut path = recording.path();
    let goal = path.goals(at)[0];
    Solver::new(Config::default()).flip(&mut path, at, goal)
}

/// The new input, and the tier.
fn solved(recording: &Recording, at: usize) -> (Vec<u8>, Tier) {
    let answer = flip(recording, at);
    match answer.verdict {
        Verdict::Sat(model) => (model.apply(&recording.input), answer.tier),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_new_byte_is_of_the_same_kind_and_other_bytes_stay() {
    let mut b = Builder::new(3);
    let (x, y) = (b.byte(0), b.byte(1));
    let letter = b.with(Op::Ult, x, 0x61);
    let is_a = b.with(Op::Eq, x, 0x61);
    let other = b.with(Op::Eq, y, 0x30);
    let recording = path(&b, &[letter, is_a, other], b"a0 ");
    assert_eq!(solved(&recording, 1), (b"b0 ".to_vec(), Tier::Domains));
    assert_eq!(solved(&recording, 2), (b"a1 ".to_vec(), Tier::Domains));
}

#[test]
fn a_comparison_with_a_string_is_solved_byte_by_byte() {
    let mut b = Builder::new(8);
    let word = b.node(Op::Read, 64, [1, 0, 0], 0);
    let equal = b.with(Op::Eq, word, u64::from_le_bytes(*b"keyword!").into());
    let recording = path(&b, &[equal], b"........");
    assert_eq!(solved(&recording, 0), (b"keyword!".to_vec(), Tier::Domains));
}

/// As in a symbol table: two names have the same hash, and are compared byte by byte.
#[test]
fn names_with_the_same_hash_are_explored_once() {
    const NAME: u32 = 6;
    let mut b = Builder::new(2 * NAME);
    let hash = |b: &mut Builder, first: u32| {
        let mut hash = 0;
        for i in first..first + NAME {
            let byte = b.byte(i);
            let wide = b.node(Op::ZExt, 32, [byte, 0, 0], 0);
            let sum = match i == first {
                true => wide,
                false => {
                    let shifted = b.with(Op::Mul, hash, 31);
                    b.pair(Op::Add, shifted, wide)
                }
            };
            hash = b.with(Op::And, sum, 1023);
        }
        hash
    };
    let hashes = [hash(&mut b, 0), hash(&mut b, NAME)];
    let input = b"symbolsymbol";
    let values = b.expr(&hashes).eval_all(&Input::plain(input));
    let slot = values.get(hashes[0]);
    let mut conditions: Vec<u32> = hashes.iter().map(|&h| b.with(Op::Eq, h, slot)).collect();
    for i in 0..NAME {
        let (x, y) = (b.byte(i), b.byte(NAME + i));
        conditions.push(b.pair(Op::Eq, x, y));
    }
    let recording = path(&b, &conditions, input);
    // After equal names, the last bytes cannot differ: the hashes would.
    let answer = flip(&recording, conditions.len() - 1);
    assert_eq!((answer.verdict, answer.tier), (Verdict::Unsat, Tier::Domains));
    // With one byte less in common there are two names with this hash.
    let (model, _) = solved(&recording, conditions.len() - 2);
    let (a, b) = model.split_at(NAME as usize);
    assert_eq!(a[..4], b[..4]);
    assert_ne!(a[4], b[4]);
    let hash = |name: &[u8]| name.iter().fold(0u32, |h, &c| h.wrapping_mul(31) + u32::from(c));
    assert_eq!((hash(a) & 1023, hash(b) & 1023), (slot as u32, slot as u32));
}

/// A CRC-16 over some bytes, as a table-free program computes it.
fn crc16(b: &mut Builder, bytes: std::ops::Range<u32>) -> u32 {
    let mut crc = 0;
    for offset in bytes.clone() {
        let byte = b.byte(offset);
        let wide = b.node(Op::ZExt, 16, [byte, 0, 0], 0);
        crc = if offset == bytes.start { wide } else { b.pair(Op::Xor, crc, wide) };
        for _ in 0..8 {
            let low = b.with(Op::And, crc, 1);
            let mask = b.node(Op::Sub, 16, [0, low, 0], 0);
            let poly = b.with(Op::And, mask, 0xa001);
            let half = b.with(Op::LShr, crc, 1);
            crc = b.pair(Op::Xor, half, poly);
        }
    }
    crc
}

fn crc16_of(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, &byte| {
        (0..8).fold(crc ^ u16::from(byte), |c, _| (c >> 1) ^ (0xa001 & (c & 1).wrapping_neg()))
    })
}

/// The field of the first checksum is under the second one.
#[test]
fn checksums_before_a_flip_are_computed_anew() {
    let mut b = Builder::new(16);
    let sums: Vec<u32> = [0..8, 0..14]
        .map(|bytes| {
            let field = b.node(Op::Read, 16, [1 + bytes.end, 0, 0], 0);
            let crc = crc16(&mut b, bytes);
            b.pair(Op::Eq, crc, field)
        })
        .to_vec();
    let text = b.node(Op::Read, 32, [1 + 2, 0, 0], 0);
    let is_text = b.with(Op::Eq, text, u32::from_le_bytes(*b"text").into());
    let mut input = b"..a file..bcde..".to_vec();
    for at in [8, 14] {
        let crc = crc16_of(&input[..at]);
        input[at..at + 2].copy_from_slice(&crc.to_le_bytes());
    }
    let recording = path(&b, &[sums[0], sums[1], is_text], &input);
    let (model, _) = solved(&recording, 2);
    assert_eq!(model[2..6], *b"text");
    for at in [8, 14] {
        let field = u16::from_le_bytes([model[at], model[at + 1]]);
        assert_eq!(crc16_of(&model[..at]), field, "{at}: {model:?}");
    }
    // Only these bytes change.
    let changed = (0..16).filter(|&i| model[i] != input[i]);
    assert!(changed.clone().all(|i| (2..6).contains(&i) || [8, 9, 14, 15].contains(&i)));
}

/// A sum and a CRC that include their own field, compared with a constant.
#[test]
fn checksums_over_their_own_field_are_met() {
    let mut b = Builder::new(8);
    let crc = crc16(&mut b, 0..8);
    let is_zero = b.with(Op::Eq, crc, 0);
    let first = b.byte(0);
    let is_x = b.with(Op::Eq, first, 0x78);
    let recording = path(&b, &[is_zero], b"abcdefgh");
    let (model, _) = solved(&recording, 0);
    assert_eq!(crc16_of(&model), 0);
    let recording = path(&b, &[is_zero, is_x], &model);
    let (model, _) = solved(&recording, 1);
    assert_eq!((model[0], crc16_of(&model)), (b'x', 0));
}

/// What is refuted without the checksums is infeasible.
#[test]
fn a_flip_behind_a_checksum_is_refuted() {
    let mut b = Builder::new(10);
    let field = b.node(Op::Read, 16, [1 + 8, 0, 0], 0);
    let crc = crc16(&mut b, 0..8);
    let sum = b.pair(Op::Eq, crc, field);
    let (x, y) = (b.byte(0), b.byte(1));
    let (same, other) = (b.pair(Op::Eq, x, y), b.pair(Op::Ult, x, y));
    let mut input = b"aabcdefg..".to_vec();
    let crc = crc16_of(&input[..8]);
    input[8..].copy_from_slice(&crc.to_le_bytes());
    let recording = path(&b, &[sum, same, other], &input);
    assert_eq!(flip(&recording, 2).verdict, Verdict::Unsat);
}

/// A script with the operations of integers in their place would be wrong.
#[test]
fn no_script_is_written_for_floating_point() {
    let mut b = Builder::new(8);
    let x = b.node(Op::Read, 32, [1, 0, 0], 0);
    let y = b.node(Op::Read, 32, [5, 0, 0], 0);
    for (op, has_script) in [(Op::Add, true), (Op::FAdd, false)] {
        let sum = b.pair(op, x, y);
        let is_zero = b.with(Op::Eq, sum, 0);
        let recording = path(&b, &[is_zero], b"12345678");
        let request = SmtRequest::new(&recording, 0, Goal::Not, true, 4096);
        assert_eq!(request.is_some(), has_script, "{op:?}");
    }
}

#[test]
fn overflows_of_short_numbers_are_refuted_and_their_digits_found() {
    let mut b = Builder::new(10);
    let mut conditions = Vec::new();
    let mut value = 0;
    for i in 0..10 {
        let byte = b.byte(i);
        let wide = b.node(Op::ZExt, 64, [byte, 0, 0], 0);
        let digit = b.with(Op::Sub, wide, 0x30);
        conditions.push(b.with(Op::Ult, digit, 10));
        value = match i {
            0 => digit,
            _ => {
                let tens = b.with(Op::Mul, value, 10);
                b.pair(Op::Add, tens, digit)
            }
        };
    }
    conditions.push(b.with(Op::Ult, value, 1 << 40));
    conditions.push(b.with(Op::Eq, value, 7_654_321_098));
    let recording = path(&b, &conditions, b"1234567890");
    assert_eq!(flip(&recording, 10).verdict, Verdict::Unsat);
    assert_eq!(solved(&recording, 11), (b"7654321098".to_vec(), Tier::Inversion));
}

/// A state machine that accepts `aba`.
#[test]
fn a_table_driven_state_machine_is_solved() {
    let mut b = Builder::new(3);
    // state * 256 + byte: 0 -a-> 1 -b-> 2 -a-> 3, everything else to 4.
    let mut table = vec![4u8; 5 * 256];
    for (state, byte, next) in [(0, b'a', 1), (1, b'b', 2), (2, b'a', 3)] {
        table[state * 256 + usize::from(byte)] = next;
    }
    let at = b.snapshot(0x4000, &table);
    let mut state = 0;
    for i in 0..3 {
        let byte = b.byte(i);
        let mut index = b.node(Op::ZExt, 64, [byte, 0, 0], 0);
        if i > 0 {
            let wide = b.node(Op::ZExt, 64, [state, 0, 0], 0);
            let row = b.with(Op::Mul, wide, 256);
            index = b.pair(Op::Add, row, index);
        }
        let address = b.with(Op::Add, index, 0x4000);
        state = b.node(Op::Lookup, 8, [address, at, 0], 0x4000);
    }
    let accepted = b.with(Op::Eq, state, 3);
    let never = b.with(Op::Eq, state, 5);
    let recording = path(&b, &[never, accepted], b"xyz");
    assert_eq!(flip(&recording, 0).verdict, Verdict::Unsat);
    assert_eq!(solved(&recording, 1), (b"aba".to_vec(), Tier::Domains));
}

#[test]
fn streams_do_not_become_shorter_than_what_was_read() {
    let mut b = Builder::new(4);
    let byte = b.byte(2);
    let read = b.with(Op::Eq, byte, 0x63);
    let mut recording = path(&b, &[read], b"abcd");
    let longer = |bound, taken| Step { label: 0, shape: Shape::Len { stream: 0, bound, taken } };
    recording.steps.push(longer(2, true));
    recording.steps.push(longer(3, true));
    recording.steps.push(longer(4, false));
    recording.steps.push(longer(1 << 25, false));
    // The third byte was read.
    assert_eq!(flip(&recording, 1).verdict, Verdict::Unsat);
    assert_eq!(solved(&recording, 2).0, b"abc");
    assert_eq!(solved(&recording, 3).0, b"abcd ");
    assert_eq!(flip(&recording, 4).verdict, Verdict::Unsat);
    recording.steps.remove(3);
    assert_eq!(flip(&recording, 3).verdict, Verdict::Unknown(Why::Length));
}

#[test]
fn the_order_of_requests_does_not_matter() {
    let verdict = |answer: Answer| std::mem::discriminant(&answer.verdict);
    for seed in 500..600 {
        let recording = random_path(seed, 4, true);
        let mut path = recording.path();
        let all = flips(&path);
        let mut solver = Solver::new(Config::default());
        let forward: Vec<_> =
            all.iter().map(|&(at, g)| verdict(solver.flip(&mut path, at, g))).collect();
        let mut solver = Solver::new(Config::default());
        let mut path = recording.path();
        let mut backward: Vec<_> =
            all.iter().rev().map(|&(at, g)| verdict(solver.flip(&mut path, at, g))).collect();
        backward.reverse();
        assert_eq!(forward, backward, "seed {seed}");
    }
}

#[test]
fn equal_requests_have_equal_answers() {
    for seed in 600..660 {
        let recording = random_path(seed, 5, true);
        let run = || {
            let mut path = recording.path();
            let mut solver = Solver::new(Config::default());
            let all = flips(&path);
            all.iter().map(|&(at, g)| solver.flip(&mut path, at, g)).collect::<Vec<_>>()
        };
        assert_eq!(run(), run(), "seed {seed}");
    }
}

#[test]
fn hard_goals_are_not_refuted_and_wrong_goals_are_unknown() {
    // The product of two 64-bit numbers must have a value, and another condition reads both
    // factors.
    let mut b = Builder::new(16);
    let (x, y) = (b.node(Op::Read, 64, [1, 0, 0], 0), b.node(Op::Read, 64, [9, 0, 0], 0));
    let mixed = b.pair(Op::Mul, x, y);
    let other = b.pair(Op::Xor, x, y);
    let square = b.pair(Op::Mul, other, mixed);
    let tied = b.with(Op::Ult, square, 1 << 60);
    let product = b.with(Op::Eq, mixed, 0xdead_beef_1234_5679_u64.into());
    let recording = path(&b, &[tied, product], &[0; 16]);
    let limits = Limits { conflicts: 20, evaluations: 10_000, ..Limits::default() };
    let mut path = recording.path();
    let answer = Solver::new(Config { limits, ..Config::default() }).flip(&mut path, 1, Goal::Not);
    assert!(!matches!(answer.verdict, Verdict::Unsat), "{answer:?}");
    let refused = Solver::new(Config::default()).flip(&mut path, 1, Goal::Case(3));
    assert_eq!(refused.verdict, Verdict::Unknown(Why::NoGoal));
    let nowhere = Solver::new(Config::default()).flip(&mut path, 7, Goal::Not);
    assert_eq!(nowhere.verdict, Verdict::Unknown(Why::NoGoal));
}

#[test]
fn recordings_are_read_back_and_damaged_ones_refused() {
    for seed in 0..50 {
        let recording = random_path(seed, 3, true);
        let bytes = recording.to_bytes();
        let read = Recording::from_bytes(&bytes).expect("it was just written");
        assert_eq!((read.steps, &read.input), (recording.steps, &recording.input));
        assert_eq!(read.expr.nodes(), recording.expr.nodes());
        // A shortened file is refused. A changed one is refused, or its flips do not panic.
        for cut in 0..bytes.len() {
            assert!(Recording::from_bytes(&bytes[..cut]).is_err(), "cut at {cut}");
        }
        for at in (0..bytes.len()).step_by(7) {
            let mut changed = bytes.clone();
            changed[at] ^= 0x41;
            if let Ok(recording) = Recording::from_bytes(&changed) {
                let mut path = recording.path();
                let mut solver = Solver::new(Config::default());
                for (at, goal) in flips(&path).into_iter().take(20) {
                    solver.flip(&mut path, at, goal);
                }
            }
        }
    }
    assert_eq!(Recording::from_bytes(b"PLCHREC9").err(), Some(BadRecording::Magic));
}
