//! One terminal: its process, its screen, its input and who watches it.

pub mod screen;
pub mod size;
pub mod stroke;
