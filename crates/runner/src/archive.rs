//! Terminals whose processes are gone: the newest whole, older ones by their last lines.

use std::collections::VecDeque;
use std::time::Instant;

use terminal::machine::{Effect, Machine, Ticket};
use wire::bash::{Act, Action, Details, Listed, Observation, Process};
use wire::{Refusal, TerminalId, limits};

/// The exited terminals of a chat.
#[derive(Default)]
pub(crate) struct Archive {
    /// Newest first; at most [`limits::ARCHIVED_SCREENS`].
    whole: VecDeque<Whole>,
    /// Newest first; at most [`limits::ARCHIVED_TAILS`].
    tails: VecDeque<Tail>,
}

/// A terminal with its final screen and scrollback.
pub(crate) struct Whole {
    pub(crate) machine: Box<Machine>,
    pub(crate) title: String,
}

struct Tail {
    id: TerminalId,
    listed: Listed,
    process: Process,
    observation: Observation,
}

impl Archive {
    /// Takes a terminal in; the oldest whole one is cut down to its last lines.
    pub(crate) fn add(&mut self, machine: Box<Machine>, title: String) {
        self.whole.push_front(Whole { machine, title });
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
    pub(crate) fn list(&self) -> impl Iterator<Item = Listed> + '_ {
        self.whole
            .iter()
            .map(Whole::listed)
            .chain(self.tails.iter().map(|it| it.listed.clone()))
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
        details.process.program = Some(self.title.clone());
        details
    }

    fn listed(&self) -> Listed {
        self.machine.listed(self.title.clone())
    }

    fn into_tail(self) -> Tail {
        let (listed, id) = (self.listed(), self.machine.id());
        let observation = self.machine.observation();
        let process = Process {
            program: Some(self.title),
            ..self.machine.process()
        };
        Tail {
            id,
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
