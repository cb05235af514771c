//! Seals messages before they are written, and opens them after they were read.
//!
//! Methods seal and open outside of their transactions, with data keys that are held opened in memory. A key that is
//! missing there is read once, for all callers' next messages.

use std::collections::HashMap;
use std::sync::Arc;

use moka::policy::EvictionPolicy;
use moka::sync::Cache;
use nightdesk_types::limits::{DATA_KEY_OPENED_FOR, DATA_KEY_SEALS_FOR, DATA_KEYS_OPENED_MAX};
use nightdesk_types::{AgentId, BotId, DataKeyId, Incarnation, StoreError, TenantId, TenantScope};
use nightdesk_vault::{
    BodyId, BodyKind, BodyOwner, DataKey, KekId, OpenError, Vault, WrappedKey, WrappedRow,
};
use uuid::Uuid;

use crate::Pg;
use crate::history::HistoryWatch;
use crate::vault::wrapped_row;

/// Names the work in errors and spans.
const READ_KEYS: &str = "read data keys";

/// A sealed message, as the columns of its row.
#[derive(Clone, Debug)]
pub(crate) struct SealedBody {
    /// The data key that seals it.
    pub(crate) key: DataKeyId,
    /// The id that is bound into it.
    pub(crate) id: BodyId,
    /// The sealed bytes.
    pub(crate) bytes: Vec<u8>,
}

impl SealedBody {
    /// Reads a sealed message from the columns of its row.
    pub(crate) const fn from_row(key: i64, id: Uuid, bytes: Vec<u8>) -> Self {
        Self { key: DataKeyId::new(key), id: BodyId::from_uuid(id), bytes }
    }

    /// Returns the placeholder for a tenant without a data key. The store refuses to keep it.
    pub(crate) fn without_key() -> Self {
        Self { key: DataKeyId::new(0), id: BodyId::from_uuid(Uuid::nil()), bytes: Vec::new() }
    }
}

/// The columns of a sealed message that may be missing.
pub(crate) struct SealedColumns {
    pub(crate) bytes: Option<Vec<u8>>,
    pub(crate) key: Option<i64>,
    pub(crate) id: Option<Uuid>,
}

impl SealedColumns {
    /// Returns the columns of a sealed message, all of them null if there is none.
    pub(crate) fn new(sealed: Option<SealedBody>) -> Self {
        match sealed {
            Some(SealedBody { key, id, bytes }) => {
                Self { bytes: Some(bytes), key: Some(key.get()), id: Some(id.uuid()) }
            }
            None => Self { bytes: None, key: None, id: None },
        }
    }

    /// Returns the sealed message, if the columns have one.
    pub(crate) fn sealed(self) -> Option<SealedBody> {
        Some(SealedBody::from_row(self.key?, self.id?, self.bytes?))
    }
}

/// Returns the owner of a message for an agent.
pub(crate) const fn message_owner(scope: TenantScope, agent: AgentId) -> BodyOwner {
    BodyOwner { tenant: scope.tenant(), party: agent.uuid(), kind: BodyKind::Message }
}

/// Returns the owner of a body that belongs to a bot and to no agent.
pub(crate) const fn bot_owner(operator: TenantScope, bot: BotId, kind: BodyKind) -> BodyOwner {
    BodyOwner { tenant: operator.tenant(), party: bot.uuid(), kind }
}

/// The opened data keys of tenants. They are of one history of the database: a database that lost a key may give its
/// number to another.
pub(crate) struct BodyKeys {
    vault: Vault,
    history: Arc<HistoryWatch>,
    /// The key with which each tenant's messages are sealed.
    newest: Cache<(Option<Incarnation>, TenantId), DataKeyId>,
    opened: Cache<(Option<Incarnation>, KeyPlace), Arc<DataKey>>,
}

/// A data key's tenant and number.
type KeyPlace = (TenantId, DataKeyId);

nightdesk_types::opaque_debug!(BodyKeys);

/// The tenant was erased.
#[derive(Debug, thiserror::Error)]
#[error("the tenant has no data key; it was erased")]
struct NoDataKey;

/// The node lacks the vault key that wraps a data key.
#[derive(Debug, thiserror::Error)]
#[error("a data key is wrapped by vault key {0}, which this node does not have")]
struct MissingVaultKey(KekId);

impl BodyKeys {
    /// Creates the cache of a desk with this vault.
    pub(crate) fn new(vault: Vault, history: Arc<HistoryWatch>) -> Self {
        let newest = Cache::builder()
            .max_capacity(DATA_KEYS_OPENED_MAX)
            .eviction_policy(EvictionPolicy::lru())
            .time_to_live(DATA_KEY_SEALS_FOR)
            .build();
        let opened = Cache::builder()
            .max_capacity(DATA_KEYS_OPENED_MAX)
            .eviction_policy(EvictionPolicy::lru())
            .time_to_live(DATA_KEY_OPENED_FOR)
            .build();
        Self { vault, history, newest, opened }
    }

    /// Asks for the newest keys of these tenants again before it seals. The store refused a message of theirs.
    pub(crate) fn forget_newest(&self, tenants: impl IntoIterator<Item = TenantId>) {
        let history = self.history.incarnation();
        for tenant in tenants {
            self.newest.invalidate(&(history, tenant));
        }
    }

    fn newest_key(
        &self,
        history: Option<Incarnation>,
        tenant: TenantId,
    ) -> Option<(DataKeyId, Arc<DataKey>)> {
        let id = self.newest.get(&(history, tenant))?;
        Some((id, self.opened.get(&(history, (tenant, id)))?))
    }

    /// Unwraps a key and keeps it. An error means that this node lacks the vault key; a key that does not open with
    /// its vault key is broken.
    fn unwrap(
        &self,
        history: Option<Incarnation>,
        row: &WrappedRow,
    ) -> Result<Result<Arc<DataKey>, OpenError>, MissingVaultKey> {
        let WrappedRow { tenant, key, wrapped } = row;
        match self.vault.unwrap(*tenant, *key, wrapped) {
            Ok(opened) => {
                let opened = Arc::new(opened);
                self.opened.insert((history, (*tenant, *key)), Arc::clone(&opened));
                Ok(Ok(opened))
            }
            Err(broken) => match lacking(&self.vault, wrapped) {
                Some(missing) => Err(MissingVaultKey(missing)),
                None => Ok(Err(broken)),
            },
        }
    }
}

fn lacking(vault: &Vault, wrapped: &WrappedKey) -> Option<KekId> {
    wrapped.vault_key().filter(|kek| !vault.has_key(*kek))
}

/// The keys that seal the messages of one call.
pub(crate) struct SealingKeys(HashMap<TenantId, (DataKeyId, Arc<DataKey>)>);

impl SealingKeys {
    /// Seals a message under a new id. `None`: its tenant has no data key, because it was erased.
    pub(crate) fn seal(&self, owner: &BodyOwner, body: &[u8]) -> Option<SealedBody> {
        let (key, data_key) = self.0.get(&owner.tenant)?;
        let id = BodyId::random();
        Some(SealedBody { key: *key, id, bytes: data_key.seal_body(owner, id, body) })
    }
}

/// The keys that open the messages of one call.
pub(crate) struct OpeningKeys(HashMap<KeyPlace, Arc<DataKey>>);

impl OpeningKeys {
    /// Opens a message. One that does not open is reported to the operator, and is the caller's to set aside.
    pub(crate) fn open(&self, owner: &BodyOwner, sealed: SealedBody) -> Result<Vec<u8>, OpenError> {
        let SealedBody { key, id, bytes } = sealed;
        let data_key = self.0.get(&(owner.tenant, key)).ok_or(OpenError);
        let opened = data_key.and_then(|data_key| data_key.open_body(owner, id, bytes));
        opened.inspect_err(|_| {
            tracing::error!(
                tenant.id = %owner.tenant,
                owner.id = %owner.party,
                body.kind = owner.kind.slug(),
                body.id = %id.uuid(),
                key.id = key.get(),
                "a stored message does not open: it was changed, moved, or its key is gone"
            );
        })
    }
}

impl Pg {
    /// Returns the keys that seal messages of these tenants. An erased tenant has none.
    pub(crate) async fn sealing_keys(
        &self,
        tenants: impl IntoIterator<Item = TenantId>,
    ) -> Result<SealingKeys, StoreError> {
        let history = self.history.incarnation();
        let (mut keys, mut missing) = (HashMap::new(), Vec::new());
        for tenant in tenants {
            if keys.contains_key(&tenant) {
                continue;
            }
            match self.bodies.newest_key(history, tenant) {
                Some(key) => drop(keys.insert(tenant, key)),
                None => missing.push(tenant.uuid()),
            }
        }
        if missing.is_empty() {
            return Ok(SealingKeys(keys));
        }
        missing.sort_unstable();
        missing.dedup();
        for row in self.read_newest_keys(missing).await? {
            let key = self.bodies.unwrap(history, &row);
            let key = key.map_err(|missing| StoreError::unavailable(READ_KEYS, missing))?;
            let key = key.map_err(|broken| StoreError::broken(READ_KEYS, broken))?;
            self.bodies.newest.insert((history, row.tenant), row.key);
            keys.insert(row.tenant, (row.key, key));
        }
        Ok(SealingKeys(keys))
    }

    /// Returns the keys that open messages which these keys sealed. A key that is gone or broken is left out.
    pub(crate) async fn opening_keys(
        &self,
        sealed: impl IntoIterator<Item = KeyPlace>,
    ) -> Result<OpeningKeys, StoreError> {
        let history = self.history.incarnation();
        let (mut keys, mut missing) = (HashMap::new(), Vec::new());
        for place in sealed {
            if keys.contains_key(&place) || missing.contains(&place) {
                continue;
            }
            match self.bodies.opened.get(&(history, place)) {
                Some(key) => drop(keys.insert(place, key)),
                None => missing.push(place),
            }
        }
        if missing.is_empty() {
            return Ok(OpeningKeys(keys));
        }
        for row in self.read_keys(&missing).await? {
            let key = self.bodies.unwrap(history, &row);
            let key = key.map_err(|missing| StoreError::unavailable(READ_KEYS, missing))?;
            keys.extend(key.ok().map(|key| ((row.tenant, row.key), key)));
        }
        Ok(OpeningKeys(keys))
    }

    /// Seals one message.
    pub(crate) async fn seal_body(
        &self,
        owner: &BodyOwner,
        body: &[u8],
    ) -> Result<SealedBody, StoreError> {
        let sealed = self.sealing_keys([owner.tenant]).await?.seal(owner, body);
        sealed.ok_or_else(|| StoreError::broken(READ_KEYS, NoDataKey))
    }

    /// Opens one message. The inner error is the message's own: it is damaged.
    pub(crate) async fn open_body(
        &self,
        owner: &BodyOwner,
        sealed: SealedBody,
    ) -> Result<Result<Vec<u8>, OpenError>, StoreError> {
        let keys = self.opening_keys([(owner.tenant, sealed.key)]).await?;
        Ok(keys.open(owner, sealed))
    }

    async fn read_newest_keys(&self, tenants: Vec<Uuid>) -> Result<Vec<WrappedRow>, StoreError> {
        run_to_end!(self.single(READ_KEYS), |connection| {
            let rows = sqlx::query!(
                r#"select tenant_id as "tenant!", key_id as "key!", wrapped as "wrapped!"
                   from data_keys_newest($1)"#,
                &tenants
            )
            .fetch_all(connection)
            .await?;
            Ok(rows.into_iter().map(|row| wrapped_row(row.tenant, row.key, row.wrapped)).collect())
        })
    }

    async fn read_keys(&self, keys: &[KeyPlace]) -> Result<Vec<WrappedRow>, StoreError> {
        let (tenants, numbers): (Vec<Uuid>, Vec<i64>) =
            keys.iter().map(|(tenant, key)| (tenant.uuid(), key.get())).unzip();
        run_to_end!(self.single(READ_KEYS), |connection| {
            let rows = sqlx::query!(
                r#"select tenant_id as "tenant!", key_id as "key!", wrapped as "wrapped!"
                   from data_keys_numbered($1, $2)"#,
                &tenants,
                &numbers
            )
            .fetch_all(connection)
            .await?;
            Ok(rows.into_iter().map(|row| wrapped_row(row.tenant, row.key, row.wrapped)).collect())
        })
    }
}
