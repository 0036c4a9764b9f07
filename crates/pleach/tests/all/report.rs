//! `pleach report`: the page in a real browser, and what the command refuses.
//!
//! With `PLEACH_PICTURES=DIR` the tests write pictures of the pages to a directory.

use crate::common::browser::Browser;
use crate::common::process::{send_signal, wait_until};
use crate::common::{PLEACH, Program};
use nix::sys::signal::Signal;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const SOURCE: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct item { int weight; char *name; };

static int parse(const char *text, long size, struct item *items) {
    int count = 0;
    for (long i = 0; i < size; i++) {
        switch (text[i]) {
        case '+': items[count & 3].weight++; break;
        case '-': items[count & 3].weight--; break;
        case '\n': count++; break;
        default:
            if (text[i] < '0' && text[i] > '9') puts("never");
            if (text[i] == '!' && items[0].weight == 2) *items[1].name = 1;
        }
    }
    return count;
}

int main(int argc, char **argv) {
    char text[64];
    struct item items[4] = {{0, argv[0]}, {0, NULL}, {0, argv[0]}, {0, argv[0]}};
    long size = read(0, text, sizeof text);
    if (argc > 3) return 4;
    if (size < 3) return 1;
    return parse(text, size, items) > 2 ? 3 : 0;
}
"#;

const WIDE: (u32, u32) = (1280, 900);
const NARROW: (u32, u32) = (390, 844);

/// Every page, as a link of it names it: what the program in the page can show.
const LINKS: &str =
    "[...new Set([...document.querySelectorAll('a[href]')].map(a => a.getAttribute('href')))]";
/// How far the page is wider than the window.
const OVERFLOW: &str = "document.documentElement.scrollWidth - innerWidth";

/// Shows a part of the page, and waits until it is there.
fn show(browser: &mut Browser, link: &str) {
    let go = format!(
        "new Promise(done => {{ if (location.hash === {link:?}) return done(0); \
         addEventListener('hashchange', () => setTimeout(done, 0), {{ once: true }}); \
         location.hash = {link:?}; }})"
    );
    browser.eval(&go);
}

/// The links of the page that is shown.
fn links(browser: &mut Browser) -> Vec<String> {
    let all: Vec<String> = serde_json::from_value(browser.eval(LINKS)).expect("a list");
    assert!(all.iter().all(|link| link.starts_with("#/")), "{all:?}");
    all
}

/// Clicks each heading of each table twice. The rows must be sorted up and down.
fn sort_all(browser: &mut Browser) -> u64 {
    let script = r"(() => {
        const wrong = [];
        let clicks = 0;
        const value = text => { const n = parseFloat(text.replace(/[ ,]/g, '')); return isNaN(n) ? text : n; };
        const count = document.querySelectorAll('th button').length;
        for (let i = 0; i < count; i++) {
            const seen = [];
            for (let turn = 0; turn < 2; turn++) {
                const button = document.querySelectorAll('th button')[i];
                button.click();
                clicks++;
                const head = button.closest('th');
                seen.push(head.getAttribute('aria-sort'));
                const all = [...head.closest('table').querySelectorAll('tbody tr')].map(row => row.children[head.cellIndex].textContent);
                if (turn === 1 && all.length > 1 && seen[0] === seen[1]) wrong.push(`${button.textContent}: ${seen}`);
            }
            if (!seen.every(s => s === 'ascending' || s === 'descending')) wrong.push(`${i}: ${seen}`);
        }
        return { wrong, clicks };
    })()";
    let result = browser.eval(script);
    assert_eq!(result["wrong"], serde_json::json!([]), "{result}");
    result["clicks"].as_u64().expect("a number")
}

/// Opens a page and visits everything that links lead to, wide and narrow, light and dark.
fn visit(page: &Path, name: &str, max_pages: usize) -> usize {
    let mut browser = Browser::start();
    browser.look(WIDE.0, WIDE.1, "light");
    browser.open(page);
    let mut waiting: Vec<String> = vec!["#/".into()];
    let mut visited: Vec<String> = Vec::new();
    while let Some(link) = waiting.pop() {
        if visited.contains(&link) || visited.len() >= max_pages {
            continue;
        }
        show(&mut browser, &link);
        let shown = browser.eval("document.querySelector('main').textContent.length");
        assert!(shown.as_u64() > Some(8), "{link} shows nothing");
        assert_eq!(browser.eval("document.querySelectorAll('script').length"), 2, "{link}");
        assert_eq!(browser.eval("document.querySelectorAll('img').length"), 0, "{link}");
        for (size, theme) in [(WIDE, "light"), (NARROW, "dark")] {
            browser.look(size.0, size.1, theme);
            let overflow = browser.eval(OVERFLOW).as_i64();
            assert!(overflow <= Some(0), "{link} is {overflow:?} too wide for {size:?}");
        }
        waiting.extend(links(&mut browser));
        visited.push(link);
    }
    browser.look(WIDE.0, WIDE.1, "light");
    let mut clicks = 0;
    for link in visited.iter().filter(|link| link.matches('/').count() == 1) {
        show(&mut browser, link);
        clicks += sort_all(&mut browser);
    }
    assert!(clicks > 4, "{clicks} clicks");
    assert_eq!(browser.errors(), Vec::<String>::new());
    let requests = browser.requests();
    let own = format!("file://{}", page.display());
    assert!(requests.iter().all(|url| *url == own), "{requests:?}");
    themes(&mut browser);
    take_pictures(&mut browser, name, &visited);
    visited.len()
}

/// The page has the colours that the system asks for, until somebody uses the switch.
fn themes(browser: &mut Browser) {
    let colour = "getComputedStyle(document.body).backgroundColor";
    browser.look(WIDE.0, WIDE.1, "dark");
    let dark = browser.eval(colour);
    browser.look(WIDE.0, WIDE.1, "light");
    let light = browser.eval(colour);
    assert_ne!(light, dark);
    browser.eval("document.querySelector('#theme').click()");
    assert_eq!(browser.eval(colour), dark);
    browser.reload();
    assert_eq!(browser.eval(colour), dark, "the switch survives a reload");
    browser.eval("document.querySelector('#theme').click()");
    assert_eq!(browser.eval(colour), light);
}

fn take_pictures(browser: &mut Browser, name: &str, visited: &[String]) {
    let Some(dir) = std::env::var_os("PLEACH_PICTURES").map(PathBuf::from) else { return };
    let of_kind = |kind: &str| visited.iter().find(|l| l.split('/').nth(1) == Some(kind)).cloned();
    let kinds = [
        "",
        "files",
        "file",
        "functions",
        "missing",
        "inputs",
        "input",
        "crashes",
        "crash",
        "grammar",
    ];
    for kind in kinds {
        let Some(link) = of_kind(kind) else { continue };
        show(browser, &link);
        for (size, look) in [(WIDE, "wide"), (NARROW, "narrow")] {
            for theme in ["light", "dark"] {
                browser.look(size.0, size.1, theme);
                browser.eval(&format!("document.documentElement.dataset.theme = '{theme}'"));
                let part = if kind.is_empty() { "overview" } else { kind };
                browser.screenshot(&dir.join(format!("{name}-{part}-{look}-{theme}.png")));
            }
        }
    }
}

fn data(page: &Path) -> Value {
    let text = std::fs::read_to_string(page).expect("the page is there");
    let (_, rest) = text.split_once("id=\"data\">").expect("data");
    serde_json::from_str(rest.split_once("</script>").expect("an end").0).expect("JSON")
}

#[test]
fn the_page_of_a_campaign_works_in_a_browser() {
    let program = Program::new(SOURCE);
    program.file("digits.bnf", b"<s> ::= <d> | <d> <s>\n<d> ::= \"+\" | \"-\" | \"!\" | \"%\"\n");
    let ended = program.campaign("out", &["-n", "3000", "-g", "digits.bnf", "--seed", "3"]);
    assert!(ended.count("crashes") > 0, "{}", ended.stats);
    program.text(&["report", "out", "-o", "page"], b"");
    let page = program.path("page/index.html");
    let data = data(&page);
    // The page agrees with the statistics.
    let taken = data["taken"].as_array().expect("a list").iter().filter(|t| t.as_i64() >= Some(0));
    assert_eq!(
        taken.count() as u64,
        ended.stats["branches"]["covered"].as_u64().expect("a number")
    );
    assert_eq!(
        data["taken"].as_array().expect("a list").len() as u64,
        ended.stats["branches"]["total"].as_u64().expect("a number")
    );
    let crash = &data["crashes"][0];
    assert!(crash["title"].as_str().is_some_and(|t| t.contains("SEGV")), "{crash}");
    assert_eq!(crash["frames"][0][0], "parse", "{crash}");
    assert_eq!(crash["lastFunction"], "parse", "{crash}");
    assert!(!crash["marks"].as_array().expect("a list").is_empty(), "{crash}");
    assert!(!crash["conditions"].as_array().expect("a list").is_empty(), "{crash}");
    let reasons = data["reasons"].to_string();
    assert!(reasons.contains("refuted") && reasons.contains("concrete"), "{reasons}");
    assert!(
        data["files"][0]["s"].as_str().is_some_and(|s| s == SOURCE),
        "the source is in the page"
    );
    let tokens = data["grammar"]["tokens"].as_array().expect("a list");
    assert_eq!(tokens.len(), 4, "{tokens:?}");
    let visited = visit(&page, "campaign", 60);
    assert!(visited > 12, "{visited}");
    // The command that the page gives for a crash works.
    let replay =
        crash["replay"].as_str().expect("a command").strip_prefix("pleach ").expect("pleach");
    let words: Vec<&str> = replay.split(' ').map(|word| word.trim_matches('\'')).collect();
    assert_eq!(program.run(&words, b"").status.code(), Some(1), "{replay}");
    // The page can be written again, and other files are safe.
    program.text(&["report", "out", "-o", "page", "--watch"], b"");
    program.file("page/notes.txt", b"mine");
    program.refuses(&["report", "out", "-o", "page"], &["page", "other files"]);
}

#[test]
fn a_running_campaign_is_watched() {
    let program = Program::new(SOURCE);
    let mut driver = program.campaign_command("out", &["-V", "600"]);
    let mut driver = driver.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
    wait_until("statistics", || program.path("out/stats.json").exists());
    let watch = ["report", "out", "-o", "page", "--watch=1", "-n", "0"];
    let mut report = program.command(&watch).stderr(Stdio::null()).spawn().expect("it runs");
    let page = program.path("page/index.html");
    let watches = |seconds: u64| page.exists() && data(&page)["watch"] == seconds;
    wait_until("a page", || watches(1));
    send_signal(&driver, Signal::SIGINT);
    assert!(driver.wait().expect("it ends").success());
    assert!(report.wait().expect("it ends").success());
    assert!(watches(0), "the last page does not load itself again");
    assert_eq!(data(&page)["state"], "until it was stopped");
}

#[test]
fn a_page_without_sources_says_so() {
    let program = Program::new(SOURCE);
    program.campaign("out", &["-s", "dfs", "-n", "40"]);
    std::fs::remove_file(program.path("prog.c")).expect("it is there");
    program.text(&["report", "out", "-o", "page", "-n", "0"], b"");
    let data = data(&program.path("page/index.html"));
    assert!(data["files"][0]["s"].is_null());
    let why = data["files"][0]["why"].as_str().expect("a text");
    assert!(why.contains("prog.c is not there"), "{why}");
    program.make_dir("elsewhere");
    program.file("elsewhere/prog.c", SOURCE.as_bytes());
    program.text(&["report", "out", "-o", "page", "-n", "0", "--source", "elsewhere"], b"");
    let data = self::data(&program.path("page/index.html"));
    assert_eq!(data["files"][0]["s"], SOURCE);
}

/// Build systems that compile each directory inside it give the same name to several files.
#[test]
fn files_of_the_same_name_are_told_apart() {
    let program = Program::empty();
    let sources = [
        ("a/util.c", "int alpha(int c) {\n    return c == 'a' ? 1 : 0;\n}\n"),
        ("b/util.c", "\nint beta(int c) {\n    return c == 'b' ? 1 : 0;\n}\n"),
    ];
    for (path, source) in sources {
        let dir = path.split('/').next().expect("a directory");
        program.make_dir(dir);
        program.file(path, source.as_bytes());
        let args = ["cc", "-g", "-c", "util.c"];
        let status = Command::new(PLEACH).args(args).current_dir(program.path(dir)).status();
        assert!(status.expect("pleach runs").success());
    }
    let main = "#include <stdio.h>\n#include <stdlib.h>\nint alpha(int);\nint beta(int);\n\
                int main(void) {\n    if (alpha(getchar()) && beta(getchar())) abort();\n}\n";
    program.compile(main, &["-g", "a/util.o", "b/util.o", "-o", "prog"]);
    program.campaign("out", &["-s", "dfs"]);
    program.text(&["report", "out", "-o", "page"], b"");
    let data = data(&program.path("page/index.html"));
    for (path, source) in sources {
        let files = data["files"].as_array().expect("a list");
        let file = files.iter().find(|file| file["n"] == path).expect(path);
        assert_eq!(file["s"], source, "{path}");
    }
    let frame = &data["crashes"][0]["frames"][0];
    assert!(data["files"].to_string().contains(frame[1].as_str().expect("a path")), "{frame}");
}

#[test]
fn a_large_page_is_small_and_fast() {
    const MAX_PAGE: usize = 20 << 20;
    let page = pleach_report::html::sample_page(100, 1000);
    assert!(page.len() < MAX_PAGE, "{} bytes", page.len());
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("index.html");
    std::fs::write(&path, &page).expect("the directory is writable");
    let mut browser = Browser::start();
    browser.look(WIDE.0, WIDE.1, "light");
    let start = Instant::now();
    browser.open(&path);
    assert_eq!(browser.eval("D.taken.length"), 100_000);
    println!("{} bytes with 100,000 branches: shown after {:?}", page.len(), start.elapsed());
    for link in ["#/functions", "#/missing", "#/file/57/300"] {
        let start = Instant::now();
        show(&mut browser, link);
        println!("{link}: {:?}", start.elapsed());
    }
    assert!(
        browser
            .eval("document.querySelector('.row.here').textContent")
            .as_str()
            .is_some_and(|t| t.contains("input[299]"))
    );
    assert_eq!(browser.errors(), Vec::<String>::new());
    drop(browser);
    // Hostile texts stay texts.
    let small = pleach_report::html::sample_page(3, 60);
    std::fs::write(&path, &small).expect("the directory is writable");
    visit(&path, "sample", 25);
}

#[test]
fn the_page_keeps_its_place() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("index.html");
    std::fs::write(&path, pleach_report::html::sample_page(2, 4000)).expect("writable");
    let mut browser = Browser::start();
    browser.look(WIDE.0, WIDE.1, "light");
    browser.open(&path);
    show(&mut browser, "#/functions");
    browser.eval(
        "(() => { const b = document.querySelectorAll('th button')[2]; b.click(); b.click(); })()",
    );
    browser.eval("new Promise(done => { scrollTo(0, 700); setTimeout(done, 300); })");
    let before =
        browser.eval("[location.hash, scrollY, document.querySelector('tbody').textContent]");
    assert_eq!(before[1], 700);
    browser.reload();
    let after =
        browser.eval("[location.hash, scrollY, document.querySelector('tbody').textContent]");
    assert_eq!(after, before);
    show(&mut browser, "#/file/0/1500");
    assert!(browser.eval("document.querySelector('.code').scrollTop").as_i64() > Some(1000));
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
fn a_comparison_is_a_page_too() {
    let program = Program::new(SOURCE);
    let args =
        ["compare", "-s", "dfs,random", "--seeds", "2", "-n", "100", "-o", "cmp", "--", "./prog"];
    program.text(&args, b"");
    let page = program.path("cmp/compare.html");
    assert_eq!(data(&page)["comparison"]["strategies"][1]["name"], "random");
    visit(&page, "compare", 5);
}

#[test]
fn wrong_directories_are_refused() {
    let program = Program::new("int main(void) { return 0; }\n");
    program.make_dir("empty");
    program.refuses(&["report", "empty", "-o", "page"], &["empty", "no campaign"]);
    program.refuses(&["report", "nowhere", "-o", "page"], &["nowhere", "no campaign"]);
    program.refuses_flag(&["report", "empty"], "--output");
    program.campaign("out", &["-s", "dfs", "-n", "5"]);
    program.refuses(&["report", "out", "-o", "out"], &["out", "other files"]);
    program.refuses(&["report", "out", "-o", "prog"], &["prog"]);
    program.refuses(&["report", "out", "-o", "page", "--", "./missing"], &["missing"]);
    program.compile("int main(int argc, char **argv) { return argc > 3; }\n", &["-o", "other"]);
    program.refuses(&["report", "out", "-o", "page", "--", "./other"], &["other", "not the build"]);
}
