//! Judges a run by the records of its observers.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use nightdesk_judge::{Verdict, judge};

/// Judges a run by the records of its observers.
///
/// Reads all `*.jsonl` files of a folder, one of each process, and reports broken promises. Exits with 0 if all
/// promises hold, 1 if one is broken, and 2 if the history is incomplete.
#[derive(Debug, Parser)]
#[command(
    after_help = "Example:\n  judge target/chaos/run-7\n  judge --json target/chaos/run-7 | jq .counts"
)]
struct Arguments {
    /// The folder with the histories of the run.
    folder: PathBuf,

    /// Prints the verdict as JSON.
    #[arg(long)]
    json: bool,
}

/// Exit code for an incomplete history.
const NOT_WHOLE: u8 = 2;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match judge(&arguments.folder) {
        Ok(verdict) => tell(&verdict, arguments.json),
        Err(error) => {
            complain(&error);
            ExitCode::from(NOT_WHOLE)
        }
    }
}

fn tell(verdict: &Verdict, json: bool) -> ExitCode {
    if json {
        put(&serde_json::json!(verdict).to_string());
    } else {
        verdict.violations.iter().for_each(|violation| put(&violation.to_string()));
        put(&verdict.summary());
    }
    if verdict.counts.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[expect(clippy::print_stdout, reason = "the one place that puts out what was found")]
fn put(text: &str) {
    println!("{text}");
}

#[expect(clippy::print_stderr, reason = "the one place that says what went wrong")]
fn complain(error: &dyn Error) {
    eprintln!("judge: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        eprintln!("  because {error}");
        cause = error.source();
    }
}
