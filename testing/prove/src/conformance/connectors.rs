//! Runs the suite on the connectors that come with the desk.

use nightdesk_conformance::connector::{Report, summary};

use super::{Planted, Proof, Ran};

const CONTRACT: &str = "agent_connector";

/// Runs the suite on every connector and on faulty ones.
pub(super) async fn prove(proof: &mut Proof) {
    let (reports, summary) = summary().await;
    proof.ran.extend(reports.iter().map(ran));
    let (planted, caught) = (summary.planted, summary.caught);
    proof.planted.push(Planted { contract: CONTRACT, planted, caught, missed: Vec::new() });
}

fn ran(report: &Report) -> Ran {
    Ran {
        contract: CONTRACT,
        implementation: report.name,
        cases: report.cases.len(),
        passed: report.passed(),
        failed: report.failed().join("\n"),
    }
}
