//! Starting a program: what it finds, and that a failing start says why and leaves nothing.

use crate::support::*;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::path::PathBuf;
use terminal::process::{Exit, Start, StartError, Stdio, start};

#[tokio::test]
async fn a_program_finds_its_terminal_its_directory_its_environment_and_nothing_else() {
    let script = "tty >/dev/null && stty size; pwd; env | sort; ls /proc/self/fd | wc -l; \
        ps -o sid=,pgid=,pid= -p $$ | awk '{ print ($1 == $2 && $2 == $3) }'";
    let mut program = Start {
        cwd: PathBuf::from("/usr"),
        ..sh(script)
    };
    program.env.push(("ODD".into(), "a=b c".into()));
    let (mut process, master) = begin(program).await;
    let (output, exit) = read_to_exit(&mut process, &master).await;
    assert_eq!(exit, Exit::Code(0));
    let lines: Vec<_> = output.lines().collect();
    // `ls` has one descriptor more for the directory that it reads.
    let env = [
        "LC_ALL=C",
        "ODD=a=b c",
        "PATH=/usr/local/bin:/usr/bin:/bin",
        "PWD=/usr",
        "TERM=xterm",
    ];
    let expected: Vec<_> = ["30 100", "/usr"]
        .into_iter()
        .chain(env)
        .chain(["4", "1"])
        .collect();
    assert_eq!(lines, expected);
}

#[tokio::test]
async fn a_program_has_the_default_action_for_every_signal_and_an_empty_mask() {
    let (mut process, master) = begin(program(["cat", "/proc/self/status"])).await;
    let (output, _) = read_to_exit(&mut process, &master).await;
    for name in ["SigIgn:", "SigBlk:"] {
        let mask = output
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .unwrap();
        // Two signals belong to the C library, which lets nobody change them.
        let of_the_library = 0b11 << 31;
        let mask = u64::from_str_radix(mask.trim(), 16).unwrap();
        assert_eq!(mask & !of_the_library, 0, "{name}");
    }
}

#[tokio::test]
async fn a_start_that_fails_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let plain = dir.path().join("plain");
    std::fs::write(&plain, "not a program").unwrap();
    let name = plain.to_str().unwrap();
    let elsewhere = |cwd: &str| Start {
        cwd: PathBuf::from(cwd),
        ..sh("exit")
    };
    assert!(matches!(
        fails(program(["no-such-program"])).await,
        StartError::ProgramNotFound
    ));
    assert!(matches!(
        fails(program([name])).await,
        StartError::ProgramForbidden
    ));
    assert!(matches!(
        fails(program(["/"])).await,
        StartError::ProgramForbidden
    ));
    assert!(matches!(
        fails(elsewhere("/no/such/place")).await,
        StartError::NoSuchDirectory
    ));
    assert!(matches!(
        fails(elsewhere(name)).await,
        StartError::NoSuchDirectory
    ));
    assert!(matches!(fails(program([])).await, StartError::Other(_)));
    let leash = PathBuf::from("/no/such/leash");
    assert!(matches!(
        fails(Start {
            leash,
            ..sh("exit")
        })
        .await,
        StartError::Other(_)
    ));
    let leash = PathBuf::from("/bin/true");
    assert!(matches!(
        fails(Start {
            leash,
            ..sh("exit")
        })
        .await,
        StartError::Other(_)
    ));
}

#[tokio::test]
async fn a_very_long_environment_arrives_whole() {
    let mut program = sh("echo ${#LONG0} ${#LONG9}");
    program
        .env
        .extend((0..10).map(|n| (format!("LONG{n}").into(), "x".repeat(100_000).into())));
    let (mut process, master) = begin(program).await;
    assert_eq!(
        read_to_exit(&mut process, &master).await.0,
        "100000 100000\r\n"
    );
}

#[test]
fn b49_a_thousand_failing_starts_leave_nothing() {
    if !alone("starts::b49_a_thousand_failing_starts_leave_nothing") {
        return;
    }
    run(async {
        fails(program(["no-such-program"])).await;
        let held = holdings();
        for round in 0..1000 {
            let containment = containments().remove(round % containments().len());
            let stdio = [Stdio::Pipes, Stdio::Capture, sh("").stdio][round % 3];
            let cwd = PathBuf::from(["/", "/no/such/place"][round / 2 % 2]);
            let program = program(["no-such-program"]);
            fails(Start {
                containment,
                stdio,
                cwd,
                ..program
            })
            .await;
        }
        assert_eq!((holdings(), groups()), (held, 0));
    });
}

#[test]
fn b49_a_start_that_is_given_up_leaves_nothing() {
    if !alone("starts::b49_a_start_that_is_given_up_leaves_nothing") {
        return;
    }
    run(async {
        fails(program(["no-such-program"])).await;
        let (held, mark) = (holdings(), new_mark());
        for round in 0..50 {
            let containment = containments().remove(round % containments().len());
            let program = Start {
                containment,
                ..marked(sh("sleep 1000"), &mark)
            };
            let late = std::time::Duration::from_micros(200 * round as u64 % 4000);
            let _ = tokio::time::timeout(late, start(program)).await;
        }
        until(|| (holdings(), groups(), carriers(&mark)) == (held, 0, 0)).await;
    });
}

#[test]
fn b49_without_a_free_descriptor_the_start_is_refused_and_leaves_nothing() {
    if !alone("starts::b49_without_a_free_descriptor_the_start_is_refused_and_leaves_nothing") {
        return;
    }
    run(async {
        fails(program(["no-such-program"])).await;
        let (held, limit) = (holdings(), getrlimit(Resource::Nofile));
        // From none at all to just too few.
        let mut refused = 0;
        loop {
            let current = Some(held.0 as u64 + refused);
            setrlimit(Resource::Nofile, Rlimit { current, ..limit }).unwrap();
            let error = fails_or_not(sh("exit")).await;
            setrlimit(Resource::Nofile, limit).unwrap();
            match error {
                Some(StartError::NoDescriptorLeft) => refused += 1,
                Some(other) => panic!("after {refused}: {other:?}"),
                None => break,
            }
            assert_eq!(holdings(), held);
        }
        // A terminal and the connection to its leash are four and more.
        assert!(refused >= 4, "{refused}");
    });
}

async fn fails(program: Start) -> StartError {
    fails_or_not(program).await.expect("it started")
}

async fn fails_or_not(program: Start) -> Option<StartError> {
    within(start(program)).await.err()
}

fn run(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(work);
}
