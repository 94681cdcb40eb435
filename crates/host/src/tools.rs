//! The tools, one file each: a checked call becomes calls to the chat's runner, and their answers become a reply.

mod archived;
mod bash;
mod bash_text;

pub(crate) use bash::{Bash, Surroundings};
