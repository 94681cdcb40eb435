//! Terminals and plain commands of a runner, its end, and who may speak to it.

use std::path::Path;
use std::time::Duration;

use wire::bash::{Act, Action, Until, Wait};
use wire::runner::{Answer, Call, FromRunner, ToRunner, VERSION};
use wire::{Kind, Size, TerminalId};

use crate::support::*;

#[test]
fn a_runner_without_terminals_and_server_ends_when_it_has_been_idle() {
    let runner = Running::start(Duration::from_millis(300));
    let server = runner.connect();
    drop(server);
    runner.ended();
}

#[test]
fn a_terminal_keeps_its_runner_alive_and_the_end_of_it_lets_it_go() {
    let runner = Running::start(Duration::from_millis(200));
    let mut server = runner.connect();
    let id = server.open(1, "read line; exit 3", Until::Quiet);
    drop(server);
    // Far longer than the idle time, seen from the terminal's side: it answers a later server.
    let mut server = runner.connect();
    let wait = Wait {
        until: Until::Exit,
        timeout: None,
    };
    let act = Act::Input {
        action: Action::Keys,
        text: String::new(),
        keys: vec!["Enter".into()],
        wait,
    };
    let Answer::Details(details) = server.call(Call::Act { terminal: id, act }).unwrap() else {
        panic!()
    };
    assert_eq!(details.process.exit_code, Some(3));
    drop(server);
    runner.ended();
}

#[test]
fn an_exit_is_told_to_each_new_server_until_one_has_stored_it() {
    let runner = Running::start(PATIENCE);
    let mut server = runner.connect();
    let id = server.open(1, "exit 3", Until::Exit);
    drop(server);
    for _ in 0..2 {
        runner.connect().heard_exit_of(id);
    }
    let mut server = runner.connect();
    server.heard_exit_of(id);
    server.send(&ToRunner::ExitsStored {
        terminals: vec![id],
    });
    server.call(Call::List).unwrap();
    drop(server);
    let mut server = runner.connect();
    let Answer::Terminals { terminals } = server.call(Call::List).unwrap() else {
        panic!()
    };
    // The list is the first that this server hears: no exit came before it.
    assert_eq!(server.calls, 1);
    assert_eq!(terminals.len(), 1, "the final screen is still there");
    assert_eq!(server.call(Call::End), Ok(Answer::Done));
    runner.ended();
}

#[test]
fn the_end_leaves_no_process_behind() {
    let runner = Running::start(PATIENCE);
    let mut server = runner.connect();
    let marker = runner.folder.path().join("alive");
    let command = format!(
        "(trap '' HUP; setsid sleep 300) & touch {}; sleep 300",
        marker.display()
    );
    server.open(1, &command, Until::Quiet);
    let program = shell("(setsid sleep 300) & echo started");
    let Answer::Run(run) = server
        .call(Call::Run {
            program,
            timeout: PATIENCE,
            outlast: None,
        })
        .unwrap()
    else {
        panic!()
    };
    assert_eq!(run.output.text, "started\n");
    assert_eq!(run.process.background_processes, 1);
    let Answer::Terminals { terminals } = server.call(Call::List).unwrap() else {
        panic!()
    };
    let pids: Vec<u32> = terminals.iter().flat_map(|it| it.pids.clone()).collect();
    assert_eq!(pids.len(), 2);
    assert_eq!(server.call(Call::End), Ok(Answer::Done));
    for pid in pids {
        assert!(
            !Path::new(&format!("/proc/{pid}")).exists(),
            "{pid} is left"
        );
    }
    runner.ended();
}

#[test]
fn a_newer_connection_takes_over_and_an_unknown_version_is_turned_away() {
    let runner = Running::start(PATIENCE);
    let mut first = runner.connect();
    let mut second = runner.connect();
    assert_eq!(first.hear(), None);
    second.call(Call::List).unwrap();
    let mut foreign = Server::connect(&runner.socket());
    foreign.send(&ToRunner::Hello {
        version: VERSION + 7,
    });
    assert!(matches!(foreign.hear(), Some(FromRunner::Hello { .. })));
    assert_eq!(foreign.hear(), None);
    let mut last = runner.connect();
    last.call(Call::End).unwrap();
    runner.ended();
}

#[test]
fn a_plain_command_is_ended_at_its_time_with_all_it_started() {
    let runner = Running::start(PATIENCE);
    let mut server = runner.connect();
    let program = shell("echo before; sleep 300 & wait");
    let timeout = Duration::from_millis(500);
    let Answer::Run(run) = server
        .call(Call::Run {
            program,
            timeout,
            outlast: None,
        })
        .unwrap()
    else {
        panic!()
    };
    assert!(run.timed_out);
    assert_eq!(run.output.text, "before\n");
    assert_eq!(server.call(Call::End), Ok(Answer::Done));
    runner.ended();
}

#[test]
fn what_cannot_be_started_is_refused_with_what_to_do() {
    let runner = Running::start(PATIENCE);
    let mut server = runner.connect();
    let mut nowhere = shell("true");
    nowhere.cwd = "/nowhere/at/all".into();
    let mut no_shell = shell("true");
    no_shell.argv[0] = "/nowhere/sh".into();
    for (program, kind) in [
        (nowhere, Kind::InvalidParams),
        (no_shell, Kind::ProgramNotFound),
    ] {
        let wait = Wait {
            until: Until::Quiet,
            timeout: None,
        };
        let (terminal, size) = (TerminalId::from_random(1), Size { cols: 80, rows: 24 });
        let refusal = server
            .call(Call::Open {
                terminal,
                program,
                size,
                wait,
            })
            .unwrap_err();
        assert_eq!(refusal.message, kind);
        assert!(refusal.hint.is_some(), "{refusal}");
    }
    server.call(Call::End).unwrap();
    runner.ended();
}

#[test]
fn a_call_of_a_newer_server_is_refused_and_other_unknown_messages_are_skipped() {
    let runner = Running::start(PATIENCE);
    let mut server = runner.connect();
    server.send_text(r#"{"message":"sing","id":5}"#);
    server.send_text(r#"{"message":"call","id":9,"call":{"call":"dance"}}"#);
    let Some(FromRunner::Reply {
        id: 9,
        result: Err(refusal),
    }) = server.hear()
    else {
        panic!("no refusal")
    };
    assert_eq!(refusal.message, Kind::MethodNotFound);
    server.call(Call::End).unwrap();
    runner.ended();
}
