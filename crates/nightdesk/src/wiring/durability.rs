//! Refuses a PostgreSQL that may lose what it confirmed.

use std::fmt;

use anyhow::{Context, bail};
use nightdesk_store_pg::{DurabilityFault, DurabilitySettings, Pg, Replication};

use super::{log_durability, retry_while_unavailable};
use crate::config::{Config, DurabilityCheck};

/// The durability of the database, as far as a node may serve with it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum DurabilityReport {
    /// Commits are durable.
    Kept(Replication),
    /// Commits may be lost, and the configuration accepts it.
    Unchecked(FaultList),
}

impl fmt::Display for DurabilityReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kept(replication) => replication.fmt(f),
            Self::Unchecked(faults) => {
                write!(f, "unchecked: {faults}, so accepted messages may be lost")
            }
        }
    }
}

/// The reasons why a commit may be lost.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FaultList(Vec<DurabilityFault>);

impl fmt::Display for FaultList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let faults: Vec<_> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&faults.join(", "))
    }
}

/// Reads the settings of the database, and refuses those with which a commit may be lost, unless the configuration
/// accepts them.
pub(crate) async fn check(config: &Config, pg: &Pg) -> anyhow::Result<DurabilityReport> {
    let settings = pg.durability().await.context("could not read the settings of the database")?;
    judge(&settings, config.database.durability)
}

/// Checks the settings again whenever the history of the database changes: a standby that took over may have others.
/// Returns the reason why this node must not go on.
pub(crate) async fn watch(config: &Config, pg: &Pg) -> anyhow::Error {
    let mut history = pg.watch_history();
    while history.changed().await.is_ok() {
        // A server that takes over is checked as soon as it answers.
        match retry_while_unavailable(None, || check_apart(config, pg)).await {
            Ok(found) => log_durability(&found),
            Err(refused) => {
                return refused.context(
                    "another server took the place of the database, and this node does not go on with it",
                );
            }
        }
    }
    // The store that sends the changes lives as long as the node.
    std::future::pending().await
}

/// Checks a server over connections of its own: older ones may still lead to the server of before.
async fn check_apart(config: &Config, pg: &Pg) -> anyhow::Result<DurabilityReport> {
    let fresh = pg.connect_apart();
    let found = check(config, &fresh).await;
    fresh.close().await;
    found
}

fn judge(
    settings: &DurabilitySettings,
    check: DurabilityCheck,
) -> anyhow::Result<DurabilityReport> {
    let faults = FaultList(settings.faults());
    if faults.0.is_empty() {
        return Ok(DurabilityReport::Kept(settings.replication()));
    }
    match check {
        DurabilityCheck::Unchecked => Ok(DurabilityReport::Unchecked(faults)),
        DurabilityCheck::Checked => bail!(
            "PostgreSQL may lose messages that the desk accepted: {faults}; turn it on, or set \
             database.durability = \"unchecked\" if the storage makes up for it or the messages may \
             be lost"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(fsync: bool) -> DurabilitySettings {
        DurabilitySettings {
            fsync,
            full_page_writes: true,
            synchronous_commit: "on".to_owned(),
            synchronous_standby_names: String::new(),
            standbys: 1,
        }
    }

    #[test]
    fn a_durable_server_is_reported_with_its_replication() {
        for check in [DurabilityCheck::Checked, DurabilityCheck::Unchecked] {
            let found = judge(&settings(true), check).expect("it is durable");
            assert_eq!(found, DurabilityReport::Kept(Replication::Asynchronous));
        }
    }

    #[test]
    fn a_server_that_may_lose_commits_is_refused_unless_the_operator_accepts_it() {
        let refused = judge(&settings(false), DurabilityCheck::Checked).expect_err("refused");
        assert!(refused.to_string().contains("fsync is off"), "{refused}");

        let found = judge(&settings(false), DurabilityCheck::Unchecked).expect("accepted");
        assert_eq!(found, DurabilityReport::Unchecked(FaultList(vec![DurabilityFault::FsyncOff])));
    }
}
