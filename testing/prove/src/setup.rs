//! Creates the cast of a proof: shared bots of an operator, and agents of many tenants behind them, each with one
//! author and one gateway. Some chats are also open to a guest: an agent, often of another tenant, that sees all
//! messages there.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use futures_util::{StreamExt, TryStreamExt, stream};
use nightdesk_protocol::Secret;
use nightdesk_protocol::upgrade_token::{self, UPGRADE_TTL_SECS};
use nightdesk_register::{AgentOnBot, BotDraft, Register};
use nightdesk_store_pg::Pg;
use nightdesk_types::{
    Actor, AgentId, BotId, Clock, GrantTarget, Principal, Quota, TenantId, TenantScope,
};
use nightdesk_vault::{Key, Vault};
use serde::{Deserialize, Serialize};

use crate::cluster::Cluster;
use crate::ui;

/// Name of the platform at the agents.
pub const PLATFORM: &str = "discord";

/// Second platform of the agents in a world with a street.
pub const ALSO: &str = "telegram";

/// Number of agents created concurrently.
const AT_ONCE: usize = 12;

/// Interval of progress reports.
const TOLD_EVERY: usize = 2_000;

/// All tenants, bots and agents of a proof, for the gateways and the platform.
#[derive(Debug, Serialize, Deserialize)]
pub struct Cast {
    /// The tenant that runs the bots.
    pub operator: TenantId,
    /// The bots.
    pub bots: Vec<SharedBot>,
    /// The agents behind them.
    pub members: Vec<Member>,
}

/// A bot that many agents share.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SharedBot {
    /// Its id.
    pub bot: BotId,
    /// Path of its webhook.
    pub path: String,
    /// Signing key of its platform.
    pub key: String,
}

/// An agent and its gateway.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Member {
    /// Its tenant.
    pub tenant: TenantId,
    /// Id of the agent.
    pub agent: AgentId,
    /// Index of its bot.
    pub bot: usize,
    /// Id of its gateway.
    pub gateway: String,
    /// Secret of its gateway.
    pub secret: String,
}

impl Member {
    /// Returns a token for its gateway, valid for a few minutes.
    pub fn token(&self, clock: &dyn Clock) -> Secret {
        upgrade_token::make(&self.gateway, self.secret.as_bytes(), UPGRADE_TTL_SECS, clock.now())
    }
}

/// Returns the author of this member's agent.
pub fn author(member: usize) -> String {
    format!("a{member:06}")
}

/// Returns the chat of this member's author.
pub fn chat(member: usize) -> String {
    format!("c{member:06}")
}

/// Returns the chat that is open to this member's agent as a guest.
pub fn open_chat(guest: usize) -> String {
    format!("g{guest:06}")
}

/// Returns the name of a tenant.
pub(crate) fn tenant_name(tenant: usize) -> String {
    format!("tenant-{tenant}")
}

/// Returns the name of this member's agent. Neighbours are of different tenants, so the first agents are those of the
/// first tenants.
pub(crate) fn agent_name(member: usize) -> String {
    format!("agent-{member}")
}

/// Numbers of tenants, bots and agents.
#[derive(Clone, Debug)]
pub struct Size {
    /// Tenants besides the operator.
    pub tenants: usize,
    /// Bots, which the agents share evenly.
    pub bots: usize,
    /// Agents of all tenants together.
    pub agents: usize,
    /// Number of agents that are guests in an open chat.
    pub guests: usize,
    /// URL of the bots' calls, if there is one.
    pub deliver_url: Option<String>,
    /// Rate limit of a slow bot.
    pub calls_per_second: Option<u32>,
}

impl Size {
    /// Returns a size with one bot that makes no calls.
    pub const fn of(tenants: usize, agents: usize) -> Self {
        Self { tenants, bots: 1, agents, guests: 0, deliver_url: None, calls_per_second: None }
    }
}

/// Returns a vault with a new key, for a store in which no tenant has a message.
pub fn new_vault() -> Result<Vault> {
    Ok(Vault::from_key_file(&Vault::new_key_file())?)
}

/// Runs work on the store of a migrated database. Its commits are not durable: after a crash the proof starts anew.
pub(crate) fn with_store<T>(
    cluster: &Cluster,
    database: &str,
    vault: Vault,
    work: impl AsyncFnOnce(&Arc<Pg>, &Register) -> Result<T>,
) -> Result<T> {
    let url = format!("{}?options[synchronous_commit]=off", cluster.app_url(database));
    let runtime = tokio::runtime::Runtime::new().context("could not start the runtime")?;
    runtime.block_on(async {
        let pg = Pg::connect(&url, None, vault.clone());
        let pg = Arc::new(pg.context("could not reach the database")?);
        let done = work(&pg, &Register::new(Arc::<Pg>::clone(&pg), vault)).await;
        pg.close().await;
        done
    })
}

impl Cast {
    /// Creates all rows in a migrated database.
    pub fn enter(cluster: &Cluster, database: &str, vault: Vault, size: &Size) -> Result<Self> {
        let entered = async |_: &Arc<Pg>, register: &Register| enter(register, size).await;
        with_store(cluster, database, vault, entered)
    }

    /// Returns the indexes of the writing and the reading half of each tenant's members. A reader that also wrote would
    /// answer the letters it gets, and a chain of answers has a limit.
    pub(crate) fn writers_and_readers(&self) -> Vec<(Vec<usize>, Vec<usize>)> {
        let mut tenants: BTreeMap<TenantId, Vec<usize>> = BTreeMap::new();
        for (place, member) in self.members.iter().enumerate() {
            tenants.entry(member.tenant).or_default().push(place);
        }
        let halves = tenants.into_values().map(|mut writers| {
            let readers = writers.split_off(writers.len() / 2);
            (writers, readers)
        });
        halves.collect()
    }

    /// Returns members of tenants without a database.
    #[cfg(test)]
    pub(crate) fn imagined(tenants: u128, members: u128) -> Self {
        use uuid::Uuid;
        let member = |number: u128| Member {
            tenant: TenantId::from_uuid(Uuid::from_u128(number % tenants)),
            agent: AgentId::from_uuid(Uuid::from_u128(number)),
            bot: 0,
            gateway: format!("gw-{number}"),
            secret: "secret".to_owned(),
        };
        let operator = TenantId::from_uuid(Uuid::max());
        Self { operator, bots: Vec::new(), members: (0..members).map(member).collect() }
    }

    /// Writes the cast to a file, for the workers.
    pub fn save(&self, file: &Path) -> Result<()> {
        let text = serde_json::to_string(self).context("could not write the cast")?;
        fs::write(file, text).with_context(|| format!("could not write {}", file.display()))
    }

    /// Reads a cast that [`Cast::save`] wrote.
    pub fn load(file: &Path) -> Result<Self> {
        let text = fs::read_to_string(file)
            .with_context(|| format!("could not read {}", file.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} is not a cast", file.display()))
    }
}

async fn enter(register: &Register, size: &Size) -> Result<Cast> {
    let operator = register.create_tenant(Actor::Operator, "operator").await?;
    let mut bots = Vec::with_capacity(size.bots);
    for number in 0..size.bots {
        bots.push(enter_bot(register, operator, number, size).await?);
    }
    let mut tenants = Vec::with_capacity(size.tenants);
    for number in 0..size.tenants {
        let tenant = register.create_tenant(Actor::Operator, &tenant_name(number)).await?;
        for quota in [Quota::Agents, Quota::Grants] {
            let scope = TenantScope::for_tenant(tenant);
            register.store().set_quota(scope, quota, i64::try_from(size.agents)?).await?;
        }
        tenants.push(tenant);
    }
    let entered = |number: usize| {
        // Neighbours share neither tenant nor bot.
        let bot = number % bots.len();
        enter_agent(register, tenants[number % tenants.len()], (bot, bots[bot].bot), number)
    };
    let members = stream::iter((0..size.agents).map(entered)).buffered(AT_ONCE);
    let members: Vec<Member> = members.try_collect().await?;
    for (number, member) in members.iter().enumerate().take(size.guests) {
        let (scope, bot) = (TenantScope::for_tenant(member.tenant), bots[member.bot].bot);
        let (on, open) = (
            AgentOnBot { scope, agent: member.agent, bot },
            GrantTarget::for_chat(None, &open_chat(number)),
        );
        register.store().grant(on, &open, Some(Principal::Any)).await?;
    }
    Ok(Cast { operator, bots, members })
}

async fn enter_bot(
    register: &Register,
    operator: TenantId,
    number: usize,
    size: &Size,
) -> Result<SharedBot> {
    let key = format!("key {number} for proofs");
    let draft = BotDraft {
        platform: PLATFORM.to_owned(),
        adapter: "scripted".to_owned(),
        handle: format!("bot-{number}"),
        settings: serde_json::json!({
            "deliver_url": size.deliver_url, "bot_calls_per_second": size.calls_per_second,
        }),
        key: Some(Key::new(key.clone())),
    };
    let (bot, path) = register.create_bot(TenantScope::for_tenant(operator), draft).await?;
    Ok(SharedBot { bot, path, key })
}

async fn enter_agent(
    register: &Register,
    tenant: TenantId,
    (bot, bot_id): (usize, BotId),
    number: usize,
) -> Result<Member> {
    let scope = TenantScope::for_tenant(tenant);
    let agent = register.store().create_agent(scope, &agent_name(number)).await?;
    register.store().bind(AgentOnBot { scope, agent, bot: bot_id }, &author(number)).await?;
    let gateway = format!("gw-{number}");
    let (_, secret) = register.create_gateway(scope, agent, &gateway).await?;
    if number > 0 && number.is_multiple_of(TOLD_EVERY) {
        ui::say(&format!("  entered {number} agents"));
    }
    Ok(Member { tenant, agent, bot, gateway, secret: secret.with(str::to_owned) })
}
