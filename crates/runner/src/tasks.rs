//! Calls that take time, each in a task of its own. They change nothing here: what they come to
//! goes to the hub.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use terminal::actor::{Description, Gone, Terminal};
use terminal::kept::Kept;
use terminal::machine::Ticket;
use terminal::process::{self, Containment, Exit, Io, Process, Start, StartError, Stdio};
use terminal::pty::Master;
use terminal::run::{Command, Ran, Stopped};
use tokio::sync::{mpsc, oneshot, watch};
use wire::bash::{Act, EndedBy, ProcessState, RunAction, RunDetails, RunOutput, Wait};
use wire::runner::{Answer, Known, Program};
use wire::{JobId, Kind, Refusal, Size, TerminalId, limits, signal};

use crate::archive::About;
use crate::jobs::Over;

/// Which call of which connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CallId {
    /// The connection's number.
    pub(crate) link: u64,
    /// The server's number of the call.
    pub(crate) id: u64,
}

/// What a task tells the hub.
pub(crate) enum Report {
    /// A call has come to its end.
    Done(CallId, Result<Answer, Refusal>),
    /// A terminal's program runs.
    Started(Box<Started>),
    /// A terminal could not be started.
    NotStarted(CallId, Refusal),
    /// The terminal of a call went away under it; the archive answers.
    Retry(CallId, TerminalId, Act),
    /// Nothing is left of a plain command.
    RemainderGone,
    /// A job's program runs.
    JobStarted(JobId),
    /// A job could not be started.
    JobNotStarted(JobId, Refusal),
    /// A job is over.
    JobOver(JobId, Box<Over>),
    /// Nothing is left of a job.
    JobGone(JobId),
    /// The call of a job may last no longer.
    JobLate(JobId),
    /// A call that waits for a job waits no longer.
    JobReached(CallId, JobId),
}

/// A program that runs and has no terminal task yet.
pub(crate) struct Started {
    pub(crate) call: CallId,
    pub(crate) id: TerminalId,
    pub(crate) process: Process,
    pub(crate) master: Master,
    pub(crate) title: String,
    pub(crate) cwd: PathBuf,
    pub(crate) size: Size,
    pub(crate) wait: Wait,
    pub(crate) cancelled: oneshot::Receiver<()>,
}

/// How programs are started here.
#[derive(Clone, Debug)]
pub(crate) struct Starter {
    pub(crate) containment: Containment,
    pub(crate) leash: PathBuf,
}

/// Where reports go.
pub(crate) type Reports = mpsc::UnboundedSender<Report>;

impl Starter {
    /// A program without a terminal, whose output is captured.
    pub(crate) fn captured(&self, program: &Program) -> Start {
        self.start(program, Stdio::Capture)
    }

    fn start(&self, program: &Program, stdio: Stdio) -> Start {
        Start {
            argv: program.argv.iter().map(OsString::from).collect(),
            cwd: program.cwd.clone(),
            env: program
                .env
                .iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
            stdio,
            containment: self.containment.clone(),
            leash: self.leash.clone(),
        }
    }
}

/// What `open` asks for.
pub(crate) struct Opening {
    pub(crate) call: CallId,
    pub(crate) id: TerminalId,
    pub(crate) program: Program,
    pub(crate) size: Size,
    pub(crate) wait: Wait,
    pub(crate) cancelled: oneshot::Receiver<()>,
}

/// Starts a terminal's program.
pub(crate) async fn open(starter: Starter, opening: Opening, reports: Reports) {
    let Opening {
        call,
        id,
        program,
        size,
        wait,
        cancelled,
    } = opening;
    let start = starter.start(&program, Stdio::Pty(size));
    let report = match process::start(start).await {
        Ok((process, Io::Pty(master))) => {
            let Program { title, cwd, .. } = program;
            Report::Started(Box::new(Started {
                call,
                id,
                process,
                master,
                title,
                cwd,
                size,
                wait,
                cancelled,
            }))
        }
        Ok((_, Io::Pipes(_) | Io::Capture(_))) => Report::NotStarted(
            call,
            Refusal::new(Kind::Internal, "a terminal was started without a PTY"),
        ),
        Err(error) => Report::NotStarted(call, refusal(&error, &program)),
    };
    let _ = reports.send(report);
}

/// Waits for a fresh terminal to be ready.
pub(crate) async fn opened(terminal: Terminal, ticket: Ticket, started: Waiting, reports: Reports) {
    let Waiting {
        call,
        id,
        wait,
        cancelled,
    } = started;
    let answer = cancellable(&terminal, ticket, cancelled, terminal.opened(ticket, wait)).await;
    let _ = reports.send(report(call, id, Act::Screen, answer));
}

/// The part of [`Started`] that concerns its caller.
pub(crate) struct Waiting {
    pub(crate) call: CallId,
    pub(crate) id: TerminalId,
    pub(crate) wait: Wait,
    pub(crate) cancelled: oneshot::Receiver<()>,
}

/// Acts on a live terminal.
pub(crate) async fn act(
    terminal: Terminal,
    ticket: Ticket,
    call: CallId,
    (id, act): (TerminalId, Act),
    cancelled: oneshot::Receiver<()>,
    reports: Reports,
) {
    let answer = match act {
        Act::Close => terminal.close(EndedBy::Close).await,
        _ => {
            cancellable(
                &terminal,
                ticket,
                cancelled,
                terminal.act(ticket, act.clone()),
            )
            .await
        }
    };
    let _ = reports.send(report(call, id, act, answer));
}

/// Closes a terminal for good; nobody waits for the answer.
pub(crate) async fn end(terminal: Terminal) {
    let _ = terminal.close(EndedBy::Server).await;
}

/// Runs a plain command to its end. What it leaves behind lives on; a command that we ended leaves
/// nothing.
pub(crate) async fn run(
    starter: Starter,
    call: CallId,
    (program, timeout): (Program, Duration),
    cancelled: oneshot::Receiver<()>,
    mut stop: watch::Receiver<bool>,
    reports: Reports,
) {
    let mut command = match Command::start(starter.captured(&program)).await {
        Ok(command) => command,
        Err(error) => {
            let _ = reports.send(Report::Done(call, Err(refusal(&error, &program))));
            let _ = reports.send(Report::RemainderGone);
            return;
        }
    };
    let mut kept = Kept::new(limits::RUN_OUTPUT_BYTES);
    let mut stop_running = stop.clone();
    let cancel = async {
        // Either way there is nobody left to wait for it. A dropped sender is the signal of a
        // cancel.
        tokio::select! {
            _ = cancelled => {}
            _ = stop_running.wait_for(|stop| *stop) => {}
        }
    };
    let take = &mut |bytes: &[u8]| kept.push(bytes);
    let ran = command.finish(Some(timeout), cancel, take).await;
    let background = u32::try_from(command.descendants()).unwrap_or(u32::MAX);
    let details = run_details(ran, program.title, background, kept.finish());
    let _ = reports.send(Report::Done(call, Ok(Answer::Run(Box::new(details)))));
    // What is dropped here is ended at once.
    if ran.stopped.is_none() {
        let mut drop_it = |_: &[u8]| {};
        tokio::select! {
            () = command.gone(&mut drop_it) => {}
            _ = stop.wait_for(|stop| *stop) => {}
        }
    }
    let _ = reports.send(Report::RemainderGone);
}

/// Asks every live terminal what a list shows of it.
pub(crate) async fn list(
    call: CallId,
    live: Vec<(Terminal, About)>,
    exited: Vec<Known>,
    reports: Reports,
) {
    let mut terminals = Vec::with_capacity(live.len() + exited.len());
    for (terminal, about) in live {
        let pids = terminal.pids().to_vec();
        // One that went away meanwhile is in the next list, among the exited.
        if let Ok(Description { listed, taken_over }) = terminal.describe().await {
            terminals.push(Known {
                listed,
                pids,
                taken_over,
                cwd: about.cwd,
                started_ms: about.started_ms,
                ended_ms: about.ended_ms,
                ended_by: about.ended_by,
            });
        }
    }
    terminals.extend(exited);
    let _ = reports.send(Report::Done(call, Ok(Answer::Terminals { terminals })));
}

/// A cancelled call is still answered: with what was sent until then.
async fn cancellable(
    terminal: &Terminal,
    ticket: Ticket,
    cancelled: oneshot::Receiver<()>,
    answer: impl Future<Output = Result<terminal::actor::Answer, Gone>>,
) -> Result<terminal::actor::Answer, Gone> {
    let mut answer = std::pin::pin!(answer);
    tokio::select! {
        answer = &mut answer => return answer,
        _ = cancelled => terminal.cancel(ticket).await,
    }
    answer.await
}

fn report(
    call: CallId,
    id: TerminalId,
    act: Act,
    answer: Result<terminal::actor::Answer, Gone>,
) -> Report {
    match answer {
        Ok(answer) => Report::Done(call, answer.map(Answer::Details)),
        Err(Gone) => Report::Retry(call, id, act),
    }
}

fn run_details(ran: Ran, title: String, background: u32, output: RunOutput) -> RunDetails {
    let (exit_code, signal) = match ran.exit {
        Exit::Code(code) => (Some(code), None),
        Exit::Signal(number) => (None, Some(signal::name(number))),
    };
    let ended_by = match ran.stopped {
        Some(Stopped::TimedOut) => EndedBy::Server,
        Some(Stopped::Asked) => EndedBy::Close,
        None => EndedBy::Program,
    };
    RunDetails {
        action: RunAction::Run,
        process: wire::bash::Process {
            state: ProcessState::Exited,
            program: Some(title),
            exit_code,
            signal,
            ended_by: Some(ended_by),
            background_processes: background,
        },
        timed_out: ran.stopped == Some(Stopped::TimedOut),
        output,
    }
}

/// What a person can do about a program that did not start.
pub(crate) fn refusal(error: &StartError, program: &Program) -> Refusal {
    let cwd = program.cwd.display();
    let shell = program.argv.first().map_or("", String::as_str);
    match error {
        StartError::NoSuchDirectory => Refusal::invalid(format!("cwd {cwd} is no folder"))
            .hint("make it first, or name another folder with cwd"),
        StartError::DirectoryForbidden => Refusal::invalid(format!("cwd {cwd} may not be entered"))
            .hint("name another folder with cwd, or change its permissions"),
        StartError::ProgramNotFound => Refusal::new(
            Kind::ProgramNotFound,
            format!("the shell {shell} is not there"),
        )
        .hint("install it, or set SHELL to one that is there and make a new chat"),
        StartError::ProgramForbidden => Refusal::new(
            Kind::ProgramNotFound,
            format!("the shell {shell} may not be executed"),
        )
        .hint("set SHELL to a program that may be executed and make a new chat"),
        StartError::NoPtyLeft => Refusal::new(Kind::OutOfResources, "this machine has no PTY left")
            .hint("close terminals that are no longer needed, or raise kernel.pty.max"),
        StartError::NoDescriptorLeft => {
            Refusal::new(Kind::OutOfResources, "no file descriptor is left")
                .hint("close terminals that are no longer needed, or raise the limit of open files")
        }
        StartError::NoProcessLeft => {
            Refusal::new(Kind::OutOfResources, "no further process can be started")
                .hint("end processes that are no longer needed, or raise the limit of processes")
        }
        StartError::Other(_) => Refusal::new(Kind::OutOfResources, error.to_string()),
    }
}
