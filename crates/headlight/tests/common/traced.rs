//! Processes of the binary that stop before each system call that names a file of a folder or changes one, by `ptrace`.
//!
//! A call from its entry to its return is one step, with what the process does until it enters the next such call:
//! nothing else acts in it. What is read through a file that is already open, and syncs, are no steps of their own.
//! The engine without Burn has one thread; a process that starts another one fails the test.
#![allow(dead_code, missing_docs, unreachable_pub, clippy::unwrap_used)]

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nix::libc::{self, c_long};
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;

/// What a system call does to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Act {
    /// Reads a name, or what a folder holds.
    Look,
    /// Creates a file, or opens one that it would create.
    Create,
    MakeFolder,
    Rename,
    Remove,
    /// Writes to an open file, or cuts it.
    Write,
    Lock,
}

/// A system call that a process is about to make.
#[derive(Clone, Debug)]
pub struct Call {
    pub act: Act,
    /// The file, as it is called now.
    pub path: PathBuf,
    /// The new name of a file that is renamed.
    pub to: Option<PathBuf>,
    /// Whether the file was there before.
    pub existed: bool,
    /// The descriptor, of calls on open files.
    pub descriptor: Option<u64>,
}

/// Where a process is.
#[derive(Debug)]
pub enum State {
    Before(Call),
    Exited(i32),
    Killed,
}

/// A process that stops before each system call of interest.
pub struct Traced {
    pid: Pid,
    /// Its calls of interest are those on this folder.
    folder: PathBuf,
    pub state: State,
}

impl Traced {
    /// Starts a command, which stops before its first call on `folder`.
    pub fn start(command: &Command, folder: &Path) -> Self {
        // The shell waits until it is traced, and then becomes the command.
        let mut shell = Command::new("sh");
        shell.args(["-c", "read go && exec \"$@\"", "sh"]);
        shell.arg(command.get_program()).args(command.get_args());
        shell.current_dir(command.get_current_dir().unwrap());
        shell.stdin(Stdio::piped());
        shell.stdout(Stdio::null()).stderr(Stdio::null());
        // The tracer waits for it, by its number.
        #[allow(clippy::zombie_processes)]
        let child: Child = shell.spawn().unwrap();
        let pid = Pid::from_raw(child.id().try_into().unwrap());
        let options = Options::PTRACE_O_TRACEEXEC
            | Options::PTRACE_O_TRACECLONE
            | Options::PTRACE_O_TRACESYSGOOD
            | Options::PTRACE_O_EXITKILL;
        ptrace::seize(pid, options).unwrap();
        child.stdin.unwrap().write_all(b"\n").unwrap();
        // The shell may still be on its way into its own program.
        loop {
            let state = waitpid(pid, None).unwrap();
            let exec = matches!(state, WaitStatus::PtraceEvent(..));
            assert!(exec, "the command did not start: {state:?}");
            let program = fs::read_link(format!("/proc/{pid}/exe")).unwrap();
            if program == fs::canonicalize(command.get_program()).unwrap() {
                break;
            }
            ptrace::cont(pid, None).unwrap();
        }
        let mut started = Self {
            pid,
            folder: folder.to_owned(),
            state: State::Killed,
        };
        // The return from `exec`.
        let state = started.go_on();
        assert!(state.is_none(), "no exec: {state:?}");
        started.state = started.next_call();
        started
    }

    /// Makes the call, and stops before the next one. Between them, `made` gets the call, if it succeeded.
    pub fn step(&mut self, made: impl FnOnce(&Self, &Call)) {
        let State::Before(call) = &self.state else {
            return;
        };
        // Others may have moved the file while the process stood there.
        let path = match call.descriptor {
            Some(descriptor) => self.path_of(descriptor),
            None => call.path.clone(),
        };
        let call = Call {
            existed: path.symlink_metadata().is_ok(),
            path,
            ..call.clone()
        };
        self.state = if let Some(end) = self.go_on() {
            end
        } else {
            let (_, _, result) = registers(self.pid);
            // `ftruncate`, `write` and others return 0 or more.
            if result.cast_signed() >= 0 {
                made(self, &call);
            }
            self.next_call()
        };
    }

    /// Kills the process. The call before which it stands is not made.
    pub fn kill(&mut self) {
        if matches!(self.state, State::Before(_)) {
            kill(self.pid, Signal::SIGKILL).unwrap();
            while !matches!(waitpid(self.pid, None), Ok(WaitStatus::Signaled(..))) {}
            self.state = State::Killed;
        }
    }

    /// The file behind a descriptor; a second handle, without its locks.
    pub fn open(&self, descriptor: u64) -> File {
        File::open(format!("/proc/{}/fd/{descriptor}", self.pid)).unwrap()
    }

    /// Runs until the entry of, or the return from, a system call. Returns how the process ended, if it did.
    fn go_on(&self) -> Option<State> {
        let mut signal = None;
        loop {
            ptrace::syscall(self.pid, signal).unwrap();
            match waitpid(self.pid, None).unwrap() {
                WaitStatus::PtraceSyscall(_) => return None,
                WaitStatus::Stopped(_, other) => signal = Some(other),
                WaitStatus::Exited(_, code) => return Some(State::Exited(code)),
                WaitStatus::Signaled(..) => return Some(State::Killed),
                state => panic!("a traced process has a second thread, or: {state:?}"),
            }
        }
    }

    /// Runs to the entry of the next call of interest.
    fn next_call(&self) -> State {
        loop {
            if let Some(end) = self.go_on() {
                return end;
            }
            let (number, arguments, _) = registers(self.pid);
            if let Some(call) = self.decode(number, arguments) {
                return State::Before(call);
            }
            if let Some(end) = self.go_on() {
                return end;
            }
        }
    }

    /// The call, if it is of interest.
    fn decode(&self, number: c_long, arguments: [u64; 4]) -> Option<Call> {
        let [first, second, third, fourth] = arguments;
        let creates = |flags: u64| match flags as i32 & libc::O_CREAT {
            0 => Act::Look,
            _ => Act::Create,
        };
        #[cfg(target_arch = "x86_64")]
        let old = match number {
            libc::SYS_open => Some((creates(second), None)),
            libc::SYS_stat | libc::SYS_lstat | libc::SYS_access => Some((Act::Look, None)),
            libc::SYS_mkdir => Some((Act::MakeFolder, None)),
            libc::SYS_unlink | libc::SYS_rmdir => Some((Act::Remove, None)),
            libc::SYS_rename | libc::SYS_link => Some((Act::Rename, Some(second))),
            _ => None,
        };
        #[cfg(not(target_arch = "x86_64"))]
        let old: Option<(Act, Option<u64>)> = None;
        let new = match number {
            libc::SYS_openat => Some((creates(third), None)),
            libc::SYS_statx | libc::SYS_newfstatat | libc::SYS_faccessat => Some((Act::Look, None)),
            libc::SYS_mkdirat => Some((Act::MakeFolder, None)),
            libc::SYS_unlinkat => Some((Act::Remove, None)),
            libc::SYS_renameat | libc::SYS_renameat2 | libc::SYS_linkat => {
                Some((Act::Rename, Some(fourth)))
            }
            _ => None,
        };
        let named = old
            .map(|(act, to)| {
                (
                    act,
                    self.path(None, first),
                    to.map(|to| self.path(None, to)),
                )
            })
            .or_else(|| {
                let to = |to| self.path(Some(third), to);
                new.map(|(act, to_at)| (act, self.path(Some(first), second), to_at.map(to)))
            });
        let open = match number {
            libc::SYS_write | libc::SYS_pwrite64 | libc::SYS_writev | libc::SYS_ftruncate => {
                Some((Act::Write, first))
            }
            libc::SYS_sendfile => Some((Act::Write, first)),
            libc::SYS_copy_file_range => Some((Act::Write, third)),
            libc::SYS_flock => Some((Act::Lock, first)),
            libc::SYS_getdents64 => Some((Act::Look, first)),
            _ => None,
        };
        let (act, path, to) =
            named.or_else(|| open.map(|(act, file)| (act, self.path_of(file), None)))?;
        path.starts_with(&self.folder).then(|| Call {
            act,
            existed: path.symlink_metadata().is_ok(),
            path,
            to,
            descriptor: open.map(|(_, file)| file),
        })
    }

    /// A path in the memory of the process, from the folder behind a descriptor if it is relative.
    fn path(&self, folder: Option<u64>, address: u64) -> PathBuf {
        let memory = File::open(format!("/proc/{}/mem", self.pid)).unwrap();
        let mut bytes = [0; 1024];
        let read = memory.read_at(&mut bytes, address).unwrap_or(0);
        let text = bytes[..read].split(|&byte| byte == 0).next().unwrap();
        let name = String::from_utf8_lossy(text).into_owned();
        match folder {
            Some(folder) if folder as i32 != libc::AT_FDCWD => {
                let folder = self.path_of(folder);
                if name.is_empty() {
                    folder
                } else {
                    folder.join(name)
                }
            }
            _ => PathBuf::from(name),
        }
    }

    /// Where an open file is now.
    fn path_of(&self, descriptor: u64) -> PathBuf {
        let descriptor = descriptor as i32;
        fs::read_link(format!("/proc/{}/fd/{descriptor}", self.pid)).unwrap_or_default()
    }
}

impl Drop for Traced {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The number of a system call, its arguments, and its result.
#[cfg(target_arch = "x86_64")]
fn registers(pid: Pid) -> (c_long, [u64; 4], u64) {
    let found = ptrace::getregs(pid).unwrap();
    let arguments = [found.rdi, found.rsi, found.rdx, found.r10];
    (found.orig_rax.cast_signed(), arguments, found.rax)
}

/// The number of a system call, its arguments, and its result.
#[cfg(target_arch = "aarch64")]
fn registers(pid: Pid) -> (c_long, [u64; 4], u64) {
    let found = ptrace::getregs(pid).unwrap().regs;
    let arguments = [found[0], found[1], found[2], found[3]];
    (found[8].cast_signed(), arguments, found[0])
}
