//! What people see: data goes to stdout, everything else to stderr.

use std::time::Duration;

use serde_json::Value;

/// Says something to the person.
#[expect(clippy::print_stderr, reason = "the one place that speaks to people")]
pub(crate) fn say(text: &str) {
    eprintln!("{text}");
}

/// Says what went wrong, and each cause of it on a line of its own.
pub(crate) fn say_error(error: &anyhow::Error) {
    say(&format!("nightdesk: {error}"));
    for cause in error.chain().skip(1) {
        say(&format!("  because {cause}"));
    }
}

/// Puts text out.
#[expect(clippy::print_stdout, reason = "the one place that puts data out")]
pub(crate) fn put(text: &str) {
    println!("{text}");
}

/// What a command answers.
#[derive(Debug)]
pub(crate) enum Answer {
    /// One thing: a `name: value` per line for a person.
    One(Value),
    /// What was found about one thing, of which so much is wrong.
    Checked {
        /// What was found.
        data: Value,
        /// How much of it is wrong.
        wrong: usize,
    },
    /// A list: a line each for a person.
    Many(Vec<Value>),
    /// Something that is told in sentences.
    Told {
        /// The same for programs.
        data: Value,
        /// What a person reads.
        text: String,
    },
}

impl Answer {
    /// How much is wrong with what was checked.
    pub(crate) const fn wrong(&self) -> usize {
        match self {
            Self::Checked { wrong, .. } => *wrong,
            Self::One(_) | Self::Many(_) | Self::Told { .. } => 0,
        }
    }
}

/// Puts an answer out, as JSON or for a person.
pub(crate) fn put_answer(json: bool, answer: Answer) {
    match answer {
        Answer::One(data) | Answer::Told { data, .. } | Answer::Checked { data, .. } if json => {
            put(&data.to_string());
        }
        Answer::Many(rows) if json => put(&Value::from(rows).to_string()),
        Answer::Told { text, .. } => put(&text),
        Answer::Many(rows) => rows.iter().for_each(|row| put(&line(row))),
        Answer::One(data) | Answer::Checked { data, .. } => {
            for (name, value) in data.as_object().into_iter().flatten() {
                put_member(name, value);
            }
        }
    }
}

/// A member on a line of its own; a list under its name, a line each.
fn put_member(name: &str, value: &Value) {
    match value.as_array() {
        Some(rows) if rows.iter().any(Value::is_object) => {
            put(&format!("{name}:"));
            for row in rows {
                put(&format!("  {}", line(row)));
            }
        }
        _ => put(&format!("{name}: {}", plain(value))),
    }
}

/// A row of a list: what it has, each by its name.
fn line(row: &Value) -> String {
    let members = row.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    let words: Vec<String> =
        members.map(|(name, value)| format!("{name}: {}", plain(value))).collect();
    words.join("  ")
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Reads a span of time a person wrote: `30s`, `15m`, `24h`.
pub(crate) fn span(text: &str) -> Result<Duration, String> {
    let help = || format!("`{text}` is not a span of time; write it like 30s, 15m or 24h");
    let (number, unit) = text.split_at_checked(text.len().saturating_sub(1)).ok_or_else(help)?;
    let number: u64 = number.parse().map_err(|_| help())?;
    match unit {
        "s" => Ok(Duration::from_secs(number)),
        "m" => Ok(Duration::from_mins(number)),
        "h" => Ok(Duration::from_hours(number)),
        _ => Err(help()),
    }
}
