//! Terminals whose processes are gone: the newest whole, older ones by their last lines.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Instant;

use terminal::machine::{Effect, Machine, Ticket};
use wire::bash::{Act, Action, Details, EndedBy, Listed, Observation, Process};
use wire::runner::Known;
use wire::{Refusal, TerminalId, limits};

/// The exited terminals of a chat.
#[derive(Default)]
pub(crate) struct Archive {
    /// Newest first; at most [`limits::ARCHIVED_SCREENS`].
    whole: VecDeque<Whole>,
    /// Newest first; at most [`limits::ARCHIVED_TAILS`].
    tails: VecDeque<Tail>,
}

/// What is known of a terminal beside its screen.
#[derive(Clone, Debug)]
pub(crate) struct About {
    /// What a person would call it.
    pub(crate) title: String,
    /// Where it was started.
    pub(crate) cwd: PathBuf,
    /// Milliseconds since 1970.
    pub(crate) started_ms: i64,
    /// Milliseconds since 1970; none while its program runs.
    pub(crate) ended_ms: Option<i64>,
    /// Who ended it.
    pub(crate) ended_by: Option<EndedBy>,
}

/// A terminal with its final screen and scrollback.
pub(crate) struct Whole {
    pub(crate) machine: Box<Machine>,
    pub(crate) about: About,
}

struct Tail {
    id: TerminalId,
    about: About,
    listed: Listed,
    process: Process,
    observation: Observation,
}

impl Archive {
    /// Takes a terminal in; the oldest whole one is cut down to its last lines.
    pub(crate) fn add(&mut self, machine: Box<Machine>, about: About) {
        self.whole.push_front(Whole { machine, about });
        if limits::ARCHIVED_SCREENS < self.whole.len()
            && let Some(oldest) = self.whole.pop_back()
        {
            self.tails.push_front(oldest.into_tail());
            self.tails.truncate(limits::ARCHIVED_TAILS);
        }
    }

    /// A terminal that is still whole, for its viewers.
    pub(crate) fn whole(&mut self, id: TerminalId) -> Option<&mut Whole> {
        self.whole.iter_mut().find(|it| it.machine.id() == id)
    }

    /// Answers a call on an exited terminal.
    ///
    /// # Errors
    /// 404 when nothing of it is remembered here.
    pub(crate) fn act(
        &mut self,
        now: Instant,
        ticket: Ticket,
        id: TerminalId,
        act: Act,
    ) -> Result<Box<Details>, Refusal> {
        if let Some(whole) = self.whole(id) {
            return whole.act(now, ticket, act);
        }
        match self.tails.iter().find(|it| it.id == id) {
            Some(tail) => Ok(Box::new(tail.details(action(&act)))),
            None => Err(Refusal::no_terminal(id)),
        }
    }

    /// For a list, newest first.
    pub(crate) fn list(&self) -> impl Iterator<Item = Known> + '_ {
        let whole = self.whole.iter().map(|it| it.about.known(it.listed()));
        let tails = self.tails.iter();
        whole.chain(tails.map(|it| it.about.known(it.listed.clone())))
    }
}

impl About {
    /// For a list; of an exited terminal.
    fn known(&self, listed: Listed) -> Known {
        Known {
            listed,
            pids: Vec::new(),
            taken_over: false,
            cwd: self.cwd.clone(),
            started_ms: self.started_ms,
            ended_ms: self.ended_ms,
            ended_by: self.ended_by,
        }
    }
}

impl Whole {
    fn act(&mut self, now: Instant, ticket: Ticket, act: Act) -> Result<Box<Details>, Refusal> {
        if let Act::Close = act {
            return Ok(self.named(Box::new(self.machine.details(Action::Close))));
        }
        self.machine.act(now, ticket, act);
        let answer = self
            .machine
            .effects()
            .into_iter()
            .find_map(|effect| match effect {
                Effect::Reply { ticket: of, result } if of == ticket => Some(result),
                _ => None,
            });
        match answer {
            Some(result) => result.map(|details| self.named(details)),
            None => Err(Refusal::new(
                wire::Kind::Internal,
                "an exited terminal did not answer",
            )),
        }
    }

    fn named(&self, mut details: Box<Details>) -> Box<Details> {
        details.process.program = Some(self.about.title.clone());
        details
    }

    fn listed(&self) -> Listed {
        self.machine.listed(self.about.title.clone())
    }

    fn into_tail(self) -> Tail {
        let (listed, id) = (self.listed(), self.machine.id());
        let observation = self.machine.observation();
        let process = Process {
            program: Some(self.about.title.clone()),
            ..self.machine.process()
        };
        Tail {
            id,
            about: self.about,
            listed,
            process,
            observation,
        }
    }
}

impl Tail {
    fn details(&self, action: Action) -> Details {
        Details {
            terminal_id: self.id,
            action,
            process: self.process.clone(),
            wait: None,
            screen: None,
            input: None,
            observation: self.observation.clone(),
            supersedes: format!("terminal:{}", self.id),
            pane_url: None,
        }
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
