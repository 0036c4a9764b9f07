//! The page of a comparison.

use super::page;
use crate::compare::Comparison;
use serde::Serialize;

#[derive(Serialize)]
struct Data<'a> {
    kind: &'static str,
    title: &'a str,
    sub: String,
    footer: String,
    watch: u64,
    comparison: &'a Comparison,
}

/// A comparison as a page.
pub fn comparison_page(comparison: &Comparison, version: &str) -> String {
    let names: Vec<&str> = comparison.strategies.iter().map(|s| &*s.name).collect();
    let title = format!("{}: comparison", comparison.program);
    let data = Data {
        kind: "compare",
        title: &comparison.program,
        sub: format!("strategies {}", names.join(", ")),
        footer: format!("pleach {version}"),
        watch: 0,
        comparison,
    };
    page(&title, &data)
}
