//! Registers the street's bots and people at the desk.

use std::sync::Arc;

use anyhow::{Context, Result};
use nightdesk_register::{AgentOnBot, BotDraft, Register};
use nightdesk_store_pg::Pg;
use nightdesk_types::{BotId, TenantScope};
use nightdesk_vault::{Key, Vault};
use serde_json::{Value, json};

use super::{Rates, Street, Whereabouts, discord, telegram};
use crate::chaos::gateways::answers;
use crate::cluster::Cluster;
use crate::setup::Cast;
use crate::stage::DATABASE;

/// One in this many answering agents is on the street: a bot's rate limit is lower than the people's rate.
const ANSWERS_EVERY: usize = 12;

/// Returns all secrets of the street.
pub fn secrets() -> [String; 2] {
    [discord::TOKEN, telegram::TOKEN].map(str::to_owned)
}

/// Creates a bot on each platform, and binds a person there to each agent that is on the street.
pub fn enter(
    cluster: &Cluster,
    vault: Vault,
    cast: &Cast,
    (at, rates): (&Whereabouts, Rates),
) -> Result<Street> {
    let runtime = tokio::runtime::Runtime::new().context("could not start the runtime")?;
    runtime.block_on(async {
        let url = cluster.app_url(DATABASE);
        let pg = Pg::connect(&url, None, vault.clone()).context("could not reach the database")?;
        let pg = Arc::new(pg);
        let register = Register::new(Arc::<Pg>::clone(&pg), vault);
        let street = enter_all(&register, cast, (at, rates)).await;
        pg.close().await;
        street
    })
}

async fn enter_all(
    register: &Register,
    cast: &Cast,
    (at, rates): (&Whereabouts, Rates),
) -> Result<Street> {
    let settings =
        json!({ "public_key": at.public_key, "application_id": discord::BOT.to_string() });
    let discord = bot(register, cast, ("discord", "desk", discord::TOKEN), settings).await?;
    let telegram = if rates.telegram > 0 {
        let named = ("telegram", "desk_bot", telegram::TOKEN);
        Some(bot(register, cast, named, json!({})).await?)
    } else {
        None
    };
    let is_here = |member: &usize| !answers(*member) || member.is_multiple_of(ANSWERS_EVERY);
    let members: Vec<usize> = (0..cast.members.len()).filter(is_here).collect();
    for member in &members {
        let one = &cast.members[*member];
        let on =
            |bot| AgentOnBot { scope: TenantScope::for_tenant(one.tenant), agent: one.agent, bot };
        let on_discord = discord::person(*member).to_string();
        register.store().bind(on(discord), &on_discord).await?;
        if let Some(telegram) = telegram {
            let there = telegram::person(*member).to_string();
            register.store().bind(on(telegram), &there).await?;
        }
    }
    Ok(Street { discord, telegram, members, rates })
}

async fn bot(
    register: &Register,
    cast: &Cast,
    (platform, handle, key): (&str, &str, &str),
    settings: Value,
) -> Result<BotId> {
    let draft = BotDraft {
        platform: platform.to_owned(),
        adapter: platform.to_owned(),
        handle: handle.to_owned(),
        settings,
        key: Some(Key::new(key.to_owned())),
    };
    let (bot, _) = register.create_bot(TenantScope::for_tenant(cast.operator), draft).await?;
    Ok(bot)
}
