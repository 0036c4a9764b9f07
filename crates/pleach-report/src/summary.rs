//! A campaign in plain text: a line while it runs, and how it ended.

use crate::numbers::{percent, time};
use pleach_campaign::run::{Snapshot, Stats, Stop};
use std::time::Duration;

/// One line on where a campaign stands, for logs.
pub fn line(snapshot: &Snapshot) -> String {
    let s = &snapshot.stats;
    format!(
        "{:>7.1} s  branches {}/{}  runs {}  traces {}  flips {} ({} sat)  queue {}  crashes {}  \
         hangs {}",
        s.time_s.total,
        s.branches.covered,
        s.branches.total,
        s.runs,
        s.traces,
        s.flips.asked,
        s.flips.sat + s.flips.optimistic,
        s.inputs,
        s.crashes,
        s.hangs
    )
}

/// How a campaign ended, in a few lines.
pub fn summary(stats: &Stats, out: &str, resume: &str) -> String {
    let total = time(Duration::from_secs_f64(stats.time_s.total.max(0.0)));
    let b = &stats.branches;
    let mut text = format!(
        "{}\n{} of {} branches ({}), {} runs, {} paths, {} inputs in {out}/queue\n",
        why(stats, &total),
        b.covered,
        b.total,
        percent(b.covered, b.total),
        stats.runs,
        stats.paths,
        stats.inputs,
    );
    if stats.crashes > 0 {
        text.push_str(&format!("{} crashes in {out}/crashes\n", stats.crashes));
    }
    if stats.hangs > 0 {
        text.push_str(&format!("{} hangs in {out}/hangs\n", stats.hangs));
    }
    if stats.unstable > 0 {
        text.push_str(&format!(
            "{} branches are unstable: the same input takes them or not\n",
            stats.unstable
        ));
    }
    if stats.unstable_paths > 0 {
        text.push_str(&format!(
            "{} inputs are unstable: they take one path or another\n",
            stats.unstable_paths
        ));
    }
    if stats.folded > 0 {
        text.push_str(&format!(
            "{} folded decisions: the compiler removed that side of the branch; -O0 keeps it\n",
            stats.folded
        ));
    }
    text.push_str(&grammar(stats));
    if !matches!(stats.stop, Some(Stop::Exhausted | Stop::ExhaustedPartial)) {
        text.push_str(&format!("to go on: {resume}\n"));
    }
    text
}

/// How the grammar and the program got on with each other.
fn grammar(stats: &Stats) -> String {
    /// Places and hints that are named.
    const NAMED: usize = 5;
    let mut text: String = stats.notes.iter().map(|note| format!("note: {note}\n")).collect();
    let tokens = &stats.tokens;
    if stats.mismatched > 0 {
        let first = stats.mismatch.as_deref().unwrap_or_default();
        text += &format!(
            "{} inputs have other tokens in the program than in the grammar; the first: {first}\n",
            stats.mismatched
        );
    }
    if tokens.rejected > 0 {
        let mut places: Vec<_> = tokens.rejected_at.iter().collect();
        places.sort_by_key(|(what, n)| (u64::MAX - **n, what.as_str()));
        let named = places.iter().take(NAMED).map(|(what, n)| format!("{what} ({n})"));
        let named: Vec<String> = named.collect();
        text += &format!(
            "{} of {} sentences of the grammar were rejected: after {}\n",
            tokens.rejected,
            tokens.read,
            named.join(", ")
        );
    }
    for (what, example) in tokens.hints.iter().take(NAMED) {
        let example: String = example.chars().take(60).collect();
        text += &format!("the program takes {what}, and the grammar does not: {example:?}\n");
    }
    if tokens.hints.len() > NAMED {
        let more = tokens.hints.len() - NAMED;
        text += &format!("{more} more of that kind are in stats.json\n");
    }
    text
}

fn why(stats: &Stats, total: &str) -> String {
    match stats.stop {
        Some(Stop::Exhausted) => format!("exhausted after {total}: every feasible path was run"),
        Some(Stop::ExhaustedPartial) => {
            let list: Vec<_> =
                stats.partial.iter().map(|(what, n)| format!("{what} ({n})")).collect();
            format!(
                "exhausted-partial after {total}: nothing is left to ask, but {}",
                list.join(", ")
            )
        }
        Some(Stop::Time) => format!("time is up after {total}"),
        Some(Stop::Runs) => format!("the number of runs is reached after {total}"),
        Some(Stop::Crash) => format!("stopped at the first crash after {total}"),
        Some(Stop::Enough) => format!("enough is covered after {total}"),
        Some(Stop::ReadsNothing) => format!(
            "given up after {total}: the program ended without asking for input, so no input \
             makes a difference"
        ),
        Some(Stop::EndsAtOnce) => format!(
            "given up after {total}: the program ends after an event or two, whatever they are; \
             it does not keep reading, and `-s auto` suits it better"
        ),
        Some(Stop::NothingDepends) => format!(
            "given up after {total}: the program takes events without end, and nothing that it \
             decides depends on them"
        ),
        Some(Stop::Interrupted) | None => format!("interrupted after {total}"),
    }
}
