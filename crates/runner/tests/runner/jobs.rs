//! Jobs of a runner: commands in the background, conditions, logs, and commands that outlast their call.

use std::path::Path;
use std::time::{Duration, Instant};

use wire::jobs::{JobState, LogDetails, LogPart};
use wire::runner::{Answer, Call, JobEnd, KnownJob, Outlast, ToRunner};
use wire::{JobId, Kind, Refusal};

use crate::support::*;

const MS: Duration = Duration::from_millis(1);

impl Server {
    fn job(&mut self, call: Call) -> KnownJob {
        let answer = self.call(call);
        job_of(answer)
    }

    fn background(&mut self, number: u64, command: &str) -> JobId {
        let (job, program) = (JobId::from_random(number), shell(command));
        let known = self.job(Call::Background { job, program });
        assert_eq!((known.id, known.state), (job, JobState::Running));
        assert_eq!(known.command, command);
        job
    }

    fn wait(&mut self, job: JobId) -> KnownJob {
        let timeout = PATIENCE;
        self.job(Call::WaitJob { job, timeout })
    }

    fn log(&mut self, job: JobId, part: LogPart) -> LogDetails {
        let answer = self.call(Call::Log { job, part });
        let Answer::Log(log) = answer.unwrap() else {
            panic!()
        };
        *log
    }

    fn jobs(&mut self) -> Vec<KnownJob> {
        let Answer::Jobs { jobs } = self.call(Call::Jobs).unwrap() else {
            panic!()
        };
        jobs
    }

    /// Waits until a line of the log says so.
    fn seen(&mut self, job: JobId, line: &str) {
        let end = Instant::now() + PATIENCE;
        while !self
            .log(job, LogPart::Tail(50))
            .lines
            .iter()
            .any(|it| it == line)
        {
            assert!(Instant::now() < end, "{line} never came");
            std::thread::sleep(5 * MS);
        }
    }

    fn start_until(&mut self, number: u64, condition: &str, within: Option<Duration>) -> u64 {
        let (job, program) = (JobId::from_random(number), shell(condition));
        self.start(Call::Until {
            job,
            program,
            interval: 200 * MS,
            timeout: if condition.contains("never") {
                1_000 * MS
            } else {
                PATIENCE
            },
            within,
        })
    }
}

fn job_of(answer: Result<Answer, Refusal>) -> KnownJob {
    match answer.unwrap() {
        Answer::Job(job) => *job,
        other => panic!("{other:?}"),
    }
}

fn logs(runner: &Running) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(runner.folder.path().join("jobs"));
    entries
        .into_iter()
        .flatten()
        .map(|it| it.unwrap().path())
        .collect()
}

#[test]
fn a_command_in_the_background_is_listed_waited_for_and_read() {
    let runner = Running::start(PATIENCE);
    let mut server = runner.connect();
    let job = server.background(1, "echo one; echo two >&2; exit 5");
    let ended = server.wait(job);
    assert_eq!((ended.state, ended.exit_code), (JobState::Exited, Some(5)));
    assert_eq!(ended.end, Some(JobEnd::Itself));
    assert!(ended.started_ms <= ended.ended_ms.unwrap());
    let log = server.log(job, LogPart::Tail(200));
    assert_eq!(log.lines, ["one", "two"]);
    assert_eq!(
        (log.from_line, log.total_lines, log.dropped_lines),
        (0, 2, 0)
    );
    let running = server.background(2, "sleep 300");
    let listed: Vec<JobId> = server.jobs().iter().map(|it| it.id).collect();
    assert_eq!(listed, [running, job], "running ones come first");
    let unknown = Call::StopJob {
        job: JobId::from_random(9),
    };
    assert_eq!(server.call(unknown).unwrap_err().message, Kind::JobNotFound);
    server.call(Call::End).unwrap();
    assert!(logs(&runner).is_empty(), "the logs go with the runner");
    runner.ended();
}

#[test]
fn what_cannot_be_started_is_no_job() {
    let runner = Running::start(PATIENCE);
    let mut server = runner.connect();
    let mut program = shell("true");
    program.cwd = "/nowhere/at/all".into();
    let job = JobId::from_random(1);
    for call in [
        Call::Background {
            job,
            program: program.clone(),
        },
        Call::Until {
            job,
            program,
            interval: 200 * MS,
            timeout: PATIENCE,
            within: None,
        },
    ] {
        assert_eq!(server.call(call).unwrap_err().message, Kind::InvalidParams);
    }
    assert!(server.jobs().is_empty() && logs(&runner).is_empty());
    server.call(Call::End).unwrap();
    runner.ended();
}

#[test]
fn stopping_a_job_asks_first_and_leaves_no_process() {
    let runner = Running::start(PATIENCE);
    let mut server = runner.connect();
    let polite = server.background(
        1,
        "trap 'echo cleaned; exit 0' TERM; echo up; while :; do sleep 0.05; done",
    );
    server.seen(polite, "up");
    let stopped = server.job(Call::StopJob { job: polite });
    assert_eq!(stopped.state, JobState::Stopped);
    assert_eq!(stopped.end, Some(JobEnd::Stopped));
    assert_eq!(server.log(polite, LogPart::Tail(1)).lines, ["cleaned"]);
    let stubborn = server.background(
        2,
        "trap '' HUP TERM; setsid sh -c 'echo $$; exec sleep 300' & echo $$; wait; sleep 300",
    );
    let pids = loop {
        let lines = server.log(stubborn, LogPart::Tail(9)).lines;
        if lines.len() == 2 {
            break lines;
        }
        std::thread::sleep(5 * MS);
    };
    let stopped = server.job(Call::StopJob { job: stubborn });
    assert_eq!(stopped.signal.as_deref(), Some("SIGKILL"), "{stopped:?}");
    for pid in pids {
        assert!(
            !Path::new(&format!("/proc/{pid}")).exists(),
            "{pid} is left"
        );
    }
    server.call(Call::End).unwrap();
    runner.ended();
}

#[test]
fn what_a_command_leaves_in_the_background_goes_on_and_can_be_stopped() {
    let runner = Running::start(Duration::from_millis(100));
    let mut server = runner.connect();
    let job = server.background(1, "(sleep 0.2; echo late; exec sleep 300) & echo main");
    let ended = server.wait(job);
    assert_eq!((ended.state, ended.exit_code), (JobState::Exited, Some(0)));
    assert!(1 <= ended.background_processes, "{ended:?}");
    server.seen(job, "late");
    let stopped = server.job(Call::StopJob { job });
    assert_eq!(stopped.state, JobState::Exited, "its own end stays");
    assert_eq!(stopped.background_processes, 0);
    drop(server);
    // Nothing runs any more: the idle runner ends.
    runner.ended();
}

#[test]
fn a_condition_that_holds_is_met_and_one_that_does_not_times_out() {
    let runner = Running::start(PATIENCE);
    let mut server = runner.connect();
    let go = runner.folder.path().join("go");
    let call = server.start_until(1, &format!("echo look; test -e {}", go.display()), None);
    server.seen(JobId::from_random(1), "look");
    std::fs::write(&go, "").unwrap();
    let met = job_of(server.answer(call));
    assert_eq!((met.state, met.exit_code), (JobState::Exited, Some(0)));
    assert!(met.until.unwrap().met);
    let call = server.start_until(2, "test never = here", None);
    let late = job_of(server.answer(call));
    assert_eq!(
        (late.state, late.end),
        (JobState::Exited, Some(JobEnd::TimedOut))
    );
    let facts = late.until.unwrap();
    assert!(!facts.met && 1_000 <= facts.elapsed_ms, "{facts:?}");
    // A poll that hangs takes no more than the time that is left.
    let call = server.start_until(3, "sleep 300 # never", None);
    assert_eq!(job_of(server.answer(call)).end, Some(JobEnd::TimedOut));
    server.call(Call::End).unwrap();
    runner.ended();
}

#[test]
fn a_condition_can_be_stopped_cancelled_and_waited_for_in_parts() {
    let runner = Running::start(PATIENCE);
    let mut server = runner.connect();
    server.start_until(1, "exec sleep 300", None);
    let stopped = server.job(Call::StopJob {
        job: JobId::from_random(1),
    });
    assert_eq!(
        (stopped.state, stopped.end),
        (JobState::Stopped, Some(JobEnd::Stopped))
    );
    let call = server.start_until(2, "echo up; exec sleep 300", None);
    server.seen(JobId::from_random(2), "up");
    let cancelled = server.calls;
    server.send(&ToRunner::Cancel { id: call });
    assert!(call < cancelled);
    assert_eq!(
        server.wait(JobId::from_random(2)).end,
        Some(JobEnd::Cancelled)
    );
    // Its call ends early and the polling goes on, until a later wait for it is cancelled.
    let call = server.start_until(3, "false", Some(50 * MS));
    let running = job_of(server.answer(call));
    assert_eq!(
        (running.state, running.until.unwrap().met),
        (JobState::Running, false)
    );
    let job = JobId::from_random(3);
    let timeout = PATIENCE;
    let call = server.start(Call::WaitJob { job, timeout });
    server.send(&ToRunner::Cancel { id: call });
    let ended = job_of(server.answer(call));
    assert_eq!(
        (ended.state, ended.end),
        (JobState::Stopped, Some(JobEnd::Cancelled))
    );
    server.call(Call::End).unwrap();
    runner.ended();
}

#[test]
fn a_cancelled_wait_for_a_command_ends_the_wait_alone() {
    let runner = Running::start(PATIENCE);
    let mut server = runner.connect();
    let job = server.background(1, "sleep 300");
    let timeout = PATIENCE;
    let call = server.start(Call::WaitJob { job, timeout });
    server.send(&ToRunner::Cancel { id: call });
    assert_eq!(job_of(server.answer(call)).state, JobState::Running);
    let timeout = 100 * MS;
    let late = server.job(Call::WaitJob { job, timeout });
    assert_eq!(late.state, JobState::Running);
    server.call(Call::End).unwrap();
    runner.ended();
}

#[test]
fn a_plain_command_that_outlasts_its_call_goes_on_with_its_whole_log() {
    let runner = Running::start(PATIENCE);
    let mut server = runner.connect();
    let go = runner.folder.path().join("go");
    let job = JobId::from_random(1);
    let outlast = Some(Outlast {
        job,
        after: 300 * MS,
    });
    let command = format!(
        "echo first; until test -e {}; do sleep 0.05; done; echo last; exit 3",
        go.display()
    );
    let running = server.job(Call::Run {
        program: shell(&command),
        timeout: PATIENCE,
        outlast,
    });
    assert_eq!((running.id, running.state), (job, JobState::Running));
    std::fs::write(&go, "").unwrap();
    let ended = server.wait(job);
    assert_eq!((ended.state, ended.exit_code), (JobState::Exited, Some(3)));
    assert_eq!(server.log(job, LogPart::From(0)).lines, ["first", "last"]);
    server.call(Call::End).unwrap();
    runner.ended();
}

#[test]
fn a_plain_command_that_ends_in_time_never_was_a_job() {
    let runner = Running::start(PATIENCE);
    let mut server = runner.connect();
    let run = |server: &mut Server, command: &str, timeout: Duration| {
        let outlast = Some(Outlast {
            job: JobId::from_random(1),
            after: PATIENCE,
        });
        let program = shell(command);
        let call = Call::Run {
            program,
            timeout,
            outlast,
        };
        server.start(call)
    };
    let call = run(&mut server, "echo out; exit 4", PATIENCE);
    let Answer::Run(details) = server.answer(call).unwrap() else {
        panic!()
    };
    assert_eq!(details.process.exit_code, Some(4));
    assert_eq!(details.output.text, "out\n");
    let call = run(&mut server, "echo out; sleep 300", 300 * MS);
    assert!(server.jobs().is_empty(), "it is no job yet");
    let Answer::Run(details) = server.answer(call).unwrap() else {
        panic!()
    };
    assert!(details.timed_out);
    let call = run(&mut server, "sleep 300", PATIENCE);
    server.send(&ToRunner::Cancel { id: call });
    let Answer::Run(details) = server.answer(call).unwrap() else {
        panic!()
    };
    assert_eq!(details.process.signal.as_deref(), Some("SIGTERM"));
    assert!(server.jobs().is_empty() && logs(&runner).is_empty());
    server.call(Call::End).unwrap();
    runner.ended();
}

#[test]
fn jobs_outlive_their_server_and_what_it_waited_for_becomes_one() {
    let runner = Running::start(PATIENCE);
    let mut server = runner.connect();
    let job = server.background(1, "echo up; sleep 300");
    server.start_until(2, "false", None);
    let outlast = Some(Outlast {
        job: JobId::from_random(3),
        after: PATIENCE,
    });
    server.start(Call::Run {
        program: shell("echo plain; sleep 300"),
        timeout: PATIENCE,
        outlast,
    });
    assert_eq!(server.jobs().len(), 2);
    drop(server);
    let mut server = runner.connect();
    let mut listed: Vec<JobId> = server.jobs().iter().map(|it| it.id).collect();
    listed.sort();
    assert_eq!(listed, [1, 2, 3].map(JobId::from_random));
    server.seen(job, "up");
    server.seen(JobId::from_random(3), "plain");
    server.call(Call::End).unwrap();
    runner.ended();
}

#[test]
fn old_jobs_are_forgotten_with_their_logs_and_running_ones_are_bounded() {
    let runner = Running::start(PATIENCE);
    let mut server = runner.connect();
    for number in 0..wire::limits::ENDED_JOBS as u64 + 3 {
        let job = server.background(number, "true");
        server.wait(job);
    }
    assert_eq!(server.jobs().len(), wire::limits::ENDED_JOBS);
    assert_eq!(logs(&runner).len(), wire::limits::ENDED_JOBS);
    let gone = LogPart::Tail(1);
    let refusal = server
        .call(Call::Log {
            job: JobId::from_random(0),
            part: gone,
        })
        .unwrap_err();
    assert_eq!(refusal.message, Kind::JobNotFound);
    for number in 0..wire::limits::RUNNING_JOBS as u64 {
        server.background(1_000 + number, "exec sleep 300");
    }
    let refusal = server
        .call(Call::Background {
            job: JobId::from_random(5_000),
            program: shell("true"),
        })
        .unwrap_err();
    assert_eq!((refusal.code, refusal.message), (409, Kind::TooManyJobs));
    assert!(refusal.hint.is_some());
    server.call(Call::End).unwrap();
    runner.ended();
}

#[test]
fn logs_of_a_dead_runner_are_swept_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("jobs")).unwrap();
    std::fs::write(folder.path().join("jobs/jb_0000000000000001.log"), "old").unwrap();
    let runner = Running::start_in(folder, PATIENCE);
    let mut server = runner.connect();
    assert!(logs(&runner).is_empty());
    server.call(Call::End).unwrap();
    runner.ended();
}
