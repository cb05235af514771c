//! Checks that PostgreSQL keeps what it confirmed.
//!
//! The desk confirms an event to its platform when the commit returns. That is a promise only if the commit waits for the
//! disk, and if a crash of the machine leaves no torn page.

use std::fmt;

use nightdesk_types::StoreError;

use crate::Pg;

/// The settings of the server, and of this node's sessions, on which the durability of a commit depends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DurabilitySettings {
    /// The server waits for the disk.
    pub fsync: bool,
    /// The server can repair a page that a crash tore.
    pub full_page_writes: bool,
    /// The point that a commit of this node waits for.
    pub synchronous_commit: String,
    /// The standbys that a commit waits for.
    pub synchronous_standby_names: String,
    /// The number of connected standbys.
    pub standbys: i64,
}

/// A reason why a confirmed commit may be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DurabilityFault {
    /// The server does not wait for the disk.
    FsyncOff,
    /// A crash of the machine may tear a page for good.
    FullPageWritesOff,
    /// Commits return before they are written.
    CommitsNotAwaited,
}

impl fmt::Display for DurabilityFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FsyncOff => "fsync is off",
            Self::FullPageWritesOff => "full_page_writes is off",
            Self::CommitsNotAwaited => "synchronous_commit is off",
        })
    }
}

/// The copies of a commit at the time when it is confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replication {
    /// Standbys have it too: a failover loses nothing.
    Synchronous,
    /// Standbys get it later: a failover may lose the newest commits.
    Asynchronous,
    /// No standby is connected.
    None,
}

impl fmt::Display for Replication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Synchronous => "synchronous replication: a failover loses nothing",
            Self::Asynchronous => {
                "asynchronous replication: a failover may lose the newest messages"
            }
            Self::None => "no replication: a lost disk loses everything since the last backup",
        })
    }
}

impl DurabilitySettings {
    /// Returns every reason why a confirmed commit may be lost without a failover. None: commits are durable.
    pub fn faults(&self) -> Vec<DurabilityFault> {
        let faults = [
            (!self.fsync, DurabilityFault::FsyncOff),
            (!self.full_page_writes, DurabilityFault::FullPageWritesOff),
            (self.synchronous_commit == "off", DurabilityFault::CommitsNotAwaited),
        ];
        faults.into_iter().filter(|(is_set, _)| *is_set).map(|(_, fault)| fault).collect()
    }

    /// Returns the copies of a commit at the time when it is confirmed.
    pub fn replication(&self) -> Replication {
        let waits = !["off", "local"].contains(&self.synchronous_commit.as_str());
        if waits && !self.synchronous_standby_names.is_empty() {
            Replication::Synchronous
        } else if self.standbys > 0 {
            Replication::Asynchronous
        } else {
            Replication::None
        }
    }
}

impl Pg {
    /// Reads the settings on which the durability of a commit depends.
    pub async fn durability(&self) -> Result<DurabilitySettings, StoreError> {
        run_to_end!(self.single("read the durability settings"), |connection| {
            sqlx::query_as!(
                DurabilitySettings,
                r#"select current_setting('fsync')::boolean as "fsync!",
                       current_setting('full_page_writes')::boolean as "full_page_writes!",
                       current_setting('synchronous_commit') as "synchronous_commit!",
                       current_setting('synchronous_standby_names')
                           as "synchronous_standby_names!",
                       (select count(*) from pg_stat_replication) as "standbys!""#
            )
            .fetch_one(connection)
            .await
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(
        synchronous_commit: &str,
        standby_names: &str,
        standbys: i64,
    ) -> DurabilitySettings {
        DurabilitySettings {
            fsync: true,
            full_page_writes: true,
            synchronous_commit: synchronous_commit.to_owned(),
            synchronous_standby_names: standby_names.to_owned(),
            standbys,
        }
    }

    #[test]
    fn a_server_that_waits_for_its_disk_is_durable() {
        for level in ["local", "remote_write", "on", "remote_apply"] {
            assert_eq!(settings(level, "", 0).faults(), [], "{level}");
        }
    }

    #[test]
    fn every_setting_that_loses_commits_is_a_fault() {
        let sound = settings("on", "", 0);
        let no_fsync = DurabilitySettings { fsync: false, ..sound.clone() };
        let torn = DurabilitySettings { full_page_writes: false, ..sound };

        assert_eq!(no_fsync.faults(), [DurabilityFault::FsyncOff]);
        assert_eq!(torn.faults(), [DurabilityFault::FullPageWritesOff]);
        assert_eq!(settings("off", "", 0).faults(), [DurabilityFault::CommitsNotAwaited]);
        let none =
            DurabilitySettings { fsync: false, full_page_writes: false, ..settings("off", "", 0) };
        assert_eq!(none.faults().len(), 3);
    }

    #[test]
    fn replication_is_synchronous_only_if_commits_wait_for_standbys() {
        let cases = [
            (settings("on", "*", 1), Replication::Synchronous),
            (settings("remote_apply", "FIRST 1 (a, b)", 2), Replication::Synchronous),
            (settings("on", "*", 0), Replication::Synchronous),
            (settings("local", "*", 1), Replication::Asynchronous),
            (settings("on", "", 2), Replication::Asynchronous),
            (settings("on", "", 0), Replication::None),
        ];
        for (settings, expected) in cases {
            assert_eq!(settings.replication(), expected, "{settings:?}");
        }
    }
}
