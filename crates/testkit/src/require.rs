//! Programs that a test drives and that a machine may lack.

/// Whether the program is there. Otherwise the test says so and returns.
///
/// # Panics
/// With `CI=true` when it is missing: there nothing may be skipped.
#[track_caller]
pub fn require(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|it| it.join(program).is_file());
    if !found {
        skipped(program);
    }
    found
}

/// Says that a test does nothing, for want of this.
///
/// # Panics
/// With `CI=true`.
#[track_caller]
pub(crate) fn skipped(missing: &str) {
    let ci = std::env::var_os("CI").is_some_and(|it| it == "true" || it == "1");
    assert!(
        !ci,
        "{missing} is missing, and CI=true allows no skipped test"
    );
    println!("skipped: {missing} is not installed");
}
