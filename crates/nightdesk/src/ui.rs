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

/// Puts an answer out: as JSON, or one `name: value` per line for a person.
pub(crate) fn put_answer(json: bool, answer: &Value) {
    if json {
        return put(&answer.to_string());
    }
    for (name, value) in answer.as_object().into_iter().flatten() {
        put(&format!(
            "{name}: {}",
            value.as_str().map_or_else(|| value.to_string(), str::to_owned)
        ));
    }
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
