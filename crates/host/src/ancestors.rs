//! Walks from a process to its ancestors, by which a caller inside one of our terminals is recognised.
//!
//! An environment variable would be inherited by programs that have long left the terminal, and could be copied; the
//! kernel's parent links cannot.

/// A chain of parents is short; a longer one is a loop made by reused process ids.
const MOST: usize = 256;

/// The process and its ancestors, nearest first, as far as they can be read.
pub(crate) fn of(pid: u32) -> Vec<u32> {
    walk(pid, |pid| {
        parent(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    })
}

fn walk(pid: u32, parent: impl Fn(u32) -> Option<u32>) -> Vec<u32> {
    std::iter::successors(Some(pid), |pid| parent(*pid).filter(|it| *it != 0))
        .take(MOST)
        .collect()
}

/// The fourth field. The second is a name in parentheses that may itself hold spaces and parentheses.
fn parent(stat: &str) -> Option<u32> {
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_process_name_does_not_move_the_parent() {
        assert_eq!(parent("12 (a) S 99 (b) S 34 12 12 0"), Some(34));
        assert_eq!(parent("garbage"), None);
    }

    #[test]
    fn a_loop_of_parents_ends() {
        assert_eq!(walk(1, |pid| Some(3 - pid)).len(), MOST);
        assert_eq!(walk(3, |pid| pid.checked_sub(1)), [3, 2, 1]);
    }

    #[test]
    fn this_process_has_its_parent_as_second() {
        let chain = of(std::process::id());
        assert_eq!(chain[0], std::process::id());
        assert_eq!(chain[1], std::os::unix::process::parent_id());
    }
}
