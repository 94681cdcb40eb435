//! What a chat's programs find in their environment, and which shell runs them.
//!
//! Invariant: a variable that looks like a secret reaches neither a program nor the store, unless the person listed
//! its name under `[env] pass`.

use wire::limits;

/// Words anywhere in a name that mark a secret.
const SECRET_WORDS: [&str; 3] = ["TOKEN", "SECRET", "PASSWORD"];
/// Ends of a name that mark a secret.
const SECRET_ENDS: [&str; 1] = ["_KEY"];
/// Beginnings of our own names: they steer this program, not what it runs.
const OWN_STARTS: [&str; 1] = ["SIDESTICK_"];
/// They tell of the terminal that the client sits in. A program in a terminal of ours would believe them.
const OF_ANOTHER_TERMINAL: [&str; 12] = [
    "COLUMNS",
    "LINES",
    "TERMCAP",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "TERM_SESSION_ID",
    "TMUX",
    "TMUX_PANE",
    "STY",
    "WINDOWID",
    "VTE_VERSION",
    "KITTY_WINDOW_ID",
];
/// They tell where the client stands, and a program starts elsewhere; shells set them anew.
const OF_ANOTHER_FOLDER: [&str; 2] = ["PWD", "OLDPWD"];
/// The shell that every system has.
const LAST_SHELL: &str = "/bin/sh";
/// TERM of a plain command, which has no terminal.
const NO_TERMINAL: &str = "dumb";

/// What a program runs under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Under<'a> {
    /// A terminal with this TERM.
    Terminal(&'a str),
    /// Pipes.
    Pipes,
}

/// Leaves out what looks like a secret. Names that cannot be set are left out as well.
pub(crate) fn filter(env: Vec<(String, String)>, pass: &[String]) -> Vec<(String, String)> {
    let named = |name: &str| !name.is_empty() && !name.contains(['=', '\0']);
    env.into_iter()
        .filter(|(name, value)| named(name) && !value.contains('\0'))
        .filter(|(name, _)| pass.iter().any(|it| it == name) || !is_secret(name))
        .collect()
}

/// The environment of one program of a chat.
pub(crate) fn of_program(chat: &[(String, String)], under: Under<'_>) -> Vec<(String, String)> {
    let stale = |name: &str| {
        name == "TERM" || OF_ANOTHER_TERMINAL.contains(&name) || OF_ANOTHER_FOLDER.contains(&name)
    };
    let term = match under {
        Under::Terminal(term) => term,
        Under::Pipes => NO_TERMINAL,
    };
    chat.iter()
        .filter(|(name, _)| !stale(name))
        .cloned()
        .chain([("TERM".to_owned(), term.to_owned())])
        .collect()
}

/// The user's shell: of the chat's environment, else of the account.
pub(crate) fn shell(chat: &[(String, String)], account: Option<String>) -> String {
    let own = chat
        .iter()
        .find(|(name, _)| name == "SHELL")
        .map(|(_, value)| value.clone());
    own.filter(|it| !it.is_empty())
        .or(account)
        .unwrap_or_else(|| LAST_SHELL.to_owned())
}

/// Program and arguments for a command; without a command the shell itself.
pub(crate) fn argv(shell: String, command: Option<&str>) -> Vec<String> {
    let mut argv = vec![shell];
    argv.extend(
        command
            .into_iter()
            .flat_map(|it| ["-c".to_owned(), it.to_owned()]),
    );
    argv
}

/// What a person would call the program, at most as long as any title.
pub(crate) fn title(shell: &str, command: Option<&str>) -> String {
    let name = command.unwrap_or_else(|| shell.rsplit('/').next().unwrap_or(shell));
    let mut units = 0;
    name.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take_while(|c| {
            units += c.len_utf16();
            units <= limits::TITLE_UNITS
        })
        .collect()
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET_WORDS.iter().any(|it| name.contains(it))
        || SECRET_ENDS.iter().any(|it| name.ends_with(it))
        || OWN_STARTS.iter().any(|it| name.starts_with(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(names: &[&str]) -> Vec<(String, String)> {
        names
            .iter()
            .map(|it| ((*it).to_owned(), "x".to_owned()))
            .collect()
    }

    fn names(env: &[(String, String)]) -> Vec<&str> {
        env.iter().map(|(name, _)| name.as_str()).collect()
    }

    #[test]
    fn what_looks_like_a_secret_is_left_out_whatever_its_case() {
        let secrets = [
            "GITHUB_TOKEN",
            "github_token",
            "TOKENIZERS",
            "AWS_SECRET_ACCESS_KEY",
            "My_Secret",
            "PGPASSWORD",
            "OPENAI_API_KEY",
            "api_key",
            "SIDESTICK_HOME",
            "sidestick_x",
            "SSH_PRIVATE_KEY",
        ];
        assert_eq!(filter(pairs(&secrets), &[]), []);
        let plain = [
            "PATH",
            "HOME",
            "KEYBOARD",
            "SSH_AUTH_SOCK",
            "MONKEY",
            "LANG",
        ];
        assert_eq!(names(&filter(pairs(&plain), &[])), plain);
    }

    #[test]
    fn a_listed_name_passes_and_only_that_one() {
        let env = filter(pairs(&["GH_TOKEN", "GL_TOKEN"]), &["GH_TOKEN".to_owned()]);
        assert_eq!(names(&env), ["GH_TOKEN"]);
    }

    #[test]
    fn names_that_cannot_be_set_are_left_out() {
        assert_eq!(filter(pairs(&["", "A=B", "A\0"]), &[]), []);
    }

    #[test]
    fn the_clients_own_terminal_is_not_told_to_programs() {
        let env = of_program(
            &pairs(&["TERM", "TMUX", "COLUMNS", "PWD", "HOME"]),
            Under::Terminal("vt100"),
        );
        assert_eq!(names(&env), ["HOME", "TERM"]);
        assert_eq!(env[1].1, "vt100");
        assert_eq!(of_program(&[], Under::Pipes)[0].1, "dumb");
    }

    #[test]
    fn the_shell_is_the_chats_then_the_accounts_then_the_last() {
        let env = vec![("SHELL".to_owned(), "/bin/fish".to_owned())];
        assert_eq!(shell(&env, Some("/bin/zsh".to_owned())), "/bin/fish");
        assert_eq!(shell(&[], Some("/bin/zsh".to_owned())), "/bin/zsh");
        assert_eq!(shell(&[], None), "/bin/sh");
    }

    #[test]
    fn a_command_runs_through_the_shell_and_without_one_the_shell_runs() {
        assert_eq!(
            argv("/bin/sh".to_owned(), Some("a b")),
            ["/bin/sh", "-c", "a b"]
        );
        assert_eq!(argv("/bin/sh".to_owned(), None), ["/bin/sh"]);
        assert_eq!(title("/usr/bin/fish", None), "fish");
        assert_eq!(title("/bin/sh", Some("echo\n1")), "echo 1");
        assert_eq!(
            title("/bin/sh", Some(&"é".repeat(999))).chars().count(),
            limits::TITLE_UNITS
        );
    }
}
