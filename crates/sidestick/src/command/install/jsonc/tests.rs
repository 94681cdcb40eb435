use serde_json::json;

use super::*;

const PATH: [&str; 2] = ["servers", "ours"];

/// Sets and removes again; gives what was set.
fn there_and_back(before: &str) -> String {
    let set = set(before, &PATH, &json!({"run": ["x", 1]})).unwrap();
    let node = read(&set).unwrap();
    assert_eq!(
        node.get(&PATH).unwrap().value(),
        json!({"run": ["x", 1]}),
        "{set}"
    );
    assert_eq!(remove(&set, &PATH).unwrap(), before, "{set}");
    set
}

#[test]
fn a_member_is_added_in_the_manner_of_the_text_and_taken_away_without_a_trace() {
    for before in [
        "{}",
        "{}\n",
        "{\n  \"a\": 1\n}\n",
        "{\n\t\"a\": 1,\n\t\"servers\": {\n\t\t\"b\": {}\n\t}\n}",
        "{\"a\":1,\"servers\":{\"b\":{}}}",
        "{\n  \"servers\": {\n    \"b\": 1, // why\n    \"c\": 2 // why not\n  },\n  \"z\": 1\n}\n",
        "{\n  \"servers\": {\n    \"b\": 1,\n  },\n}\n",
        "{ // first\n}\n",
        "\u{feff}{\r\n  \"a\": \"\\\"}\"\r\n}\r\n",
    ] {
        there_and_back(before);
    }
}

#[test]
fn comments_stay_at_the_lines_they_are_about() {
    let set = there_and_back("{\n    \"servers\": {\n        \"b\": 1 // why\n    }\n}\n");
    assert_eq!(
        set,
        "{\n    \"servers\": {\n        \"b\": 1, // why\n        \"ours\": {\n            \"run\": [\"x\", 1]\n        }\n    }\n}\n"
    );
}

#[test]
fn a_compact_text_stays_compact() {
    assert_eq!(
        there_and_back("{\"servers\":{\"b\":{}}}"),
        "{\"servers\":{\"b\":{}, \"ours\": {\"run\":[\"x\",1]}}}"
    );
}

#[test]
fn a_value_is_replaced_where_it_stands() {
    let text = "{\n  // one\n  \"a\": {\"b\": 1, \"c\": 2}\n}";
    assert_eq!(
        set(text, &["a", "b"], &json!(7)).unwrap(),
        text.replace('1', "7")
    );
    assert_eq!(set(text, &["a", "c"], &json!(2)).unwrap(), text);
}

#[test]
fn the_first_of_several_members_goes_with_its_comma() {
    let text = "{\"servers\": {\"ours\": 1, \"b\": 2}}";
    assert_eq!(remove(text, &PATH).unwrap(), "{\"servers\": { \"b\": 2}}");
    assert_eq!(remove("{\"a\": 1}", &PATH).unwrap(), "{\"a\": 1}");
}

#[test]
fn what_is_no_json_is_refused_by_its_line() {
    for (text, line) in [
        ("", "line 1"),
        ("{\n\"a\" 1}", "line 2"),
        ("{\"a\": 1 \"b\": 2}", "line 1"),
        ("{\n\n\"a\": tru}", "line 3"),
        ("{} x", "line 1"),
        ("{\"a\": \"", "line 1"),
        ("/* ", "line 1"),
        ("{,}", "line 1"),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert_eq!(error, line, "{text}");
    }
    assert!(read(&"[".repeat(100_000)).is_err());
}

#[test]
fn a_member_is_not_put_into_something_that_is_no_object() {
    assert!(set("{\"servers\": []}", &PATH, &json!(1)).is_err());
    assert!(set("[]", &PATH, &json!(1)).is_err());
}
