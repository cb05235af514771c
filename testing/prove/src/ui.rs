//! Prints figures to stdout, and everything else to stderr.

use std::process::ExitCode;

use anyhow::Result;

/// Prints the progress of a proof.
#[expect(clippy::print_stderr, reason = "the one place that speaks to people")]
pub fn say(text: &str) {
    eprintln!("{text}");
}

/// Prints a figure.
#[expect(clippy::print_stdout, reason = "the one place that puts figures out")]
pub fn put(text: &str) {
    println!("{text}");
}

/// Ends a proof: prints an error with each cause on a separate line.
pub fn ended(name: &str, outcome: Result<()>) -> ExitCode {
    let Err(error) = outcome else { return ExitCode::SUCCESS };
    say(&format!("{name}: {error}"));
    for cause in error.chain().skip(1) {
        say(&format!("  because {cause}"));
    }
    ExitCode::FAILURE
}
