//! What `pleach init` proposes: a shell script with comments.

use crate::args::Init;
use pleach_exec::triage::quoted;
use pleach_project::{Build, Project, System, below};
use pleach_report::counted;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The number of cores that a build uses.
pub fn build_jobs() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

pub struct Plan<'a> {
    pub project: &'a Project,
    pub args: &'a Init,
    pub system: System,
    pub out: &'a Path,
}

impl Plan<'_> {
    /// `mawk: a configure script, program mawk, 17 seeds test/*.awk, grammar parse.y (yacc)`
    pub fn headline(&self) -> String {
        let project = self.project;
        let mut line = format!("{}: {}", project.tree.name(), self.system);
        let names: Vec<&str> =
            project.programs.all.iter().take(4).map(|p| p.name.as_str()).collect();
        if !names.is_empty() {
            let more = if project.programs.all.len() > names.len() { ", …" } else { "" };
            let _ = write!(line, "; programs: {}{more}", names.join(", "));
        }
        if let [first, rest @ ..] = project.programs.harnesses.as_slice() {
            let _ = write!(line, "; harness: {}", first.path.display());
            if !rest.is_empty() {
                let _ = write!(line, " and {} more", rest.len());
            }
        }
        match project.seeds.first() {
            Some(seeds) => {
                let count = counted(seeds.files.len() as u64, "seed", "seeds");
                let _ = write!(line, "; {count}: {}", seeds.pattern());
            }
            None => line.push_str("; no seeds"),
        }
        if let Some(grammar) = project.grammars.first() {
            let _ = write!(line, "; grammar: {} ({})", grammar.path.display(), grammar.format);
        }
        line
    }

    pub fn build(&self) -> Build {
        let more = self.args.flags.as_deref().unwrap_or("");
        self.system.build(&self.project.tree, self.out, more, build_jobs())
    }

    /// The commands for a shell. Everything else is a comment.
    pub fn script(&self) -> String {
        let out = |name: &str| quoted(self.out.join(name).as_os_str());
        let mut text = String::from("# Build. Nothing is written to the source tree.\n");
        let build = self.build();
        let missing = super::build::missing_tools(self.system);
        if !missing.is_empty() {
            let _ = writeln!(text, "# Missing on this machine: {}", missing.join(", "));
        }
        for command in &build.commands {
            let _ = writeln!(text, "{command}");
        }
        if let Some(commands) = self.system.install(self.out) {
            let commands = commands.join("\n#     ");
            let _ = writeln!(text, "# If the program needs its data files:\n#     {commands}");
        }
        let (program, is_harness) = self.program(&mut text);
        let mut input = String::new();
        if let Some(seeds) = self.seeds() {
            let root = &self.project.tree.root;
            let _ = write!(
                text,
                "\n# Seeds: those of {} that cover something.\nmkdir {all}\n\
                 find {dir} -type f -name {name} -size -{blocks} \
                 -exec cp --backup=numbered -t {all} {{}} +\n\
                 pleach cmin -i {all} -o {kept} -- {program}{arg}\n",
                counted(seeds.files.len() as u64, "file", "files"),
                all = out("seeds-all"),
                kept = out("seeds"),
                dir = quoted(root.join(&seeds.dir).as_os_str()),
                name = quoted(seeds.name_pattern().as_ref()),
                blocks = pleach_project::MAX_SIZE / 512 + 1,
                arg = if is_harness { "" } else { " @@" },
            );
            input = format!("-i {} ", out("seeds"));
        }
        text.push_str("\n# Search.");
        if !is_harness {
            text.push_str(
                " @@ is the input file; leave it out if the program reads standard input.",
            );
        }
        let arg = if is_harness { "" } else { " @@" };
        let seconds = self.args.seconds;
        let _ =
            writeln!(text, "\npleach run {input}-o {} -V {seconds} -- {program}{arg}", out("out"));
        for line in self.grammar_hints() {
            let _ = writeln!(text, "# {line}");
        }
        text.push_str(
            "\n# `pleach init --run` does all of this, and finds out by runs which program reads\n\
             # which files, and how. -fsanitize=address (--flags) finds more errors of memory.\n",
        );
        let (variables, text) = self.shorten(text);
        format!("# {}\nset -e\n{variables}\n{text}", self.headline())
    }

    /// Replaces the two long paths by variables, unless they need quotes.
    fn shorten(&self, mut text: String) -> (String, String) {
        let mut variables = String::new();
        // The first usually begins like the second.
        for (name, path) in [("OUT", self.out), ("SRC", self.project.tree.root.as_path())] {
            let shown = quoted(path.as_os_str());
            if !shown.starts_with('\'') {
                let _ = writeln!(variables, "{name}={shown}");
                text = text.replace(&shown, &format!("${name}"));
            }
        }
        (variables, text)
    }

    fn seeds(&self) -> Option<&pleach_project::Seeds> {
        self.project.seeds.first()
    }

    /// The program to search, with the command that links it if it is a harness.
    fn program(&self, text: &mut String) -> (String, bool) {
        let harness =
            self.project.programs.harnesses.first().filter(|_| self.args.program.is_none());
        if let Some(harness) = harness {
            let (command, path) = self.link_harness(harness, "LIBRARIES");
            let _ = write!(
                text,
                "\n# Link the harness. Replace LIBRARIES by the static libraries that were built,\n\
                 # and add others that they need.\n{command}\n"
            );
            return (quoted(path.as_os_str()), true);
        }
        let named = self.args.program.as_deref();
        let known = self.project.programs.all.iter();
        let program = known.clone().find(|p| Some(p.name.as_str()) == named).or(match named {
            Some(_) => None,
            None => self.project.programs.all.first(),
        });
        let path = match (program, named) {
            (Some(program), _) => self.system.program(self.out, program),
            (None, Some(named)) => PathBuf::from(named),
            (None, None) => self.system.program(
                self.out,
                &pleach_project::Program { name: self.project.tree.name(), dir: PathBuf::new() },
            ),
        };
        (quoted(path.as_os_str()), false)
    }

    /// The command that links a harness, and the file that it makes.
    pub fn link_harness(
        &self,
        harness: &pleach_project::Harness,
        libraries: &str,
    ) -> (String, PathBuf) {
        let path = self.out.join(harness.name());
        let root = &self.project.tree.root;
        let show = |path: &Path| quoted(path.as_os_str());
        let compiler = if harness.is_cxx() { "pleach-c++" } else { "pleach-cc" };
        let flags = self.args.flags.as_deref().unwrap_or("");
        // Headers that the build makes are in the directories of the build.
        let built = self.system.build_dir(self.out);
        let mut include: Vec<PathBuf> = Vec::new();
        for dir in &harness.include {
            include.extend([root.as_path(), built.as_path()].map(|top| below(top, dir)));
        }
        let include: String = include.iter().map(|dir| format!(" -I{}", show(dir))).collect();
        let command = format!(
            "{compiler} -g -O1 {flags} -fsanitize=fuzzer{include} -o {} {} {libraries} -lm",
            show(&path),
            show(&root.join(&harness.path)),
        );
        (command.replace("  ", " "), path)
    }

    /// How to use the grammars of the tree.
    pub fn grammar_hints(&self) -> Vec<String> {
        let root = &self.project.tree.root;
        let show = |path: &Path| quoted(root.join(path).as_os_str());
        let hints = self.project.grammars.iter().take(2).map(|grammar| {
            let lexer = grammar.lexer.as_deref();
            let lexer = lexer.map_or_else(String::new, |l| format!(" --lexer {}", show(l)));
            let path = show(&grammar.path);
            format!(
                "{} may be a grammar ({}) of the input: check it with `pleach grammar check \
                 {path}{lexer}`, and give it to `pleach run` with -g {path}{lexer}",
                grammar.path.display(),
                grammar.format
            )
        });
        hints.collect()
    }
}
