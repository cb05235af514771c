//! Reports the causes of alerts that only this machine shows: the end of its certificate, and the space of its disks.
//!
//! Every node reports its own, and the node that looks for causes finds all reports in the store.

use std::sync::Arc;

use nightdesk_alerts::{AlertKind, AlertStore, NodeFinding};
use nightdesk_api::ServedCertificate;
use nightdesk_desk::sweep::repeat_every;
use nightdesk_types::limits::{CERTIFICATE_RENEWED_BEFORE, FINDINGS_EVERY};
use nightdesk_types::{Clock as _, StoreError, SystemClock, Timestamp};
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use crate::config::Config;
use crate::wiring::doctor::{DiskSpace, disks};

/// Reports the findings of a node.
pub(crate) struct FindingsReport {
    pub(crate) config: Arc<Config>,
    pub(crate) store: Arc<dyn AlertStore>,
    /// The certificate of the public address, if this node serves one.
    pub(crate) served: Option<Arc<ServedCertificate>>,
}

impl FindingsReport {
    /// Reports until the node stops.
    pub(crate) async fn run(self, drain: CancellationToken) {
        let round = || self.report();
        repeat_every(FINDINGS_EVERY, "report the state of this machine", &drain, round).await;
    }

    async fn report(&self) -> Result<(), StoreError> {
        let config = Arc::clone(&self.config);
        // A disk may be slow. A round that breaks off reports no disk.
        let disks = spawn_blocking(move || disks(&config)).await.unwrap_or_default();
        let expires_at = self.served.as_ref().map(|served| served.current().expires_at());
        let limit = self.config.alerts.disk_free_bytes();
        let mut findings: Vec<NodeFinding> =
            disks.iter().filter_map(|disk| judge_space(disk, limit)).collect();
        let now = SystemClock::start().now();
        findings.extend(expires_at.and_then(|expires_at| judge_end(expires_at, now)));
        self.store.report_findings(&self.config.node.name, &findings).await
    }
}

fn judge_space(disk: &DiskSpace, limit_bytes: u64) -> Option<NodeFinding> {
    let DiskSpace { folder, free_bytes } = disk;
    let subject = format!("{folder} has {} MiB left", free_bytes >> 20);
    (*free_bytes < limit_bytes).then_some(NodeFinding { kind: AlertKind::Disk, subject })
}

fn judge_end(expires_at: Timestamp, now: Timestamp) -> Option<NodeFinding> {
    let left = expires_at.duration_since(now);
    let is_soon = left.is_negative() || left.unsigned_abs() < CERTIFICATE_RENEWED_BEFORE;
    let subject = format!("the certificate of the public address expires at {expires_at}");
    is_soon.then_some(NodeFinding { kind: AlertKind::ExpiringKey, subject })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_disk_below_its_limit_is_found() {
        let disk = |free_bytes| DiskSpace { folder: "/data".to_owned(), free_bytes };
        let limit = 10 << 20;

        assert_eq!(judge_space(&disk(limit), limit), None);
        let found = judge_space(&disk(limit - 1), limit).expect("it is almost full");
        assert_eq!((found.kind, &*found.subject), (AlertKind::Disk, "/data has 9 MiB left"));
    }

    #[test]
    fn a_certificate_is_found_before_it_ends() {
        let now = Timestamp::from_second(1_800_000_000).expect("a time of our days");
        let expires_in = |left: Duration| judge_end(now + left, now);

        assert_eq!(expires_in(CERTIFICATE_RENEWED_BEFORE), None);
        let soon = CERTIFICATE_RENEWED_BEFORE.saturating_sub(Duration::from_secs(1));
        assert_eq!(expires_in(soon).map(|found| found.kind), Some(AlertKind::ExpiringKey));
        assert!(judge_end(now - Duration::from_secs(1), now).is_some(), "it has ended");
    }
}
