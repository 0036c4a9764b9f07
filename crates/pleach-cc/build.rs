//! Builds what `pleach-cc` carries inside itself: the runtime's two archives,
//! the small objects in `link/`, and the headers. `src/runtime.rs` includes
//! the table that is written here.
//!
//! The runtime is built by a cargo of its own, because it has another panic
//! strategy and no standard library. Nothing of the outer build's flags may
//! leak into it: a target's runtime is the same whatever the compiler is built
//! with.

use std::collections::hash_map::DefaultHasher;
use std::fmt::Write;
use std::hash::Hasher;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let out = PathBuf::from(var("OUT_DIR"));
    let manifest = PathBuf::from(var("CARGO_MANIFEST_DIR"));
    let crates = manifest.parent().expect("the crate lies in a folder");
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
            .expect("a string takes all");
        files.push((format!("lib/libpleach_rt_{half}.a"), archive));
    }
    for name in ["counters", "shared_fast", "shared_symbolic"] {
        files.push((format!("lib/{name}.o"), compile(&link, name, &out)));
    }
    let fuzzer = out.join("libpleach_fuzzer.a");
    make_archive(&fuzzer, &[compile(&link, "fuzzer", &out)]);
    files.push(("lib/libpleach_fuzzer.a".into(), fuzzer));
    files.push(("lib/libstdcxx.cc".into(), link.join("libstdcxx.cc")));
    for header in ["pleach.h", "crest.h", "klee/klee.h"] {
        files.push((format!("include/{header}"), runtime.join("include").join(header)));
    }
    write_table(&files, &lists, &out.join("embedded.rs"));
}

/// One archive of the runtime. The libc models become weak, so that a program
/// may bring its own.
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
    let (own, rest) = take_apart(&built, &out.join(format!("members-{half}")));
    run(tool("ld.lld").args(["-r", "-o"]).arg(&object).args(&own).arg(&rest));
    let hidden = out.join(format!("hidden-{half}.txt"));
    std::fs::write(&hidden, symbols(&rest).join("\n")).expect("OUT_DIR can be written to");
    run(tool("llvm-objcopy")
        .args(["--wildcard", "--weaken-symbol=__pleach_m_*", "--strip-debug"])
        // What programs of the competitions may define themselves.
        .args(["--weaken-symbol=__VERIFIER_*", "--weaken-symbol=reach_error"])
        .arg(format!("--localize-symbols={}", hidden.display()))
        .arg(&object));
    let archive = out.join(format!("libpleach_rt_{half}.a"));
    make_archive(&archive, &[object]);
    archive
}

/// A static library of Rust has the compiler's own helpers in it, which define
/// names such as `log`. A program that forgot `-lm` must still be told so: what
/// the runtime needs of them is linked into its object, and no name gets out.
/// The runtime's objects, and an archive of the others.
fn take_apart(archive: &Path, dir: &Path) -> (Vec<PathBuf>, PathBuf) {
    let _ = std::fs::remove_dir_all(dir);
    std::fs::create_dir_all(dir).expect("OUT_DIR can be written to");
    run(tool("llvm-ar").arg("x").arg(archive).current_dir(dir));
    let members = std::fs::read_dir(dir).expect("it was just made").flatten().map(|e| e.path());
    let (own, others): (Vec<PathBuf>, Vec<PathBuf>) = members
        .partition(|p| p.file_name().is_some_and(|n| n.to_string_lossy().starts_with("pleach_rt")));
    let rest = dir.join("rest.a");
    make_archive(&rest, &others);
    (own, rest)
}

fn make_archive(archive: &Path, members: &[PathBuf]) {
    // llvm-ar adds to an archive that exists.
    let _ = std::fs::remove_file(archive);
    run(tool("llvm-ar").arg("rcs").arg(archive).args(members));
}

fn symbols(archive: &Path) -> Vec<String> {
    let said = tool("llvm-nm")
        .args(["--defined-only", "--extern-only", "--format=just-symbols", "--quiet"])
        .arg(archive)
        .output()
        .expect("llvm-nm is part of LLVM 22");
    let text = String::from_utf8_lossy(&said.stdout);
    text.lines()
        .map(|l| l.trim().to_owned())
        .filter(|l| !l.is_empty() && !l.ends_with(':'))
        .collect()
}

/// The functions that an archive has models of, sorted.
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
        writeln!(table, "    ({name:?}, include_bytes!({path:?})),").expect("a string takes all");
    }
    writeln!(table, "];\n{lists}pub const HASH: &str = \"{:016x}\";", hash.finish())
        .expect("a string takes all");
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

/// Cargo watches a folder's files; `target` and the lock file are not sources.
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
