//! What a campaign on several machines has: `pleach fleet`.

use crate::common::campaign::{inputs, tree};
use crate::common::{Program, feed};
use pleach_campaign::run::fleet::{Build, Find, FindKind, Fleet, News, Report};
use pleach_fleet::Connection;
use pleach_fleet::server::Server;
use std::sync::Arc;
use std::time::Duration;

const PROGRAM: &str = r#"
    #include <stdio.h>
    #include <stdlib.h>
    int main(void) {
        int a = getchar(), b = getchar();
        if (a == 'x') { if (b == 'y') abort(); return 1; }
        if (a == 'z') return 2;
        return 0;
    }
"#;

fn join(url: &str, dir: &std::path::Path, run: &str) -> Arc<dyn Fleet> {
    let mut build = Build::default();
    build.add("the executable", "aa");
    Connection::open(url, None, &build, run).unwrap().join(dir).unwrap()
}

fn find(kind: FindKind, bytes: &[u8]) -> News {
    News::Find(Find { kind, bytes: bytes.into(), covers: Vec::new() })
}

#[track_caller]
fn wait(fleet: &dyn Fleet, is_so: impl Fn(&dyn Fleet) -> bool) {
    for _ in 0..4000 {
        fleet.hear(100);
        if is_so(fleet) {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("{:?}", fleet.view());
}

#[test]
fn what_members_found_is_one_campaign_directory() {
    let program = Program::new(PROGRAM);
    let whole = program.campaign("whole", &["-n", "300"]);
    let run = String::from_utf8(program.read("whole/run.toml")).unwrap();
    let server = Server::start("").unwrap();
    let url = server.url("both");
    let (first, second) = (program.make_dir("first"), program.make_dir("second"));
    let (a, b) = (join(&url, &first, &run), join(&url, &second, &run));
    let mut told = Vec::new();
    for (number, bytes) in whole.queue().into_iter().enumerate() {
        let member = if number % 2 == 0 { &a } else { &b };
        member.tell(find(FindKind::Queue, &bytes));
        told.push(bytes);
    }
    b.tell(find(FindKind::Crash(77), b"xy"));
    a.report(Report { runs: 200, pace: 20, branches: 4, ..Report::default() });
    b.report(Report { runs: 100, pace: 10, branches: 5, ..Report::default() });
    let sent = |fleet: &dyn Fleet| fleet.view().unsent == 0 && fleet.view().members.len() == 2;
    wait(&*a, sent);
    wait(&*b, sent);

    let status = program.json(&["fleet", "status", &url, "--json"], b"");
    assert_eq!(status["inputs"], told.len(), "{status}");
    assert_eq!((&status["crashes"], &status["ignored"]), (&1.into(), &0.into()));
    assert!(status["members"].as_array().unwrap().iter().all(|m| m["state"] == "here"));
    b.leave();
    let text = program.text(&["fleet", "status", &url], b"");
    for part in ["1 of 2 members here, 300 runs, 20 runs/s", "1 crashes", "left", "here"] {
        assert!(text.contains(part), "{text}");
    }

    let text = program.text(&["fleet", "fetch", &url, "-o", "all"], b"");
    assert!(text.contains("1 crashes, 0 hangs of 2 members"), "{text}");
    let all = program.path("all");
    let queue: Vec<Vec<u8>> = inputs(&all.join("queue")).into_values().collect();
    let queue_len = queue.len();
    let sorted = |mut inputs: Vec<Vec<u8>>| {
        inputs.sort();
        inputs
    };
    assert_eq!(sorted(queue), sorted(told));
    assert_eq!(inputs(&all.join("crashes")).into_values().collect::<Vec<_>>(), [b"xy"]);
    // Other commands take it.
    program.text(&["report", "all", "-o", "page"], b"");
    let compared = ["compare", "-s", "random", "-n", "20", "--seeds", "1", "--with", "fleet=all"];
    let args = [&compared[..], &["-o", "compared", "--json", "--", "./prog"]].concat();
    let report = program.json(&args, b"");
    assert_eq!(report["strategies"][1]["name"], "fleet", "{report}");
    let both = &report["strategies"][1]["campaigns"][0];
    assert_eq!((&both["inputs"], &both["runs"]), (&queue_len.into(), &300.into()), "{report}");
    let again = program.run(&["run", "-i", "-", "-o", "all", "-n", "400"], b"");
    assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stderr));
    program.refuses(&["fleet", "fetch", &url, "-o", "all"], &["all"]);
}

#[test]
fn who_cannot_log_in_touches_nothing() {
    let program = Program::empty();
    let server = Server::start("authorization { user: me, password: secret }").unwrap();
    let url = server.url("c");
    let refuses = |args: &[&str], part: &str| {
        program.refuses(args, &[part]);
        let message = program.run(args, b"").stderr;
        assert!(!String::from_utf8_lossy(&message).contains("secret"));
    };
    let wrong = url.replace("//", "//me:secret2@");
    refuses(&["fleet", "fetch", &wrong, "-o", "all"], "refuses the login");
    refuses(&["fleet", "status", &wrong], "refuses the login");
    refuses(
        &["fleet", "status", "nats://127.0.0.1:1/c"],
        "no server answers at nats://127.0.0.1:1/c",
    );
    refuses(&["fleet", "status", "nats://me:secret@x"], "no name of a campaign");
    refuses(&["fleet", "fetch", &url, "--creds", "none", "-o", "all"], "No such file");
    program.file("login", b"me:secret\n");
    refuses(&["fleet", "status", &url, "--creds", "login"], "no campaign of that name");
    let before = tree(program.dir.path());
    let mut command = program.command(&["fleet", "status", &url]);
    let out = feed(command.env("NATS_USER", "me").env("NATS_PASSWORD", "secret"), b"");
    assert!(String::from_utf8_lossy(&out.stderr).contains("no campaign of that name"));
    assert_eq!(tree(program.dir.path()), before);
}
