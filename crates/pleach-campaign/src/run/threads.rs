//! The threads of a campaign: one for each worker, and one that watches them.

use super::account::{Stats, Stop};
use super::clock::{self, Part};
use super::corpus::{Record, Seed};
use super::grammar::{learn_tokens, try_grammar};
use super::ring::{Candidate, Runner, Worker, recall_bad, recall_input, run_candidate};
use super::shared::{Shared, lock};
use super::state::State;
use super::watchdog::{STALL_TIME, Stall, Watchdog};
use super::{Campaign, CampaignError};
use pleach_exec::affinity::{self, Affinity};
use pleach_exec::executor::{ExecError, Half, TargetOptions};
use pleach_exec::{CompiledTarget, Target};
use pleach_search::{BranchId, Origin};
use pleach_template::Vocabulary;
use pleach_work::Task;
use std::collections::HashSet;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Scope, ScopedJoinHandle, Thread};
use std::time::{Duration, Instant};

/// A running campaign, for whoever shows it.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub stats: Stats,
    /// What the search does now.
    pub doing: String,
    /// Time since a branch was covered for the first time.
    pub since_gain: Duration,
    /// How many edges the tree holds.
    pub edges: usize,
    /// Workers that have not come back, since the last snapshot.
    pub stalls: Vec<Stall>,
}

/// How often the watching thread checks the limits and shows the campaign.
const WATCH_INTERVAL: Duration = Duration::from_millis(50);
/// How often the statistics are written.
const STATS_INTERVAL: Duration = Duration::from_secs(1);
/// How long the watching thread waits for the lock. A worker that stalls may hold it.
const LOCK_PATIENCE: Duration = Duration::from_millis(500);

impl Campaign {
    /// Set it to end the campaign at once.
    pub fn stop_flag(&self) -> Arc<AtomicBool> {
        self.shared.stop.clone()
    }

    /// Runs the campaign to its end. `watch` is called several times a second.
    pub fn run(self, watch: impl FnMut(&Snapshot)) -> Result<Stats, CampaignError> {
        let (shared, layout) = (self.shared.clone(), self.layout.clone());
        let settings = &shared.settings;
        let options = TargetOptions {
            cancel: Some(shared.stop.clone()),
            max_nodes: shared.shares.trace_nodes,
            ..settings.target(Half::Fast, self.workdir.as_ref())
        };
        let timeout = Duration::from_millis(settings.timeout_ms);
        self.run_on(watch, || {
            let target = CompiledTarget::new(&layout, &options, timeout, settings.max_len)?;
            Ok(Box::new(target))
        })
    }

    /// The same, with a target for each worker.
    pub fn run_on(
        mut self,
        mut watch: impl FnMut(&Snapshot),
        make_target: impl Fn() -> Result<Box<dyn Target>, ExecError>,
    ) -> Result<Stats, CampaignError> {
        let shared = self.shared.clone();
        let processors = affinity::processors(self.jobs);
        let mut workers = Vec::new();
        for i in 0..self.jobs {
            // The processes of a worker run on its processor.
            let before = Affinity::current();
            processors.get(i).iter().for_each(|p| p.bind());
            let target = make_target();
            before.iter().for_each(Affinity::bind);
            workers.push(Worker::new(shared.clone(), target?));
        }
        let began = Instant::now();
        shared.lock().account.begin(began);
        let first = First { seeds: &self.seeds, probes: &self.probes, untried: &mut self.untried };
        let mut first = Some(first);
        let started = Started::default();
        let stall_time = shared.limits.stall_time.unwrap_or(STALL_TIME);
        let watchdog = Watchdog::new(self.jobs, stall_time);
        let (running, watcher) = (AtomicUsize::new(self.jobs), std::thread::current());
        let result = std::thread::scope(|scope| {
            let mut failure = None;
            let exchange = shared.exchange.as_ref().and_then(|exchange| {
                let shared = &shared;
                let thread = start_thread(scope, &mut failure, move || exchange.watch(shared));
                thread.map(|thread| (exchange, thread))
            });
            let post = shared.post.as_ref().filter(|post| post.fleet.in_step().is_none());
            let post = post.and_then(|post| {
                let shared = &shared;
                let thread = start_thread(scope, &mut failure, move || post.run(shared));
                thread.map(|thread| (post, thread))
            });
            let mut threads = Vec::new();
            for (i, worker) in workers.iter_mut().enumerate() {
                let (processor, started, first) = (processors.get(i), &started, first.take());
                let running = Running { count: &running, watcher: watcher.clone() };
                let (stop, beacon) = (shared.stop.clone(), watchdog.beacon(i));
                threads.extend(start_thread(scope, &mut failure, move || {
                    let _running = running;
                    clock::begin();
                    pleach_work::begin(stop, beacon);
                    processor.into_iter().for_each(Affinity::bind);
                    // The first worker runs the seeds, in their order; then all search.
                    match first {
                        Some(first) => {
                            let result = first.run(&mut worker.runner);
                            started.set();
                            worker.unless_ended(result)?;
                        }
                        None => {
                            let _waiting =
                                (clock::enter(Part::Idle), pleach_work::enter(Task::Idle));
                            started.wait();
                        }
                    }
                    let result = worker.work();
                    let result = worker.unless_ended(result);
                    let shared = worker.runner.shared.clone();
                    worker.report(&mut shared.lock().account);
                    result
                }));
            }
            if failure.is_some() {
                shared.stop.store(true, Ordering::Relaxed);
                started.set();
            }
            watch_workers(&shared, &running, began, watchdog, &mut watch);
            exchange.iter().for_each(|(exchange, thread)| exchange.end(thread.thread()));
            post.iter().for_each(|(post, thread)| post.end(thread.thread()));
            let mut result = failure.map_or(Ok(()), |error| Err(CampaignError::Thread(error)));
            for thread in threads {
                match thread.join() {
                    Ok(ended) => result = result.and(ended.map_err(CampaignError::Exec)),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            result
        });
        shared.post.iter().for_each(|post| post.leave(&shared));
        let mut state = shared.lock();
        // Only the flag was set: the user has stopped it.
        let stop = *state.progress.stop.get_or_insert(Stop::Interrupted);
        state.account.stats.stop = Some(stop);
        state.find_obstacles();
        state.write_stats();
        write_announcement(&shared, &state);
        if let Some(announcement) = shared.exchange.as_ref().and_then(|e| e.announcement.as_ref()) {
            announcement.end(&state.corpus.dir);
        }
        if let Err(error) = state.corpus.settle() {
            return Err(CampaignError::Write { path: state.corpus.dir.path.clone(), error });
        }
        result?;
        watch(&snapshot(&mut state));
        Ok(state.account.stats.clone())
    }
}

/// Starts a thread. If that fails, for lack of memory, `failure` is the reason.
fn start_thread<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    failure: &mut Option<io::Error>,
    run: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    let started = std::thread::Builder::new().spawn_scoped(scope, run);
    started.map_err(|error| *failure = Some(error)).ok()
}

/// What the first worker does before the search.
struct First<'a> {
    seeds: &'a [Seed],
    probes: &'a [Vec<u8>],
    untried: &'a mut Option<Vocabulary>,
}

impl First<'_> {
    fn run(self, runner: &mut Runner) -> Result<(), ExecError> {
        match self.untried {
            Some(vocabulary) => try_grammar(runner, vocabulary, self.probes)?,
            None => learn_tokens(runner, self.probes)?,
        }
        run_seeds(runner, self.seeds)
    }
}

/// A worker that runs. When it ends, in whatever way, the watching thread wakes up.
struct Running<'a> {
    count: &'a AtomicUsize,
    watcher: Thread,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Release);
        self.watcher.unpark();
    }
}

/// Tells the other workers when the first has run the seeds.
#[derive(Default)]
struct Started {
    done: Mutex<bool>,
    wake: Condvar,
}

impl Started {
    fn set(&self) {
        *lock(&self.done) = true;
        self.wake.notify_all();
    }

    fn wait(&self) {
        let mut done = lock(&self.done);
        while !*done {
            done = self.wake.wait(done).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Runs the seeds, or the inputs of a campaign that is resumed.
fn run_seeds(runner: &mut Runner, seeds: &[Seed]) -> Result<(), ExecError> {
    let shared = runner.shared.clone();
    let began = Instant::now();
    let known: HashSet<BranchId> = seeds.iter().flat_map(Seed::first_taken).copied().collect();
    for (number, seed) in seeds.iter().enumerate() {
        shared.lock().progress.doing = describe_seeds(number, seeds.len(), began.elapsed());
        // Whoever asks for the next action records why it is over.
        if shared.is_stopping() {
            return Ok(());
        }
        match seed {
            Seed::New(bytes) => {
                // The seeds that were not run come last.
                shared.lock().account.rereading = false;
                if shared.is_out_of_runs() {
                    return Ok(());
                }
                // Whoever owns it runs it. It is told again if the campaign is resumed.
                let mut state = shared.lock();
                if state.splits_paths() {
                    state.mail.iter_mut().for_each(|mail| mail.tell_seed(bytes));
                    continue;
                }
                drop(state);
                let candidate = Candidate::new(bytes[..].into(), Origin::Seed, None);
                run_candidate(runner, candidate)?;
                shared.lock().corpus.record(&Record::SeedRun);
            }
            Seed::Recalled(id, first) => recall_input(runner, *id, first, &known)?,
            Seed::Bad(file, bytes, first) => recall_bad(runner, *file, bytes, first, &known)?,
        }
    }
    let mut state = shared.lock();
    state.account.rereading = false;
    state.progress.doing = None;
    Ok(())
}

/// How many of the first inputs were run, and how long the others take. `None` at first, when
/// nobody knows.
fn describe_seeds(done: usize, all: usize, spent: Duration) -> Option<String> {
    const DELAY: Duration = Duration::from_millis(500);
    if spent < DELAY || done == 0 {
        return None;
    }
    let left = spent.as_secs_f64() / done as f64 * (all - done) as f64;
    Some(format!("{done} of {all} first inputs, about {} s left", left.ceil()))
}

/// Waits for the workers: ends the campaign when its time is up, writes the statistics, and
/// shows how far it is.
fn watch_workers(
    shared: &Shared,
    running: &AtomicUsize,
    began: Instant,
    mut watchdog: Watchdog,
    watch: &mut impl FnMut(&Snapshot),
) {
    let mut written = Instant::now();
    let (mut is_over, mut last, mut uncounted) = (false, None::<Snapshot>, Vec::new());
    while running.load(Ordering::Acquire) > 0 {
        std::thread::park_timeout(WATCH_INTERVAL);
        let is_late = shared.limits.time.is_some_and(|t| began.elapsed() >= t);
        if is_late && !shared.is_stopping() {
            // Before the lock: a worker that holds it may have much to do.
            shared.stop.store(true, Ordering::Relaxed);
            is_over = true;
        }
        let stalls = watchdog.check();
        uncounted.extend(stalls.iter().map(|stall| stall.task));
        let Some(mut state) = shared.lock_within(LOCK_PATIENCE) else {
            // Show at least that it stalls.
            if let Some(last) = &mut last {
                last.stalls = stalls;
                watch(last);
            }
            continue;
        };
        if is_over {
            shared.end(&mut state, Stop::Time);
        }
        uncounted.drain(..).for_each(|task| state.account.count_stall(task));
        if shared.is_stopping() {
            shared.wake.notify_all();
        }
        if written.elapsed() >= STATS_INTERVAL {
            written = Instant::now();
            state.write_stats();
            write_announcement(shared, &state);
        }
        let snapshot = Snapshot { stalls, ..snapshot(&mut state) };
        drop(state);
        watch(last.insert(snapshot));
    }
}

/// Writes the statistics for the tools of AFL++, in a directory of AFL++.
fn write_announcement(shared: &Shared, state: &State) {
    if let Some(announcement) = shared.exchange.as_ref().and_then(|e| e.announcement.as_ref()) {
        let account = &state.account;
        announcement.write_stats(&state.corpus.dir, &account.stats, account.since_gain());
    }
}

fn snapshot(state: &mut State) -> Snapshot {
    state.refresh();
    Snapshot {
        stats: state.account.stats.clone(),
        doing: state.progress.doing.clone().unwrap_or_else(|| state.search.strategy.doing()),
        since_gain: state.account.since_gain(),
        edges: state.search.tree.edges(),
        stalls: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_for_the_other_seeds_is_estimated() {
        let told = describe_seeds(10, 40, Duration::from_secs(5));
        assert_eq!(told.as_deref(), Some("10 of 40 first inputs, about 15 s left"));
        assert_eq!(describe_seeds(10, 40, Duration::from_millis(5)), None);
        assert_eq!(describe_seeds(0, 40, Duration::from_secs(5)), None);
    }
}
