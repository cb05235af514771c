//! Command output: data goes to stdout, everything else to stderr.

mod table;

use std::io::IsTerminal as _;
use std::time::Duration;

use nightdesk_types::{Clock as _, SystemClock};
use serde_json::Value;
use table::TableStyle;

/// Prints a text for the person.
#[expect(clippy::print_stderr, reason = "the one place that speaks to people")]
pub(crate) fn print_text(text: &str) {
    eprintln!("{text}");
}

/// Prints an error, and each cause of it on a separate line.
pub(crate) fn print_error(error: &anyhow::Error) {
    print_text(&format!("nightdesk: {error}"));
    for cause in error.chain().skip(1) {
        print_text(&format!("  because {cause}"));
    }
}

/// Prints a text to stdout.
#[expect(clippy::print_stdout, reason = "the one place that puts data out")]
pub(crate) fn put(text: &str) {
    println!("{text}");
}

/// The answer of a command.
#[derive(Debug)]
pub(crate) enum CommandOutput {
    /// One object: a `name: value` per line for a person.
    One(Value),
    /// The result of a check of one object.
    Checked {
        /// The findings.
        data: Value,
        /// The number of faults.
        wrong: usize,
    },
    /// A list with these columns: a table for a person.
    Table {
        /// The rows.
        rows: Vec<Value>,
        /// The members of a row that are shown, in their order.
        columns: &'static [&'static str],
    },
    /// One object with lists: each list is a table for a person.
    Page {
        /// The object.
        data: Value,
        /// The members that are lists, and the columns of each.
        lists: &'static [(&'static str, &'static [&'static str])],
    },
    /// A text in sentences.
    Told {
        /// The same for programs.
        data: Value,
        /// The text for a person.
        text: String,
    },
    /// The findings of an examination, as a text of several lines.
    Report {
        /// The same for programs.
        data: Value,
        /// The text for a person.
        text: String,
        /// The number of faults.
        faults: usize,
    },
}

impl CommandOutput {
    /// Returns the number of faults that a check found.
    pub(crate) const fn fault_count(&self) -> usize {
        match self {
            Self::Checked { wrong, .. } | Self::Report { faults: wrong, .. } => *wrong,
            Self::One(_) | Self::Table { .. } | Self::Page { .. } | Self::Told { .. } => 0,
        }
    }
}

/// Prints an answer, as JSON or for a person.
pub(crate) fn print_output(json: bool, answer: CommandOutput) {
    match answer {
        CommandOutput::One(data)
        | CommandOutput::Told { data, .. }
        | CommandOutput::Checked { data, .. }
        | CommandOutput::Report { data, .. }
        | CommandOutput::Page { data, .. }
            if json =>
        {
            put(&data.to_string());
        }
        CommandOutput::Table { rows, .. } if json => {
            put(&Value::from(rows).to_string());
        }
        CommandOutput::Table { rows, columns } => print_table(&rows, columns),
        CommandOutput::Page { data, lists } => print_page(&data, lists),
        CommandOutput::Told { text, .. } | CommandOutput::Report { text, .. } => put(&text),
        CommandOutput::One(data) | CommandOutput::Checked { data, .. } => {
            for (name, value) in data.as_object().into_iter().flatten() {
                print_member(name, value);
            }
        }
    }
}

/// Prints an object: its plain members, and then each list under its name.
fn print_page(data: &Value, lists: &[(&str, &[&str])]) {
    let is_list = |name: &str| lists.iter().any(|(list, _)| *list == name);
    for (name, value) in data.as_object().into_iter().flatten() {
        if !is_list(name) {
            print_member(name, value);
        }
    }
    for (name, columns) in lists {
        let rows = data[*name].as_array().map(Vec::as_slice).unwrap_or_default();
        put(&format!("{name}: {}", rows.len()));
        if !rows.is_empty() {
            print_table(rows, columns);
        }
    }
}

/// Prints a table, for a terminal or for a file. An empty one has no header.
fn print_table(rows: &[Value], columns: &[&str]) {
    if rows.is_empty() {
        return print_text("there is none");
    }
    let is_terminal = std::io::stdout().is_terminal();
    let style = if is_terminal { TableStyle::Terminal } else { TableStyle::Plain };
    let now = SystemClock::start().now();
    for line in table::lines(rows, columns, style, now) {
        put(&line);
    }
}

/// Prints a member on one line; a list is printed under its name, one line per row.
fn print_member(name: &str, value: &Value) {
    match value.as_array() {
        Some(rows) if rows.iter().any(Value::is_object) => {
            put(&format!("{name}:"));
            for row in rows {
                put(&format!("  {}", line(row)));
            }
        }
        _ => put(&format!("{name}: {}", plain_text(value))),
    }
}

/// Formats a row of a list: each non-null member with its name.
fn line(row: &Value) -> String {
    let members = row.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    let words: Vec<String> =
        members.map(|(name, value)| format!("{name}: {}", plain_text(value))).collect();
    words.join("  ")
}

fn plain_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Parses a span of time: `30s`, `15m`, `24h`.
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
