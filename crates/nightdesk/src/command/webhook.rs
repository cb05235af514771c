//! `nightdesk agent webhook`: the URL to which the desk posts an agent's entries.

use anyhow::Context;
use nightdesk_desk::posting::random_salt;
use nightdesk_outside::TenantUrl;
use nightdesk_types::{AgentId, TenantScope};
use nightdesk_vault::Locksmith;
use nightdesk_wake::{NewWebhook, WakeAdmin};
use serde_json::json;

use crate::config::Config;
use crate::ui::CommandOutput;
use crate::wiring;

/// The agent whose webhook is set or shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WebhookOwner {
    pub(crate) scope: TenantScope,
    pub(crate) agent: AgentId,
}

/// The change to make.
#[derive(Debug)]
pub(super) struct WebhookChange {
    pub(super) url: Option<String>,
    pub(super) clear: bool,
}

/// Sets, removes or shows the webhook of an agent.
pub(super) async fn configure(
    config: &Config,
    wakers: &dyn WakeAdmin,
    locksmith: &Locksmith,
    owner: WebhookOwner,
    change: WebhookChange,
) -> anyhow::Result<CommandOutput> {
    let WebhookOwner { scope, agent } = owner;
    if let Some(url) = &change.url {
        let WebhookSetting { url, secret } = set(config, wakers, locksmith, owner, url).await?;
        return Ok(CommandOutput::One(json!({ "agent_id": agent, "url": url, "secret": secret })));
    }
    if change.clear {
        wakers.set_webhook(scope, agent, None).await?;
    }
    let url = wakers.webhook(scope, agent).await?.map(|webhook| webhook.url);
    Ok(CommandOutput::One(json!({ "agent_id": agent, "url": url })))
}

/// A webhook that was set, and the secret that signs its posts.
#[derive(Debug)]
pub(crate) struct WebhookSetting {
    url: String,
    pub(crate) secret: String,
}

/// Sets the webhook of an agent.
pub(crate) async fn set(
    config: &Config,
    wakers: &dyn WakeAdmin,
    locksmith: &Locksmith,
    owner: WebhookOwner,
    url: &str,
) -> anyhow::Result<WebhookSetting> {
    let WebhookOwner { scope, agent } = owner;
    let read = TenantUrl::parse(url, &config.outside);
    let url = read.with_context(|| format!("{url} cannot be called"))?.as_str().to_owned();
    let salt = random_salt();
    let secret = wiring::webhook_key(locksmith).await?.secret(scope, agent, &salt);
    wakers.set_webhook(scope, agent, Some(&NewWebhook { url: url.clone(), salt })).await?;
    Ok(WebhookSetting { url, secret: secret.to_string() })
}
