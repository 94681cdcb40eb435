//! What the kernel says about a terminal's line discipline and its input queue.
//!
//! Plain data: the actor asks the kernel, the machine decides. It is a moment's truth, never kept
//! beyond the decision that it was asked for.

/// Whether the program has read all that was written to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Consumed {
    /// Nothing is left to read.
    Yes,
    /// Something is left to read.
    No,
    /// There is no telling: the kernel edits lines, or nobody could be asked.
    #[default]
    Unknown,
}

/// One look at the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tty {
    /// The kernel edits lines (ICANON): the program reads a line at a time.
    pub canonical: bool,
    /// The kernel shows what is typed (ECHO).
    pub echo: bool,
    /// The output stands still after a Ctrl+S.
    pub output_stopped: bool,
    /// Whether the program has read all that was written to it.
    pub consumed: Consumed,
    /// The foreground process group.
    pub foreground: Option<u32>,
}

impl Tty {
    /// Input is hidden as for a password: the kernel edits lines and shows nothing. Line editors
    /// turn both off, and show what is typed themselves.
    pub fn hides_input(self) -> bool {
        self.canonical && !self.echo
    }
}
