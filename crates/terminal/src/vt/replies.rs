//! What a program is answered beyond what the engine answers itself.
//!
//! Every answer is written at the byte of its query, so that answers keep the order of questions.

use fux_vt::{Event, Params, Sink, Unhandled};

use super::title::Title;
use super::{Clipboard, Fed};

/// The colours of a dark terminal: a program that asks learns that its background is dark.
const FOREGROUND: [u8; 3] = [0xe5, 0xe5, 0xe5];
const BACKGROUND: [u8; 3] = [0x1e, 0x1e, 0x1e];
/// xterm's sixteen colours.
pub(super) const PALETTE: [[u8; 3]; 16] = [
    [0x00, 0x00, 0x00],
    [0xcd, 0x00, 0x00],
    [0x00, 0xcd, 0x00],
    [0xcd, 0xcd, 0x00],
    [0x00, 0x00, 0xee],
    [0xcd, 0x00, 0xcd],
    [0x00, 0xcd, 0xcd],
    [0xe5, 0xe5, 0xe5],
    [0x7f, 0x7f, 0x7f],
    [0xff, 0x00, 0x00],
    [0x00, 0xff, 0x00],
    [0xff, 0xff, 0x00],
    [0x5c, 0x5c, 0xff],
    [0xff, 0x00, 0xff],
    [0x00, 0xff, 0xff],
    [0xff, 0xff, 0xff],
];
/// Tertiary device attributes: a unit identity of zeros, as of a terminal that has none.
const UNIT_IDENTITY: &[u8] = b"\x1bP!|00000000\x1b\\";
/// The colour scheme in use: dark.
const DARK_SCHEME: &[u8] = b"\x1b[?997;1n";

/// Collects what a piece of output asks for; the title outlives the piece.
#[derive(Debug, Default)]
pub(super) struct Answers {
    pub(super) title: Title,
    fed: Fed,
}

impl Answers {
    pub(super) fn take(&mut self) -> Fed {
        std::mem::take(&mut self.fed)
    }

    fn answer_colour(&mut self, number: u8, bel: bool) {
        // The pointer's and Tektronix's backgrounds and the highlight's are backgrounds too.
        let [r, g, b] = match number {
            11 | 14 | 16 | 17 => BACKGROUND,
            _ => FOREGROUND,
        };
        let end = if bel { "\x07" } else { "\x1b\\" };
        let reply = format!("\x1b]{number};rgb:{r:02x}{r:02x}/{g:02x}{g:02x}/{b:02x}{b:02x}{end}");
        self.fed.replies.extend_from_slice(reply.as_bytes());
    }

    fn window_operation(&mut self, params: Params<'_>) {
        let mut groups = params
            .groups()
            .map(|group| group.first().copied().unwrap_or(0));
        let operation = groups.next().unwrap_or(0);
        // 1 names the icon's title alone, which nothing shows.
        let of_window = groups.next().unwrap_or(0) != 1;
        match operation {
            22 if of_window => self.title.save(),
            23 if of_window => self.title.restore(),
            _ => {}
        }
    }
}

impl Sink for Answers {
    fn reply(&mut self, bytes: &[u8]) {
        self.fed.replies.extend_from_slice(bytes);
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Title(text) => self.title.set(text.bytes),
            Event::Bell => self.fed.bell = true,
            Event::Clipboard { selection, data } => {
                self.fed.clipboard = Some(Clipboard {
                    selection: String::from_utf8_lossy(selection).into_owned(),
                    data: data.bytes.to_vec(),
                });
            }
            Event::ColorQuery { number, bel } => self.answer_colour(number, bel),
            Event::IconName(_) | Event::Notification(_) | Event::CommandEnded(_) => {}
        }
    }

    fn unhandled(&mut self, sequence: Unhandled<'_>) {
        let Unhandled::Csi {
            params,
            intermediates,
            action,
        } = sequence
        else {
            return;
        };
        let first = params
            .groups()
            .next()
            .and_then(|group| group.first().copied())
            .unwrap_or(0);
        match (intermediates, action) {
            (b"=", b'c') if first == 0 => self.reply(UNIT_IDENTITY),
            (b"?", b'n') if first == 996 => self.reply(DARK_SCHEME),
            (b"", b't') => self.window_operation(params),
            _ => {}
        }
    }
}
