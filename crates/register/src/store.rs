//! The store interface of the register.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_types::{
    AgentId, BotId, DataKeyId, GatewayId, StoreError, TenantId, TenantScope, Timestamp,
};
use nightdesk_vault::WrappedKey;

use crate::account::{NewBot, StoredBot};
use crate::audit::Auditing;
use crate::capability::CapabilityStore;
use crate::command::CommandStore;
use crate::enrolment::Enrolling;
use crate::gateway::GatewayProof;
use crate::issuer::store::{Issuing, Sessions};
use crate::linking::Linking;
use crate::listing::Listing;
use crate::managing::Managing;
use crate::provision::Provisioning;
use crate::quota::Quotas;
use crate::reaching::Reaching;
use crate::reception::ReceptionStore;
use crate::secret::{NewSecret, StoredSecret};

/// A bot that an agent may speak as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GreetedBot {
    /// Its id.
    pub id: BotId,
    /// Its platform's name.
    pub platform: String,
    /// Its handle on the platform.
    pub handle: String,
}

/// Creates identities.
#[async_trait]
pub trait IdentityStore: Send + Sync {
    /// Creates the tenant of a scope with its first data key.
    async fn create_tenant(
        &self,
        scope: TenantScope,
        name: &str,
        key: &WrappedKey,
    ) -> Result<(), StoreError>;

    /// Returns the tenant's newest data key.
    async fn data_key(&self, scope: TenantScope) -> Result<(DataKeyId, WrappedKey), StoreError>;

    /// Creates an agent with an empty inbox.
    async fn create_agent(&self, scope: TenantScope, name: &str) -> Result<AgentId, StoreError>;

    /// Creates a bot.
    async fn create_bot(&self, scope: TenantScope, bot: &NewBot) -> Result<BotId, StoreError>;
}

/// Stores gateways and their secrets.
#[async_trait]
pub trait Gateways: Send + Sync {
    /// Creates a gateway with its first secret.
    async fn create_gateway(
        &self,
        scope: TenantScope,
        agent: AgentId,
        name: &str,
        secret: &NewSecret,
    ) -> Result<GatewayId, StoreError>;

    /// Gives a gateway a new secret; its earlier secrets stay valid for the given time. `None`: the tenant has no such
    /// gateway, or it was revoked.
    async fn rotate(
        &self,
        scope: TenantScope,
        name: &str,
        secret: &NewSecret,
        overlap: Duration,
    ) -> Result<Option<GatewayId>, StoreError>;

    /// Revokes a gateway. Returns true if the tenant has one of that name.
    async fn revoke(&self, scope: TenantScope, name: &str) -> Result<bool, StoreError>;

    /// Returns every secret of every gateway of that name, over all tenants.
    async fn gateways_named(&self, name: &str) -> Result<Vec<StoredSecret>, StoreError>;

    /// Returns the gateway as which an agent dials that presents an issuer's token: it has no secret, and no upgrade
    /// token can name it. It is created at the first request. `None`: the tenant has no such agent.
    async fn gateway_for_tokens(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Option<GatewayProof>, StoreError>;

    /// Returns the gateways that were revoked within this time, over all tenants.
    async fn revoked_within(
        &self,
        span: Duration,
    ) -> Result<Vec<(TenantId, GatewayId)>, StoreError>;
}

/// Finds bots and nodes.
#[async_trait]
pub trait Bots: Send + Sync {
    /// Returns the bot whose webhook has this path.
    async fn bot_at(&self, path: &str) -> Result<Option<StoredBot>, StoreError>;

    /// Returns the bots of these adapters, over all tenants. Their owners listen for them, or check that their
    /// platforms deliver to the webhook.
    async fn listening_bots(&self, adapters: &[String]) -> Result<Vec<BotId>, StoreError>;

    /// Returns the bot of this id, for a node that has a send for it.
    async fn bot(&self, id: BotId) -> Result<Option<StoredBot>, StoreError>;

    /// Gives a bot a new key; its earlier keys stay valid for the given time. Returns true if the operator has such a
    /// bot.
    async fn rotate_bot_key(
        &self,
        scope: TenantScope,
        bot: BotId,
        key: &NewSecret,
        overlap: Duration,
    ) -> Result<bool, StoreError>;

    /// Returns the unguessable part of a bot's webhook path, for its operator.
    async fn hook_path(&self, scope: TenantScope, bot: BotId)
    -> Result<Option<String>, StoreError>;

    /// Removes a bot of an operator, with its keys and all data of people and agents on it. Returns true if it existed.
    async fn remove_bot(&self, scope: TenantScope, bot: BotId) -> Result<bool, StoreError>;

    /// Returns the bots that an agent may say hello for.
    async fn bots_of(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Vec<GreetedBot>, StoreError>;

    /// Returns the store's time.
    async fn time(&self) -> Result<Timestamp, StoreError>;
}

/// The complete store interface of the register.
pub trait Store:
    IdentityStore
    + Reaching
    + Linking
    + Managing
    + Gateways
    + Bots
    + ReceptionStore
    + Listing
    + Enrolling
    + Provisioning
    + Issuing
    + Sessions
    + CapabilityStore
    + CommandStore
    + Auditing
    + Quotas
{
}

impl<T> Store for T where
    T: IdentityStore
        + Reaching
        + Linking
        + Managing
        + Gateways
        + Bots
        + ReceptionStore
        + Listing
        + Enrolling
        + Provisioning
        + Issuing
        + Sessions
        + CapabilityStore
        + CommandStore
        + Auditing
        + Quotas
{
}
