//! Programs that decide millions of times: a trace costs the search a bounded amount of
//! work, the report says what was left out, and a campaign ends when it is told to.

use crate::common::Program;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Four million decisions on eight bytes, and a word behind them.
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

/// What a search may be given of one trace.
const MAX_DECISIONS: u64 = 2 << 16;
/// Generous for a machine with much else to do; without bounds it takes far longer.
const MARGIN: Duration = Duration::from_secs(8);

#[test]
fn a_long_trace_costs_little_and_a_campaign_ends_when_told() {
    let p = Program::new(LONG);
    std::fs::create_dir(p.dir.path().join("seeds")).expect("writable");
    p.file("seeds/a", b"AAAAAAAA");
    let found = p.campaign("n", &["-i", "seeds", "-s", "generational", "-n", "12"]);
    let traces = found.count("traces");
    assert!(found.count("symbolic.constraints") <= traces * MAX_DECISIONS, "{}", found.stats);
    assert!(found.count("symbolic.left_out") > 1_000_000, "{}", found.stats);
    assert!(found.count("partial.decisions left out") > 0, "{}", found.stats);
    assert!(found.count("runs") >= 12, "{}", found.stats);
    // What comes behind the loop is seen.
    assert!(found.queue().iter().any(|input| input.starts_with(b"k")), "{}", found.stats);

    let start = Instant::now();
    let timed = p.campaign("v", &["-i", "seeds", "-V", "1", "-j", "2"]);
    assert_eq!(timed.stop(), "time", "{}", timed.stats);
    assert!(start.elapsed() < MARGIN, "{:?}", start.elapsed());

    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let out = p.dir.path().join(format!("{signal}"));
        let mut command = p.campaign_command(out.to_str().expect("plain"), &["-i", "seeds"]);
        let mut driver =
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
        // Its first line says that it is searching.
        let mut said = BufReader::new(driver.stderr.take().expect("a pipe"));
        said.read_line(&mut String::new()).expect("a line");
        let start = Instant::now();
        kill(Pid::from_raw(driver.id() as i32), signal).expect("it is there");
        driver.wait().expect("it ends");
        assert!(start.elapsed() < MARGIN, "{signal}: {:?}", start.elapsed());
        let stats = std::fs::read(out.join("stats.json")).expect("statistics");
        let stats: serde_json::Value = serde_json::from_slice(&stats).expect("JSON");
        assert_eq!(stats["stop"], "interrupted", "{stats}");
    }
}

#[test]
fn a_search_that_left_out_decisions_is_not_exhausted() {
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
