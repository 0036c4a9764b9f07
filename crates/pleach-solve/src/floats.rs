//! Tier 3 for floating point: local search over numbers, not bytes.
//!
//! The numbers that enter floating-point operations from the input are the variables: bits
//! that are read as a number, integers that are converted, the digits of a number in text.
//! The distance of a comparison that does not hold is the number of floating-point numbers
//! between its sides, so that there is always a next smaller distance (XSat, Fu and Su 2016;
//! goSAT). A step tries, for each variable, moves by all powers of two in that order, and
//! some special numbers, and takes the best (the alternating variable method of Korel 1990).
//! All moves of a variable are evaluated at once. Two variables also move together by the
//! difference of two sides, which solves most systems of linear equations.
//!
//! A point where all conditions hold is turned into bytes by inversion. The model is then
//! evaluated on all conditions, as always. Nothing is proved here.

use crate::domains::LANES;
use crate::inversion::{self, from_order, to_order};
use crate::request::{Found, Request};
use pleach_expr::{Code, Frame, Pool, Tape, Term, Var, as_double, from_double, mask64};
use std::collections::HashSet;

/// Variables of one search.
const MAX_VARIABLES: usize = 12;
/// Conditions that are evaluated.
const MAX_CONDITIONS: usize = 64;
/// Terms that are visited to find the variables.
const MAX_TERMS: usize = 4_000;
/// Random moves after which the search gives up.
const MAX_JUMPS: u32 = 24;
/// Points where the conditions hold that are turned into bytes.
const MAX_POINTS: u32 = 8;

/// Gaps of conditions that are tried as moves.
const MAX_GAPS: usize = 8;
const MAX_JOINT_MOVES: usize = 512;

/// New numbers of variables, by their places.
type Step = Vec<(usize, u64)>;

/// A number that the search changes.
struct Variable {
    term: Term,
    kind: Kind,
    width: u32,
    now: u64,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Float,
    Integer,
    /// An integer in decimal digits, with its limit.
    Digits(u64),
}

/// How far a condition is from holding.
enum Distance {
    Compare {
        code: Code,
        wanted: bool,
        width: u32,
        sides: (usize, usize),
    },
    All(Vec<Distance>),
    Any(Vec<Distance>),
    /// A bit that must have this value.
    Bit {
        root: usize,
        wanted: bool,
    },
}

pub(crate) fn solve(request: &mut Request) -> Found {
    let Some(mut search) = Search::new(request) else { return Found::Pass };
    search.run(request)
}

struct Search {
    variables: Vec<Variable>,
    distances: Vec<Distance>,
    tape: Tape,
    /// Numbers that the conditions compare with, to start moves from.
    landmarks: Vec<f64>,
}

impl Search {
    /// `None` if no goal touches floating point, or there is nothing to change.
    fn new(request: &mut Request) -> Option<Search> {
        let (pool, values) = (&request.path.pool, &request.path.values);
        let mut finder = Finder::new(pool);
        request.goals.iter().for_each(|&goal| finder.visit(goal, false));
        if !finder.touches_float || finder.found.is_empty() {
            return None;
        }
        let mut vars: Vec<Var> = finder.found.iter().flat_map(|v| pool.vars(v.0)).collect();
        vars.sort_unstable();
        vars.dedup();
        let mut conditions = request.goals.clone();
        for condition in request.neighbours(&vars) {
            let mut inner = Finder::new(&request.path.pool);
            inner.visit(condition, false);
            if inner.touches_float && conditions.len() < MAX_CONDITIONS {
                finder.visit(condition, false);
                conditions.push(condition);
            }
        }
        if finder.found.len() > MAX_VARIABLES || finder.is_too_large() {
            return None;
        }
        let variables: Vec<Variable> = finder
            .found
            .iter()
            .map(|&(term, kind)| {
                let now = values.get(term) as u64;
                Variable { term, kind, width: pool.width(term), now }
            })
            .collect();
        let mut free: Vec<Var> = variables.iter().flat_map(|v| pool.vars(v.term)).collect();
        free.sort_unstable();
        free.dedup();
        let mut roots = Vec::new();
        let distances: Vec<Distance> =
            conditions.iter().map(|&c| distance(pool, c, true, 0, &mut roots)).collect();
        let landmarks = roots
            .iter()
            .filter(|r| matches!(pool.width(**r), 32 | 64))
            .map(|&r| as_double(pool.width(r), values.get(r) as u64))
            .filter(|n| n.is_finite())
            .take(8)
            .collect();
        let cuts: Vec<Term> = variables.iter().map(|v| v.term).collect();
        let compiler = &mut request.scratch.compiler;
        let tape = compiler.compile_cut(pool, values, &roots, &[], &free, &cuts);
        (!tape.is_wide()).then_some(Search { variables, distances, tape, landmarks })
    }

    fn run(&mut self, request: &mut Request) -> Found {
        let mut random = 0x9e37_79b9_7f4a_7c15u64 ^ request.at as u64;
        let (mut jumps, mut points) = (0, 0);
        request.scratch.lanes.load(&self.tape);
        let budget = request.scratch.lanes.work + request.limits.evaluations / 8;
        let mut best = f64::INFINITY;
        loop {
            let step = self.best_move(request, &mut best);
            if best == 0.0 {
                self.take(step.as_deref().unwrap_or_default());
                if let Some(found) = self.as_bytes(request) {
                    return found;
                }
                points += 1;
                // The tape may have been replaced by another one.
                request.scratch.lanes.load(&self.tape);
            }
            match step.filter(|_| best != 0.0) {
                Some(step) => self.take(&step),
                None => {
                    jumps += 1;
                    let place = next_random(&mut random) as usize % self.variables.len();
                    let moves = self.moves(place, &[]);
                    let picked = next_random(&mut random) as usize % moves.len().max(1);
                    self.variables[place].now = moves[picked];
                    best = f64::INFINITY;
                }
            }
            let is_over = request.scratch.lanes.work > budget || pleach_work::is_stopping();
            if jumps > MAX_JUMPS || points > MAX_POINTS || is_over {
                return Found::Pass;
            }
        }
    }

    /// The move with the smallest distance below `best`, which becomes that distance.
    fn best_move(&self, request: &mut Request, best: &mut f64) -> Option<Step> {
        let gaps = self.gaps(request);
        let mut step = None;
        let singles = (0..self.variables.len()).map(|place| {
            self.moves(place, &gaps).into_iter().map(|number| vec![(place, number)]).collect()
        });
        let tries: Vec<Vec<Step>> = singles.chain([self.joint_moves(&gaps)]).collect();
        for block in tries.iter().flat_map(|moves| moves.chunks(LANES)) {
            let frame = &mut request.scratch.lanes;
            for (i, v) in self.variables.iter().enumerate() {
                let number = |lane: usize| {
                    let changed = block[lane.min(block.len() - 1)].iter().find(|c| c.0 == i);
                    changed.map_or(v.now, |c| c.1)
                };
                frame.set(&self.tape, i, std::array::from_fn(number));
            }
            frame.run(&request.path.pool, &self.tape);
            for (lane, tried) in block.iter().enumerate() {
                let far = self.distance(&request.scratch.lanes, lane);
                if far < *best {
                    (*best, step) = (far, Some(tried.clone()));
                }
            }
            if *best == 0.0 {
                break;
            }
        }
        step
    }

    fn distance(&self, frame: &Frame<LANES>, lane: usize) -> f64 {
        self.distances.iter().map(|d| measure(d, &self.tape, frame, lane)).sum()
    }

    /// The differences of the sides of comparisons of floating point that do not hold now.
    fn gaps(&self, request: &mut Request) -> Vec<f64> {
        let frame = &mut request.scratch.lanes;
        for (i, v) in self.variables.iter().enumerate() {
            frame.set(&self.tape, i, [v.now; LANES]);
        }
        frame.run(&request.path.pool, &self.tape);
        let mut gaps = Vec::new();
        for d in &self.distances {
            if let Distance::Compare { code, width, sides, .. } = d
                && code.is_float_compare()
                && measure(d, &self.tape, frame, 0) != 0.0
            {
                let side = |root| as_double(*width, frame.root(&self.tape, root)[0]);
                gaps.push(side(sides.1) - side(sides.0));
            }
        }
        gaps.retain(|gap| gap.is_finite() && *gap != 0.0);
        gaps.truncate(MAX_GAPS);
        gaps
    }

    /// Moves of two numbers by a gap or a part of it, in the same or in opposite directions.
    fn joint_moves(&self, gaps: &[f64]) -> Vec<Step> {
        let floats: Vec<usize> =
            (0..self.variables.len()).filter(|&i| self.variables[i].kind == Kind::Float).collect();
        let mut moves = Vec::new();
        for (n, &first) in floats.iter().enumerate() {
            for &second in &floats[n + 1..] {
                for by in gaps.iter().flat_map(|gap| [0.5, -0.5, 1.0, -1.0].map(|part| gap * part))
                {
                    let moved = |i: usize, by: f64| {
                        let v = &self.variables[i];
                        (i, from_double(v.width, as_double(v.width, v.now) + by))
                    };
                    moves.push(vec![moved(first, by), moved(second, by)]);
                    moves.push(vec![moved(first, by), moved(second, -by)]);
                }
            }
        }
        moves.truncate(MAX_JOINT_MOVES);
        moves
    }

    fn take(&mut self, step: &[(usize, u64)]) {
        for &(place, number) in step {
            self.variables[place].now = number;
        }
    }

    /// The numbers that a variable is given in one step; the present one first.
    fn moves(&self, place: usize, gaps: &[f64]) -> Vec<u64> {
        let v = &self.variables[place];
        let mut all = vec![v.now];
        match v.kind {
            Kind::Float => {
                let at = to_order(v.width, v.now);
                for shift in (0..v.width - 1).map(|n| 1i128 << n) {
                    all.extend([at + shift, at - shift].map(|to| from_order(v.width, to)));
                }
                let now = as_double(v.width, v.now);
                let special = [
                    0.0,
                    0.5,
                    1.0,
                    2.0,
                    10.0,
                    100.0,
                    1e-3,
                    -1.0,
                    -now,
                    now.round(),
                    now.floor(),
                    now.ceil(),
                    now + 1.0,
                    now - 1.0,
                    now * 2.0,
                    now / 2.0,
                    now * 10.0,
                    now / 10.0,
                    f64::INFINITY,
                    f64::NEG_INFINITY,
                    f64::NAN,
                ];
                let near = self.landmarks.iter().flat_map(|&n| [n, -n, n + 1.0, n - 1.0, n.sqrt()]);
                let closed = gaps.iter().flat_map(|gap| [now + gap, now - gap]);
                let all_special = special.into_iter().chain(near).chain(closed);
                all.extend(all_special.map(|n| from_double(v.width, n)));
            }
            Kind::Integer | Kind::Digits(_) => {
                let limit = match v.kind {
                    Kind::Digits(limit) => limit,
                    _ => mask64(v.width),
                };
                let powers = (0..v.width.min(63)).map(|n| 1u64 << n);
                let tens = (0..19).map(|n| 10u64.pow(n));
                for shift in powers.chain(tens.take_while(|&n| n <= limit)) {
                    all.extend([v.now.wrapping_add(shift), v.now.wrapping_sub(shift)]);
                }
                all.extend([0, 1, limit, limit / 2, limit / 2 + 1, v.now ^ limit, v.now / 2]);
                let near = self.landmarks.iter().map(|&n| n as i64 as u64);
                all.extend(near.flat_map(|n| [n, n.wrapping_add(1), n.wrapping_sub(1)]));
                match v.kind {
                    Kind::Digits(_) => all.retain(|&n| n <= limit),
                    _ => all.iter_mut().for_each(|n| *n &= limit),
                }
            }
        }
        all
    }

    /// The model that gives the variables their numbers, if it holds.
    fn as_bytes(&self, request: &mut Request) -> Option<Found> {
        let changed: Vec<(Term, u128)> = self
            .variables
            .iter()
            .filter(|v| request.path.values.get(v.term) as u64 != v.now)
            .map(|v| (v.term, v.now.into()))
            .collect();
        let changes = inversion::require(request, &changed)?;
        (!changes.is_empty() && request.holds(&changes)).then_some(Found::Sat(changes))
    }
}

/// Finds the variables of conditions.
struct Finder<'a> {
    pool: &'a Pool,
    seen: HashSet<(Term, bool)>,
    found: Vec<(Term, Kind)>,
    touches_float: bool,
}

impl<'a> Finder<'a> {
    fn new(pool: &'a Pool) -> Finder<'a> {
        Finder { pool, seen: HashSet::new(), found: Vec::new(), touches_float: false }
    }

    fn is_too_large(&self) -> bool {
        self.seen.len() > MAX_TERMS
    }

    /// Visits a term and its operands; `number` if it is used as a number.
    fn visit(&mut self, root: Term, number: bool) {
        let mut stack = vec![(root, number)];
        while let Some((term, number)) = stack.pop() {
            if self.is_too_large()
                || self.pool.reads(term).is_empty()
                || !self.seen.insert((term, number))
            {
                continue;
            }
            let node = self.pool.node(term);
            self.touches_float |= node.code.touches_float();
            let mut operands = node.operands();
            match node.code {
                Code::FDecimal => {
                    let digits = operands.next().unwrap_or(term);
                    let bytes = self.pool.vars(digits).count() as u32;
                    let limit = 10u64.checked_pow(bytes).map_or(u64::MAX, |n| n - 1);
                    self.add(digits, Kind::Digits(limit));
                }
                Code::SToF | Code::UToF => {
                    let integer = operands.next().unwrap_or(term);
                    if self.reads_float(integer) {
                        stack.push((integer, false));
                    } else {
                        self.add(integer, Kind::Integer);
                    }
                }
                Code::Read | Code::Len => {
                    let is_number = number && matches!(node.width, 32 | 64);
                    self.add(term, if is_number { Kind::Float } else { Kind::Integer });
                }
                Code::Concat if number && !self.reads_float(term) => self.add(term, Kind::Float),
                code => {
                    let takes_numbers = code.touches_float();
                    let passes = number && matches!(code, Code::And | Code::Or | Code::Xor);
                    for (n, operand) in operands.enumerate() {
                        let is_choice = number && code == Code::Ite && n > 0;
                        stack.push((operand, takes_numbers || passes || is_choice));
                    }
                }
            }
        }
    }

    fn add(&mut self, term: Term, kind: Kind) {
        let reads = !self.pool.reads(term).is_empty() && self.pool.width(term) <= 64;
        if reads && !self.found.iter().any(|f| f.0 == term) {
            self.found.push((term, kind));
        }
    }

    /// True if an integer is computed from floating point.
    fn reads_float(&self, term: Term) -> bool {
        let mut stack = vec![term];
        let mut seen = HashSet::new();
        while let Some(term) = stack.pop() {
            let node = self.pool.node(term);
            if node.code.touches_float() || seen.len() > MAX_TERMS {
                return true;
            }
            let inside = node.operands().filter(|o| !self.pool.reads(*o).is_empty());
            stack.extend(inside.filter(|o| seen.insert(*o)));
        }
        false
    }
}

/// How deep below a condition its bits are taken apart.
const MAX_DEPTH: u32 = 8;

/// The distance of a condition; its terms go to `roots`.
fn distance(pool: &Pool, term: Term, wanted: bool, depth: u32, roots: &mut Vec<Term>) -> Distance {
    let node = pool.node(term);
    let mut operands = node.operands();
    let (x, y) = (operands.next(), operands.next());
    let bit = |roots: &mut Vec<Term>| {
        roots.push(term);
        Distance::Bit { root: roots.len() - 1, wanted }
    };
    let (Some(x), Some(y)) = (x, y) else { return bit(roots) };
    let is_bit = pool.width(x) == 1;
    match node.code {
        Code::FEq
        | Code::FLt
        | Code::FLe
        | Code::Eq
        | Code::Ult
        | Code::Ule
        | Code::Slt
        | Code::Sle
            if !is_bit =>
        {
            roots.extend([x, y]);
            let sides = (roots.len() - 2, roots.len() - 1);
            Distance::Compare { code: node.code, wanted, width: pool.width(x), sides }
        }
        Code::Xor | Code::Eq | Code::Ne if is_bit && depth < MAX_DEPTH => {
            let (other, constant) = match (pool.constant(x), pool.constant(y)) {
                (_, Some(c)) => (x, c),
                (Some(c), _) => (y, c),
                _ => return bit(roots),
            };
            let is_negation = (constant == 1) != (node.code == Code::Eq);
            distance(pool, other, wanted != is_negation, depth + 1, roots)
        }
        Code::And | Code::Or if is_bit && depth < MAX_DEPTH => {
            let both =
                [x, y].into_iter().map(|t| distance(pool, t, wanted, depth + 1, roots)).collect();
            match (node.code == Code::And) == wanted {
                true => Distance::All(both),
                false => Distance::Any(both),
            }
        }
        _ => bit(roots),
    }
}

/// Of a condition that does not hold, beside what it is from holding: two that nearly hold
/// are worse than one that is far from it.
const FAILED: f64 = 1000.0;
/// In place of the logarithm of a gap, which is at most 45.
const NO_GAP: f64 = 50.0;

fn measure(distance: &Distance, tape: &Tape, frame: &Frame<LANES>, lane: usize) -> f64 {
    match distance {
        Distance::Bit { root, wanted } => {
            let holds = frame.root(tape, *root)[lane] != 0;
            if holds == *wanted { 0.0 } else { FAILED }
        }
        Distance::All(all) => all.iter().map(|d| measure(d, tape, frame, lane)).sum(),
        Distance::Any(any) => {
            any.iter().map(|d| measure(d, tape, frame, lane)).fold(f64::INFINITY, f64::min)
        }
        Distance::Compare { code, wanted, width, sides } => {
            let (x, y) = (frame.root(tape, sides.0)[lane], frame.root(tape, sides.1)[lane]);
            compare(*code, *wanted, *width, x, y)
        }
    }
}

fn compare(code: Code, wanted: bool, width: u32, x: u64, y: u64) -> f64 {
    let is_signed = matches!(code, Code::Slt | Code::Sle);
    let (a, b) = match code.is_float_compare() {
        true => {
            let (p, q) = (as_double(width, x), as_double(width, y));
            if p.is_nan() || q.is_nan() {
                // Every comparison with a NaN is false.
                return if wanted { FAILED + NO_GAP } else { 0.0 };
            }
            (to_order(width, x), to_order(width, y))
        }
        false if is_signed => {
            let sign = 1u64 << (width.clamp(1, 64) - 1);
            (i128::from(x ^ sign), i128::from(y ^ sign))
        }
        false => (i128::from(x), i128::from(y)),
    };
    let (holds, gap) = match code {
        Code::FEq | Code::Eq => (a == b, if wanted { a.abs_diff(b) } else { 1 }),
        Code::FLt | Code::Ult | Code::Slt => (a < b, a.abs_diff(b) + u128::from(wanted)),
        _ => (a <= b, a.abs_diff(b) + u128::from(!wanted)),
    };
    // The logarithm, so that small gaps of several conditions still count.
    if holds == wanted { 0.0 } else { FAILED + (gap as f64).ln_1p() }
}

fn next_random(random: &mut u64) -> u64 {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    *random >> 8
}
