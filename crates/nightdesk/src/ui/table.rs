//! Tables: a header, and columns that line up.

use nightdesk_office::ago;
use nightdesk_types::Timestamp;
use serde_json::Value;

/// Longest cell before it is cut on a terminal.
const CELL_CHARS_MAX: usize = 60;

/// The way in which a table is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableStyle {
    /// For a person at a terminal: bold header, relative times, long cells cut.
    Terminal,
    /// For a file or a pipe: the same columns, with whole times and cells.
    Plain,
}

/// Formats rows as lines: the header first.
pub(crate) fn lines(
    rows: &[Value],
    columns: &[&str],
    style: TableStyle,
    now: Timestamp,
) -> Vec<String> {
    let header: Vec<String> = columns.iter().map(|name| title(name)).collect();
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| columns.iter().map(|name| cell(&row[*name], style, now)).collect())
        .collect();
    let widths: Vec<usize> = (0..columns.len())
        .map(|column| {
            let cells = cells.iter().map(|row| width(&row[column]));
            cells.chain([width(&header[column])]).max().unwrap_or(0)
        })
        .collect();
    let bold = |line: String| match style {
        TableStyle::Terminal => format!("\u{1b}[1m{line}\u{1b}[0m"),
        TableStyle::Plain => line,
    };
    let mut lines = vec![bold(line(&header, &widths))];
    lines.extend(cells.iter().map(|row| line(row, &widths)));
    lines
}

fn line(cells: &[String], widths: &[usize]) -> String {
    let padded = cells.iter().zip(widths).map(|(cell, to)| {
        let blanks = to.saturating_sub(width(cell));
        format!("{cell}{}", " ".repeat(blanks))
    });
    padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
}

fn width(text: &str) -> usize {
    text.chars().count()
}

/// Returns the header of a member: `created_at` becomes `CREATED`.
fn title(name: &str) -> String {
    let name = name.strip_suffix("_at").or_else(|| name.strip_suffix("_id")).unwrap_or(name);
    name.replace('_', " ").to_uppercase()
}

fn cell(value: &Value, style: TableStyle, now: Timestamp) -> String {
    let text = match value {
        Value::Null => String::new(),
        Value::String(text) => match style {
            TableStyle::Terminal => text.parse().map_or_else(|_| text.clone(), |at| ago(at, now)),
            TableStyle::Plain => text.clone(),
        },
        Value::Array(items) => items.iter().map(short).collect::<Vec<_>>().join(", "),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => short(value),
    };
    // A control character could move the cursor, change the colour, or turn the direction of what follows.
    let is_shown = |c: &char| {
        !c.is_control() && !matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let text: String = text.chars().filter(is_shown).collect();
    if style == TableStyle::Terminal && width(&text) > CELL_CHARS_MAX {
        return text.chars().take(CELL_CHARS_MAX - 1).chain(['…']).collect();
    }
    text
}

/// Formats a value within a cell: of an object, the values of its members.
fn short(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(members) => {
            let values = members.values().filter(|value| !value.is_null()).map(short);
            values.collect::<Vec<_>>().join(" ")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + seconds).unwrap()
    }

    #[test]
    fn columns_line_up_under_their_header() {
        let rows = [
            json!({ "name": "helper", "created_at": "2026-01-01T00:00:00Z", "roles": ["a", "b"] }),
            json!({ "name": "Ö", "created_at": null, "roles": [{ "role": "admin", "tenant_id": null }] }),
        ];
        let printed = lines(&rows, &["name", "created_at", "roles"], TableStyle::Plain, at(0));

        assert_eq!(
            printed,
            [
                "NAME    CREATED               ROLES",
                "helper  2026-01-01T00:00:00Z  a, b",
                "Ö                             admin",
            ]
        );
    }

    #[test]
    fn a_terminal_gets_relative_times_and_short_cells() {
        let row = json!({ "at": at(-200).to_string(), "next_at": at(7_300).to_string(), "text": "x".repeat(100) });
        let printed = lines(&[row], &["at", "next_at", "text"], TableStyle::Terminal, at(0));

        assert!(printed[0].starts_with("\u{1b}[1mAT") && printed[0].ends_with("\u{1b}[0m"));
        assert!(printed[1].starts_with("3 min ago  in 2 h  x"), "{}", printed[1]);
        assert!(printed[1].ends_with('…'), "{}", printed[1]);
    }

    #[test]
    fn no_value_can_control_the_terminal() {
        let row = json!({ "name": "\u{1b}[31mred\r\nline" });
        for style in [TableStyle::Terminal, TableStyle::Plain] {
            assert_eq!(
                lines(std::slice::from_ref(&row), &["name"], style, at(0))[1],
                "[31mredline"
            );
        }
    }
}
