//! The floors of ARCHITECTURE.md against what cargo knows: no arrow goes up or sideways.

use std::process::Command;

use serde_json::Value;

use super::{nothing_wrong, root};

/// Each crate with the crates of this workspace that it may name.
const FLOORS: &[(&str, &[&str])] = &[
    ("wire", &[]),
    ("terminal", &["wire"]),
    ("runner", &["terminal", "wire"]),
    ("host", &["wire"]),
    ("sidestick", &["host", "runner", "terminal", "wire"]),
    ("testkit", &["wire"]),
    ("bench", &["terminal", "testkit", "wire"]),
    ("xtask", &[]),
];

/// What tests of any crate may use besides.
const FOR_TESTS: &[&str] = &["testkit"];

#[test]
fn no_crate_uses_one_of_its_own_floor_or_above() {
    let packages = packages();
    let ours: Vec<&str> = packages
        .iter()
        .filter_map(|it| it["name"].as_str())
        .collect();
    let mut complaints = Vec::new();
    for package in &packages {
        let name = package["name"].as_str().unwrap();
        let Some((_, allowed)) = FLOORS.iter().find(|it| it.0 == name) else {
            complaints.push(format!(
                "{name} is on no floor: add it to the table here and in ARCHITECTURE.md"
            ));
            continue;
        };
        for dependency in package["dependencies"].as_array().unwrap() {
            let other = dependency["name"].as_str().unwrap();
            let for_tests = dependency["kind"] == "dev";
            // A crate may name itself among its dev-dependencies to switch on a feature for its own tests.
            let fine = allowed.contains(&other)
                || for_tests
                    && (FOR_TESTS.contains(&other) || allowed.contains(&other) || other == name);
            if ours.contains(&other) && !fine {
                complaints.push(format!("{name} may not use {other}"));
            }
        }
    }
    nothing_wrong(&complaints);
}

#[test]
fn the_table_names_only_crates_that_exist() {
    let packages = packages();
    let gone: Vec<String> = FLOORS
        .iter()
        .filter(|(name, _)| !packages.iter().any(|it| it["name"] == *name))
        .map(|(name, _)| format!("{name} is in the table and not in the workspace"))
        .collect();
    nothing_wrong(&gone);
}

#[test]
fn every_crate_keeps_the_lints_of_the_workspace() {
    let mut complaints = Vec::new();
    for package in packages() {
        let manifest = package["manifest_path"].as_str().unwrap();
        if !std::fs::read_to_string(manifest)
            .unwrap()
            .contains("[lints]\nworkspace = true")
        {
            complaints.push(format!(
                "{manifest} does not take over the lints of the workspace"
            ));
        }
    }
    nothing_wrong(&complaints);
}

fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}
