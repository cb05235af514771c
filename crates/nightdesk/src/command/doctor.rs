//! `doctor`: examines a desk, and says what to do.

use std::path::Path;

use anyhow::Context;
use clap::Args;
use nightdesk_office::{DoctorFinding, DoctorMode, DoctorReport};
use serde_json::Value;

use super::DeskArgs;
use crate::config::Config;
use crate::desk_client::ApiRequest;
use crate::ui::CommandOutput;
use crate::wiring::checkup::Checkup;
use crate::wiring::doctor;

/// The width of the column with the name of a check.
const CHECK_CHARS: usize = 14;

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Examine the configuration file and the servers that it names, without a desk that serves.
    #[arg(long)]
    local: bool,
    /// Repair what can be repaired without a risk: modes of key files, partitions, webhooks of bots.
    #[arg(long)]
    fix: bool,
}

/// Examines the desk, or the node of a configuration file.
pub(super) async fn run(
    args: &DoctorArgs,
    at: &DeskArgs,
    config: &Path,
) -> anyhow::Result<CommandOutput> {
    let mode = if args.fix { DoctorMode::Repair } else { DoctorMode::Examine };
    let data = if args.local {
        serde_json::to_value(examine_locally(config, mode).await)?
    } else {
        ask_desk(at, mode).await.context(
            "the desk could not be examined; on its own machine, `nightdesk doctor --local` needs no desk that serves",
        )?
    };
    let faults = data["faults"].as_u64().context("the answer of the desk is no report")?;
    let text = report_text(&data);
    Ok(CommandOutput::Report { data, text, faults: usize::try_from(faults)? })
}

async fn ask_desk(at: &DeskArgs, mode: DoctorMode) -> anyhow::Result<Value> {
    let path = ["admin", "doctor"];
    let request = match mode {
        DoctorMode::Examine => ApiRequest::get(&path),
        DoctorMode::Repair => ApiRequest::post(&path),
    };
    at.client()?.call(request).await
}

async fn examine_locally(file: &Path, mode: DoctorMode) -> DoctorReport {
    const CHECK: &str = "configuration";
    let findings = match Config::read(file) {
        Ok(config) => {
            let valid = DoctorFinding::ok(CHECK, format!("{} is valid", file.display()));
            let mut findings = vec![valid];
            findings.extend(doctor::examine(&Checkup::of_configuration(&config), mode).await);
            findings
        }
        Err(error) => {
            let next = "correct the file; docs/running.md shows every setting";
            vec![DoctorFinding::fault(CHECK, format!("{error:#}"), next)]
        }
    };
    DoctorReport::new(None, findings)
}

/// Formats a report for a person: a line for each finding, and one for each next step.
fn report_text(report: &Value) -> String {
    let findings = report["findings"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut lines: Vec<String> = findings.iter().flat_map(finding_lines).collect();
    lines.push(match report["faults"].as_u64() {
        Some(0) => "no fault remains".to_owned(),
        Some(1) => "1 fault remains".to_owned(),
        faults => format!("{} faults remain", faults.unwrap_or_default()),
    });
    lines.join("\n")
}

fn finding_lines(finding: &Value) -> Vec<String> {
    let member = |name: &str| shown(finding[name].as_str().unwrap_or_default());
    let severity = member("severity");
    let mark = match (finding["fixed"].as_bool(), severity.as_str()) {
        (Some(true), _) => "fixed",
        (_, "advice") => "ADVICE",
        (_, "fault") => "FAULT",
        _ => "ok",
    };
    let mut lines = vec![format!("{mark:<7} {:<CHECK_CHARS$} {}", member("check"), member("text"))];
    if finding["next_step"].is_string() {
        lines.push(format!("{:7} {:CHECK_CHARS$} next: {}", "", "", member("next_step")));
    }
    lines
}

/// Removes characters that could control the terminal.
fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_a_line_for_each_finding_and_its_next_step() {
        let report = DoctorReport::new(
            None,
            vec![
                DoctorFinding::ok("clock", "the clocks agree"),
                DoctorFinding::advice("backup", "no archive", "turn it on"),
                DoctorFinding::fault("redis", "no\u{1b}[31m answer", "start Redis"),
                DoctorFinding::fault("key-files", "others could read vault.key", "x").repaired(),
            ],
        );
        let text = report_text(&serde_json::to_value(report).unwrap());

        let lines: Vec<_> = text.lines().collect();
        assert_eq!(
            lines,
            [
                "ok      clock          the clocks agree",
                "ADVICE  backup         no archive",
                "                       next: turn it on",
                "FAULT   redis          no[31m answer",
                "                       next: start Redis",
                "fixed   key-files      others could read vault.key",
                "1 fault remains",
            ]
        );
    }

    #[tokio::test]
    async fn a_file_that_is_no_configuration_is_a_fault() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("desk.toml");
        for text in [None, Some("[listen]\n"), Some("not TOML")] {
            if let Some(text) = text {
                std::fs::write(&file, text).unwrap();
            }
            let report = examine_locally(&file, DoctorMode::Examine).await;
            assert_eq!(report.faults, 1, "{text:?}");
            assert_eq!(report.findings[0].check, "configuration", "{text:?}");
        }
    }
}
