//! How work may grow.

use pleach_work::Task;

pub const INPUT_SIZES: [u64; 4] = [1 << 10, 1 << 13, 1 << 16, 1 << 20];
pub const TRACE_SIZES: [u64; 4] = [1_000, 10_000, 100_000, 1_000_000];

/// Constant factors: what a larger size may cost more than n log n says, and work that is
/// too little to say anything.
const SLACK: f64 = 4.0;
const LITTLE: u64 = 20_000;

/// The work that `act` does in some tasks, all together.
pub fn work_of<T>(tasks: &[Task], act: impl FnOnce() -> T) -> (T, u64) {
    let count = || tasks.iter().map(|&task| pleach_work::spent(task)).sum::<u64>();
    let before = count();
    let result = act();
    (result, count() - before)
}

/// Checks work by size. Work beyond the cap is refused in any case.
pub fn check_growth(name: &str, by_size: &[(u64, u64)], cap: u64) {
    let shape = |n: u64| n as f64 * (n as f64).log2();
    let Some(&(first, least)) = by_size.first() else { panic!("{name}: no sizes") };
    for &(size, work) in by_size {
        let allowed = SLACK * least.max(LITTLE) as f64 * shape(size) / shape(first);
        let is_fine = work as f64 <= allowed && work <= cap;
        assert!(is_fine, "{name}: {work} for {size}, allowed {allowed:.0}, cap {cap}: {by_size:?}");
    }
}

#[test]
#[should_panic(expected = "quadratic")]
fn quadratic_work_is_refused() {
    let work: Vec<(u64, u64)> = INPUT_SIZES.map(|n| (n, n * n)).to_vec();
    check_growth("quadratic", &work, u64::MAX);
}

#[test]
fn n_log_n_is_accepted() {
    let work: Vec<(u64, u64)> = INPUT_SIZES.map(|n| (n, 30 * n * u64::from(n.ilog2()))).to_vec();
    check_growth("n log n", &work, u64::MAX);
}
