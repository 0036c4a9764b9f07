//! Programs that decide millions of times: one trace costs the search a bounded amount of
//! work, the report lists what was left out, and time limits and signals still work.

use crate::common::Program;
use crate::common::campaign::stats_on_disk;
use crate::common::process::{SOON, send_signal};
use nix::sys::signal::Signal;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Instant;

/// Four million decisions on eight bytes, and a comparison with a word after them.
const LONG: &str = r#"
#include <stdio.h>
int main(void) {
    unsigned char in[8];
    unsigned n = 0;
    if (fread(in, 1, 8, stdin) != 8) return 1;
    for (unsigned i = 0; i < 4000000; i++)
        if (in[i & 7] > (i & 63)) n++;
    if (in[0] == 'k' && in[1] == 'e' && in[2] == 'y') return 3;
    return n == 12345;
}
"#;

/// At most this many decisions of one trace may go into the search.
const MAX_DECISIONS: u64 = 2 << 16;

fn with_seed() -> Program {
    let program = Program::new(LONG);
    program.seeds([("a", &b"AAAAAAAA"[..])]);
    program
}

#[test]
fn a_long_trace_costs_a_bounded_amount_of_work() {
    let program = with_seed();
    // With a limit of our own: the default follows the seed, whose trace takes 20 times as long
    // as its run, and a loaded machine may then cut it short.
    let flags = ["-i", "seeds", "-s", "generational", "-n", "12", "-t", "60000"];
    let found = program.campaign("out", &flags);
    let traces = found.count("traces");
    assert!(found.count("symbolic.constraints") <= traces * MAX_DECISIONS, "{}", found.stats);
    assert!(found.count("symbolic.left_out") > 1_000_000, "{}", found.stats);
    assert!(found.count("partial.decisions left out") > 0, "{}", found.stats);
    assert!(found.count("runs") >= 12, "{}", found.stats);
    // Decisions after the loop are not left out.
    assert!(found.queue().iter().any(|input| input.starts_with(b"k")), "{}", found.stats);
}

#[test]
fn a_time_limit_holds_while_traces_are_long() {
    let program = with_seed();
    let start = Instant::now();
    let ended = program.campaign("out", &["-i", "seeds", "-V", "1", "-j", "2"]);
    assert_eq!(ended.stop(), "time", "{}", ended.stats);
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
}

#[test]
fn signals_stop_a_campaign_while_traces_are_long() {
    let program = with_seed();
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let out = program.path(signal.as_str());
        let mut command = program.campaign_command(signal.as_str(), &["-i", "seeds"]);
        let mut driver =
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
        // The first line shows that the search has started.
        let mut stderr = BufReader::new(driver.stderr.take().expect("a pipe"));
        stderr.read_line(&mut String::new()).expect("a line");
        let start = Instant::now();
        send_signal(&driver, signal);
        driver.wait().expect("it is our child");
        assert!(start.elapsed() < SOON, "{signal}: {:?}", start.elapsed());
        let stats = stats_on_disk(&out);
        assert_eq!(stats["stop"], "interrupted", "{stats}");
    }
}

#[test]
fn a_search_that_leaves_out_decisions_is_not_exhausted() {
    let p = Program::new(
        "#include <stdio.h>\n\
         int main(void) {\n\
             int c = getchar(), n = 0;\n\
             for (int i = 0; i < 70000; i++) if (c > (i & 1)) n++;\n\
             return n > 7;\n\
         }\n",
    );
    let ended = p.campaign("out", &["-s", "dfs", "--len", "1"]);
    assert_eq!(ended.stop(), "exhausted-partial", "{}", ended.stats);
    assert!(ended.count("partial.decisions left out") > 0, "{}", ended.stats);
}

/// A hash of all rounds: its expression has more nodes than a campaign with little memory can
/// prepare.
const HASH: &str = r#"
#include <stdio.h>
int main(void) {
    unsigned char in[8];
    unsigned h = 0;
    if (fread(in, 1, 8, stdin) != 8) return 1;
    if (in[0] == 'k' && in[1] == 'e' && in[2] == 'y') return 3;
    for (unsigned i = 0; i < 400000; i++) {
        h = h * 31 + in[i & 7];
        if (i % 4 == 0 && h % 5 == 0) h ^= 1;
    }
    return h == 12345;
}
"#;

#[test]
fn a_trace_takes_a_part_of_the_memory_limit() {
    let program = Program::new(HASH);
    program.seeds([("a", &b"AAAAAAAA"[..])]);
    let flags = ["-i", "seeds", "-s", "generational", "-n", "40", "-t", "60000"];
    let found = program.campaign("out", &[&flags[..], &["--max-memory", "64M"]].concat());
    let total = found.count("memory.total");
    assert!(found.count("traces") > 0 && total <= 64 << 20, "{}", found.stats);
    assert!(found.count("partial.decisions left out") > 0, "{}", found.stats);
    // The first decisions are kept.
    assert!(found.queue().iter().any(|input| input.starts_with(b"ke")), "{}", found.stats);
}
