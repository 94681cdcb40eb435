//! Names of signals, as a person knows them.

/// Number and name on Linux; the numbers of x86-64 and ARM agree for these.
const NAMES: [(i32, &str); 31] = [
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (4, "SIGILL"),
    (5, "SIGTRAP"),
    (6, "SIGABRT"),
    (7, "SIGBUS"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (10, "SIGUSR1"),
    (11, "SIGSEGV"),
    (12, "SIGUSR2"),
    (13, "SIGPIPE"),
    (14, "SIGALRM"),
    (15, "SIGTERM"),
    (16, "SIGSTKFLT"),
    (17, "SIGCHLD"),
    (18, "SIGCONT"),
    (19, "SIGSTOP"),
    (20, "SIGTSTP"),
    (21, "SIGTTIN"),
    (22, "SIGTTOU"),
    (23, "SIGURG"),
    (24, "SIGXCPU"),
    (25, "SIGXFSZ"),
    (26, "SIGVTALRM"),
    (27, "SIGPROF"),
    (28, "SIGWINCH"),
    (29, "SIGIO"),
    (30, "SIGPWR"),
    (31, "SIGSYS"),
];

/// The name of a signal; a real-time signal is `SIGRTMIN+n`.
pub fn name(number: i32) -> String {
    match NAMES.iter().find(|(n, _)| *n == number) {
        Some((_, name)) => (*name).to_owned(),
        None => format!("SIGRTMIN+{}", number - 34),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn signals_have_the_names_people_know() {
        assert_eq!(super::name(15), "SIGTERM");
        assert_eq!(super::name(36), "SIGRTMIN+2");
    }
}
