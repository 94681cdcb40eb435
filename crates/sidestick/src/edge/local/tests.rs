//! The local edge over a socket pair.
