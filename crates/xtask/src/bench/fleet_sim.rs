//! `./x bench fleet-sim`: what a fleet costs its server. A campaign is recorded: its inputs,
//! what each covered that was new, and how many flips were answered. Then members of a fleet,
//! each with its own connection, tell these finds and answers again to a real `nats-server`, in
//! as many seconds as asked, and all hear what all tell. Nothing is searched meanwhile.
//!
//! All members run in this process, and share the machine with the server. So times are those of
//! an overloaded machine, and only what is counted holds for others: messages, bytes, storage,
//! and the CPU time of the server.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use pleach_campaign::findings::Findings;
use pleach_campaign::run::Kept;
use pleach_campaign::run::fleet::{Answer, Build, Cover, Find, FindKind, Fleet, HeardWhat, News};
use pleach_fleet::Connection;
use pleach_fleet::server::Server;
use pleach_search::{Mark, bucket};
use serde::Serialize;

use crate::{examples, process, project};

/// How often each member is asked what it heard.
const ROUND: Duration = Duration::from_millis(100);

#[derive(clap::Args)]
pub struct Args {
    /// Number of members
    #[arg(long, default_value_t = 1000)]
    members: usize,
    /// Seconds in which the finds are told again
    #[arg(long, default_value_t = 30)]
    seconds: u64,
    /// Runs of the campaign that is recorded, on examples/tinyjs
    #[arg(long, default_value_t = 30_000)]
    runs: u64,
    /// Use the campaign in this directory, instead of recording one
    #[arg(long, value_name = "DIR")]
    recorded: Option<PathBuf>,
    /// Answers that each member tells a second [default: what was recorded, divided among all]
    #[arg(long, value_name = "N")]
    answers: Option<f64>,
}

/// What the server has counted up to now.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Counted {
    messages_in: u64,
    messages_out: u64,
    bytes_in: u64,
    bytes_out: u64,
    cpu_s: f64,
    memory_mib: f64,
}

impl Counted {
    fn since(self, before: Counted) -> Counted {
        Counted {
            messages_in: self.messages_in - before.messages_in,
            messages_out: self.messages_out - before.messages_out,
            bytes_in: self.bytes_in - before.bytes_in,
            bytes_out: self.bytes_out - before.bytes_out,
            cpu_s: self.cpu_s - before.cpu_s,
            memory_mib: self.memory_mib,
        }
    }
}

#[derive(Debug, Serialize)]
struct Phase {
    name: &'static str,
    seconds: f64,
    server: Counted,
}

#[derive(Debug, Serialize)]
struct Numbers {
    members: usize,
    finds: usize,
    /// Bytes of all inputs, and branches that they cover.
    input_bytes: usize,
    covers: usize,
    answers: u64,
    phases: Vec<Phase>,
    /// From telling a find to hearing it, over all members, in milliseconds.
    latency_median_ms: f64,
    latency_worst_ms: f64,
    stored_messages: u64,
    stored_bytes: u64,
    /// Resident memory of all members.
    members_mib: f64,
}

pub fn run(args: &Args) -> Result<bool> {
    // Each member has a connection and a runtime.
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, most, most)?;
    let (finds, recorded_answers) = record(args)?;
    if finds.is_empty() || args.members == 0 {
        bail!("there is nothing to tell");
    }
    let port = std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
    let server = Server::start(&format!("http: 127.0.0.1:{port}"))
        .context("cannot start nats-server: ./x setup installs it")?;
    let url = server.url("simulated");
    let dir = tempfile::tempdir()?;
    let pid = server.pid().context("the server has ended")?;
    let count = || counted(port, pid);
    let mut phases = Vec::new();
    let mut then = (Instant::now(), count()?);
    let mut end_phase = |name| -> Result<()> {
        let now = (Instant::now(), count()?);
        let seconds = now.0.duration_since(then.0).as_secs_f64();
        phases.push(Phase { name, seconds, server: now.1.since(then.1) });
        eprintln!("{name}: {seconds:.1} s");
        then = now;
        Ok(())
    };

    let memory_before = resident_mib(std::process::id())?;
    let fleet = join(&url, args.members, dir.path())?;
    let mut ears: Vec<Ear> = fleet.iter().map(|member| Ear::new(member.clone())).collect();
    let patience = Instant::now() + Duration::from_secs(300);
    while ears.iter().any(|ear| ear.fleet.view().members.len() < args.members) {
        ears.iter_mut().for_each(Ear::hear);
        if Instant::now() > patience {
            bail!("the members do not hear each other");
        }
        std::thread::sleep(ROUND);
    }
    end_phase("joining")?;
    std::thread::sleep(Duration::from_secs(10));
    end_phase("10 s without news")?;

    let told = tell(args, &finds, recorded_answers, &mut ears)?;
    end_phase("telling and hearing")?;
    let members_mib = resident_mib(std::process::id())? - memory_before;

    let late = dir.path().join("late");
    let mut late = Ear::new(Connection::open(&url, None, &build(), "")?.join(&late)?);
    while late.finds < finds.len() {
        late.hear();
        if Instant::now() > patience + Duration::from_secs(300) {
            bail!("a late member does not hear all");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    end_phase("one more member hears all")?;
    let survey = pleach_fleet::survey(&url, None)?;
    let mut latencies: Vec<f64> = ears.iter().flat_map(|ear| ear.latencies.clone()).collect();
    latencies.sort_by(f64::total_cmp);
    let numbers = Numbers {
        members: args.members,
        finds: finds.len(),
        input_bytes: finds.iter().map(|find| find.bytes.len()).sum(),
        covers: finds.iter().map(|find| find.covers.len()).sum(),
        answers: told,
        phases,
        latency_median_ms: latencies.get(latencies.len() / 2).copied().unwrap_or(0.0),
        latency_worst_ms: latencies.last().copied().unwrap_or(0.0),
        stored_messages: survey.messages,
        stored_bytes: survey.bytes,
        members_mib,
    };
    println!("{}", table(&numbers));
    super::write_numbers("fleet-sim", &numbers)?;
    Ok(true)
}

fn build() -> Build {
    let mut build = Build::default();
    build.add("the recording", "1");
    build
}

/// The finds of a campaign in their order, with what each covered that was new, and the number
/// of flips that were answered.
fn record(args: &Args) -> Result<(Vec<Find>, u64)> {
    let dir = tempfile::tempdir()?;
    let out = match &args.recorded {
        Some(dir) => dir.clone(),
        None => {
            let home = dir.path().join("tinyjs");
            examples::build("tinyjs", &home, &project::tool("pleach-cc")?)?;
            let mut command = Command::new(project::tool("pleach")?);
            command.current_dir(&home);
            command.args(["run", "-i", "scripts", "-o", "out", "-n", &args.runs.to_string()]);
            command.args(["--", "./tinyjs"]);
            process::succeed(&mut command, Duration::from_secs(600), "pleach run")?;
            home.join("out")
        }
    };
    let mut findings = Findings::open(&out, None)?;
    findings.replay(|_, _| true)?;
    let mut seen = std::collections::HashMap::new();
    let mut finds = Vec::new();
    for input in &findings.inputs {
        let mut covers = Vec::new();
        for (branch, count) in input.counts.taken() {
            let best: &mut u8 = seen.entry(branch).or_default();
            if bucket(count) & !*best != 0 {
                *best |= bucket(count);
                covers.push(Cover { branch, count });
            }
        }
        covers.sort_by_key(|cover| cover.branch);
        let kind = match input.kept {
            Kept::Queue => FindKind::Queue,
            Kept::Crash => FindKind::Crash(input.number.into()),
            Kept::Hang => FindKind::Hang,
        };
        finds.push(Find { kind, bytes: input.read()?.into(), covers });
    }
    Ok((finds, findings.stats.flips.asked))
}

/// How many members join at once. The next come when these have heard of each other: machines
/// that are started one after the other do not come faster.
const JOIN_TOGETHER: usize = 16;
const JOIN_PATIENCE: Duration = Duration::from_secs(60);

/// Starts the members, several at a time.
fn join(url: &str, members: usize, dir: &Path) -> Result<Vec<Arc<dyn Fleet>>> {
    let one = |number: usize| -> Result<Arc<dyn Fleet>> {
        let home = dir.join(number.to_string());
        fs::create_dir_all(&home)?;
        Ok(Connection::open(url, None, &build(), "")?.join(&home)?)
    };
    let mut fleet = vec![one(0)?];
    while fleet.len() < members {
        let some = fleet.len()..members.min(fleet.len() + JOIN_TOGETHER);
        let joined: Vec<Result<Arc<dyn Fleet>>> = std::thread::scope(|scope| {
            let threads: Vec<_> = some.map(|number| scope.spawn(move || one(number))).collect();
            let joined = |thread: std::thread::ScopedJoinHandle<Result<_>>| {
                thread.join().unwrap_or_else(|_| bail!("a thread panicked"))
            };
            threads.into_iter().map(joined).collect()
        });
        for member in joined {
            fleet.push(member?);
        }
        let deadline = Instant::now() + JOIN_PATIENCE;
        let newest = fleet.len().saturating_sub(JOIN_TOGETHER);
        while fleet[newest..].iter().any(|member| member.members() < fleet.len()) {
            if Instant::now() > deadline {
                bail!("of {} members, the last do not hear of the others", fleet.len());
            }
            std::thread::sleep(Duration::from_millis(10));
            fleet[newest..].iter().for_each(|member| _ = member.hear(usize::MAX));
        }
    }
    Ok(fleet)
}

/// A member, and what it has heard.
struct Ear {
    fleet: Arc<dyn Fleet>,
    finds: usize,
    answers: u64,
    latencies: Vec<f64>,
    /// When each find was told, by its bytes.
    told: std::collections::HashMap<Arc<[u8]>, Instant>,
}

impl Ear {
    fn new(fleet: Arc<dyn Fleet>) -> Ear {
        Ear {
            fleet,
            finds: 0,
            answers: 0,
            latencies: Vec::new(),
            told: std::collections::HashMap::new(),
        }
    }

    fn hear(&mut self) {
        for heard in self.fleet.hear(usize::MAX) {
            match heard.what {
                HeardWhat::News(News::Find(find)) => {
                    self.finds += 1;
                    if let Some(then) = self.told.get(&find.bytes) {
                        self.latencies.push(then.elapsed().as_secs_f64() * 1000.0);
                    }
                }
                HeardWhat::News(News::Answers(answers)) => self.answers += answers.len() as u64,
                _ => {}
            }
        }
    }
}

/// Tells everything, and waits until all have heard it. Returns the number of answers.
fn tell(args: &Args, finds: &[Find], recorded: u64, ears: &mut [Ear]) -> Result<u64> {
    let length = Duration::from_secs(args.seconds);
    let each = args
        .answers
        .unwrap_or_else(|| recorded as f64 / args.seconds.max(1) as f64 / args.members as f64);
    let total = (each * args.seconds as f64 * args.members as f64) as u64;
    let start = Instant::now();
    let (mut next, mut answered) = (0, 0);
    let deadline = start + length + Duration::from_secs(240);
    loop {
        let part = (start.elapsed().as_secs_f64() / length.as_secs_f64().max(0.001)).min(1.0);
        while next < (finds.len() as f64 * part) as usize {
            let find = finds[next].clone();
            // A sample is enough, and the clock of one member is that of all.
            if next % 16 == 0 {
                let now = Instant::now();
                for ear in ears.iter_mut() {
                    ear.told.insert(find.bytes.clone(), now);
                }
            }
            ears[next % args.members].fleet.tell(News::Find(find));
            next += 1;
        }
        while answered < (total as f64 * part) as u64 {
            let member = answered as usize % args.members;
            let answer = Answer { edge: fastrand::u64(..), mark: Mark::Unsat };
            ears[member].fleet.tell(News::Answers(vec![answer]));
            answered += 1;
        }
        ears.iter_mut().for_each(Ear::hear);
        let done = |ear: &Ear| ear.finds >= finds.len() && ear.answers >= total;
        if part >= 1.0 && ears.iter().all(done) {
            return Ok(total);
        }
        if Instant::now() > deadline {
            let heard = ears.iter().map(|ear| ear.finds).min().unwrap_or(0);
            bail!(
                "after {:.0} s a member has heard only {heard} finds",
                start.elapsed().as_secs_f64()
            );
        }
        std::thread::sleep(ROUND);
    }
}

/// What the monitoring port of the server says, and what the kernel says of its process.
fn counted(port: u16, pid: u32) -> Result<Counted> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.write_all(b"GET /varz HTTP/1.0\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let body = answer.split_once("\r\n\r\n").context("the server's monitor answers nothing")?.1;
    let value: serde_json::Value = serde_json::from_str(body)?;
    let number = |key: &str| value[key].as_u64().unwrap_or(0);
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or("").split(' ').collect();
    let ticks = |at: usize| fields.get(at).and_then(|n| n.parse::<f64>().ok()).unwrap_or(0.0);
    Ok(Counted {
        messages_in: number("in_msgs"),
        messages_out: number("out_msgs"),
        bytes_in: number("in_bytes"),
        bytes_out: number("out_bytes"),
        // The kernel counts in hundredths of a second on every Linux that Pleach runs on.
        cpu_s: (ticks(11) + ticks(12)) / 100.0,
        memory_mib: resident_mib(pid)?,
    })
}

fn resident_mib(pid: u32) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok());
    Ok(kib.context("no VmRSS")? / 1024.0)
}

fn table(numbers: &Numbers) -> String {
    let mut out = format!(
        "{} members, {} finds of {} bytes with {} branches and counts, {} answers\n\n\
         | phase | seconds | messages in | messages out | MB in | MB out | server CPU s | server MiB |\n\
         |---|---|---|---|---|---|---|---|\n",
        numbers.members, numbers.finds, numbers.input_bytes, numbers.covers, numbers.answers
    );
    for Phase { name, seconds, server } in &numbers.phases {
        let mb = |bytes: u64| bytes as f64 / 1e6;
        out += &format!(
            "| {name} | {seconds:.1} | {} | {} | {:.2} | {:.2} | {:.2} | {:.0} |\n",
            server.messages_in,
            server.messages_out,
            mb(server.bytes_in),
            mb(server.bytes_out),
            server.cpu_s,
            server.memory_mib
        );
    }
    out + &format!(
        "\nFrom telling to hearing: median {:.0} ms, worst {:.0} ms. Stored: {} messages, {:.2} MB. \
         Memory of a member: {:.2} MiB.\n",
        numbers.latency_median_ms,
        numbers.latency_worst_ms,
        numbers.stored_messages,
        numbers.stored_bytes as f64 / 1e6,
        numbers.members_mib / numbers.members as f64
    )
}
