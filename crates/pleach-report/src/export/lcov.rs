//! LCOV's tracefile, as `geninfo` of LCOV 1.16 writes it and LCOV 2 reads it.

use super::Context;
use crate::coverage::{Coverage, FileCoverage, Share};
use std::fmt::Write;

pub fn write(coverage: &Coverage, context: &Context) -> Vec<u8> {
    let mut out = String::new();
    for (name, file) in &coverage.files {
        // Writing to a string cannot fail.
        let _ = write_file(&mut out, &context.locate(name).to_string_lossy(), file);
    }
    out.into_bytes()
}

fn write_file(out: &mut String, path: &str, file: &FileCoverage) -> std::fmt::Result {
    writeln!(out, "TN:\nSF:{path}")?;
    for (line, name) in file.functions.keys() {
        writeln!(out, "FN:{line},{name}")?;
    }
    for ((_, name), function) in &file.functions {
        writeln!(out, "FNDA:{},{name}", function.count)?;
    }
    write_share(out, "FN", file.function_share())?;
    // The blocks of a line are numbered from 0: its decisions.
    let mut block = (0, 0);
    for (&(line, ..), sides) in &file.branches {
        block = if block.0 == line { (line, block.1 + 1) } else { (line, 0) };
        let is_reached = sides.iter().any(|s| s.count > 0);
        for (i, side) in sides.iter().enumerate() {
            let taken = if is_reached { side.count.to_string() } else { "-".into() };
            writeln!(out, "BRDA:{line},{},{i},{taken}", block.1)?;
        }
    }
    write_share(out, "BR", file.branch_share())?;
    for (line, count) in &file.lines {
        writeln!(out, "DA:{line},{count}")?;
    }
    let lines = file.line_share();
    writeln!(out, "LF:{}\nLH:{}\nend_of_record", lines.total, lines.covered)
}

fn write_share(out: &mut String, of: &str, share: Share) -> std::fmt::Result {
    writeln!(out, "{of}F:{}\n{of}H:{}", share.total, share.covered)
}
