//! What the kernel offers: pseudo-terminals, ways to hold all processes of a terminal, ways to lock them in.

use std::path::Path;
use std::str::FromStr;

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, Scope,
};
use rustix::pty::{OpenptFlags, openpt};
use terminal::cgroup;

use super::report::Finding;
use crate::command::install::Surroundings;

/// Of Landlock: from this one on it holds signals and abstract sockets too.
const LANDLOCK: u8 = 6;

/// Looks at all of it.
pub(super) fn examine(around: &Surroundings) -> Vec<Finding> {
    let opens = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).map(drop);
    let mut findings = vec![
        terminals(
            opens.err().map(|it| std::io::Error::from(it).to_string()),
            number("/proc/sys/kernel/pty/nr"),
            number("/proc/sys/kernel/pty/max"),
        ),
        containment(
            cgroup::Root::detect().map(cgroup::Root::dir),
            lists_children(),
        ),
        namespaces(
            number("/proc/sys/user/max_user_namespaces"),
            number("/proc/sys/kernel/unprivileged_userns_clone"),
            number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
        ),
        landlock(landlock_abi()),
    ];
    findings.extend(lingering_of(around));
    findings
}

fn terminals(error: Option<String>, used: Option<u64>, most: Option<u64>) -> Finding {
    const NAME: &str = "terminals";
    let count = match (used, most) {
        (Some(used), Some(most)) => format!("{used} of {most} in use"),
        _ => "how many are in use is not known".to_owned(),
    };
    let scarce = used
        .zip(most)
        .is_some_and(|(used, most)| most - most / 10 <= used);
    match error {
        Some(error) if scarce => Finding::problem(
            NAME,
            format!("none can be opened: {error}; {count}"),
            "close some, or raise the number with: sysctl kernel.pty.max=8192",
        ),
        Some(error) => Finding::problem(
            NAME,
            format!("none can be opened: {error}"),
            "devpts has to be mounted on /dev/pts, and /dev/ptmx open to you",
        ),
        None if scarce => Finding::note(
            NAME,
            count,
            "close some, or raise the number with: sysctl kernel.pty.max=8192",
        ),
        None => Finding::ok(NAME, count),
    }
}

fn containment(cgroup: Option<&Path>, children: bool) -> Finding {
    const NAME: &str = "containment";
    match (cgroup, children) {
        (Some(folder), _) => Finding::ok(
            NAME,
            format!(
                "by leash and by a cgroup for each terminal below {}",
                folder.components().as_path().display()
            ),
        ),
        (None, true) => Finding::ok(NAME, "by leash (no cgroup of version 2 may be written to)"),
        (None, false) => Finding::problem(
            NAME,
            "processes that leave their terminal's session cannot be found",
            "use a kernel with CONFIG_PROC_CHILDREN, or give this account a cgroup of its own",
        ),
    }
}

fn namespaces(most: Option<u64>, clone: Option<u64>, apparmor: Option<u64>) -> Finding {
    const NAME: &str = "namespaces";
    match (most, clone, apparmor) {
        (None | Some(0), _, _) => Finding::note(
            NAME,
            "user namespaces are switched off",
            "sandboxes would need them: sysctl user.max_user_namespaces=15000",
        ),
        (_, Some(0), _) => Finding::note(
            NAME,
            "user namespaces are for root alone",
            "sandboxes would need them: sysctl kernel.unprivileged_userns_clone=1",
        ),
        (_, _, Some(1..)) => Finding::note(
            NAME,
            "AppArmor restricts user namespaces",
            "sandboxes would need a profile that allows them",
        ),
        (Some(_), _, _) => Finding::ok(NAME, "user namespaces are there"),
    }
}

fn landlock(abi: u8) -> Finding {
    const NAME: &str = "landlock";
    const ADVICE: &str = "sandboxes would need Linux 6.12 with landlock among its lsm= modules";
    match abi {
        0 => Finding::note(NAME, "the kernel has none", ADVICE),
        1..LANDLOCK => Finding::note(NAME, format!("ABI {abi}"), ADVICE),
        LANDLOCK => Finding::ok(NAME, format!("ABI {LANDLOCK} or later")),
        later => Finding::ok(NAME, format!("ABI {later}")),
    }
}

fn lingering(account: &str, lingers: Option<bool>) -> Option<Finding> {
    const NAME: &str = "lingering";
    match lingers? {
        true => Some(Finding::ok(NAME, format!("is on for {account}"))),
        false => Some(Finding::note(
            NAME,
            format!("is off for {account}: systemd may end terminals when you log out"),
            format!("loginctl enable-linger {account}"),
        )),
    }
}

/// Only where systemd runs and keeps a session for the account.
fn lingering_of(around: &Surroundings) -> Option<Finding> {
    let session = around.path("XDG_RUNTIME_DIR")?.join("systemd");
    let account = around.vars.get("USER")?.to_str()?;
    let systemd = Path::new("/run/systemd/system").is_dir() && session.is_dir();
    let marked = Path::new("/var/lib/systemd/linger").join(account).exists();
    lingering(account, systemd.then_some(marked))
}

/// Whether the kernel tells the children of a process, from which a leash finds all of its own.
fn lists_children() -> bool {
    let pid = std::process::id();
    Path::new(&format!("/proc/{pid}/task/{pid}/children")).exists()
}

/// What the kernel takes without complaint. Nothing is restricted: the rules are never applied.
fn landlock_abi() -> u8 {
    let strict = || Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let files = |abi| strict().handle_access(AccessFs::from_all(abi)).is_ok();
    let steps = [
        files(ABI::V1),
        files(ABI::V2),
        files(ABI::V3),
        strict().handle_access(AccessNet::from_all(ABI::V4)).is_ok(),
        files(ABI::V5),
        strict().scope(Scope::from_all(ABI::V6)).is_ok(),
    ];
    steps.iter().take_while(|it| **it).map(|_| 1).sum()
}

fn number<T: FromStr>(path: &str) -> Option<T> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::report::Level;
    use super::*;

    #[test]
    fn terminals_that_run_out_are_told_before_there_are_none() {
        let level = |error: Option<&str>, used, most| {
            terminals(error.map(str::to_owned), Some(used), Some(most)).level
        };
        assert_eq!(level(None, 2, 4096), Level::Ok);
        assert_eq!(level(None, 3700, 4096), Level::Note);
        assert_eq!(level(Some("no space"), 4096, 4096), Level::Problem);
        let closed = terminals(Some("permission denied".to_owned()), Some(2), Some(4096));
        assert!(closed.advice.unwrap().contains("devpts"));
        assert_eq!(terminals(None, None, None).level, Level::Ok);
    }

    #[test]
    fn either_way_of_containment_is_enough() {
        assert_eq!(containment(Some(Path::new("/cg")), false).level, Level::Ok);
        assert_eq!(containment(None, true).level, Level::Ok);
        assert_eq!(containment(None, false).level, Level::Problem);
    }

    #[test]
    fn each_way_to_switch_namespaces_off_is_told_with_its_own_remedy() {
        assert_eq!(namespaces(Some(9), None, None).level, Level::Ok);
        assert_eq!(namespaces(Some(9), Some(1), Some(0)).level, Level::Ok);
        for (finding, remedy) in [
            (namespaces(Some(0), None, None), "max_user_namespaces"),
            (namespaces(None, None, None), "max_user_namespaces"),
            (
                namespaces(Some(9), Some(0), None),
                "unprivileged_userns_clone",
            ),
            (namespaces(Some(9), None, Some(1)), "profile"),
        ] {
            assert_eq!(finding.level, Level::Note);
            assert!(
                finding.advice.as_ref().unwrap().contains(remedy),
                "{finding:?}"
            );
        }
    }

    #[test]
    fn an_old_landlock_is_told_by_its_number() {
        assert_eq!(landlock(0).level, Level::Note);
        assert_eq!(landlock(5).text, "ABI 5");
        assert_eq!(landlock(5).level, Level::Note);
        assert_eq!(landlock(6).level, Level::Ok);
        assert!(landlock_abi() <= LANDLOCK);
    }

    #[test]
    fn lingering_is_of_interest_only_where_systemd_keeps_a_session() {
        assert_eq!(lingering("u", None), None);
        assert_eq!(lingering("u", Some(true)).unwrap().level, Level::Ok);
        let off = lingering("u", Some(false)).unwrap();
        assert_eq!(off.advice.unwrap(), "loginctl enable-linger u");
    }
}
