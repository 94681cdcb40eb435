//! Runners in process.
