//! What can be said to `pleach compare`: its own flags, and every flag of `pleach
//! run` that does not differ between the campaigns. The latter are taken from the
//! table of `run` itself, so that a flag added there is known here.

use crate::args::Campaign;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use std::ffi::OsString;
use std::path::PathBuf;

const STRATEGIES: &str = "auto,generational,cfg,dfs,random";
/// Seconds for each campaign, where nothing is said.
const SECONDS: f64 = 60.0;
/// Flags of `run` that are not passed on: `compare` has its own, or chooses them.
const OWN: [&str; 8] = ["output", "strategy", "seconds", "runs", "jobs", "seed", "json", "program"];

#[derive(Args)]
struct Own {
    /// Strategies, with commas between them
    #[arg(short, long = "strategies", value_name = "A,B,...", value_delimiter = ',',
          default_value = STRATEGIES)]
    strategies: Vec<String>,
    /// Seconds for each campaign [default: 60, if -n is not given]
    #[arg(short = 'V', long = "seconds", value_name = "SECONDS")]
    seconds: Option<f64>,
    /// Runs of the fast half for each campaign
    #[arg(short = 'n', long = "runs", value_name = "RUNS")]
    runs: Option<u64>,
    /// Campaigns of each strategy, with the seeds 0, 1, ...
    #[arg(long = "seeds", value_name = "N", default_value_t = 3,
          value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    /// Campaigns at once, one core each
    #[arg(short = 'j', long = "jobs", value_name = "JOBS", default_value_t = 1,
          value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: u16,
    /// Directory for table, plots and campaigns; must be empty or not exist
    #[arg(short = 'o', long = "output", value_name = "DIR")]
    output: PathBuf,
    /// Source files under one name; may be given several times. Without it every
    /// source file is a module of its own
    #[arg(long = "module", value_name = "NAME=FILE,...", value_parser = module)]
    modules: Vec<(String, Vec<String>)>,
    /// The comparison as one line of JSON instead of text
    #[arg(long = "json")]
    json: bool,
    /// The program and its arguments, as for `pleach run`
    #[arg(last = true, required = true, value_name = "PROGRAM [ARGS]")]
    program: Vec<OsString>,
}

/// `pleach compare` as it was asked for.
pub struct Compare {
    pub strategies: Vec<String>,
    pub seconds: Option<f64>,
    pub runs: Option<u64>,
    pub seeds: u64,
    pub jobs: usize,
    pub output: PathBuf,
    pub modules: Vec<(String, Vec<String>)>,
    pub json: bool,
    pub program: Vec<OsString>,
    /// Flags for `pleach run`.
    pub passed: Vec<OsString>,
}

impl Compare {
    /// `10 s each, seeds 0 to 2`
    pub fn budget(&self) -> String {
        let seconds = self.seconds.map(|s| format!("{s} s"));
        let runs = self.runs.map(|n| format!("{n} runs"));
        let limits: Vec<String> = seconds.into_iter().chain(runs).collect();
        let seeds = match self.seeds {
            1 => "seed 0".into(),
            n => format!("seeds 0 to {}", n - 1),
        };
        format!("{} each, {seeds}", limits.join(" or "))
    }
}

fn module(text: &str) -> Result<(String, Vec<String>), String> {
    let (name, files) = text.split_once('=').ok_or("it has the form NAME=FILE,FILE,...")?;
    let files: Vec<String> = files.split(',').filter(|f| !f.is_empty()).map(String::from).collect();
    match name.is_empty() || files.is_empty() {
        true => Err("it has the form NAME=FILE,FILE,...".into()),
        false => Ok((name.into(), files)),
    }
}

fn passed_on() -> Vec<Arg> {
    let run = Campaign::augment_args(Command::new("run"));
    let ours = |arg: &&Arg| !OWN.contains(&arg.get_id().as_str());
    run.get_arguments().filter(ours).cloned().map(|a| a.help_heading("Passed on")).collect()
}

/// The flags that were given, as `run` is to get them.
fn rebuilt(matches: &ArgMatches) -> Vec<OsString> {
    let mut flags = Vec::new();
    for arg in passed_on() {
        let id = arg.get_id().as_str();
        let (Some(long), Some(ValueSource::CommandLine)) =
            (arg.get_long(), matches.value_source(id))
        else {
            continue;
        };
        if !arg.get_action().takes_values() {
            flags.push(format!("--{long}").into());
            continue;
        }
        for value in matches.get_raw(id).into_iter().flatten() {
            let mut flag = OsString::from(format!("--{long}="));
            flag.push(value);
            flags.push(flag);
        }
    }
    flags
}

impl FromArgMatches for Compare {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Compare, clap::Error> {
        let own = Own::from_arg_matches(matches)?;
        let seconds = own.seconds.or_else(|| own.runs.is_none().then_some(SECONDS));
        let from_journal = matches.try_get_one::<PathBuf>("input").ok().flatten();
        if from_journal.is_some_and(|i| i.as_os_str() == "-") {
            return Err(clap::Error::raw(
                clap::error::ErrorKind::ValueValidation,
                "-i -: a comparison begins its campaigns, and cannot go on with one\n",
            ));
        }
        let mut strategies = own.strategies;
        let mut seen = std::collections::HashSet::new();
        strategies.retain(|s| seen.insert(s.clone()));
        Ok(Compare {
            strategies,
            seconds,
            runs: own.runs,
            seeds: own.seeds,
            jobs: own.jobs.into(),
            output: own.output,
            modules: own.modules,
            json: own.json,
            program: own.program,
            passed: rebuilt(matches),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Compare::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Compare {
    fn augment_args(command: Command) -> Command {
        Own::augment_args(command).args(passed_on())
    }

    fn augment_args_for_update(command: Command) -> Command {
        Compare::augment_args(command)
    }
}
