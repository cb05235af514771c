//! Cast: who is there in a simulated world.
//!
//! Everybody shares one bot, and some tenants have two agents: what is for one of them must reach
//! nobody else.

use futures_util::FutureExt;
use nightdesk_register::{Entering, Gateways, NewBot, NewSecret, OnBot, Reaching};
use nightdesk_testkit::Memory;
use nightdesk_types::{AgentId, BotId, DataKeyId, StoreError, TenantId, TenantScope};
use nightdesk_vault::{DataKey, Key, Place, Vault};
use serde_json::json;
use uuid::Uuid;

/// The adapter that every bot has.
pub const ADAPTER: &str = "sim";

/// The path of the bot's webhook.
pub const PATH: &str = "the-bot";

/// The key the platform signs with.
pub const BOT_KEY: &str = "the key of the bot";

/// What the bot is called, and its platform.
pub const BOT: (&str, &str) = ("desk-bot", "discord");

/// How many gateways an agent may be: one of them may be revoked.
const GATEWAYS: u128 = 2;

/// An agent, and who writes to it.
#[derive(Clone, Debug)]
pub struct Agent {
    /// What it is called in the history.
    pub name: String,
    /// Whose it is.
    pub scope: TenantScope,
    /// Its id.
    pub id: AgentId,
    /// Who is bound to it; each writes in a chat of their own name.
    pub author: String,
    /// As which gateways it may dial in, one after the other.
    pub gateways: Vec<Login>,
}

/// How a gateway shows who it is.
#[derive(Clone, Debug)]
pub struct Login {
    /// Its name.
    pub name: String,
    /// Its secret.
    pub secret: Key,
}

/// Who is there.
#[derive(Debug)]
pub struct Cast {
    /// Opens what is sealed.
    pub vault: Vault,
    /// The one bot.
    pub bot: BotId,
    /// The agents.
    pub agents: Vec<Agent>,
}

impl Cast {
    /// Enters everybody into an empty store: tenants with so many agents each.
    pub fn entered(memory: &Memory, tenants: &[usize]) -> anyhow::Result<Self> {
        let vault = Vault::from_key_file(&Vault::new_key_file())?;
        let entering = enter(memory, &vault, tenants);
        let (bot, agents) = entering.now_or_never().unwrap_or_else(|| Err(not_at_once()))?;
        Ok(Self { vault, bot, agents })
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

/// The same ids in every run: what is kept in their order comes in the same order.
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
    memory.create_tenant(tenant, &format!("t{number}"), &wrapped).await?;
    Ok((TenantScope::of(tenant), key))
}

async fn bot(memory: &Memory, scope: TenantScope, key: &DataKey) -> Result<BotId, StoreError> {
    let (key_id, _) = memory.data_key(scope).await?;
    let place = Place { tenant: scope.tenant(), kind: "bot-key", row: id(2, 0) };
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
    memory.bind(OnBot { scope, agent, bot }, &author).await?;
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

/// A secret as the register seals it.
fn sealed(
    (scope, key, key_id): (TenantScope, &DataKey, DataKeyId),
    row: Uuid,
    login: &Login,
) -> NewSecret {
    let place = Place { tenant: scope.tenant(), kind: "gateway-secret", row };
    NewSecret { id: row, sealed: key.seal(&place, &login.secret), key: key_id }
}
