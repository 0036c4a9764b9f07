//! Sizes of memory on the command line, and the memory of the machine.

use pleach_campaign::run::MIN_MEMORY;
use std::path::Path;

const GIB: u64 = 1 << 30;
/// The default is the machine's memory divided by this, in whole GiB.
const SHARE_OF_MACHINE: u64 = 4;

/// Reads a size such as `800M` or `4G`.
pub fn memory_size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = match text[digits.len()..].to_ascii_uppercase().trim_end_matches(['I', 'B']) {
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => GIB,
        "T" => GIB << 10,
        _ => return Err("it must be a number with a unit, such as 800M or 4G".into()),
    };
    let size = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(unit));
    match size {
        None => Err("it must be a number with a unit, such as 800M or 4G".into()),
        Some(size) if size < MIN_MEMORY => {
            Err(format!("that is too little to work with; the least is {}M", MIN_MEMORY >> 20))
        }
        Some(size) => Ok(size),
    }
}

/// The default of `--max-memory`.
pub fn default_max_memory() -> u64 {
    let share = machine_memory().unwrap_or(0) / SHARE_OF_MACHINE;
    (share / GIB * GIB).max(GIB)
}

/// The memory that this machine or this container has.
fn machine_memory() -> Option<u64> {
    let table = std::fs::read_to_string("/proc/meminfo").ok()?;
    let total = table.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let total = total.split_whitespace().next()?.parse::<u64>().ok()? << 10;
    let limits = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let limits = limits.iter().filter_map(|path| number_in(Path::new(path)));
    Some(limits.fold(total, u64::min))
}

fn number_in(path: &Path) -> Option<u64> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_a_unit() {
        for (text, size) in
            [("64M", 64 << 20), ("65536k", 64 << 20), ("4G", 4 << 30), ("1GiB", GIB)]
        {
            assert_eq!(memory_size(text), Ok(size), "{text}");
        }
        for text in ["", "G", "1000", "1.5G", "-1G", "1X", "99999999999999999999G", "9999999999T"] {
            assert!(memory_size(text).unwrap_err().contains("such as 800M"), "{text}");
        }
        assert!(memory_size("63M").unwrap_err().contains("the least is 64M"));
    }

    #[test]
    fn the_default_is_whole_gigabytes_of_the_machine() {
        let (machine, default) = (machine_memory().unwrap(), default_max_memory());
        assert!(default >= GIB && default % GIB == 0 && default <= (machine / 4).max(GIB));
    }
}
