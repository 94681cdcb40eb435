//! The tool `bash` above the runner: ids, limits, folder, environment and shell are decided here, the rest there.
//!
//! A terminal is in the store before its program starts. If it then does not start, the record is taken back, also
//! when the caller has gone away meanwhile.

use std::sync::Arc;

use tokio::sync::oneshot;
use tracing::warn;
use wire::bash::{Act, BashCall, Details, Open, TerminalList, Wait};
use wire::runner::{Answer, Call};
use wire::tool::ToolReply;
use wire::{Kind, Refusal, TerminalId, limits};

use super::common::{Surroundings, mixed_up, program, reply, stoppable};
use super::{archived, bash_text, commands};
use crate::caller::Scope;
use crate::chats::broken;
use crate::environment::Under;
use crate::runners::{Link, Runners, lost};
use crate::stop::Stop;
use crate::store::{End, Ending, Store, StoreError, TerminalRecord};
use crate::turns::Turn;
use crate::{clock, ids};

/// The tool.
pub(crate) struct Bash {
    store: Arc<dyn Store>,
    runners: Arc<Runners>,
}

impl Bash {
    pub(crate) fn new(store: Arc<dyn Store>, runners: Arc<Runners>) -> Self {
        Self { store, runners }
    }

    /// Carries a checked call out.
    pub(crate) async fn call(
        &self,
        scope: &Scope,
        call: BashCall,
        around: Surroundings,
        turn: Turn,
    ) -> Result<ToolReply, Refusal> {
        match call {
            BashCall::Run {
                command,
                cwd,
                timeout,
            } => {
                let link = self.runners.get(scope.chat().id).await?;
                let program = program(scope, &around, cwd, Some(&command), Under::Pipes);
                commands::run(&link, program, timeout, &around).await
            }
            BashCall::Background { command, cwd } => {
                let link = self.runners.get(scope.chat().id).await?;
                let program = program(scope, &around, cwd, Some(&command), Under::Pipes);
                commands::background(&link, program).await
            }
            BashCall::Until(condition) => {
                let link = self.runners.get(scope.chat().id).await?;
                let (cwd, command) = (condition.cwd.clone(), Some(condition.command.as_str()));
                let program = program(scope, &around, cwd, command, Under::Pipes);
                commands::until(&link, program, &condition, &around).await
            }
            BashCall::Open(open) => {
                let details = self.open(scope, &open, &around).await?;
                reply::<Details>(bash_text::terminal(&details, Some(&open.wait)), &details)
            }
            BashCall::Act { terminal, act } => {
                self.act(scope, terminal, act, &around.stop, turn).await
            }
            BashCall::List => {
                let list = self.list(scope).await?;
                reply::<TerminalList>(bash_text::list(&list), &list)
            }
        }
    }

    /// The record of a terminal of this chat.
    pub(crate) async fn known(
        &self,
        scope: &Scope,
        id: TerminalId,
    ) -> Result<TerminalRecord, Refusal> {
        let found = self
            .store
            .terminal(scope.chat().id, id)
            .await
            .map_err(broken)?;
        found.ok_or_else(|| Refusal::no_terminal(id))
    }

    async fn act(
        &self,
        scope: &Scope,
        terminal: TerminalId,
        act: Act,
        stop: &Stop,
        mut turn: Turn,
    ) -> Result<ToolReply, Refusal> {
        turn.come().await;
        let record = self.known(scope, terminal).await?;
        let wait = wait_of(&act).cloned();
        let Some(link) = self.runners.existing(scope.chat().id).await? else {
            return self.remembered(scope, &record, &act).await;
        };
        let mut pending = link.call(Call::Act {
            terminal,
            act: act.clone(),
        });
        // The runner has it, and keeps the order from here on.
        drop(turn);
        match stoppable(&mut pending, stop).await {
            Ok(Answer::Details(details)) => {
                reply::<Details>(bash_text::terminal(&details, wait.as_ref()), &details)
            }
            Ok(_) => Err(mixed_up()),
            Err(refusal) if refusal.message == Kind::TerminalNotFound => {
                self.remembered(scope, &record, &act).await
            }
            Err(refusal) => Err(refusal),
        }
    }

    /// Answers for a terminal that no runner remembers: from its record.
    async fn remembered(
        &self,
        scope: &Scope,
        record: &TerminalRecord,
        act: &Act,
    ) -> Result<ToolReply, Refusal> {
        // Its end may have been recorded since the record was read.
        let record = self.known(scope, record.id).await?;
        let end = match record.end {
            Some(end) => end,
            // It must not go on to count as a live one of the chat.
            None => lose(&*self.store, record.id).await.map_err(broken)?,
        };
        let details = archived::details(record.id, &end, act);
        let text = bash_text::archived(&details, &record.program, &end.how);
        reply::<Details>(text, &details)
    }

    async fn open(
        &self,
        scope: &Scope,
        open: &Open,
        around: &Surroundings,
    ) -> Result<Box<Details>, Refusal> {
        let command = open.command.as_deref();
        let under = Under::Terminal(&open.term);
        let program = program(scope, around, open.cwd.clone(), command, under);
        // Before the record: finding that an earlier runner has died records the chat's live terminals as lost.
        let link = self.runners.get(scope.chat().id).await?;
        let terminal = self.record(scope, &program.title).await?;
        let call = Call::Open {
            terminal,
            program,
            size: open.size,
            wait: open.wait.clone(),
        };
        let (tell, told) = oneshot::channel();
        let opening = opening(
            link,
            call,
            tell,
            terminal,
            Arc::clone(&self.store),
            around.stop.clone(),
        );
        tokio::spawn(opening);
        match told.await.unwrap_or_else(|_| Err(lost()))? {
            Answer::Details(details) => Ok(details),
            _ => Err(mixed_up()),
        }
    }

    async fn record(&self, scope: &Scope, title: &str) -> Result<TerminalId, Refusal> {
        for _ in 0..ids::DRAWS {
            let terminal = TerminalRecord {
                id: ids::terminal()?,
                chat: scope.chat().id,
                program: title.to_owned(),
                opened_ms: clock::now_ms(),
                end: None,
            };
            let id = terminal.id;
            match self
                .store
                .add_terminal(terminal, limits::LIVE_TERMINALS)
                .await
            {
                Ok(()) => return Ok(id),
                Err(StoreError::IdTaken) => {}
                Err(StoreError::Full) => return Err(full()),
                Err(error) => return Err(broken(error)),
            }
        }
        Err(ids::exhausted())
    }

    async fn list(&self, scope: &Scope) -> Result<TerminalList, Refusal> {
        let Some(link) = self.runners.existing(scope.chat().id).await? else {
            return Ok(TerminalList::default());
        };
        match link.call(Call::List).answer().await? {
            Answer::Terminals { terminals } => Ok(TerminalList {
                terminals: terminals.into_iter().map(|it| it.listed).collect(),
            }),
            _ => Err(mixed_up()),
        }
    }
}

/// Sees an opening through to its end, whether or not its caller stays.
async fn opening(
    link: Arc<Link>,
    call: Call,
    mut tell: oneshot::Sender<Result<Answer, Refusal>>,
    terminal: TerminalId,
    store: Arc<dyn Store>,
    stop: Stop,
) {
    let mut pending = link.call(call);
    let answer = tokio::select! {
        answer = stoppable(&mut pending, &stop) => Some(answer),
        () = tell.closed() => None,
    };
    let answer = match answer {
        Some(answer) => answer,
        None => {
            pending.cancel();
            pending.answer().await
        }
    };
    let recorded = match &answer {
        Ok(_) => Ok(()),
        // The runner may have ended before the record was made, and then nobody else notes that it is lost.
        Err(refusal) if refusal.message == Kind::RunnerLost => {
            lose(&*store, terminal).await.map(drop)
        }
        Err(_) => store.remove_terminal(terminal).await,
    };
    if let Err(error) = recorded {
        warn!(%terminal, %error, "cannot record that a terminal did not open");
    }
    // Fails only when the caller has gone away.
    let _ = tell.send(answer);
}

/// Records a terminal as lost. Should its runner yet tell of its end, that takes the place of this.
async fn lose(store: &dyn Store, terminal: TerminalId) -> Result<End, StoreError> {
    let end = End {
        at_ms: clock::now_ms(),
        how: Ending::Lost,
    };
    store.end_terminals(vec![(terminal, end.clone())]).await?;
    Ok(end)
}

fn wait_of(act: &Act) -> Option<&Wait> {
    match act {
        Act::Input { wait, .. } | Act::Wait(wait) => Some(wait),
        Act::Screen | Act::Resize(_) | Act::Close => None,
    }
}

fn full() -> Refusal {
    Refusal::new(
        Kind::TooManyTerminals,
        format!(
            "this chat has {} live terminals, as many as it may have",
            limits::LIVE_TERMINALS
        ),
    )
    .hint("close one with action \"close\"; action \"list\" shows them")
}
