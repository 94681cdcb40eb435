//! The Unix socket: framed JSON-RPC and terminal data. The kernel vouches for who is at the other end.
//!
//! Requests of one connection run side by side. When it ends, its calls are cancelled and its panes detached.

mod answers;
mod connection;
#[cfg(test)]
mod tests;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use host::{Caller, Host, Peer, Via};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinSet;
use tracing::{debug, warn};

/// After a failed accept, most often for want of descriptors: others may be closed meanwhile.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves connections until it is dropped.
pub(crate) async fn accept(listener: &UnixListener, host: &Arc<Host>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve(stream, Arc::clone(host)));
                }
                Err(error) => {
                    warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(stream: UnixStream, host: Arc<Host>) {
    let served = match peer(&stream) {
        Ok(peer) => {
            let (caller, events) = Caller::new(peer);
            connection::run(stream, host, Arc::new(caller), events).await
        }
        Err(error) => Err(error),
    };
    if let Err(error) = served {
        debug!(%error, "a connection ended");
    }
}

fn peer(stream: &UnixStream) -> io::Result<Peer> {
    let about = rustix::net::sockopt::socket_peercred(stream)?;
    let pid = u32::try_from(about.pid.as_raw_pid()).ok();
    Ok(Peer {
        uid: about.uid.as_raw(),
        pid,
        via: Via::Local,
    })
}
