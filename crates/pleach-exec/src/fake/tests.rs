//! What a fake target can do, each ability in one small program.

use super::*;
use crate::executor::{Events, Paused, Step};
use crate::oracle;
use crate::{TokenSeen, container};
use pleach_abi::event::{Event, Kind};
use pleach_abi::shm::{CUT_EVENTS, Loss};
use pleach_expr::{NoSymbols, Printer};

const RUN: RunOptions = RunOptions {
    timeout: Duration::from_secs(1),
    cpu_limit: None,
    fresh: false,
    growth: Growth { limit: 0, seed: 0, fixed: false },
};

const TRACE: TraceOptions = TraceOptions {
    losses: false,
    timeout: Duration::from_secs(1),
    cpu_limit: None,
    tokens: false,
    holes: &[],
    growth: RUN.growth,
};

fn end(target: &mut FakeTarget, input: &[u8]) -> End {
    target.run(input, &RUN).unwrap().end
}

fn counters(target: &FakeTarget) -> Vec<u8> {
    joined(target.touched())
}

fn joined(touched: Touched) -> Vec<u8> {
    touched.by_module().into_iter().flat_map(|m| m.counters).collect()
}

/// The trace of an input, checked: every expression has the value that the program saw.
fn trace(target: &mut FakeTarget, input: &[u8]) -> Trace {
    let trace = target.trace(input, &TRACE).unwrap().trace.expect("a sound trace");
    assert_eq!(oracle::check(&trace, &container::view(input), 5), []);
    trace
}

/// The path condition of an input, as `pleach explain` prints it.
fn path(target: &mut FakeTarget, input: &[u8]) -> Vec<String> {
    let trace = trace(target, input);
    let printer = Printer::new(&trace.expr, &NoSymbols);
    let condition = |e: &Event| match crate::trace::kind(e) {
        Kind::Len => Printer::longer(e.stream, e.aux, e.dir == 1),
        Kind::Switch => printer.equals(e.label, trace.expr.recorded(e.label)),
        _ => printer.condition(e.label, e.dir == 1),
    };
    trace.events.iter().map(condition).collect()
}

#[test]
fn branches_are_counted_and_traced() {
    let mut target = FakeProgram::new().branches("main", [10, 11, 12]).target(|run| {
        let (a, b) = (run.byte(0), run.byte(1));
        run.branch(10, a.equals(b'x'));
        run.branch(11, a.plus(3u8).is_below(&b));
        run.branch(12, a.with_high(&b).equals(0x6261u64));
        End::Exit(0)
    });
    assert_eq!(end(&mut target, b"ab"), End::Exit(0));
    assert_eq!(counters(&target), [0, 1, 0, 1, 1, 0]);
    assert_eq!(end(&mut target, b"xz"), End::Exit(0));
    assert_eq!(counters(&target), [1, 0, 0, 1, 0, 1]);
    let expected = [
        "len > 0",
        "len > 1",
        "in[0] != 'x'",
        "(uint8_t)(in[0] + 3) >= in[1]",
        "u16le(in) == 0x6261",
    ];
    assert_eq!(path(&mut target, b"ab"), expected);
    let trace = trace(&mut target, b"ab");
    assert_eq!(oracle::predict(&trace, None, &container::view(b"xb")), Some(2));
    assert_eq!(oracle::predict(&trace, None, &container::view(b"ab")), None);
}

#[test]
fn a_switch_has_a_side_for_each_case() {
    let mut target = FakeProgram::new().switch("main", 10, [b'+', b'-']).target(|run| {
        let byte = run.byte(0);
        End::Exit(run.switch(10, &byte).map_or(9, |case| case as i32))
    });
    for (input, status, expected) in
        [(b"+", 0, [1, 0, 0]), (b"-", 1, [0, 1, 0]), (b"?", 9, [0, 0, 1])]
    {
        assert_eq!(end(&mut target, input), End::Exit(status));
        assert_eq!(counters(&target), expected);
    }
    let layout = target.layout();
    let trace = trace(&mut target, b"-");
    let event = trace.events.last().unwrap();
    assert_eq!(trace.cases(&layout, event), Some(&[b'+'.into(), b'-'.into()][..]));
    let (function, site) = trace.place(&layout, event).unwrap();
    assert_eq!((function.name.as_str(), function.file_of(site), site.line), ("main", FILE, 10));
}

#[test]
fn reads_decide_on_the_length_of_the_input() {
    let mut target = FakeProgram::new().branches("main", [10]).target(|run| {
        let mut count = 0;
        while let Some(byte) = run.next_byte() {
            run.branch(10, byte.equals(b' '));
            count += 1;
        }
        // Neither decides anything new.
        assert!(run.try_byte(count).is_none() && run.byte(0).seen == b'a'.into());
        End::Exit(count as i32)
    });
    assert_eq!(end(&mut target, b"ab"), End::Exit(2));
    let expected = ["len > 0", "in[0] != ' '", "len > 1", "in[1] != ' '", "len <= 2"];
    assert_eq!(path(&mut target, b"ab"), expected);
    let trace = trace(&mut target, b"ab");
    assert_eq!(trace.input_read, 2);
    assert_eq!(oracle::predict(&trace, None, &container::view(b"abc")), Some(4));
}

#[test]
fn a_run_ends_as_main_says() {
    let ends = [
        End::Exit(3),
        End::Signal(libc::SIGSEGV),
        End::Timeout,
        End::Memory,
        End::Output,
        End::Processes,
        End::Lost("the fork server is gone".into()),
    ];
    let expected = ends.clone();
    let mut target = FakeProgram::new().branches("main", [10]).target(move |run| {
        let byte = run.byte(0);
        run.branch(10, byte.equals(0u8));
        ends[byte.seen as usize].clone()
    });
    for (number, expected) in (0u8..).zip(expected) {
        assert_eq!(end(&mut target, &[number]), expected);
        let counted = if matches!(expected, End::Lost(_)) { 0 } else { 2 };
        assert_eq!(counters(&target).len(), counted);
    }
}

#[test]
fn a_crash_is_known_by_its_signal_and_place() {
    let mut target =
        FakeProgram::new().branches("main", [10]).branches("parse", [20]).target(|run| {
            let (a, b) = (run.byte(0), run.byte(1));
            if run.branch(10, a.equals(b'a')) && run.branch(20, b.equals(b'b')) {
                return run.crash(libc::SIGSEGV);
            }
            if a.seen == b'!'.into() { run.crash(libc::SIGABRT) } else { End::Exit(0) }
        });
    assert!(target.examine(b"xx").unwrap().crash.is_none());
    let deep = target.examine(b"ab").unwrap();
    assert_eq!(deep.outcome.end, End::Signal(libc::SIGSEGV));
    let deep = deep.crash.unwrap();
    assert_eq!(deep.to_string(), "SIGSEGV in parse (fake.c:20)");
    let other = target.examine(b"!").unwrap().crash.unwrap();
    assert_eq!(other.to_string(), "SIGABRT in main (fake.c:10)");
    assert_ne!(deep.hash, other.hash);
    assert_eq!(deep, target.examine(b"ab+").unwrap().crash.unwrap());
}

#[test]
fn cpu_time_is_limited() {
    let mut target = FakeProgram::new().target(|run| {
        run.cpu = Duration::from_millis(run.byte(0).seen);
        End::Exit(0)
    });
    let limited = RunOptions { cpu_limit: Some(Duration::from_millis(20)), ..RUN };
    let short = target.run(&[20], &limited).unwrap();
    assert_eq!((short.end, short.cpu.as_millis()), (End::Exit(0), 20));
    let long = target.run(&[21], &limited).unwrap();
    assert_eq!((long.end, long.cpu.as_millis()), (End::Timeout, 20));
    assert_eq!(end(&mut target, &[21]), End::Exit(0), "the limit was for one run");
}

#[test]
fn an_unstable_program_depends_on_earlier_runs() {
    let mut target = FakeProgram::new().target(|run| End::Exit(run.runs_before as i32));
    assert_eq!(end(&mut target, b""), End::Exit(0));
    trace(&mut target, b"");
    assert_eq!(end(&mut target, b""), End::Exit(2));
}

#[test]
fn the_halves_can_differ() {
    let mut target = FakeProgram::new().branches("main", [10, 11]).target(|run| {
        let byte = run.byte(0);
        // A divergence: the halves compare with another number.
        let number = if run.half == Half::Fast { b'a' } else { b'b' };
        run.branch(10, byte.equals(number));
        // A folded branch: the fast half has no counter of it.
        if run.half == Half::Symbolic {
            run.branch(11, byte.is_below(b'm'));
        }
        End::Exit(0)
    });
    end(&mut target, b"a");
    assert_eq!(counters(&target), [1, 0, 0, 0]);
    let directions: Vec<u8> = trace(&mut target, b"a").events.iter().map(|e| e.dir).collect();
    assert_eq!(directions, [1, 0, 1], "length, divergence, folded branch");
}

#[test]
fn a_persistent_process_waits_until_it_ends_otherwise() {
    let mut target = FakeProgram::new().persistent().target(|run| {
        let is_bad = run.byte(0).seen == b'!'.into();
        if is_bad { run.crash(libc::SIGSEGV) } else { End::Exit(0) }
    });
    let mut rounds = Vec::new();
    for (input, fresh) in [(b"a", false), (b"b", false), (b"c", true), (b"!", false), (b"d", false)]
    {
        let outcome = target.run(input, &RunOptions { fresh, ..RUN }).unwrap();
        rounds.push((outcome.round, target.is_waiting()));
    }
    assert_eq!(rounds, [(1, true), (2, true), (1, true), (2, false), (1, true)]);
    assert_eq!(target.examine(b"a").unwrap().outcome.round, 1);
}

#[test]
fn traces_are_cut_lossy_or_broken() {
    let mut target = FakeProgram::new().branches("main", [10]).target(|run| {
        let byte = run.byte(0);
        run.losses[Loss::Float as usize] += 2;
        run.unmodelled.push("strange".into());
        match byte.seen as u8 {
            b'c' => run.cut = CUT_EVENTS,
            b'b' => run.record(Event { label: 1000, kind: 1, ..Event::default() }),
            b'k' => run.record(Event { label: 1, kind: 99, ..Event::default() }),
            _ => {}
        }
        run.branch(10, byte.equals(b'x'));
        End::Exit(0)
    });
    let whole = trace(&mut target, b"a");
    assert_eq!((whole.events.len(), whole.cut_by().count()), (2, 0));
    assert_eq!(whole.named_losses().collect::<Vec<_>>(), [("float", 2)]);
    assert_eq!(whole.unmodelled, ["strange"]);
    let cut = trace(&mut target, b"c");
    assert_eq!((cut.events.len(), cut.cut_by().collect::<Vec<_>>()), (1, vec!["events"]));
    let mut broken = |input| target.trace(input, &TRACE).unwrap().trace.unwrap_err();
    assert!(matches!(broken(b"b"), BrokenTrace::Graph(_)));
    assert!(matches!(broken(b"k"), BrokenTrace::Kind { event: 1, kind: 99 }));
}

#[test]
fn addresses_are_pinned_and_checks_are_decided() {
    let mut target = FakeProgram::new().target(|run| {
        let index = run.byte(0).widened(64);
        run.decide(Kind::CheckIndex, index.is_below(100u64));
        End::Exit(run.pin(&index.plus(1u8)) as i32)
    });
    assert_eq!(end(&mut target, &[6]), End::Exit(7));
    let trace = trace(&mut target, &[6]);
    let kinds: Vec<Kind> = trace.events.iter().map(crate::trace::kind).collect();
    assert_eq!(kinds, [Kind::Len, Kind::CheckIndex, Kind::Pin]);
    assert_eq!(trace.named_losses().collect::<Vec<_>>(), [("pinned", 1)]);
}

#[test]
fn the_log_has_every_run_with_its_options() {
    let mut target = FakeProgram::new().target(|run| {
        run.calls.mixed = !run.growth.fixed;
        End::Exit(0)
    });
    let log = target.log();
    let growth = Growth { limit: 8, seed: 3, fixed: true };
    assert!(!target.run(b"a", &RunOptions { fresh: true, growth, ..RUN }).unwrap().calls.mixed);
    assert!(target.run(b"b", &RUN).unwrap().calls.mixed);
    let holes = [Hole { start: 0, len: 1, grows: 1, filling: 0 }];
    let traced = target.trace(b"c", &TraceOptions { tokens: true, holes: &holes, ..TRACE });
    let traced = traced.unwrap().trace.unwrap();
    assert_eq!((&traced.lengths[..], &traced.tokens[..]), (&[1][..], &[] as &[TokenSeen]));
    target.clone().examine(b"d").unwrap();
    let runs = log.runs();
    let inputs: Vec<_> = runs.iter().map(|r| (r.purpose, r.half, &r.input[..])).collect();
    assert_eq!(
        inputs,
        [
            (Purpose::Run, Half::Fast, &b"a"[..]),
            (Purpose::Run, Half::Fast, b"b"),
            (Purpose::Trace, Half::Symbolic, b"c"),
            (Purpose::Examine, Half::Fast, b"d"),
        ]
    );
    assert!(runs[0].fresh && runs[0].growth == growth);
    assert!(!runs[1].fresh && runs[1].growth == Growth::default());
    assert!(runs[2].tokens && runs[2].holes == holes);
}

#[test]
fn a_live_run_pauses_when_its_bytes_are_used_up() {
    let mut target = FakeProgram::new().branches("main", [10, 11]).target(|run| {
        while let Some(byte) = run.next_byte() {
            if run.branch(10, byte.equals(b'q')) {
                return End::Exit(4);
            }
        }
        // A live run never gets here.
        run.branch(11, 1u8.into());
        End::Exit(0)
    });
    let all = |bytes| Events { bytes, most: u64::MAX, seed: None };
    let time = RUN.timeout;
    let live = target.live(Half::Symbolic).unwrap();
    let paused = |step| match step {
        Step::Paused(Paused { taken, events, .. }) => Some((taken, events)),
        Step::Ended(_) => None,
    };
    assert_eq!(paused(live.begin(all(b"ab"), time).unwrap()), Some((2, 2)));
    assert_eq!(joined(live.touched()), [0, 2, 0, 0]);
    let random = Events { bytes: b"c", most: 3, seed: Some(0) };
    assert_eq!(paused(live.fork(random, time).unwrap()), Some((5, 3)));
    assert_eq!((live.depth(), live.input(1).unwrap()), (2, b"bc\0\0".to_vec()));
    live.drop_top();
    assert_eq!(paused(live.resume(all(b"d"), time).unwrap()), Some((3, 1)));
    assert_eq!((live.depth(), joined(live.touched())), (1, vec![0, 1, 0, 0]));
    // A path that ends by itself, one that uses up its bytes, one that has its events.
    for (bytes, max_events, status, read) in [("xq!", 9, 4, 2), ("xyz", 9, 0, 3), ("xyz", 1, 0, 1)]
    {
        let outcome = live.explore(bytes.as_bytes(), max_events, time).unwrap();
        assert_eq!((outcome.end, live.explored_bytes().unwrap()), (End::Exit(status), read));
        let trace = live.trace().unwrap();
        assert_eq!(trace.events.len() as u64, read);
        assert_eq!(oracle::check(&trace, &container::view(bytes.as_bytes()), 5), []);
        assert_eq!(live.depth(), 1);
    }
    let Step::Ended(ended) = live.resume(all(b"eq"), time).unwrap() else { panic!("it ends") };
    assert_eq!((ended.end, live.events().unwrap(), live.depth()), (End::Exit(4), 2, 0));
}
