//! What a look at one thing found, and how all of it is told.

use std::fmt;

use serde::Serialize;

/// Room for a check's name.
const NAME: usize = 13;

/// All findings.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    /// Of this program.
    version: &'static str,
    /// Whether there is no problem.
    pub(super) ok: bool,
    checks: Vec<Finding>,
}

/// What one check found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    pub(super) name: &'static str,
    pub(super) level: Level,
    pub(super) text: String,
    /// What to do; there whenever it is not all right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) advice: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    Ok,
    /// Works, but not as well as it could.
    Note,
    /// Does not work.
    Problem,
}

impl Report {
    pub(super) fn new(checks: Vec<Finding>) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION"),
            ok: checks.iter().all(|it| it.level != Level::Problem),
            checks,
        }
    }
}

impl Finding {
    pub(super) fn ok(name: &'static str, text: impl Into<String>) -> Self {
        Self {
            name,
            level: Level::Ok,
            text: text.into(),
            advice: None,
        }
    }

    pub(super) fn note(
        name: &'static str,
        text: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self {
            name,
            level: Level::Note,
            text: text.into(),
            advice: Some(advice.into()),
        }
    }

    pub(super) fn problem(
        name: &'static str,
        text: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self {
            level: Level::Problem,
            ..Self::note(name, text, advice)
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "sidestick {}", self.version)?;
        for check in &self.checks {
            let level = match check.level {
                Level::Ok => "ok",
                Level::Note => "note",
                Level::Problem => "PROBLEM",
            };
            writeln!(f, "{level:<8} {:<NAME$} {}", check.name, check.text)?;
            if let Some(advice) = &check.advice {
                writeln!(f, "{:<8} {:<NAME$} -> {advice}", "", "")?;
            }
        }
        let problems = self.checks.iter().filter(|it| it.level == Level::Problem);
        match problems.count() {
            0 => write!(f, "no problem"),
            1 => write!(f, "1 problem"),
            more => write!(f, "{more} problems"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_names_each_check_and_what_to_do() {
        let report = Report::new(vec![
            Finding::ok("terminals", "2 of 4096 in use"),
            Finding::note("locale", "no UTF-8", "set LANG"),
            Finding::problem("config", "bad", "repair it"),
        ]);
        assert!(!report.ok);
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(
            report.to_string(),
            format!(
                "sidestick {version}
ok       terminals     2 of 4096 in use
note     locale        no UTF-8
                       -> set LANG
PROBLEM  config        bad
                       -> repair it
1 problem"
            )
        );
    }

    #[test]
    fn a_note_is_no_problem() {
        let report = Report::new(vec![Finding::note("locale", "no UTF-8", "set LANG")]);
        assert!(report.ok);
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["checks"][0]["level"], "note");
        assert_eq!(json["checks"][0]["advice"], "set LANG");
    }
}
