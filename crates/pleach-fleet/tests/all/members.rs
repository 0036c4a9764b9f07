//! Members that tell each other, come and go.

use crate::support::{Member, find, task};
use pleach_campaign::run::fleet::{HeardWhat, News, Report};
use pleach_fleet::server::Server;
use std::time::{Duration, Instant};

#[test]
fn all_hear_the_same_in_the_same_order() {
    let server = Server::start("").unwrap();
    let url = server.url("c");
    let mut members: Vec<Member> = (0..3).map(|_| Member::join(&url)).collect();
    for edge in 0..300 {
        for (number, member) in members.iter().enumerate() {
            member.fleet.tell(task(edge * 3 + number as u64));
            member.fleet.tell(News::Done(vec![edge * 3 + number as u64]));
        }
    }
    let done = |member: &Member| -> usize {
        let lists = member.news().into_iter().map(|news| match news {
            News::Done(edges) => edges.len(),
            _ => 0,
        });
        lists.sum()
    };
    for member in &mut members {
        member.until("all done", |member| done(member) == 900);
    }
    // Somebody who comes later hears all of it.
    members.push(Member::join(&url));
    members[3].until("all done", |member| done(member) == 900);
    for member in &members {
        assert_eq!(member.news(), members[0].news());
        let mut known = std::collections::HashSet::new();
        for news in member.news() {
            match news {
                News::Task(task) => assert!(known.insert(task.edge)),
                News::Done(edges) => assert!(edges.iter().all(|edge| known.contains(edge))),
                _ => panic!("{news:?}"),
            }
        }
    }
}

#[test]
fn an_input_is_stored_once_whoever_tells_it() {
    let server = Server::start("").unwrap();
    let url = server.url("c");
    let mut a = Member::join(&url);
    let mut b = Member::join(&url);
    for number in 0..50 {
        a.fleet.tell(find(number));
        b.fleet.tell(find(number));
        a.fleet.tell(find(number));
    }
    a.fleet.tell(News::Done(vec![1]));
    b.fleet.tell(News::Done(vec![2]));
    for member in [&mut a, &mut b] {
        member.until("both done", |member| {
            member.has(&News::Done(vec![1])) && member.has(&News::Done(vec![2]))
        });
        assert_eq!(member.news().len(), 52);
    }
    let survey = pleach_fleet::survey(&url, None).unwrap();
    assert_eq!((survey.inputs, survey.ignored), (50, 0));
    // Two joinings, two lists, the manifest.
    assert_eq!(survey.messages, 55);
}

#[test]
fn a_find_is_heard_within_two_seconds() {
    let server = Server::start("").unwrap();
    let url = server.url("c");
    let a = Member::join(&url);
    let mut b = Member::join(&url);
    b.until("two members", |b| b.members() == 2);
    let start = Instant::now();
    a.fleet.tell(find(1));
    b.until("heard", |b| b.has(&find(1)));
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
}

#[test]
fn every_hash_has_one_owner_and_the_work_of_who_leaves_is_taken_over() {
    let server = Server::start("").unwrap();
    let url = server.url("c");
    let mut members: Vec<Member> = (0..3).map(|_| Member::join(&url)).collect();
    for member in &mut members {
        member.until("three members", |member| member.members() == 3);
    }
    let shares = |members: &[Member]| -> Vec<usize> {
        let mut shares = vec![0; members.len()];
        for hash in 0..300 {
            let owners: Vec<usize> =
                (0..members.len()).filter(|&m| members[m].fleet.owns(hash)).collect();
            assert_eq!(owners.len(), 1);
            shares[owners[0]] += 1;
        }
        shares
    };
    assert!(shares(&members).iter().all(|&share| share > 50), "{:?}", shares(&members));
    let generation = members[0].fleet.generation();
    let gone = members.remove(1);
    let name = gone.name();
    gone.fleet.leave();
    for member in &mut members {
        member.until("two members", |member| member.members() == 2);
        assert!(member.heard.iter().any(|h| h.what == HeardWhat::Left && *h.from == name[..]));
        assert_ne!(member.fleet.generation(), generation);
    }
    assert!(shares(&members).iter().all(|&share| share > 90));
}

#[test]
fn a_search_is_settled_by_all_who_hold_work() {
    let server = Server::start("").unwrap();
    let url = server.url("c");
    let mut members: Vec<Member> = (0..3).map(|_| Member::join(&url)).collect();
    for member in &mut members {
        member.until("three members", |member| member.members() == 3);
    }
    members[0].fleet.tell(task(1));
    members[0].until("heard", |member| member.has(&task(1)));
    // Two are idle; the third has not said so.
    for _ in 0..100 {
        for member in &mut members[..2] {
            member.hear();
            member.fleet.set_idle(true);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(members[0].fleet.settled(), None);
    let settled = Member::settle(&mut members);
    let mut names: Vec<String> = members.iter().map(Member::name).collect();
    names.sort();
    assert_eq!((settled.members, settled.lost), (names, vec![]));
}

#[test]
fn members_see_each_others_reports() {
    let server = Server::start("").unwrap();
    let url = server.url("c");
    let a = Member::join(&url);
    let mut b = Member::join(&url);
    let report = Report { runs: 1000, pace: 30, branches: 7, inputs: 5, crashes: 1, hangs: 2 };
    a.fleet.report(report);
    let name = a.name();
    b.until("the report", |b| b.fleet.view().members.contains(&(name.clone(), report)));
    let survey = pleach_fleet::survey(&url, None).unwrap();
    let of_a = survey.members.iter().find(|member| member.name == name).unwrap();
    assert!(of_a.answers && of_a.is_member && of_a.report == report, "{of_a:?}");
}

#[test]
fn a_copied_directory_gets_another_name() {
    let server = Server::start("").unwrap();
    let url = server.url("c");
    let mut a = Member::join(&url);
    a.until("a member", |a| a.members() == 1);
    let copy = tempfile::tempdir().unwrap();
    std::fs::create_dir(copy.path().join("fleet")).unwrap();
    std::fs::copy(a.home().join("name"), copy.path().join("fleet/name")).unwrap();
    let mut b = Member::join_in(&url, copy);
    a.until("two members", |a| a.members() == 2);
    b.until("two members", |b| b.members() == 2);
    assert_ne!(a.name(), b.name());
}
