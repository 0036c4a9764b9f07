//! Numbers in a readable form.

use std::time::Duration;

/// `1234567` as `1.2M`.
pub fn short(n: u64) -> String {
    match n {
        0..10_000 => n.to_string(),
        10_000..1_000_000 => format!("{}k", n / 1000),
        1_000_000..10_000_000 => format!("{:.1}M", n as f64 / 1e6),
        10_000_000..1_000_000_000 => format!("{}M", n / 1_000_000),
        _ => format!("{:.1}G", n as f64 / 1e9),
    }
}

/// `4 s`, `3 min 12 s`, `2 h 05 min`.
pub fn time(d: Duration) -> String {
    let s = d.as_secs();
    match s {
        0..60 => format!("{s} s"),
        60..3600 => format!("{} min {:02} s", s / 60, s % 60),
        _ => format!("{} h {:02} min", s / 3600, s % 3600 / 60),
    }
}

/// `33.3 %`, or `–` if the whole is 0.
pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 { "–".into() } else { format!("{:.1} %", 100.0 * part as f64 / whole as f64) }
}

/// `1 crash`, `2 crashes`.
pub fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [9999, 12_345, 1_250_000, 45_000_000].map(short),
            ["9999", "12k", "1.2M", "45M"]
        );
        assert_eq!(time(Duration::from_secs(59)), "59 s");
        assert_eq!(time(Duration::from_secs(192)), "3 min 12 s");
        assert_eq!(time(Duration::from_secs(7500)), "2 h 05 min");
        let crashes = [0, 1, 2].map(|n| counted(n, "crash", "crashes"));
        assert_eq!(crashes, ["0 crashes", "1 crash", "2 crashes"]);
        assert_eq!((percent(1, 3), percent(0, 0)), ("33.3 %".into(), "–".into()));
    }
}
