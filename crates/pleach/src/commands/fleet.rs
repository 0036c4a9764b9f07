//! `pleach fleet`: what a campaign on several machines has, for someone who is no member.

use crate::exit::{Code, Failure};
use anyhow::{Context, anyhow};
use clap::{Args as Group, Subcommand};
use pleach_campaign::run::fleet::{FindKind, Report};
use pleach_campaign::run::{Dir, DirError, FleetMember, FleetStats, Kept, Settings, Stats};
use pleach_fleet::{Found, JoinError, MemberState, Survey};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Subcommand)]
pub enum Command {
    /// Print the members of a campaign, what they found, and at what pace
    Status(Status),
    /// Write queue, crashes, hangs and statistics of all members as one campaign directory
    #[command(
        after_help = "The directory is one of `pleach run`: `pleach report`, `pleach replay` and \
                      the others work on it, if the program is where the first member ran it."
    )]
    Fetch(Fetch),
}

#[derive(Group)]
pub struct Status {
    /// Print one line of JSON instead of text
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub server: Server,
}

#[derive(Group)]
pub struct Fetch {
    /// Directory to write; must be empty or not exist
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    #[command(flatten)]
    pub server: Server,
}

#[derive(Group)]
pub struct Server {
    /// Server and name of the campaign: nats://HOST:PORT/NAME, or tls://
    pub url: String,
    /// File with what logs in: credentials of NATS, the seed of an nkey, USER:PASSWORD, or a
    /// token [default: as NATS_CREDS, NATS_NKEY, NATS_USER, NATS_PASSWORD and NATS_TOKEN say]
    #[arg(long, value_name = "FILE")]
    pub creds: Option<PathBuf>,
}

pub fn run(command: Command) -> Result<Code, Failure> {
    match command {
        Command::Status(args) => status(&args),
        Command::Fetch(args) => fetch(&args),
    }
}

fn status(args: &Status) -> Result<Code, Failure> {
    let survey = pleach_fleet::survey(&args.server.url, args.server.creds.as_deref())
        .map_err(Failure::user_error)?;
    if args.json {
        println!("{}", json_of(&survey));
    } else {
        print!("{}", text_of(&survey));
    }
    Ok(Code::Ok)
}

fn json_of(survey: &Survey) -> serde_json::Value {
    let member = |member: &MemberState| {
        let Report { runs, pace, branches, inputs, crashes, hangs } = member.report;
        json!({
            "name": member.name,
            "state": state(member),
            "runs": runs,
            "runs_per_second": if member.answers { pace } else { 0 },
            "branches": branches,
            "inputs": inputs,
            "crashes": crashes,
            "hangs": hangs,
            "told_inputs": member.inputs,
            "told_crashes": member.crashes,
            "told_hangs": member.hangs,
        })
    };
    let settled = survey.settled.as_ref().map(|settled| {
        json!({
            "members": settled.members,
            "lost": settled.lost,
            "position": settled.position,
        })
    });
    json!({
        "campaign": survey.campaign,
        "members": survey.members.iter().map(member).collect::<Vec<_>>(),
        "inputs": survey.inputs,
        "crashes": survey.crashes,
        "hangs": survey.hangs,
        "branches": survey.branches,
        "tasks": survey.tasks,
        "tasks_done": survey.done,
        "answers": survey.answers,
        "partial": survey.gaps,
        "messages": survey.messages,
        "bytes": survey.bytes,
        "ignored": survey.ignored,
        "exhausted": settled,
    })
}

fn state(member: &MemberState) -> &'static str {
    match member {
        MemberState { answers: true, .. } => "here",
        MemberState { is_member: true, .. } => "silent",
        MemberState { is_lost: true, .. } => "lost",
        _ => "left",
    }
}

fn text_of(survey: &Survey) -> String {
    let mut out = format!("{}\n\n", survey.campaign);
    let width = survey.members.iter().map(|member| member.name.len()).max().unwrap_or(0).max(6);
    out += &format!(
        "{:width$}  {:6} {:>12} {:>8} {:>9} {:>7} {:>8} {:>6}\n",
        "member", "state", "runs", "runs/s", "branches", "inputs", "crashes", "hangs"
    );
    for member in &survey.members {
        let report = &member.report;
        let pace = if member.answers { report.pace.to_string() } else { "-".into() };
        out += &format!(
            "{:width$}  {:6} {:>12} {:>8} {:>9} {:>7} {:>8} {:>6}\n",
            member.name,
            state(member),
            report.runs,
            pace,
            report.branches,
            member.inputs,
            member.crashes,
            member.hangs
        );
    }
    let here: Vec<&MemberState> = survey.members.iter().filter(|member| member.answers).collect();
    let pace: u64 = here.iter().map(|member| member.report.pace).sum();
    let runs: u64 = survey.members.iter().map(|member| member.report.runs).sum();
    out += &format!(
        "\n{} of {} members here, {runs} runs, {pace} runs/s\n\
         {} inputs, {} crashes, {} hangs\n",
        here.len(),
        survey.members.len(),
        survey.inputs,
        survey.crashes,
        survey.hangs
    );
    if survey.tasks > 0 {
        out += &format!("{} paths told, {} done\n", survey.tasks, survey.done);
    }
    out += &format!("{} messages, {} KiB on the server\n", survey.messages, survey.bytes >> 10);
    if survey.ignored > 0 {
        out += &format!("{} messages that members ignore\n", survey.ignored);
    }
    if let Some(settled) = &survey.settled {
        let partial = if survey.gaps.is_empty() { "exhausted" } else { "exhausted-partial" };
        out += &format!(
            "{partial}: agreed by {} at message {}\n",
            settled.members.join(", "),
            settled.position
        );
        if !settled.lost.is_empty() {
            out += &format!("lost while they worked: {}\n", settled.lost.join(", "));
        }
    }
    out
}

/// Why fetching failed.
enum Refusal {
    Join(JoinError),
    Dir(DirError),
    Other(anyhow::Error),
}

impl From<JoinError> for Refusal {
    fn from(error: JoinError) -> Refusal {
        Refusal::Join(error)
    }
}

impl From<DirError> for Refusal {
    fn from(error: DirError) -> Refusal {
        Refusal::Dir(error)
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        match refusal {
            Refusal::Join(error) => Failure::user_error(error),
            Refusal::Dir(error) => Failure::user_error(error),
            Refusal::Other(error) => Failure::user_error(error),
        }
    }
}

/// A campaign directory that is being written.
struct Collection<'a> {
    path: &'a Path,
    /// It is made when something arrives: nothing on disk is touched before.
    dir: Option<Dir>,
    settings: Option<Settings>,
    stats: Stats,
    next: [u32; 3],
    /// The time of the last line of `plot_data`, in milliseconds.
    plotted: Option<u64>,
}

impl Collection<'_> {
    fn open(&mut self, survey: &Survey) -> Result<&Dir, Refusal> {
        if self.dir.is_none() {
            let settings = toml::from_str(&survey.run)
                .context("the campaign has no settings that this version can read")
                .map_err(Refusal::Other)?;
            self.settings = Some(settings);
            self.dir = Some(Dir::create(self.path, Arc::default())?);
        }
        self.dir.as_ref().ok_or_else(|| Refusal::Other(anyhow!("no directory")))
    }

    fn keep(&mut self, survey: &Survey, found: &Found) -> Result<(), Refusal> {
        let (kept, slot) = match found.find.kind {
            FindKind::Queue => (Kept::Queue, 0),
            FindKind::Crash(_) => (Kept::Crash, 1),
            FindKind::Hang => (Kept::Hang, 2),
        };
        let id = self.next[slot];
        self.next[slot] += 1;
        let number = u32::try_from(found.number).unwrap_or(u32::MAX);
        let dir = self.open(survey)?;
        dir.keep_of_member(kept, id, (found.from, number), found.time_ms, &found.find.bytes);
        if let Some(error) = dir.take_failure() {
            let path = self.path.display().to_string();
            return Err(Refusal::Other(anyhow::Error::new(error).context(path)));
        }
        let [inputs, crashes, hangs] = self.next.map(u64::from);
        (self.stats.inputs, self.stats.crashes, self.stats.hangs) = (inputs, crashes, hangs);
        self.stats.branches.covered = found.branches;
        self.stats.time_s.total = found.time_ms as f64 / 1000.0;
        if self.plotted.is_none_or(|then| found.time_ms >= then + 1000) {
            self.plotted = Some(found.time_ms);
            if let Some(dir) = &self.dir {
                dir.write_stats(&self.stats);
            }
        }
        Ok(())
    }

    fn finish(&mut self, survey: &Survey) -> Result<(), Refusal> {
        self.open(survey)?;
        let members = &survey.members;
        let stats = &mut self.stats;
        stats.runs = members.iter().map(|member| member.report.runs).sum();
        let most = members.iter().map(|member| member.report.branches).max().unwrap_or(0);
        stats.branches.covered = stats.branches.covered.max(most);
        stats.partial = survey.gaps.iter().map(|gap| (gap.clone(), 1)).collect();
        let other = |member: &MemberState| FleetMember {
            name: member.name.clone(),
            runs: member.report.runs,
            branches: member.report.branches,
            inputs: member.inputs,
            crashes: member.crashes,
        };
        stats.fleet = Some(FleetStats {
            campaign: survey.campaign.clone(),
            split: if survey.tasks > 0 { "paths" } else { "finds" }.into(),
            others: members.iter().map(other).collect(),
            heard: survey.inputs + survey.crashes + survey.hangs,
            answers: survey.answers,
            ignored: survey.ignored,
            settled_by: survey.settled.iter().flat_map(|s| s.members.clone()).collect(),
            settled_at: survey.settled.as_ref().map(|settled| settled.position),
            lost: survey.settled.iter().flat_map(|settled| settled.lost.clone()).collect(),
            ..FleetStats::default()
        });
        let (Some(dir), Some(settings)) = (&self.dir, &self.settings) else { return Ok(()) };
        // Nothing of the tree came over the network: whoever resumes begins with the inputs.
        dir.write_file("journal", Vec::new());
        dir.write_stats(&self.stats);
        dir.settle();
        dir.begin(settings)?;
        match dir.take_failure() {
            None => Ok(()),
            Some(error) => {
                let path = self.path.display().to_string();
                Err(Refusal::Other(anyhow::Error::new(error).context(path)))
            }
        }
    }
}

fn fetch(args: &Fetch) -> Result<Code, Failure> {
    Dir::check_vacant(&args.output).map_err(Failure::user_error)?;
    let mut collection = Collection {
        path: &args.output,
        dir: None,
        settings: None,
        stats: Stats::default(),
        next: [0; 3],
        plotted: None,
    };
    let survey =
        pleach_fleet::fetch(&args.server.url, args.server.creds.as_deref(), |survey, found| {
            collection.keep(survey, &found)
        })
        .map_err(Failure::from)?;
    collection.finish(&survey).map_err(Failure::from)?;
    println!(
        "{}: {} inputs, {} crashes, {} hangs of {} members",
        args.output.display(),
        survey.inputs,
        survey.crashes,
        survey.hangs,
        survey.members.len()
    );
    Ok(Code::Ok)
}
