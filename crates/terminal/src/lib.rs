//! One terminal: its process, its screen, its input and who watches it.

pub mod cgroup;
pub mod drain;
pub mod leash;
pub mod pipes;
pub mod process;
pub mod pty;
pub mod screen;
mod sequence;
pub mod size;
pub mod stream;
pub mod stroke;
pub mod tty;
pub mod viewer;
pub mod vt;
