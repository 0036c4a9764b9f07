//! What the directory of a campaign says: a reader for reports and exports.
//!
//! [`Findings::open`] reads the files, and changes none. A driver may be using the directory
//! at the same time. [`Findings::replay`] runs the inputs on the fast half: then it is known
//! what covers what. [`Findings::examine`] finds out which crash each crashing input is.
//! [`Findings::trace_sites`] traces a few inputs to find out on what conditions depend, where
//! the search has not asked. [`Findings::refresh`] reads a directory again: only what is new
//! is replayed.
//!
//! Nothing here formats anything for people.

mod inputs;
mod places;
mod sites;

pub use inputs::{Crash, Input};
pub use places::{BranchPlace, FunctionPlace};

use crate::run::{
    BranchEntries, Dir, DirError, Inquiry, Kept, Ledger, Map, PlotPoint, Settings, Sights, Stats,
    Text, build_of,
};
use pleach_exec::executor::{ExecError, Half};
use pleach_exec::image::ImageError;
use pleach_exec::layout::Layout;
use pleach_exec::scratch::WorkDirError;
use pleach_exec::{CompiledTarget, RunOptions, Target};
use pleach_search::{BranchId, Counts};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// Where they hang is found out for this many inputs: each needs the whole time limit.
const MAX_EXAMINED_HANGS: usize = 32;

/// Why the directory of a campaign cannot be read.
#[derive(Debug, Error)]
pub enum FindingsError {
    #[error(transparent)]
    Dir(#[from] DirError),
    #[error(transparent)]
    Image(#[from] ImageError),
    #[error(transparent)]
    WorkDir(#[from] WorkDirError),
    #[error(transparent)]
    Exec(#[from] ExecError),
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error(
        "{}: is not the build that the campaign in {} ran; name that program after --, or run a \
         new campaign", program.display(), dir.display()
    )]
    Rebuilt { program: PathBuf, dir: PathBuf },
}

/// See the module.
pub struct Findings {
    pub dir: PathBuf,
    pub settings: Settings,
    pub stats: Stats,
    /// Coverage over time.
    pub plot: Vec<PlotPoint>,
    pub layout: Arc<Layout>,
    pub map: Map,
    pub ledger: Ledger,
    /// The inputs of the queue, the crashes and the hangs, in the order of their times.
    pub inputs: Vec<Input>,
    pub sights: Sights,
    /// By branch: 1 + the number of the first input that takes it; 0 for none.
    first: Vec<u32>,
    target: Option<CompiledTarget>,
}

impl Findings {
    /// Reads the directory of a campaign. `program`: the executable, if it is not where the
    /// campaign ran it.
    pub fn open(dir: &Path, program: Option<&Path>) -> Result<Findings, FindingsError> {
        let mut settings = Dir::settings(dir)?;
        if let Some(program) = program {
            let program = std::path::absolute(program).unwrap_or_else(|_| program.into());
            if let Some(first) = settings.program.first_mut() {
                *first = Text::new(program.as_os_str());
            }
        }
        let program = settings.args().into_iter().next().map(PathBuf::from).unwrap_or_default();
        let layout = Arc::new(Layout::private(&program)?);
        let build = build_of(&program);
        let build = build.map_err(|error| FindingsError::Io { path: program.clone(), error })?;
        if build != settings.build {
            return Err(FindingsError::Rebuilt { program, dir: dir.into() });
        }
        let map = Map::new(layout.clone());
        let branches = map.program.branches();
        let mut findings = Findings {
            dir: dir.into(),
            settings,
            stats: Stats::default(),
            plot: Vec::new(),
            layout,
            map,
            ledger: Ledger::new(branches),
            inputs: Vec::new(),
            sights: Sights::default(),
            first: vec![0; branches],
            target: None,
        };
        findings.refresh()?;
        Ok(findings)
    }

    /// Reads the files again. Inputs that were replayed stay so. Returns how many are new.
    pub fn refresh(&mut self) -> Result<usize, FindingsError> {
        let io = |path: PathBuf| move |error| FindingsError::Io { path, error };
        self.stats = Dir::read_stats_of(&self.dir).unwrap_or_default();
        self.plot = Dir::plot(&self.dir);
        self.ledger = Ledger::new(self.map.program.branches());
        let journal = self.dir.join("journal");
        BranchEntries::read(&journal, &mut self.ledger).map_err(io(journal.clone()))?;
        let mut found = Vec::new();
        for kept in [Kept::Queue, Kept::Crash, Kept::Hang] {
            let path = self.dir.join(kept.dir());
            found.extend(inputs::list(&path, kept).map_err(io(path.clone()))?);
        }
        let mut known = std::mem::take(&mut self.inputs);
        known.sort_by(|a, b| a.path.cmp(&b.path));
        let mut new = 0;
        for input in &mut found {
            match known.binary_search_by(|old| old.path.cmp(&input.path)) {
                Ok(at) => *input = std::mem::take(&mut known[at]),
                Err(_) => new += 1,
            }
        }
        found.sort_by_key(|input| (input.time_ms, input.kept as u8, input.number));
        self.inputs = found;
        self.find_first();
        Ok(new)
    }

    /// Runs the inputs on the fast half that were not run yet. `progress` is told how many of
    /// how many are done, and ends the replay if it returns false.
    pub fn replay(
        &mut self,
        mut progress: impl FnMut(usize, usize) -> bool,
    ) -> Result<(), FindingsError> {
        let waiting: Vec<usize> =
            (0..self.inputs.len()).filter(|&i| self.inputs[i].end.is_none()).collect();
        let timeout = Duration::from_millis(self.settings.timeout_ms);
        for (done, &i) in waiting.iter().enumerate() {
            if !progress(done, waiting.len()) {
                break;
            }
            let bytes = match self.inputs[i].read() {
                Ok(bytes) => bytes,
                // A driver that is at work may have removed it.
                Err(_) => continue,
            };
            self.start_target()?;
            let Some(target) = &mut self.target else { break };
            let fresh = RunOptions {
                timeout,
                cpu_limit: None,
                fresh: true,
                growth: pleach_exec::growth::Growth::default(),
            };
            let end = target.run(&bytes, &fresh)?.end;
            let mut counts = Counts::default();
            self.map.collect(target.touched(), &mut counts);
            // A persistent program does other things in its first round than in later ones.
            if target.is_waiting() {
                target.run(&bytes, &RunOptions { fresh: false, ..fresh })?;
                let mut again = Counts::default();
                self.map.collect(target.touched(), &mut again);
                counts.raise_to(&again);
            }
            let input = &mut self.inputs[i];
            (input.end, input.counts, input.len) = (Some(end), counts, bytes.len());
        }
        progress(waiting.len(), waiting.len());
        self.find_first();
        Ok(())
    }

    /// Finds out which crash each crashing input is that was not examined yet, and where inputs
    /// hang, the smallest of them first.
    pub fn examine(
        &mut self,
        mut progress: impl FnMut(usize, usize) -> bool,
    ) -> Result<(), FindingsError> {
        let of = |kept| {
            let inputs = self.inputs.iter().enumerate();
            inputs.filter(move |(_, input)| input.kept == kept).map(|(i, _)| i)
        };
        let mut hangs: Vec<usize> = of(Kept::Hang).collect();
        hangs.sort_by_key(|&i| (self.inputs[i].len, i));
        hangs.truncate(MAX_EXAMINED_HANGS);
        let all = of(Kept::Crash).chain(hangs);
        let waiting: Vec<usize> = all.filter(|&i| self.inputs[i].crash.is_none()).collect();
        for (done, &i) in waiting.iter().enumerate() {
            if !progress(done, waiting.len()) {
                break;
            }
            let Ok(bytes) = self.inputs[i].read() else { continue };
            self.start_target()?;
            let Some(target) = &mut self.target else { break };
            let examined = target.examine(&bytes)?;
            let stderr = examined.outcome.stderr;
            self.inputs[i].crash = Some(Crash { id: examined.crash, stderr });
        }
        progress(waiting.len(), waiting.len());
        Ok(())
    }

    /// The first input that takes a branch.
    pub fn first_input(&self, branch: BranchId) -> Option<usize> {
        let first = self.first.get(branch as usize).copied().unwrap_or(0);
        (first as usize).checked_sub(1)
    }

    pub fn is_covered(&self, branch: BranchId) -> bool {
        self.first_input(branch).is_some()
    }

    /// Answers why branches are covered or not.
    pub fn with_inquiry<T>(&self, ask: impl FnOnce(&Inquiry) -> T) -> T {
        let is_covered = |branch| self.is_covered(branch);
        ask(&Inquiry::new(&self.map, &self.ledger, Some(&self.sights), &is_covered))
    }

    /// The command of the target, with `@@` for the input.
    pub fn command(&self) -> Vec<OsString> {
        self.settings.args()
    }

    /// The target, for other runs and traces. It is started when it is first needed.
    pub fn target(&mut self) -> Result<&mut CompiledTarget, FindingsError> {
        self.start_target()?;
        match &mut self.target {
            Some(target) => Ok(target),
            None => unreachable!("it was started"),
        }
    }

    fn start_target(&mut self) -> Result<(), FindingsError> {
        if self.target.is_none() {
            let workdir = self.settings.workdir()?;
            let options = self.settings.target(Half::Fast, workdir.as_ref());
            let timeout = Duration::from_millis(self.settings.timeout_ms);
            let max_len = self.settings.max_len;
            self.target = Some(CompiledTarget::new(&self.layout, &options, timeout, max_len)?);
        }
        Ok(())
    }

    fn find_first(&mut self) {
        self.first.fill(0);
        for (number, input) in (1..).zip(&self.inputs) {
            for (branch, _) in input.counts.taken() {
                if let Some(first) = self.first.get_mut(branch as usize).filter(|f| **f == 0) {
                    *first = number;
                }
            }
        }
    }
}
