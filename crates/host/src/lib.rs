//! Who may do what: the one door [`Host::call`], chats, their runners, panes and the store.
//!
//! Invariant: a transport reaches a terminal only through the door. A scope is made from a caller and nothing else,
//! and everything below the door takes a scope, so that no handler can forget the check.

mod access;
mod account;
mod ancestors;
mod caller;
mod chats;
mod clock;
mod door;
mod environment;
pub mod frames;
mod ids;
mod launcher;
mod panes;
mod places;
mod runners;
mod stop;
pub mod store;
mod tools;
mod turns;

#[cfg(test)]
mod testing;

pub use access::Permission;
pub use caller::{Caller, Peer, Via};
pub use door::{Host, Reply, Settings};
pub use launcher::{Launcher, Launching};
pub use panes::{Held, PaneEvent};
pub use places::SocketPlace;
pub use stop::Stop;
