//! The options of `pleach compare`: its own, and the options of `pleach run` that are the
//! same for all campaigns. The latter are read from the options of `run`, so a new option
//! there works here, too.

use crate::args::Campaign;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use std::ffi::OsString;
use std::path::PathBuf;

const DEFAULT_STRATEGIES: &str = "auto,generational,cfg,dfs,random";
const DEFAULT_SECONDS: f64 = 60.0;
/// Options of `run` that `compare` does not pass on, because it sets them itself.
const OWN: [&str; 8] = ["output", "strategy", "seconds", "runs", "jobs", "seed", "json", "program"];
/// Options of `run` that make campaigns share what they find, so that nothing could be compared.
const SHARING: [&str; 4] = ["main", "secondary", "fleet", "creds"];

#[derive(Args)]
struct Own {
    /// Strategies to compare
    #[arg(short, long = "strategies", value_name = "A,B,...", value_delimiter = ',',
          default_value = DEFAULT_STRATEGIES)]
    strategies: Vec<String>,
    /// Stop each campaign after N seconds [default: 60 if -n is not given]
    #[arg(short = 'V', long = "seconds", value_name = "N")]
    seconds: Option<f64>,
    /// Stop each campaign after N runs of the fast half
    #[arg(short = 'n', long = "runs", value_name = "N")]
    runs: Option<u64>,
    /// Number of campaigns of each strategy, with the random seeds 0, 1, ...
    #[arg(long = "seeds", value_name = "N", default_value_t = 3,
          value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    /// Number of campaigns at a time, each on one core
    #[arg(short = 'j', long = "jobs", value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: u16,
    /// Directory for the table, the plots and the campaigns; must be empty or not exist
    #[arg(short = 'o', long = "output", value_name = "DIR")]
    output: PathBuf,
    /// Report these source files as one module; can be repeated [default: each source file
    /// is a module]
    #[arg(long = "module", value_name = "NAME=FILE,...", value_parser = parse_module)]
    modules: Vec<(String, Vec<String>)>,
    /// Compare with a campaign that exists, too: a directory of `pleach run`, of a member of a
    /// fleet, or of `pleach fleet fetch`; can be repeated, also with the same name
    #[arg(long = "with", value_name = "NAME=DIR", value_parser = parse_existing)]
    existing: Vec<(String, PathBuf)>,
    /// Print one line of JSON instead of text
    #[arg(long = "json")]
    json: bool,
    /// The program and its arguments, as for `pleach run`
    #[arg(last = true, required = true, value_name = "PROGRAM [ARGS]")]
    program: Vec<OsString>,
}

/// The parsed command line.
pub struct Compare {
    pub strategies: Vec<String>,
    pub seconds: Option<f64>,
    pub runs: Option<u64>,
    pub seeds: u64,
    pub jobs: usize,
    pub output: PathBuf,
    pub modules: Vec<(String, Vec<String>)>,
    /// Campaigns that exist, with their names.
    pub existing: Vec<(String, PathBuf)>,
    pub json: bool,
    pub program: Vec<OsString>,
    /// Options that are passed on to `pleach run`.
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

fn parse_module(text: &str) -> Result<(String, Vec<String>), String> {
    let (name, files) = text.split_once('=').ok_or("must be NAME=FILE,FILE,...")?;
    let files: Vec<String> = files.split(',').filter(|f| !f.is_empty()).map(String::from).collect();
    match name.is_empty() || files.is_empty() {
        true => Err("must be NAME=FILE,FILE,...".into()),
        false => Ok((name.into(), files)),
    }
}

fn parse_existing(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, dir)) if !name.is_empty() && !dir.is_empty() => Ok((name.into(), dir.into())),
        _ => Err("must be NAME=DIR".into()),
    }
}

/// The options of `run` that are passed on.
fn passed_options() -> Vec<Arg> {
    const HEADING: &str = "Options for `pleach run`";
    let run = Campaign::augment_args(Command::new("run"));
    let is_passed = |arg: &&Arg| {
        let id = arg.get_id().as_str();
        !OWN.contains(&id) && !SHARING.contains(&id)
    };
    let describe = |arg: Arg| match arg.get_id().as_str() {
        // `-i -` is refused here.
        "input" => arg.help("Directory of seeds. Without -i, the first input is made up"),
        _ => arg,
    };
    let passed = run.get_arguments().filter(is_passed).cloned();
    passed.map(|arg| describe(arg).help_heading(HEADING)).collect()
}

/// The given options, as arguments for `run`.
fn passed_args(matches: &ArgMatches) -> Vec<OsString> {
    let mut flags = Vec::new();
    for arg in passed_options() {
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
        let seconds = own.seconds.or_else(|| own.runs.is_none().then_some(DEFAULT_SECONDS));
        let seeds = matches.try_get_one::<PathBuf>("input").ok().flatten();
        if seeds.is_some_and(|i| i.as_os_str() == "-") {
            return Err(clap::Error::raw(
                clap::error::ErrorKind::ValueValidation,
                "-i -: a comparison starts new campaigns and cannot resume one\n",
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
            existing: own.existing,
            json: own.json,
            program: own.program,
            passed: passed_args(matches),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Compare::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Compare {
    fn augment_args(command: Command) -> Command {
        Own::augment_args(command).args(passed_options())
    }

    fn augment_args_for_update(command: Command) -> Command {
        Compare::augment_args(command)
    }
}
