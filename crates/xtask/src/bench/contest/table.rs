//! The table of a contest: means and ranges over the seeds, from the recorded runs.

use super::record::{Record, Records};
use super::{Entry, key_of};

/// Markdown: the branches of each contestant, then how often it ran each program. A
/// contestant without a recorded run has a dash; one with fewer runs than seeds says so.
pub fn render(entries: &[Entry], seeds: u64, seconds: u64, records: &Records) -> String {
    let mut names: Vec<&str> = Vec::new();
    for contestant in entries.iter().flat_map(|e| &e.contestants) {
        if !names.contains(&contestant.name.as_str()) {
            names.push(&contestant.name);
        }
    }
    let rows: Vec<Row> = entries.iter().map(|e| Row::new(e, seeds, seconds, records)).collect();
    let mut text = format!("Branches in {seconds} s, mean (range) of {seeds} seeds:\n\n");
    text += &part(&rows, &names, seeds, true, |r| r.branches);
    text += "\nRuns of the program:\n\n";
    text += &part(&rows, &names, seeds, false, |r| r.runs);
    text
}

/// A program and the recorded runs of each contestant.
struct Row<'a> {
    program: &'a str,
    runs: Vec<(&'a str, Vec<&'a Record>)>,
}

impl<'a> Row<'a> {
    fn new(entry: &'a Entry, seeds: u64, seconds: u64, records: &'a Records) -> Row<'a> {
        let runs = entry.contestants.iter().map(|contestant| {
            let keys = (1..=seeds).map(|seed| key_of(entry, contestant, seed, seconds));
            (contestant.name.as_str(), keys.filter_map(|key| records.find(&key)).collect())
        });
        Row { program: &entry.program.name, runs: runs.collect() }
    }
}

fn part(
    rows: &[Row],
    names: &[&str],
    seeds: u64,
    with_totals: bool,
    value: fn(&Record) -> u64,
) -> String {
    let totals = if with_totals { " | branches | seed" } else { "" };
    let mut text = format!("| program{totals} | {} |\n|---|", names.join(" | "));
    text += &"---:|".repeat(names.len() + if with_totals { 2 } else { 0 });
    text.push('\n');
    for row in rows {
        text += &format!("| {}", row.program);
        if with_totals {
            let any = row.runs.iter().flat_map(|(_, records)| records).next();
            let number = |f: fn(&Record) -> u64| any.map_or("–".into(), |r| group(f(r)));
            text += &format!(" | {} | {}", number(|r| r.total), number(|r| r.begin));
        }
        for name in names {
            let records = row.runs.iter().find(|(n, _)| n == name).map(|(_, records)| records);
            let values: Vec<u64> = records.into_iter().flatten().map(|r| value(r)).collect();
            text += &format!(" | {}", cell(&values, seeds));
        }
        text += " |\n";
    }
    text
}

/// The mean, and the range if there are several values.
fn cell(values: &[u64], seeds: u64) -> String {
    let (Some(min), Some(max)) = (values.iter().min(), values.iter().max()) else {
        return "–".into();
    };
    let mean = (values.iter().sum::<u64>() as f64 / values.len() as f64).round() as u64;
    let mut text = group(mean);
    if values.len() > 1 {
        text += &format!(" ({}–{})", group(*min), group(*max));
    }
    if (values.len() as u64) < seeds {
        text += &format!(", {} of {seeds} seeds", values.len());
    }
    text
}

/// A number with a comma after each group of three digits.
fn group(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_has_mean_and_range_and_says_what_is_missing() {
        assert_eq!(cell(&[], 2), "–");
        assert_eq!(cell(&[1500], 1), "1,500");
        assert_eq!(cell(&[900, 1100], 2), "1,000 (900–1,100)");
        assert_eq!(cell(&[1_234_567], 2), "1,234,567, 1 of 2 seeds");
    }
}
