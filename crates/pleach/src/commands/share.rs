//! Writes the manual pages and the completions of shells, for `./x install`. They come from the
//! table of commands that the help comes from, too.

use crate::args::{Args, Share};
use crate::exit::{Code, Failure};
use anyhow::Context;
use clap::CommandFactory;
use clap_complete::{Shell, generate};
use clap_mangen::Man;
use std::path::Path;

/// The place of each shell's completions below `share`.
const COMPLETIONS: [(Shell, &str); 3] = [
    (Shell::Bash, "bash-completion/completions/pleach"),
    (Shell::Zsh, "zsh/site-functions/_pleach"),
    (Shell::Fish, "fish/vendor_completions.d/pleach.fish"),
];

pub fn run(args: &Share) -> Result<Code, Failure> {
    let mut command = Args::command();
    // Gives every subcommand its full name: `pleach-grammar-check`.
    command.build();
    for (shell, name) in COMPLETIONS {
        let mut text = Vec::new();
        generate(shell, &mut Args::command(), "pleach", &mut text);
        write(&args.directory.join(name), &text)?;
    }
    write_pages(&command, &args.directory.join("man/man1"))?;
    Ok(Code::Ok)
}

/// One page for each command that is not hidden.
fn write_pages(command: &clap::Command, dir: &Path) -> Result<(), Failure> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let mut text = Vec::new();
    Man::new(command.clone()).render(&mut text)?;
    write(&dir.join(format!("{name}.1")), &text)?;
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        write_pages(inner, dir)?;
    }
    Ok(())
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let done = match path.parent() {
        Some(parent) => std::fs::create_dir_all(parent),
        None => Ok(()),
    };
    done.and_then(|()| std::fs::write(path, bytes))
        .with_context(|| path.display().to_string())
        .map_err(Failure::user_error)
}
