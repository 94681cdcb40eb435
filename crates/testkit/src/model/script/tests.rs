use super::*;

fn conversation(entries: Vec<Entry>) -> Conversation {
    Conversation {
        entries,
        tools: vec![
            Tool {
                space: None,
                name: "bash".to_owned(),
            },
            Tool {
                space: Some("mcp__sidestick".to_owned()),
                name: "bash".to_owned(),
            },
        ],
        schema: None,
    }
}

fn user(text: &str) -> Entry {
    Entry::User(text.to_owned())
}

fn result(text: &str) -> Entry {
    Entry::Result(text.to_owned())
}

#[test]
fn the_newest_prompt_with_a_rule_is_answered_whatever_stands_after_it() {
    let rules = [Rule::say("ONE", "first"), Rule::say("TWO", "second")];
    let asked = conversation(vec![user("ONE"), user("do TWO"), user("<reminder/>")]);
    let (word, _, reply) = asked.turn(&rules);
    assert_eq!(
        (word.as_deref(), reply.text().as_str()),
        (Some("TWO"), "second")
    );
    let (word, _, reply) = conversation(vec![user("three")]).turn(&rules);
    assert_eq!((word, reply.text().as_str()), (None, NOTHING));
}

#[test]
fn each_result_leads_to_the_next_step_and_names_its_terminal() {
    let call = |action| {
        Step::Call(
            &["sidestick", "bash"],
            json!({"action": action, "terminal_id": TERMINAL}),
        )
    };
    let rules = [Rule::new(
        "GO",
        [call("open"), call("close"), Step::Say("done".to_owned())],
    )];
    let id = "tm_00000000000000aa";
    let first = conversation(vec![user("GO"), result(&format!("[{id} vim]"))]);
    let (_, results, reply) = first.turn(&rules);
    assert_eq!(results.len(), 1);
    let Reply::Call { tool, arguments } = reply else {
        panic!("no call: {reply:?}")
    };
    assert_eq!(tool.space.as_deref(), Some("mcp__sidestick"));
    assert_eq!(arguments, json!({"action": "close", "terminal_id": id}));
    let (_, _, reply) = conversation(vec![user("GO"), result("a"), result("b")]).turn(&rules);
    assert_eq!(reply.text(), "done");
}

#[test]
fn what_offers_no_tool_or_wants_a_form_is_no_turn() {
    let mut asked = conversation(vec![user("ONE")]);
    assert_eq!(asked.aside(), None);
    asked.schema = Some(
        json!({"type": "object", "properties": {"title": {"type": "string"}, "n": {"type": "integer"}}}),
    );
    assert_eq!(
        asked.aside().unwrap().text(),
        r#"{"n":1,"title":"A short title"}"#
    );
    asked = Conversation::default();
    assert_eq!(asked.aside().unwrap().text(), "A short title");
}
