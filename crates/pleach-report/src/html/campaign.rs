//! The page of a campaign: what the program in the page reads.
//!
//! Branches are numbered again, because the page leaves out those in files of the system.
//! What there is much of is in columns: one array for each property of a site or a branch.

use super::reasons::{Words, words};
use super::sources::Sources;
use super::{base64, page};
use crate::end_words;
#[cfg(feature = "sample")]
use pleach_campaign::findings::BranchPlace;
use pleach_campaign::findings::{Findings, FunctionPlace};
use pleach_campaign::run::{FleetStats, Kept, Stats, Stop};
use pleach_exec::triage::{quoted, readable};
use pleach_search::BranchId;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::path::Path;

/// How many bytes of inputs a page may contain, and how many of one input.
const MAX_BYTES: usize = 2 << 20;
const MAX_INPUT: usize = 64 << 10;
/// How many points a curve has at most.
const MAX_POINTS: usize = 1000;

/// What a page needs besides the findings.
#[derive(Default)]
pub struct Sections {
    pub crashes: Vec<CrashSection>,
    pub grammar: Option<GrammarSection>,
    /// The page loads itself again after this many seconds; 0 for never.
    pub watch: u64,
    pub version: String,
}

/// A crash or a hang.
#[derive(Default, Serialize)]
pub struct CrashSection {
    pub title: String,
    #[serde(rename = "where")]
    pub place: String,
    pub note: Option<String>,
    /// The frames of the stack: function, file, line, module.
    pub frames: Vec<(String, String, u32, String)>,
    /// The numbers of its inputs, the smallest first.
    pub inputs: Vec<usize>,
    /// When the first of them was found, in seconds.
    pub time: Option<f64>,
    pub length: usize,
    pub bytes: Option<String>,
    /// The bytes that the path condition depends on, as ranges.
    pub marks: Vec<(u32, u32)>,
    /// How the smallest input was made.
    pub minimal: Option<String>,
    pub replay: String,
    #[serde(rename = "lastFunction")]
    pub last_function: String,
    /// The conditions of that function: place and text.
    pub conditions: Vec<(String, String)>,
    pub output: String,
}

impl CrashSection {
    /// Sets the bytes of the input, unless they are too many.
    pub fn set_bytes(&mut self, bytes: &[u8]) {
        self.length = bytes.len();
        self.bytes = (bytes.len() <= MAX_INPUT).then(|| base64(bytes));
    }
}

/// What the inputs exercised of a grammar.
#[derive(Clone, Default, Serialize)]
pub struct GrammarSection {
    pub note: String,
    /// Each with the number of inputs that have it.
    pub productions: Vec<(String, u64)>,
    pub tokens: Vec<(String, u64)>,
    /// How many inputs of the queue are sentences, and how many are not.
    pub parsed: u64,
    pub foreign: u64,
    /// Sentences that the program rejected, and how it ended.
    pub rejected: Vec<(String, String)>,
    #[serde(rename = "rejectedNote")]
    pub rejected_note: Option<String>,
    /// Where it stopped, and for how many sentences.
    #[serde(rename = "rejectedAt")]
    pub rejected_at: Vec<(String, u64)>,
    pub hints: Vec<(String, String)>,
}

#[derive(Serialize)]
struct Data<'a> {
    kind: &'static str,
    title: String,
    sub: String,
    footer: String,
    watch: u64,
    state: &'static str,
    dir: String,
    /// The command before and behind the name of an input.
    replay: (String, String),
    totals: Totals,
    plot: Vec<(f64, u64, u64)>,
    /// How inputs were made: their number, and the branches that they take first.
    ops: Vec<(String, u64, u64)>,
    /// The kinds of work: number and seconds.
    actions: Vec<(String, u64, f64)>,
    flips: Flips,
    tiers: Vec<(String, u64, f64)>,
    time: Vec<(&'static str, f64)>,
    partial: Vec<(String, u64)>,
    /// The members of a fleet: name, runs, branches, inputs and crashes.
    members: Vec<(String, u64, u64, u64, u64)>,
    unmodelled: &'a [String],
    folded: Vec<(String, u64)>,
    diverged: Vec<(String, u64)>,
    notes: &'a [String],
    /// The directory that the names of the files start from.
    root: String,
    files: Vec<File>,
    /// Name, file, line, first site, number of sites.
    fns: Vec<(String, usize, u32, usize, usize)>,
    sites: Columns,
    cases: BTreeMap<usize, Vec<i64>>,
    names: BTreeMap<usize, Vec<String>>,
    /// By branch: the first input that takes it, or -1.
    taken: Vec<i64>,
    /// By branch: the number of its reason.
    why: Vec<usize>,
    reasons: Vec<(&'static str, String, i64)>,
    /// By input: kind, number, how it was made, time, source, site, length, end, name.
    inputs: Vec<InputRow>,
    /// By input: how many branches it takes first.
    firsts: Vec<u64>,
    bytes: BTreeMap<usize, String>,
    crashes: Vec<CrashSection>,
    grammar: Option<GrammarSection>,
}

type InputRow = (u8, u32, String, u64, Option<u32>, Option<String>, usize, String, String);

#[derive(Serialize)]
struct Totals {
    functions: u64,
    #[serde(rename = "functionsReached")]
    functions_reached: u64,
    inputs: usize,
    crashes: usize,
    hangs: usize,
    runs: u64,
    seconds: f64,
}

#[derive(Serialize)]
struct Flips {
    sat: u64,
    unsat: u64,
    optimistic: u64,
    unknown: u64,
}

/// A source: its name below the root, its path, and its text or why it is not there.
#[derive(Serialize)]
struct File {
    n: String,
    p: String,
    s: Option<String>,
    why: Option<String>,
}

/// The sites: file, line, column, number of sides.
#[derive(Default, Serialize)]
struct Columns {
    p: Vec<usize>,
    l: Vec<u32>,
    c: Vec<u32>,
    k: Vec<u32>,
}

/// A campaign as a page.
pub fn campaign_page(findings: &Findings, sources: &mut Sources, sections: Sections) -> String {
    let mut program = Program::default();
    for function in findings.functions() {
        program.add(function);
    }
    let stats = &findings.stats;
    let inputs: Vec<InputRow> = findings.inputs.iter().map(input_row).collect();
    let taken: Vec<i64> = program.branches.iter().map(|&b| first_input(findings, b)).collect();
    let mut firsts = vec![0; inputs.len()];
    for &input in taken.iter().filter(|&&input| input >= 0) {
        firsts[input as usize] += 1;
    }
    let (why, reasons) = program.reasons(findings);
    let name = name_of(findings);
    let reached = program.reached_functions(&taken);
    let root = common_directory(&program.files);
    let files = program.files.iter().map(|path| {
        let (text, why) = match sources.read(path) {
            Ok(text) => (Some(text), None),
            Err(why) => (None, Some(why)),
        };
        File { n: below(&root, path), p: path.clone(), s: text, why }
    });
    let kept = |kept| findings.inputs.iter().filter(|input| input.kept == kept).count();
    let command: Vec<String> = findings.command().iter().map(|word| quoted(word)).collect();
    let flips = &stats.flips;
    let tiers = flips
        .by_tier
        .iter()
        .map(|(tier, &n)| (tier.clone(), n, flips.time_by_tier.get(tier).copied().unwrap_or(0.0)));
    let data = Data {
        kind: "campaign",
        title: name.clone(),
        sub: format!("{} · strategy {}", command.join(" "), findings.settings.strategy),
        footer: format!("pleach {} · {}", sections.version, findings.dir.display()),
        watch: sections.watch,
        state: state_of(stats.stop),
        dir: quoted(findings.dir.as_os_str()),
        replay: replay_parts(findings),
        totals: Totals {
            functions: program.functions.len() as u64,
            functions_reached: reached,
            inputs: kept(Kept::Queue),
            crashes: stats.crashes as usize,
            hangs: kept(Kept::Hang),
            runs: stats.runs,
            seconds: stats.time_s.total,
        },
        plot: thinned(findings),
        ops: ops(findings, &firsts),
        actions: stats.actions.iter().map(|(k, a)| (k.clone(), a.count, a.seconds)).collect(),
        flips: Flips {
            sat: flips.sat,
            unsat: flips.unsat,
            optimistic: flips.optimistic,
            unknown: flips.unknown,
        },
        tiers: tiers.collect(),
        time: time_parts(findings),
        partial: pairs(&stats.partial),
        members: stats.fleet.as_ref().map(|fleet| members(fleet, stats)).unwrap_or_default(),
        unmodelled: &stats.unmodelled,
        folded: pairs(&stats.folded_at),
        diverged: pairs(&stats.diverged_at),
        notes: &stats.notes,
        files: files.collect(),
        root: root.clone(),
        fns: std::mem::take(&mut program.functions),
        sites: std::mem::take(&mut program.sites),
        cases: std::mem::take(&mut program.cases),
        names: std::mem::take(&mut program.names),
        taken,
        why,
        reasons,
        bytes: bytes_of(findings),
        inputs,
        firsts,
        crashes: sections.crashes,
        grammar: sections.grammar,
    };
    page(&format!("{name}: report"), &data)
}

/// A page of a made-up program, for tests of the page itself: each file has as many lines as
/// branches, and sources and inputs that try to leave their place.
#[cfg(feature = "sample")]
pub fn sample_page(files: usize, branches_per_file: usize) -> String {
    const HOSTILE: &str = "</script><img src=x onerror=alert(1)>";
    let mut program = Program::default();
    let stats = pleach_campaign::run::Stats::default();
    let (mut taken, mut why) = (Vec::new(), Vec::new());
    for f in 0..files {
        let name = format!("src/part{:02}/file{f:03}.c", f % 10);
        let lines = branches_per_file / 2;
        const SITES: usize = 10;
        for function in 0..lines / SITES {
            let site = |s: usize| BranchPlace {
                first: (program.branches.len() + 2 * s) as BranchId,
                sides: 2,
                file: name.clone(),
                line: (function * SITES + s + 1) as u32,
                column: 9,
                cases: None,
                names: Vec::new(),
                system: false,
            };
            program.add(FunctionPlace {
                name: format!("part_{f}_function_{function}"),
                file: name.clone(),
                line: (function * SITES + 1) as u32,
                branches: (0..SITES).map(site).collect(),
            });
        }
    }
    let reasons = vec![
        ("taken", String::new(), -1),
        (
            "refuted",
            format!("no input takes it on any of the 12 paths that were tried {HOSTILE}"),
            -1,
        ),
        ("unreached", "no input reaches it; the nearest reached branch on the way is".into(), 1),
        ("concrete", "in the traces its condition did not depend on the input".into(), -1),
    ];
    for branch in 0..program.branches.len() {
        // The first site has a side that is refuted; others are mixed.
        let is_taken = branch != 1 && !branch.is_multiple_of(3);
        taken.push(if is_taken { (branch % 40) as i64 } else { -1 });
        why.push(match (is_taken, branch % 4) {
            (true, _) => 0,
            _ if branch == 1 => 1,
            (_, n) => 1 + n % 3,
        });
    }
    let line =
        |f: usize, n: usize| format!("    if (input[{n}] == {f}) total += {HOSTILE:?}[{n}];\n");
    let file = |(f, name): (usize, &String)| File {
        n: name.clone(),
        p: format!("/project/{name}"),
        s: Some((0..branches_per_file / 2).map(|n| line(f, n)).collect()),
        why: None,
    };
    let input = |i: u32| {
        let name = format!("queue/id:{i:06}");
        (0, i, "flip".into(), u64::from(i) * 10, None, None, 4, "exit 0".into(), name)
    };
    let data = Data {
        kind: "campaign",
        title: HOSTILE.into(),
        sub: HOSTILE.into(),
        footer: HOSTILE.into(),
        watch: 0,
        state: "so far",
        dir: "out".into(),
        replay: ("pleach replay ".into(), " -- ./prog".into()),
        totals: Totals {
            functions: program.functions.len() as u64,
            functions_reached: program.reached_functions(&taken),
            inputs: 40,
            crashes: 1,
            hangs: 0,
            runs: 1000,
            seconds: 60.0,
        },
        plot: (0..500).map(|i| (f64::from(i) / 10.0, i as u64 * 20, i as u64 * 100)).collect(),
        ops: vec![(HOSTILE.into(), 40, 1000)],
        actions: vec![("flip".into(), 40, 3.0)],
        flips: Flips { sat: 10, unsat: 5, optimistic: 1, unknown: 2 },
        tiers: vec![("domains".into(), 18, 1.0)],
        time: vec![("solver", 3.0)],
        partial: vec![(HOSTILE.into(), 3)],
        members: vec![(HOSTILE.into(), 7, 6, 5, 4)],
        unmodelled: &stats.unmodelled,
        folded: Vec::new(),
        diverged: Vec::new(),
        notes: &[HOSTILE.to_string()],
        root: "/project".into(),
        files: program.files.iter().enumerate().map(file).collect(),
        fns: std::mem::take(&mut program.functions),
        sites: std::mem::take(&mut program.sites),
        cases: BTreeMap::new(),
        names: BTreeMap::new(),
        taken,
        why,
        reasons,
        inputs: (0..40).map(input).collect(),
        firsts: vec![25; 40],
        bytes: (0..40).map(|i| (i, base64(HOSTILE.as_bytes()))).collect(),
        crashes: vec![CrashSection {
            title: HOSTILE.into(),
            place: HOSTILE.into(),
            inputs: vec![0],
            output: HOSTILE.into(),
            bytes: Some(base64(HOSTILE.as_bytes())),
            marks: vec![(1, 4)],
            conditions: vec![("a.c:1".into(), HOSTILE.into())],
            ..CrashSection::default()
        }],
        grammar: None,
    };
    page("sample", &data)
}

/// The tables of the program, numbered for the page.
#[derive(Default)]
struct Program {
    files: Vec<String>,
    file_numbers: HashMap<String, usize>,
    functions: Vec<(String, usize, u32, usize, usize)>,
    sites: Columns,
    cases: BTreeMap<usize, Vec<i64>>,
    names: BTreeMap<usize, Vec<String>>,
    /// By number in the page: the branch of the program, and its function.
    branches: Vec<BranchId>,
    function_of: Vec<usize>,
}

impl Program {
    fn add(&mut self, function: FunctionPlace) {
        let mut branches: Vec<_> = function.branches.into_iter().filter(|b| !b.system).collect();
        if branches.is_empty() {
            return;
        }
        branches.sort_by_key(|branch| branch.first);
        let first = self.sites.k.len();
        let file = self.file(&function.file);
        let index = self.functions.len();
        let count = branches.len();
        for branch in branches {
            let site = self.sites.k.len();
            let file = self.file(&branch.file);
            self.sites.p.push(file);
            // Code that the compiler made for the function has no line of its own.
            let line = if branch.line == 0 { function.line } else { branch.line };
            self.sites.l.push(line);
            self.sites.c.push(branch.column);
            self.sites.k.push(branch.sides);
            for side in 0..branch.sides {
                self.branches.push(branch.first + side);
                self.function_of.push(index);
            }
            if !branch.names.is_empty() {
                self.names.insert(site, branch.names);
            }
            if let Some(cases) = branch.cases {
                self.cases.insert(site, cases.into_iter().map(|case| case as i64).collect());
            }
        }
        self.functions.push((readable(&function.name), file, function.line, first, count));
    }

    fn file(&mut self, name: &str) -> usize {
        if let Some(&number) = self.file_numbers.get(name) {
            return number;
        }
        self.files.push(name.into());
        self.file_numbers.insert(name.into(), self.files.len() - 1);
        self.files.len() - 1
    }

    /// The number of functions of which a branch is taken.
    fn reached_functions(&self, taken: &[i64]) -> u64 {
        let mut reached = vec![false; self.functions.len()];
        for (&function, &input) in self.function_of.iter().zip(taken) {
            reached[function] |= input >= 0;
        }
        reached.into_iter().filter(|r| *r).count() as u64
    }

    /// For each branch the number of its reason, and the reasons.
    fn reasons(&self, findings: &Findings) -> (Vec<usize>, Vec<(&'static str, String, i64)>) {
        let numbers: HashMap<BranchId, usize> =
            self.branches.iter().enumerate().map(|(number, &branch)| (branch, number)).collect();
        let mut known: HashMap<Words, usize> = HashMap::new();
        let mut reasons = Vec::new();
        let why = findings.with_inquiry(|inquiry| {
            let number = |(&branch, &function): (&BranchId, &usize)| {
                let found = words(&inquiry.reason(branch), &self.functions[function].0);
                if let Some(&number) = known.get(&found) {
                    return number;
                }
                let guard = found.guard.and_then(|guard| numbers.get(&guard));
                reasons.push((found.class, found.text.clone(), guard.map_or(-1, |&g| g as i64)));
                known.insert(found, reasons.len() - 1);
                reasons.len() - 1
            };
            self.branches.iter().zip(&self.function_of).map(number).collect()
        });
        (why, reasons)
    }
}

/// The innermost directory that all paths are in; empty if there is none.
fn common_directory(paths: &[String]) -> String {
    let directory = |path: &String| Path::new(path).parent().map(Path::to_path_buf);
    let mut directories = paths.iter().filter_map(directory);
    let first = directories.next().unwrap_or_default();
    let common = directories.fold(first, |common, directory| {
        let same = common.components().zip(directory.components()).take_while(|(a, b)| a == b);
        same.map(|(part, _)| part).collect()
    });
    common.to_string_lossy().into_owned()
}

/// A path without a directory that it starts with.
fn below(root: &str, path: &str) -> String {
    let short = Path::new(path).strip_prefix(root).map(|short| short.to_string_lossy());
    short.map_or_else(|_| path.to_string(), |short| short.into_owned())
}

fn first_input(findings: &Findings, branch: BranchId) -> i64 {
    findings.first_input(branch).map_or(-1, |input| input as i64)
}

fn input_row(input: &pleach_campaign::findings::Input) -> InputRow {
    let end = input.end.as_ref().map_or_else(String::new, end_words);
    let name = format!("{}/{}", input.kept.dir(), input.name);
    let (op, site) = (input.op.clone(), input.site.clone());
    let kept = input.kept as u8;
    (kept, input.number, op, input.time_ms, input.source, site, input.len, end, name)
}

fn name_of(findings: &Findings) -> String {
    let program = findings.command().into_iter().next().unwrap_or_default();
    let name = Path::new(&program).file_name().unwrap_or(OsStr::new("program"));
    name.to_string_lossy().into_owned()
}

fn state_of(stop: Option<Stop>) -> &'static str {
    match stop {
        None => "so far",
        Some(Stop::Time) => "until its time was up",
        Some(Stop::Runs) => "until its runs were made",
        Some(Stop::Interrupted) => "until it was stopped",
        Some(other) => other.name(),
    }
}

/// The command that replays an input: before and behind its name.
fn replay_parts(findings: &Findings) -> (String, String) {
    let command: Vec<String> = findings.command().iter().map(|word| quoted(word)).collect();
    let flags = replay_flags(findings);
    ("pleach replay ".to_string() + &flags, format!(" -- {}", command.join(" ")))
}

/// The options of `pleach replay` that a campaign needs.
pub fn replay_flags(findings: &Findings) -> String {
    let settings = &findings.settings;
    let mut flags = String::new();
    if settings.socket {
        flags += "--socket ";
    }
    if let Some(size) = settings.tty {
        flags += &format!("--tty {size} ");
    }
    if let Some(cwd) = &settings.cwd {
        flags += &format!("--cwd {} ", quoted(&cwd.os()));
    }
    flags
}

/// The points of the curve, as many as can be seen.
fn thinned(findings: &Findings) -> Vec<(f64, u64, u64)> {
    let stats = &findings.stats;
    let last = (stats.time_s.total, stats.runs, stats.branches.covered);
    let points = findings.plot.iter().map(|p| (p.seconds, p.runs, p.covered));
    let all: Vec<_> = std::iter::once((0.0, 0, 0)).chain(points).chain([last]).collect();
    let step = all.len().div_ceil(MAX_POINTS).max(1);
    let end = all.len() - 1;
    let is_shown = |&(i, _): &(usize, _)| i % step == 0 || i == end;
    all.into_iter().enumerate().filter(is_shown).map(|(_, point)| point).collect()
}

fn ops(findings: &Findings, firsts: &[u64]) -> Vec<(String, u64, u64)> {
    let mut all: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for (input, firsts) in findings.inputs.iter().zip(firsts) {
        let entry = all.entry(&input.op).or_default();
        entry.0 += 1;
        entry.1 += firsts;
    }
    all.into_iter().map(|(op, (inputs, firsts))| (op.to_string(), inputs, firsts)).collect()
}

/// The members of a fleet, this one first if the campaign is that of a member.
fn members(fleet: &FleetStats, stats: &Stats) -> Vec<(String, u64, u64, u64, u64)> {
    let own = (!fleet.member.is_empty()).then(|| {
        let name = fleet.member.clone();
        (name, stats.runs, stats.branches.covered, stats.inputs, stats.crashes)
    });
    let others = fleet.others.iter();
    let others = others.map(|m| (m.name.clone(), m.runs, m.branches, m.inputs, m.crashes));
    own.into_iter().chain(others).collect()
}

fn time_parts(findings: &Findings) -> Vec<(&'static str, f64)> {
    let t = &findings.stats.time_s;
    let mut parts = vec![
        ("fast half", t.fast),
        ("symbolic half", t.symbolic),
        ("solver", t.solve),
        ("grammar", t.parse),
        ("mutation", t.mutate),
        ("judging", t.judge),
        ("choosing", t.search),
        ("lock", t.lock),
        ("idle", t.idle),
    ];
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    parts
}

fn pairs(map: &BTreeMap<String, u64>) -> Vec<(String, u64)> {
    map.iter().map(|(name, &n)| (name.clone(), n)).collect()
}

/// The bytes of the inputs that fit: first those that take branches first, in their order.
fn bytes_of(findings: &Findings) -> BTreeMap<usize, String> {
    let mut left = MAX_BYTES;
    let mut found = BTreeMap::new();
    for (i, input) in findings.inputs.iter().enumerate() {
        if input.len > MAX_INPUT.min(left) {
            continue;
        }
        if let Ok(bytes) = input.read()
            && bytes.len() <= MAX_INPUT.min(left)
        {
            left -= bytes.len();
            found.insert(i, base64(&bytes));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_below_their_common_directory() {
        let check = |paths: &[&str], root: &str, names: &[&str]| {
            let paths: Vec<String> = paths.iter().map(|p| p.to_string()).collect();
            assert_eq!(common_directory(&paths), root);
            let short: Vec<String> = paths.iter().map(|path| below(root, path)).collect();
            assert_eq!(short, names);
        };
        check(&["/src/a/util.c", "/src/b/util.c"], "/src", &["a/util.c", "b/util.c"]);
        check(&["/src/calc.c"], "/src", &["calc.c"]);
        check(&["/src/lib/a.c", "/src/library/b.c"], "/src", &["lib/a.c", "library/b.c"]);
        check(&["a.c", "/src/b.c"], "", &["a.c", "/src/b.c"]);
        check(&[], "", &[]);
    }
}
