//! Builds the files that `pleach-cc` embeds: the runtime's two archives, the
//! small objects in `link/`, and the headers. This script writes a table of
//! them, which `src/runtime.rs` includes.
//!
//! A separate cargo process builds the runtime, because the runtime has another
//! panic strategy and no standard library. No flag of the outer build may reach
//! it: every target gets the same runtime, however the compiler was built.

use std::collections::hash_map::DefaultHasher;
use std::fmt::Write;
use std::hash::Hasher;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let out = PathBuf::from(var("OUT_DIR"));
    let manifest = PathBuf::from(var("CARGO_MANIFEST_DIR"));
    let crates = manifest.parent().expect("the crate is in a folder");
    let runtime = crates.join("pleach-rt");
    let link = manifest.join("link");
    for path in [&runtime, &crates.join("pleach-abi"), &link] {
        watch(path);
    }
    println!("cargo::rerun-if-env-changed=LLVM_SYS_221_PREFIX");

    let mut files: Vec<(String, PathBuf)> = Vec::new();
    let mut lists = String::new();
    for half in ["fast", "symbolic"] {
        let archive = build_runtime(&runtime, half, &out);
        let name = format!("{}_MODELS", half.to_uppercase());
        writeln!(lists, "pub const {name}: &[&str] = &{:?};", models(&archive))
            .expect("writing to a string cannot fail");
        files.push((format!("lib/libpleach_rt_{half}.a"), archive));
    }
    for name in ["counters", "shared_fast", "shared_symbolic"] {
        files.push((format!("lib/{name}.o"), compile(&link, name, &out)));
    }
    let fuzzer = out.join("libpleach_fuzzer.a");
    make_archive(&fuzzer, &[compile(&link, "fuzzer", &out), compile(&link, "mutate", &out)]);
    files.push(("lib/libpleach_fuzzer.a".into(), fuzzer));
    files.push(("lib/libstdcxx.cc".into(), link.join("libstdcxx.cc")));
    for header in ["pleach.h", "crest.h", "klee/klee.h"] {
        files.push((format!("include/{header}"), runtime.join("include").join(header)));
    }
    write_table(&files, &lists, &out.join("embedded.rs"));
}

/// Builds one archive of the runtime. The libc models become weak symbols, so
/// that a program may define its own.
fn build_runtime(runtime: &Path, half: &str, out: &Path) -> PathBuf {
    let target = out.join(format!("rt-{half}"));
    let mut cargo = Command::new(var("CARGO"));
    cargo
        .args(["build", "--release", "--features", half, "--manifest-path"])
        .arg(runtime.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        .current_dir(runtime);
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        let kept = ["CARGO", "CARGO_HOME", "CARGO_MAKEFLAGS", "CARGO_NET_OFFLINE"];
        let leaks = name.starts_with("CARGO") && !kept.contains(&name.as_str());
        let rust =
            ["RUSTFLAGS", "RUSTDOCFLAGS", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "RUSTC"];
        if leaks || rust.contains(&name.as_str()) {
            cargo.env_remove(name);
        }
    }
    run(&mut cargo);
    let built = target.join("release/libpleach_rt.a");
    let object = out.join(format!("pleach_rt_{half}.o"));
    let (own, rest) = split_archive(&built, &out.join(format!("members-{half}")));
    run(tool("ld.lld").args(["-r", "-o"]).arg(&object).args(&own).arg(&rest));
    let hidden = out.join(format!("hidden-{half}.txt"));
    std::fs::write(&hidden, symbols(&rest).join("\n")).expect("OUT_DIR can be written to");
    run(tool("llvm-objcopy")
        .args(["--wildcard", "--weaken-symbol=__pleach_m_*", "--strip-debug"])
        // Programs of SV-COMP and Test-Comp may define these themselves.
        .args(["--weaken-symbol=__VERIFIER_*", "--weaken-symbol=reach_error"])
        .arg(format!("--localize-symbols={}", hidden.display()))
        .arg(&object));
    let archive = out.join(format!("libpleach_rt_{half}.a"));
    make_archive(&archive, &[object]);
    archive
}

/// Splits a static library into the runtime's own objects and an archive of the
/// others. The others are the Rust compiler's helpers, and they define names
/// such as `log`. If these names were visible, a program that forgot `-lm` would
/// link. So the caller links the helpers into the runtime's object and hides
/// their names.
fn split_archive(archive: &Path, dir: &Path) -> (Vec<PathBuf>, PathBuf) {
    let _ = std::fs::remove_dir_all(dir);
    std::fs::create_dir_all(dir).expect("OUT_DIR can be written to");
    run(tool("llvm-ar").arg("x").arg(archive).current_dir(dir));
    let members = std::fs::read_dir(dir).expect("it was just created").flatten().map(|e| e.path());
    let (own, others): (Vec<PathBuf>, Vec<PathBuf>) = members
        .partition(|p| p.file_name().is_some_and(|n| n.to_string_lossy().starts_with("pleach_rt")));
    let rest = dir.join("rest.a");
    make_archive(&rest, &others);
    (own, rest)
}

fn make_archive(archive: &Path, members: &[PathBuf]) {
    // llvm-ar would add to an existing archive.
    let _ = std::fs::remove_file(archive);
    run(tool("llvm-ar").arg("rcs").arg(archive).args(members));
}

fn symbols(archive: &Path) -> Vec<String> {
    let output = tool("llvm-nm")
        .args(["--defined-only", "--extern-only", "--format=just-symbols", "--quiet"])
        .arg(archive)
        .output()
        .expect("llvm-nm is part of LLVM 22");
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines()
        .map(|l| l.trim().to_owned())
        .filter(|l| !l.is_empty() && !l.ends_with(':'))
        .collect()
}

/// The functions that an archive has models for, sorted.
fn models(archive: &Path) -> Vec<String> {
    let mut all: Vec<String> = symbols(archive)
        .iter()
        .filter_map(|s| s.strip_prefix("__pleach_m_"))
        .map(str::to_owned)
        .collect();
    all.sort();
    all.dedup();
    all
}

fn compile(link: &Path, name: &str, out: &Path) -> PathBuf {
    let object = out.join(format!("{name}.o"));
    run(tool("clang")
        .args(["-O2", "-fPIC", "-Wall", "-Werror", "-ffreestanding", "-c"])
        .arg(link.join(format!("{name}.c")))
        .arg("-o")
        .arg(&object));
    object
}

fn write_table(files: &[(String, PathBuf)], lists: &str, to: &Path) {
    let mut hash = DefaultHasher::new();
    let mut table = String::from("pub const FILES: &[(&str, &[u8])] = &[\n");
    for (name, path) in files {
        hash.write(name.as_bytes());
        hash.write(&std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display())));
        writeln!(table, "    ({name:?}, include_bytes!({path:?})),")
            .expect("writing to a string cannot fail");
    }
    writeln!(table, "];\n{lists}pub const HASH: &str = \"{:016x}\";", hash.finish())
        .expect("writing to a string cannot fail");
    std::fs::write(to, table).expect("OUT_DIR can be written to");
}

fn tool(name: &str) -> Command {
    let prefix = std::env::var_os("LLVM_SYS_221_PREFIX").unwrap_or("/usr/lib/llvm-22".into());
    Command::new(Path::new(&prefix).join("bin").join(name))
}

fn run(command: &mut Command) {
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{command:?}: {status}"),
        Err(e) => panic!("{command:?}: {e} (LLVM 22 is needed: see the README)"),
    }
}

/// Tells cargo to rebuild when a source file changes. `target` and the lock file
/// are not sources.
fn watch(dir: &Path) {
    for part in ["src", "include", "Cargo.toml", "."] {
        let path = dir.join(part);
        if part != "." && path.exists() || part == "." && dir.ends_with("link") {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
}

fn var(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}
