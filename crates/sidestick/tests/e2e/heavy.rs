//! Tests that start many processes or load the processors on purpose. `cargo xtask soak` runs them at full length.

mod bursts;
mod exits;
mod kills;
mod memory;
mod opens;
