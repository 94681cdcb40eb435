//! The rest that some programs need between a text and the key that ends it.
//!
//! Programs that read keys in the kitty protocol and take pastes are editors of prompts, and several of them tell
//! typing from a paste by the clock: Enter within a tenth of a second of many letters is a new line to them, or picks
//! from a list that they have not drawn yet. That they have read the text proves nothing then; that they have drawn
//! it and are still does.

use std::time::{Duration, Instant};

use crate::screen::Modes;

/// Longer than the eighth of a second within which Enter counts as part of a paste.
const STILL: Duration = Duration::from_millis(150);
/// The longest that a key is held back for it. A program that draws all the time is never still.
const BOUND: Duration = Duration::from_secs(1);

/// The text that was sent last, as long as no key followed it.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    text: Option<Text>,
}

#[derive(Debug)]
struct Text {
    sent: Instant,
    drawn: Option<Instant>,
}

impl Rest {
    /// Some text of a call goes out.
    pub(crate) fn text(&mut self, now: Instant) {
        self.text = Some(Text {
            sent: now,
            drawn: None,
        });
    }

    /// The program said something.
    pub(crate) fn output(&mut self, now: Instant) {
        if let Some(text) = &mut self.text {
            text.drawn = Some(now);
        }
    }

    /// Something else than text goes out.
    pub(crate) fn end(&mut self) {
        self.text = None;
    }

    /// When the key that ends the text may go to a program in these modes. `None`: at once.
    pub(crate) fn until(&self, modes: &Modes) -> Option<Instant> {
        if modes.kitty_flags == 0 || !modes.bracketed_paste {
            return None;
        }
        let text = self.text.as_ref()?;
        let bound = text.sent + BOUND;
        Some(text.drawn.map_or(bound, |drawn| bound.min(drawn + STILL)))
    }
}
