//! How many mutants one core makes in a second, from inputs of three lengths. CPU time is
//! measured, so that a busy machine gives the same result.

use pleach_campaign::mutate::{Dictionary, Mutator};
use pleach_search::Rng;
use std::time::Duration;

fn main() {
    let text = br#"{"key": [1, 20, {"deep": null}], "other": "text!"}"#;
    let mut dictionary = Dictionary::default();
    for i in 0..500 {
        dictionary.add(format!("word{i}").as_bytes(), 1 + i % 8);
    }
    for times in [1, 10, 100] {
        let parent = text.repeat(times);
        let (mut mutator, mut rng, mut out) = (Mutator::new(), Rng::new(1), Vec::new());
        let (start, mut count, mut bytes) = (cpu_time(), 0u64, 0u64);
        while cpu_time() - start < Duration::from_secs(1) {
            for _ in 0..1000 {
                let max = 2 * parent.len();
                mutator.mutate(&mut rng, &parent, Some(text), &dictionary, &mut out, max);
                bytes += out.len() as u64;
            }
            count += 1000;
        }
        let rate = count as f64 / (cpu_time() - start).as_secs_f64() / 1e6;
        println!(
            "{:>5} bytes: {rate:.2} M mutants/s (mean length {})",
            parent.len(),
            bytes / count
        );
    }
}

/// The CPU time of this thread: the first number in its scheduler statistics.
fn cpu_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux has it");
    let first = text.split(' ').next().and_then(|n| n.parse().ok());
    Duration::from_nanos(first.expect("nanoseconds"))
}
