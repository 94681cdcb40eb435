//! The commands, one file each.

pub(crate) mod chat;
pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod install;
pub(crate) mod runner;
pub(crate) mod tool;
