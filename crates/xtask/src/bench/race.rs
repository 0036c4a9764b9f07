//! `./x bench run`: counts the branches that `pleach run` covers, and those of AFL++ with
//! its defaults and with comparison logging. Each runs on one core, from the same seed
//! input, for the same time. See `contest`.

use std::path::Path;

use anyhow::{Result, bail};

use super::contest::program::Program;
use super::contest::{self, ContestArgs, Contestant, Entry};

#[derive(clap::Args)]
pub struct Args {
    /// Programs (see `./x subjects list`), or `calc` for the calculator in examples/
    /// [default: calc and every program that defines how to fuzz it]
    programs: Vec<String>,
    /// Seconds for each run
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Strategies of pleach run; each is a contestant
    #[arg(long, value_delimiter = ',', default_value = "auto")]
    strategy: Vec<String>,
    /// Factors for the share of flips (--flip-share of pleach run); each is a contestant
    #[arg(long, value_delimiter = ',', default_value = "1", value_name = "FACTOR,...")]
    flip_share: Vec<f64>,
    #[command(flatten)]
    contest: ContestArgs,
}

pub fn run(args: &Args) -> Result<bool> {
    let programs = Program::all()?;
    let known: Vec<&str> = programs.iter().map(|p| p.name.as_str()).collect();
    if let Some(name) = args.programs.iter().find(|n| !known.contains(&n.as_str())) {
        bail!("there is no program {name} to fuzz; there are {}", known.join(", "));
    }
    let contestants = args.contest.choose(contestants(args))?;
    let is_chosen = |p: &&Program| args.programs.is_empty() || args.programs.contains(&p.name);
    let no_sentences = |_: u64, _: &Path| bail!("there is no grammar");
    let entries: Vec<Entry> = programs
        .iter()
        .filter(is_chosen)
        .map(|program| Entry {
            program,
            contestants: contestants.clone(),
            write_sentences: &no_sentences,
        })
        .collect();
    contest::hold("run", &entries, args.seconds, &args.contest)?;
    Ok(true)
}

/// `pleach run` with each strategy and share of flips, then AFL++. The plain one is called
/// `pleach`.
fn contestants(args: &Args) -> Vec<Contestant> {
    let mut all = Vec::new();
    for strategy in &args.strategy {
        for factor in &args.flip_share {
            let (mut name, factor) = (String::from("pleach"), factor.to_string());
            let mut flags = vec!["-s", strategy];
            if strategy != "auto" {
                name += &format!("-{strategy}");
            }
            if factor != "1" {
                name += &format!("-flips-{factor}");
                flags.extend(["--flip-share", &factor]);
            }
            all.push(Contestant::pleach(&name, &flags));
        }
    }
    all.extend([Contestant::afl(), Contestant::cmplog()]);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        args: Args,
    }

    fn parse(words: &[&str]) -> Args {
        Cli::parse_from([&["run"], words].concat()).args
    }

    #[test]
    fn each_share_of_flips_is_a_contestant() {
        let args = parse(&["bc", "--flip-share", "0.5,1,2", "--seeds", "2"]);
        let got: Vec<_> = contestants(&args).into_iter().map(|c| (c.name, c.knobs)).collect();
        let expected = [
            ("pleach-flips-0.5", "-s auto --flip-share 0.5"),
            ("pleach", "-s auto"),
            ("pleach-flips-2", "-s auto --flip-share 2"),
            ("afl", ""),
            ("cmplog", "-c"),
        ];
        assert_eq!(got, expected.map(|(name, knobs)| (name.into(), knobs.into())));
    }

    #[test]
    fn contestants_are_chosen_by_name() {
        let args = parse(&["--only", "pleach,cmplog"]);
        let chosen = args.contest.choose(contestants(&args)).unwrap();
        let names: Vec<&str> = chosen.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["pleach", "cmplog"]);
        let args = parse(&["--only", "honggfuzz"]);
        let error = args.contest.choose(contestants(&args)).unwrap_err().to_string();
        assert!(error.contains("pleach, afl, cmplog"), "{error}");
    }
}
