//! Tells a program's answer from the echo of a call's own input, by their text alone.
//!
//! A place of the marker looks like echo when what stands before it on the screen ends as the
//! typed line does before the marker. Typing a line accounts for as many such places as the line
//! has; one more of them, or a place that does not look like echo, is an answer. So it works for a
//! shell that echoes in place, for a TUI that moves a prompt from its box to its transcript, and
//! for `cat`, whose answer looks like the echo but comes on top of it.

/// Lines of one call and places of the marker in a line that are looked at. Beyond them a marker
/// is no marker any more, and comparing would cost more than it tells.
const MOST: usize = 64;
/// Characters compared before a place; equal so far is equal enough.
const FAR: usize = 256;
/// Places of the marker on a screen that are looked at.
const MOST_SEEN: usize = 1_000;

/// What the places of a marker on a screen are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// The marker is not there.
    Nothing,
    /// It is there, but only as echo of the call's own input.
    Echo,
    /// It is there once more as echo than the lines that were typed account for, after a prompt
    /// that was there before: a line editor repeats what was typed before it read.
    Repeated,
    /// It is there, but no more than before the call's input.
    Stale,
    /// It is there as something new.
    Answer,
}

/// The marker of one call and the lines that the call types.
#[derive(Debug)]
pub(crate) struct Echo {
    marker: String,
    /// Own lines that hold the marker, and where.
    lines: Vec<(String, Vec<usize>)>,
    /// The screen before the first byte of the call's input.
    baseline: String,
    /// The fewest places seen since the baseline: what scrolled away accounts for nothing.
    fewest: Places,
}

#[derive(Clone, Copy, Debug, Default)]
struct Places {
    echo: usize,
    /// The last of the echo, as far as they stand behind a prompt.
    prompted: usize,
    other: usize,
}

impl Echo {
    /// Notes what is on the screen before the first byte of the call's input.
    pub(crate) fn new(marker: &str, typed: &str, baseline: &str) -> Self {
        let lines = typed
            .split(['\n', '\r'])
            .filter(|line| line.contains(marker))
            .take(MOST)
            .map(|line| {
                let places = line
                    .match_indices(marker)
                    .map(|(at, _)| at)
                    .take(MOST)
                    .collect();
                (line.to_owned(), places)
            })
            .collect();
        let mut echo = Self {
            marker: marker.to_owned(),
            lines,
            baseline: baseline.to_owned(),
            fewest: Places::default(),
        };
        echo.fewest = echo.places(baseline);
        echo
    }

    /// Judges a screen after the input; screens come in the order of time.
    pub(crate) fn judge(&mut self, screen: &str) -> Seen {
        let now = self.places(screen);
        let typed: usize = self.lines.iter().map(|(_, places)| places.len()).sum();
        let more = now.echo.saturating_sub(self.fewest.echo + typed);
        let seen = match now {
            Places {
                echo: 0, other: 0, ..
            } => Seen::Nothing,
            _ if now.other > self.fewest.other => Seen::Answer,
            _ if more > now.prompted.min(typed) => Seen::Answer,
            _ if more > 0 => Seen::Repeated,
            Places { other: 0, .. } if typed > 0 => Seen::Echo,
            _ => Seen::Stale,
        };
        self.fewest.echo = self.fewest.echo.min(now.echo);
        self.fewest.other = self.fewest.other.min(now.other);
        seen
    }

    fn places(&self, screen: &str) -> Places {
        let mut places = Places::default();
        for (at, _) in screen.match_indices(&self.marker).take(MOST_SEEN) {
            if self.is_like_echo(screen, at) {
                places.echo += 1;
                places.prompted = match self.is_prompted(&screen[..at]) {
                    true => places.prompted + 1,
                    false => 0,
                };
            } else {
                places.other += 1;
            }
        }
        places
    }

    /// Whether an echo stands behind something that a line began with before the input.
    fn is_prompted(&self, screen: &str) -> bool {
        let row = screen.rsplit('\n').next().unwrap_or_default();
        self.lines.iter().any(|(line, places)| {
            places.iter().any(|&place| {
                let prompt = row.strip_suffix(&line[..place]).map_or("", str::trim_end);
                !prompt.is_empty() && self.baseline.lines().any(|it| it.starts_with(prompt))
            })
        })
    }

    fn is_like_echo(&self, screen: &str, at: usize) -> bool {
        self.lines.iter().any(|(line, places)| {
            places.iter().any(|&place| {
                let before = &line[..place];
                if before.chars().any(counts) {
                    return ends_alike(&screen[..at], before);
                }
                let rest = &line[place + self.marker.len()..];
                let after = &screen[at + self.marker.len()..];
                begins_alike(after.split('\n').next().unwrap_or_default(), rest)
            })
        })
    }
}

/// Blanks, line ends and the lines of a box may lie between the characters of an echo: a TUI wraps
/// what is typed inside its box.
fn counts(c: char) -> bool {
    !c.is_whitespace() && !('\u{2500}'..='\u{257f}').contains(&c)
}

/// Whether `screen` ends in `typed`, as far as the screen goes back.
fn ends_alike(screen: &str, typed: &str) -> bool {
    let mut shown = screen.chars().rev().filter(|c| counts(*c));
    let mut wanted = typed.chars().rev().filter(|c| counts(*c)).take(FAR);
    let mut alike = 0;
    loop {
        match (shown.next(), wanted.next()) {
            (_, None) => return true,
            (None, Some(_)) => return alike > 0,
            (Some(is), Some(want)) if is == want => alike += 1,
            (Some(_), Some(_)) => return false,
        }
    }
}

/// Whether one begins with the other.
fn begins_alike(screen: &str, typed: &str) -> bool {
    let shown = screen.chars().filter(|c| counts(*c));
    let wanted = typed.chars().filter(|c| counts(*c));
    shown.zip(wanted).take(FAR).all(|(is, want)| is == want)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b37_a_shell_s_echo_is_told_from_its_answer() {
        let mut echo = Echo::new("TERMINE", "sleep 4; echo TERMINE\r", "$ \n");
        assert_eq!(echo.judge("$ \n"), Seen::Nothing);
        assert_eq!(echo.judge("$ sleep 4; echo TERMINE\n"), Seen::Echo);
        assert_eq!(
            echo.judge("$ sleep 4; echo TERMINE\nTERMINE\n$ \n"),
            Seen::Answer
        );
    }

    #[test]
    fn b37_a_marker_that_is_only_made_by_the_shell_is_an_answer() {
        let mut echo = Echo::new("FIN_OK", "sleep 4; echo FIN_$(echo OK)\r", "$ \n");
        assert_eq!(
            echo.judge("$ sleep 4; echo FIN_$(echo OK)\n"),
            Seen::Nothing
        );
        assert_eq!(
            echo.judge("$ sleep 4; echo FIN_$(echo OK)\nFIN_OK\n"),
            Seen::Answer
        );
    }

    #[test]
    fn b37_the_answer_of_cat_looks_like_the_echo_and_comes_on_top_of_it() {
        for typed in ["hello\r", "say hello\r"] {
            let line = typed.trim_end();
            let mut echo = Echo::new("hello", typed, "\n");
            assert_eq!(echo.judge(&format!("{line}\n")), Seen::Echo);
            assert_eq!(echo.judge(&format!("{line}\n{line}\n")), Seen::Answer);
        }
    }

    #[test]
    fn b37_a_prompt_that_moves_from_its_box_to_the_transcript_is_still_echo() {
        let mut echo = Echo::new("DONE", "say the word DONE now\r", "╭──╮\n│ >  │\n╰──╯\n");
        assert_eq!(
            echo.judge("╭──╮\n│ > say the │\n│ word DONE now │\n╰──╯\n"),
            Seen::Echo
        );
        assert_eq!(
            echo.judge("> say the word DONE now\n╭──╮\n│ >  │\n"),
            Seen::Echo
        );
        assert_eq!(
            echo.judge("> say the word DONE now\n● DONE\n╭──╮\n│ >  │\n"),
            Seen::Answer
        );
    }

    #[test]
    fn b37_a_line_that_was_typed_ahead_is_repeated_only_behind_a_known_prompt() {
        let typed = "sleep 3; echo DONE\r";
        let mut echo = Echo::new("DONE", typed, "me@box $ sleep 1\n");
        let ahead = "me@box $ sleep 1\nsleep 3; echo DONE\n";
        assert_eq!(echo.judge(ahead), Seen::Echo);
        let repeated = format!("{ahead}me@box $ sleep 3; echo DONE\n");
        assert_eq!(echo.judge(&repeated), Seen::Repeated);
        assert_eq!(echo.judge(&format!("{repeated}DONE\n")), Seen::Answer);
        let mut echo = Echo::new("Bob", "Bob\r", "Name: \n");
        assert_eq!(echo.judge("Name: Bob\nHello Bob\n"), Seen::Answer);
    }

    #[test]
    fn b37_echo_of_an_earlier_call_accounts_for_itself_only() {
        let before = "$ echo DONE\nDONE\n$ \n";
        let mut echo = Echo::new("DONE", "echo DONE\r", before);
        assert_eq!(echo.judge("$ echo DONE\nDONE\n$ echo DONE\n"), Seen::Stale);
        assert_eq!(
            echo.judge("$ echo DONE\nDONE\n$ echo DONE\nDONE\n"),
            Seen::Answer
        );
    }

    #[test]
    fn b37_what_scrolled_away_no_longer_accounts_for_anything() {
        let mut echo = Echo::new("hi", "hi\r", "hi\nhi\nhi\n");
        assert_eq!(echo.judge("x\nx\nx\n"), Seen::Nothing);
        assert_eq!(echo.judge("x\nx\nhi\n"), Seen::Echo);
        assert_eq!(echo.judge("x\nhi\nhi\n"), Seen::Answer);
    }

    #[test]
    fn a_marker_that_was_there_and_is_not_typed_is_stale_until_another_comes() {
        let mut echo = Echo::new("ready", "\r", "ready\n");
        assert_eq!(echo.judge("ready\n"), Seen::Stale);
        assert_eq!(echo.judge("ready\nready\n"), Seen::Answer);
    }

    #[test]
    fn a_typed_word_at_the_start_of_a_line_is_echo_only_as_far_as_the_line_agrees() {
        let mut echo = Echo::new("build", "build all\r", "");
        assert_eq!(echo.judge("build al\n"), Seen::Echo);
        assert_eq!(echo.judge("build all\nbuild finished\n"), Seen::Answer);
    }
}
