//! Runs the cases of each contract on each implementation, and counts the planted faults that they notice.

use std::process::ExitCode;

use anyhow::Context;
use nightdesk_prove::{conformance, ui};

fn main() -> ExitCode {
    let runtime = tokio::runtime::Runtime::new().context("could not start the runtime");
    ui::ended("conformance", runtime.and_then(|runtime| runtime.block_on(conformance::prove())))
}
