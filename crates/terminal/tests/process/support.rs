//! What every test here needs: starting programs, reading them, and looking for what is left of them.

use rustix::process::{Pid, Signal};
use std::ffi::OsString;
use std::fs;
use std::future::Future;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use terminal::cgroup::Root;
use terminal::drain::{Drain, Next, Source};
use terminal::process::{Containment, Exit, Io, ProcEvent, Process, Start, Stdio, start};
use terminal::pty::Master;
use terminal::size::Size;
use terminal::stream::{Read, Stream, Write};

/// Generous: only a hang reaches it, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A variable that marks a program and all that comes from it.
const MARK: &str = "SIDESTICK_TEST_MARK";

/// A variable that says that this process runs one test alone.
const ALONE: &str = "SIDESTICK_TEST_ALONE";

/// The example that is a leash, built beside the tests.
pub(crate) fn leash() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let path = tests
        .parent()
        .unwrap()
        .parent()
        .unwrap()
        .join("examples/leash");
    assert!(
        path.exists(),
        "{} is missing: build the examples first",
        path.display()
    );
    path
}

/// A mark that no other test has.
pub(crate) fn new_mark() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!(
        "{}-{}",
        std::process::id(),
        NEXT.fetch_add(1, Ordering::Relaxed)
    )
}

/// `argv` in a terminal, held by the leash alone.
pub(crate) fn program<const N: usize>(argv: [&str; N]) -> Start {
    let env = [
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ("LC_ALL", "C"),
        ("TERM", "xterm"),
    ];
    Start {
        argv: argv.map(OsString::from).to_vec(),
        cwd: PathBuf::from("/"),
        env: env
            .map(|(name, value)| (name.into(), value.into()))
            .to_vec(),
        stdio: Stdio::Pty(Size::DEFAULT),
        containment: Containment::Leash,
        leash: leash(),
    }
}

pub(crate) fn sh(script: &str) -> Start {
    program(["sh", "-c", script])
}

pub(crate) fn marked(mut start: Start, mark: &str) -> Start {
    start.env.push((MARK.into(), mark.into()));
    start
}

/// Both ways to hold processes, where this machine has both.
pub(crate) fn containments() -> Vec<Containment> {
    let cgroup = Root::detect().cloned().map(Containment::Cgroup);
    std::iter::once(Containment::Leash).chain(cgroup).collect()
}

pub(crate) async fn within<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, work)
        .await
        .expect("it hangs")
}

/// Asks again and again until the answer is yes.
pub(crate) async fn until(mut answer: impl FnMut() -> bool) {
    within(async {
        while !answer() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
}

pub(crate) async fn begin(program: Start) -> (Process, Master) {
    match within(start(program)).await.unwrap() {
        (process, Io::Pty(master)) => (process, master),
        (_, other) => panic!("not a terminal: {other:?}"),
    }
}

/// Reads until the text has come.
pub(crate) async fn read_until(stream: &Stream, text: &str) -> String {
    let (mut seen, mut buffer) = (Vec::new(), [0; 4096]);
    within(async {
        loop {
            if let Some(seen) = Some(String::from_utf8_lossy(&seen)).filter(|s| s.contains(text)) {
                return seen.into_owned();
            }
            match stream.read(&mut buffer).await {
                Read::Bytes(length) => seen.extend(&buffer[..length]),
                other => panic!("{other:?} before {text:?}, after {seen:?}"),
            }
        }
    })
    .await
}

pub(crate) async fn write(stream: &Stream, bytes: &[u8]) {
    assert_eq!(within(stream.write(bytes)).await, Write::Bytes(bytes.len()));
}

/// Reads a program from its start to its drained exit, as its owner does.
pub(crate) async fn read_to_exit(process: &mut Process, stream: &Stream) -> (String, Exit) {
    let (mut seen, mut buffer, mut open) = (Vec::new(), [0; 4096], true);
    let event = within(async {
        loop {
            tokio::select! {
                event = process.next_event() => return event,
                read = stream.read(&mut buffer), if open => match read {
                    Read::Bytes(length) => seen.extend(&buffer[..length]),
                    Read::Closed | Read::Empty => open = false,
                },
            }
        }
    })
    .await;
    let ProcEvent::Exited(exit) = event else {
        panic!("{event:?} before the exit")
    };
    drain(stream, &mut seen).await;
    (String::from_utf8_lossy(&seen).into_owned(), exit)
}

async fn drain(stream: &Stream, seen: &mut Vec<u8>) {
    let mut buffer = [0; 4096];
    let mut drain = Drain::new(Source::Terminal, Instant::now());
    loop {
        let next = match stream.try_read(&mut buffer) {
            Read::Bytes(length) => {
                seen.extend(&buffer[..length]);
                drain.bytes(length, Instant::now())
            }
            Read::Empty => drain.empty(Instant::now()),
            Read::Closed => drain.closed(),
        };
        match next {
            Next::Read => {}
            Next::Done => return,
            Next::Wait(_) => panic!("a terminal is not waited for"),
        }
    }
}

/// The living processes that carry the mark.
pub(crate) fn carriers(mark: &str) -> usize {
    carrying(mark).len()
}

/// Those of them that have this name.
pub(crate) fn carriers_named(mark: &str, name: &str) -> usize {
    let named =
        |dir: &PathBuf| fs::read_to_string(dir.join("comm")).is_ok_and(|comm| comm.trim() == name);
    carrying(mark).iter().filter(|dir| named(dir)).count()
}

fn carrying(mark: &str) -> Vec<PathBuf> {
    let wanted = format!("{MARK}={mark}\0");
    let carries = |dir: &PathBuf| {
        fs::read(dir.join("environ"))
            .is_ok_and(|env| String::from_utf8_lossy(&env).contains(&wanted))
    };
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    entries.map(|entry| entry.path()).filter(carries).collect()
}

/// Open descriptors and unreaped children of this process. True only in a process [`alone`].
pub(crate) fn holdings() -> (usize, usize) {
    let descriptors = fs::read_dir("/proc/self/fd").unwrap().count();
    let children = fs::read_dir("/proc/self/task")
        .unwrap()
        .map(|thread| fs::read_to_string(thread.unwrap().path().join("children")).unwrap())
        .map(|list| list.split_whitespace().count())
        .sum();
    (descriptors, children)
}

/// The cgroup directories that this process has made and not removed.
pub(crate) fn groups() -> usize {
    let Some(root) = Root::detect() else { return 0 };
    let ours = format!("sidestick-{}-", std::process::id());
    let entries = fs::read_dir(root.dir()).unwrap().filter_map(Result::ok);
    entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(&ours))
        .count()
}

/// Runs the named test in a process of its own, where it can count what it holds. True in there.
pub(crate) fn alone(test: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let done = again(test).output().unwrap();
    let said = [done.stdout, done.stderr].concat();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&said));
    false
}

/// This test program, about to run one test alone.
pub(crate) fn again(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", test, "--nocapture"])
        .env(ALONE, "1");
    command
}

/// Whether this process was made by [`again`].
pub(crate) fn is_again() -> bool {
    std::env::var_os(ALONE).is_some()
}

pub(crate) fn kill(pid: u32) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, Signal::KILL).unwrap();
}
