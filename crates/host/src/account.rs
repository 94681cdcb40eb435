//! Reads home and shell of an account from the account file.
//!
//! Only the file: an account of a directory service is told by the caller's own environment, which comes first anyway.

use std::path::PathBuf;

/// What the account file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Account {
    pub home: PathBuf,
    pub shell: Option<String>,
}

/// Looks an account up; none when the file does not name it.
pub(crate) fn find(uid: u32) -> Option<Account> {
    parse(&std::fs::read_to_string("/etc/passwd").ok()?, uid)
}

fn parse(file: &str, uid: u32) -> Option<Account> {
    file.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let [_, _, id, _, _, home, shell] = fields.as_slice() else {
            return None;
        };
        (id.parse() == Ok(uid)).then(|| Account {
            home: PathBuf::from(home),
            shell: (!shell.is_empty()).then(|| (*shell).to_owned()),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_found_by_its_number() {
        let file = "root:x:0:0:root:/root:/bin/bash\nbroken\nada:x:1000:1000::/home/ada:\n";
        assert_eq!(parse(file, 0).unwrap().shell.as_deref(), Some("/bin/bash"));
        let ada = parse(file, 1000).unwrap();
        assert_eq!((ada.home, ada.shell), (PathBuf::from("/home/ada"), None));
        assert_eq!(parse(file, 7), None);
    }
}
