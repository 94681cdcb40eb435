//! The vocabulary that every part and every client shares: ids, limits, refusals, tables of tools
//! and methods, frames.
//!
//! Invariant: plain data and pure codecs. No I/O, no async, no clock, no randomness.
#![warn(missing_docs)]

pub mod bash;
pub mod frame;
mod id;
pub mod jobs;
pub mod limits;
mod read;
mod refusal;
pub mod rpc;
pub mod runner;
pub mod signal;
pub mod tool;
pub mod visible;

pub use bash::Size;
pub use id::{BadId, ChatId, JobId, TerminalId};
pub use refusal::{Kind, Refusal};
