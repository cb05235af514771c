//! Checks the rules of `STYLE.md` that a compiler does not know.
//!
//! Each rule is a pure function from text to findings, in a separate file.

use std::fmt;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::house::UnsearchableNames;
use crate::repo::{Repo, TextFile};

mod edges;
mod sizes;
mod imports;
mod calls;
mod comparisons;
mod words;
mod dependencies;
mod floors;
mod migrations;
mod names;
mod places;
mod promises;
pub(crate) mod sentences;
mod threats;
mod workflows;
mod mask;

pub(crate) use floors::locked as locked_packages;
use mask::Masked;

/// A place where a rule is broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    /// The file, and the line if there is one.
    at: String,
    /// The problem and its correction.
    what: String,
}

impl Finding {
    fn in_file(path: &str, what: impl Into<String>) -> Self {
        Self { at: path.to_owned(), what: what.into() }
    }

    /// Creates a finding in a line, which is counted from zero, as iterators do.
    fn in_line(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self { at: format!("{path}:{}", line + 1), what: what.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.what)
    }
}

/// A Rust file, with its code and its comments separated.
#[derive(Debug)]
pub(crate) struct RustFile {
    path: String,
    masked: Masked,
}

impl RustFile {
    fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), masked: Masked::new(text) }
    }
}

/// Checks every rule and prints the findings.
pub(crate) fn run(repo: &Repo) -> Result<ExitCode> {
    let findings = all_findings(repo)?;
    print_findings(&findings);
    if findings.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    println!("tidy: {} found", findings.len());
    Ok(ExitCode::FAILURE)
}

/// Checks the page of threats and prints the findings and the counts.
pub(crate) fn run_threats(repo: &Repo) -> Result<ExitCode> {
    let (texts, page) = (repo.text_files()?, repo.read(threats::PAGE)?);
    let findings = threats::check(&texts, &page);
    print_findings(&findings);
    println!("{}", threats::count(&page));
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn print_findings(findings: &[Finding]) {
    for finding in findings {
        println!("{finding}");
    }
}

fn all_findings(repo: &Repo) -> Result<Vec<Finding>> {
    let texts = repo.text_files()?;
    let rust = rust_files(&texts);
    let metadata = repo.output(Command::new("cargo").args([
        "metadata",
        "--no-deps",
        "--offline",
        "--format-version=1",
    ]))?;
    let metadata = serde_json::from_str(&metadata).context("could not read cargo's metadata")?;
    let manifest = repo.read("Cargo.toml")?;

    let mut findings = edges::check(&edges::read(&metadata)?);
    findings.extend(rust.iter().flat_map(sizes::check));
    findings.extend(rust.iter().flat_map(imports::check));
    findings.extend(rust.iter().flat_map(calls::check));
    findings.extend(calls::check_rules(&rust));
    findings.extend(rust.iter().flat_map(comparisons::check));
    findings.extend(rust.iter().flat_map(words::check));
    findings.extend(dependencies::check(&manifest, &repo.read(dependencies::LIST)?));
    findings.extend(floors::check(&repo.read("Cargo.lock")?));
    findings.extend(texts.iter().flat_map(migrations::check));
    findings.extend(texts.iter().flat_map(places::check));
    let threats = repo.read(threats::PAGE)?;
    findings.extend(promises::check(&texts, &repo.read(promises::LIST)?, &threats));
    findings.extend(threats::check(&texts, &threats));
    findings.extend(texts.iter().flat_map(workflows::check));
    findings.extend(texts.iter().flat_map(sentences::check));
    findings.extend(names::check(&UnsearchableNames::find(&texts)?));
    Ok(findings)
}

fn rust_files(texts: &[TextFile]) -> Vec<RustFile> {
    let rust = texts.iter().filter(|file| file.has_extension("rs"));
    rust.map(|file| RustFile::new(&file.path, &file.text)).collect()
}
