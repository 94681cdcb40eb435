//! Placeholder head, replaced with the snapshots.
