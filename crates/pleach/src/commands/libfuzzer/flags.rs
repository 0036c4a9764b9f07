//! The flags of libFuzzer. All are `-name=value`, and every value is a number or a text.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The flags that do something, and what they do, for `-help=1`.
const USED: &[(&str, &str)] = &[
    ("help", "print this help"),
    ("runs", "number of runs; 0 runs the corpus once; -1 (the default) has no limit"),
    ("max_total_time", "stop after this many seconds; 0 (the default) has no limit"),
    ("max_len", "maximum length of an input; 0 (the default) is 4096, or the longest input"),
    ("timeout", "an input that takes this many seconds is a failure"),
    ("rss_limit_mb", "memory limit of a run, in MiB; 0 has no limit (default 2048)"),
    ("seed", "seed of the random numbers"),
    ("dict", "dictionary"),
    ("jobs", "number of workers"),
    ("workers", "maximum number of workers"),
    ("fork", "number of workers; the search continues after a failure"),
    ("merge", "add inputs of the other corpora to the first, if they cover something new"),
    ("minimize_crash", "make the given crash smaller; -runs=N limits the work"),
    ("artifact_prefix", "where crash-…, timeout-… and oom-… are written (default ./)"),
    ("exact_artifact_path", "the file for a failure, instead of a name in artifact_prefix"),
    ("print_final_stats", "print statistics at the end"),
    ("ignore_crashes", "continue after a crash"),
    ("ignore_ooms", "continue after a run without memory"),
    ("ignore_timeouts", "continue after a timeout"),
    ("error_exitcode", "exit status after a crash (default 77)"),
    ("timeout_exitcode", "exit status after a timeout (default 70)"),
    ("close_fd_mask", "has no effect: the output of the target is discarded in a search"),
];

/// Flags that change how libFuzzer searches. Pleach searches in another way.
const WITHOUT_EFFECT: &[&str] = &[
    "analyze_dict",
    "cleanse_crash",
    "collect_data_flow",
    "create_missing_dirs",
    "cross_over",
    "cross_over_uniform_dist",
    "data_flow_trace",
    "detect_leaks",
    "dump_coverage",
    "entropic",
    "entropic_feature_frequency_threshold",
    "entropic_number_of_rarest_features",
    "entropic_scale_per_exec_time",
    "experimental_len_control",
    "features_dir",
    "focus_function",
    "fork_corpus_groups",
    "handle_abrt",
    "handle_alrm",
    "handle_bus",
    "handle_fpe",
    "handle_ill",
    "handle_int",
    "handle_segv",
    "handle_term",
    "handle_trap",
    "handle_usr1",
    "handle_usr2",
    "handle_winexcept",
    "handle_xfsz",
    "interrupted_exitcode",
    "keep_seed",
    "len_control",
    "malloc_limit_mb",
    "max_number_of_runs",
    "merge_control_file",
    "merge_inner",
    "minimize_crash_internal_step",
    "mutate_depth",
    "mutation_graph_file",
    "only_ascii",
    "oom_exitcode",
    "prefer_small",
    "print_corpus_stats",
    "print_coverage",
    "print_full_coverage",
    "print_funcs",
    "print_new",
    "print_pcs",
    "purge_allocator_interval",
    "reduce_depth",
    "reduce_inputs",
    "reload",
    "report_slow_units",
    "seed_inputs",
    "set_cover_merge",
    "shrink",
    "shuffle",
    "stop_file",
    "symbolize",
    "trace_malloc",
    "try_one_by_one",
    "use_clang_coverage",
    "use_cmp",
    "use_counters",
    "use_feature_frequency",
    "use_memmem",
    "use_value_profile",
    "verbosity",
];

#[derive(Debug, Default)]
pub struct Flags {
    values: BTreeMap<String, String>,
    /// What is not a flag: corpora and files.
    pub paths: Vec<PathBuf>,
}

impl Flags {
    /// Parses a command line. Returns the warnings, too.
    pub fn parse(args: &[OsString]) -> (Flags, Vec<String>) {
        let (mut flags, mut warnings) = (Flags::default(), Vec::new());
        for arg in args {
            let text = arg.to_string_lossy();
            if !arg.as_bytes().starts_with(b"-") {
                flags.paths.push(arg.into());
                continue;
            }
            let Some((name, value)) = text[1..].split_once('=') else {
                warnings.push(match text.starts_with("--") {
                    true => format!("did you mean '{}' (single dash)?", &text[1..]),
                    false => unknown(&text),
                });
                continue;
            };
            if name == "ignore_remaining_args" && value == "1" {
                break;
            }
            match USED.iter().any(|(used, _)| *used == name) {
                true => _ = flags.values.insert(name.into(), value.into()),
                false if WITHOUT_EFFECT.contains(&name) => {
                    warnings.push(format!("flag '{text}' has no effect in Pleach"));
                }
                false if name.starts_with('-') => {
                    warnings.push(format!("did you mean '{}' (single dash)?", &text[1..]));
                }
                false => warnings.push(unknown(&text)),
            }
        }
        (flags, warnings)
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// The number of a flag; `None` if it is not given, or is negative: no limit.
    pub fn number(&self, name: &str) -> Result<Option<u64>, String> {
        let Some(text) = self.text(name) else { return Ok(None) };
        match text.parse::<i64>() {
            Ok(number) => Ok(u64::try_from(number).ok()),
            Err(_) => Err(format!("-{name}={text}: must be a number")),
        }
    }

    /// True if a flag has a number that is not 0.
    pub fn is_on(&self, name: &str) -> Result<bool, String> {
        Ok(self.number(name)?.is_some_and(|number| number != 0))
    }
}

fn unknown(text: &str) -> String {
    format!("unrecognized flag '{text}'; use -help=1 to list all flags")
}

/// What `-help=1` prints.
pub fn help(program: &str) -> String {
    let mut text = format!(
        "Usage:\n\nTo search, with some corpora; new inputs go into the first:\n  {program} \
         [-flag1=val1 [-flag2=val2 ...] ] [dir1 [dir2 ...] ]\n\nTo run files:\n  {program} \
         [-flag1=val1 ...] file1 [file2 ...]\n\nFlags: (as of libFuzzer)\n"
    );
    for (name, about) in USED {
        text.push_str(&format!(" {name:<22}{about}\n"));
    }
    text.push_str("\nOther flags of libFuzzer have no effect here.\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_paths_and_warnings_are_told_apart() {
        let args =
            ["-runs=10", "corpus", "-use_cmp=1", "-nonsense=1", "--runs=3", "-x", "-seed=-1"];
        let (flags, warnings) = Flags::parse(&args.map(OsString::from));
        assert_eq!(flags.paths, [PathBuf::from("corpus")]);
        assert_eq!(flags.number("runs"), Ok(Some(10)));
        assert_eq!(flags.number("seed"), Ok(None));
        assert_eq!(warnings.len(), 4, "{warnings:?}");
        assert!(warnings[0].contains("no effect") && warnings[1].contains("unrecognized"));
        assert!(warnings[2].contains("-runs=3") && warnings[3].contains("unrecognized"));
        let (flags, _) = Flags::parse(&["-runs=many".into()]);
        assert!(flags.number("runs").is_err());
    }
}
