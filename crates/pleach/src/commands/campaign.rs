//! `pleach run`: a campaign from the command line.

use super::grammar::{Keywords, load, parse_choices, parse_holes};
use super::try_out::try_out;
use super::{aim, inputs_in, read_input, resolve_path};
use crate::advice;
use crate::args::{Campaign as Args, Derive, HybridOptions};
use crate::exit::{Code, Failure};
use crate::memory::{default_max_memory, memory_size};
use crate::show;
use anyhow::{Context, anyhow};
use pleach_campaign::run::{
    Campaign, Dir, Disk, ExchangeSettings, GrammarSettings, Hybrid, Limits, MAX_HOLE, Settings,
    Setup, Snapshot, Source, Stats, Text, Toward, build_of,
};
use pleach_exec::Layout;
use pleach_exec::container::is_container;
use pleach_exec::process::return_large_blocks;
use pleach_exec::triage::quoted;
use pleach_grammar::analysis::writable;
use pleach_import::Ambiguity;
use pleach_report::{Panel, Size, describe_places, describe_stall, line, summary};
use pleach_search::{FirstInputs, Needs};
use pleach_template::Choices;
use std::ffi::OsString;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Defaults of the options.
const DEFAULT_STRATEGY: &str = pleach_search::STRATEGIES[0].name;
/// The strategy if there are places to get to.
const TOWARD_STRATEGY: &str = "toward";
pub const DEFAULT_TIMEOUT_MS: u64 = 1000;
const DEFAULT_MEMORY_MIB: u64 = 2048;
const DEFAULT_LEN: u64 = 16;
const DEFAULT_MAX_LEN: u64 = 64 << 10;
/// The maximum length of an input of typed calls, if `--max-len` is not given.
const DEFAULT_CALLS_LEN: u64 = 1 << 20;
/// The same for a program whose typed calls never end.
const DEFAULT_ENDLESS_LEN: u64 = 4 << 10;
/// There is a warning for a seed with more bytes than this.
const LARGE_SEED: usize = 1 << 20;
/// The first runs may exceed `-V` by this much.
const TRIAL_GRACE: Duration = Duration::from_millis(500);

pub fn run(mut args: Args) -> Result<Code, Failure> {
    return_large_blocks();
    enter_instance(&mut args)?;
    let Some((stats, program)) = search(&args)? else { return Ok(Code::Ok) };
    let mut out = show::out();
    let text =
        summary(&stats, &args.output.display().to_string(), &resume_command(&args, &program));
    let text = text + &describe_places(&stats);
    match args.json {
        true => {
            eprint!("{text}");
            writeln!(out, "{}", stats.json())?;
        }
        false if args.no_summary => {}
        false => write!(out, "{text}")?,
    }
    out.flush()?;
    Ok(Code::Ok)
}

/// Runs a campaign to its end, and shows its progress. Returns its statistics and the program
/// with its arguments, or nothing if there is nothing to search for.
pub fn search(args: &Args) -> Result<Option<(Stats, Vec<OsString>)>, Failure> {
    let resuming = args.input.as_deref() == Some(Path::new("-"));
    let earlier = match resuming {
        true => Some(Dir::settings(&args.output).map_err(Failure::user_error)?),
        false => None,
    };
    let program = match (&args.program[..], &earlier) {
        ([], Some(earlier)) => earlier.args(),
        ([], None) => {
            return Err(Failure::user_error(anyhow!("no program is given; it comes after --")));
        }
        (given, _) => given.to_vec(),
    };
    let mut notes = Vec::new();
    let seeds = match &args.input {
        Some(dir) if !resuming => read_seeds(dir, &mut notes)?,
        _ => Vec::new(),
    };
    let layout = Arc::new(Layout::private(Path::new(&program[0]))?);
    notes.extend(ignored_parts(&layout, &program));
    let Some(aim) = aim::find(&args.aim, &layout)? else {
        let mut out = show::out();
        writeln!(out, "nothing to do: no changed line has code in {}", program[0].display())?;
        out.flush()?;
        return Ok(None);
    };
    notes.extend(aim.notes);
    let mut settings = settings(args, earlier.as_ref(), &program, &seeds, aim.toward)?;
    let dictionaries = match (&args.dictionaries[..], &settings.dictionary) {
        ([], Some(earlier)) => earlier.files.iter().map(Text::os).collect(),
        (given, _) => given.to_vec(),
    };
    let words;
    (settings.dictionary, words) = super::words::load(&dictionaries, &mut notes)?;
    let strategy = pleach_search::find(&settings.strategy).map_err(Failure::user_error)?;
    let grammar = settings.grammar.as_ref().map(load_grammar).transpose()?;
    if strategy.needs == Needs::Places && settings.toward.is_empty() {
        return Err(Failure::user_error(anyhow!(
            "-s {} needs places to get to: --toward, --toward-sarif or --changed",
            strategy.name
        )));
    }
    if matches!(strategy.needs, Needs::Grammar | Needs::Tokens) && grammar.is_none() {
        return Err(Failure::user_error(anyhow!(
            "-s {} needs -g FILE, a grammar of the input",
            strategy.name
        )));
    }
    if strategy.needs == Needs::Tokens {
        super::tokens::require(&layout)?;
    }
    if strategy.live {
        check_hybrid(&settings, &seeds)?;
    }
    let workdir = settings.workdir().map_err(Failure::user_error)?;
    let fleet = args.fleet.as_deref();
    if fleet.is_some() && args.seed.is_none() && !resuming {
        // Members that draw the same random numbers would make the same mutants.
        settings.seed = RandomState::new().build_hasher().finish() >> 1;
    }
    let connect = |url| super::join::connect(url, args.creds.as_deref(), &layout, &settings);
    let connection = fleet.map(connect).transpose()?;
    // The others have seeds already.
    let is_late = connection.as_ref().is_some_and(|connection| !connection.is_new());
    let (start, time) = (Instant::now(), args.seconds.map(seconds).transpose()?);
    let trial = |seeds: &[_]| {
        let made_up = first_inputs(&settings).swap_remove(0);
        let deadline = time.and_then(|time| start.checked_add(time));
        try_out(&layout, &settings, workdir.as_ref(), seeds, &made_up, deadline)
    };
    let trial = match resuming {
        true => {
            Dir::check_same(&args.output, &settings).map_err(Failure::user_error)?;
            trial(&kept_inputs(&args.output)?)?
        }
        false => {
            Dir::check_vacant(&args.output).map_err(Failure::user_error)?;
            let mut trial = trial(&seeds)?;
            trial.notes.extend(trial.failing.take());
            trial
        }
    };
    let limits = Limits {
        runs: args.runs,
        // Slow first runs count; for fast ones, the user should see the time that -V gave.
        time: time.map(|t| t.saturating_sub(start.elapsed().saturating_sub(TRIAL_GRACE))),
        stop_on_crash: args.stop_on_crash,
        reads_nothing: trial.reads_nothing,
        stall_time: None,
    };
    let jobs = usize::from(args.jobs);
    notes.extend(trial.notes);
    let mut screen = Screen::new(args, &program, notes.clone());
    let campaign = match resuming {
        true => {
            let setup = Setup { layout, settings, limits, jobs, grammar, workdir, words, notes };
            Campaign::resume(setup, &args.output, Disk::default())?
        }
        false => {
            let mut inputs = match seeds.is_empty() {
                true if is_late => Vec::new(),
                // The strategy derives all its inputs.
                true if strategy.seeds == FirstInputs::Derived => Vec::new(),
                true if let Some(source) = &grammar => {
                    source.seeds(settings.seed).map_err(Failure::user_error)?
                }
                true => first_inputs(&settings),
                false => seeds.into_iter().map(|(_, bytes)| bytes).collect(),
            };
            let is_covering = strategy.seeds == FirstInputs::GivenAndCovering;
            if let Some(source) = grammar.as_ref().filter(|_| is_covering && !is_late) {
                inputs.extend(source.covering().map_err(Failure::user_error)?);
            }
            let setup = Setup { layout, settings, limits, jobs, grammar, workdir, words, notes };
            Campaign::begin(setup, inputs, &args.output, Disk::default())?
        }
    };
    let campaign = match connection {
        Some(connection) => {
            let fleet = connection.join(&args.output);
            campaign.join(fleet.map_err(|error| Failure::user_error(anyhow!(error)))?)
        }
        None => campaign,
    };
    for note in &screen.notes {
        eprintln!("pleach: warning: {note}");
    }
    let flag = campaign.stop_flag();
    for signal in
        [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP]
    {
        // A second signal ends the driver at once; the wardens clean up.
        signal_hook::flag::register_conditional_shutdown(signal, 130, flag.clone())?;
        signal_hook::flag::register(signal, flag.clone())?;
    }
    let stats = campaign.run(|snapshot| screen.show(snapshot))?;
    Ok(Some((stats, program)))
}

/// Warnings for what Pleach ignores in a fuzz target: flags of libFuzzer among its arguments,
/// and its own mutation.
fn ignored_parts(layout: &Layout, program: &[OsString]) -> Vec<String> {
    let functions = &layout.fast.functions;
    if functions.iter().all(|f| f.name != "LLVMFuzzerTestOneInput") {
        return Vec::new();
    }
    let advice = program.iter().skip(1).filter_map(|arg| advice::for_libfuzzer_flag(arg));
    let flags = advice.map(|advice| format!("the program ignores its flags: {advice}"));
    let unused = ["LLVMFuzzerCustomMutator", "LLVMFuzzerCustomCrossOver"];
    let unused = unused.iter().filter(|name| functions.iter().any(|f| f.name == **name));
    let unused = unused.map(|name| format!("{name} is not used: Pleach has its own mutation"));
    flags.chain(unused).collect()
}

/// Shows the progress: a panel on a terminal, lines elsewhere.
struct Screen {
    panel: Option<Panel>,
    last: Option<Instant>,
    /// Notes that are printed already.
    notes: Vec<String>,
}

impl Screen {
    fn new(args: &Args, program: &[OsString], notes: Vec<String>) -> Screen {
        let terminal = std::io::stderr().is_terminal();
        let colour = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
        let name = Path::new(&program[0]).file_name().unwrap_or_default().to_string_lossy();
        let title = format!("pleach  {name}  in {}", args.output.display());
        Screen { panel: terminal.then(|| Panel::new(title, colour)), last: None, notes }
    }

    fn show(&mut self, snapshot: &Snapshot) {
        for stall in &snapshot.stalls {
            match &mut self.panel {
                Some(panel) => panel.show_stall(stall),
                None => eprintln!("pleach: warning: {}", describe_stall(stall)),
            }
        }
        let has_ended = snapshot.stats.stop.is_some();
        let pause = Duration::from_millis(if self.panel.is_some() { 250 } else { 5000 });
        if !has_ended && self.last.is_some_and(|l| l.elapsed() < pause) {
            return;
        }
        self.last = Some(Instant::now());
        if self.panel.is_none() {
            for note in &snapshot.stats.notes {
                if !self.notes.contains(note) {
                    eprintln!("pleach: warning: {note}");
                    self.notes.push(note.clone());
                }
            }
        }
        let text = match &mut self.panel {
            Some(panel) => panel.draw(snapshot, terminal_size()),
            None => format!("{}\n", line(snapshot)),
        };
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
}

/// The current size of the terminal that standard error is on.
fn terminal_size() -> Size {
    let size = terminal_size::terminal_size_of(std::io::stderr());
    size.map_or_else(Size::default, |(columns, rows)| Size {
        columns: columns.0.into(),
        rows: rows.0.into(),
    })
}

fn settings(
    args: &Args,
    earlier: Option<&Settings>,
    program: &[OsString],
    seeds: &[(PathBuf, Vec<u8>)],
    toward: Vec<Toward>,
) -> Result<Settings, Failure> {
    let executable = Path::new(&program[0]);
    let build = build_of(executable).with_context(|| executable.display().to_string());
    let longest = seeds.iter().map(|(_, b)| b.len() as u64).max().unwrap_or(0);
    let max_memory = match &args.max_memory {
        Some(text) => Some(
            memory_size(text)
                .map_err(|why| Failure::user_error(anyhow!("--max-memory {text}: {why}")))?,
        ),
        None => None,
    };
    // An option that is not given is taken from the resumed campaign, or else its default.
    macro_rules! or_earlier {
        ($given:expr, $field:ident, $default:expr) => {
            $given.clone().or(earlier.map(|e| e.$field.clone())).unwrap_or($default)
        };
    }
    let extension = seeds.first().and_then(|(path, _)| super::extension(path));
    let extension = extension.map(|e| Text::new(&e));
    // Make paths absolute: targets have another working directory, and the campaign may be
    // resumed from elsewhere.
    let cwd = match &args.cwd {
        Some(dir) => Some(Text::new(std::path::absolute(dir)?.as_os_str())),
        None => earlier.and_then(|e| e.cwd.clone()),
    };
    let within = cwd.as_ref().map(|dir| PathBuf::from(dir.os()));
    let resolve = |a: &OsString| Text::new(&resolve_path(a, within.as_deref()));
    let mut command: Vec<Text> = program.iter().map(resolve).collect();
    command[0] = Text::new(std::path::absolute(executable)?.as_os_str());
    let default = if toward.is_empty() { DEFAULT_STRATEGY } else { TOWARD_STRATEGY };
    let strategy: String = or_earlier!(args.strategy, strategy, default.into());
    // Limits that hold only if `--max-len` is not given.
    let without_max_len = |limit: u64, of: fn(&Settings) -> Option<u64>| match earlier {
        Some(earlier) => of(earlier),
        None => args.max_len.is_none().then_some(limit.max(longest)),
    };
    Ok(Settings {
        version: earlier.map_or(env!("CARGO_PKG_VERSION").into(), |e| e.version.clone()),
        program: command,
        build: build.map_err(Failure::user_error)?,
        strategy,
        seed: or_earlier!(args.seed, seed, 0),
        timeout_ms: or_earlier!(args.timeout, timeout_ms, DEFAULT_TIMEOUT_MS),
        adaptive: args.timeout.is_none() && earlier.is_none_or(|e| e.adaptive),
        memory_mib: or_earlier!(args.memory, memory_mib, DEFAULT_MEMORY_MIB),
        max_memory: or_earlier!(max_memory, max_memory, default_max_memory()),
        len: or_earlier!(args.len, len, DEFAULT_LEN),
        max_len: or_earlier!(args.max_len, max_len, DEFAULT_MAX_LEN.max(longest)),
        calls_len: without_max_len(DEFAULT_CALLS_LEN, |e| e.calls_len),
        endless_len: without_max_len(DEFAULT_ENDLESS_LEN, |e| e.endless_len),
        depth: or_earlier!(args.depth, depth, u32::MAX),
        flip_share_percent: or_earlier!(args.flip_share, flip_share_percent, 100),
        socket: args.socket || earlier.is_some_and(|e| e.socket),
        tty: args.tty.or(earlier.and_then(|e| e.tty)),
        extension: or_earlier!(extension, extension, Text::default()),
        cwd,
        grammar: match &args.grammar {
            Some(file) => Some(grammar_settings(file, &args.derive)?),
            None => earlier.and_then(|e| e.grammar.clone()),
        },
        hybrid: hybrid_settings(&args.hybrid, earlier),
        exchange: exchange_settings(args, earlier)?,
        // The words are read below.
        dictionary: earlier.and_then(|e| e.dictionary.clone()),
        toward: match earlier {
            Some(earlier) if toward.is_empty() => earlier.toward.clone(),
            _ => toward,
        },
    })
}

/// With `-M` or `-S`, the campaign is in a directory of the output directory.
fn enter_instance(args: &mut Args) -> Result<(), Failure> {
    let Some(name) = args.main.as_ref().or(args.secondary.as_ref()) else { return Ok(()) };
    if args.output.join("queue").exists() || args.output.join("run.toml").exists() {
        return Err(Failure::user_error(anyhow!(
            "{}: is the directory of one campaign; with -M and -S, -o names the directory of \
             all instances",
            args.output.display()
        )));
    }
    args.output = args.output.join(name);
    Ok(())
}

/// The exchange that the options ask for, or that of the resumed campaign.
fn exchange_settings(args: &Args, earlier: Option<&Settings>) -> Result<ExchangeSettings, Failure> {
    let earlier = earlier.map(|e| e.exchange.clone()).unwrap_or_default();
    let absolute = |dir: &PathBuf| std::path::absolute(dir).map(|p| Text::new(p.as_os_str()));
    let from = match &args.from[..] {
        [] => earlier.from,
        given => given.iter().map(absolute).collect::<Result<_, _>>()?,
    };
    for dir in args.from.iter().filter(|dir| !dir.exists()) {
        let dir = dir.display();
        eprintln!("pleach: warning: -F {dir}: does not exist; its files are taken when it does");
    }
    if let Some(file) = args.from.iter().find(|dir| dir.is_file()) {
        return Err(Failure::user_error(anyhow!("-F {}: is not a directory", file.display())));
    }
    Ok(match (&args.main, &args.secondary) {
        (Some(name), _) => ExchangeSettings { from, name: Some(name.clone()), main: true },
        (_, Some(name)) => ExchangeSettings { from, name: Some(name.clone()), main: false },
        _ => ExchangeSettings { from, ..earlier },
    })
}

fn grammar_settings(file: &Path, derive: &Derive) -> Result<GrammarSettings, Failure> {
    let hash = |file: &Path| {
        let hash = build_of(file).with_context(|| file.display().to_string());
        hash.map_err(Failure::user_error)
    };
    let absolute = |file: &Path| std::path::absolute(file).map(|p| Text::new(p.as_os_str()));
    let lexer = derive.lexer.as_deref();
    let keywords = || derive.keywords.keywords.iter().map(PathBuf::as_path);
    let files = [file].into_iter().chain(lexer).chain(keywords());
    Ok(GrammarSettings {
        file: absolute(file)?,
        lexer: lexer.map(absolute).transpose()?,
        keywords: keywords().map(absolute).collect::<Result<_, _>>()?,
        caseless_keywords: derive.keywords.caseless_keywords,
        build: files.map(hash).collect::<Result<_, _>>()?,
        max_length: derive.max_length,
        max_height: derive.max_height,
        tokens: derive.tokens,
        per_string: derive.per_string.unwrap_or(u32::MAX),
        keep: derive.keep.clone(),
        one: derive.one.clone(),
        many: derive.many.clone(),
        holes: derive.holes.clone(),
        relaxed: derive.relax_holes,
        max_hole: derive.max_hole.unwrap_or(MAX_HOLE),
    })
}

pub fn load_grammar(asked: &GrammarSettings) -> Result<Source, Failure> {
    let path = |text: &Text| PathBuf::from(text.os());
    let keywords = Keywords {
        keywords: asked.keywords.iter().map(path).collect(),
        caseless_keywords: asked.caseless_keywords,
    };
    let lexer = asked.lexer.as_ref().map(path);
    let grammar = load(&path(&asked.file), lexer.as_deref(), &keywords, Ambiguity::Keep)?;
    let abstractions = parse_choices(&grammar, &asked.keep, &asked.one, &asked.many)?;
    let holes = parse_holes(&grammar, &asked.holes)?;
    let choices = Choices { abstractions, holes, relaxed: asked.relaxed };
    // Leave out what cannot be generated: tokens without a known text.
    let Some(grammar) = writable(&grammar).map(Arc::new) else {
        return Err(Failure::user_error(anyhow!(
            "{}: every sentence has a token whose text is unknown; give a lexer (--lexer) or \
             keywords (--keywords)",
            asked.file
        )));
    };
    Ok(Source { grammar, choices })
}

/// Refuses settings that hybrid search does not support.
fn check_hybrid(settings: &Settings, seeds: &[(PathBuf, Vec<u8>)]) -> Result<(), Failure> {
    let explore = pleach_search::find(&settings.hybrid.explore)
        .map_err(|unknown| Failure::user_error(anyhow!("--explore: {unknown}")))?;
    if explore.live {
        return Err(Failure::user_error(anyhow!(
            "--explore: the strategy of a search cannot be hybrid itself"
        )));
    }
    if explore.needs == Needs::Grammar {
        return Err(Failure::user_error(anyhow!(
            "--explore: a search from a live state cannot use a grammar"
        )));
    }
    match seeds.iter().find(|(_, bytes)| is_container(bytes)) {
        Some((path, _)) => Err(Failure::user_error(anyhow!(
            "{}: has several streams; hybrid search supports only one",
            path.display()
        ))),
        None => Ok(()),
    }
}

/// The settings of hybrid search: the given options, or those of the resumed campaign.
fn hybrid_settings(given: &HybridOptions, earlier: Option<&Settings>) -> Hybrid {
    let earlier = earlier.map(|e| e.hybrid.clone()).unwrap_or_default();
    Hybrid {
        enough: given.enough.unwrap_or(earlier.enough),
        saturation: given.saturation.unwrap_or(earlier.saturation),
        budget: given.budget.unwrap_or(earlier.budget),
        ahead: given.ahead.unwrap_or(earlier.ahead),
        explore: given.explore.clone().unwrap_or(earlier.explore),
        uniform: given.uniform.unwrap_or(earlier.uniform),
    }
}

/// Reads the files of a directory, sorted by name. Adds warnings to the notes.
fn read_seeds(dir: &Path, notes: &mut Vec<String>) -> Result<Vec<(PathBuf, Vec<u8>)>, Failure> {
    if dir.is_file() {
        let message = "is a file; -i takes a directory with one seed in each file";
        return Err(Failure::user_error(anyhow!("{}: {message}", dir.display())));
    }
    let context = || dir.display().to_string();
    let entries = std::fs::read_dir(dir).with_context(context).map_err(Failure::user_error)?;
    let (mut paths, mut directories) = (Vec::new(), 0);
    for entry in entries {
        let path = entry.with_context(context).map_err(Failure::user_error)?.path();
        let hidden = path.file_name().is_some_and(|n| n.as_encoded_bytes().starts_with(b"."));
        if !hidden && path.is_file() {
            paths.push(path);
        } else if !hidden && path.is_dir() {
            directories += 1;
        }
    }
    paths.sort();
    let skipped = match directories {
        0 => String::new(),
        1 => "1 subdirectory is not read".into(),
        n => format!("{n} subdirectories are not read"),
    };
    if paths.is_empty() {
        let skipped = if directories > 0 { format!("; {skipped}") } else { skipped };
        return Err(Failure::user_error(anyhow!("{}: no seeds in it{skipped}", dir.display())));
    }
    if directories > 0 {
        notes.push(format!("{}: {skipped}", dir.display()));
    }
    let seeds = paths.into_iter().map(|path| Ok((path.clone(), read_input(&path)?)));
    let seeds: Vec<_> = seeds.collect::<Result<_, Failure>>()?;
    notes.extend(large_seed_note(&seeds));
    Ok(seeds)
}

/// A warning that names the largest seed, if it is so large that the search becomes slow.
fn large_seed_note(seeds: &[(PathBuf, Vec<u8>)]) -> Option<String> {
    let large = seeds.iter().filter(|(_, bytes)| bytes.len() > LARGE_SEED);
    let (path, bytes) = large.clone().max_by_key(|(_, bytes)| bytes.len())?;
    let others = match large.count() - 1 {
        0 => String::new(),
        n => format!(" ({n} more are over 1 MiB)"),
    };
    Some(format!(
        "{}: this seed has {} bytes{others}; large seeds make every run and trace slow; `pleach \
         tmin` makes seeds smaller",
        path.display(),
        bytes.len()
    ))
}

/// The first inputs in the queue of a campaign.
fn kept_inputs(out: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>, Failure> {
    let paths = inputs_in(out, &["queue"])?.into_iter().take(super::try_out::MAX_TRIED);
    paths.map(|path| Ok((path.clone(), read_input(&path)?))).collect()
}

/// The inputs of a campaign without seeds: zeros, as in CREST. The default strategy also
/// gets spaces, which many parsers skip.
fn first_inputs(settings: &Settings) -> Vec<Vec<u8>> {
    let len = usize::try_from(settings.len).unwrap_or(0);
    let mut inputs = vec![vec![0; len]];
    if settings.strategy == DEFAULT_STRATEGY && len > 0 {
        inputs.push(vec![b' '; len]);
    }
    inputs
}

fn seconds(n: f64) -> Result<Duration, Failure> {
    Duration::try_from_secs_f64(n)
        .map_err(|_| Failure::user_error(anyhow!("-V {n}: must be a number of seconds")))
}

/// The command that resumes a campaign.
fn resume_command(args: &Args, program: &[OsString]) -> String {
    let mut words = vec!["pleach".into(), "run".into(), "-i".into(), "-".into(), "-o".into()];
    words.push(quoted(args.output.as_os_str()));
    if let Some(url) = &args.fleet {
        words.extend(super::join::options(url, args.creds.as_deref()));
    }
    words.push("--".into());
    words.extend(program.iter().map(|w| quoted(w)));
    words.join(" ")
}
