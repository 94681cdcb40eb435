use serde_json::json;

use super::*;
use crate::Kind;

fn check(args: serde_json::Value) -> Result<BashCall, crate::Refusal> {
    BashCall::check(serde_json::from_value(args).unwrap())
}

#[test]
fn conflicting_or_missing_conditions_are_refused_by_field() {
    let id = "tm_0000000000000001";
    for (fields, named) in [
        (
            json!({"wait_for": "x", "wait_for_exit": true}),
            "wait_for_exit cannot accompany wait_for",
        ),
        (
            json!({"wait_absent": true, "wait_for_exit": true}),
            "wait_for_exit cannot accompany wait_absent",
        ),
        (
            json!({"wait_absent": true}),
            "wait_absent needs a non-empty wait_for",
        ),
        (
            json!({"wait_absent": true, "wait_for": ""}),
            "wait_absent needs a non-empty wait_for",
        ),
        (json!({"wait_for": ""}), "wait_for has 0 units"),
        (json!({"wait_timeout_ms": 99}), "wait_timeout_ms is 99"),
        (
            json!({"wait_timeout_ms": 120_001}),
            "wait_timeout_ms is 120001",
        ),
        (json!({"text": "x"}), "wait does not take text"),
        (json!({"keys": ["Enter"]}), "wait does not take keys"),
    ] {
        let mut args = json!({"action": "wait", "terminal_id": id});
        args.as_object_mut()
            .unwrap()
            .extend(fields.as_object().unwrap().clone());
        let refusal = check(args).unwrap_err();
        assert_eq!(refusal.message, Kind::InvalidParams);
        assert!(refusal.to_string().starts_with(named), "{refusal}");
    }
}

#[test]
fn sizes_texts_and_keys_out_of_range_are_refused() {
    let id = "tm_0000000000000001";
    for args in [
        json!({"action": "open", "cols": 0}),
        json!({"action": "open", "rows": 1001}),
        json!({"action": "resize", "terminal_id": id, "cols": 80}),
        json!({"action": "type", "terminal_id": id, "text": "x".repeat(524_289)}),
        json!({"action": "keys", "terminal_id": id, "keys": vec!["a"; 1001]}),
        json!({"action": "keys", "terminal_id": id, "keys": [""]}),
        json!({"action": "type", "terminal_id": id}),
        json!({"action": "open", "term": "-x"}),
        json!({"action": "open", "command": "x".repeat(10_001)}),
        json!({"command": "true", "timeout_ms": 1}),
        json!({}),
    ] {
        assert_eq!(
            check(args.clone()).unwrap_err().message,
            Kind::InvalidParams,
            "{args}"
        );
    }
}

#[test]
fn a_foreign_looking_id_is_simply_not_there() {
    let refusal = check(json!({"action": "screen", "terminal_id": "nonsense"})).unwrap_err();
    assert_eq!(refusal.message, Kind::TerminalNotFound);
}

#[test]
fn the_source_s_example_is_accepted() {
    let call = check(json!({
        "action": "type", "terminal_id": "tm_0000000000000001", "text": "/model", "keys": ["Enter"],
        "wait_for": "Select a model", "wait_timeout_ms": 15000, "description": "ignored"
    }))
    .unwrap();
    let BashCall::Act {
        act: Act::Input {
            text, keys, wait, ..
        },
        ..
    } = call
    else {
        panic!("{call:?}")
    };
    assert_eq!((text.as_str(), keys), ("/model", vec!["Enter".to_owned()]));
    assert_eq!(wait.until, Until::Present("Select a model".into()));
}

#[test]
fn a_command_is_run_started_as_a_job_or_polled() {
    assert!(matches!(
        check(json!({"command": "make", "run_in_background": true})),
        Ok(BashCall::Background { .. })
    ));
    assert!(matches!(
        check(json!({"command": "make", "run_in_background": false, "timeout_ms": 100})),
        Ok(BashCall::Run {
            timeout: Some(_),
            ..
        })
    ));
    let Ok(BashCall::Until(condition)) = check(json!({"until": "test -e x"})) else {
        panic!()
    };
    assert_eq!(condition.interval, limits::UNTIL_INTERVAL);
    assert_eq!(condition.timeout, limits::UNTIL_TIMEOUT);
}

#[test]
fn fields_that_a_job_or_a_condition_cannot_have_are_refused_by_name() {
    for (args, named) in [
        (
            json!({"until": "true", "command": "x"}),
            "until does not take command",
        ),
        (
            json!({"until": "true", "interval_ms": 199}),
            "interval_ms is 199, outside 200 to 60,000",
        ),
        (
            json!({"until": "true", "timeout_ms": 86_400_001}),
            "timeout_ms is 86400001, outside 100 to 86,400,000",
        ),
        (json!({"until": " "}), "until is empty"),
        (
            json!({"command": "x", "run_in_background": true, "timeout_ms": 500}),
            "a command in the background does not take timeout_ms",
        ),
        (
            json!({"command": "x", "timeout_ms": 600_001}),
            "timeout_ms is 600001, outside 100 to 600,000",
        ),
        (
            json!({"action": "open", "until": "true"}),
            "open does not take until",
        ),
    ] {
        let refusal = check(args).unwrap_err();
        assert!(refusal.to_string().starts_with(named), "{refusal}");
    }
}
