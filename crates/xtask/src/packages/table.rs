//! `docs/packages.md`: the newest result of each package.

use super::record::{Campaign, Latest, Line, Tests, join, latest};
use crate::subjects::Recipe;

const HEAD: &str = "# Packages

Debian source packages that nobody prepared for Pleach, built by naming Pleach as the compiler
and nothing else. `./x packages` makes this page from `packages.jsonl`, which also has the
commit, the machine and the date of each line; the [remarks](packages-remarks.md) say what is
behind the numbers.

- **tests**: the package's own tests, and its program on its own test data. In the plain build,
  then in the fast half, the symbolic half, and the symbolic half with labels on the input.
- **slowdown**: processor time as a ratio to the plain build, for the program on its test data:
  fast half, symbolic half with labels.
- **s**: seconds of the campaign. `pleach run` and AFL++ ran side by side, one core each, both
  with ASan, from the same seeds.
- **branches**: by gcov, of all branches in the object files that ran: seeds, then Pleach, then
  AFL++.
- **runs/s**, **flips/s**: of Pleach; AFL++'s runs a second are in parentheses.
- **lost**: what kept the search from being exhaustive, most frequent first, and functions
  without a model.
- **crashes**: causes that the plain build with ASan confirms; see [found.md](found.md).

";

pub fn render(known: &[Recipe], lines: &[Line]) -> String {
    let rows: Vec<_> = known.iter().map(|recipe| (recipe, latest(lines, &recipe.name))).collect();
    let mut text = HEAD.to_string() + &summary(&rows) + "\n\n";
    text += "| package | version | tests | slowdown | s | branches | runs/s | flips/s | MiB \
             | stalls | crashes | lost |\n\
             |---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---|\n";
    for (recipe, latest) in &rows {
        let version = latest.tests.map(|t| t.version.as_str()).unwrap_or("–");
        let tests = latest.tests.map_or("–".into(), tests_cell);
        let slowdown = latest.tests.and_then(|t| t.slowdown);
        let slowdown = slowdown.map_or("–".into(), |s| format!("{:.1}, {:.1}", s.fast, s.labels));
        text += &format!("| {} | {version} | {tests} | {slowdown} |", recipe.name);
        text += &match latest.campaign {
            Some(campaign) => campaign_cells(campaign),
            None => " – |".repeat(8),
        };
        text.push('\n');
    }
    text
}

fn summary(rows: &[(&Recipe, Latest)]) -> String {
    let tests: Vec<&Tests> = rows.iter().filter_map(|(_, latest)| latest.tests).collect();
    let campaigns: Vec<&Campaign> = rows.iter().filter_map(|(_, l)| l.campaign).collect();
    let built = tests.iter().filter(|t| t.problem.is_none()).count();
    let behave = tests.iter().filter(|t| t.behaves()).count();
    let ahead = campaigns.iter().filter(|c| c.branches > c.afl.branches).count();
    let behind = campaigns.iter().filter(|c| c.branches < c.afl.branches).count();
    let stalls: u64 = campaigns.iter().map(|c| c.stalls).sum();
    let crashes: usize = campaigns.iter().map(|c| c.crashes.len()).sum();
    format!(
        "{} packages: {built} of {} build, {behave} pass all tests of the plain build in both \
         halves. {} campaigns: ahead of AFL++ in branches on {ahead}, behind on {behind}; \
         {stalls} stalls; {crashes} crashes.",
        rows.len(),
        tests.len(),
        campaigns.len(),
    )
}

fn tests_cell(tests: &Tests) -> String {
    match tests.problem {
        Some(_) => "not built".into(),
        None => format!("{}: {}", tests.passed, join(&tests.in_halves)),
    }
}

fn campaign_cells(campaign: &Campaign) -> String {
    let rate = |count: u64| {
        let rate = count as f64 / campaign.seconds as f64;
        if rate < 10.0 { format!("{rate:.1}") } else { format!("{rate:.0}") }
    };
    let mut lost: Vec<_> = campaign.partial.iter().collect();
    lost.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let mut lost: Vec<String> =
        lost.iter().take(3).map(|(what, n)| format!("{what} {n}")).collect();
    lost.extend(campaign.unmodelled.iter().take(4).map(|name| format!("`{name}`")));
    format!(
        " {} | {} → {}, {} | {} ({}) | {} | {} | {} | {} | {} |",
        campaign.seconds,
        campaign.begin,
        campaign.branches,
        campaign.afl.branches,
        rate(campaign.runs),
        rate(campaign.afl.runs),
        rate(campaign.flips),
        campaign.memory_mib,
        campaign.stalls,
        campaign.crashes.len(),
        lost.join(", ")
    )
}
