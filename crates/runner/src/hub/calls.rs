//! What the server asks: each call is answered at once, or by a task that reports back.

use std::time::{Duration, Instant};

use terminal::actor::{self, Terminal};
use terminal::machine::Machine;
use tokio::sync::oneshot;
use tokio::task::spawn_local;
use wire::bash::{Act, Wait};
use wire::runner::{Answer, Call, Known, Program};
use wire::{Kind, Refusal, Size, TerminalId, limits};

use super::{Hub, Live};
use crate::tasks::{self, CallId, Opening, Report, Started, Waiting};

impl Hub {
    pub(super) async fn call(&mut self, call: CallId, asked: Call) {
        match asked {
            Call::Open {
                terminal,
                program,
                size,
                wait,
            } => self.open(call, terminal, program, size, wait),
            Call::Run { program, timeout } => self.run(call, program, timeout),
            Call::Act { terminal, act } => self.act(call, terminal, act),
            Call::List => self.list(call),
            Call::Watch {
                terminal,
                viewer,
                from,
            } => {
                let result = self.watch(terminal, viewer, from).await;
                self.reply(call, result);
                self.forward_archived(terminal);
            }
            Call::Unwatch { viewer } => {
                self.unwatch_viewer(viewer).await;
                self.reply(call, Ok(Answer::Done));
            }
            Call::TakeOver { terminal } => self.steer(call, terminal, Steering::TakeOver).await,
            Call::Release { terminal } => self.steer(call, terminal, Steering::Release).await,
            Call::End => self.end_all(call),
        }
    }

    /// Ends a call early; its task answers with what was done until then.
    pub(super) fn cancel(&mut self, call: CallId) {
        // Dropping the sender is the signal.
        self.calls.remove(&call);
    }

    pub(super) fn conclude(&mut self, report: Report) {
        match report {
            Report::Done(call, result) => self.reply(call, result),
            Report::Started(started) => self.started(*started),
            Report::NotStarted(call, refusal) => {
                self.opening -= 1;
                self.reply(call, Err(refusal));
            }
            Report::Retry(call, id, act) => self.act(call, id, act),
            Report::RemainderGone => self.commands -= 1,
        }
    }

    fn open(&mut self, call: CallId, id: TerminalId, program: Program, size: Size, wait: Wait) {
        if self.ending.is_some() {
            return self.reply(call, Err(closed()));
        }
        if limits::LIVE_TERMINALS <= self.terminals.len() + self.opening {
            let refusal = Refusal::new(
                Kind::TooManyTerminals,
                format!(
                    "this chat has {} live terminals, as many as it may have",
                    limits::LIVE_TERMINALS
                ),
            );
            return self.reply(
                call,
                Err(refusal.hint("close one with action \"close\" first")),
            );
        }
        self.opening += 1;
        let cancelled = self.cancellable(call);
        let opening = Opening {
            call,
            id,
            program,
            size,
            wait,
            cancelled,
        };
        spawn_local(tasks::open(
            self.starter.clone(),
            opening,
            self.reports.clone(),
        ));
    }

    fn started(&mut self, started: Started) {
        self.opening -= 1;
        let Started {
            call,
            id,
            process,
            master,
            title,
            size,
            wait,
            cancelled,
        } = started;
        let machine = Machine::new(id, size, Instant::now());
        let terminal = actor::spawn(machine, process, master, title.clone(), self.news.clone());
        self.terminals.insert(
            id,
            Live {
                terminal: terminal.clone(),
                title,
            },
        );
        if self.ending.is_some() {
            spawn_local(tasks::end(terminal.clone()));
        }
        let ticket = self.ticket();
        let waiting = Waiting {
            call,
            id,
            wait,
            cancelled,
        };
        spawn_local(tasks::opened(
            terminal,
            ticket,
            waiting,
            self.reports.clone(),
        ));
    }

    fn run(&mut self, call: CallId, program: Program, timeout: Duration) {
        if self.ending.is_some() {
            return self.reply(call, Err(closed()));
        }
        self.commands += 1;
        let cancelled = self.cancellable(call);
        let (starter, reports) = (self.starter.clone(), self.reports.clone());
        spawn_local(tasks::run(
            starter,
            call,
            (program, timeout),
            cancelled,
            self.stop.subscribe(),
            reports,
        ));
    }

    fn act(&mut self, call: CallId, id: TerminalId, act: Act) {
        let ticket = self.ticket();
        let Some(live) = self.terminals.get(&id) else {
            let result = self.archive.act(Instant::now(), ticket, id, act);
            return self.reply(call, result.map(Answer::Details));
        };
        let terminal = live.terminal.clone();
        let cancelled = self.cancellable(call);
        spawn_local(tasks::act(
            terminal,
            ticket,
            call,
            (id, act),
            cancelled,
            self.reports.clone(),
        ));
    }

    fn list(&mut self, call: CallId) {
        let exited = self
            .archive
            .list()
            .map(|listed| Known {
                listed,
                pids: Vec::new(),
                taken_over: false,
            })
            .collect();
        let live: Vec<Terminal> = self
            .terminals
            .values()
            .map(|it| it.terminal.clone())
            .collect();
        spawn_local(tasks::list(call, live, exited, self.reports.clone()));
    }

    async fn steer(&mut self, call: CallId, id: TerminalId, steering: Steering) {
        let result = match self.terminals.get(&id) {
            Some(live) => {
                match steering {
                    Steering::TakeOver => live.terminal.take_over().await,
                    Steering::Release => live.terminal.release().await,
                }
                Ok(Answer::Done)
            }
            None => Err(Refusal::no_terminal(id)),
        };
        self.reply(call, result);
    }

    fn end_all(&mut self, call: CallId) {
        self.ending = Some(call);
        for live in self.terminals.values() {
            spawn_local(tasks::end(live.terminal.clone()));
        }
        // Plain commands and what they left behind end with this word.
        self.stop.send_replace(true);
    }

    fn cancellable(&mut self, call: CallId) -> oneshot::Receiver<()> {
        let (sender, cancelled) = oneshot::channel();
        self.calls.insert(call, sender);
        cancelled
    }
}

#[derive(Clone, Copy)]
enum Steering {
    TakeOver,
    Release,
}

fn closed() -> Refusal {
    Refusal::new(Kind::ChatClosed, "this chat is being closed").hint("make a new chat")
}
