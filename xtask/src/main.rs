//! `cargo xtask`: maintenance commands of the project.
//!
//! - `tidy` checks the rules of `STYLE.md` that a compiler does not know;
//! - `threats` checks the page of threats and counts the threats that are held;
//! - `sbom` compares a release's bill of materials with the crates that cargo builds;
//! - `house` measures the code;
//! - `mutants` applies the deliberate bugs of `testing/mutants` to a copy;
//! - `unsealed` makes a copy that does not seal messages, to measure the cost of sealing;
//! - `with-servers` runs a command with a temporary PostgreSQL and Redis;
//! - `sqlx` and `schema` write the files that are generated from the migrations.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command talks to its caller")]

use std::env;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};

mod tidy;
mod house;
mod sbom;
mod mutants;
mod with_servers;
mod queries;
mod schema;
mod migrated;
mod repo;

use repo::Repo;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  tidy                                      check edges, sizes, imports, words, dependencies, promises, actions
  threats                                   check docs/threats.md, and count what is held
  sbom FILE PACKAGE                         check that FILE names all crates of PACKAGE's binary
  house [--list FIGURE]                     measure the code, or name the places behind a figure
  mutants check                             check that every patch of testing/mutants applies
  mutants copy FOLDER                       make FOLDER a copy of the files with all patches applied
  unsealed FOLDER                           make FOLDER a copy of the files that does not seal messages
  with-servers [--fsync] [--redis] -- CMD…  run CMD beside a PostgreSQL (and a Redis) of its own
  sqlx [--check]                            write, or compare, crates/store-pg/.sqlx
  schema [--check]                          write, or compare, crates/store-pg/schema.sql";

/// Write a generated file, or only compare it with the existing one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Write,
    Check,
}

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match run(&args) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[&str]) -> Result<ExitCode> {
    let repo = Repo::here()?;
    match args {
        ["tidy"] => tidy::run(&repo),
        ["threats"] => tidy::run_threats(&repo),
        ["sbom", file, package] => sbom::run(&repo, Path::new(file), package),
        ["house", rest @ ..] => house::run(&repo, rest),
        ["mutants", "check"] => mutants::check(&repo),
        ["mutants", "copy", folder] => mutants::copy(&repo, Path::new(folder)),
        ["unsealed", folder] => mutants::copy_unsealed(&repo, Path::new(folder)),
        ["with-servers", rest @ ..] => with_servers::run(rest),
        ["sqlx", rest @ ..] => queries::run(&repo, mode(rest)?),
        ["schema", rest @ ..] => schema::run(&repo, mode(rest)?),
        _ => bail!("no such command\n\n{USAGE}"),
    }
}

fn mode(args: &[&str]) -> Result<Mode> {
    match args {
        [] => Ok(Mode::Write),
        ["--check"] => Ok(Mode::Check),
        _ => bail!("no such option\n\n{USAGE}"),
    }
}
