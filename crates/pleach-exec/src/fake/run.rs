//! One run of a fake program: what its `main` reads, decides and reports.

use super::Value;
use super::program::{FILE, FakeProgram};
use crate::executor::{End, Half};
use crate::growth::{Calls, Growth};
use crate::shm::Counts;
use crate::thin::thin;
use crate::trace::{BrokenTrace, Recorded, Trace, check_events};
use crate::triage::Frame;
use pleach_abi::event::{Event, Kind};
use pleach_abi::node::{Node, Op};
use pleach_abi::shm::Loss;
use std::time::Duration;

/// A run in progress. The public fields say how the run was started, and take what the
/// driver would measure.
pub struct FakeRun<'a> {
    /// The half that runs. A program may do something else in each: then they diverge, or
    /// a branch that only the symbolic half decides is folded.
    pub half: Half,
    /// How many runs the target has made before this one, on either half. A program that
    /// depends on it is unstable.
    pub runs_before: usize,
    /// How many inputs the process has seen, this one included.
    pub round: u32,
    /// What typed calls may add to the input.
    pub growth: Growth,

    /// CPU time. A run that uses more than its limit ends with `End::Timeout`.
    pub cpu: Duration,
    pub calls: Calls,
    pub stderr: Vec<u8>,
    /// `CUT_*` bits. The trace has no event after the first.
    pub cut: u32,
    pub losses: [u32; 16],
    pub unmodelled: Vec<String>,

    program: &'a FakeProgram,
    input: &'a [u8],
    /// Bytes from here on are symbolic, and what the program does after it has read one
    /// of them is recorded. Not 0 only in a live run.
    from: usize,
    is_live: bool,
    is_recording: bool,
    /// A live run has used all its bytes. What it does after that is not recorded: it
    /// would be paused.
    pub(super) is_paused: bool,
    /// How far the input was read.
    pub(super) read: usize,
    next_offset: usize,
    counters: Vec<u8>,
    nodes: Vec<Node>,
    events: Vec<Event>,
    /// The input was found to be at least this long, and to end here.
    longer_than: usize,
    end_seen: bool,
    last_line: u32,
}

/// The site of an event that the tables do not have.
const NO_SITE: u32 = u32::MAX;

impl<'a> FakeRun<'a> {
    pub(super) fn new(program: &'a FakeProgram, input: &'a [u8], half: Half) -> FakeRun<'a> {
        FakeRun {
            half,
            runs_before: 0,
            round: 1,
            growth: Growth::default(),
            cpu: Duration::ZERO,
            calls: Calls::default(),
            stderr: Vec::new(),
            cut: 0,
            losses: [0; 16],
            unmodelled: Vec::new(),
            program,
            input,
            from: 0,
            is_live: false,
            is_recording: true,
            is_paused: false,
            read: 0,
            next_offset: 0,
            counters: vec![0; program.counters()],
            nodes: vec![Node::default(); input.len() + 1],
            events: Vec::new(),
            longer_than: 0,
            end_seen: false,
            last_line: 0,
        }
    }

    /// Makes this a live run that was paused at this offset before.
    pub(super) fn resume_at(&mut self, from: usize) {
        (self.is_live, self.from, self.is_recording) = (true, from, from == 0);
    }

    /// The next byte of the input; `None` at its end.
    pub fn next_byte(&mut self) -> Option<Value> {
        let byte = self.try_byte(self.next_offset)?;
        self.next_offset += 1;
        Some(byte)
    }

    /// The byte at an offset; past the end of the input a constant 0.
    pub fn byte(&mut self, offset: usize) -> Value {
        self.try_byte(offset).unwrap_or_else(|| Value::constant_byte(0))
    }

    /// The byte at an offset; `None` past the end of the input. As in the real runtime,
    /// each read decides whether the input is long enough.
    pub fn try_byte(&mut self, offset: usize) -> Option<Value> {
        let byte = self.input.get(offset).copied();
        if self.is_live {
            self.is_paused |= byte.is_none();
            self.is_recording = (self.is_recording || offset >= self.from) && !self.is_paused;
        } else {
            self.decide_length(offset, byte.is_some());
        }
        let byte = byte?;
        self.read = self.read.max(offset + 1);
        let Some(number) = offset.checked_sub(self.from) else {
            return Some(Value::constant_byte(byte));
        };
        let (op, a) = (Op::Input as u8, number as u32);
        self.nodes[1 + number] = Node { op, width: 8, a, val: byte.into(), ..Node::default() };
        Some(Value::input_byte(byte, a))
    }

    /// Takes a branch: counts its side, and records an event if the condition is symbolic.
    pub fn branch(&mut self, line: u32, condition: Value) -> bool {
        let is_taken = condition.seen != 0;
        let site = self.take_side(line, if is_taken { 0 } else { 1 });
        self.record_condition(site, Kind::Branch, &condition);
        is_taken
    }

    /// Takes a switch. Returns the place of the case; `None` for the default.
    pub fn switch(&mut self, line: u32, value: &Value) -> Option<usize> {
        let place = self.program.find(line).unwrap_or_else(|| panic!("no site on line {line}"));
        let cases = &place.info.cases;
        let case = cases.iter().position(|&case| case == value.seen);
        let site = self.take_side(line, case.unwrap_or(cases.len()));
        let label = value.record(&mut self.nodes);
        if label != 0 {
            let kind = Kind::Switch as u8;
            self.record(Event { site, label, kind, dir: 1, ..Event::default() });
        }
        case
    }

    /// Makes a decision that is no branch of the program: a check, an assumption, a
    /// decision inside a model.
    pub fn decide(&mut self, kind: Kind, condition: Value) -> bool {
        self.record_condition(NO_SITE, kind, &condition);
        condition.seen != 0
    }

    /// Pins an address to the number that it has.
    pub fn pin(&mut self, address: &Value) -> u64 {
        self.losses[Loss::Pinned as usize] += 1;
        self.decide(Kind::Pin, address.equals(address.seen));
        address.seen
    }

    /// Ends the program with a signal, at the site that it took last.
    pub fn crash(&self, signal: i32) -> End {
        End::Signal(signal)
    }

    /// Appends an event to the trace, also one that makes the trace broken.
    pub fn record(&mut self, event: Event) {
        if self.half == Half::Symbolic && self.is_recording && self.cut == 0 {
            self.events.push(event);
        }
    }

    fn record_condition(&mut self, site: u32, kind: Kind, condition: &Value) {
        let label = condition.record(&mut self.nodes);
        if label != 0 {
            let dir = u8::from(condition.seen != 0);
            self.record(Event { site, label, kind: kind as u8, dir, ..Event::default() });
        }
    }

    /// "The input is longer than `offset` bytes": recorded unless it follows from what was
    /// recorded before.
    fn decide_length(&mut self, offset: usize, is_longer: bool) {
        let is_known = if is_longer { offset < self.longer_than } else { self.end_seen };
        if is_known {
            return;
        }
        match is_longer {
            true => self.longer_than = offset + 1,
            false => self.end_seen = true,
        }
        let (kind, dir, aux) = (Kind::Len as u8, is_longer.into(), offset as u32);
        self.record(Event { site: NO_SITE, kind, dir, aux, ..Event::default() });
    }

    /// Counts one side of the site on a line. Returns the place of the site in the table.
    fn take_side(&mut self, line: u32, side: usize) -> u32 {
        let place = self.program.find(line).unwrap_or_else(|| panic!("no site on line {line}"));
        if self.is_recording {
            let counter = &mut self.counters[place.first_counter + side];
            *counter = counter.saturating_add(1);
        }
        self.last_line = line;
        place.index
    }

    /// The stack: only the function with the site that was taken last.
    pub(super) fn stack(&self) -> Vec<Frame> {
        let frame = self.program.find(self.last_line).map(|place| Frame {
            function: place.function.into(),
            file: FILE.into(),
            line: self.last_line,
            module: "fake".into(),
            ..Frame::default()
        });
        frame.into_iter().collect()
    }

    /// The counters, and the trace as the driver reads it.
    pub(super) fn finish(self, lengths: &[u32]) -> (Vec<u8>, Result<Trace, BrokenTrace>) {
        let counts = Counts {
            nodes: self.nodes.len() as u32,
            events: self.events.len() as u32,
            tokens: 0,
            snapshots: 0,
            cut: self.cut,
            losses: self.losses,
            input_read: self.read.saturating_sub(self.from) as u32,
            unmodelled: self.unmodelled,
        };
        let input_len = (self.input.len() - self.from) as u32;
        let trace = check_events(&self.events).and_then(|()| {
            let (nodes, thinned) = (self.nodes, thin(self.events));
            let (tokens, snapshots) = (Vec::new(), Vec::new());
            let modules = vec![self.program.module()];
            let recorded = Recorded { counts, nodes, thinned, tokens, snapshots, modules };
            Trace::build(recorded, input_len, lengths)
        });
        (self.counters, trace)
    }
}
