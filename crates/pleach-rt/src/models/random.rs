//! Pseudorandom numbers: `rand`, `random`, `rand_r` and the family of `lrand48`, seeded by the
//! input.
//!
//! The models compute glibc's generators beside the real functions. After `srand` with a
//! labelled seed, the state is a list of expressions over the seed. A state that the program sets
//! in another way (`initstate`, `setstate`) is noticed, since the numbers differ: then the results
//! are concrete, and that is counted.
#![allow(clashing_extern_declarations, reason = "models see pointers as numbers")]

use super::api::V;
use super::define::models;
use crate::symbolic::arena;
use crate::symbolic::events::count_loss;
use crate::symbolic::is_labelling;
use pleach_abi::node::Op;
use pleach_abi::shm::Loss;

mod real {
    unsafe extern "C" {
        pub fn srand(seed: u32);
        pub fn srandom(seed: u32);
        pub fn rand() -> i32;
        pub fn random() -> i64;
        pub fn rand_r(seed: u64) -> i32;
        pub fn srand48(seed: i64);
        pub fn lrand48() -> i64;
        pub fn mrand48() -> i64;
    }
}

models! {
    fn srand(seed: u32) {
        real::srand(seed.val as u32);
        additive().start(seed);
    }
    fn srandom(seed: u32) {
        real::srandom(seed.val as u32);
        additive().start(seed);
    }
    fn rand() -> i32 {
        additive().next(real::rand() as u32 as u64)
    }
    fn random() -> i64 {
        additive().next(real::random() as u64).zext(64)
    }
    fn rand_r(seed: u64) -> i32 {
        let at = seed.pin();
        let seed = V::load(at, 32);
        let out = V::new(32, real::rand_r(at) as u32 as u64);
        let (next, number) = step_by_seed(seed);
        if seed.label == 0 || number.val != out.val {
            V::new(32, 0).store_label(at);
            return out;
        }
        next.store_label(at);
        number
    }
    fn srand48(seed: i64) {
        real::srand48(seed.val as i64);
        let low = seed.trunc(32).zext(64);
        let shifted = low.mul(V::new(64, 1 << 16)).or(V::new(64, 0x330e));
        *congruential() = Some(shifted).filter(|s| s.label != 0);
    }
    fn lrand48() -> i64 {
        let out = V::new(64, real::lrand48() as u64);
        step_48(out, |x| x.shift_right(17))
    }
    fn mrand48() -> i64 {
        let out = V::new(64, real::mrand48() as u64);
        step_48(out, |x| x.shift_right(16).trunc(32).sext(64))
    }
}

/// The generator of `random`: each number is the sum of two earlier ones.
struct Additive {
    /// Without a labelled seed there are no labels.
    is_on: bool,
    words: [V; WORDS],
    /// The word that is changed next.
    front: usize,
}

const WORDS: usize = 31;
const DISTANCE: usize = 3;
const NO_WORD: V = V::new(32, 0);

static mut ADDITIVE: Additive = Additive { is_on: false, words: [NO_WORD; WORDS], front: 0 };
static mut CONGRUENTIAL: Option<V> = None;

fn additive() -> &'static mut Additive {
    // Safety: threads that draw numbers at the same time get labels that do not fit, which
    // is noticed.
    unsafe { &mut *&raw mut ADDITIVE }
}

fn congruential() -> &'static mut Option<V> {
    // Safety: as above.
    unsafe { &mut *&raw mut CONGRUENTIAL }
}

pub fn begin_run() {
    additive().is_on = false;
    *congruential() = None;
}

impl Additive {
    fn start(&mut self, seed: V) {
        self.is_on = seed.label != 0 && is_labelling();
        if !self.is_on {
            return;
        }
        let constant = |n: u32| V::new(32, n.into());
        let mut word = seed.eq(constant(0)).choose(constant(1), seed);
        self.words[0] = word;
        for place in &mut self.words[1..] {
            word = next_word(word);
            *place = word;
        }
        self.front = DISTANCE;
        for _ in 0..10 * WORDS {
            self.step();
        }
    }

    fn step(&mut self) -> V {
        let back = (self.front + WORDS - DISTANCE) % WORDS;
        let sum = self.words[self.front].add(self.words[back]);
        self.words[self.front] = sum;
        self.front = (self.front + 1) % WORDS;
        sum.shift_right(1)
    }

    /// The next number, which the real function says is `val`.
    fn next(&mut self, val: u64) -> V {
        let plain = V::new(32, val);
        if !self.is_on {
            return plain;
        }
        let number = self.step();
        if number.val == plain.val {
            return number;
        }
        self.is_on = false;
        count_loss(Loss::Model);
        plain
    }
}

/// 16807 times a word, modulo 2^31 - 1; computed as glibc does, with signed numbers.
fn next_word(word: V) -> V {
    let constant = |n: i32| V::new(32, n as u32 as u64);
    let part = |op, val: i32| {
        let val = val as u32 as u64;
        let label = match word.label {
            0 => 0,
            label => arena::binary(op, 32, label, 0, 127_773, val),
        };
        V::arg(label, 32, val)
    };
    let signed = word.val as u32 as i32;
    let (high, low) = (part(Op::SDiv, signed / 127_773), part(Op::SRem, signed % 127_773));
    let next = low.mul(constant(16_807)).sub(high.mul(constant(2_836)));
    next.slt(constant(0)).choose(next.add(constant(i32::MAX)), next)
}

/// `rand_r`: the next seed, and the number.
fn step_by_seed(seed: V) -> (V, V) {
    let constant = |n: u32| V::new(32, n.into());
    let (mut seed, mut number) = (seed, constant(0));
    for (shift, size) in [(0, 2048), (1024, 1024), (1024, 1024)] {
        seed = seed.mul(constant(1_103_515_245)).add(constant(12_345));
        let part = seed.shift_right(16).and(constant(size - 1));
        number = if shift == 0 { part } else { number.mul(constant(shift)).xor(part) };
    }
    (seed, number)
}

/// One step of the generator with 48 bits. `out` is what the real function has returned.
fn step_48(out: V, number: impl FnOnce(V) -> V) -> V {
    let Some(state) = *congruential() else { return out };
    let product = state.mul(V::new(64, 0x5_deec_e66d)).add(V::new(64, 0xb));
    let next = product.and(V::new(64, (1 << 48) - 1));
    let number = number(next);
    if number.val == out.val {
        *congruential() = Some(next);
        return number;
    }
    *congruential() = None;
    count_loss(Loss::Model);
    out
}
