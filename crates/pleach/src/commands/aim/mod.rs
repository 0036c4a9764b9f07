//! The places that `pleach run` should get to: given by name, by a static analyser, or by what
//! has changed in a repository.

mod changes;
mod sarif;

use crate::args::AimOptions;
use crate::exit::Failure;
use anyhow::anyhow;
use pleach_campaign::run::{Places, Toward, records};
use pleach_exec::Layout;

/// The places of the user, all of which the program has, and texts for the user about the
/// others.
#[derive(Default)]
pub struct Aim {
    pub toward: Vec<Toward>,
    pub notes: Vec<String>,
}

/// Finds the places of the user. `None` if there are none because nothing has changed that has
/// code.
pub fn find(options: &AimOptions, layout: &Layout) -> Result<Option<Aim>, Failure> {
    let places = Places::new(records(layout));
    let mut aim = Aim::default();
    for place in &options.toward {
        places.find(place).map_err(|e| Failure::user_error(anyhow!("--toward {e}")))?;
        aim.toward.push(Toward { place: place.clone(), what: String::new() });
    }
    for file in &options.toward_sarif {
        sarif::add_results(file, &places, &mut aim)?;
    }
    if let Some(revision) = &options.changed {
        changes::add_changes(revision, &places, &mut aim)?;
    }
    let is_asked =
        !options.toward_sarif.is_empty() || options.changed.is_some() || !options.toward.is_empty();
    Ok((!is_asked || !aim.toward.is_empty()).then_some(aim))
}
