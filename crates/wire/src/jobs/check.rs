//! From [`JobsArgs`] to [`JobsCall`]: every refusal that needs no job to be looked at.

use super::{JobsAction, JobsArgs, JobsCall, LogPart};
use crate::bash::duration;
use crate::{JobId, Refusal, limits};

impl JobsCall {
    /// Checks a call whole, before its first effect.
    ///
    /// # Errors
    /// 400 `invalid_params` with a sentence that names the fields, 404 for a malformed job id.
    pub fn check(args: JobsArgs) -> Result<Self, Refusal> {
        refuse_stray_fields(&args)?;
        Ok(match args.action {
            JobsAction::List => Self::List,
            JobsAction::Log => Self::Log {
                job: job(&args)?,
                part: part(&args)?,
            },
            JobsAction::Wait => Self::Wait {
                job: job(&args)?,
                timeout: duration(
                    "wait_timeout_ms",
                    args.wait_timeout_ms,
                    limits::WAIT_TIMEOUT_MS,
                    "wait again for more than two minutes",
                )?
                .unwrap_or(limits::WAIT_TIMEOUT),
            },
            JobsAction::Stop => Self::Stop { job: job(&args)? },
        })
    }
}

fn part(args: &JobsArgs) -> Result<LogPart, Refusal> {
    match (args.from_line, args.tail) {
        (Some(_), Some(_)) => Err(Refusal::invalid("from_line cannot accompany tail")
            .hint("give one of them: where to begin, or how many lines from the end")),
        (Some(line), None) => Ok(LogPart::From(line)),
        (None, Some(lines)) if (1..=limits::LOG_LINES).contains(&lines) => Ok(LogPart::Tail(lines)),
        (None, Some(lines)) => Err(Refusal::invalid(format!(
            "tail is {lines}, outside 1 to 2,000"
        ))
        .hint("read more lines by several calls with from_line")),
        (None, None) => Ok(LogPart::Tail(limits::LOG_TAIL)),
    }
}

fn job(args: &JobsArgs) -> Result<JobId, Refusal> {
    let Some(text) = &args.job_id else {
        return Err(Refusal::invalid("job_id is missing")
            .hint("take it from the answer that started the job, or from action \"list\""));
    };
    // A malformed id reads like one that never was: it tells nothing about other chats.
    text.parse()
        .map_err(|_| Refusal::no_job(text.chars().take(64).collect::<String>()))
}

/// A field that means nothing to the action is refused rather than dropped: its writer expected
/// something of it.
fn refuse_stray_fields(args: &JobsArgs) -> Result<(), Refusal> {
    let (name, allowed): (&str, &[&str]) = match args.action {
        JobsAction::List => ("list", &[]),
        JobsAction::Log => ("log", &["job_id", "from_line", "tail"]),
        JobsAction::Wait => ("wait", &["job_id", "wait_timeout_ms"]),
        JobsAction::Stop => ("stop", &["job_id"]),
    };
    let given = [
        ("job_id", args.job_id.is_some()),
        ("from_line", args.from_line.is_some()),
        ("tail", args.tail.is_some()),
        ("wait_timeout_ms", args.wait_timeout_ms.is_some()),
    ];
    let stray: Vec<&str> = given
        .into_iter()
        .filter_map(|(field, given)| (given && !allowed.contains(&field)).then_some(field))
        .collect();
    if stray.is_empty() {
        return Ok(());
    }
    let hint = if allowed.is_empty() {
        "it takes no field".to_owned()
    } else {
        format!("it takes {}", allowed.join(", "))
    };
    Err(Refusal::invalid(format!("{name} does not take {}", stray.join(", "))).hint(hint))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Kind;

    const ID: &str = "jb_0000000000000001";

    fn check(args: serde_json::Value) -> Result<JobsCall, Refusal> {
        JobsCall::check(serde_json::from_value(args).unwrap())
    }

    #[test]
    fn a_log_is_read_by_its_last_lines_unless_a_line_is_named() {
        let part = |more: serde_json::Value| {
            let mut args = json!({"action": "log", "job_id": ID, "description": "ignored"});
            args.as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            match check(args).unwrap() {
                JobsCall::Log { part, .. } => part,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(part(json!({})), LogPart::Tail(200));
        assert_eq!(part(json!({"tail": 2_000})), LogPart::Tail(2_000));
        assert_eq!(part(json!({"from_line": 0})), LogPart::From(0));
    }

    #[test]
    fn what_does_not_fit_is_refused_by_its_name() {
        for (args, named) in [
            (
                json!({"action": "list", "job_id": ID}),
                "list does not take job_id",
            ),
            (json!({"action": "stop"}), "job_id is missing"),
            (
                json!({"action": "log", "job_id": ID, "from_line": 1, "tail": 1}),
                "from_line cannot accompany tail",
            ),
            (
                json!({"action": "log", "job_id": ID, "tail": 2_001}),
                "tail is 2001",
            ),
            (
                json!({"action": "wait", "job_id": ID, "wait_timeout_ms": 99}),
                "wait_timeout_ms is 99, outside 100 to 120,000",
            ),
            (
                json!({"action": "stop", "job_id": ID, "tail": 3}),
                "stop does not take tail",
            ),
        ] {
            let refusal = check(args).unwrap_err();
            assert_eq!(refusal.message, Kind::InvalidParams);
            assert!(refusal.to_string().starts_with(named), "{refusal}");
        }
    }

    #[test]
    fn a_malformed_id_reads_like_one_that_never_was() {
        for id in ["tm_0000000000000001", "nonsense"] {
            let refusal = check(json!({"action": "stop", "job_id": id})).unwrap_err();
            assert_eq!((refusal.code, refusal.message), (404, Kind::JobNotFound));
        }
    }
}
