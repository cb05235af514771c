//! What the register asks of a store.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_types::{
    AgentId, BotId, DataKeyId, GatewayId, StoreError, TenantId, TenantScope, Timestamp,
};
use nightdesk_vault::WrappedKey;
use uuid::Uuid;

use crate::account::{NewBot, StoredBot};
use crate::audit::Auditing;
use crate::capability::Lending;
use crate::command::Commanding;
use crate::enrolment::Enrolling;
use crate::gateway::{Gateway, Proof};
use crate::hearing::Hearings;
use crate::issuer::{Issuing, Sessions};
use crate::linking::Linking;
use crate::listing::Listing;
use crate::managing::Managing;
use crate::provision::Provisioning;
use crate::quota::Quotas;
use crate::reaching::Reaching;

/// A secret to be entered, sealed for its row.
#[derive(Clone, Debug)]
pub struct NewSecret {
    /// The id it gets.
    pub id: Uuid,
    /// The sealed secret.
    pub sealed: Vec<u8>,
    /// Which of the tenant's data keys sealed it.
    pub key: DataKeyId,
}

/// One secret of one gateway of a name, still sealed.
#[derive(Clone, Debug)]
pub struct StoredSecret {
    /// The gateway.
    pub gateway: Gateway,
    /// The secret's row.
    pub secret_id: Uuid,
    /// The sealed secret.
    pub sealed: Vec<u8>,
    /// Which of the tenant's data keys sealed it, ...
    pub key: DataKeyId,
    /// ... and that key.
    pub wrapped: WrappedKey,
    /// Whether the gateway was revoked.
    pub revoked: bool,
    /// Whether this secret's time is over.
    pub expired: bool,
}

/// A bot an agent may speak as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GreetedBot {
    /// Its id.
    pub id: BotId,
    /// Its platform's name.
    pub platform: String,
    /// What the platform calls it.
    pub handle: String,
}

/// Enters who is who.
#[async_trait]
pub trait Entering: Send + Sync {
    /// Enters a tenant with its first data key.
    async fn create_tenant(
        &self,
        id: TenantId,
        name: &str,
        key: &WrappedKey,
    ) -> Result<(), StoreError>;

    /// The tenant's newest data key.
    async fn data_key(&self, scope: TenantScope) -> Result<(DataKeyId, WrappedKey), StoreError>;

    /// Enters an agent, with an empty inbox.
    async fn create_agent(&self, scope: TenantScope, name: &str) -> Result<AgentId, StoreError>;

    /// Enters a bot.
    async fn create_bot(&self, scope: TenantScope, bot: &NewBot) -> Result<BotId, StoreError>;
}

/// Keeps gateways and their secrets.
#[async_trait]
pub trait Gateways: Send + Sync {
    /// Enters a gateway with its first secret.
    async fn create_gateway(
        &self,
        scope: TenantScope,
        agent: AgentId,
        name: &str,
        secret: &NewSecret,
    ) -> Result<GatewayId, StoreError>;

    /// Gives a gateway another secret; those it had are good for so much longer. `None`: the
    /// tenant has no such gateway, or it was revoked.
    async fn rotate(
        &self,
        scope: TenantScope,
        name: &str,
        secret: &NewSecret,
        overlap: Duration,
    ) -> Result<Option<GatewayId>, StoreError>;

    /// Revokes a gateway. Answers whether the tenant has one of that name.
    async fn revoke(&self, scope: TenantScope, name: &str) -> Result<bool, StoreError>;

    /// Every secret of every gateway of that name, over all tenants.
    async fn gateways_named(&self, name: &str) -> Result<Vec<StoredSecret>, StoreError>;

    /// The gateway as which an agent dials that shows a token of an issuer: it has no secret, and
    /// no upgrade token can name it. It is entered when it is first asked for. `None`: the tenant
    /// has no such agent.
    async fn gateway_for_tokens(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Option<Proof>, StoreError>;

    /// Gateways that were revoked within this time, over all tenants.
    async fn revoked_within(
        &self,
        span: Duration,
    ) -> Result<Vec<(TenantId, GatewayId)>, StoreError>;
}

/// Finds bots and nodes.
#[async_trait]
pub trait Bots: Send + Sync {
    /// The bot whose webhook has this path.
    async fn bot_at(&self, path: &str) -> Result<Option<StoredBot>, StoreError>;

    /// Bots of these adapters, over all tenants: their owners listen for them, or look whether their platforms post
    /// what is said.
    async fn listening_bots(&self, adapters: &[String]) -> Result<Vec<BotId>, StoreError>;

    /// The bot of this id, for who has a send to it.
    async fn bot(&self, id: BotId) -> Result<Option<StoredBot>, StoreError>;

    /// Gives a bot another key; those it had are good for so much longer. Answers whether the
    /// operator has such a bot.
    async fn rotate_bot_key(
        &self,
        scope: TenantScope,
        bot: BotId,
        key: &NewSecret,
        overlap: Duration,
    ) -> Result<bool, StoreError>;

    /// The unguessable part of the path of a bot's webhook, for its operator.
    async fn hook_path(&self, scope: TenantScope, bot: BotId)
    -> Result<Option<String>, StoreError>;

    /// Removes a bot of an operator's: its keys, and whatever people and agents have on it. Answers
    /// whether there was one.
    async fn remove_bot(&self, scope: TenantScope, bot: BotId) -> Result<bool, StoreError>;

    /// The bots an agent may say hello for.
    async fn bots_of(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Vec<GreetedBot>, StoreError>;

    /// What time the store has.
    async fn time(&self) -> Result<Timestamp, StoreError>;
}

/// Everything the register asks.
pub trait Store:
    Entering
    + Reaching
    + Linking
    + Managing
    + Gateways
    + Bots
    + Hearings
    + Listing
    + Enrolling
    + Provisioning
    + Issuing
    + Sessions
    + Lending
    + Commanding
    + Auditing
    + Quotas
{
}

impl<T> Store for T where
    T: Entering
        + Reaching
        + Linking
        + Managing
        + Gateways
        + Bots
        + Hearings
        + Listing
        + Enrolling
        + Provisioning
        + Issuing
        + Sessions
        + Lending
        + Commanding
        + Auditing
        + Quotas
{
}
