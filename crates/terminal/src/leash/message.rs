//! What the owner and its leash say to each other. Pure: bytes in, words out.
//!
//! Both ends are the same build of the same program, so there is no version and no compatibility.
//! The descriptors of the program's stdio travel beside the first byte of a launch, not in it.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// A launch is an argument list, an environment and two paths; the kernel takes no more than 6 MiB
/// of the former two, so that a longer one is a mistake.
pub(crate) const LAUNCH_LIMIT: usize = 8 * 1024 * 1024;

/// Bytes of one [`Report`].
pub(crate) const REPORT_BYTES: usize = 8;

/// Whether standard input becomes the controlling terminal of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Controlling {
    Terminal,
    Nothing,
}

/// The one message that starts a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Launch {
    pub(crate) controlling: Controlling,
    pub(crate) argv: Vec<OsString>,
    pub(crate) cwd: PathBuf,
    pub(crate) env: Vec<(OsString, OsString)>,
    /// The cgroup directory of this terminal alone.
    pub(crate) cgroup: Option<PathBuf>,
}

/// What went wrong, by the step that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The launch did not arrive whole.
    Message,
    /// Entering the working directory.
    Directory,
    /// Making the process or executing the program.
    Program,
}

/// What the leash tells its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Report {
    /// The program runs as this process, which leads its session and process group.
    Started(i32),
    /// Nothing was started; the number is an errno. The leash ends.
    Failed(Stage, i32),
    /// The program ended with this code.
    Exited(i32),
    /// The program was ended by this signal.
    Signaled(i32),
}

/// What the owner asks of a leash that has started its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    /// Tell every process that its terminal is gone.
    Hangup,
    /// Ask every process to end.
    Terminate,
    /// End every process, until none is left.
    Kill,
}

impl Launch {
    /// The body of the message; the sender puts its length before it, as four little-endian bytes.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = vec![match self.controlling {
            Controlling::Terminal => 1,
            Controlling::Nothing => 0,
        }];
        put(&mut out, self.cwd.as_os_str());
        put(
            &mut out,
            self.cgroup.as_deref().unwrap_or("".as_ref()).as_os_str(),
        );
        put_count(&mut out, self.argv.len());
        self.argv.iter().for_each(|word| put(&mut out, word));
        put_count(&mut out, self.env.len());
        for (name, value) in &self.env {
            put(&mut out, name);
            put(&mut out, value);
        }
        out
    }

    /// The launch of a whole body; `None` when it is cut short or not one.
    pub(crate) fn decode(body: &[u8]) -> Option<Self> {
        let mut rest = body;
        let controlling = match take(&mut rest, 1)? {
            [0] => Controlling::Nothing,
            [1] => Controlling::Terminal,
            _ => return None,
        };
        let cwd = PathBuf::from(text(&mut rest)?);
        let cgroup = Some(text(&mut rest)?)
            .filter(|dir| !dir.is_empty())
            .map(PathBuf::from);
        let argv = (0..count(&mut rest)?)
            .map(|_| text(&mut rest))
            .collect::<Option<Vec<_>>>()?;
        let env = (0..count(&mut rest)?)
            .map(|_| Some((text(&mut rest)?, text(&mut rest)?)))
            .collect::<Option<Vec<_>>>()?;
        rest.is_empty().then_some(Self {
            controlling,
            argv,
            cwd,
            env,
            cgroup,
        })
    }
}

impl Report {
    pub(crate) fn encode(self) -> [u8; REPORT_BYTES] {
        let (kind, value) = match self {
            Self::Started(pid) => (1, pid),
            Self::Exited(code) => (2, code),
            Self::Signaled(signal) => (3, signal),
            Self::Failed(Stage::Message, errno) => (4, errno),
            Self::Failed(Stage::Directory, errno) => (5, errno),
            Self::Failed(Stage::Program, errno) => (6, errno),
        };
        (u64::from(kind as u32) << 32 | u64::from(value as u32)).to_le_bytes()
    }

    pub(crate) fn decode(bytes: [u8; REPORT_BYTES]) -> Option<Self> {
        let word = u64::from_le_bytes(bytes);
        let value = word as u32 as i32;
        Some(match word >> 32 {
            1 => Self::Started(value),
            2 => Self::Exited(value),
            3 => Self::Signaled(value),
            4 => Self::Failed(Stage::Message, value),
            5 => Self::Failed(Stage::Directory, value),
            6 => Self::Failed(Stage::Program, value),
            _ => return None,
        })
    }
}

impl Verb {
    pub(crate) fn encode(self) -> u8 {
        match self {
            Self::Hangup => b'h',
            Self::Terminate => b't',
            Self::Kill => b'k',
        }
    }

    pub(crate) fn decode(byte: u8) -> Option<Self> {
        match byte {
            b'h' => Some(Self::Hangup),
            b't' => Some(Self::Terminate),
            b'k' => Some(Self::Kill),
            _ => None,
        }
    }
}

fn put(out: &mut Vec<u8>, text: &OsStr) {
    put_count(out, text.len());
    out.extend_from_slice(text.as_bytes());
}

/// A count that does not fit is written as the greatest one, which no body can hold: it is refused.
fn put_count(out: &mut Vec<u8>, count: usize) {
    out.extend_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
}

fn take<'a>(rest: &mut &'a [u8], bytes: usize) -> Option<&'a [u8]> {
    let (head, tail) = rest.split_at_checked(bytes)?;
    *rest = tail;
    Some(head)
}

fn count(rest: &mut &[u8]) -> Option<usize> {
    let bytes = take(rest, 4)?.try_into().ok()?;
    usize::try_from(u32::from_le_bytes(bytes)).ok()
}

fn text(rest: &mut &[u8]) -> Option<OsString> {
    let length = count(rest)?;
    Some(OsString::from_vec(take(rest, length)?.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn word() -> impl Strategy<Value = OsString> {
        proptest::collection::vec(any::<u8>(), 0..40).prop_map(OsString::from_vec)
    }

    fn launch() -> impl Strategy<Value = Launch> {
        let env = proptest::collection::vec((word(), word()), 0..6);
        let cgroup = proptest::option::of(word().prop_filter("a path", |dir| !dir.is_empty()));
        let argv = proptest::collection::vec(word(), 0..6);
        (any::<bool>(), argv, word(), env, cgroup).prop_map(|(tty, argv, cwd, env, cgroup)| {
            Launch {
                controlling: if tty {
                    Controlling::Terminal
                } else {
                    Controlling::Nothing
                },
                argv,
                cwd: cwd.into(),
                env,
                cgroup: cgroup.map(PathBuf::from),
            }
        })
    }

    proptest! {
        #[test]
        fn a_launch_comes_out_as_it_went_in(launch in launch()) {
            prop_assert_eq!(Launch::decode(&launch.encode()), Some(launch));
        }

        #[test]
        fn a_launch_that_is_cut_short_is_refused(launch in launch(), keep in 0.0..1.0_f64) {
            let whole = launch.encode();
            let kept = (whole.len() as f64 * keep) as usize;
            prop_assert_eq!(Launch::decode(&whole[..kept]), None);
        }

        #[test]
        fn any_bytes_are_decoded_without_a_panic(body in proptest::collection::vec(any::<u8>(), 0..64)) {
            if let Some(launch) = Launch::decode(&body) {
                prop_assert_eq!(launch.encode(), body);
            }
        }
    }

    #[test]
    fn every_report_comes_out_as_it_went_in() {
        for value in [0, 1, 255, -1, i32::MAX, i32::MIN] {
            let stages = [Stage::Message, Stage::Directory, Stage::Program];
            let failed = stages.map(|stage| Report::Failed(stage, value));
            let others = [
                Report::Started(value),
                Report::Exited(value),
                Report::Signaled(value),
            ];
            for report in failed.into_iter().chain(others) {
                assert_eq!(Report::decode(report.encode()), Some(report));
            }
        }
        assert_eq!(Report::decode([0; REPORT_BYTES]), None);
    }

    #[test]
    fn every_verb_comes_out_as_it_went_in() {
        for verb in [Verb::Hangup, Verb::Terminate, Verb::Kill] {
            assert_eq!(Verb::decode(verb.encode()), Some(verb));
        }
        assert_eq!(Verb::decode(0), None);
    }
}
