//! Decides what the facts about a node mean for its operator.

use std::time::Duration;

use nightdesk_office::{DoctorFinding, PUBLIC_URL_CHECK as PUBLIC_URL};
use nightdesk_store_pg::{LogArchive, LoginRights, StoredDay};
use nightdesk_types::limits::{
    ARCHIVED_WITHIN, CERTIFICATE_RENEWED_BEFORE, DAYS_NEEDED_AHEAD, DAYS_NEEDED_BEHIND,
    DEDUPE_DAYS, DISK_FREE_BYTES_LOW, DISK_FREE_BYTES_MIN, OLD_DAYS_TOLERATED, PENDING_DAYS,
};
use nightdesk_types::{Timestamp, is_loopback_host};

use crate::wiring::durability::DurabilityReport;

/// The tables that have a partition for each day.
const DAILY_TABLES: [&str; 3] = ["inbox_entries", "inbox_acks", "dedupe_keys"];

/// The age in days of the oldest partition that nothing needs any more.
const OLD_DAYS: i32 =
    if PENDING_DAYS > DEDUPE_DAYS { PENDING_DAYS } else { DEDUPE_DAYS } + 1 + OLD_DAYS_TOLERATED;

/// The certificate that a node serves.
#[derive(Clone, Copy, Debug)]
pub(super) struct CertificateFacts<'a> {
    /// The host of the public URL.
    pub(super) host: &'a str,
    /// The certificate is for that host.
    pub(super) is_for_host: bool,
    /// The last instant at which it is valid.
    pub(super) expires_at: Timestamp,
}

/// The free space of the disk of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DiskSpace {
    pub(crate) folder: String,
    pub(crate) free_bytes: u64,
}

/// The response to the question that a node sent to the public URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PublicUrlResponse {
    /// This desk answered.
    Own,
    /// Another server answered, with this status.
    Foreign(u16),
    /// No response came, for this reason.
    Missing(String),
}

/// Returns the finding about commits.
pub(super) fn judge_durability(report: &DurabilityReport) -> DoctorFinding {
    const CHECK: &str = "durability";
    match report {
        DurabilityReport::Kept(replication) => {
            DoctorFinding::ok(CHECK, format!("commits are durable; {replication}"))
        }
        DurabilityReport::Unchecked(_) => DoctorFinding::advice(
            CHECK,
            report.to_string(),
            "turn the settings on and remove database.durability, unless the storage makes up for them",
        ),
    }
}

/// Returns the finding about the role with which the node logs in.
pub(super) fn judge_login(rights: &LoginRights) -> DoctorFinding {
    const CHECK: &str = "database-role";
    let LoginRights { role, bypasses_walls, owns_tables, runs_functions } = rights;
    let wrong = if *bypasses_walls {
        "row-level security does not bind it, so one fault of the desk could mix tenants"
    } else if *owns_tables {
        "it may change and drop the desk's tables"
    } else if *runs_functions {
        return DoctorFinding::ok(CHECK, format!("the desk logs in as {role}, which owns nothing"));
    } else {
        "it may not run the desk's functions"
    };
    DoctorFinding::fault(
        CHECK,
        format!("the desk logs in as {role}: {wrong}"),
        "log in as the role that `nightdesk migrate` created: database.url = \
         \"postgres://nightdesk_app@host:5432/name\"",
    )
}

/// Returns the finding about the partitions of days.
pub(super) fn judge_partitions(days: &[StoredDay]) -> DoctorFinding {
    const CHECK: &str = "retention";
    let missing = missing_partitions(days);
    if !missing.is_empty() {
        return DoctorFinding::fault(
            CHECK,
            format!("there is no partition for {}", missing.join(", ")),
            "run `nightdesk doctor --fix`; if it is missing again later, the log of the node says why",
        );
    }
    let oldest = days.iter().map(|day| day.days_ahead).min().unwrap_or(0);
    if oldest < -OLD_DAYS {
        return DoctorFinding::advice(
            CHECK,
            format!("a partition is {} days old, and nothing needs it", oldest.unsigned_abs()),
            "end the transaction or the backup that reads it; the log of the node names the step of upkeep that fails",
        );
    }
    let days = days.iter().filter(|day| day.table == DAILY_TABLES[0]).count();
    DoctorFinding::ok(CHECK, format!("{days} days have their partitions"))
}

fn missing_partitions(days: &[StoredDay]) -> Vec<String> {
    let is_stored = |table: &str, days_ahead: i32| {
        days.iter().any(|day| day.table == table && day.days_ahead == days_ahead)
    };
    let mut missing = Vec::new();
    for days_ahead in -DAYS_NEEDED_BEHIND..=DAYS_NEEDED_AHEAD {
        let lacking = DAILY_TABLES.into_iter().filter(|table| !is_stored(table, days_ahead));
        missing.extend(lacking.map(|table| format!("{table} of {}", name_day(days_ahead))));
    }
    missing
}

fn name_day(days_ahead: i32) -> String {
    match days_ahead {
        -1 => "yesterday".to_owned(),
        0 => "today".to_owned(),
        1 => "tomorrow".to_owned(),
        other => format!("day {other:+}"),
    }
}

/// Returns the finding about the archive of the database's log. The desk does not know when a base backup was taken.
pub(super) fn judge_archive(archive: &LogArchive) -> DoctorFinding {
    const CHECK: &str = "backup";
    let age = archive.archived_secs_ago.map(|age| Duration::from_secs(age.max(0).unsigned_abs()));
    let text = match (archive.is_on, archive.is_failing, age) {
        (false, ..) => {
            return DoctorFinding::advice(
                CHECK,
                "PostgreSQL does not archive its log, so the desk knows of no backup",
                "turn the archive on and take a base backup every day, as docs/restore.md shows; leave it if you back the \
                 database up in another way",
            );
        }
        (true, true, _) => {
            return DoctorFinding::fault(
                CHECK,
                "PostgreSQL cannot archive its log, so a restore would lose the newest messages",
                "see PostgreSQL's log for the error of archive_command, and whether the archive's disk is full",
            );
        }
        (true, false, Some(age)) if age <= ARCHIVED_WITHIN => {
            let minutes = age.as_secs() / 60;
            return DoctorFinding::ok(CHECK, format!("its log was archived {minutes} min ago"));
        }
        (true, false, Some(age)) => {
            format!(
                "PostgreSQL archived its log {} hours ago for the last time",
                age.as_secs() / 3_600
            )
        }
        (true, false, None) => "PostgreSQL has not archived its log yet".to_owned(),
    };
    DoctorFinding::advice(CHECK, text, "set archive_timeout, as docs/restore.md shows")
}

/// Returns the finding about the certificate.
pub(super) fn judge_certificate(facts: CertificateFacts<'_>, now: Timestamp) -> DoctorFinding {
    const CHECK: &str = "certificate";
    let CertificateFacts { host, is_for_host, expires_at } = facts;
    if !is_for_host {
        return DoctorFinding::fault(
            CHECK,
            format!("the certificate is not for {host}, the host of the public URL"),
            format!("install a certificate for {host}, or correct listen.public_url"),
        );
    }
    let left = expires_at.duration_since(now);
    let days = left.as_hours() / 24;
    if left.is_negative() || left.unsigned_abs() < CERTIFICATE_RENEWED_BEFORE {
        return DoctorFinding::advice(
            CHECK,
            format!("the certificate expires in {days} days, at {expires_at}"),
            "renew it, and see why that did not happen by itself; the desk rereads the files",
        );
    }
    DoctorFinding::ok(CHECK, format!("it is for {host}, and valid for {days} days"))
}

/// Returns the finding about the public URL.
pub(super) fn judge_public_url(
    url: &str,
    host: &str,
    response: &PublicUrlResponse,
) -> DoctorFinding {
    let set =
        "set listen.public_url to the URL of this desk, or let its name and its proxy lead here";
    match response {
        PublicUrlResponse::Own if is_loopback_host(host) => {
            DoctorFinding::ok(PUBLIC_URL, format!("{url} leads here, for this machine only"))
        }
        PublicUrlResponse::Own => DoctorFinding::ok(PUBLIC_URL, format!("{url} leads here")),
        PublicUrlResponse::Foreign(status) => DoctorFinding::fault(
            PUBLIC_URL,
            format!(
                "{url} leads to another server or desk: it does not know this desk (status {status})"
            ),
            set,
        ),
        PublicUrlResponse::Missing(reason) => DoctorFinding::fault(
            PUBLIC_URL,
            format!("this node cannot reach {url}: {reason}"),
            format!("{set}; if others reach it, let this machine reach it, too"),
        ),
    }
}

/// Returns the findings about the disks of folders: one for each that is nearly full.
pub(super) fn judge_disks(disks: &[DiskSpace]) -> Vec<DoctorFinding> {
    const CHECK: &str = "disk";
    let low: Vec<_> = disks.iter().filter_map(|disk| judge_disk(CHECK, disk)).collect();
    if !low.is_empty() {
        return low;
    }
    let Some(least) = disks.iter().map(|disk| disk.free_bytes).min() else {
        return vec![DoctorFinding::ok(CHECK, "the desk writes to no folder of this machine")];
    };
    vec![DoctorFinding::ok(CHECK, format!("{} MiB are free at least", mebibytes(least)))]
}

fn judge_disk(check: &'static str, disk: &DiskSpace) -> Option<DoctorFinding> {
    let DiskSpace { folder, free_bytes } = disk;
    if *free_bytes >= DISK_FREE_BYTES_LOW {
        return None;
    }
    let text = format!("the disk of {folder} has {} MiB left", mebibytes(*free_bytes));
    let next = "free space there, or move the folder to a larger disk";
    Some(if *free_bytes < DISK_FREE_BYTES_MIN {
        DoctorFinding::fault(check, text, next)
    } else {
        DoctorFinding::advice(check, text, next)
    })
}

const fn mebibytes(bytes: u64) -> u64 {
    bytes >> 20
}

#[cfg(test)]
mod tests;
