//! Scale model: what the desk's rules make of more lines and hotter tenants than a machine holds.

use std::process::ExitCode;

use clap::Parser;
use nightdesk_prove::{model, ui};

/// Puts out what the models say. The same on every machine.
#[derive(Debug, Parser)]
struct Arguments {}

fn main() -> ExitCode {
    Arguments::parse();
    ui::put(model::report().trim_end());
    ui::put(&model::summary());
    ExitCode::SUCCESS
}
