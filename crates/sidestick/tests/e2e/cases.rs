//! The conformance cases of `tests/fixtures/vt/cases.json`, each through a real PTY and the whole way to the details.
//!
//! A few facts that a case may ask for are in no answer of the tool (focus, mouse encoding, an open frame that has
//! closed by the time of the answer); the engine's own tests check those.

use std::path::Path;

use serde_json::{Value, json};
use testkit::{Client, Reply, program, require, root};

use crate::home;

/// Cases under way at the same time.
const AT_ONCE: usize = 16;
/// Milliseconds for the output to rest. Amid a sequence that never ends it does not, and the screen is right all the same.
const REST: u64 = 2_000;

#[test]
fn every_conformance_case_holds_through_a_real_terminal() {
    if !require("python3") {
        return;
    }
    let home = home();
    let client = home.client();
    let text = std::fs::read_to_string(root().join("tests/fixtures/vt/cases.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    assert!(cases.len() >= 127, "only {} cases", cases.len());
    let next = std::sync::atomic::AtomicUsize::new(0);
    let wrong = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some((at, case)) = {
                    let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    cases.get(at).map(|case| (at, case))
                } {
                    let folder = home.work().join(at.to_string());
                    std::fs::create_dir(&folder).unwrap();
                    let complaint = check(&client, case, &folder);
                    wrong.lock().unwrap().extend(complaint);
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(
        wrong.is_empty(),
        "{} of {} cases:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

/// Runs one case; what is wrong with it.
fn check(client: &Client, case: &Value, folder: &Path) -> Option<String> {
    let (parts, sizes) = parts(case);
    let mut command = format!("python3 {}", program("put.py").display());
    for (at, part) in parts.iter().enumerate() {
        let path = folder.join(format!("part{at}"));
        std::fs::write(&path, hex(part)).unwrap();
        command += &format!(" {}", path.display());
        if at == 0 {
            command += &format!(" {}", folder.join("answers").display());
        }
    }
    let open = json!({"action": "open", "command": command, "cols": case["cols"], "rows": case["rows"],
        "wait_timeout_ms": REST});
    let id = client.bash(open).id();
    wait_written(folder);
    for size in sizes {
        client.bash(json!({"action": "wait", "terminal_id": id, "wait_timeout_ms": REST}));
        client
            .bash(json!({"action": "resize", "terminal_id": id, "cols": size[0], "rows": size[1]}));
    }
    let reply = client.bash(json!({"action": "wait", "terminal_id": id, "wait_timeout_ms": REST}));
    let answers = std::fs::read_to_string(folder.join("answers")).unwrap();
    client.bash(json!({"action": "close", "terminal_id": id}));
    let mut ways = vec![&case["expect"]];
    ways.extend(case["expect_any"].as_array().into_iter().flatten());
    let complaints: Vec<String> = ways
        .iter()
        .map_while(|expect| judge(expect, &reply, &shown(&answers)))
        .collect();
    (complaints.len() == ways.len())
        .then(|| format!("{}: {}", case["name"], complaints.join(" / ")))
}

/// The program has made its file of answers, so that it is about to write.
fn wait_written(folder: &Path) {
    testkit::eventually("the program runs", || folder.join("answers").exists());
}

/// The bytes before the first change of size and after each, and the sizes.
fn parts(case: &Value) -> (Vec<Vec<u8>>, Vec<Value>) {
    let (mut parts, mut sizes) = (vec![Vec::new()], Vec::new());
    for step in case["steps"].as_array().unwrap() {
        if let Some(text) = step["in"].as_str() {
            let repeat = step["repeat"].as_u64().unwrap_or(1);
            let bytes = unescaped(text);
            (0..repeat).for_each(|_| parts.last_mut().unwrap().extend(&bytes));
        }
        if step["resize"].is_array() {
            sizes.push(step["resize"].clone());
            parts.push(Vec::new());
        }
    }
    (parts, sizes)
}

/// What differs from one way in which the case may end.
fn judge(expect: &Value, reply: &Reply, answers: &str) -> Option<String> {
    let screen = &reply.details["screen"];
    if let Some(text) = expect["text"].as_array() {
        let want: Vec<&str> = text
            .iter()
            .map(|it| it.as_str().unwrap().trim_end_matches(' '))
            .collect();
        let (want, got) = (want.join("\n"), reply.screen());
        if want.trim_end_matches('\n') != got {
            return Some(format!("text: want {want:?}, got {got:?}"));
        }
    }
    if let Some(cursor) = expect["cursor"].as_array() {
        let got = [
            screen["cursor"]["row"].clone(),
            screen["cursor"]["col"].clone(),
        ];
        if **cursor != got {
            return Some(format!("cursor: want {cursor:?}, got {got:?}"));
        }
    }
    if let Some(ways) = expect["replies"].as_array()
        && !ways.iter().any(|it| fits(it.as_str().unwrap(), answers))
    {
        return Some(format!("replies: want {ways:?}, got {answers:?}"));
    }
    let modes = expect["modes"].as_object()?;
    modes.iter().find_map(|(name, want)| {
        let got = mode(screen, name)?;
        (got != *want).then(|| format!("{name}: want {want}, got {got}"))
    })
}

/// A fact of the screen under the name that cases use; none for those that the tool does not tell.
fn mode(screen: &Value, name: &str) -> Option<Value> {
    let modes = &screen["modes"];
    Some(match name {
        "alt" => screen["alternate_screen"].clone(),
        "title" => screen["title"].clone(),
        "cursor_visible" => screen["cursor"]["visible"].clone(),
        "app_cursor" => modes["application_cursor_keys"].clone(),
        "app_keypad" => modes["application_keypad"].clone(),
        "bracketed_paste" => modes["bracketed_paste"].clone(),
        "kitty" => modes["kitty_flags"].clone(),
        "mouse" => match modes["mouse"].as_str().unwrap() {
            "off" => json!(0),
            "press" => json!(9),
            "click" => json!(1000),
            "drag" => json!(1002),
            _ => json!(1003),
        },
        _ => return None,
    })
}

/// A `*` in what is wanted stands for anything.
fn fits(want: &str, got: &str) -> bool {
    match want.split_once('*') {
        Some((begin, end)) => {
            got.len() >= begin.len() + end.len() && got.starts_with(begin) && got.ends_with(end)
        }
        None => want == got,
    }
}

fn unescaped(text: &str) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::new(), text.chars());
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.extend(c.to_string().bytes());
            continue;
        }
        out.push(match rest.next().unwrap() {
            'e' => 0x1b,
            'n' => b'\n',
            'r' => b'\r',
            't' => b'\t',
            'a' => 7,
            'b' => 8,
            'x' => u8::from_str_radix(&rest.by_ref().take(2).collect::<String>(), 16).unwrap(),
            other => u8::try_from(other).unwrap(),
        });
    }
    out
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}

/// Hexadecimal digits as the escapes that cases use.
fn shown(digits: &str) -> String {
    let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len())
        .step_by(2)
        .map(|at| match byte(at) {
            0x1b => "\\e".to_owned(),
            b'\\' => "\\\\".to_owned(),
            it @ 0x20..=0x7e => char::from(it).to_string(),
            it => format!("\\x{it:02x}"),
        })
        .collect()
}
