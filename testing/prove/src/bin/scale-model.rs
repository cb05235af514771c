//! Models the desk's rules with more lines and hotter tenants than one machine can hold.

use std::process::ExitCode;

use clap::Parser;
use nightdesk_prove::{model, ui};

/// Prints the results of the models, which are the same on every machine.
#[derive(Debug, Parser)]
struct Arguments {}

fn main() -> ExitCode {
    Arguments::parse();
    ui::put(model::report().trim_end());
    ui::put(&model::summary());
    ExitCode::SUCCESS
}
