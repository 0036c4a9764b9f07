//! Advice for users of AFL++ and libFuzzer: for a flag of those tools, the option of `pleach
//! run` that does the same, or why there is none.

use std::ffi::{OsStr, OsString};

/// Flags of afl-fuzz that `pleach run` does not have.
const AFL: &[(&str, &str)] = &[
    ("-Q", "there is no emulation of binaries: compile the program with `pleach cc`"),
    ("-U", "there is no emulation of binaries: compile the program with `pleach cc`"),
    ("-f", "put @@ where the name of the input file goes"),
    ("-p", "-s chooses the strategy"),
    ("-d", "leave it out: -s chooses the strategy"),
    ("-D", "leave it out: -s chooses the strategy"),
    ("-E", "-n N stops after N runs"),
    ("-G", "--max-len N limits the length of inputs"),
    ("-c", "leave it out: comparisons are solved without a second binary"),
    ("-l", "leave it out: comparisons are solved without a second binary"),
    ("-a", "leave it out: a grammar (-g) describes text"),
    ("-C", "leave it out: every new crash is examined anyway"),
    ("-T", "leave it out: the title is the program's name"),
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
    ("dict", "-x FILE"),
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

/// The advice for a flag of libFuzzer; `None` for anything else.
pub fn for_libfuzzer_flag(arg: &OsStr) -> Option<String> {
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

/// The advice for a command line of `pleach run` with a flag of libFuzzer before `--`. (clap
/// would take such a flag for several short options.)
pub fn for_libfuzzer_flags(args: &[OsString]) -> Option<String> {
    if args.first().is_none_or(|command| command != "run") {
        return None;
    }
    let options = args.iter().skip(1).take_while(|arg| *arg != "--");
    options.map(OsString::as_os_str).find_map(for_libfuzzer_flag)
}

/// The advice for an unknown option of `pleach run` that afl-fuzz has.
pub fn for_afl_flag(args: &[OsString], unknown: &str) -> Option<String> {
    if args.first().is_none_or(|command| command != "run") {
        return None;
    }
    let (flag, advice) = AFL.iter().find(|(flag, _)| *flag == unknown)?;
    Some(format!("{flag} of afl-fuzz: {advice}"))
}
