//! What the server asks: each call is answered at once, or by a task that reports back.

use std::time::{Duration, Instant};

use terminal::actor;
use terminal::machine::Machine;
use tokio::sync::oneshot;
use tokio::task::spawn_local;
use wire::bash::{Act, Wait};
use wire::runner::{Answer, Call, Program};
use wire::{Kind, Refusal, Size, TerminalId, limits};

use super::{Hub, Live, milliseconds_since_1970};
use crate::archive::About;
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
            Call::Run {
                program,
                timeout,
                outlast,
            } => match outlast {
                None => self.run(call, program, timeout),
                Some(outlast) => self.run_outlasting(call, program, timeout, outlast),
            },
            asked @ (Call::Background { .. }
            | Call::Until { .. }
            | Call::Jobs
            | Call::Log { .. }
            | Call::WaitJob { .. }
            | Call::StopJob { .. }) => self.job_call(call, asked),
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
        if self.cancel_job(call) {
            return;
        }
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
            Report::JobStarted(job) => self.job_started(job),
            Report::JobNotStarted(job, refusal) => self.job_not_started(job, refusal),
            Report::JobOver(job, over) => self.job_over(job, *over),
            Report::JobGone(job) => self.job_gone(job),
            Report::JobLate(job) => self.job_late(job),
            Report::JobReached(call, job) => self.job_reached(call, job),
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
            cwd,
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
                about: About {
                    title,
                    cwd,
                    started_ms: milliseconds_since_1970(),
                    ended_ms: None,
                    ended_by: None,
                },
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
        let exited = self.archive.list().collect();
        let live = self
            .terminals
            .values()
            .map(|it| (it.terminal.clone(), it.about.clone()))
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

    pub(super) fn cancellable(&mut self, call: CallId) -> oneshot::Receiver<()> {
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

pub(super) fn closed() -> Refusal {
    Refusal::new(Kind::ChatClosed, "this chat is being closed").hint("make a new chat")
}
