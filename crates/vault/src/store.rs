//! The store interface of the locksmith.

use async_trait::async_trait;
use nightdesk_types::{DataKeyId, StoreError, TenantId, TenantScope};
use uuid::Uuid;

use crate::{KekId, TenantState, WrappedKey, kind};

/// A wrapped data key in its row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrappedRow {
    /// The tenant.
    pub tenant: TenantId,
    /// The data key's number.
    pub key: DataKeyId,
    /// The wrapped key.
    pub wrapped: WrappedKey,
}

/// A data key that was wrapped again.
#[derive(Clone, Debug)]
pub struct RewrappedKey {
    /// The previous row.
    pub was: WrappedRow,
    /// The new wrapped key.
    pub wrapped: WrappedKey,
}

/// The table of one of the desk's own secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnTable {
    /// The issuer's keys.
    SigningKeys,
    /// The secrets that the nodes share.
    DeskSecrets,
}

impl OwnTable {
    /// Returns the kind that is bound into its values.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::SigningKeys => kind::SIGNING_KEY,
            Self::DeskSecrets => kind::DESK_SECRET,
        }
    }
}

/// One of the desk's own secrets, sealed by a vault key directly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnRow {
    /// Its table.
    pub table: OwnTable,
    /// Its row.
    pub row: Uuid,
    /// The sealed secret.
    pub sealed: Vec<u8>,
}

/// The table of a tenant's secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealedTable {
    /// The secrets of gateways.
    GatewaySecrets,
    /// The keys of bots.
    BotKeys,
}

impl SealedTable {
    /// Returns the kind that is bound into its values.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::GatewaySecrets => kind::GATEWAY_SECRET,
            Self::BotKeys => kind::BOT_KEY,
        }
    }
}

/// A tenant's secret, with the data key that seals it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedRow {
    /// Its table.
    pub table: SealedTable,
    /// Its row.
    pub row: Uuid,
    /// The sealed secret.
    pub sealed: Vec<u8>,
    /// The id of the data key that seals it.
    pub key: DataKeyId,
    /// That data key, wrapped.
    pub wrapped: WrappedKey,
}

/// A tenant's secret that was sealed again, with another data key.
#[derive(Clone, Debug)]
pub struct ResealedRow {
    /// The previous row.
    pub was: SealedRow,
    /// The new sealed secret.
    pub sealed: Vec<u8>,
}

/// Stores the values that the locksmith replaces. A value that changed meanwhile is not replaced.
#[async_trait]
pub trait Store: Send + Sync {
    /// Returns the vault keys that wrap any data key. `None` stands for keys from before keys had ids.
    async fn vault_keys(&self) -> Result<Vec<Option<KekId>>, StoreError>;

    /// Returns some of the data keys that a vault key wraps.
    async fn wrapped_by(&self, kek: Option<KekId>) -> Result<Vec<WrappedRow>, StoreError>;

    /// Replaces wrapped data keys. Returns the number of rows that were unchanged.
    async fn rewrap(&self, rows: &[RewrappedKey]) -> Result<u64, StoreError>;

    /// Returns every one of the desk's own secrets.
    async fn own_secrets(&self) -> Result<Vec<OwnRow>, StoreError>;

    /// Replaces one of the desk's own secrets, if it is unchanged.
    async fn reseal_own(&self, was: &OwnRow, sealed: &[u8]) -> Result<bool, StoreError>;

    /// Returns the secret of that name that the nodes share. If there is none, stores this one.
    async fn shared_secret(&self, name: &str, first: &OwnRow) -> Result<OwnRow, StoreError>;

    /// Returns a tenant's data keys, oldest first. If there is none, the tenant does not exist any more.
    async fn data_keys(&self, scope: TenantScope) -> Result<Vec<WrappedRow>, StoreError>;

    /// Stores a tenant's next data key. Returns true if its number was free.
    async fn add_data_key(&self, scope: TenantScope, row: &WrappedRow) -> Result<bool, StoreError>;

    /// Returns some of a tenant's secrets that are sealed by older data keys than this one.
    async fn sealed_before(
        &self,
        scope: TenantScope,
        key: DataKeyId,
    ) -> Result<Vec<SealedRow>, StoreError>;

    /// Replaces secrets of a tenant by values that this data key sealed. Returns the number of rows that were
    /// unchanged.
    async fn reseal(
        &self,
        scope: TenantScope,
        key: DataKeyId,
        rows: &[ResealedRow],
    ) -> Result<u64, StoreError>;

    /// Removes a tenant's keys, bots, grants, sessions and secrets and revokes its gateways, in one transaction.
    async fn erase(&self, scope: TenantScope) -> Result<(), StoreError>;

    /// Removes some of an erased tenant's texts and other rows. Returns their number.
    async fn erase_texts(&self, scope: TenantScope) -> Result<u64, StoreError>;

    /// Returns the tenants of this list that are not erased, and the erased ones that are not on it.
    async fn compare_erasures(&self, listed: &[TenantId]) -> Result<Vec<TenantState>, StoreError>;

    /// Removes data keys that were replaced long enough ago and seal nothing, expired bot keys, and expired
    /// capabilities. Returns the number of removed rows.
    async fn forget_ended(&self) -> Result<u64, StoreError>;
}
