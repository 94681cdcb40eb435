//! A runner at the other end of its socket, on real programs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

mod jobs;
mod support;
mod terminals;
