//! Crashes and hangs for the page: each different crash once, with its smallest input, the
//! bytes of it that matter, and the path condition of the function where it happened.

use crate::exit::Failure;
use crate::show;
use pleach_abi::event::Event;
use pleach_campaign::findings::Findings;
use pleach_campaign::minimise::shrink;
use pleach_campaign::run::Kept;
use pleach_exec::growth::Growth;
use pleach_exec::trace::Trace;
use pleach_exec::triage::{CrashId, quoted};
use pleach_exec::{CompiledTarget, End, ExecError, Layout, RunOptions, Target, TraceOptions};
use pleach_expr::Printer;
use pleach_report::counted;
use pleach_report::html::{CrashSection, replay_flags};
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// How many frames, conditions and bytes of output are in the page.
const MAX_FRAMES: usize = 64;
const MAX_CONDITIONS: usize = 80;
const MAX_OUTPUT: usize = 8 << 10;
/// How many crashes are made smaller at most.
const MAX_MINIMISED: usize = 32;
/// How long runs that hang may take together while one input is made smaller.
const HANG_TIME: Duration = Duration::from_secs(5);
/// The symbolic half may take this many times as long as the fast one.
const SYMBOLIC_FACTOR: u32 = 10;

/// The crashes that were explained already, by what tells them apart.
pub struct Crashes {
    known: HashMap<u64, Explained>,
    /// How many runs may make an input smaller.
    runs: u64,
}

/// The smallest input of a crash, and what is known of its run.
#[derive(Clone, Default)]
struct Explained {
    input: Vec<u8>,
    /// The length of the input that it was made from.
    from: usize,
    marks: Vec<(u32, u32)>,
    function: String,
    conditions: Vec<(String, String)>,
}

impl Crashes {
    pub fn new(runs: u64) -> Crashes {
        Crashes { known: HashMap::new(), runs }
    }

    /// The sections of the page: crashes first, then hangs.
    pub fn sections(
        &mut self,
        findings: &mut Findings,
        mut progress: impl FnMut(usize, usize) -> bool,
    ) -> Result<Vec<CrashSection>, Failure> {
        let groups = groups(findings);
        let all = groups.len();
        let mut sections = Vec::new();
        for (done, (key, inputs)) in groups.into_iter().enumerate() {
            if !progress(done, all) {
                break;
            }
            sections.push(self.section(findings, key, inputs)?);
        }
        Ok(sections)
    }

    /// The section of a crash. `inputs`: its inputs, the smallest first.
    fn section(
        &mut self,
        findings: &mut Findings,
        key: u64,
        inputs: Vec<usize>,
    ) -> Result<CrashSection, Failure> {
        let smallest = findings.inputs[inputs[0]].clone();
        let is_crash = smallest.kept == Kept::Crash;
        let crash = smallest.crash.clone();
        let id = crash.as_ref().and_then(|crash| crash.id.clone());
        if !self.known.contains_key(&key) {
            let bytes = smallest.read().unwrap_or_default();
            let explained = self.explain(findings, bytes, id.as_ref(), is_crash)?;
            self.known.insert(key, explained);
        }
        let explained = &self.known[&key];
        let end = smallest.end.as_ref().map_or("not run".into(), show::end);
        let mut section = CrashSection {
            title: match &id {
                Some(id) => id.kind.clone(),
                None => end,
            },
            place: smallest.site.clone().unwrap_or_default(),
            time: inputs
                .iter()
                .map(|&i| findings.inputs[i].time_ms as f64 / 1000.0)
                .reduce(f64::min),
            replay: replay(findings, inputs[0]),
            inputs,
            marks: explained.marks.clone(),
            last_function: explained.function.clone(),
            conditions: explained.conditions.clone(),
            ..CrashSection::default()
        };
        if let Some(id) = &id {
            // Of a hang, the innermost function may be none of the program, nor of a library.
            let known = id.frames.iter().filter(|f| is_crash || !f.function.is_empty());
            let frames = known.clone().take(MAX_FRAMES).map(|frame| {
                let module = frame.module.file_name().unwrap_or_default().to_string_lossy();
                (frame.function.clone(), frame.file.clone(), frame.line, module.into_owned())
            });
            section.frames = frames.collect();
            if let Some(first) = known.clone().next() {
                section.place = first.to_string();
            }
        } else if is_crash {
            section.note = Some(
                "It does not happen in a process of its own: the program keeps state between \
                 inputs. Its directory in sequences/ has the inputs before it."
                    .into(),
            );
        }
        if !is_crash {
            let ms = findings.settings.timeout_ms;
            section.note = Some(match (&id, &smallest.end) {
                (Some(_), _) if section.frames.is_empty() => {
                    format!(
                        "The program does not end within {ms} ms; it was in no function that is known."
                    )
                }
                (Some(_), _) => format!(
                    "The program does not end within {ms} ms. These functions were active \
                     whenever its stack was read."
                ),
                (None, Some(End::Timeout)) => {
                    format!(
                        "The program does not end within {ms} ms. Its stack was not read: too many inputs hang."
                    )
                }
                (None, _) => format!("It ended within {ms} ms when it ran again."),
            });
        }
        section.set_bytes(&explained.input);
        if explained.input.len() < explained.from {
            section.minimal = Some(format!(
                "Made smaller, from {} to {}. It {} at the same place{}.",
                explained.from,
                counted(explained.input.len() as u64, "byte", "bytes"),
                if is_crash { "crashes" } else { "hangs" },
                if is_crash { "; pleach tmin writes such an input to a file" } else { "" },
            ));
        }
        let output = crash.map(|crash| crash.stderr).unwrap_or_default();
        let text = String::from_utf8_lossy(&output[..output.len().min(MAX_OUTPUT)]);
        section.output = text.trim_end().to_string();
        Ok(section)
    }

    /// Makes an input smaller that crashes or hangs, and traces it.
    fn explain(
        &self,
        findings: &mut Findings,
        bytes: Vec<u8>,
        id: Option<&CrashId>,
        is_crash: bool,
    ) -> Result<Explained, Failure> {
        let timeout = Duration::from_millis(findings.settings.timeout_ms);
        let layout = findings.layout.clone();
        let target = findings.target().map_err(super::refused)?;
        let from = bytes.len();
        let mut input = bytes;
        if let Some(id) = id.filter(|_| self.runs > 0 && self.known.len() < MAX_MINIMISED) {
            input = match is_crash {
                true => {
                    let mut crashes_so =
                        |candidate: &[u8]| crashes_at(target, candidate, id.hash, timeout);
                    shrink(&input, self.runs, &mut crashes_so)?.input
                }
                false => shrink_hang(target, &input, id.hash, timeout, self.runs)?,
            };
        }
        let options = TraceOptions {
            timeout: timeout * if is_crash { SYMBOLIC_FACTOR } else { 1 },
            cpu_limit: None,
            tokens: false,
            holes: &[],
            growth: Growth::default(),
            losses: false,
        };
        let mut explained = Explained { from, ..Explained::default() };
        if let Ok(trace) = target.trace(&input, &options)?.trace {
            let labels: Vec<u32> = trace.events.iter().map(|event| event.label).collect();
            explained.marks = ranges(trace.expr.support(&labels).bytes);
            explained.describe(&trace, &layout, id);
        }
        explained.input = input;
        Ok(explained)
    }
}

impl Explained {
    /// The conditions of the function that a run was in last.
    fn describe(&mut self, trace: &Trace, layout: &Layout, id: Option<&CrashId>) {
        let name = |event: &Event| trace.place(layout, event).map(|(f, _)| show::name(f));
        let names: Vec<Option<String>> = trace.events.iter().map(name).collect();
        // The innermost function of the stack that has decided on something.
        let frames = id.into_iter().flat_map(|id| &id.frames);
        let in_stack = frames
            .map(|frame| &frame.function)
            .find(|function| names.iter().flatten().any(|name| name == *function));
        let last = in_stack.cloned().or_else(|| names.iter().rev().flatten().next().cloned());
        let Some(last) = last else { return };
        let symbols = show::symbols(layout, trace);
        let printer = Printer::new(&trace.expr, &symbols);
        let of_last = trace.events.iter().zip(&names).filter(|(_, n)| n.as_ref() == Some(&last));
        let events: Vec<&Event> = of_last.map(|(event, _)| event).collect();
        let shown = &events[events.len().saturating_sub(MAX_CONDITIONS)..];
        self.conditions = shown
            .iter()
            .map(|event| {
                let place = trace.place(layout, event);
                let place = place.map_or_else(String::new, |(f, site)| show::place(f, site));
                (place, show::condition(trace, layout, &printer, event))
            })
            .collect();
        self.function = last;
    }
}

/// True if an input crashes at the same place.
fn crashes_at(
    target: &mut CompiledTarget,
    input: &[u8],
    hash: u64,
    timeout: Duration,
) -> Result<bool, ExecError> {
    let options = RunOptions { timeout, cpu_limit: None, fresh: true, growth: Growth::default() };
    // The end first, because examining is slow.
    if !matches!(target.run(input, &options)?.end, End::Signal(_)) {
        return Ok(false);
    }
    Ok(target.examine(input)?.crash.is_some_and(|crash| crash.hash == hash))
}

/// Makes an input smaller that hangs. A run that hangs costs the whole time limit, so few of
/// them are made, and the place is compared at the end.
fn shrink_hang(
    target: &mut CompiledTarget,
    input: &[u8],
    hash: u64,
    timeout: Duration,
    runs: u64,
) -> Result<Vec<u8>, ExecError> {
    let options = RunOptions { timeout, cpu_limit: None, fresh: true, growth: Growth::default() };
    let mut left = HANG_TIME.as_millis() / timeout.as_millis().max(1);
    let mut hangs = |candidate: &[u8]| {
        if left == 0 {
            return Ok(false);
        }
        let hangs = target.run(candidate, &options)?.end == End::Timeout;
        left -= u128::from(hangs);
        Ok::<_, ExecError>(hangs)
    };
    let small = shrink(input, runs, &mut hangs)?.input;
    let is_same = target.examine(&small)?.crash.is_some_and(|crash| crash.hash == hash);
    Ok(if is_same { small } else { input.to_vec() })
}

/// The crashes and hangs, each with its inputs, the smallest first.
fn groups(findings: &Findings) -> Vec<(u64, Vec<usize>)> {
    let mut all: BTreeMap<(u8, u64), Vec<usize>> = BTreeMap::new();
    for (i, input) in findings.inputs.iter().enumerate() {
        let hash = input.crash.as_ref().and_then(|crash| crash.id.as_ref()).map(|id| id.hash);
        match input.kept {
            Kept::Queue => {}
            kept => {
                let own = pleach_hash::hash_bytes(input.name.as_bytes());
                all.entry((kept as u8, hash.unwrap_or(own))).or_default().push(i);
            }
        }
    }
    let mut groups: Vec<_> = all.into_iter().collect();
    for (_, inputs) in &mut groups {
        inputs.sort_by_key(|&i| (findings.inputs[i].len, i));
    }
    groups.sort_by_key(|((kept, _), inputs)| (*kept, findings.inputs[inputs[0]].time_ms));
    groups.into_iter().map(|((_, hash), inputs)| (hash, inputs)).collect()
}

/// The command that replays an input.
fn replay(findings: &Findings, input: usize) -> String {
    let command: Vec<String> = findings.command().iter().map(|word| quoted(word)).collect();
    let path = quoted(findings.inputs[input].path.as_os_str());
    format!("pleach replay {}{path} -- {}", replay_flags(findings), command.join(" "))
}

/// Offsets as ranges.
fn ranges(offsets: impl IntoIterator<Item = u32>) -> Vec<(u32, u32)> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for offset in offsets {
        match ranges.last_mut() {
            Some((_, end)) if *end == offset => *end += 1,
            _ => ranges.push((offset, offset + 1)),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_offsets_are_one_range() {
        assert_eq!(ranges([0, 1, 2, 5, 7, 8]), [(0, 3), (5, 6), (7, 9)]);
        assert!(ranges([]).is_empty());
    }
}
