//! `sidestick serve`: one server for each instance, in the foreground or in the background.
//!
//! A server that ends leaves its runners and their terminals running; the next one goes on with them.

mod lock;

use std::ffi::OsStr;
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use host::store::Sqlite;
use host::{Host, Settings, SocketPlace};
use tokio::net::UnixListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing::{Level, info};

use crate::config::Config;
use crate::edge::local;
use crate::launcher::Processes;
use crate::paths::Paths;
use crate::{cli, client, detach, log};
use lock::Lock;

/// How a server tells that it listens.
type Announce = fn(&Paths);

/// What became of a server.
enum Served {
    /// It listened, and was told to end.
    Ended,
    /// Another one runs; its process, where it is known.
    Already(Option<u32>),
}

/// Serves until a signal ends it, and says what to type next.
pub(crate) fn in_foreground() -> anyhow::Result<ExitCode> {
    log::start(Level::INFO);
    Ok(match serve(welcome)? {
        Served::Ended => ExitCode::SUCCESS,
        Served::Already(pid) => {
            log::say(&already(pid));
            ExitCode::FAILURE
        }
    })
}

/// Starts a server in the background; returns when it listens.
pub(crate) fn in_background() -> anyhow::Result<ExitCode> {
    let paths = Paths::find()?;
    let arguments = ["serve", "--detached"].map(OsStr::new);
    let line = client::runtime()?.block_on(detach::start(&arguments, &paths.server_log));
    let line = line.context("the server does not start")?;
    if line == detach::READY {
        cli::print(&format!("sidestick listens on {}", paths.socket.display()));
    } else if let Some(pid) = line.strip_prefix(detach::RUNNING) {
        cli::print(&already(pid.trim().parse().ok()));
    } else {
        anyhow::bail!("the server does not start: {line}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Is the server in the background; tells its starter by one line.
pub(crate) fn detached() -> anyhow::Result<ExitCode> {
    detach::leave_caller();
    log::start(Level::INFO);
    match serve(|_| detach::tell(detach::READY)) {
        Ok(Served::Ended) => Ok(ExitCode::SUCCESS),
        Ok(Served::Already(pid)) => {
            let pid = pid.map(|it| it.to_string()).unwrap_or_default();
            detach::tell(&format!("{} {pid}", detach::RUNNING));
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            // One line, whatever the error holds.
            detach::tell(&format!("{error:#}").replace('\n', " "));
            Err(error)
        }
    }
}

fn serve(announce: Announce) -> anyhow::Result<Served> {
    let paths = Paths::find()?;
    let lock = match Lock::take(&paths.lock).context("server.lock")? {
        Ok(lock) => lock,
        Err(holder) => return Ok(Served::Already(holder)),
    };
    let config = Config::read(&paths.config)?;
    let store =
        Sqlite::open(&paths.database).with_context(|| paths.database.display().to_string())?;
    client::runtime()?.block_on(async {
        let host = Host::start(
            settings(&paths, config),
            Arc::new(store),
            Arc::new(Processes::new(
                paths.runners_log.clone(),
                paths.jobs.clone(),
            )),
        )
        .await?;
        let listener = listen(&paths).with_context(|| paths.socket.display().to_string())?;
        let ends = [SignalKind::terminate(), SignalKind::interrupt()].map(signal);
        let [mut terminate, mut interrupt] = ends.map(|it| it.context("signals"));
        announce(&paths);
        info!(socket = %paths.socket.display(), "listens");
        tokio::select! {
            () = local::accept(&listener, &host) => {}
            () = told(terminate.as_mut().ok()) => info!("SIGTERM: ends"),
            () = told(interrupt.as_mut().ok()) => info!("SIGINT: ends"),
        }
        anyhow::Ok(())
    })?;
    // While the lock is held: afterwards the name may be a new server's.
    let _ = std::fs::remove_file(&paths.socket);
    drop(lock);
    Ok(Served::Ended)
}

fn settings(paths: &Paths, config: Config) -> Settings {
    Settings {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        uid: rustix::process::getuid().as_raw(),
        local: config.permission.local(),
        pass: config.env.pass,
        sockets: SocketPlace::new(paths.runners.clone()),
    }
}

/// Binds the socket. One that is there belongs to a server that has ended, since the lock is ours.
fn listen(paths: &Paths) -> io::Result<UnixListener> {
    match std::fs::remove_file(&paths.socket) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let listener = UnixListener::bind(&paths.socket)?;
    // Its folder is closed to others already; this is for a person who opens the folder.
    std::fs::set_permissions(&paths.socket, Permissions::from_mode(0o600))?;
    Ok(listener)
}

async fn told(signal: Option<&mut Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}

fn welcome(paths: &Paths) {
    log::say(&format!(
        "sidestick {} listens on {}\nTry, in another terminal:\n  sidestick tool bash '{{\"action\":\"open\",\"command\":\"top\"}}'\nCtrl+C ends the server; terminals go on, and the next server finds them.",
        env!("CARGO_PKG_VERSION"),
        paths.socket.display()
    ));
}

fn already(pid: Option<u32>) -> String {
    match pid {
        Some(pid) => format!("sidestick: a server runs already, process {pid}"),
        None => "sidestick: a server runs already".to_owned(),
    }
}
