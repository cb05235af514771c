//! Reads the rows of a change from their door function.

use std::collections::BTreeMap;

use nightdesk_gate::ReachChange;
use nightdesk_gate::bot_reach::{AgentTerms, GrantHolder, ScopedAgent};
use nightdesk_types::{
    AgentId, BotId, ClientRules, GrantTarget, Principal, Relevance, TenantId, TenantScope,
};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::row::bad_column;

/// One row of a change; the columns that are set depend on its kind.
struct ReachRow {
    kind: String,
    version: Option<i64>,
    whole: Option<bool>,
    author: Option<String>,
    scope: Option<String>,
    chat: Option<String>,
    tenant: Option<Uuid>,
    agent: Option<Uuid>,
    principal: Option<String>,
    listed: Option<Vec<String>>,
    owners: Option<Vec<String>>,
    require_address: Option<bool>,
    free_scopes: Option<Vec<String>>,
    allow_other_bots: Option<bool>,
    rules: Option<String>,
}

/// Reads the changes of a bot.
pub(super) async fn read_changes(
    connection: &mut PgConnection,
    bot: BotId,
    since: Option<i64>,
) -> sqlx::Result<ReachChange> {
    let rows = sqlx::query_as!(
        ReachRow,
        r#"select kind as "kind!", version, whole, author_id as author, scope_id as scope,
               chat_id as chat, tenant_id as tenant, agent_id as agent, principal, listed, owners,
               require_address, free_scopes, allow_other_bots, client_rules as rules
           from door_reach($1, $2)"#,
        bot.uuid(),
        since
    )
    .fetch_all(connection)
    .await?;
    let mut change = ReachChange::default();
    let mut authors: BTreeMap<String, Vec<ScopedAgent>> = BTreeMap::new();
    for row in rows {
        match row.kind.as_str() {
            "head" => {
                change.version = row.version.ok_or_else(|| missing_column("version"))?;
                change.is_whole = row.whole.ok_or_else(|| missing_column("whole"))?;
            }
            "author" => {
                let agents =
                    authors.entry(row.author.clone().ok_or_else(|| missing_column("author"))?);
                agents.or_default().extend(row.agent());
            }
            "grant" => change.grants.push((row.grant_target()?, row.grant_holder()?)),
            _ => change
                .agents
                .push((row.agent().ok_or_else(|| missing_column("agent"))?, row.terms()?)),
        }
    }
    change.authors = authors.into_iter().collect();
    Ok(change)
}

impl ReachRow {
    fn agent(&self) -> Option<ScopedAgent> {
        let tenant = TenantId::from_uuid(self.tenant?);
        Some((TenantScope::for_tenant(tenant), AgentId::from_uuid(self.agent?)))
    }

    fn grant_target(&self) -> sqlx::Result<GrantTarget> {
        let scope = self.scope.as_deref().filter(|scope| !scope.is_empty());
        let chat = self.chat.as_deref().ok_or_else(|| missing_column("chat"))?;
        Ok(GrantTarget::for_chat(scope, chat))
    }

    fn grant_holder(&self) -> sqlx::Result<Option<GrantHolder>> {
        let Some(agent) = self.agent() else { return Ok(None) };
        let principal = self.principal.as_deref().and_then(Principal::from_slug);
        let principal = principal.ok_or_else(|| bad_column("scope_grants", "principal"))?;
        Ok(Some((agent, principal)))
    }

    fn terms(self) -> sqlx::Result<AgentTerms> {
        let rules = self.rules.as_deref().and_then(ClientRules::from_slug);
        let rules = rules.ok_or_else(|| missing_column("client_rules"))?;
        let declared = self.require_address.map(|require_address| Relevance {
            require_address,
            free_scopes: self.free_scopes.unwrap_or_default(),
            allow_other_bots: self.allow_other_bots.unwrap_or_default(),
            ..Relevance::default()
        });
        Ok(AgentTerms {
            version: self.version.ok_or_else(|| missing_column("version"))?,
            listed: self.listed.unwrap_or_default().into_iter().collect(),
            owners: self.owners.unwrap_or_default(),
            relevance: Relevance::for_client(declared, rules),
        })
    }
}

fn missing_column(column: &'static str) -> sqlx::Error {
    bad_column("door_reach", column)
}
