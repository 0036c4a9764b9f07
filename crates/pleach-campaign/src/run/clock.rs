//! Where the time of the workers goes. The thread of each worker has a clock that always runs
//! for one part of the work, so the parts add up to all of its time. What nobody names is
//! `Part::Judge`: to judge runs, to keep inputs, to tell the strategy.
//!
//! The clock belongs to the thread, not to a value, because a lock can be waited for
//! everywhere.

use super::account::Time;
use nix::time::{ClockId, clock_gettime};
use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

/// A part of the work of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Judge,
    Fast,
    Symbolic,
    Solve,
    Parse,
    Mutate,
    Search,
    Lock,
    Idle,
}

const PARTS: usize = Part::Idle as usize + 1;

struct Clock {
    part: Part,
    since: Instant,
    /// Seconds of each part.
    spent: [f64; PARTS],
}

thread_local! {
    static CLOCK: RefCell<Option<Clock>> = const { RefCell::new(None) };
}

/// Starts the clock of this thread.
pub fn begin() {
    let clock = Clock { part: Part::Judge, since: Instant::now(), spent: [0.0; PARTS] };
    CLOCK.with(|c| *c.borrow_mut() = Some(clock));
}

/// From now on the thread does this part, until the result is dropped.
pub fn enter(part: Part) -> Entered {
    Entered { before: switch(part) }
}

/// A part that the thread does.
#[must_use]
pub struct Entered {
    before: Option<Part>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.before.map(switch);
    }
}

/// This much of the time until now belongs to another part.
pub fn charge(part: Part, spent: Duration) {
    with_clock(|clock| {
        clock.spent[clock.part as usize] -= spent.as_secs_f64();
        clock.spent[part as usize] += spent.as_secs_f64();
    });
}

/// Moves the time so far into the statistics.
pub fn report(time: &mut Time) {
    with_clock(|clock| {
        clock.switch(clock.part);
        let spent = std::mem::replace(&mut clock.spent, [0.0; PARTS]);
        for (part, sum) in [
            (Part::Judge, &mut time.judge),
            (Part::Fast, &mut time.fast),
            (Part::Symbolic, &mut time.symbolic),
            (Part::Solve, &mut time.solve),
            (Part::Parse, &mut time.parse),
            (Part::Mutate, &mut time.mutate),
            (Part::Search, &mut time.search),
            (Part::Lock, &mut time.lock),
            (Part::Idle, &mut time.idle),
        ] {
            *sum += spent[part as usize];
        }
    });
}

/// Measures the CPU time that this thread uses. To read that clock takes a system call: it is
/// not done while others wait, except for one of [`SAMPLE_INTERVAL`] measurements.
pub struct Sample(Option<Duration>);

/// Not a divisor of the number of measurements that a kind of action makes.
const SAMPLE_INTERVAL: u32 = 13;

impl Sample {
    pub fn begin() -> Sample {
        thread_local! {
            static MEASUREMENTS: Cell<u32> = const { Cell::new(0) };
        }
        let number = MEASUREMENTS.get().wrapping_add(1);
        MEASUREMENTS.set(number);
        Sample(number.is_multiple_of(SAMPLE_INTERVAL).then(thread_cpu))
    }

    /// The time since it began, for this measurement and those that were left out.
    pub fn end(&self) -> Duration {
        let Some(begin) = self.0 else { return Duration::ZERO };
        thread_local! {
            // What is measured if there is nothing to measure.
            static SMALLEST: Duration = {
                let measure = |_| { let begin = thread_cpu(); thread_cpu().saturating_sub(begin) };
                (0..16).map(measure).min().unwrap_or_default()
            };
        }
        let spent = thread_cpu().saturating_sub(begin);
        spent.saturating_sub(SMALLEST.with(|&smallest| smallest)) * SAMPLE_INTERVAL
    }
}

/// The CPU time that this thread has used.
fn thread_cpu() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

/// Returns the part before; `None` if the thread has no clock.
fn switch(part: Part) -> Option<Part> {
    with_clock(|clock| clock.switch(part))
}

fn with_clock<T>(f: impl FnOnce(&mut Clock) -> T) -> Option<T> {
    CLOCK.with(|c| c.borrow_mut().as_mut().map(f))
}

impl Clock {
    fn switch(&mut self, part: Part) -> Part {
        let now = Instant::now();
        self.spent[self.part as usize] += (now - self.since).as_secs_f64();
        self.since = now;
        std::mem::replace(&mut self.part, part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_add_up_to_all_of_the_time() {
        let (start, mut time) = (Instant::now(), Time::default());
        begin();
        let sleep = |ms| std::thread::sleep(Duration::from_millis(ms));
        sleep(10);
        {
            let _solving = enter(Part::Solve);
            sleep(20);
            {
                let _waiting = enter(Part::Lock);
                sleep(10);
            }
            sleep(1);
        }
        let before = Instant::now();
        sleep(10);
        charge(Part::Fast, before.elapsed());
        report(&mut time);
        let total = start.elapsed().as_secs_f64();
        assert!((time.parts() - total).abs() < 0.005, "{time:?} {total}");
        for (part, least) in
            [(time.judge, 0.01), (time.solve, 0.02), (time.lock, 0.01), (time.fast, 0.01)]
        {
            assert!(part >= least, "{time:?}");
        }
    }
}
