//! The JSON that `llvm-cov export` writes (`llvm.coverage.json.export`, version 3.1.0).
//!
//! llvm-cov counts regions of the source, from column to column. Pleach counts lines and
//! branches. So a region here is a range of whole lines with one count, and a branch has the
//! place where it begins, but no end.

use super::Context;
use crate::coverage::{Coverage, FileCoverage, Share, Side};
use serde_json::{Value, json};

/// llvm-cov's numbers for kinds of regions.
const CODE_REGION: u32 = 0;
const BRANCH_REGION: u32 = 4;

pub fn write(coverage: &Coverage, context: &Context) -> Vec<u8> {
    let files: Vec<Value> =
        coverage.files.iter().map(|(name, file)| file_json(context, name, file)).collect();
    let functions: Vec<Value> = coverage
        .files
        .iter()
        .flat_map(|(name, file)| functions_json(context, name, file))
        .collect();
    let regions = coverage.files.values().flat_map(all_regions).map(|r| r.count);
    let totals = summary(
        coverage.total(FileCoverage::line_share),
        coverage.total(FileCoverage::function_share),
        coverage.total(FileCoverage::branch_share),
        Share::of(regions),
    );
    let all = json!({
        "data": [{ "files": files, "functions": functions, "totals": totals }],
        "type": "llvm.coverage.json.export",
        "version": "3.1.0",
    });
    let mut text = all.to_string().into_bytes();
    text.push(b'\n');
    text
}

/// Lines that follow each other and have the same count.
struct Region {
    first: u32,
    last: u32,
    count: u64,
}

fn regions(file: &FileCoverage, first: u32, last: u32) -> Vec<Region> {
    let mut all: Vec<Region> = Vec::new();
    for (&line, &count) in file.lines.range(first..=last.max(first)) {
        match all.last_mut() {
            Some(region) if region.count == count => region.last = line,
            _ => all.push(Region { first: line, last: line, count }),
        }
    }
    all
}

fn all_regions(file: &FileCoverage) -> impl Iterator<Item = Region> {
    file.functions.iter().flat_map(|((first, _), f)| regions(file, *first, f.last_line))
}

fn file_json(context: &Context, name: &str, file: &FileCoverage) -> Value {
    let regions = Share::of(all_regions(file).map(|r| r.count));
    json!({
        "branches": branches(file, 0, u32::MAX - 1),
        "expansions": [],
        "filename": context.locate(name),
        "mcdc_records": [],
        "segments": segments(file),
        "summary": summary(
            file.line_share(), file.function_share(), file.branch_share(), regions,
        ),
    })
}

/// `[line, column, count, has a count, begins a region, is a gap]`. A segment holds up to
/// the next one.
fn segments(file: &FileCoverage) -> Vec<Value> {
    let ends: Vec<u32> = file.functions.values().map(|f| f.last_line).collect();
    let mut out = Vec::new();
    let mut current = None;
    for (&line, &count) in &file.lines {
        if current != Some(count) {
            out.push(json!([line, 1, count, true, true, false]));
            current = Some(count);
        }
        let has_next = file.lines.contains_key(&(line + 1));
        if ends.contains(&line) && !has_next {
            out.push(json!([line + 1, 1, 0, false, false, false]));
            current = None;
        }
    }
    if let (Some(_), Some((&last, _))) = (current, file.lines.last_key_value()) {
        out.push(json!([last + 1, 1, 0, false, false, false]));
    }
    out
}

/// `[line, column, end line, end column, true, false, file, expanded file, kind]`. As in
/// llvm-cov, each case of a switch is a branch.
fn branches(file: &FileCoverage, first: u32, last: u32) -> Vec<Value> {
    let mut out = Vec::new();
    let branch = |line, column, yes: u64, no: u64| {
        json!([line, column, line, column, yes, no, 0, 0, BRANCH_REGION])
    };
    for (&(line, column, _), sides) in file.branches.range((first, 0, 0)..(last + 1, 0, 0)) {
        let total: u64 = sides.iter().map(|s| s.count).sum();
        let column = column.max(1);
        match &sides[..] {
            [Side { count: yes, .. }, Side { count: no, name }] if name == "false" => {
                out.push(branch(line, column, *yes, *no));
            }
            cases => {
                out.extend(cases.iter().map(|s| branch(line, column, s.count, total - s.count)));
            }
        }
    }
    out
}

fn functions_json(context: &Context, name: &str, file: &FileCoverage) -> Vec<Value> {
    let path = context.locate(name);
    let function = |((first, linkage), f): (&(u32, String), &crate::coverage::FunctionCoverage)| {
        let regions: Vec<Value> = regions(file, *first, f.last_line)
            .into_iter()
            .map(|r| json!([r.first, 1, r.last + 1, 1, r.count, 0, 0, CODE_REGION]))
            .collect();
        json!({
            "branches": branches(file, *first, f.last_line),
            "count": f.count,
            "filenames": [path],
            "mcdc_records": [],
            "name": linkage,
            "regions": regions,
        })
    };
    file.functions.iter().map(function).collect()
}

fn summary(lines: Share, functions: Share, branches: Share, regions: Share) -> Value {
    let plain =
        |s: Share| json!({ "count": s.total, "covered": s.covered, "percent": s.percent() });
    let with_rest = |s: Share| {
        let mut value = plain(s);
        value["notcovered"] = (s.total - s.covered).into();
        value
    };
    json!({
        "branches": with_rest(branches),
        "functions": plain(functions),
        "instantiations": plain(functions),
        "lines": plain(lines),
        "mcdc": with_rest(Share::default()),
        "regions": with_rest(regions),
    })
}
