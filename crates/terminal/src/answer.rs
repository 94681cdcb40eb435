//! The structured answer of an action, read off the screen.

use wire::bash::{
    Action, Cursor, Details, Modes, Mouse, Observation, Process, ProcessState, Screen,
};
use wire::{TerminalId, signal};

use crate::clip;
use crate::machine::Exit;
use crate::screen::{self, Row};
use crate::vt::Vt;

/// An answer without a wait and without input. Who runs, and what is left in the background, only
/// the processes tell: the actor adds it.
pub(crate) fn details(
    id: TerminalId,
    vt: &Vt,
    exit: Option<Exit>,
    action: Action,
    marker: Option<&str>,
) -> Details {
    let rows = model_rows(vt);
    let observation = match action {
        Action::Screen => clip::whole(&rows),
        Action::Open
        | Action::Type
        | Action::Keys
        | Action::Wait
        | Action::Resize
        | Action::Close
        | Action::List => clip::clip(&rows, marker),
    };
    Details {
        terminal_id: id,
        action,
        process: process(exit),
        wait: None,
        screen: Some(screen(vt)),
        input: None,
        observation,
        supersedes: format!("terminal:{id}"),
        pane_url: None,
    }
}

/// The complete snapshot.
pub(crate) fn screen(vt: &Vt) -> Screen {
    let (size, cursor, modes) = (vt.size(), vt.cursor(), vt.modes());
    Screen {
        cols: size.cols,
        rows: size.rows,
        cursor: Cursor {
            row: cursor.row,
            col: cursor.col,
            visible: cursor.visible,
        },
        title: vt.title().to_owned(),
        alternate_screen: vt.alternate_screen(),
        frame_open: vt.frame_open(),
        lines: vt.rows().into_iter().map(|row| row.text).collect(),
        modes: Modes {
            application_cursor_keys: modes.application_cursor_keys,
            application_keypad: modes.application_keypad,
            bracketed_paste: modes.bracketed_paste,
            mouse: mouse(modes.mouse),
            kitty_flags: modes.kitty_flags,
        },
    }
}

/// What a model may read of the screen, within the bounds of an automatic observation.
pub(crate) fn observation(vt: &Vt) -> Observation {
    clip::clip(&model_rows(vt), None)
}

/// The state of the program.
pub(crate) fn process(exit: Option<Exit>) -> Process {
    Process {
        state: if exit.is_some() {
            ProcessState::Exited
        } else {
            ProcessState::Running
        },
        program: None,
        exit_code: exit.and_then(|exit| exit.code),
        signal: exit.and_then(|exit| exit.signal).map(signal::name),
        ended_by: exit.map(|exit| exit.ended_by),
        background_processes: 0,
    }
}

fn model_rows(vt: &Vt) -> Vec<Row> {
    let wrapped = vt.rows().into_iter().map(|row| row.wrapped);
    vt.model_rows()
        .into_iter()
        .zip(wrapped)
        .map(|(text, wrapped)| Row { text, wrapped })
        .collect()
}

fn mouse(mouse: screen::Mouse) -> Mouse {
    match mouse {
        screen::Mouse::Off => Mouse::Off,
        screen::Mouse::Press => Mouse::Press,
        screen::Mouse::Click => Mouse::Click,
        screen::Mouse::Drag => Mouse::Drag,
        screen::Mouse::Motion => Mouse::Motion,
    }
}
