//! The output of a comparison, from fixed numbers. `UPDATE_EXPECT=1` writes the expected
//! files.

use pleach_report::compare::{
    Axis, Campaign, Comparison, InModule, Measures, Module, Point, Strategy, plot, table,
};
use std::path::Path;

/// A campaign whose coverage grows more and more slowly.
fn campaign(seed: u64, speed: f64, runs_a_second: u64, stop: &str) -> Campaign {
    let at = |s: u64| (100.0 * (1.0 - (-(s as f64) * speed).exp())).round() as u64 + seed;
    let point = |s| Point { seconds: s as f64, runs: 1 + s * runs_a_second, covered: at(s) };
    let points: Vec<Point> = (0..=20).map(point).collect();
    let last = points[20];
    Campaign {
        seed,
        stop: stop.into(),
        covered: last.covered,
        reachable: 120,
        inputs: 30 + seed,
        runs: last.runs,
        crashes: seed % 2,
        last_new_s: 12.25 + seed as f64,
        modules: vec![
            InModule { covered: 20 + seed, reached: 9, of: 30, constraints: 700 },
            InModule { covered: 0, reached: 0, of: 30, constraints: 0 },
        ],
        measures: Measures {
            traces: 40,
            variables: 400 + seed,
            constraints: 1000,
            seconds: 20.0,
            solving_s: 2.5,
            grammar_s: 0.25,
            tiers_s: [("domains".to_string(), 1.5), ("complete".to_string(), 1.0)].into(),
            grammar_asked: 200,
            grammar_unsat: 50,
        },
        points,
    }
}

fn fixed() -> Comparison {
    let strategy = |name: &str, campaigns| Strategy { name: name.into(), campaigns };
    Comparison {
        program: "a<b".into(),
        budget: "20 s, 2 seeds".into(),
        branches: 150,
        modules: vec![
            Module { name: "parser.c".into(), branches: 40 },
            Module { name: "rest".into(), branches: 0 },
        ],
        strategies: vec![
            strategy("dfs", vec![campaign(0, 0.1, 50, "time"), campaign(1, 0.12, 60, "exhausted")]),
            strategy("random", vec![campaign(0, 0.3, 20_000, "time")]),
        ],
        overlap: vec![vec![93, 4], vec![11, 100]],
    }
}

fn check(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expected").join(name);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
        std::fs::write(&path, found).expect("writable");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(expected == found, "{name} has changed; UPDATE_EXPECT=1 accepts it:\n{found}");
}

#[test]
fn the_table_is_as_expected() {
    check("compare.txt", &table(&fixed()));
}

#[test]
fn the_plots_are_as_expected() {
    check("compare-time.svg", &plot(&fixed(), Axis::Time));
    check("compare-runs.svg", &plot(&fixed(), Axis::Runs));
}

#[test]
fn a_comparison_without_data_is_drawn() {
    let none = Strategy { name: "none".into(), campaigns: vec![] };
    let started = Campaign { points: vec![Point::default()], ..Campaign::default() };
    let some = Strategy { name: "some".into(), campaigns: vec![started] };
    let empty = Comparison {
        strategies: vec![none, some],
        overlap: vec![vec![0; 2]; 2],
        modules: vec![],
        ..fixed()
    };
    assert!(table(&empty).contains("–"));
    for axis in [Axis::Time, Axis::Runs] {
        let svg = plot(&empty, axis);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
