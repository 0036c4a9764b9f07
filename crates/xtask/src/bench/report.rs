//! The report of `./x bench trace`: JSON for programs, tables for people.

use std::fmt::Write;
use std::process::{Command, Stdio};

use anyhow::Result;
use serde::Serialize;

use super::compile::Compile;
use super::cpu::{self, Cpu};
use super::machine::Machine;
use super::one_input::{Micros, OneInput};
use crate::project;

#[derive(Serialize)]
pub struct Report {
    machine: Setup,
    pub one_input: Vec<OneInput>,
    pub cpu: Vec<Cpu>,
    pub compile: Vec<Compile>,
}

/// The machine and compilers that the numbers were measured with.
#[derive(Serialize)]
struct Setup {
    #[serde(flatten)]
    machine: Machine,
    clang: String,
    afl: Option<String>,
}

impl Report {
    pub fn new() -> Result<Report> {
        Ok(Report {
            machine: Setup {
                machine: Machine::here()?,
                clang: clang_version(project::CLANG).unwrap_or_default(),
                afl: clang_version("afl-clang-fast"),
            },
            one_input: Vec::new(),
            cpu: Vec::new(),
            compile: Vec::new(),
        })
    }

    pub fn markdown(&self) -> String {
        let mut out = String::new();
        let (m, clang) = (&self.machine.machine, &self.machine.clang);
        line(&mut out, &format!("{}, {} cores, Linux {}; {clang}", m.processor, m.cores, m.kernel));
        if let Some(afl) = &self.machine.afl {
            line(&mut out, &format!("afl-clang-fast compiles with {afl}"));
        }
        self.one_input.iter().for_each(|row| one_input(&mut out, row));
        if !self.cpu.is_empty() {
            self.cpu_table(&mut out);
        }
        if !self.compile.is_empty() {
            self.compile_table(&mut out);
        }
        out
    }

    fn cpu_table(&self, out: &mut String) {
        line(
            out,
            "\nCPU-bound, no symbolic input (processor time; ratios to the plain -O2 build):\n",
        );
        line(out, "| program  |   plain | fast half | symbolic half | afl-clang-fast |");
        line(out, "|----------|--------:|----------:|--------------:|---------------:|");
        let ratio = |r: Option<f64>| r.map_or("-".to_string(), |r| format!("{r:.2}×"));
        for row in &self.cpu {
            line(
                out,
                &format!(
                    "| {:8} | {:>4.0} ms | {:>8.2}× | {:>12.2}× | {:>14} |",
                    row.program,
                    row.plain_ms,
                    row.fast,
                    row.symbolic,
                    ratio(row.afl)
                ),
            );
        }
        let (fast, symbolic, afl) = cpu::means(&self.cpu);
        line(
            out,
            &format!(
                "| **mean** |         | {fast:>8.2}× | {symbolic:>12.2}× | {:>14} |",
                ratio(afl)
            ),
        );
    }

    fn compile_table(&self, out: &mut String) {
        line(out, "\nCompiling one file with -O2 -c:\n");
        line(
            out,
            "| file         | clang, CPU | Pleach, CPU | ratio | clang, elapsed | Pleach, elapsed | ratio |",
        );
        line(
            out,
            "|--------------|-----------:|------------:|------:|---------------:|----------------:|------:|",
        );
        for row in &self.compile {
            line(
                out,
                &format!(
                    "| {:12} | {:>8.2} s | {:>9.2} s | {:>4.1}× | {:>12.2} s | {:>13.2} s | {:>4.1}× |",
                    row.file,
                    row.plain_cpu_s,
                    row.pleach_cpu_s,
                    row.cpu_ratio(),
                    row.plain_wall_s,
                    row.pleach_wall_s,
                    row.wall_ratio(),
                ),
            );
        }
    }
}

fn one_input(out: &mut String, row: &OneInput) {
    line(
        out,
        &format!(
            "\nOne input of {} bytes, {}: {} events, {} nodes, {:.1} MiB resident\n",
            row.input_bytes,
            row.program,
            row.events,
            row.nodes,
            row.trace_rss_kib as f64 / 1024.0
        ),
    );
    line(
        out,
        "| run                        | CPU of the run | with its parent's | elapsed  | ratio |",
    );
    line(
        out,
        "|----------------------------|---------------:|------------------:|---------:|------:|",
    );
    let mut entry = |what: &str, m: &Micros| {
        line(
            out,
            &format!(
                "| {what:26} | {:>11.0} µs | {:>14.0} µs | {:>5.0} µs | {:>4.2}× |",
                m.run_cpu,
                m.all_cpu,
                m.wall,
                m.run_cpu / row.plain_exec.run_cpu
            ),
        );
    };
    entry("plain, fork and exec", &row.plain_exec);
    entry("fast half, fork server", &row.fast_server);
    entry("trace, fork server", &row.trace);
}

fn line(out: &mut String, text: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{text}");
}

/// The line of `--version` that contains clang's version.
fn clang_version(compiler: &str) -> Option<String> {
    let output = Command::new(compiler).arg("--version").stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().find(|line| line.contains("clang version")).map(str::to_string)
}
