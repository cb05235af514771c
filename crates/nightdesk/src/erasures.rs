//! The file with the list of erased tenants, and its comparison with the database.
//!
//! The file is locked for each change: the operator's command and several nodes may write at once. A list that does not
//! verify stops the start of a node.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, ensure};
use nightdesk_store_pg::Pg;
use nightdesk_types::limits::ERASURE_LIST_BYTES_MAX;
use nightdesk_types::{Clock, SystemClock, TenantId};
use nightdesk_vault::{ErasureList, ListedErasure, Locksmith, Vault};

use crate::command::names;
use crate::config::Config;

/// The list of erased tenants of a desk.
pub(crate) struct Erasures {
    file: PathBuf,
    vault: Vault,
    locksmith: Locksmith,
}

impl Erasures {
    /// Returns the list, if one is configured.
    pub(crate) fn open(config: &Config, pg: &Arc<Pg>, vault: &Vault) -> Option<Self> {
        let file = config.erasure.list_file.clone()?;
        let locksmith = Locksmith::new(Arc::<Pg>::clone(pg), vault.clone());
        Some(Self { file, vault: vault.clone(), locksmith })
    }

    /// Verifies the list. Returns the number of erased tenants.
    pub(crate) async fn verify(&self) -> anyhow::Result<usize> {
        Ok(self.in_background(read_list).await?.tenants().len())
    }

    /// Adds tenants to the list.
    pub(crate) async fn add(&self, tenants: Vec<TenantId>) -> anyhow::Result<()> {
        let at = SystemClock::start().now();
        self.in_background(move |path, vault| {
            let mut file = LockedList::open(path)?;
            let mut list = file.read(vault)?;
            let listed = list.tenants();
            // Another node may have added them meanwhile.
            let lacking = tenants.into_iter().filter(|tenant| !listed.contains(tenant));
            let erasures = lacking.map(|tenant| ListedErasure { at, tenant });
            let lines: String = erasures.map(|erasure| list.add(erasure, vault)).collect();
            file.append(&lines)
        })
        .await
    }

    /// Erases the tenants again that a restore brought back, and adds the erased ones that the list lacks.
    pub(crate) async fn apply(&self) -> anyhow::Result<()> {
        let list = self.in_background(read_list).await?;
        let plan = self.locksmith.plan_erasures(&list).await?;
        if !plan.list.is_empty() {
            log_added(plan.list.len(), &self.file);
            self.add(plan.list).await?;
        }
        for tenant in plan.erase {
            // The operator ordered it when the tenant was put on the list.
            self.locksmith.erase(names::operator_scope(tenant)).await?;
            log_erased_again(tenant);
        }
        Ok(())
    }

    /// Signs every line with the current sealing key, so that earlier keys are not needed any more.
    pub(crate) async fn sign_again(&self) -> anyhow::Result<()> {
        self.in_background(|path, vault| {
            let mut file = LockedList::open(path)?;
            let text = file.read(vault)?.sign_again(vault);
            file.replace(path, &text)
        })
        .await
    }

    /// Works on the file on a blocking thread, because a disk may be slow and another process may hold the lock.
    async fn in_background<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Path, &Vault) -> anyhow::Result<T> + Send + 'static,
    ) -> anyhow::Result<T> {
        let (path, vault) = (self.file.clone(), self.vault.clone());
        let done = tokio::task::spawn_blocking(move || work(&path, &vault)).await?;
        done.with_context(|| {
            format!(
                "erasure.list_file {} cannot be used; without it, erased tenants may be back",
                self.file.display()
            )
        })
    }
}

fn log_added(count: usize, file: &Path) {
    let file = file.display();
    tracing::warn!("{count} erased tenants were missing in {file} and are on it now");
}

fn log_erased_again(tenant: TenantId) {
    tracing::warn!(%tenant, "tenant {tenant} was in the restored database; it is erased again");
}

/// Reads the list. A file that does not exist yet is an empty list.
fn read_list(path: &Path, vault: &Vault) -> anyhow::Result<ErasureList> {
    match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(ErasureList::default()),
        opened => {
            let file = opened?;
            file.lock_shared()?;
            parse(file, vault)
        }
    }
}

fn parse(file: impl Read, vault: &Vault) -> anyhow::Result<ErasureList> {
    let mut text = String::new();
    file.take(ERASURE_LIST_BYTES_MAX + 1).read_to_string(&mut text)?;
    ensure!(
        text.len() as u64 <= ERASURE_LIST_BYTES_MAX,
        "it is longer than {ERASURE_LIST_BYTES_MAX} bytes; is it another file?"
    );
    Ok(ErasureList::read(&text, vault)?)
}

/// The file, open for a change. Other processes wait until it is dropped.
struct LockedList(File);

impl LockedList {
    fn open(path: &Path) -> anyhow::Result<Self> {
        let file = OpenOptions::new().create(true).read(true).append(true).open(path)?;
        file.lock()?;
        Ok(Self(file))
    }

    fn read(&self, vault: &Vault) -> anyhow::Result<ErasureList> {
        parse(&self.0, vault)
    }

    fn append(&mut self, lines: &str) -> anyhow::Result<()> {
        self.0.write_all(lines.as_bytes())?;
        Ok(self.0.sync_all()?)
    }

    /// Replaces the text. The copy beside the file has every line if the process ends in between.
    fn replace(&mut self, path: &Path, text: &str) -> anyhow::Result<()> {
        std::fs::copy(path, path.with_extension("before"))?;
        self.0.set_len(0)?;
        self.append(text)
    }
}
