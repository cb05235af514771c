//! Nightdesk: the desk that stays awake while your agents sleep.
//!
//! `serve` runs a node; the other commands are for operators. Begin with [`wiring`], which connects the stops.

mod anchor;
mod bell;
mod certificate;
mod command;
mod config;
mod conformance;
mod credentials;
mod custody;
mod desk_client;
mod erasures;
mod failpoints;
mod failures;
mod issuers;
mod logins;
mod lifecycle;
mod mail;
mod findings;
mod peers;
mod setups;
mod telemetry;
mod trial_desk;
mod ui;
mod wiring;

use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};

use crate::command::Arguments;

// Ten thousand idle lines are ten thousand small allocations; this allocator stores them compactly.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            ui::print_error(&error);
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> anyhow::Result<()> {
    keep_memory_in()?;
    failpoints::arm()?;
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(command::run(arguments))
}

/// Protects opened keys in memory: no core file is written, and only the system's administrator can read the memory.
fn keep_memory_in() -> anyhow::Result<()> {
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    setrlimit(Resource::Core, none).context("could not disable core files")?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable).context("could not protect memory")
}
