//! What the locksmith asks of a store.

use async_trait::async_trait;
use nightdesk_types::{DataKeyId, StoreError, TenantId, TenantScope};
use uuid::Uuid;

use crate::{KekId, WrappedKey, kind};

/// A wrapped data key, where it lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrappedRow {
    /// Whose.
    pub tenant: TenantId,
    /// Which of theirs.
    pub key: DataKeyId,
    /// The key.
    pub wrapped: WrappedKey,
}

/// A data key that was wrapped again.
#[derive(Clone, Debug)]
pub struct Rewrapped {
    /// As it was.
    pub was: WrappedRow,
    /// As it is to be.
    pub wrapped: WrappedKey,
}

/// Where a secret of the desk's own lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnTable {
    /// Among the issuer's keys.
    SigningKeys,
    /// Among what the nodes share.
    DeskSecrets,
}

impl OwnTable {
    /// The kind that is bound into what lies there.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::SigningKeys => kind::SIGNING_KEY,
            Self::DeskSecrets => kind::DESK_SECRET,
        }
    }
}

/// A secret of the desk's own, sealed by a vault key itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnRow {
    /// Where it lies.
    pub table: OwnTable,
    /// In which row.
    pub row: Uuid,
    /// The sealed secret.
    pub sealed: Vec<u8>,
}

/// Where a tenant's secret lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealedTable {
    /// Among the secrets of gateways.
    GatewaySecrets,
    /// Among the keys of bots.
    BotKeys,
}

impl SealedTable {
    /// The kind that is bound into what lies there.
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
    /// Where it lies.
    pub table: SealedTable,
    /// In which row.
    pub row: Uuid,
    /// The sealed secret.
    pub sealed: Vec<u8>,
    /// Which data key seals it.
    pub key: DataKeyId,
    /// That key.
    pub wrapped: WrappedKey,
}

/// A tenant's secret that was sealed again, with another data key.
#[derive(Clone, Debug)]
pub struct Resealed {
    /// As it was.
    pub was: SealedRow,
    /// As it is to be.
    pub sealed: Vec<u8>,
}

/// Keeps what the locksmith works on. What changed meanwhile is left as it is.
#[async_trait]
pub trait Store: Send + Sync {
    /// The vault keys that wrap any data key. `None` stands for those from before keys had ids.
    async fn vault_keys(&self) -> Result<Vec<Option<KekId>>, StoreError>;

    /// Some of the data keys that a vault key wraps.
    async fn wrapped_by(&self, kek: Option<KekId>) -> Result<Vec<WrappedRow>, StoreError>;

    /// Replaces wrapped data keys. Answers how many were still as they had been.
    async fn rewrap(&self, rows: &[Rewrapped]) -> Result<u64, StoreError>;

    /// Every secret of the desk's own.
    async fn own_secrets(&self) -> Result<Vec<OwnRow>, StoreError>;

    /// Replaces a secret of the desk's own, if it is still as it was.
    async fn reseal_own(&self, was: &OwnRow, sealed: &[u8]) -> Result<bool, StoreError>;

    /// The secret of that name that the nodes share. If there is none, this one is entered.
    async fn shared_secret(&self, name: &str, first: &OwnRow) -> Result<OwnRow, StoreError>;

    /// A tenant's data keys, oldest first. Without any, there is no such tenant any more.
    async fn data_keys(&self, scope: TenantScope) -> Result<Vec<WrappedRow>, StoreError>;

    /// Enters a tenant's next data key. Answers whether its number was free.
    async fn add_data_key(&self, scope: TenantScope, row: &WrappedRow) -> Result<bool, StoreError>;

    /// Some of a tenant's secrets that older data keys than this one seal.
    async fn sealed_before(
        &self,
        scope: TenantScope,
        key: DataKeyId,
    ) -> Result<Vec<SealedRow>, StoreError>;

    /// Replaces secrets of a tenant by what this data key sealed. Answers how many were still as
    /// they had been.
    async fn reseal(
        &self,
        scope: TenantScope,
        key: DataKeyId,
        rows: &[Resealed],
    ) -> Result<u64, StoreError>;

    /// Takes a tenant's keys, bots, grants and secrets away and revokes its gateways, all at once.
    async fn erase(&self, scope: TenantScope) -> Result<(), StoreError>;

    /// Removes some of what an erased tenant's people and agents wrote. Answers how much.
    async fn erase_texts(&self, scope: TenantScope) -> Result<u64, StoreError>;

    /// Removes data keys that were replaced long enough ago and seal nothing, bots' keys that ended,
    /// and capabilities that ended. Answers how many of all.
    async fn forget_ended(&self) -> Result<u64, StoreError>;
}
