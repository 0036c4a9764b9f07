//! Who is not let in, and why: one sentence each.

use crate::support::{Member, build, find};
use pleach_campaign::run::fleet::{Find, News};
use pleach_fleet::server::Server;
use pleach_fleet::{Connection, JoinError, Stranger};
use std::path::{Path, PathBuf};

fn refused(url: &str, creds: Option<&Path>) -> String {
    let mut build = build();
    build.add("--tty", "80x25");
    match Connection::open(url, creds, &build, "") {
        Ok(_) => panic!("{url} let us in"),
        Err(error) => {
            let message = error.to_string();
            assert!(!message.contains("secret") && !message.contains('\n'), "{message}");
            message
        }
    }
}

#[test]
fn no_server_at_the_address() {
    let message = refused("nats://127.0.0.1:1/c", None);
    assert_eq!(
        message,
        "no server answers at nats://127.0.0.1:1/c (Connection refused (os error 111))"
    );
}

#[test]
fn a_server_without_jetstream() {
    let server = Server::plain().unwrap();
    let message = refused(&server.url("c"), None);
    assert!(message.contains("without JetStream; start it with `nats-server -js`"), "{message}");
}

#[test]
fn another_build() {
    let server = Server::start("").unwrap();
    let url = server.url("c");
    let _a = Member::join(&url);
    let message = refused(&url, None);
    assert_eq!(
        message,
        format!(
            "the campaign {url} searches another build: this member has --tty, and the campaign does not"
        )
    );
}

#[test]
fn logins() {
    let server = Server::start("authorization { user: me, password: secret }").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let file = |text: &str| {
        let path = dir.path().join("creds");
        std::fs::write(&path, text).unwrap();
        path
    };
    let url = server.url("c");
    let with = |login: &str| url.replace("//", &format!("//{login}@"));
    for url in [&url, &with("me:secret2"), &with("secret")] {
        assert!(refused(url, None).contains("refuses the login"));
    }
    assert!(refused(&url, Some(&file("me:secret3"))).contains("refuses the login"));
    assert!(refused(&url, Some(&dir.path().join("none"))).contains("No such file"));
    let open = |url: &str, creds: Option<&PathBuf>| {
        Connection::open(url, creds.map(PathBuf::as_path), &build(), "").map(drop)
    };
    open(&with("me:secret"), None).unwrap();
    open(&url, Some(&file("# mine\nme:secret\n"))).unwrap();

    let server = Server::start("authorization { token: secret }").unwrap();
    open(&server.url("c").replace("//", "//secret@"), None).unwrap();
    open(&server.url("c"), Some(&file("secret"))).unwrap();
    assert!(refused(&server.url("c"), Some(&file("secret4"))).contains("refuses the login"));
}

#[test]
fn keys() {
    let pair = nkeys::KeyPair::new_user();
    let server = format!("authorization {{ users: [{{ nkey: {} }}] }}", pair.public_key());
    let server = Server::start(&server).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("seed");
    let open = |seed: String| {
        std::fs::write(&path, seed).unwrap();
        Connection::open(&server.url("c"), Some(&path), &build(), "").map(drop)
    };
    open(format!("{}\n", pair.seed().unwrap())).unwrap();
    let other = open(nkeys::KeyPair::new_user().seed().unwrap()).unwrap_err();
    assert!(matches!(other, JoinError::Login { .. }), "{other}");
}

#[test]
fn a_member_that_may_do_no_more_than_its_campaign_needs() {
    let server = Server::start(
        "authorization { users: [{ user: me, password: secret, permissions: {
             publish: [\"pleach.c.>\", \"$JS.API.>\", \"_INBOX.>\"],
             subscribe: [\"pleach.c.>\", \"_INBOX.>\"] } }] }",
    )
    .unwrap();
    let url = server.url("c").replace("//", "//me:secret@");
    let a = Member::join(&url);
    let mut b = Member::join(&url);
    a.fleet.tell(find(1));
    b.until("heard", |b| b.has(&find(1)) && b.members() == 2);
    assert!(!format!("{:?}", b.fleet.view()).contains("secret"));
}

#[test]
fn a_secure_connection() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    let made = std::process::Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"])
        .args(["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .args(["-keyout", &path("key"), "-out", &path("cert")])
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let tls = format!("tls {{ cert_file: {:?}, key_file: {:?} }}", path("cert"), path("key"));
    let server = Server::start(&tls).unwrap();
    let url = server.url("c").replace("nats:", "tls:");
    // Nobody whom this machine trusts has signed it.
    let error = Connection::open(&url, None, &build(), "").map(drop).unwrap_err();
    assert!(matches!(error, JoinError::Tls { .. } | JoinError::NoServer { .. }), "{error}");
    let with_root = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "chaos::member", "--nocapture"])
        .env("NATS_CA", path("cert"))
        .env("PLEACH_FLEET_MEMBER", format!("{url} {} 1", member_dir(dir.path()).display()))
        .status()
        .unwrap();
    assert!(with_root.success());
}

/// The directory of a member that ends when it has heard what it told.
fn member_dir(home: &Path) -> PathBuf {
    std::fs::write(home.join("stop"), b"").unwrap();
    let dir = home.join("member");
    std::fs::create_dir(&dir).unwrap();
    std::fs::write(dir.join("told"), b"7\n").unwrap();
    dir
}

#[test]
fn a_store_that_is_too_small() {
    let server = Server::with_store(20_000).unwrap();
    let message = refused(&server.url("c"), None);
    assert!(
        message.contains("the store of the server at") && message.contains("is full"),
        "{message}"
    );
}

#[test]
fn a_store_that_fills_up() {
    let server = Server::with_store(128 << 10).unwrap();
    let url = server.url("c");
    let mut a = Member::join(&url);
    let mut b = Member::join(&url);
    for number in 0..4000 {
        a.fleet.tell(find(number));
    }
    a.until("full", |a| a.fleet.view().notes.iter().any(|n| n.contains("is full")));
    let view = a.fleet.view();
    assert!(view.connected && view.unsent > 0, "{view:?}");
    // What fits was heard, and the others go on.
    b.until("some", |b| b.news().len() > 100);
    assert!(b.fleet.view().connected);
    a.fleet.leave();
    assert!(crate::support::files(&a.home().join("spool")) > 0);
}

#[test]
fn a_survey_of_nothing() {
    let server = Server::start("").unwrap();
    let error = pleach_fleet::survey(&server.url("c"), None).unwrap_err();
    assert!(matches!(error, JoinError::NoCampaign { .. }), "{error}");
}

#[test]
fn rubbish_is_ignored_and_counted() {
    let server = Server::start("").unwrap();
    let url = server.url("c");
    let mut a = Member::join(&url);
    let stranger = Stranger::connect(&url).unwrap();
    // Before it has joined.
    stranger.send("task.0000000000000001", vec![0; 40]).unwrap();
    stranger.join("rubbish-1").unwrap();
    let News::Find(Find { bytes, .. }) = find(1) else { panic!() };
    let bomb = [&[1, 255, 255, 255, 255][..], &[0; 100]].concat();
    for (subject, payload) in [
        ("input.0", vec![1, 2, 3]),
        ("nothing", vec![]),
        ("news.0000000000000001", bomb),
        ("join.zz", vec![9; 10]),
        ("crash./etc/x", vec![0]),
        // A place that a good input needs.
        (&Stranger::subject_of_input(&bytes), vec![0, 1, 7, 0]),
    ] {
        assert!(stranger.send(subject, payload).unwrap());
    }
    let mut b = Member::join(&url);
    b.fleet.tell(find(1));
    for member in [&mut a, &mut b] {
        member.until("the good one", |m| m.has(&find(1)));
        let view = member.fleet.view();
        assert_eq!(view.ignored, [("rubbish-1".to_string(), 6), ("unknown".to_string(), 1)]);
        assert_eq!(member.news().len(), 1);
    }
}

#[test]
fn a_broken_manifest_counts_for_nobody() {
    let server = Server::start("").unwrap();
    let url = server.url("c");
    let a = Member::join(&url);
    let stranger = Stranger::connect(&url).unwrap();
    for payload in [&b""[..], b"rubbish", b"{\"protocol\":9,\"id\":\"\",\"build\":[],\"run\":\"\"}"]
    {
        assert!(stranger.send("manifest", payload.to_vec()).unwrap());
    }
    let mut b = Member::join(&url);
    a.fleet.tell(find(1));
    b.until("heard", |b| b.has(&find(1)) && b.members() == 2);
    assert_eq!(pleach_fleet::survey(&url, None).unwrap().members.len(), 2);
}

#[test]
fn questions_are_not_answered_into_the_log() {
    let server = Server::start("").unwrap();
    let url = server.url("c");
    let mut a = Member::join(&url);
    let stranger = Stranger::connect(&url).unwrap();
    let before = pleach_fleet::survey(&url, None).unwrap().messages;
    stranger.ask("news.0000000000000001").unwrap();
    a.fleet.tell(find(1));
    a.until("heard", |a| a.has(&find(1)));
    assert_eq!(pleach_fleet::survey(&url, None).unwrap().messages, before + 1);
    assert!(a.fleet.view().ignored.is_empty());
}
