//! What to write in place of the flags of AFL++ and libFuzzer.
//!
//! People come from those, and so do their scripts. A flag of theirs gets the flag of
//! `pleach run` that does the same, or the reason why there is none.

use std::ffi::{OsStr, OsString};

/// Flags of afl-fuzz that `pleach run` does not have.
const AFL: &[(&str, &str)] = &[
    (
        "-x",
        "there are no dictionaries: the words that the program compares its input with are \
         found by themselves; put other words into a seed (-i), or give a grammar (-g)",
    ),
    ("-Q", "binaries are not emulated: compile the program with `pleach cc`"),
    ("-U", "binaries are not emulated: compile the program with `pleach cc`"),
    ("-M", "one command runs all workers: -j N"),
    ("-S", "one command runs all workers: -j N"),
    ("-f", "put @@ where the name of the input file goes"),
    ("-p", "-s chooses the strategy"),
    ("-d", "leave it out: -s chooses the strategy"),
    ("-D", "leave it out: -s chooses the strategy"),
    ("-E", "-n N stops after N runs"),
    ("-G", "--max-len N bounds the inputs"),
    ("-c", "leave it out: comparisons are solved without a second binary"),
    ("-l", "leave it out: comparisons are solved without a second binary"),
    ("-a", "leave it out: a grammar (-g) says what text is"),
    ("-C", "leave it out: each crash is examined by itself"),
    ("-T", "leave it out: the title is the program's name"),
    ("-F", "-i OTHER/queue takes the inputs of another campaign as seeds"),
];

/// Flags of libFuzzer, `-name=value`, and the flag of `pleach run` for each.
const LIBFUZZER: &[(&str, &str)] = &[
    ("max_len", "--max-len N"),
    ("len_control", ""),
    ("runs", "-n N"),
    ("max_total_time", "-V N"),
    ("timeout", "-t N, in milliseconds"),
    ("rss_limit_mb", "-m N"),
    ("malloc_limit_mb", "-m N"),
    ("jobs", "-j N"),
    ("workers", "-j N"),
    ("fork", "-j N"),
    ("seed", "--seed N"),
    ("merge", "`pleach cmin`"),
    ("minimize_crash", "`pleach tmin`"),
    ("dict", ""),
    ("only_ascii", "a grammar, -g FILE"),
    ("artifact_prefix", "-o OUT"),
    ("exact_artifact_path", "-o OUT"),
    ("print_final_stats", "stats.json in the output directory"),
    ("print_pcs", ""),
    ("print_coverage", "`pleach cover`"),
    ("use_value_profile", ""),
    ("use_counters", ""),
    ("detect_leaks", "ASAN_OPTIONS=detect_leaks=1"),
    ("close_fd_mask", ""),
    ("mutate_depth", ""),
    ("cross_over", ""),
    ("shrink", ""),
    ("reduce_inputs", ""),
    ("report_slow_units", ""),
    ("reload", ""),
    ("verbosity", ""),
    ("handle_abrt", ""),
    ("handle_segv", ""),
    ("ignore_crashes", ""),
    ("ignore_timeouts", ""),
    ("ignore_ooms", ""),
    ("entropic", ""),
    ("data_flow_trace", ""),
    ("help", "`pleach run --help`"),
];

/// What to write in place of a flag of libFuzzer; `None` for anything else.
pub fn of_libfuzzer(arg: &OsStr) -> Option<String> {
    let text = arg.to_str()?;
    let (name, value) = text.strip_prefix('-')?.split_once('=')?;
    let (_, instead) = LIBFUZZER.iter().find(|(known, _)| *known == name)?;
    Some(match *instead {
        "" => format!("{text} is a flag of libFuzzer and has no counterpart here; leave it out"),
        instead => {
            let instead = match value.parse::<u64>() {
                Ok(number) if name == "timeout" => format!("-t {}", number.saturating_mul(1000)),
                Ok(_) => instead.replace(" N", &format!(" {value}")),
                Err(_) => instead.to_owned(),
            };
            format!("{text} is a flag of libFuzzer; here it is {instead}")
        }
    })
}

/// What to say of a command line of `pleach run` that has a flag of libFuzzer before
/// `--`. Such flags look like short options with a value to others.
pub fn of_command_line(args: &[OsString]) -> Option<String> {
    if args.first().is_none_or(|command| command != "run") {
        return None;
    }
    let options = args.iter().skip(1).take_while(|arg| *arg != "--");
    options.map(OsString::as_os_str).find_map(of_libfuzzer)
}

/// What to say of an option that `pleach run` does not know.
pub fn of_afl(args: &[OsString], unknown: &str) -> Option<String> {
    if args.first().is_none_or(|command| command != "run") {
        return None;
    }
    let (flag, advice) = AFL.iter().find(|(flag, _)| *flag == unknown)?;
    Some(format!("{flag} of afl-fuzz: {advice}"))
}
