use wire::JobId;
use wire::runner::UntilFacts;

use super::*;

fn condition(end: Option<JobEnd>) -> KnownJob {
    KnownJob {
        id: JobId::from_random(1),
        command: "test -e x".to_owned(),
        cwd: "/".into(),
        state: end.map_or(JobState::Running, |_| JobState::Exited),
        exit_code: None,
        signal: None,
        end,
        started_ms: 0,
        ended_ms: None,
        until: Some(UntilFacts {
            met: end == Some(JobEnd::Itself),
            elapsed_ms: 70,
        }),
        background_processes: 0,
    }
}

fn lines(from_line: u64, count: u64, total_lines: u64, dropped_lines: u64) -> LogDetails {
    LogDetails {
        job_id: JobId::from_random(1),
        from_line,
        lines: (from_line..from_line + count)
            .map(|it| format!("l{it}"))
            .collect(),
        total_lines,
        dropped_lines,
        supersedes: String::new(),
    }
}

#[test]
fn the_ends_of_a_condition_are_told_apart() {
    for (end, word) in [
        (JobEnd::Itself, "Met after 70 ms"),
        (JobEnd::TimedOut, "Timed out after 70 ms"),
        (JobEnd::Stopped, "Stopped after 70 ms"),
        (JobEnd::Cancelled, "Cancelled after 70 ms"),
    ] {
        let text = until(&condition(Some(end)));
        assert!(
            text.starts_with(word) && text.contains("jb_0000000000000001"),
            "{text}"
        );
        assert!(waited_for(&condition(Some(end))).contains(word));
    }
    let text = goes_on(&condition(None));
    assert!(
        text.contains("still running") && text.contains("jb_0000000000000001"),
        "{text}"
    );
    assert!(waited_for(&condition(None)).contains("still running"));
}

#[test]
fn what_a_reading_of_a_log_leaves_out_is_told() {
    let whole = log(&lines(0, 3, 3, 0), LogPart::Tail(200));
    assert_eq!(
        whole,
        "jb_0000000000000001 · lines 0 to 2 of 3\n\nl0\nl1\nl2"
    );
    let part = log(&lines(5, 2, 10, 0), LogPart::From(5));
    assert!(part.contains("go on with from_line 7"), "{part}");
    let jumped = log(&lines(8, 2, 10, 4), LogPart::From(5));
    assert!(jumped.contains("lines 5 to 7 are not shown"), "{jumped}");
    assert!(
        jumped.contains("4 lines in the middle were dropped"),
        "{jumped}"
    );
    let beyond = log(&lines(10, 0, 10, 0), LogPart::From(99));
    assert!(beyond.contains("there are 10"), "{beyond}");
    let silent = log(&lines(0, 0, 0, 0), LogPart::Tail(5));
    assert!(silent.ends_with("no output"), "{silent}");
}

#[test]
fn a_command_of_many_lines_takes_one_in_a_list() {
    let job = Job {
        id: JobId::from_random(2),
        command: "make\nmake test".to_owned(),
        cwd: "/".to_owned(),
        state: JobState::Stopped,
        exit_code: None,
        signal: Some("SIGTERM".to_owned()),
        started: String::new(),
        ended: None,
        terminal_id: None,
    };
    let text = list(&JobList { jobs: vec![job] });
    assert_eq!(
        text,
        "jb_0000000000000002 · make make test · stopped, by SIGTERM"
    );
}
