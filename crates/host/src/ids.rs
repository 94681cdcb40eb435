//! Draws random ids. The store's unique key tells when one is taken; the caller then draws again.

use wire::{ChatId, JobId, Kind, Refusal, TerminalId};

/// A second collision of 64 random bits means that the source of randomness is broken, not that luck is bad.
pub(crate) const DRAWS: usize = 4;

/// A chat id that is very probably new.
pub(crate) fn chat() -> Result<ChatId, Refusal> {
    bits().map(ChatId::from_random)
}

/// A terminal id that is very probably new.
pub(crate) fn terminal() -> Result<TerminalId, Refusal> {
    bits().map(TerminalId::from_random)
}

/// A job id that is very probably new.
pub(crate) fn job() -> Result<JobId, Refusal> {
    bits().map(JobId::from_random)
}

/// Names one failure, in the log and in what the caller is told of it.
pub(crate) fn fault() -> String {
    // Without random bits all failures have one name, which still finds them in the log.
    format!("{:08x}", getrandom::u32().unwrap_or_default())
}

/// What is said when every draw collided.
pub(crate) fn exhausted() -> Refusal {
    Refusal::new(Kind::Internal, "no unused id was found")
}

fn bits() -> Result<u64, Refusal> {
    getrandom::u64().map_err(|error| {
        Refusal::new(
            Kind::OutOfResources,
            format!("the kernel gives no random bits: {error}"),
        )
    })
}
