//! What people see: figures go to stdout, everything else to stderr.

use std::process::ExitCode;

use anyhow::Result;

/// Says how far a proof is.
#[expect(clippy::print_stderr, reason = "the one place that speaks to people")]
pub fn say(text: &str) {
    eprintln!("{text}");
}

/// Puts a figure out.
#[expect(clippy::print_stdout, reason = "the one place that puts figures out")]
pub fn put(text: &str) {
    println!("{text}");
}

/// How a proof ends: what went wrong is said, with each cause on a line of its own.
pub fn ended(name: &str, outcome: Result<()>) -> ExitCode {
    let Err(error) = outcome else { return ExitCode::SUCCESS };
    say(&format!("{name}: {error}"));
    for cause in error.chain().skip(1) {
        say(&format!("  because {cause}"));
    }
    ExitCode::FAILURE
}
