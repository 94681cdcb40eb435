//! What a test has written down, and what follows from it for a conversation.

use std::time::Duration;

use serde_json::{Map, Value, json};

/// How long a slow answer rests after each word, and how many it has: more than any test listens to.
const SLOW_PAUSE: Duration = Duration::from_millis(150);
const SLOW_WORDS: usize = 300;
/// In the arguments of a call: the terminal that the results have named.
const TERMINAL: &str = "$terminal";
/// Said where no rule applies.
const NOTHING: &str = "There is nothing to say.";

/// What to answer to prompts with a word.
#[derive(Clone, Debug)]
pub struct Rule {
    word: String,
    steps: Vec<Step>,
}

/// One answer of a turn. The next one follows when the tool that it calls has answered.
#[derive(Clone, Debug)]
pub enum Step {
    /// Says a text.
    Say(String),
    /// Says a word over and over with a number, for longer than anybody listens.
    Slowly(String),
    /// Calls the tool whose whole name has all of these words in it, with these arguments.
    Call(&'static [&'static str], Value),
}

impl Rule {
    /// A prompt with this word is answered by these steps.
    pub fn new(word: &str, steps: impl Into<Vec<Step>>) -> Self {
        Self {
            word: word.to_owned(),
            steps: steps.into(),
        }
    }

    /// A prompt with this word is answered by this text.
    pub fn say(word: &str, text: &str) -> Self {
        Self::new(word, [Step::Say(text.to_owned())])
    }
}

/// What a client sent, in words that all APIs share.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    /// In the order of the conversation.
    pub(crate) entries: Vec<Entry>,
    pub(crate) tools: Vec<Tool>,
    /// The form that the answer has to have.
    pub(crate) schema: Option<Value>,
}

#[derive(Debug)]
pub(crate) enum Entry {
    /// What stands in the name of the user: prompts, and what clients put beside them.
    User(String),
    /// What a tool answered.
    Result(String),
}

/// A tool that the client offers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tool {
    /// The group that it is in, where the API has groups.
    pub(crate) space: Option<String>,
    pub(crate) name: String,
}

/// What to answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Say {
        pieces: Vec<String>,
        pause: Duration,
    },
    Call {
        tool: Tool,
        arguments: Value,
    },
}

impl Reply {
    fn say(text: impl Into<String>) -> Self {
        Self::Say {
            pieces: vec![text.into()],
            pause: Duration::ZERO,
        }
    }

    /// What is said, as one text.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Say { pieces, .. } => pieces.concat(),
            Self::Call { .. } => String::new(),
        }
    }
}

impl Conversation {
    /// The answer to what is no turn of the user's: clients ask for titles and summaries without offering a tool.
    pub(crate) fn aside(&self) -> Option<Reply> {
        if let Some(schema) = &self.schema {
            return Some(Reply::say(filled(schema).to_string()));
        }
        self.tools.is_empty().then(|| Reply::say("A short title"))
    }

    /// The rule of the newest prompt that has one, the results since, and what the rule says after so many.
    pub(crate) fn turn(&self, rules: &[Rule]) -> (Option<String>, Vec<String>, Reply) {
        let found = self.entries.iter().enumerate().rev().find_map(|(at, it)| {
            let Entry::User(text) = it else { return None };
            let rule = rules.iter().find(|rule| text.contains(&rule.word))?;
            Some((at, rule))
        });
        let Some((at, rule)) = found else {
            return (None, Vec::new(), Reply::say(NOTHING));
        };
        let results: Vec<String> = self.entries[at..]
            .iter()
            .filter_map(Entry::result)
            .collect();
        let step = rule.steps.get(results.len()).or(rule.steps.last());
        let reply = step.map_or_else(|| Reply::say(NOTHING), |it| self.reply(it, &results));
        (Some(rule.word.clone()), results, reply)
    }

    fn reply(&self, step: &Step, results: &[String]) -> Reply {
        match step {
            Step::Say(text) => Reply::say(text),
            Step::Slowly(word) => Reply::Say {
                pieces: (1..=SLOW_WORDS).map(|n| format!("{word}{n} ")).collect(),
                pause: SLOW_PAUSE,
            },
            Step::Call(words, arguments) => match self.tool(words) {
                Some(tool) => Reply::Call {
                    tool: tool.clone(),
                    arguments: with_terminal(arguments, results),
                },
                None => Reply::say(format!(
                    "no tool is called {words:?} among {:?}",
                    self.tools
                )),
            },
        }
    }

    fn tool(&self, words: &[&str]) -> Option<&Tool> {
        self.tools.iter().find(|it| {
            let whole = format!("{} {}", it.space.as_deref().unwrap_or_default(), it.name);
            words.iter().all(|word| whole.contains(word))
        })
    }
}

impl Entry {
    fn result(&self) -> Option<String> {
        match self {
            Self::User(_) => None,
            Self::Result(text) => Some(text.clone()),
        }
    }
}

/// The arguments, with the newest terminal of the results in the place of its sign.
fn with_terminal(arguments: &Value, results: &[String]) -> Value {
    let newest = results.iter().rev().find_map(|it| terminal_in(it));
    let text = arguments.to_string();
    let text = text.replace(TERMINAL, newest.unwrap_or(TERMINAL));
    serde_json::from_str(&text).unwrap()
}

fn terminal_in(text: &str) -> Option<&str> {
    let at = text.find("tm_")?;
    text.get(at..at + "tm_0123456789abcdef".len())
}

/// The least value that fits a schema.
fn filled(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    let kind = schema["type"].as_str().unwrap_or("object");
    match kind.to_ascii_lowercase().as_str() {
        "object" => {
            let fields = schema["properties"]
                .as_object()
                .cloned()
                .unwrap_or_default();
            let filled = fields.iter().map(|(name, it)| (name.clone(), filled(it)));
            Value::Object(filled.collect::<Map<String, Value>>())
        }
        "array" => json!([]),
        "integer" | "number" => json!(1),
        "boolean" => json!(false),
        _ => json!("A short title"),
    }
}

#[cfg(test)]
mod tests;
