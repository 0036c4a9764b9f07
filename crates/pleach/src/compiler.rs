//! The compiler, `pleach-cc`, is a program of its own, because only it needs LLVM. `pleach cc`
//! and `pleach c++` start it. A machine that only searches does not need it.

use crate::exit::Code;
use anyhow::{Context, anyhow};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const PROGRAM: &str = "pleach-cc";

/// Replaces this process by the compiler. Returns only if that fails. `name` is `pleach-cc` or
/// `pleach-c++`: the compiler takes its language from it.
pub fn exec(name: &str, args: impl Iterator<Item = OsString>) -> ExitCode {
    let error = match find() {
        Some(path) => {
            let error = Command::new(&path).arg0(name).args(args).exec();
            anyhow!(error).context(path.display().to_string())
        }
        None => missing(),
    };
    eprintln!("pleach: {error:#}");
    Code::UserError.into()
}

fn missing() -> anyhow::Error {
    anyhow!(
        "the compiler {PROGRAM} is neither beside {} nor in PATH; install it (Debian package \
         pleach-cc, or ./x install)",
        std::env::current_exe().map_or("pleach".into(), |exe| exe.display().to_string())
    )
}

/// The path of the compiler: beside this program, in `libexec/pleach` of the same prefix, or
/// in PATH.
pub fn find() -> Option<PathBuf> {
    let own = std::env::current_exe().ok();
    let dir = own.as_deref().and_then(Path::parent);
    let near = dir.map(|dir| [dir.join(PROGRAM), dir.join("../libexec/pleach").join(PROGRAM)]);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let elsewhere = std::env::split_paths(&path).map(|dir| dir.join(PROGRAM));
    near.into_iter().flatten().chain(elsewhere).find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

/// The version of the LLVM that a compiler uses, as in `22.1.8`.
pub fn llvm_version(compiler: &Path) -> anyhow::Result<String> {
    let named = || compiler.display().to_string();
    let out = Command::new(compiler).arg("-dumpversion").output().with_context(named)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    match out.status.success() {
        true => Ok(text(&out.stdout)),
        false => {
            let message = text(&out.stderr);
            Err(anyhow!("{}", message.trim_start_matches("pleach-cc: error: ").to_owned()))
        }
    }
}

/// What `pleach --version` adds: one line about the compiler.
pub fn describe() -> String {
    match find() {
        None => format!("no compiler: {PROGRAM} is not installed"),
        Some(path) => match llvm_version(&path) {
            Ok(version) => format!("LLVM {version} ({})", path.display()),
            Err(error) => format!("no LLVM: {error}"),
        },
    }
}
