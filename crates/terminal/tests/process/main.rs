//! Real programs under real leashes: started, read to their last byte, and ended to the last process.
// A helper of a test may fail as loudly as the test itself.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

mod endings;
mod exits;
mod starts;
mod support;
mod ttys;
