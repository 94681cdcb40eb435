//! Arguments of tools, as any client may send them: what is taken is written again and read back the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use wire::Refusal;
use wire::bash::BashCall;
use wire::jobs::JobsCall;
use wire::tool::{ToolCall, tool_specs};

fuzz_target!(|data: &[u8]| {
    let Ok(arguments) = serde_json::from_slice::<Value>(data) else {
        return;
    };
    for spec in tool_specs() {
        match ToolCall::parse(spec.name, arguments.clone()) {
            Err(refusal) => tells(&refusal),
            Ok(ToolCall::Bash(arguments)) => {
                let again = serde_json::to_value(&arguments).unwrap();
                assert_eq!(
                    serde_json::from_value(again).ok().as_ref(),
                    Some(&arguments)
                );
                BashCall::check(arguments).map_or_else(|it| tells(&it), drop);
            }
            Ok(ToolCall::Jobs(arguments)) => {
                JobsCall::check(arguments).map_or_else(|it| tells(&it), drop);
            }
        }
    }
});

/// A refusal says in a few words what is wrong, whatever was sent.
fn tells(refusal: &Refusal) {
    assert!((400..500).contains(&refusal.code), "{refusal:?}");
    assert!(!refusal.to_string().is_empty());
}
