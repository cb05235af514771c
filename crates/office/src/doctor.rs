//! The examination of a desk: findings that say what is wrong, and what to do about it.

mod desk_question;
mod tenants;

use std::fmt::Debug;

use async_trait::async_trait;
use nightdesk_types::Timestamp;
use nightdesk_users::Access;
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::OfficeError;
use crate::office::Office;

pub use desk_question::DeskQuestionKey;

/// The check whether the public URL leads to this desk.
pub const PUBLIC_URL_CHECK: &str = "public-url";

/// The gravity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum FindingSeverity {
    /// Nothing has to be done.
    Ok,
    /// The desk works. Something should be done before it does not.
    Advice,
    /// Something does not work.
    Fault,
}

/// A finding about the desk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct DoctorFinding {
    /// The check that made it.
    pub check: &'static str,
    /// `ok`, `advice` or `fault`.
    pub severity: FindingSeverity,
    /// The finding, in words.
    pub text: String,
    /// The step that ends it. Absent if nothing has to be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_step: Option<String>,
    /// True if the examination has repaired it.
    pub fixed: bool,
}

impl DoctorFinding {
    /// Returns the finding of a check that found nothing wrong.
    pub fn ok(check: &'static str, text: impl Into<String>) -> Self {
        let severity = FindingSeverity::Ok;
        Self { check, severity, text: text.into(), next_step: None, fixed: false }
    }

    /// Returns a finding that the operator should know.
    pub fn advice(
        check: &'static str,
        text: impl Into<String>,
        next_step: impl Into<String>,
    ) -> Self {
        let (severity, next_step) = (FindingSeverity::Advice, Some(next_step.into()));
        Self { check, severity, text: text.into(), next_step, fixed: false }
    }

    /// Returns the finding of something that does not work.
    pub fn fault(
        check: &'static str,
        text: impl Into<String>,
        next_step: impl Into<String>,
    ) -> Self {
        Self { severity: FindingSeverity::Fault, ..Self::advice(check, text, next_step) }
    }

    /// Returns the finding after its repair.
    #[must_use]
    pub fn repaired(self) -> Self {
        Self { fixed: true, next_step: None, ..self }
    }

    /// Returns true if something does not work and was not repaired.
    pub fn is_open_fault(&self) -> bool {
        self.severity == FindingSeverity::Fault && !self.fixed
    }
}

/// The findings about a desk.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DoctorReport {
    /// The node that made the examination. Absent: a command made it, without a node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The findings.
    pub findings: Vec<DoctorFinding>,
    /// The number of faults that remain.
    pub faults: usize,
}

impl DoctorReport {
    /// Counts the faults of findings.
    pub fn new(node: Option<String>, findings: Vec<DoctorFinding>) -> Self {
        let faults = findings.iter().filter(|finding| finding.is_open_fault()).count();
        Self { node, findings, faults }
    }
}

/// The extent of an examination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoctorMode {
    /// It changes nothing.
    Examine,
    /// It also repairs what can be repaired without a risk.
    Repair,
}

/// Examines what only a node sees: its configuration, its machine, and the servers that it uses.
#[async_trait]
pub trait NodeExaminer: Debug + Send + Sync {
    /// Returns the node's name.
    fn node(&self) -> String;

    /// Makes every check of the node. A check that cannot be made is a fault.
    async fn examine_node(&self, mode: DoctorMode) -> Vec<DoctorFinding>;
}

impl Office {
    /// Examines the desk: the node that serves the request, and the bots and agents of all tenants.
    pub async fn examine(
        &self,
        access: &Access,
        mode: DoctorMode,
    ) -> Result<DoctorReport, OfficeError> {
        let Ok(_turn) = self.examinations.try_lock() else {
            let busy = "this node is being examined already; repeat the request in a minute";
            return Err(OfficeError::Conflict(busy.to_owned()));
        };
        let mut findings = self.examiner.examine_node(mode).await;
        // A webhook that is set to a URL which leads elsewhere would take the bot's events there.
        let mode = if leads_here(&findings) { mode } else { DoctorMode::Examine };
        findings.extend(self.examine_tenants(access, mode).await?);
        findings.iter().filter(|finding| finding.fixed).for_each(log_repair);
        Ok(DoctorReport::new(Some(self.examiner.node()), findings))
    }

    /// Returns the answer to a question that a node of this desk sent to its public URL.
    pub fn answer_question(&self, question: &str, now: Timestamp) -> Option<String> {
        self.question_key.answer(question, now)
    }
}

fn leads_here(findings: &[DoctorFinding]) -> bool {
    let is_wrong = |finding: &DoctorFinding| {
        finding.check == PUBLIC_URL_CHECK && finding.severity == FindingSeverity::Fault
    };
    !findings.iter().any(is_wrong)
}

fn log_repair(finding: &DoctorFinding) {
    let DoctorFinding { check, text, .. } = finding;
    tracing::info!(check, "repaired by an operator's examination: {text}");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_url_that_leads_here_is_told_to_platforms() {
        let here = DoctorFinding::ok(PUBLIC_URL_CHECK, "it leads here");
        let elsewhere = DoctorFinding::fault(PUBLIC_URL_CHECK, "it leads elsewhere", "correct it");
        let other = DoctorFinding::fault("clock", "it is wrong", "set it");

        assert!(leads_here(&[]) && leads_here(&[here, other.clone()]));
        assert!(!leads_here(&[other, elsewhere]));
    }

    #[test]
    fn a_report_counts_the_faults_that_remain() {
        let fault = || DoctorFinding::fault("retention", "tomorrow has no partition", "add it");
        let findings = vec![
            DoctorFinding::ok("clock", "it agrees"),
            DoctorFinding::advice("backup", "no archive", "turn it on"),
            fault(),
            fault().repaired(),
        ];
        let report = DoctorReport::new(Some("desk-1".to_owned()), findings);

        assert_eq!(report.faults, 1);
        let shown = serde_json::to_value(&report).unwrap();
        assert_eq!(
            shown["findings"][2],
            json!({
                "check": "retention", "severity": "fault", "text": "tomorrow has no partition",
                "next_step": "add it", "fixed": false,
            })
        );
        assert_eq!(shown["findings"][0]["severity"], "ok");
        assert_eq!(shown["findings"][3]["fixed"], true);
    }
}
