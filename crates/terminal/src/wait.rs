//! One call's wait: what it waits for, since when, and how it ends.
//!
//! What was there before the call is noted before the first byte of its own input; nothing is
//! judged before the last byte is written. A screen is read only when it may have changed.

use std::time::{Duration, Instant};

use wire::bash::{Action, InputFacts, Outcome, Until, Wait, WaitFacts};
use wire::limits::{QUIET, SETTLE_CAP, SETTLE_QUIET, SETTLE_SILENT, WAIT_TIMEOUT};

use crate::echo::{Echo, Seen};
use crate::machine::Ticket;
use crate::text::ScreenText;
use crate::tty::Tty;

/// How long silence must last to count as rest.
#[derive(Clone, Copy, Debug)]
struct Rest {
    /// After output.
    quiet: Duration,
    /// Without any output.
    silent: Duration,
    /// After this a settling call is answered, rest or not.
    cap: Option<Duration>,
}

/// An input call without a condition and a timeout.
const SETTLING: Rest = Rest {
    quiet: SETTLE_QUIET,
    silent: SETTLE_SILENT,
    cap: Some(SETTLE_CAP),
};
/// A fresh program: its first output is waited for, since shells drop what is typed before.
const STARTING: Rest = Rest {
    quiet: SETTLE_QUIET,
    silent: SETTLE_CAP,
    cap: Some(SETTLE_CAP),
};
/// An explicit wait without a condition.
const RESTING: Rest = Rest {
    quiet: QUIET,
    silent: QUIET,
    cap: None,
};

/// A call that is not answered yet.
#[derive(Debug)]
pub(crate) struct Waiter {
    pub ticket: Ticket,
    pub action: Action,
    pub until: Until,
    /// What became of its input, once that is known; `None` also for a call without input.
    pub input: Option<InputFacts>,
    /// The display before the call.
    pub fingerprint: u64,
    started: Instant,
    deadline: Instant,
    rest: Rest,
    typed: Option<String>,
    since: Option<Since>,
    echo: Option<Echo>,
    marker_was_visible: bool,
    ahead: Ahead,
    seen: Option<(u64, Seen)>,
}

/// Whether its input was typed ahead of a line editor, which shows again what the kernel echoed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ahead {
    /// Whoever read then shows it once.
    No,
    /// The kernel echoed it to this process group; a line editor may come after that.
    Perhaps(Option<u32>),
    /// The editor came.
    Yes,
}

/// From when on the wait counts: the last byte of its input, or the call.
#[derive(Clone, Copy, Debug)]
struct Since {
    at: Instant,
    outputs: u64,
}

/// How things stand when waits are judged.
#[derive(Debug)]
pub(crate) struct Moment {
    pub now: Instant,
    /// Pieces of output so far.
    pub outputs: u64,
    pub last_output: Instant,
    /// No synchronized update and no sequence is half done.
    pub calm: bool,
    pub exited: bool,
    /// Counts up with whatever may change the screen.
    pub version: u64,
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub outcome: Outcome,
    pub in_echo: bool,
    pub settled: bool,
}

impl Waiter {
    /// A call whose input is `typed`, or that has none.
    pub(crate) fn new(
        now: Instant,
        ticket: Ticket,
        action: Action,
        wait: Wait,
        typed: Option<String>,
    ) -> Self {
        let rest = match (action, wait.timeout) {
            (Action::Type | Action::Keys, None) => SETTLING,
            (Action::Open, None) => STARTING,
            _ if wait.until == Until::Quiet => RESTING,
            _ => SETTLING,
        };
        Self {
            ticket,
            action,
            until: wait.until,
            input: None,
            fingerprint: 0,
            started: now,
            deadline: now + wait.timeout.unwrap_or(WAIT_TIMEOUT),
            rest,
            typed,
            since: None,
            echo: None,
            marker_was_visible: false,
            ahead: Ahead::No,
            seen: None,
        }
    }

    /// The text it looks for.
    pub(crate) fn marker(&self) -> Option<&str> {
        match &self.until {
            Until::Present(text) | Until::Absent(text) => Some(text),
            Until::Quiet | Until::Exit => None,
        }
    }

    pub(crate) fn has_input(&self) -> bool {
        self.typed.is_some()
    }

    /// Whether its input is all written, or given up.
    pub(crate) fn is_sent(&self) -> bool {
        self.since.is_some()
    }

    /// Notes what is there before the call.
    pub(crate) fn begin(&mut self, fingerprint: u64, text: impl FnOnce() -> ScreenText) {
        self.fingerprint = fingerprint;
        if let Some(marker) = self.marker() {
            let text = text();
            let was_visible = text.has(marker);
            let typed = self.typed.as_deref().unwrap_or_default();
            self.echo = Some(Echo::new(marker, typed, text.lines_for(marker)));
            self.marker_was_visible = was_visible;
        }
    }

    /// What the terminal was like before the first byte of its input.
    pub(crate) fn begins_in(&mut self, tty: Tty) {
        if tty.canonical && tty.echo && matches!(self.until, Until::Present(_)) {
            self.ahead = Ahead::Perhaps(tty.foreground);
        }
    }

    /// Whether only a look at the terminal tells what the screen shows.
    pub(crate) fn wants_look(&self) -> bool {
        let repeated = self.seen.is_some_and(|(_, seen)| seen == Seen::Repeated);
        repeated && matches!(self.ahead, Ahead::Perhaps(_))
    }

    /// A look: who read when the input came reads no more, or it is that program's answer.
    pub(crate) fn looked(&mut self, tty: Tty) {
        let Ahead::Perhaps(then) = self.ahead else {
            return;
        };
        let seen = if tty.canonical && tty.foreground == then {
            Seen::Answer
        } else {
            self.ahead = Ahead::Yes;
            Seen::Echo
        };
        self.seen = self.seen.map(|(version, _)| (version, seen));
    }

    /// The last byte of its input is written, or it has none.
    pub(crate) fn sent(&mut self, now: Instant, outputs: u64) {
        self.since = Some(Since { at: now, outputs });
    }

    /// Its input is given up: there is nothing to wait for any more.
    pub(crate) fn gave_up(&mut self, now: Instant, outputs: u64) {
        self.sent(now, outputs);
        self.deadline = now;
        self.rest.cap = None;
    }

    /// When it ends whatever happens.
    pub(crate) fn ends(&self) -> Instant {
        match (self.since, self.rest.cap, &self.until) {
            (Some(since), Some(cap), Until::Quiet) => since.at + cap,
            _ => self.deadline,
        }
    }

    /// When it is to be judged although nothing happens.
    pub(crate) fn deadline(&self, moment: &Moment) -> Instant {
        let Some(since) = self.since else {
            return self.ends();
        };
        let ends = match (&self.until, self.seen) {
            (Until::Quiet, _) => self.ends(),
            (Until::Present(_), Some((_, Seen::Stale))) => self.ends().min(since.at + SETTLE_CAP),
            (Until::Present(_) | Until::Absent(_) | Until::Exit, _) => return self.ends(),
        };
        if moment.calm {
            ends.min(self.rests_at(since, moment))
        } else {
            ends
        }
    }

    /// Judges the wait; `None`: it goes on.
    pub(crate) fn judge(
        &mut self,
        moment: &Moment,
        text: impl FnOnce() -> ScreenText,
    ) -> Option<Verdict> {
        let since = self.since?;
        let rested = moment.calm && self.rests_at(since, moment) <= moment.now;
        let over = self.ends() <= moment.now;
        let otherwise = || match (moment.exited, over) {
            (true, _) => Some(Outcome::Exited),
            (false, true) => Some(Outcome::Timeout),
            (false, false) => None,
        };
        let mut in_echo = false;
        let outcome = match &self.until {
            Until::Exit => otherwise(),
            Until::Quiet if rested && !moment.exited => Some(Outcome::Quiet),
            Until::Quiet => otherwise(),
            Until::Absent(_) => match self.look(moment, text) {
                Seen::Nothing => Some(Outcome::Vanished),
                _ => otherwise(),
            },
            Until::Present(_) => match self.look(moment, text) {
                Seen::Answer => Some(Outcome::Matched),
                // Nothing new: the program gets the time in which others settle.
                Seen::Stale if over || rested || moment.exited || !self.has_input() => {
                    Some(Outcome::Matched)
                }
                Seen::Stale if since.at + SETTLE_CAP <= moment.now => Some(Outcome::Matched),
                Seen::Echo | Seen::Repeated if over && !moment.exited => {
                    in_echo = true;
                    Some(Outcome::Matched)
                }
                _ => otherwise(),
            },
        };
        outcome.map(|outcome| Verdict {
            outcome,
            in_echo,
            settled: outcome != Outcome::Timeout || self.is_at_rest(moment),
        })
    }

    /// The verdict on a call that is ended from outside.
    pub(crate) fn interrupted(&self, moment: &Moment) -> Verdict {
        let settled = self.is_at_rest(moment);
        Verdict {
            outcome: Outcome::Interrupted,
            in_echo: false,
            settled,
        }
    }

    pub(crate) fn facts(
        &self,
        now: Instant,
        verdict: Verdict,
        changing_rows: Vec<u16>,
    ) -> WaitFacts {
        let elapsed = now.saturating_duration_since(self.started);
        WaitFacts {
            outcome: verdict.outcome,
            elapsed_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
            marker_was_visible: self.marker_was_visible,
            in_echo: verdict.in_echo,
            settled: verdict.settled,
            changing_rows,
        }
    }

    fn rests_at(&self, since: Since, moment: &Moment) -> Instant {
        if moment.outputs > since.outputs {
            since.at.max(moment.last_output) + self.rest.quiet
        } else {
            since.at + self.rest.silent
        }
    }

    /// Whether the output rests, whatever is waited for.
    fn is_at_rest(&self, moment: &Moment) -> bool {
        moment.calm && moment.last_output + self.rest.quiet <= moment.now
    }

    fn look(&mut self, moment: &Moment, text: impl FnOnce() -> ScreenText) -> Seen {
        if let Some((version, seen)) = self.seen
            && version == moment.version
        {
            return seen;
        }
        let text = text();
        let marker = match &self.until {
            Until::Present(marker) | Until::Absent(marker) => marker,
            Until::Quiet | Until::Exit => return Seen::Nothing,
        };
        let judged = match &mut self.echo {
            Some(echo) => echo.judge(text.lines_for(marker)),
            None => Seen::Nothing,
        };
        let seen = match judged {
            // It runs over the ends of physical rows only.
            Seen::Nothing if text.has(marker) && self.marker_was_visible => Seen::Stale,
            Seen::Nothing if text.has(marker) => Seen::Answer,
            Seen::Repeated if self.ahead == Ahead::Yes => Seen::Echo,
            Seen::Repeated if self.ahead == Ahead::No => Seen::Answer,
            seen => seen,
        };
        self.seen = Some((moment.version, seen));
        seen
    }
}
