//! Answers to a program's queries, on their way to it.
//!
//! An answer that can go at once goes at once. One that had to wait for a burst under way could
//! reach another program than the one that asked, as text that nobody typed: it is dropped unless
//! the process group that asked is still in the foreground.

use crate::tty::Tty;

/// Answers that are not written yet.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    bytes: Vec<u8>,
    stage: Stage,
}

/// What is known of who asked. Answers that wait together share it: the first asker's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// Nothing has waited.
    #[default]
    Prompt,
    /// Something waits, and who asked is to be found out.
    Late,
    /// The group in the foreground when it was asked.
    AskedBy(Option<u32>),
    /// The way is free, and whether that group is still there is to be found out.
    Checking(Option<u32>),
    /// It is.
    Checked,
}

/// Whether something is in the way of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Free,
    Blocked,
}

impl Answers {
    pub(crate) fn push(&mut self, bytes: &[u8], way: Way) {
        if bytes.is_empty() {
            return;
        }
        if way == Way::Blocked && self.stage == Stage::Prompt {
            self.stage = Stage::Late;
        }
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Whether the terminal is to be looked at for them.
    pub(crate) fn wants_probe(&self) -> bool {
        matches!(self.stage, Stage::Late | Stage::Checking(_))
    }

    pub(crate) fn probed(&mut self, tty: Tty) {
        match self.stage {
            Stage::Late => self.stage = Stage::AskedBy(tty.foreground),
            Stage::Checking(asker) if asker.is_some() && asker != tty.foreground => {
                *self = Self::default();
            }
            Stage::Checking(_) => self.stage = Stage::Checked,
            Stage::Prompt | Stage::AskedBy(_) | Stage::Checked => {}
        }
    }

    /// Takes them, if they may be written; the way is free.
    pub(crate) fn take(&mut self) -> Option<Vec<u8>> {
        match self.stage {
            Stage::Prompt | Stage::Checked => {
                self.stage = Stage::Prompt;
                Some(std::mem::take(&mut self.bytes))
            }
            Stage::AskedBy(asker) => {
                self.stage = Stage::Checking(asker);
                None
            }
            Stage::Late | Stage::Checking(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn front(group: u32) -> Tty {
        Tty {
            foreground: Some(group),
            ..Tty::default()
        }
    }

    #[test]
    fn b24_an_answer_that_can_go_at_once_asks_nobody() {
        let mut answers = Answers::default();
        answers.push(b"one", Way::Free);
        assert!(!answers.wants_probe());
        assert_eq!(answers.take().unwrap(), b"one");
    }

    #[test]
    fn b24_a_late_answer_goes_only_to_the_group_that_asked() {
        for (now, expected) in [(7, Some(b"late".to_vec())), (8, None)] {
            let mut answers = Answers::default();
            answers.push(b"late", Way::Blocked);
            assert!(answers.wants_probe());
            answers.probed(front(7));
            assert!(!answers.wants_probe());
            assert_eq!(answers.take(), None);
            assert!(answers.wants_probe());
            answers.probed(front(now));
            assert_eq!(answers.take().filter(|bytes| !bytes.is_empty()), expected);
            answers.push(b"next", Way::Free);
            assert_eq!(answers.take().unwrap(), b"next");
        }
    }
}
