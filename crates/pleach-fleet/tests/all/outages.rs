//! Servers and members that are killed.

use crate::support::{Member, find, task};
use pleach_campaign::run::fleet::{HeardWhat, News};
use pleach_fleet::Stranger;
use pleach_fleet::server::Server;

#[test]
fn what_is_told_while_the_server_is_away_comes_later() {
    let mut server = Server::start("").unwrap();
    let url = server.url("c");
    let mut a = Member::join(&url);
    let mut b = Member::join(&url);
    a.fleet.tell(task(1));
    b.until("heard", |b| b.has(&task(1)));
    server.kill();
    a.until("away", |a| !a.fleet.view().connected);
    for edge in 2..100 {
        a.fleet.tell(task(edge));
        a.fleet.tell(News::Done(vec![edge]));
    }
    assert!(a.fleet.view().unsent >= 196);
    let notes = a.fleet.view().notes;
    assert!(notes.iter().any(|note| note.contains("the server is away")), "{notes:?}");
    assert_eq!(crate::support::files(&a.home().join("spool")), 1);
    server.restart().unwrap();
    let last = News::Done(vec![99]);
    let done = |m: &Member| {
        m.news().iter().any(|news| matches!(news, News::Done(edges) if edges.contains(&99)))
    };
    for member in [&mut a, &mut b] {
        member.until("all", done);
        assert!((1..100).all(|edge| member.has(&task(edge))), "{last:?}");
        assert!(!member.heard.iter().any(|heard| heard.what == HeardWhat::Lost));
    }
    a.until("sent", |a| a.fleet.view().unsent == 0);
    assert_eq!(crate::support::files(&a.home().join("spool")), 0);
    assert_eq!(a.news(), b.news());
    assert_eq!(a.members(), 2);
}

#[test]
fn a_member_that_was_killed_sends_at_its_next_start() {
    let mut server = Server::start("").unwrap();
    let url = server.url("c");
    let mut a = Member::join(&url);
    let mut b = Member::join(&url);
    let name = a.name();
    b.until("two", |b| b.members() == 2);
    server.kill();
    a.until("away", |a| !a.fleet.view().connected);
    a.fleet.tell(find(7));
    let Member { fleet, dir, .. } = a;
    drop(fleet);
    let dir = dir.unwrap();
    server.restart().unwrap();
    let a = Member::join_in(&url, dir);
    b.until("heard", |b| b.has(&find(7)));
    assert_eq!(a.name(), name);
    assert_eq!(b.members(), 2);
    // Its former life has left.
    assert!(b.heard.iter().any(|h| h.what == HeardWhat::Left && *h.from == name[..]));
}

#[test]
fn an_emptied_store_is_filled_again() {
    let mut server = Server::start("").unwrap();
    let url = server.url("c");
    let mut a = Member::join(&url);
    let mut b = Member::join(&url);
    a.fleet.tell(find(1));
    b.until("heard", |b| b.has(&find(1)));
    server.lose_store().unwrap();
    b.until("away", |b| !b.fleet.view().connected);
    b.fleet.tell(find(2));
    server.restart().unwrap();
    for member in [&mut a, &mut b] {
        member.until("lost", |m| m.heard.iter().any(|heard| heard.what == HeardWhat::Lost));
        let lost = member.heard.iter().rposition(|heard| heard.what == HeardWhat::Lost);
        member.heard.drain(..=lost.unwrap());
        // What a campaign does then.
        member.fleet.tell(find(1));
    }
    let mut c = Member::join(&url);
    for member in [&mut a, &mut b, &mut c] {
        member.until("all", |m| m.has(&find(1)) && m.has(&find(2)) && m.members() == 3);
        assert_eq!(member.news().len(), 2);
    }
}

#[test]
fn a_member_that_dies_is_lost_and_its_work_goes_to_the_others() {
    let server = Server::start("").unwrap();
    let url = server.url("c");
    let mut members: Vec<Member> = (0..2).map(|_| Member::join(&url)).collect();
    let dead = "dead-1".to_string();
    Stranger::connect(&url).unwrap().join(&dead).unwrap();
    for member in &mut members {
        member.until("three members", |member| member.members() == 3);
    }
    for member in &mut members {
        member.until("two members", |member| member.members() == 2);
        assert!(member.heard.iter().any(|h| h.what == HeardWhat::Left && *h.from == dead[..]));
    }
    let settled = Member::settle(&mut members);
    assert_eq!((settled.members.len(), settled.lost), (2, vec![dead]));
}

#[test]
fn a_cluster_of_three_loses_one() {
    let mut servers = Server::cluster(3).unwrap();
    let hosts: Vec<String> =
        servers.iter().map(|server| format!("127.0.0.1:{}", server.port)).collect();
    let url = format!("nats://{}/c", hosts.join(","));
    let a = Member::join(&url);
    let mut b = Member::join(&url);
    a.fleet.tell(find(1));
    b.until("heard", |b| b.has(&find(1)));
    for (number, server) in servers.iter_mut().enumerate() {
        server.kill();
        let told = find(10 + number as u64);
        a.fleet.tell(told.clone());
        b.until("heard without one server", |b| b.has(&told));
        server.restart().unwrap();
        std::thread::sleep(std::time::Duration::from_secs(3));
    }
    assert!(!b.heard.iter().any(|heard| heard.what == HeardWhat::Lost));
    assert_eq!(b.members(), 2);
}

/// Sends a signal to the server.
fn signal(server: &Server, signal: &str) {
    let pid = server.pid().unwrap().to_string();
    assert!(std::process::Command::new("kill").args([signal, &pid]).status().unwrap().success());
}

#[test]
fn a_member_leaves_a_server_that_does_not_answer_within_a_second() {
    let server = Server::start("").unwrap();
    let url = server.url("c");
    let mut a = Member::join(&url);
    a.until("one", |a| a.members() == 1);
    signal(&server, "-STOP");
    a.fleet.tell(find(1));
    let start = std::time::Instant::now();
    a.fleet.leave();
    let Member { fleet, dir, .. } = a;
    drop(fleet);
    let spent = start.elapsed();
    signal(&server, "-CONT");
    assert!(spent < std::time::Duration::from_secs(1), "{spent:?}");
    // What it told is not lost.
    let mut b = Member::join(&url);
    let _a = Member::join_in(&url, dir.unwrap());
    b.until("heard", |b| b.has(&find(1)));
}
