//! A campaign as plain text: a line while it runs, and a summary at its end.

use crate::numbers::{counted, percent, time};
use pleach_campaign::run::{FleetStats, Snapshot, Stall, Stats, Stop};
use std::time::Duration;

/// The current state of a campaign on one line, for logs.
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

/// The fleet of a campaign, on one line.
pub fn describe_fleet(fleet: &FleetStats) -> String {
    let unsent = match fleet.unsent {
        0 => String::new(),
        count => format!(", {count} messages wait for the server"),
    };
    format!(
        "{} with {} others, {} inputs told, {} heard{unsent}",
        fleet.member,
        fleet.others.len(),
        fleet.told,
        fleet.heard
    )
}

/// What members of a fleet did, for the summary.
fn summarise_fleet(fleet: &FleetStats) -> String {
    let mut text = match fleet.member.is_empty() {
        true => format!("campaign {}, {} members\n", fleet.campaign, fleet.others.len()),
        false => format!("campaign {}: {}\n", fleet.campaign, describe_fleet(fleet)),
    };
    if let Some(position) = fleet.settled_at {
        text += &format!(
            "exhausted at message {position}, where nothing was left for {}\n",
            fleet.settled_by.join(", ")
        );
    }
    if !fleet.lost.is_empty() {
        text += &format!("members that did not come back: {}\n", fleet.lost.join(", "));
    }
    if fleet.ignored > 0 {
        text += &format!("{} messages of other members were ignored\n", fleet.ignored);
    }
    text
}

/// A worker that has not come back, on one line.
pub fn describe_stall(stall: &Stall) -> String {
    let input = stall.input.map_or_else(String::new, |id| format!(", input {id}"));
    format!(
        "worker {} has not come back for {} s: {}{input}",
        stall.worker,
        stall.time.as_secs(),
        stall.task.doing()
    )
}

/// The summary of a campaign that ended. `resume` is the command that resumes it.
pub fn summary(stats: &Stats, out: &str, resume: &str) -> String {
    let total = time(Duration::from_secs_f64(stats.time_s.total.max(0.0)));
    let b = &stats.branches;
    let mut text = format!(
        "{}\n{} of {} branches ({}), {} runs, {} paths, {} inputs in {out}/queue\n",
        describe_stop(stats, &total),
        b.covered,
        b.total,
        percent(b.covered, b.total),
        stats.runs,
        stats.paths,
        stats.inputs,
    );
    if stats.crashes > 0 {
        text.push_str(&format!(
            "{} in {out}/crashes\n",
            counted(stats.crashes, "crash", "crashes")
        ));
    }
    if stats.hangs > 0 {
        text.push_str(&format!("{} in {out}/hangs\n", counted(stats.hangs, "hang", "hangs")));
    }
    text.extend(stats.fleet.iter().map(summarise_fleet));
    for (name, sync) in &stats.sync {
        text.push_str(&format!("{} inputs taken from {name}, {} kept", sync.taken, sync.kept));
        match sync.skipped {
            0 => text.push('\n'),
            n => text.push_str(&format!(
                ", {n} files skipped (too long, not regular, or not readable)\n"
            )),
        }
    }
    if stats.unstable > 0 {
        text.push_str(&format!(
            "{} branches are unstable: the same input does not always take them\n",
            stats.unstable
        ));
    }
    if stats.unstable_paths > 0 {
        text.push_str(&format!(
            "{} inputs are unstable: they do not always take the same path\n",
            stats.unstable_paths
        ));
    }
    if stats.folded > 0 {
        text.push_str(&format!(
            "{} folded decisions: the compiler removed a side of the branch; compile with -O0 to \
             keep it\n",
            stats.folded
        ));
    }
    if stats.stalls > 0 {
        let tasks: Vec<String> = stats.stalled_in.iter().map(|(t, n)| format!("{t} {n}")).collect();
        text.push_str(&format!(
            "{} times a worker did not come back for 10 s ({}): a defect of Pleach, please \
             report it\n",
            stats.stalls,
            tasks.join(", ")
        ));
    }
    text.push_str(&notes(stats));
    text.push_str(&grammar(stats));
    if !matches!(stats.stop, Some(Stop::Exhausted | Stop::ExhaustedPartial | Stop::Reached)) {
        text.push_str(&format!("to resume: {resume}\n"));
    }
    text
}

fn notes(stats: &Stats) -> String {
    stats.notes.iter().map(|note| format!("note: {note}\n")).collect()
}

/// The differences between the grammar and the program.
fn grammar(stats: &Stats) -> String {
    /// At most this many places and hints are printed.
    const MAX_LISTED: usize = 5;
    let mut text = String::new();
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
        let listed = places.iter().take(MAX_LISTED).map(|(what, n)| format!("{what} ({n})"));
        let listed: Vec<String> = listed.collect();
        text += &format!(
            "{} of {} sentences of the grammar were rejected: after {}\n",
            tokens.rejected,
            tokens.read,
            listed.join(", ")
        );
    }
    for (what, example) in tokens.hints.iter().take(MAX_LISTED) {
        let example: String = example.chars().take(60).collect();
        text += &format!("the program accepts {what}, but the grammar does not: {example:?}\n");
    }
    if tokens.hints.len() > MAX_LISTED {
        let more = tokens.hints.len() - MAX_LISTED;
        text += &format!("{more} more such hints are in stats.json\n");
    }
    text
}

fn describe_stop(stats: &Stats, total: &str) -> String {
    match stats.stop {
        Some(Stop::Exhausted) => format!("exhausted after {total}: every feasible path was run"),
        Some(Stop::ExhaustedPartial) => {
            let list: Vec<_> =
                stats.partial.iter().map(|(what, n)| format!("{what} ({n})")).collect();
            format!(
                "exhausted-partial after {total}: nothing is left to try, but {}",
                list.join(", ")
            )
        }
        Some(Stop::Time) => format!("time is up after {total}"),
        Some(Stop::Runs) => format!("run limit reached after {total}"),
        Some(Stop::Crash) => format!("stopped at the first crash after {total}"),
        Some(Stop::Reached) => format!("every place was reached after {total}"),
        Some(Stop::Enough) => format!("enough branches are covered after {total}"),
        Some(Stop::ReadsNothing) => format!(
            "stopped after {total}: the program ended without reading its input, so no input \
             makes a difference"
        ),
        Some(Stop::EndsAtOnce) => format!(
            "stopped after {total}: the program always ends after one or two events; hybrid \
             search needs a program that keeps reading; use `-s auto`"
        ),
        Some(Stop::NothingDepends) => format!(
            "stopped after {total}: the program keeps reading, but none of its decisions \
             depends on the events"
        ),
        Some(Stop::Interrupted) | None => format!("interrupted after {total}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_campaign::run::FleetMember;

    #[test]
    fn a_summary_names_who_declared_the_search_exhausted() {
        let other = FleetMember { name: "b".into(), runs: 5, ..FleetMember::default() };
        let fleet = FleetStats {
            member: "a".into(),
            campaign: "nats://host/lexer".into(),
            others: vec![other],
            told: 3,
            heard: 4,
            unsent: 2,
            ignored: 1,
            settled_by: vec!["a".into(), "b".into()],
            settled_at: Some(17),
            lost: vec!["c".into()],
            ..FleetStats::default()
        };
        let stats = Stats { fleet: Some(fleet), ..Stats::default() };
        let text = summary(&stats, "out", "pleach run");
        let expected = "campaign nats://host/lexer: a with 1 others, 3 inputs told, 4 heard, \
                        2 messages wait for the server\n\
                        exhausted at message 17, where nothing was left for a, b\n\
                        members that did not come back: c\n\
                        1 messages of other members were ignored\n";
        assert!(text.contains(expected), "{text}");
        assert!(!summary(&Stats::default(), "out", "pleach run").contains("campaign"));
    }
}
