//! The one door: every call of every transport comes through [`Host::call`].
//!
//! Order: access, then scope, then limits, then what must be durable first, then the deed.

#[cfg(test)]
mod job_tests;
#[cfg(test)]
mod pane_tests;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use wire::rpc::{Call, ChatReply, ChatsReply, Empty, PanesAttach, ServerInfoReply, ToolsCall};
use wire::{Kind, Refusal, limits};

use crate::access::Rules;
use crate::caller::Caller;
use crate::chats::Chats;
use crate::launcher::Launcher;
use crate::panes::Held;
use crate::places::SocketPlace;
use crate::runners::{Runners, lost};
use crate::stop::Stop;
use crate::store::{Store, StoreError};
use crate::tools::{Checked, Surroundings, Tools};
use crate::turns::Turn;

use crate::{Permission, account};

/// What the binary tells the host.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Of the program.
    pub version: String,
    /// The account that the server runs as.
    pub uid: u32,
    /// What local callers may do with terminals.
    pub local: Permission,
    /// Names of variables that programs get although they look like secrets.
    pub pass: Vec<String>,
    /// Where the runners' sockets lie.
    pub sockets: SocketPlace,
}

/// An answer, and what must not overtake it.
#[derive(Debug)]
pub struct Reply {
    /// The method's reply.
    pub value: Value,
    /// Dropped when the reply is on its way to the client.
    pub held: Option<Held>,
}

/// The server's side of everything.
pub struct Host {
    version: String,
    rules: Rules,
    chats: Chats,
    runners: Arc<Runners>,
    tools: Tools,
}

impl Host {
    /// Starts up: goes on with the runners that an earlier server left behind.
    ///
    /// # Errors
    /// The store does not work.
    pub async fn start(
        settings: Settings,
        store: Arc<dyn Store>,
        launcher: Arc<dyn Launcher>,
    ) -> Result<Arc<Self>, StoreError> {
        let runners = Runners::new(settings.sockets, launcher, Arc::clone(&store));
        runners.adopt().await?;
        Ok(Arc::new(Self {
            version: settings.version,
            rules: Rules {
                server_uid: settings.uid,
                local: settings.local,
            },
            chats: Chats::new(Arc::clone(&store), Arc::clone(&runners), settings.pass),
            tools: Tools::new(store, Arc::clone(&runners)),
            runners,
        }))
    }

    /// Carries a call out. Calls to one terminal are carried out in the order in which `call` itself was called;
    /// everything else happens when the future is polled. Dropping the future cancels the call.
    pub fn call(
        self: &Arc<Self>,
        caller: &Arc<Caller>,
        call: Call,
        stop: Stop,
    ) -> impl Future<Output = Result<Reply, Refusal>> + Send + use<> {
        let (host, caller) = (Arc::clone(self), Arc::clone(caller));
        let turn = turn(&caller, &call);
        async move {
            host.rules.check(caller.peer(), call.access())?;
            host.carry_out(&caller, call, turn, stop).await
        }
    }

    async fn carry_out(
        &self,
        caller: &Caller,
        call: Call,
        turn: Turn,
        stop: Stop,
    ) -> Result<Reply, Refusal> {
        let peer = caller.peer();
        match call {
            Call::ServerInfo(_) => reply(&ServerInfoReply {
                version: self.version.clone(),
                pid: std::process::id(),
            }),
            Call::ChatsCreate(params) => reply(&ChatReply {
                chat: self.chats.create(peer, params).await?,
            }),
            Call::ChatsJoin(params) => {
                let chat = self.chats.join(peer, params.into()).await?;
                reply(&ChatReply { chat })
            }
            Call::ChatsList(_) => reply(&ChatsReply {
                chats: self.chats.list(peer).await?,
            }),
            Call::ChatsClose(params) => {
                self.chats.close(peer, params.chat_id).await?;
                reply(&Empty {})
            }
            Call::ToolsCall(params) => self.tool(caller, params, turn, stop).await,
            Call::PanesAttach(params) => self.attach(caller, params).await,
            Call::PanesDetach(params) => {
                caller.panes().detach(params.channel);
                reply(&Empty {})
            }
            Call::PanesTakeOver(params) => {
                caller.panes().take_over(params.channel).await?;
                reply(&Empty {})
            }
            Call::PanesRelease(params) => {
                caller.panes().release(params.channel).await?;
                reply(&Empty {})
            }
        }
    }

    async fn tool(
        &self,
        caller: &Caller,
        params: ToolsCall,
        turn: Turn,
        stop: Stop,
    ) -> Result<Reply, Refusal> {
        // Before a chat is made for it: a call that cannot be carried out leaves nothing behind.
        let call = Checked::new(&params.name, params.arguments)?;
        let within = params.within_ms.map(within).transpose()?;
        let peer = caller.peer();
        let scope = match params.chat_id {
            Some(id) => self.chats.scope(peer, id).await?,
            None => {
                self.chats
                    .scope_of_folder(peer, params.cwd.clone(), params.env)
                    .await?
            }
        };
        let around = Surroundings {
            cwd: params.cwd,
            shell: account::find(scope.chat().owner).and_then(|it| it.shell),
            stop,
            within,
        };
        reply(&self.tools.call(&scope, call, around, turn).await?)
    }

    async fn attach(&self, caller: &Caller, params: PanesAttach) -> Result<Reply, Refusal> {
        let scope = self.chats.scope(caller.peer(), params.chat_id).await?;
        let record = self.tools.known(&scope, params.terminal_id).await?;
        let Some(link) = self.runners.existing(scope.chat().id).await? else {
            return Err(if record.end.is_some() {
                expired(&params)
            } else {
                lost()
            });
        };
        let mut attached = caller.panes().attach(Arc::clone(&link), params).await;
        if matches!(&attached, Err(it) if it.message == Kind::TerminalNotFound) {
            // It may just have been on its way from the runner's live terminals to its ended ones.
            attached = caller.panes().attach(link, params).await;
        }
        // The store knows it, so that it did exist; its runner no longer has its screen.
        let (pane, held) = attached.map_err(|refusal| match refusal.message {
            Kind::TerminalNotFound => expired(&params),
            _ => refusal,
        })?;
        Ok(Reply {
            held: Some(held),
            ..reply(&pane)?
        })
    }
}

/// The place of a call among those of its connection to the same terminal.
fn turn(caller: &Caller, call: &Call) -> Turn {
    let Call::ToolsCall(params) = call else {
        return Turn::default();
    };
    let id = params.arguments.get("terminal_id").and_then(Value::as_str);
    id.and_then(|it| it.parse().ok())
        .map_or_else(Turn::default, |id| caller.turns().take(id))
}

/// How long a call may last.
fn within(ms: u64) -> Result<Duration, Refusal> {
    if limits::UNTIL_TIMEOUT_MS.contains(&ms) {
        return Ok(Duration::from_millis(ms));
    }
    Err(Refusal::invalid(format!(
        "withinMs is {ms}, outside 100 to 86,400,000"
    )))
}

fn expired(params: &PanesAttach) -> Refusal {
    let reason = format!(
        "the terminal {} has ended, and its screen has expired",
        params.terminal_id
    );
    Refusal::new(Kind::TerminalNotFound, reason).hint("open another terminal")
}

fn reply(value: &impl Serialize) -> Result<Reply, Refusal> {
    match serde_json::to_value(value) {
        Ok(value) => Ok(Reply { value, held: None }),
        Err(error) => Err(Refusal::new(
            Kind::Internal,
            format!("the answer has no JSON: {error}"),
        )),
    }
}
