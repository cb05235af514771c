//! Replaces keys while the desk serves.
//!
//! Each step is one transaction and replaces only values that are unchanged since they were read. So the process can be
//! killed at any point and started again, and two concurrent runs do no harm.

use std::sync::Arc;

use fail::fail_point;
use nightdesk_types::{DataKeyId, StoreError, TenantScope};
use uuid::Uuid;

use crate::envelope::{OpenError, SealPlace};
use crate::store::{ResealedRow, RewrappedKey, SealedRow, Store, WrappedRow};
use crate::{
    DataKey, ErasureList, ErasurePlan, KekId, Key, OwnRow, OwnTable, Vault, kind, plan_erasures,
};

/// The reason that a key was not replaced.
#[derive(Debug, thiserror::Error)]
pub enum RekeyError {
    /// The store failed.
    #[error("keys could not be read or written")]
    Store(#[from] StoreError),
    /// A value does not open.
    #[error("a sealed value does not open with this desk's vault keys")]
    Sealed(#[from] OpenError),
    /// A value is sealed by a vault key that this desk does not have.
    #[error(
        "data keys are wrapped by vault key {0}, which this desk does not have; add its file to \
         vault.old_key_files"
    )]
    Missing(KekId),
    /// The tenant was erased.
    #[error("the tenant has no keys any more; it was erased")]
    Erased,
}

/// Replaces keys.
pub struct Locksmith {
    store: Arc<dyn Store>,
    vault: Vault,
}

nightdesk_types::opaque_debug!(Locksmith);

impl Locksmith {
    /// Creates a locksmith for this store and vault.
    pub fn new(store: Arc<dyn Store>, vault: Vault) -> Self {
        Self { store, vault }
    }

    /// Checks that this desk has every vault key that sealed a stored value.
    pub async fn check(&self) -> Result<(), RekeyError> {
        let keys = self.store.vault_keys().await?;
        match keys.into_iter().flatten().find(|kek| !self.vault.has_key(*kek)) {
            Some(missing) => Err(RekeyError::Missing(missing)),
            None => Ok(()),
        }
    }

    /// Wraps every data key, and seals every secret of the desk itself, with the current sealing key. Returns their
    /// number.
    pub async fn rotate(&self) -> Result<u64, RekeyError> {
        self.check().await?;
        let mut done = self.reseal_own().await?;
        let sealing = Some(self.vault.sealing_key());
        for kek in self.store.vault_keys().await?.into_iter().filter(|kek| *kek != sealing) {
            loop {
                let rows = self.store.wrapped_by(kek).await?;
                if rows.is_empty() {
                    break;
                }
                done += self.rewrap(rows).await?;
                fail_point!("vault::batch_rewritten");
            }
        }
        Ok(done)
    }

    async fn rewrap(&self, rows: Vec<WrappedRow>) -> Result<u64, RekeyError> {
        let rewrapped = |was: WrappedRow| {
            let wrapped = self.vault.rewrap(was.tenant, was.key, &was.wrapped)?;
            Ok(RewrappedKey { was, wrapped })
        };
        let rows: Result<Vec<_>, OpenError> = rows.into_iter().map(rewrapped).collect();
        Ok(self.store.rewrap(&rows?).await?)
    }

    async fn reseal_own(&self) -> Result<u64, RekeyError> {
        let mut done = 0;
        for was in self.store.own_secrets().await? {
            let sealed = self.vault.reseal_own(was.table.kind(), was.row, &was.sealed)?;
            done += u64::from(self.store.reseal_own(&was, &sealed).await?);
        }
        Ok(done)
    }

    /// Returns a secret that all nodes share, independent of the current sealing key. The first node derives it as it
    /// was derived before there were several vault keys.
    pub async fn shared_secret(&self, name: &'static str) -> Result<Key, RekeyError> {
        let (table, row) = (OwnTable::DeskSecrets, Uuid::from_u128(row_of(name)));
        let derived = Key::new(hex::encode(*self.vault.derive(name)));
        let sealed = self.vault.seal_own(kind::DESK_SECRET, row, &derived);
        let stored = self.store.shared_secret(name, &OwnRow { table, row, sealed }).await?;
        Ok(self.vault.open_own(kind::DESK_SECRET, stored.row, &stored.sealed)?)
    }

    /// Gives a tenant a new data key, and seals its secrets with it. Values under the old key still open meanwhile.
    /// Returns the number of secrets.
    pub async fn rotate_tenant(&self, scope: TenantScope) -> Result<u64, RekeyError> {
        let (id, key) = self.next_data_key(scope).await?;
        let mut done = 0;
        loop {
            let rows = self.store.sealed_before(scope, id).await?;
            if rows.is_empty() {
                return Ok(done);
            }
            let resealed: Result<Vec<_>, OpenError> =
                rows.into_iter().map(|was| self.reseal_row(scope, &key, was)).collect();
            done += self.store.reseal(scope, id, &resealed?).await?;
            fail_point!("vault::batch_rewritten");
        }
    }

    async fn next_data_key(&self, scope: TenantScope) -> Result<(DataKeyId, DataKey), RekeyError> {
        loop {
            let keys = self.store.data_keys(scope).await?;
            let newest = keys.last().ok_or(RekeyError::Erased)?.key;
            let id = DataKeyId::new(newest.get() + 1);
            let tenant = scope.tenant();
            let (key, wrapped) = self.vault.new_data_key(tenant, id);
            let row = WrappedRow { tenant, key: id, wrapped };
            if self.store.add_data_key(scope, &row).await? {
                return Ok((id, key));
            }
        }
    }

    fn reseal_row(
        &self,
        scope: TenantScope,
        with: &DataKey,
        was: SealedRow,
    ) -> Result<ResealedRow, OpenError> {
        let tenant = scope.tenant();
        let place = SealPlace { tenant, kind: was.table.kind(), row: was.row };
        let secret = self.vault.unwrap(tenant, was.key, &was.wrapped)?.open(&place, &was.sealed)?;
        Ok(ResealedRow { sealed: with.seal(&place, &secret), was })
    }

    /// Compares the tenants with the list of erased ones.
    pub async fn plan_erasures(&self, list: &ErasureList) -> Result<ErasurePlan, RekeyError> {
        let listed = list.tenants();
        let tenants: Vec<_> = listed.iter().copied().collect();
        let states = self.store.compare_erasures(&tenants).await?;
        Ok(plan_erasures(&listed, &states))
    }

    /// Erases a tenant: first its keys, so that none of its values opens from then on, then its texts. Returns the
    /// number of removed texts.
    pub async fn erase(&self, scope: TenantScope) -> Result<u64, RekeyError> {
        self.store.erase(scope).await?;
        let mut texts = 0;
        loop {
            match self.store.erase_texts(scope).await? {
                0 => return Ok(texts),
                some => texts += some,
            }
        }
    }
}

/// Returns a row number derived from the name: names are few and fixed.
fn row_of(name: &str) -> u128 {
    name.bytes().fold(0, |number, byte| number << 8 | u128::from(byte))
}
