//! `pleach sites`: prints the site table, one site per line.

use crate::args::Sites;
use crate::exit::{Code, Failure};
use crate::show;
use pleach_abi::section::SiteKind;
use pleach_exec::Image;
use std::io::Write;

pub fn run(args: Sites) -> Result<Code, Failure> {
    let image = Image::open(&args.program)?;
    let mut out = show::out();
    let mut skipped = 0;
    for (i, site) in image.sites.iter().enumerate() {
        if !args.system && image.is_system(i) {
            skipped += 1;
            continue;
        }
        let kind = site.kind.map_or("?", word);
        match image.describe(i) {
            Some((function, info)) => {
                let targets: Vec<_> = info.targets.iter().map(|b| format!("b{b}")).collect();
                let cases: Vec<_> = info.cases.iter().map(ToString::to_string).collect();
                let place = show::place(function, info);
                let line = format!(
                    "{kind:<10} {place:<18} {:<16} {}{}{}",
                    show::name(function),
                    targets.join(" "),
                    if cases.is_empty() { "" } else { "  cases " },
                    cases.join(" ")
                );
                writeln!(out, "{}", line.trim_end())?;
            }
            None => writeln!(out, "{kind:<10} ?")?,
        }
    }
    out.flush()?;
    if skipped > 0 {
        eprintln!("pleach: {skipped} sites in system headers are not listed; --system lists them");
    }
    Ok(Code::Ok)
}

fn word(kind: SiteKind) -> &'static str {
    match kind {
        SiteKind::Branch => "branch",
        SiteKind::Switch => "switch",
        SiteKind::Select => "select",
        SiteKind::Division => "division",
        SiteKind::Sanitizer => "sanitizer",
        SiteKind::Access => "access",
        SiteKind::Call => "call",
        SiteKind::Entry => "entry",
        SiteKind::Jump => "jump",
        SiteKind::Called => "called",
    }
}
