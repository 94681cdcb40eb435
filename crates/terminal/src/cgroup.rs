//! One cgroup per terminal, where version 2 is mounted and our own group may be divided.
//!
//! It adds to the leash and replaces nothing: one write ends every process of a group, also those
//! that run as somebody else. Where it cannot be had, the leash alone holds the same processes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// What the directories of all owners begin with.
const PREFIX: &str = "sidestick-";

/// Directories that were not empty yet when they should have been removed.
static LEFT: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A cgroup directory below which we may make others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    dir: PathBuf,
}

/// The group of one terminal. Dropping it removes the directory when it is empty.
#[derive(Debug)]
pub(crate) struct Group {
    dir: PathBuf,
}

impl Root {
    /// The root of this process, looked for once. `None` where there is none that may be written to.
    /// Directories of owners that are gone are removed on the way.
    #[must_use]
    pub fn detect() -> Option<&'static Self> {
        static ROOT: OnceLock<Option<Root>> = OnceLock::new();
        ROOT.get_or_init(|| {
            let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
            let ours = fs::read_to_string("/proc/self/cgroup").ok()?;
            let root = Self {
                dir: directory(&mounts, &ours)?,
            };
            root.probe().ok()?;
            root.sweep();
            Some(root)
        })
        .as_ref()
    }

    /// The directory that the groups are made in.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// A new group below this root, named after this process.
    ///
    /// # Errors
    /// What the system says, as when the number of groups is limited.
    pub(crate) fn group(&self) -> io::Result<Group> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        remove_left();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let dir = self
            .dir
            .join(format!("{PREFIX}{}-{number}", std::process::id()));
        fs::create_dir(&dir)?;
        Ok(Group { dir })
    }

    /// A process is moved by writing to the file of the group that both places share: ours.
    fn probe(&self) -> io::Result<()> {
        fs::File::options()
            .write(true)
            .open(self.dir.join("cgroup.procs"))?;
        let group = self.group()?;
        fs::File::options()
            .write(true)
            .open(group.dir.join("cgroup.kill"))?;
        Ok(())
    }

    /// Removes empty directories of owners that are gone. One that is not empty is left alone: its
    /// owner may live where its number means something else, as in a container.
    fn sweep(&self) {
        let Ok(entries) = fs::read_dir(&self.dir) else {
            return;
        };
        for entry in entries.filter_map(Result::ok) {
            let name = entry.file_name();
            let owner = name.to_str().and_then(owner_of);
            if owner.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
                let _ = fs::remove_dir(entry.path());
            }
        }
    }
}

impl Group {
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Removes the group, of which no process is left.
    pub(crate) fn remove(self) {
        drop(self);
    }

    /// Ends every process of the group.
    pub(crate) fn kill(&self) {
        let _ = fs::write(self.dir.join("cgroup.kill"), "1");
    }

    /// Ends every process of the group and removes it.
    pub(crate) fn kill_and_remove(self) {
        self.kill();
        drop(self);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if fs::remove_dir(&self.dir).is_err() && self.dir.exists() {
            left().push(std::mem::take(&mut self.dir));
        }
    }
}

/// Removes what became empty since.
fn remove_left() {
    left().retain(|dir| fs::remove_dir(dir).is_err() && dir.exists());
}

fn left() -> std::sync::MutexGuard<'static, Vec<PathBuf>> {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The owner in a name such as `sidestick-4711-3`.
fn owner_of(name: &str) -> Option<u32> {
    let (owner, number) = name.strip_prefix(PREFIX)?.split_once('-')?;
    number.parse::<u64>().ok()?;
    owner.parse().ok()
}

/// Where our own cgroup lies: the mount of version 2, and our path below what is mounted there.
fn directory(mounts: &str, ours: &str) -> Option<PathBuf> {
    let path = ours.lines().find_map(|line| line.strip_prefix("0::"))?;
    mounts.lines().find_map(|line| {
        let (places, kind) = line.split_once(" - ")?;
        if kind.split(' ').next()? != "cgroup2" {
            return None;
        }
        let mut places = places.split(' ').skip(3);
        let (mounted, at) = (unescape(places.next()?), unescape(places.next()?));
        let below = Path::new(path).strip_prefix(mounted).ok()?;
        Some(Path::new(&at).join(below))
    })
}

/// The kernel writes blanks and backslashes in paths as three octal digits.
fn unescape(path: &str) -> String {
    let escapes = [
        ("\\040", " "),
        ("\\011", "\t"),
        ("\\012", "\n"),
        ("\\134", "\\"),
    ];
    escapes
        .iter()
        .fold(path.to_owned(), |path, (from, to)| path.replace(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
37 31 0:34 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
38 31 0:35 / /sys/fs/cgroup/unified rw,relatime shared:4 - cgroup2 cgroup2 rw
";

    #[test]
    fn the_directory_is_below_the_mount_of_version_two() {
        let ours = "3:cpuset:/other\n0::/user.slice/a b.scope\n";
        let dir = directory(MOUNTS, ours).unwrap();
        assert_eq!(
            dir,
            Path::new("/sys/fs/cgroup/unified/user.slice/a b.scope")
        );
        assert_eq!(directory(MOUNTS, "3:cpuset:/\n"), None);
        assert_eq!(directory("", ours), None);
    }

    #[test]
    fn a_mount_that_shows_only_a_part_is_taken_into_account() {
        let mounts = "40 1 0:35 /box /mnt/a\\040b rw - cgroup2 cgroup2 rw\n";
        assert_eq!(
            directory(mounts, "0::/box/in\n").unwrap(),
            Path::new("/mnt/a b/in")
        );
        assert_eq!(directory(mounts, "0::/elsewhere\n"), None);
    }

    #[test]
    fn only_our_own_names_tell_an_owner() {
        assert_eq!(owner_of("sidestick-4711-3"), Some(4711));
        for other in [
            "sidestick-4711",
            "sidestick-x-3",
            "sidestick-1-x",
            "user.slice",
        ] {
            assert_eq!(owner_of(other), None);
        }
    }

    #[test]
    fn empty_directories_of_dead_owners_are_swept_and_no_others() {
        let dir = tempfile::tempdir().unwrap();
        let alive = format!("sidestick-{}-1", std::process::id());
        // No process can have this number: it is above the greatest the kernel gives out.
        for name in [
            "sidestick-4194305-1",
            "sidestick-4194305-2/busy",
            "other",
            &alive,
        ] {
            fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        Root {
            dir: dir.path().to_owned(),
        }
        .sweep();
        let mut kept: Vec<_> = fs::read_dir(dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        kept.sort();
        let mut expected = ["other", &alive, "sidestick-4194305-2"].map(str::to_owned);
        expected.sort();
        assert_eq!(kept, expected);
    }
}
