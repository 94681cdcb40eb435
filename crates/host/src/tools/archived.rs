//! The details of a terminal of which only its record is left: it ended, and its screen has expired or was lost.

use wire::TerminalId;
use wire::bash::{
    Act, Action, Details, EndedBy, InputFacts, Observation, Outcome, Process, ProcessState, Until,
    Wait, WaitFacts,
};

use crate::store::{End, Ending};

/// What an action on such a terminal comes to: nothing was sent, and every wait is over.
pub(super) fn details(terminal_id: TerminalId, end: &End, act: &Act) -> Details {
    Details {
        terminal_id,
        action: action(act),
        process: process(end),
        wait: wait(act),
        screen: None,
        input: input(act),
        observation: Observation::default(),
        supersedes: format!("terminal:{terminal_id}"),
        pane_url: None,
    }
}

fn action(act: &Act) -> Action {
    match act {
        Act::Input { action, .. } => *action,
        Act::Wait(_) => Action::Wait,
        Act::Screen => Action::Screen,
        Act::Resize(_) => Action::Resize,
        Act::Close => Action::Close,
    }
}

fn process(end: &End) -> Process {
    let (exit_code, signal, ended_by) = match &end.how {
        Ending::Reaped {
            exit_code,
            signal,
            ended_by,
        } => (*exit_code, signal.clone(), *ended_by),
        Ending::Lost => (None, None, EndedBy::Server),
    };
    Process {
        state: ProcessState::Exited,
        program: None,
        exit_code,
        signal,
        ended_by: Some(ended_by),
        background_processes: 0,
    }
}

fn wait(act: &Act) -> Option<WaitFacts> {
    let until = match act {
        Act::Input {
            wait: Wait { until, .. },
            ..
        }
        | Act::Wait(Wait { until, .. }) => until,
        Act::Screen | Act::Resize(_) | Act::Close => return None,
    };
    let settled = matches!(until, Until::Quiet);
    Some(WaitFacts {
        outcome: Outcome::Exited,
        elapsed_ms: 0,
        marker_was_visible: false,
        in_echo: false,
        settled,
        changing_rows: Vec::new(),
    })
}

fn input(act: &Act) -> Option<InputFacts> {
    let Act::Input { text, .. } = act else {
        return None;
    };
    Some(InputFacts {
        unsent_bytes: text.len() as u64,
        ..InputFacts::default()
    })
}
