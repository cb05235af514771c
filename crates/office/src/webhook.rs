//! The URLs to which the desk posts agents' entries.

use nightdesk_desk::posting::random_salt;
use nightdesk_outside::TenantUrl;
use nightdesk_types::{AgentId, TenantScope};
use nightdesk_wake::NewWebhook;
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::OfficeError;
use crate::office::Office;

/// The webhook of an agent.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct WebhookView {
    /// The agent.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// The URL. Null: the desk posts nothing.
    pub url: Option<String>,
}

/// A webhook that was set. Its secret is shown once.
#[derive(Serialize, ToSchema)]
pub struct WebhookCredentials {
    /// The agent.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// The URL.
    pub url: String,
    /// The secret that signs the posts. The previous one signs for another day.
    pub secret: String,
}

nightdesk_types::opaque_debug!(WebhookCredentials);

impl Office {
    /// Returns the webhook of an agent.
    pub async fn webhook(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<WebhookView, OfficeError> {
        let webhook = self.store.webhook(scope, agent).await?;
        Ok(WebhookView { agent_id: agent, url: webhook.map(|webhook| webhook.url) })
    }

    /// Sets the webhook of an agent, with a new secret.
    pub async fn set_webhook(
        &self,
        scope: TenantScope,
        agent: AgentId,
        url: &str,
    ) -> Result<WebhookCredentials, OfficeError> {
        let read = TenantUrl::parse(url, &self.url_rules);
        let url = read.map_err(|refusal| {
            OfficeError::Invalid(format!("the URL cannot be called: {refusal}"))
        })?;
        let new = NewWebhook { url: url.as_str().to_owned(), salt: random_salt() };
        let secret = self.webhook_key.secret(scope, agent, &new.salt).to_string();
        self.store.set_webhook(scope, agent, Some(&new)).await?;
        Ok(WebhookCredentials { agent_id: agent, url: new.url, secret })
    }

    /// Removes the webhook of an agent.
    pub async fn remove_webhook(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<WebhookView, OfficeError> {
        if self.store.webhook(scope, agent).await?.is_none() {
            let missing = "the agent has no webhook; `nightdesk agent webhook` sets one";
            return Err(OfficeError::NotFound(missing.to_owned()));
        }
        self.store.set_webhook(scope, agent, None).await?;
        Ok(WebhookView { agent_id: agent, url: None })
    }
}
