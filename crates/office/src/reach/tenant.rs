//! The people and chats that reach the agents of a tenant.

use nightdesk_types::{AgentId, BotId, TenantScope};
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::OfficeError;
use crate::office::Office;
use crate::reads::{BindingKey, GrantKey, TenantBinding, TenantGrant};

/// A person who is bound to an agent.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TenantPersonView {
    /// The person, by the platform's id.
    pub author: String,
    /// The bot of that platform.
    #[schema(value_type = String)]
    pub bot_id: BotId,
    /// The agent's name.
    pub agent: String,
    /// The agent.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// The position of the row in the list, for the next page.
    pub key: String,
}

impl From<TenantBinding> for TenantPersonView {
    fn from(binding: TenantBinding) -> Self {
        let TenantBinding { key: BindingKey { bot, author, agent }, agent_name } = binding;
        let key = format!("{bot}/{agent}/{author}");
        Self { author, bot_id: bot, agent: agent_name, agent_id: agent, key }
    }
}

/// A chat or a scope that is granted to an agent.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TenantGrantView {
    /// The bot in the chat.
    #[schema(value_type = String)]
    pub bot_id: BotId,
    /// The chat's guild, workspace or server.
    pub scope: Option<String>,
    /// The chat; `*` for every chat of the scope, or of the bot if there is no scope.
    pub chat: String,
    /// The agent's name.
    pub agent: String,
    /// The agent.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// The people that reach the agent there: `owner-only`, `allow-list` or `any`.
    pub open_to: &'static str,
    /// True if the agent may change messages of others there.
    pub moderates: bool,
    /// The position of the row in the list, for the next page.
    pub key: String,
}

impl From<TenantGrant> for TenantGrantView {
    fn from(grant: TenantGrant) -> Self {
        let TenantGrant { key, agent, agent_name, open_to, is_moderator } = grant;
        let GrantKey { bot, scope, chat } = key;
        // Neither an id nor a length contains a slash.
        let key = format!("{bot}/{}/{scope}{chat}", scope.len());
        Self {
            bot_id: bot,
            scope: Some(scope).filter(|scope| !scope.is_empty()),
            chat,
            agent: agent_name,
            agent_id: agent,
            open_to: open_to.slug(),
            moderates: is_moderator,
            key,
        }
    }
}

impl Office {
    /// Returns a page of the people who are bound to a tenant's agents, after the row with this `key`.
    pub async fn people(
        &self,
        scope: TenantScope,
        after: Option<&str>,
    ) -> Result<Vec<TenantPersonView>, OfficeError> {
        let after = after.map(|key| read_binding_key(key).ok_or_else(bad_key)).transpose()?;
        let rows = self.store.tenant_bindings(scope, after.as_ref()).await?;
        Ok(rows.into_iter().map(TenantPersonView::from).collect())
    }

    /// Returns a page of the chats that are granted to a tenant's agents, after the row with this `key`.
    pub async fn chat_grants(
        &self,
        scope: TenantScope,
        after: Option<&str>,
    ) -> Result<Vec<TenantGrantView>, OfficeError> {
        let after = after.map(|key| read_grant_key(key).ok_or_else(bad_key)).transpose()?;
        let rows = self.store.tenant_grants(scope, after.as_ref()).await?;
        Ok(rows.into_iter().map(TenantGrantView::from).collect())
    }
}

fn read_binding_key(text: &str) -> Option<BindingKey> {
    let mut parts = text.splitn(3, '/');
    let (bot, agent) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some(BindingKey { bot, agent, author: parts.next()?.to_owned() })
}

fn read_grant_key(text: &str) -> Option<GrantKey> {
    let mut parts = text.splitn(3, '/');
    let (bot, length) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let (scope, chat) = parts.next()?.split_at_checked(length)?;
    Some(GrantKey { bot, scope: scope.to_owned(), chat: chat.to_owned() })
}

fn bad_key() -> OfficeError {
    OfficeError::Invalid("after takes `key` of the last row of the previous page".to_owned())
}

#[cfg(test)]
mod tests {
    use nightdesk_types::Principal;

    use super::*;

    const BOT: &str = "00000000-0000-0000-0000-000000000007";

    #[test]
    fn a_page_goes_on_after_a_row_with_any_ids() {
        let (bot, agent): (BotId, AgentId) = (BOT.parse().unwrap(), BOT.parse().unwrap());
        for (scope, chat) in [("", "c/1"), ("g/ü", "*"), ("", "*"), ("9/", "a")] {
            let key = GrantKey { bot, scope: scope.to_owned(), chat: chat.to_owned() };
            let grant = TenantGrant {
                key: key.clone(),
                agent,
                agent_name: "owl".to_owned(),
                open_to: Principal::Any,
                is_moderator: false,
            };
            assert_eq!(read_grant_key(&TenantGrantView::from(grant).key).unwrap(), key);
        }
        let key = BindingKey { bot, author: "u/1".to_owned(), agent };
        let person = TenantBinding { key: key.clone(), agent_name: "owl".to_owned() };
        assert_eq!(read_binding_key(&TenantPersonView::from(person).key).unwrap(), key);
        for bad in ["", "x", BOT, &format!("{BOT}/9/short"), &format!("{BOT}/x/y")] {
            assert!(read_grant_key(bad).is_none() && read_binding_key(bad).is_none(), "{bad}");
        }
    }
}
