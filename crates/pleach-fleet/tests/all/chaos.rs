//! Members and the server are killed, stopped and cut off at random moments. In the end nothing
//! that was told is lost, all members have heard the same in the same order, and agree that all
//! is done.
//!
//! A member is a process: this executable again, with its place in the environment. It does what
//! a campaign does: it notes on disk what it tells, and tells all of it again when it is started
//! again or when the server has lost it. `PLEACH_CHAOS` is the number of events;
//! `./x soak --fleet N` sets it.

use crate::support::{Member, find};
use pleach_campaign::run::fleet::{HeardWhat, News};
use pleach_fleet::server::Server;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const MEMBERS: usize = 3;
/// A member that is stopped or cut off for so long is declared lost, and joins again.
const LONG: Duration = Duration::from_secs(14);

fn numbers(path: &Path) -> Vec<u64> {
    let text = fs::read_to_string(path).unwrap_or_default();
    // A line that was cut by a kill was not told.
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().map(|line| line.parse().unwrap()).collect()
}

/// Not a test, but a member, if its place is in the environment.
#[test]
fn member() {
    let Ok(place) = std::env::var("PLEACH_FLEET_MEMBER") else { return };
    let [url, dir, number] = place.split(' ').collect::<Vec<_>>()[..] else { panic!("{place}") };
    let (dir, number) = (PathBuf::from(dir), number.parse::<u64>().unwrap());
    let told_path = dir.join("told");
    let mut told = numbers(&told_path);
    let whole: String = told.iter().map(|number| format!("{number}\n")).collect();
    fs::write(&told_path, whole).unwrap();
    let mut file = fs::File::options().append(true).open(&told_path).unwrap();
    // The server may be away when a member is started; then it is started again.
    let Ok(mut member) = Member::try_join(url, &dir) else { std::process::exit(2) };
    told.iter().for_each(|&n| member.fleet.tell(find(n)));
    let stop = dir.parent().unwrap().join("stop");
    let mut seen = 0;
    let mut order: Vec<u64> = Vec::new();
    loop {
        member.hear();
        for heard in &member.heard[seen..] {
            match &heard.what {
                HeardWhat::Lost => {
                    order.clear();
                    told.iter().for_each(|&n| member.fleet.tell(find(n)));
                }
                HeardWhat::News(News::Find(find)) => {
                    let bytes: [u8; 8] = find.bytes[..8].try_into().unwrap();
                    order.push(u64::from_le_bytes(bytes));
                }
                _ => {}
            }
        }
        seen = member.heard.len();
        if !stop.exists() {
            let next = number * 1_000_000 + told.len() as u64;
            writeln!(file, "{next}").unwrap();
            told.push(next);
            member.fleet.tell(find(next));
        } else if told.iter().all(|number| order.contains(number)) {
            member.fleet.set_idle(true);
            if let Some(settled) = member.fleet.settled() {
                let text = format!("{order:?}\n{} {:?}", settled.position, settled.members);
                fs::write(dir.join("result"), text).unwrap();
                member.fleet.leave();
                return;
            }
        }
        std::thread::sleep(Duration::from_millis(15));
    }
}

/// A machine: a network namespace if there may be one, and a member in it.
struct Machine {
    number: usize,
    dir: PathBuf,
    url: String,
    namespace: Option<String>,
    child: Option<Child>,
}

impl Machine {
    fn start(&mut self) {
        let exe = std::env::current_exe().unwrap();
        let mut command = match &self.namespace {
            Some(name) => {
                let mut command = Command::new("ip");
                command.args(["netns", "exec", name]).arg(exe);
                command
            }
            None => Command::new(exe),
        };
        let place = format!("{} {} {}", self.url, self.dir.display(), self.number + 1);
        let log = fs::File::options().create(true).append(true).open(self.dir.join("log")).unwrap();
        command.args(["--exact", "chaos::member", "--nocapture"]);
        command.env("PLEACH_FLEET_MEMBER", place).env_remove("RUST_BACKTRACE");
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        self.child = Some(command.spawn().unwrap());
    }

    fn signal(&self, signal: &str) {
        if let Some(child) = &self.child {
            succeed("kill", &[signal, &child.id().to_string()]);
        }
    }

    fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It may have ended by itself, because there was no server.
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    fn is_running(&mut self) -> bool {
        self.child.as_mut().is_some_and(|child| child.try_wait().unwrap().is_none())
    }

    fn set_link(&self, state: &str) {
        succeed("ip", &["link", "set", &self.link(), state]);
    }

    fn link(&self) -> String {
        format!("plf{}-{}", std::process::id() % 100_000, self.number)
    }

    /// Puts the machine into a network of its own, which one cable connects with the server.
    fn isolate(&mut self, port: u16) {
        let (name, link) = (self.link(), self.link());
        let (here, there) =
            (format!("10.213.{}.1", self.number), format!("10.213.{}.2", self.number));
        let peer = format!("{link}p");
        succeed("ip", &["netns", "add", &name]);
        self.namespace = Some(name.clone());
        succeed(
            "ip",
            &["link", "add", &link, "type", "veth", "peer", "name", &peer, "netns", &name],
        );
        succeed("ip", &["addr", "add", &format!("{here}/30"), "dev", &link]);
        succeed("ip", &["-n", &name, "addr", "add", &format!("{there}/30"), "dev", &peer]);
        succeed("ip", &["-n", &name, "link", "set", &peer, "up"]);
        succeed("ip", &["-n", &name, "link", "set", "lo", "up"]);
        self.set_link("up");
        self.url = format!("nats://{here}:{port}/chaos");
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.kill();
        if let Some(name) = &self.namespace {
            // The cable goes with it.
            let _ = Command::new("ip").args(["netns", "del", name]).status();
        }
    }
}

fn succeed(program: &str, args: &[&str]) {
    let status = Command::new(program).args(args).status().unwrap();
    assert!(status.success(), "{program} {args:?}");
}

/// True if this user may make networks.
fn can_isolate() -> bool {
    let name = format!("plt{}", std::process::id());
    let quiet = |args: &[&str]| {
        let mut command = Command::new("ip");
        command.args(args).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    quiet(&["netns", "add", &name]) && quiet(&["netns", "del", &name])
}

#[test]
fn nothing_is_lost_whatever_happens() {
    let events = std::env::var("PLEACH_CHAOS").ok().and_then(|n| n.parse().ok()).unwrap_or(6);
    let seed = std::env::var("PLEACH_CHAOS_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let mut random = fastrand::Rng::with_seed(seed);
    let isolated = can_isolate();
    let host = if isolated { "0.0.0.0" } else { "127.0.0.1" };
    let mut server = Server::start_on(host, "").unwrap();
    let home = tempfile::tempdir().unwrap();
    let mut machines: Vec<Machine> = (0..MEMBERS)
        .map(|number| {
            let dir = home.path().join(format!("m{number}"));
            fs::create_dir(&dir).unwrap();
            let url = server.url("chaos");
            let mut machine = Machine { number, dir, url, namespace: None, child: None };
            if isolated {
                machine.isolate(server.port);
            }
            machine.start();
            machine
        })
        .collect();
    let kinds = if isolated { 4 } else { 3 };
    for event in 0..events {
        std::thread::sleep(Duration::from_millis(random.u64(100..1500)));
        // Each kind comes early, so that a short test has all.
        let kind = if event < kinds { event } else { random.u64(0..kinds) };
        let long = if event >= kinds && random.u8(0..12) == 0 { LONG } else { Duration::ZERO };
        let pause = Duration::from_millis(random.u64(0..2500)) + long;
        let machine = random.usize(0..MEMBERS);
        println!("event {event}: kind {kind} machine {machine} for {pause:?}");
        match kind {
            0 => {
                machines[machine].kill();
                std::thread::sleep(pause.min(Duration::from_secs(1)));
                machines[machine].start();
            }
            1 => {
                machines[machine].signal("-STOP");
                std::thread::sleep(pause);
                machines[machine].signal("-CONT");
            }
            2 => {
                server.kill();
                std::thread::sleep(pause);
                server.restart().unwrap();
            }
            _ => {
                machines[machine].set_link("down");
                std::thread::sleep(pause);
                machines[machine].set_link("up");
            }
        }
        for machine in &mut machines {
            if !machine.is_running() {
                machine.start();
            }
        }
    }
    std::thread::sleep(Duration::from_millis(500));
    fs::write(home.path().join("stop"), b"").unwrap();
    let start = Instant::now();
    let results: Vec<PathBuf> = machines.iter().map(|m| m.dir.join("result")).collect();
    while !results.iter().all(|result| result.exists()) {
        for machine in &mut machines {
            if !machine.is_running() && !machine.dir.join("result").exists() {
                machine.start();
            }
            let log = || fs::read_to_string(machine.dir.join("log")).unwrap_or_default();
            assert!(start.elapsed() < Duration::from_secs(120), "{}: {}", machine.number, log());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let texts: Vec<String> =
        results.iter().map(|result| fs::read_to_string(result).unwrap()).collect();
    let order = |text: &str| -> Vec<u64> {
        let list = text.lines().next().unwrap().trim_matches(['[', ']']).to_string();
        list.split(", ").map(|number| number.parse().unwrap()).collect()
    };
    let told: BTreeSet<u64> = machines.iter().flat_map(|m| numbers(&m.dir.join("told"))).collect();
    let heard = order(&texts[0]);
    assert!(texts.iter().all(|text| *text == texts[0]), "the members disagree");
    assert_eq!(heard.len(), told.len(), "each input is heard once");
    assert_eq!(heard.into_iter().collect::<BTreeSet<u64>>(), told);
    println!("{events} events, {} inputs, isolated: {isolated}", told.len());
    for machine in &mut machines {
        let deadline = Instant::now() + Duration::from_secs(20);
        while machine.is_running() {
            assert!(Instant::now() < deadline, "a member does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
