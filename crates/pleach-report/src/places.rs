//! The places that a search should get to, as text.

use crate::numbers::time;
use pleach_campaign::run::{PlaceStats, Stats};
use std::time::Duration;

/// Which places were reached, by which input, and what stands in the way to the others. Empty
/// if there are none.
pub fn describe_places(stats: &Stats) -> String {
    if stats.places.is_empty() {
        return String::new();
    }
    let reached = stats.places.iter().filter(|p| p.reached.is_some()).count();
    let mut text = format!("{reached} of {} places reached\n", stats.places.len());
    stats.places.iter().for_each(|place| text.push_str(&describe_place(place)));
    text
}

fn describe_place(place: &PlaceStats) -> String {
    let mut name = place.place.clone();
    if !place.functions.is_empty() && place.functions != [place.place.clone()] {
        const MAX_FUNCTIONS: usize = 3;
        let mut functions = place.functions[..place.functions.len().min(MAX_FUNCTIONS)].join(", ");
        if place.functions.len() > MAX_FUNCTIONS {
            functions.push_str(", …");
        }
        name += &format!(" in {functions}");
    }
    if let Some(line) = place.line {
        name += &format!(" (no code there; line {line} is the next)");
    }
    if !place.what.is_empty() {
        name += &format!(" [{}]", place.what);
    }
    match (&place.reached, &place.obstacle) {
        (Some(by), _) => {
            let after = time(Duration::from_millis(by.time_ms));
            format!("  {name}: reached by {} after {after}\n", by.file)
        }
        (None, Some(o)) => {
            let away = match o.distance {
                0 => "which leads there".to_string(),
                1 => "one branch away".into(),
                n => format!("{n} branches away"),
            };
            format!(
                "  {name}: not reached\n    nearest: {} in {}, {away}; its side `{}` was never \
                 taken: {}\n",
                o.place, o.function, o.side, o.reason
            )
        }
        (None, None) => {
            format!("  {name}: not reached\n    no branch that was reached leads there\n")
        }
    }
}
