//! The progress of long work: a bar on a terminal with the time that is left, nothing elsewhere.
//!
//! The bar is on standard error. Work that ends within a moment shows none.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Work that takes less than this shows no bar.
const DELAY: Duration = Duration::from_millis(400);
const DRAWS_PER_SECOND: u8 = 8;
const TICK: Duration = Duration::from_millis(125);

pub struct Progress {
    bar: ProgressBar,
    start: Instant,
    is_shown: AtomicBool,
}

impl Progress {
    /// Work of a known number of steps.
    pub fn new(what: &str, steps: u64) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::hidden());
        let template = "{prefix}  {bar:20} {pos}/{len}  {eta} left  {wide_msg}";
        Progress::with(bar, what, template)
    }

    /// Work that ends at a time that nobody knows.
    pub fn open(what: &str) -> Progress {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        Progress::with(bar, what, "{prefix}  {elapsed}  {wide_msg}")
    }

    fn with(bar: ProgressBar, what: &str, template: &str) -> Progress {
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_prefix(what.to_owned());
        Progress { bar, start: Instant::now(), is_shown: AtomicBool::new(false) }
    }

    /// A bar for work that says how many of how many steps are done. The work goes on.
    pub fn of(what: &str) -> impl FnMut(usize, usize) -> bool {
        let mut bar: Option<Progress> = None;
        move |done, all| {
            let bar = bar.get_or_insert_with(|| Progress::new(what, all as u64));
            bar.show_if_due();
            bar.bar.set_position(done as u64);
            true
        }
    }

    /// Shows the bar now: the first step takes long.
    pub fn show(&self) {
        self.is_shown.store(true, Ordering::Relaxed);
        // Draws nothing if standard error is not a terminal.
        self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(DRAWS_PER_SECOND));
        self.bar.enable_steady_tick(TICK);
    }

    /// Counts a step.
    pub fn inc(&self) {
        self.show_if_due();
        self.bar.inc(1);
    }

    /// What is seen beside the bar.
    pub fn set_message(&self, message: &str) {
        self.show_if_due();
        self.bar.set_message(message.to_owned());
    }

    /// Prints something else on the terminal while the bar is away.
    pub fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn show_if_due(&self) {
        if !self.is_shown.load(Ordering::Relaxed) && self.start.elapsed() >= DELAY {
            self.show();
        }
    }
}

impl Drop for Progress {
    /// An error must not leave the bar behind its message.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
