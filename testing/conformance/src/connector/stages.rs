//! Stages of the connectors that come with the desk, each with a real environment.

mod file_drop;
mod host;
mod noop;
mod tmux;
mod webhook;

use std::sync::Arc;

use nightdesk_types::{Clock, SystemClock};

use super::{Report, run};

/// Runs every case over every connector that comes with the desk: files on a disk, terminals of a real tmux, an HTTP
/// test server.
///
/// # Panics
///
/// If a program that a stage needs is not installed.
pub async fn bundled() -> Vec<Report> {
    vec![
        run(&noop::NoOpStage::new()).await,
        run(&file_drop::FileDropStage::new()).await,
        run(&tmux::TmuxStage::new()).await,
        run(&webhook::WebhookStage::waking()).await,
        run(&webhook::WebhookStage::passive()).await,
    ]
}

fn clock() -> Arc<dyn Clock> {
    Arc::new(SystemClock::start())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connector::summary;

    #[tokio::test]
    async fn every_connector_of_ours_keeps_the_contract() {
        for report in bundled().await {
            assert_eq!(report.failed(), [""; 0], "{}: {:?}", report.name, report.cases);
        }
    }

    #[tokio::test]
    async fn the_summary_counts_cases_and_planted_faults() {
        let (reports, summary) = summary().await;
        assert_eq!((summary.cases, summary.planted), (summary.passed, summary.caught));
        let cases: Vec<_> = reports.iter().map(|report| report.cases.len()).collect();
        assert_eq!(cases, [13, 30, 30, 30, 30]);
    }
}
