//! The one place of this crate that reads the wall clock. Times in the store are milliseconds since 1970, UTC.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970; 0 when the clock stands before that.
pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |it| i64::try_from(it.as_millis()).unwrap_or(i64::MAX))
}

/// RFC 3339 in UTC, as clients get times.
pub(crate) fn rfc3339(ms: i64) -> String {
    jiff::Timestamp::from_millisecond(ms).map_or_else(|_| ms.to_string(), |it| it.to_string())
}

#[cfg(test)]
mod tests {
    #[test]
    fn times_are_told_in_utc() {
        assert_eq!(super::rfc3339(1_700_000_000_000), "2023-11-14T22:13:20Z");
    }
}
