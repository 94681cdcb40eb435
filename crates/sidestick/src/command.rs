//! The commands, one file each.

pub(crate) mod chat;
pub(crate) mod runner;
pub(crate) mod tool;
