//! The register: the only place that opens sealed secrets of identities.

mod caller;
mod capability;
mod enrolment;
mod linking;
mod provision;

use std::sync::Arc;
use std::time::Duration;

use nightdesk_port::Bot;
use nightdesk_protocol::upgrade_token::PlausibleToken;
use nightdesk_types::{Actor, AgentId, BotId, DataKeyId, GatewayId, TenantId, TenantScope};
use nightdesk_vault::kind::{BOT_KEY, GATEWAY_SECRET};
use nightdesk_vault::{DataKey, Key, OpenError, SealPlace, Vault, WrappedKey};
use serde_json::Value;

use crate::account::{NewBot, StoredBot, StoredBotKey, is_hook_path};
use crate::error::RegisterError;
use crate::gateway::{self, Candidate, GatewayProof, UnknownGateway};
use crate::random::{new_secret, random_bytes, random_id};
use crate::secret::{NewSecret, StoredSecret};
use crate::store::Store;
use crate::unopened::UnopenedSecrets;

/// Creates and identifies tenants, gateways and bots.
pub struct Register {
    store: Arc<dyn Store>,
    vault: Vault,
    unopened: UnopenedSecrets,
}

nightdesk_types::opaque_debug!(Register);

impl Register {
    /// Creates a register over this store; the vault opens stored secrets.
    pub fn new(store: Arc<dyn Store>, vault: Vault) -> Self {
        Self { store, vault, unopened: UnopenedSecrets::default() }
    }

    /// Returns the store, for operations that need no key.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Creates a tenant with its own data key.
    pub async fn create_tenant(&self, by: Actor, name: &str) -> Result<TenantId, RegisterError> {
        let id = TenantId::from_uuid(random_id());
        let (_, wrapped) = self.vault.new_data_key(id, DataKeyId::new(1));
        let scope = TenantScope::for_tenant(id).with_actor(by);
        self.store.create_tenant(scope, name, &wrapped).await?;
        Ok(id)
    }

    /// Creates a gateway of an agent and returns its first secret.
    pub async fn create_gateway(
        &self,
        scope: TenantScope,
        agent: AgentId,
        name: &str,
    ) -> Result<(GatewayId, Key), RegisterError> {
        let (key_id, data_key) = self.data_key(scope).await?;
        let secret = new_secret();
        let new = seal_gateway_secret(&data_key, key_id, scope, &secret);
        let id = self.store.create_gateway(scope, agent, name, &new).await?;
        Ok((id, secret))
    }

    /// Gives a gateway a new secret. Its earlier secrets stay valid for the given time.
    pub async fn rotate(
        &self,
        scope: TenantScope,
        name: &str,
        overlap: Duration,
    ) -> Result<Option<Key>, RegisterError> {
        let (key_id, data_key) = self.data_key(scope).await?;
        let secret = new_secret();
        let new = seal_gateway_secret(&data_key, key_id, scope, &secret);
        let found = self.store.rotate(scope, name, &new, overlap).await?;
        Ok(found.map(|_| secret))
    }

    /// Identifies the gateway of a dial. `None`: no gateway's secret signed its token.
    ///
    /// Gateways of several tenants may have the name. A secret that does not open is reported and does not keep the
    /// others from being tried. If none of them signed the token, that secret may have, so the result is its error.
    pub async fn identify(
        &self,
        token: &PlausibleToken,
    ) -> Result<Option<GatewayProof>, RegisterError> {
        let stored = self.store.gateways_named(token.gateway()).await?;
        let (mut candidates, mut unopened) = (Vec::with_capacity(stored.len()), None);
        for secret in &stored {
            match self.open_secret(secret) {
                Ok(candidate) => candidates.push(candidate),
                Err(error) => {
                    self.unopened.report(secret, &error);
                    unopened = Some(error);
                }
            }
        }
        match (gateway::decide(token, &candidates), unopened) {
            (Ok(proof), _) => Ok(Some(proof)),
            (Err(UnknownGateway), Some(error)) => Err(error),
            (Err(UnknownGateway), None) => Ok(None),
        }
    }

    fn open_secret(&self, stored: &StoredSecret) -> Result<Candidate, RegisterError> {
        let tenant = stored.gateway.scope.tenant();
        let place = SealPlace { tenant, kind: GATEWAY_SECRET, row: stored.secret_id };
        let key = self.vault.unwrap(tenant, stored.key, &stored.wrapped)?;
        Ok(Candidate {
            gateway: stored.gateway,
            secret: key.open(&place, &stored.sealed)?,
            revoked: stored.revoked,
            expired: stored.expired,
        })
    }

    /// Creates a bot with its key.
    pub async fn create_bot(
        &self,
        scope: TenantScope,
        bot: BotDraft,
    ) -> Result<(BotId, String), RegisterError> {
        let (key_id, data_key) = self.data_key(scope).await?;
        let id = random_id();
        let place = SealPlace { tenant: scope.tenant(), kind: BOT_KEY, row: id };
        let path = hex::encode(random_bytes::<16>());
        let new = NewBot {
            id,
            platform: bot.platform,
            adapter: bot.adapter,
            handle: bot.handle,
            path: path.clone(),
            settings: bot.settings,
            sealed: bot.key.map(|key| (data_key.seal(&place, &key), key_id)),
        };
        Ok((self.store.create_bot(scope, &new).await?, path))
    }

    /// Returns the bot whose webhook has this path, and the name of its adapter.
    pub async fn bot_at(&self, path: &str) -> Result<Option<(Bot, String)>, RegisterError> {
        if !is_hook_path(path) {
            return Ok(None);
        }
        let stored = self.store.bot_at(path).await?;
        stored.map(|stored| self.open_stored_bot(stored)).transpose()
    }

    /// Returns the bot of this id, and the name of its adapter.
    pub async fn bot(&self, id: BotId) -> Result<Option<(Bot, String)>, RegisterError> {
        let stored = self.store.bot(id).await?;
        stored.map(|stored| self.open_stored_bot(stored)).transpose()
    }

    fn open_stored_bot(&self, stored: StoredBot) -> Result<(Bot, String), RegisterError> {
        let open = |key: &StoredBotKey| {
            let place = SealPlace { tenant: stored.operator, kind: BOT_KEY, row: key.row };
            self.vault.unwrap(stored.operator, key.key, &key.wrapped)?.open(&place, &key.sealed)
        };
        let keys: Result<Vec<Key>, OpenError> = stored.keys.iter().map(open).collect();
        let mut keys = keys?.into_iter();
        let bot = Bot {
            id: stored.id,
            operator: TenantScope::for_tenant(stored.operator),
            platform: stored.platform,
            handle: stored.handle,
            settings: stored.settings,
            key: keys.next(),
            former_keys: keys.collect(),
        };
        Ok((bot, stored.adapter))
    }

    /// Gives a bot a new key. Its earlier keys stay valid for the given time. Returns true if the operator has such a
    /// bot.
    pub async fn rotate_bot_key(
        &self,
        scope: TenantScope,
        bot: BotId,
        key: &Key,
        overlap: Duration,
    ) -> Result<bool, RegisterError> {
        let (key_id, data_key) = self.data_key(scope).await?;
        let new = seal_secret(BOT_KEY, &data_key, key_id, scope, key);
        Ok(self.store.rotate_bot_key(scope, bot, &new, overlap).await?)
    }

    fn unwrap(
        &self,
        scope: TenantScope,
        id: DataKeyId,
        wrapped: &WrappedKey,
    ) -> Result<DataKey, OpenError> {
        self.vault.unwrap(scope.tenant(), id, wrapped)
    }

    async fn data_key(&self, scope: TenantScope) -> Result<(DataKeyId, DataKey), RegisterError> {
        let (id, wrapped) = self.store.data_key(scope).await?;
        Ok((id, self.unwrap(scope, id, &wrapped)?))
    }
}

/// An operator's description of a bot.
#[derive(Debug)]
pub struct BotDraft {
    /// The platform's name, as clients see it.
    pub platform: String,
    /// The adapter that serves the bot.
    pub adapter: String,
    /// The bot's handle on the platform.
    pub handle: String,
    /// Further settings of the adapter.
    pub settings: Value,
    /// The key to its account.
    pub key: Option<Key>,
}

fn seal_gateway_secret(
    data_key: &DataKey,
    key: DataKeyId,
    scope: TenantScope,
    secret: &Key,
) -> NewSecret {
    seal_secret(GATEWAY_SECRET, data_key, key, scope, secret)
}

fn seal_secret(
    kind: &'static str,
    data_key: &DataKey,
    key: DataKeyId,
    scope: TenantScope,
    secret: &Key,
) -> NewSecret {
    let id = random_id();
    let place = SealPlace { tenant: scope.tenant(), kind, row: id };
    NewSecret { id, sealed: data_key.seal(&place, secret), key }
}
