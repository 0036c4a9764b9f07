//! Cobertura's XML (coverage-04.dtd). A package is a directory, a class is a source file.

use super::Context;
use super::xml::escape;
use crate::coverage::{Coverage, FileCoverage, Share};
use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::path::PathBuf;

const HEAD: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE coverage SYSTEM "http://cobertura.sourceforge.net/xml/coverage-04.dtd">
"#;

pub fn write(coverage: &Coverage, context: &Context) -> Vec<u8> {
    let mut out = String::from(HEAD);
    // Writing to a string cannot fail.
    let _ = write_all(&mut out, coverage, context);
    out.into_bytes()
}

fn write_all(out: &mut String, coverage: &Coverage, context: &Context) -> fmt::Result {
    let lines = coverage.total(FileCoverage::line_share);
    let branches = coverage.total(FileCoverage::branch_share);
    writeln!(
        out,
        r#"<coverage line-rate="{:.4}" branch-rate="{:.4}" lines-covered="{}" lines-valid="{}" branches-covered="{}" branches-valid="{}" complexity="0" version="pleach {}" timestamp="{}">"#,
        lines.rate(),
        branches.rate(),
        lines.covered,
        lines.total,
        branches.covered,
        branches.total,
        env!("CARGO_PKG_VERSION"),
        context.now,
    )?;
    let source = escape(&context.source.to_string_lossy());
    writeln!(out, "<sources><source>{source}</source></sources>\n<packages>")?;
    let mut packages: BTreeMap<String, Vec<(PathBuf, &FileCoverage)>> = BTreeMap::new();
    for (name, file) in &coverage.files {
        let path = context.relative(name);
        let package = path.parent().map(|p| p.to_string_lossy().replace('/', "."));
        packages.entry(package.unwrap_or_default()).or_default().push((path, file));
    }
    for (package, files) in &packages {
        let sum = |share: fn(&FileCoverage) -> Share| {
            files.iter().map(|(_, f)| share(f)).fold(Share::default(), |a, b| a + b).rate()
        };
        writeln!(
            out,
            r#"<package name="{}" line-rate="{:.4}" branch-rate="{:.4}" complexity="0"><classes>"#,
            escape(package),
            sum(FileCoverage::line_share),
            sum(FileCoverage::branch_share),
        )?;
        for (path, file) in files {
            write_class(out, path, file)?;
        }
        writeln!(out, "</classes></package>")?;
    }
    writeln!(out, "</packages>\n</coverage>")
}

fn write_class(out: &mut String, path: &std::path::Path, file: &FileCoverage) -> fmt::Result {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    writeln!(
        out,
        r#"<class name="{}" filename="{}" line-rate="{:.4}" branch-rate="{:.4}" complexity="0">"#,
        escape(&name),
        escape(&path.to_string_lossy()),
        file.line_share().rate(),
        file.branch_share().rate(),
    )?;
    writeln!(out, "<methods>")?;
    for ((first, _), function) in &file.functions {
        // `name(int)` is a name and a signature.
        let (name, signature) = match function.name.find('(') {
            Some(at) if at > 0 => function.name.split_at(at),
            _ => (function.name.as_str(), ""),
        };
        let within = file.lines.range(first..=&function.last_line);
        let lines = Share::of(within.map(|(_, &count)| count));
        let within = file.branches.range((*first, 0, 0)..(function.last_line + 1, 0, 0));
        let branches = Share::of(within.flat_map(|(_, sides)| sides).map(|s| s.count));
        writeln!(
            out,
            r#"<method name="{}" signature="{}" line-rate="{:.4}" branch-rate="{:.4}" complexity="0"><lines><line number="{first}" hits="{}" branch="false"/></lines></method>"#,
            escape(name),
            escape(signature),
            lines.rate(),
            branches.rate(),
            function.count,
        )?;
    }
    writeln!(out, "</methods>\n<lines>")?;
    for (&line, &hits) in &file.lines {
        write_line(out, file, line, hits)?;
    }
    writeln!(out, "</lines></class>")
}

fn write_line(out: &mut String, file: &FileCoverage, line: u32, hits: u64) -> fmt::Result {
    let decisions: Vec<Share> =
        file.branches_of(line).map(|(_, sides)| Share::of(sides.iter().map(|s| s.count))).collect();
    if decisions.is_empty() {
        return writeln!(out, r#"<line number="{line}" hits="{hits}" branch="false"/>"#);
    }
    let all = decisions.iter().fold(Share::default(), |a, &b| a + b);
    writeln!(
        out,
        r#"<line number="{line}" hits="{hits}" branch="true" condition-coverage="{:.0}% ({}/{})"><conditions>"#,
        all.percent().floor(),
        all.covered,
        all.total,
    )?;
    for (i, share) in decisions.iter().enumerate() {
        let kind = if share.total == 2 { "jump" } else { "switch" };
        let percent = share.percent().floor();
        writeln!(out, r#"<condition number="{i}" type="{kind}" coverage="{percent:.0}%"/>"#)?;
    }
    writeln!(out, "</conditions></line>")
}
