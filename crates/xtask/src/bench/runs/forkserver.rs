//! A client of AFL++'s fork server, as far as runs cost time in afl-fuzz 4.04.
//!
//! For each run it does what afl-fuzz does, and no less: put the input into the file or into
//! the shared memory, clear the map, ask the server for a run, wait for its end with a time
//! limit, classify the counts of the map, and compare them with what earlier runs had.
//!
//! The protocol: the server reads commands from descriptor 198 and answers on 199. It starts
//! with a word of options. `FS_OPT_MAPSIZE` has the size of the map, and
//! `FS_OPT_SHDMEM_FUZZ` means that inputs come in shared memory, which the client must
//! confirm. For each run the client writes a word (true if the last run was killed), reads
//! the process of the run, then its status. A persistent program stops instead of exiting.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use crate::bench::contest::program::Built;

use super::Ended;

const CONTROL_FD: i32 = 198;
const STATUS_FD: i32 = 199;
const FS_OPT_ENABLED: u32 = 0x8000_0001;
const FS_OPT_MAPSIZE: u32 = 0x4000_0000;
const FS_OPT_SHDMEM_FUZZ: u32 = 0x0100_0000;
const FS_OPT_AUTODICT: u32 = 0x1000_0000;
/// Signatures in a program, and the variables that afl-fuzz sets when it finds them.
const MODES: [(&str, &str); 2] = [
    ("##SIG_AFL_PERSISTENT##", "__AFL_PERSISTENT"),
    ("##SIG_AFL_DEFER_FORKSRV##", "__AFL_DEFER_FORKSRV"),
];
/// The memory for the map before its real size is known, as in afl-fuzz.
const MAX_MAP: usize = 8 << 20;
/// The longest input.
const MAX_FILE: usize = 1 << 20;
const START_LIMIT: Duration = Duration::from_secs(10);

/// A fork server and what earlier runs covered.
pub struct ForkServer {
    child: Child,
    control: File,
    status: File,
    map: SharedMemory,
    /// The real size of the map, a multiple of 64.
    map_size: usize,
    delivery: Delivery,
    virgin: Vec<u64>,
    virgin_crash: Vec<u64>,
    was_killed: bool,
    /// True if the process of the last run waits for its next input.
    is_waiting: bool,
    timeout: Duration,
    classes: Vec<u16>,
    /// Holds the input file. In memory, as Pleach's input file is.
    _dir: TempDir,
}

/// How the program gets its input.
enum Delivery {
    Stdin(File),
    File(PathBuf),
    Memory(SharedMemory),
}

impl ForkServer {
    /// Starts a program that afl-clang-fast built.
    pub fn start(built: &Built, timeout: Duration) -> Result<ForkServer> {
        let dir = tempfile::Builder::new().prefix("afl-").tempdir_in("/dev/shm")?;
        let input = dir.path().join(".cur_input");
        let stdin = OpenOptions::new().read(true).write(true).create_new(true).open(&input)?;
        let (map, inputs) = (SharedMemory::new(MAX_MAP)?, SharedMemory::new(MAX_FILE + 4)?);
        let (control_in, control) = pipe()?;
        let (status, status_out) = pipe()?;
        let mut command = Command::new(built.program()?);
        let mut by_file = false;
        for word in &built.command[1..] {
            by_file |= word == "@@";
            command.arg(if word == "@@" { input.as_os_str() } else { word.as_ref() });
        }
        let given = if by_file { Stdio::null() } else { stdin.try_clone()?.into() };
        command.stdin(given).stdout(Stdio::null()).stderr(Stdio::null());
        command.current_dir(&built.directory);
        command.env("__AFL_SHM_ID", map.id.to_string());
        command.env("__AFL_SHM_FUZZ_ID", inputs.id.to_string());
        command.env("AFL_MAP_SIZE", MAX_MAP.to_string()).env("LD_BIND_NOW", "1");
        let image = std::fs::read(built.program()?)?;
        for (signature, variable) in MODES {
            if image.windows(signature.len()).any(|part| part == signature.as_bytes()) {
                command.env(variable, "1");
            }
        }
        let (from, to) = (control_in.as_raw_fd(), status_out.as_raw_fd());
        // Safety: only calls that are allowed after a fork.
        unsafe {
            command.pre_exec(move || {
                let no_core = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
                libc::setrlimit(libc::RLIMIT_CORE, &no_core);
                libc::setsid();
                match libc::dup2(from, CONTROL_FD) >= 0 && libc::dup2(to, STATUS_FD) >= 0 {
                    true => Ok(()),
                    false => Err(io::Error::last_os_error()),
                }
            });
        }
        let child = command.spawn().with_context(|| format!("cannot run {:?}", built.command))?;
        let mut server = ForkServer {
            child,
            control: control.into(),
            status: status.into(),
            map,
            map_size: MAX_MAP,
            delivery: if by_file { Delivery::File(input) } else { Delivery::Stdin(stdin) },
            virgin: Vec::new(),
            virgin_crash: Vec::new(),
            was_killed: false,
            is_waiting: false,
            timeout,
            classes: word_classes(),
            _dir: dir,
        };
        drop((control_in, status_out));
        server.shake_hands(inputs)?;
        Ok(server)
    }

    fn shake_hands(&mut self, inputs: SharedMemory) -> Result<()> {
        if !readable(&self.status, START_LIMIT)? {
            bail!("the fork server does not start");
        }
        let options = self.read_word().context("the program has no fork server")?;
        if options & FS_OPT_ENABLED != FS_OPT_ENABLED || options & FS_OPT_MAPSIZE == 0 {
            bail!("the fork server does not report the size of its map ({options:#x})");
        }
        self.map_size = (((options & 0x00ff_fffe) >> 1) as usize + 1).next_multiple_of(64);
        self.virgin = vec![u64::MAX; self.map_size / 8];
        self.virgin_crash = self.virgin.clone();
        if options & FS_OPT_SHDMEM_FUZZ != 0 {
            self.write_word(FS_OPT_ENABLED | FS_OPT_SHDMEM_FUZZ)?;
            self.delivery = Delivery::Memory(inputs);
        } else if options & FS_OPT_AUTODICT != 0 {
            self.write_word(FS_OPT_ENABLED)?;
        }
        Ok(())
    }

    /// The size of the map.
    pub fn map_size(&self) -> usize {
        self.map_size
    }

    /// True if the process of the last run waits for its next input, which comes in shared
    /// memory: the program runs in persistent mode.
    pub fn is_persistent(&self) -> bool {
        self.is_waiting && matches!(self.delivery, Delivery::Memory(_))
    }

    /// Runs an input. The second result is true if it covered something new.
    pub fn run(&mut self, input: &[u8]) -> Result<(Ended, bool)> {
        self.put(input).context("cannot write the input")?;
        self.map.bytes_mut()[..self.map_size].fill(0);
        self.write_word(u32::from(self.was_killed))?;
        let process = self.read_word()? as i32;
        if process <= 0 {
            bail!("the fork server cannot fork");
        }
        self.was_killed = !readable(&self.status, self.timeout)?;
        if self.was_killed {
            // Safety: the server's child, which the server has not waited for yet.
            unsafe { libc::kill(process, libc::SIGKILL) };
        }
        let status = self.read_word()? as i32;
        self.is_waiting = libc::WIFSTOPPED(status);
        let ended = match (self.was_killed, libc::WIFSIGNALED(status)) {
            (true, _) => Ended::Timeout,
            (false, true) => Ended::Crash,
            (false, false) => Ended::Well,
        };
        Ok((ended, self.is_new(ended)))
    }

    fn put(&mut self, input: &[u8]) -> io::Result<()> {
        match &mut self.delivery {
            Delivery::Stdin(file) => {
                file.seek(SeekFrom::Start(0))?;
                file.write_all(input)?;
                file.set_len(input.len() as u64)?;
                file.seek(SeekFrom::Start(0)).map(drop)
            }
            Delivery::File(path) => {
                // afl-fuzz makes a new file for each run.
                let _ = std::fs::remove_file(&*path);
                OpenOptions::new().write(true).create_new(true).open(path)?.write_all(input)
            }
            Delivery::Memory(memory) => {
                let length = input.len().min(MAX_FILE);
                let memory = memory.bytes_mut();
                memory[..4].copy_from_slice(&(length as u32).to_ne_bytes());
                memory[4..4 + length].copy_from_slice(&input[..length]);
                Ok(())
            }
        }
    }

    /// Compares the map with what earlier runs had. As in afl-fuzz, a first pass only
    /// looks for a word with news, and few runs need the second one.
    fn is_new(&mut self, ended: Ended) -> bool {
        let classes = &self.classes;
        let map = &mut self.map.words_mut()[..self.map_size / 8];
        let virgin = match ended {
            Ended::Well => &mut self.virgin,
            Ended::Crash | Ended::Timeout => {
                for word in map.iter_mut() {
                    *word = simplify(*word);
                }
                &mut self.virgin_crash
            }
        };
        let has_news = |(now, seen): (&u64, &u64)| *now != 0 && classify(classes, *now) & seen != 0;
        if !map.iter().zip(virgin.iter()).any(has_news) {
            return false;
        }
        for (now, seen) in map.iter_mut().zip(virgin) {
            *now = classify(classes, *now);
            *seen &= !*now;
        }
        true
    }

    fn read_word(&mut self) -> Result<u32> {
        let mut word = [0; 4];
        self.status.read_exact(&mut word).context("the fork server is gone")?;
        Ok(u32::from_ne_bytes(word))
    }

    fn write_word(&mut self, word: u32) -> Result<()> {
        self.control.write_all(&word.to_ne_bytes()).context("the fork server is gone")
    }
}

impl Drop for ForkServer {
    fn drop(&mut self) {
        // The server ends its own child when it cannot read any more commands.
        let group = self.child.id() as i32;
        // Safety: the session of our own child, which has not been waited for yet.
        unsafe { libc::kill(-group, libc::SIGKILL) };
        let _ = self.child.wait();
    }
}

/// AFL's classes of counts: 1, 2, 3, 4–7, 8–15, 16–31, 32–127, 128 and more.
fn class(count: u8) -> u8 {
    pleach_search::bucket(count)
}

/// The classes of two counts at once.
fn word_classes() -> Vec<u16> {
    let pair = |at: u16| u16::from_ne_bytes(at.to_ne_bytes().map(class));
    (0..=u16::MAX).map(pair).collect()
}

fn classify(classes: &[u16], word: u64) -> u64 {
    if word == 0 {
        return 0;
    }
    let part = |shift: u32| u64::from(classes[(word >> shift) as u16 as usize]) << shift;
    part(0) | part(16) | part(32) | part(48)
}

/// For crashes only whether a branch was taken counts: 128 for taken, 1 for not taken.
fn simplify(word: u64) -> u64 {
    u64::from_ne_bytes(word.to_ne_bytes().map(|count| if count == 0 { 1 } else { 128 }))
}

/// System V shared memory. It goes when the last process that uses it has ended.
struct SharedMemory {
    id: i32,
    start: *mut u8,
    len: usize,
}

impl SharedMemory {
    fn new(len: usize) -> io::Result<SharedMemory> {
        // Safety: new memory, which is mapped where there is room. It is zeroed and aligned
        // to a page.
        unsafe {
            let id = libc::shmget(libc::IPC_PRIVATE, len, libc::IPC_CREAT | libc::IPC_EXCL | 0o600);
            if id < 0 {
                return Err(io::Error::last_os_error());
            }
            let start = libc::shmat(id, std::ptr::null(), 0);
            let error = io::Error::last_os_error();
            // Linux lets others attach by the number as long as one process has it.
            libc::shmctl(id, libc::IPC_RMID, std::ptr::null_mut());
            if start as isize == -1 {
                return Err(error);
            }
            Ok(SharedMemory { id, start: start.cast(), len })
        }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // Safety: our own mapping of this length. The target writes to it only while it
        // runs, and then nobody reads here.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
    }

    fn words_mut(&mut self) -> &mut [u64] {
        // Safety: as above; a page is aligned for words.
        unsafe { std::slice::from_raw_parts_mut(self.start.cast(), self.len / 8) }
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // Safety: our own mapping, which nobody uses any more.
        unsafe { libc::shmdt(self.start.cast_const().cast()) };
    }
}

/// A pipe: its end to read from, and its end to write to.
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // Safety: fills two numbers. The descriptors are new, and nobody else's.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

/// Waits until a descriptor can be read. False after the time limit.
fn readable(file: &File, limit: Duration) -> io::Result<bool> {
    let deadline = Instant::now() + limit;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let mut wanted = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let milliseconds = left.as_millis().min(i32::MAX as u128) as i32;
        // Safety: one descriptor, which is open.
        match unsafe { libc::poll(&mut wanted, 1, milliseconds) } {
            0 => return Ok(false),
            1.. => return Ok(true),
            _ => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process;
    use crate::project;
    use crate::subjects::Flavour;
    use std::path::Path;

    fn compile(dir: &Path, source: &Path, flags: &[&str], args: &[&str]) -> Built {
        let mut command = Command::new(Flavour::Afl.compilers().unwrap().0);
        command.arg("-O2").args(flags).arg(source).args(["-o", "program"]).current_dir(dir);
        command.env("AFL_QUIET", "1");
        process::succeed(&mut command, Duration::from_secs(60), "compiling").unwrap();
        let words = ["./program"].iter().chain(args).map(|word| word.to_string());
        Built { directory: dir.into(), command: words.collect() }
    }

    #[test]
    fn the_calculator_runs_by_fork() {
        let dir = tempfile::tempdir().unwrap();
        let source = project::root().join("examples/calc/calc.c");
        let built = compile(dir.path(), &source, &[], &[]);
        let mut server = ForkServer::start(&built, Duration::from_secs(5)).unwrap();
        assert_eq!(server.run(b"1+2\n").unwrap(), (Ended::Well, true));
        assert!(!server.is_persistent() && server.map_size() < 4096);
        assert_eq!(server.run(b"1+2\n").unwrap(), (Ended::Well, false));
        assert_eq!(server.run(b"2+1\n").unwrap(), (Ended::Well, false));
        assert_eq!(server.run(b"(1*2)\n").unwrap(), (Ended::Well, true));
        assert_eq!(server.run(b"1/0\n").unwrap(), (Ended::Crash, true));
        assert_eq!(server.run(b"1/0\n").unwrap(), (Ended::Crash, false));
        assert_eq!(server.run(b"1+2\n").unwrap(), (Ended::Well, false));
    }

    #[test]
    fn a_program_gets_its_input_as_a_file_and_is_killed_when_it_hangs() {
        let dir = tempfile::tempdir().unwrap();
        let source = dir.path().join("file.c");
        let text = "#include <stdio.h>\n#include <unistd.h>\n\
            int main(int count, char **words) {\n\
                FILE *file = fopen(words[count - 1], \"r\");\n\
                int c = file ? getc(file) : 'x';\n\
                if (c == 'h') for (;;) pause();\n\
                if (c == 'x') __builtin_trap();\n\
                return 0;\n\
            }\n";
        std::fs::write(&source, text).unwrap();
        let built = compile(dir.path(), &source, &[], &["-f", "@@"]);
        let mut server = ForkServer::start(&built, Duration::from_millis(300)).unwrap();
        for (input, ended) in [
            ("a", Ended::Well),
            ("x", Ended::Crash),
            ("hang", Ended::Timeout),
            ("b", Ended::Well),
            ("", Ended::Well),
        ] {
            assert_eq!(server.run(input.as_bytes()).unwrap().0, ended, "{input}");
        }
    }

    #[test]
    fn a_libfuzzer_target_stays_and_gets_its_inputs_in_memory() {
        let dir = tempfile::tempdir().unwrap();
        let source = dir.path().join("target.c");
        let text = "#include <stddef.h>\n#include <stdlib.h>\n\
            int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {\n\
                if (size == 3 && data[0] == 'b') if (data[1] == 'a') if (data[2] == 'd') abort();\n\
                return 0;\n\
            }\n";
        std::fs::write(&source, text).unwrap();
        let built = compile(dir.path(), &source, &["-fsanitize=fuzzer"], &[]);
        let mut server = ForkServer::start(&built, Duration::from_secs(5)).unwrap();
        for (input, expected) in [
            ("xyz", (Ended::Well, true)),
            ("xyz", (Ended::Well, false)),
            ("bxx", (Ended::Well, true)),
            ("bad", (Ended::Crash, true)),
            ("xyz", (Ended::Well, false)),
        ] {
            assert_eq!(server.run(input.as_bytes()).unwrap(), expected, "{input}");
            assert_eq!(server.is_persistent(), expected.0 == Ended::Well, "{input}");
        }
    }

    #[test]
    fn counts_are_classified_as_afl_does() {
        let classes = word_classes();
        assert_eq!(classify(&classes, 0x0000_0500_0302_0100), 0x0000_0800_0402_0100);
        assert_eq!(classify(&classes, 0xff80_7f20_1f10_0f08), 0x8080_4040_2020_1010);
        assert_eq!(simplify(0xff00_0001_0000_0000), 0x8001_0180_0101_0101);
    }
}
