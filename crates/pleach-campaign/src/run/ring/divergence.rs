//! Divergence: a run leaves the path that was predicted for its input.

use super::candidate::{Candidate, FastEnd, PredictedPath};
use pleach_search::Run;

/// The path that was predicted for a run.
pub fn predicted<'a>(candidate: &'a Candidate, run: &Run) -> Option<&'a PredictedPath> {
    candidate.predicted_path().filter(|path| path.on_tokens == run.tokens)
}

/// True if a run took its predicted path.
pub fn follows(run: &Run, path: &PredictedPath) -> bool {
    run.nodes.get(path.decisions as usize) == Some(&path.node)
}

/// The predicted path, if it was certain and the run left it. Nobody can tell where the
/// fast half stopped before the end of that path, and a check that fails there need not be
/// recorded in the symbolic half.
pub fn left_path<'a>(candidate: &'a Candidate, run: &Run) -> Option<&'a PredictedPath> {
    let path = predicted(candidate, run)?;
    let has_failed_check = path.check && candidate.fast == FastEnd::Crashed;
    let is_certain = !path.optimistic && path.decisions <= run.shown() && !has_failed_check;
    (is_certain && !follows(run, path)).then_some(path)
}

/// The kind of decision where a run left its predicted path, and if that was before the
/// flipped one. `parent` is the run that was flipped, if it is still there.
pub fn place(run: &Run, parent: Option<&Run>, path: &PredictedPath) -> String {
    let Some(parent) = parent else { return "forgotten".into() };
    let agreed = run.shared(parent) as usize;
    if run.decisions.len() == agreed && agreed < path.decisions as usize {
        return "ended early".into();
    }
    let when = if agreed < path.flip.at as usize { "earlier " } else { "" };
    let kind = parent.decisions.get(agreed.min(path.flip.at as usize)).map(|d| d.kind);
    kind.map_or("ended early".into(), |kind| format!("{when}{kind:?}").to_lowercase())
}
