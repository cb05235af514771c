//! The tenants, agents and gateways of a simulated world.
//!
//! All agents share one bot, and some tenants have two agents: an event for one agent must reach no other.

use futures_util::FutureExt;
use nightdesk_memory::Memory;
use nightdesk_register::{AgentOnBot, Gateways, IdentityStore, NewBot, NewSecret, Reaching};
use nightdesk_types::{AgentId, BotId, DataKeyId, StoreError, TenantId, TenantScope, Transport};
use nightdesk_vault::{DataKey, Key, SealPlace, Vault};
use nightdesk_wake::{NewWebhook, WakeAdmin as _};
use serde_json::json;
use uuid::Uuid;

use crate::gateway;
use crate::plan::Plan;

/// The adapter of the bot.
pub const ADAPTER: &str = "sim";

/// The path of the bot's webhook.
pub const PATH: &str = "the-bot";

/// The key that signs the platform's requests.
pub const BOT_KEY: &str = "the key of the bot";

/// The bot's name and its platform.
pub const BOT: (&str, &str) = ("desk-bot", "discord");

/// Number of gateways per agent: one of them may be revoked.
const GATEWAYS: u128 = 2;

/// An agent, and the person who writes to it.
#[derive(Clone, Debug)]
pub struct Agent {
    /// The agent's name in the history.
    pub name: String,
    /// The agent's tenant.
    pub scope: TenantScope,
    /// The agent's id.
    pub id: AgentId,
    /// The person who is bound to the agent; each writes in a chat of the same name.
    pub author: String,
    /// The gateways as which the agent may dial, one after the other.
    pub gateways: Vec<Login>,
}

/// The credentials of a gateway.
#[derive(Clone, Debug)]
pub struct Login {
    /// The gateway's name.
    pub name: String,
    /// The gateway's secret.
    pub secret: Key,
}

/// All participants.
#[derive(Debug)]
pub struct Cast {
    /// Opens the sealed secrets.
    pub vault: Vault,
    /// The one bot.
    pub bot: BotId,
    /// The agents.
    pub agents: Vec<Agent>,
}

impl Cast {
    /// Enters all participants into an empty store: tenants with so many agents each.
    pub fn entered(memory: &Memory, tenants: &[usize]) -> anyhow::Result<Self> {
        let vault = Vault::from_key_file(&Vault::new_key_file())?;
        let entering = enter(memory, &vault, tenants);
        let (bot, agents) = entering.now_or_never().unwrap_or_else(|| Err(not_at_once()))?;
        Ok(Self { vault, bot, agents })
    }

    /// Stores the webhooks of the agents to which the desk posts.
    pub fn set_webhooks(&self, memory: &Memory, plan: &Plan) -> anyhow::Result<()> {
        for (agent, transport) in self.agents.iter().zip(&plan.transports) {
            if *transport == Transport::Webhook {
                let url = format!("http://{}/", gateway::host(agent));
                let webhook = NewWebhook { url, salt: "salt".to_owned() };
                let set = memory.set_webhook(agent.scope, agent.id, Some(&webhook));
                set.now_or_never().unwrap_or_else(|| Err(not_at_once()))?;
            }
        }
        Ok(())
    }
}

fn not_at_once() -> StoreError {
    StoreError::broken("enter the cast", "memory answers at once")
}

async fn enter(
    memory: &Memory,
    vault: &Vault,
    tenants: &[usize],
) -> Result<(BotId, Vec<Agent>), StoreError> {
    let (operator, key) = tenant(memory, vault, 0).await?;
    let bot = bot(memory, operator, &key).await?;
    let mut agents = Vec::new();
    for (count, number) in tenants.iter().zip(1..) {
        let (scope, key) = tenant(memory, vault, number).await?;
        for sibling in 1..=*count {
            let name = format!("a{number}{sibling}");
            agents.push(agent(memory, (scope, &key), bot, name).await?);
        }
    }
    Ok((bot, agents))
}

/// Returns an id that is the same in every run, so that rows ordered by id have the same order.
fn id(kind: u128, number: u64) -> Uuid {
    Uuid::from_u128((kind << 64) | (u128::from(number) + 1))
}

async fn tenant(
    memory: &Memory,
    vault: &Vault,
    number: u64,
) -> Result<(TenantScope, DataKey), StoreError> {
    let tenant = TenantId::from_uuid(id(1, number));
    let (key, wrapped) = vault.new_data_key(tenant, DataKeyId::new(1));
    let scope = TenantScope::for_tenant(tenant);
    memory.create_tenant(scope, &format!("t{number}"), &wrapped).await?;
    Ok((scope, key))
}

async fn bot(memory: &Memory, scope: TenantScope, key: &DataKey) -> Result<BotId, StoreError> {
    let (key_id, _) = memory.data_key(scope).await?;
    let place = SealPlace { tenant: scope.tenant(), kind: "bot-key", row: id(2, 0) };
    let new = NewBot {
        id: place.row,
        platform: BOT.1.to_owned(),
        adapter: ADAPTER.to_owned(),
        handle: BOT.0.to_owned(),
        path: PATH.to_owned(),
        settings: json!({}),
        sealed: Some((key.seal(&place, &Key::new(BOT_KEY.to_owned())), key_id)),
    };
    memory.create_bot(scope, &new).await
}

async fn agent(
    memory: &Memory,
    (scope, key): (TenantScope, &DataKey),
    bot: BotId,
    name: String,
) -> Result<Agent, StoreError> {
    let (key_id, _) = memory.data_key(scope).await?;
    let agent = memory.create_agent(scope, &name).await?;
    let author = format!("author-of-{name}");
    memory.bind(AgentOnBot { scope, agent, bot }, &author).await?;
    let mut gateways = Vec::new();
    for number in 0..GATEWAYS {
        let login = Login {
            name: format!("g-{name}-{number}"),
            secret: Key::new(format!("the secret of gateway {number} of {name}")),
        };
        let row = Uuid::from_u128((agent.uuid().as_u128() << 8) + number);
        let new = sealed((scope, key, key_id), row, &login);
        memory.create_gateway(scope, agent, &login.name, &new).await?;
        gateways.push(login);
    }
    Ok(Agent { name, scope, id: agent, author, gateways })
}

/// Seals a secret as the register does.
fn sealed(
    (scope, key, key_id): (TenantScope, &DataKey, DataKeyId),
    row: Uuid,
    login: &Login,
) -> NewSecret {
    let place = SealPlace { tenant: scope.tenant(), kind: "gateway-secret", row };
    NewSecret { id: row, sealed: key.seal(&place, &login.secret), key: key_id }
}
