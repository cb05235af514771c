//! Setup: who is who in a proof. One shared bot of an operator, and agents of many tenants
//! behind it, each with one author, one chat and one gateway.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use futures_util::{StreamExt, TryStreamExt, stream};
use nightdesk_register::{BotDraft, Register};
use nightdesk_store_pg::Pg;
use nightdesk_types::{AgentId, BotId, TenantId, TenantScope};
use nightdesk_vault::{Key, Vault};
use serde::{Deserialize, Serialize};

use crate::cluster::Cluster;
use crate::ui;

/// The name of the platform, as agents are told it.
pub const PLATFORM: &str = "discord";

/// What the platform signs with.
const BOT_KEY: &str = "a key for proofs";

/// Agents entered at a time.
const AT_ONCE: usize = 12;

/// How often we say how far it is.
const TOLD_EVERY: usize = 2_000;

/// Everybody in a proof, as the gateways and the platform must know them.
#[derive(Debug, Serialize, Deserialize)]
pub struct Cast {
    /// Who runs the bot.
    pub operator: TenantId,
    /// The bot everybody shares.
    pub bot: BotId,
    /// Where its webhook is.
    pub path: String,
    /// What its platform signs with.
    pub key: String,
    /// The agents behind it.
    pub members: Vec<Member>,
}

/// An agent and its gateway.
#[derive(Debug, Serialize, Deserialize)]
pub struct Member {
    /// Whose it is.
    pub tenant: TenantId,
    /// Which agent.
    pub agent: AgentId,
    /// What its gateway calls itself.
    pub gateway: String,
    /// Its gateway's secret.
    pub secret: String,
}

/// The author who writes to the agent of this number.
pub fn author(member: usize) -> String {
    format!("a{member:06}")
}

/// The chat that author writes in.
pub fn chat(member: usize) -> String {
    format!("c{member:06}")
}

/// How many tenants and agents there are.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Tenants besides the operator.
    pub tenants: usize,
    /// Agents of all tenants together.
    pub agents: usize,
}

impl Cast {
    /// Enters everybody into a migrated database.
    pub fn enter(cluster: &Cluster, database: &str, vault: Vault, size: Size) -> Result<Self> {
        // Nothing is measured yet, and whoever is lost in a crash was not here.
        let url = format!("{}?options[synchronous_commit]=off", cluster.app_url(database));
        let runtime = tokio::runtime::Runtime::new().context("could not start the runtime")?;
        runtime.block_on(async {
            let pg = Arc::new(Pg::connect(&url, None).context("could not reach the database")?);
            let cast = enter(&Register::over(Arc::<Pg>::clone(&pg), vault), size).await;
            pg.close().await;
            cast
        })
    }

    /// Puts it into a file, for the workers.
    pub fn save(&self, file: &Path) -> Result<()> {
        let text = serde_json::to_string(self).context("could not write the cast")?;
        fs::write(file, text).with_context(|| format!("could not write {}", file.display()))
    }

    /// Reads what [`Cast::save`] wrote.
    pub fn load(file: &Path) -> Result<Self> {
        let text = fs::read_to_string(file)
            .with_context(|| format!("could not read {}", file.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} is not a cast", file.display()))
    }
}

async fn enter(register: &Register, size: Size) -> Result<Cast> {
    let operator = register.create_tenant("operator").await?;
    let draft = BotDraft {
        platform: PLATFORM.to_owned(),
        adapter: "scripted".to_owned(),
        handle: "the-bot".to_owned(),
        settings: serde_json::json!({}),
        key: Some(Key::new(BOT_KEY)),
    };
    let (bot, path) = register.create_bot(TenantScope::of(operator), draft).await?;
    let mut tenants = Vec::with_capacity(size.tenants);
    for number in 0..size.tenants {
        tenants.push(register.create_tenant(&format!("tenant-{number}")).await?);
    }
    let entered =
        |number: usize| enter_agent(register, tenants[number % tenants.len()], bot, number);
    let members = stream::iter((0..size.agents).map(entered)).buffered(AT_ONCE);
    let members = members.try_collect().await?;
    Ok(Cast { operator, bot, path, key: BOT_KEY.to_owned(), members })
}

async fn enter_agent(
    register: &Register,
    tenant: TenantId,
    bot: BotId,
    number: usize,
) -> Result<Member> {
    let scope = TenantScope::of(tenant);
    let agent = register.store().create_agent(scope, &format!("agent-{number}")).await?;
    register.store().bind(scope, agent, bot, &author(number)).await?;
    let gateway = format!("gw-{number}");
    let (_, secret) = register.create_gateway(scope, agent, &gateway).await?;
    if number > 0 && number.is_multiple_of(TOLD_EVERY) {
        ui::say(&format!("  entered {number} agents"));
    }
    Ok(Member { tenant, agent, gateway, secret: secret.with(str::to_owned) })
}
