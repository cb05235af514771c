//! Examines a node: its configuration, its machine, and the servers that it uses.
//!
//! [`Checkup`] makes the checks that `config check` makes, too; [`decide`] judges the facts of the others.

mod decide;
mod public_url;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::bail;
use async_trait::async_trait;
use nightdesk_office::{DeskQuestionKey, DoctorFinding, DoctorMode, NodeExaminer};
use nightdesk_store_pg::Pg;
use nightdesk_types::limits::{DAYS_OPENED_AHEAD, NODE_CHECK_WAIT};
use nightdesk_types::{Clock as _, SystemClock};
use reqwest::Url;
use tokio::time::timeout;

use super::checkup::{Checkup, RunningParts};
use crate::certificate;
use crate::config::{Config, TlsFiles};
use decide::CertificateFacts;
pub(crate) use decide::DiskSpace;

/// Examines the node in which it runs.
pub(crate) struct NodeDoctor {
    pub(crate) config: Arc<Config>,
    pub(crate) running: RunningParts,
    pub(crate) question_key: DeskQuestionKey,
}

nightdesk_types::opaque_debug!(NodeDoctor);

#[async_trait]
impl NodeExaminer for NodeDoctor {
    fn node(&self) -> String {
        self.config.node.name.clone()
    }

    async fn examine_node(&self, mode: DoctorMode) -> Vec<DoctorFinding> {
        let mut findings = examine(&Checkup::of_node(&self.config, &self.running), mode).await;
        findings.push(public_url::examine(&self.config, &self.question_key).await);
        findings
    }
}

/// A check that succeeds, or fails as a whole.
struct PlainCheck {
    check: &'static str,
    /// The finding if all is well.
    well: &'static str,
    /// The step after a failure. The error of a check often has a more exact one.
    next_step: &'static str,
}

impl PlainCheck {
    fn finding(&self, result: anyhow::Result<()>) -> DoctorFinding {
        match result {
            Ok(()) => DoctorFinding::ok(self.check, self.well),
            Err(error) => self.fault(&error),
        }
    }

    fn fault(&self, error: &anyhow::Error) -> DoctorFinding {
        DoctorFinding::fault(self.check, format!("{error:#}"), self.next_step)
    }
}

const KEY_FILES: PlainCheck = PlainCheck {
    check: "key-files",
    well: "secret files are readable only by their owner",
    next_step: "run `nightdesk doctor --fix`, and replace the keys if other people use the machine (docs/secrets.md)",
};
const DATABASE: PlainCheck = PlainCheck {
    check: "database",
    well: "the database responds and is migrated",
    next_step: "start PostgreSQL, check database.url, and run `nightdesk migrate`",
};
const VAULT: PlainCheck = PlainCheck {
    check: "vault",
    well: "the vault's keys open all sealed values",
    next_step: "name the vault's key in vault.key_file, and earlier ones in vault.old_key_files",
};
const DURABILITY: PlainCheck = PlainCheck {
    check: "durability",
    well: "commits are durable",
    next_step: "turn fsync, full_page_writes and synchronous_commit on in PostgreSQL's configuration, and reload it",
};
const CLOCK: PlainCheck = PlainCheck {
    check: "clock",
    well: "the clock agrees with the database's",
    next_step: "let NTP set the clocks of this machine and of the database's",
};
const REDIS: PlainCheck = PlainCheck {
    check: "redis",
    well: "Redis responds",
    next_step: "start Redis, and check redis.url and its password; until then messages between nodes are slower",
};
const LETTER_WAYS: PlainCheck = PlainCheck {
    check: "letter-ways",
    well: "the configured ways of letters work",
    next_step: "correct the [[ways]] of the agent that is named",
};
const FILES: PlainCheck = PlainCheck {
    check: "files",
    well: "the store of files can be used",
    next_step: "give media.place a folder of its own that the desk may write to, or a bucket",
};
const ERASURES: PlainCheck = PlainCheck {
    check: "erasures",
    well: "the list of erased tenants is whole",
    next_step: "put back the file that erasure.list_file names; docs/secrets.md describes it",
};
const CERTIFICATE: PlainCheck = PlainCheck {
    check: "certificate",
    well: "the certificate can be served",
    next_step: "install a valid certificate and its key at listen.tls (docs/tls.md); the desk rereads the files",
};
const ROLE: PlainCheck = PlainCheck {
    check: "database-role",
    well: "the desk's role is right",
    next_step: "check that the role of database.url may read the catalogue",
};
const RETENTION: PlainCheck = PlainCheck {
    check: "retention",
    well: "every day has its partition",
    next_step: "see the log of the node for the failed step of upkeep",
};
const BACKUP: PlainCheck = PlainCheck {
    check: "backup",
    well: "the log is archived",
    next_step: "check that the role of database.url may read pg_stat_archiver",
};

/// Makes every check that needs no request to the node. Repairs modes of files and partitions if the mode says so.
pub(crate) async fn examine(checkup: &Checkup<'_>, mode: DoctorMode) -> Vec<DoctorFinding> {
    let mut findings = vec![examine_key_files(checkup, mode)];
    let database = within(checkup.check_database()).await;
    let is_usable = database.is_ok();
    findings.push(DATABASE.finding(database));
    // Without its tables, every check of the database would report the same.
    if is_usable {
        findings.extend(examine_database(checkup, mode).await);
    }
    findings.extend(examine_machine(checkup).await);
    findings
}

/// Waits for a check, up to a limit.
async fn within<T>(check: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    match timeout(NODE_CHECK_WAIT, check).await {
        Ok(result) => result,
        Err(_) => bail!("the check took more than {} s", NODE_CHECK_WAIT.as_secs()),
    }
}

fn examine_key_files(checkup: &Checkup<'_>, mode: DoctorMode) -> DoctorFinding {
    let finding = KEY_FILES.finding(checkup.check_secret_files());
    if mode == DoctorMode::Examine || !finding.is_open_fault() {
        return finding;
    }
    match checkup.close_secret_files() {
        Ok(closed) if closed.is_empty() => finding,
        Ok(closed) => DoctorFinding { text: closed_text(&closed), ..finding }.repaired(),
        Err(error) => KEY_FILES.fault(&error),
    }
}

fn closed_text(closed: &[PathBuf]) -> String {
    let names: Vec<_> = closed.iter().map(|file| file.display().to_string()).collect();
    format!("other users could read {}", names.join(", "))
}

/// Makes the checks that need the database's tables.
async fn examine_database(checkup: &Checkup<'_>, mode: DoctorMode) -> Vec<DoctorFinding> {
    let pg = match checkup.connect() {
        Ok(pg) => pg,
        Err(error) => return vec![DATABASE.fault(&error)],
    };
    let mut findings = vec![
        VAULT.finding(within(checkup.check_vault()).await),
        within(checkup.check_durability()).await.map_or_else(
            |error| DURABILITY.fault(&error),
            |report| decide::judge_durability(&report),
        ),
        within(async { Ok(pg.login_rights().await?) })
            .await
            .map_or_else(|error| ROLE.fault(&error), |rights| decide::judge_login(&rights)),
        CLOCK.finding(within(checkup.check_clock()).await),
        examine_partitions(&pg, mode).await,
        within(async { Ok(pg.log_archive().await?) })
            .await
            .map_or_else(|error| BACKUP.fault(&error), |archive| decide::judge_archive(&archive)),
    ];
    pg.close().await;
    if let Some(redis) = &checkup.config.redis {
        findings.push(REDIS.finding(within(checkup.check_redis(redis)).await));
    }
    if !checkup.config.ways.is_empty() {
        findings.push(LETTER_WAYS.finding(within(checkup.check_ways()).await));
    }
    findings
}

/// Examines the partitions of days, and creates missing ones if the mode says so.
async fn examine_partitions(pg: &Pg, mode: DoctorMode) -> DoctorFinding {
    let read = || within(async { Ok(decide::judge_partitions(&pg.stored_days().await?)) });
    let finding = read().await.unwrap_or_else(|error| RETENTION.fault(&error));
    if mode == DoctorMode::Examine || !finding.is_open_fault() {
        return finding;
    }
    if let Err(error) = pg.open_days(DAYS_OPENED_AHEAD).await {
        return RETENTION.fault(&error.into());
    }
    match read().await {
        Ok(now) if now.is_open_fault() => now,
        Ok(_) => finding.repaired(),
        Err(error) => RETENTION.fault(&error),
    }
}

/// Makes the checks of files and disks.
async fn examine_machine(checkup: &Checkup<'_>) -> Vec<DoctorFinding> {
    let config = checkup.config;
    let mut findings = vec![FILES.finding(within(checkup.check_media()).await)];
    findings.extend(decide::judge_disks(&disks(config)));
    if config.erasure.list_file.is_some() {
        findings.push(ERASURES.finding(within(checkup.check_erasures()).await.map(drop)));
    }
    if let Some(files) = config.listen.tls_files() {
        findings.push(examine_certificate(config, files));
    }
    findings
}

fn examine_certificate(config: &Config, files: &TlsFiles) -> DoctorFinding {
    let (pair, host) = match (certificate::read_valid(files), public_host(config)) {
        (Ok(pair), Some(host)) => (pair, host),
        (Err(error), _) => return CERTIFICATE.fault(&error),
        (Ok(_), None) => return DoctorFinding::ok(CERTIFICATE.check, CERTIFICATE.well),
    };
    let (is_for_host, expires_at) = (pair.is_for_host(&host), pair.expires_at());
    let facts = CertificateFacts { host: &host, is_for_host, expires_at };
    decide::judge_certificate(facts, SystemClock::start().now())
}

/// Returns the host of the public URL, an IPv6 address without brackets.
fn public_host(config: &Config) -> Option<String> {
    let url = Url::parse(&config.public_url()).ok()?;
    let host = url.host_str()?;
    Some(host.trim_start_matches('[').trim_end_matches(']').to_owned())
}

/// Returns the space of the disks to which the desk writes, and of those that the operator named. A folder that does not
/// exist has none.
pub(crate) fn disks(config: &Config) -> Vec<DiskSpace> {
    let place = &config.media.place;
    // A bucket is a URL.
    let media = Url::parse(place).is_err().then(|| Path::new(place));
    let files = [config.audit.anchor_file.as_deref(), config.erasure.list_file.as_deref()];
    let named = config.alerts.folders.iter().map(PathBuf::as_path);
    let folders = files.into_iter().flatten().map(folder_of).chain(media).chain(named);
    folders.filter_map(disk_space).collect()
}

fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    }
}

fn disk_space(folder: &Path) -> Option<DiskSpace> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    let free_bytes = disk.f_bavail.saturating_mul(disk.f_frsize);
    Some(DiskSpace { folder: folder.display().to_string(), free_bytes })
}
