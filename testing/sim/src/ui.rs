//! Output for people.

/// Prints a line.
#[expect(clippy::print_stdout, reason = "the one place that prints")]
pub(crate) fn say(line: &str) {
    println!("{line}");
}
