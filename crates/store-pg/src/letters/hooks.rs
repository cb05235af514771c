//! Webhooks through which external programs send letters as an agent.

use std::collections::HashMap;

use async_trait::async_trait;
use nightdesk_letters::{Hooks, Party};
use nightdesk_register::audit::Kind;
use nightdesk_types::{AgentId, StoreError, TenantId, TenantScope};
use serde_json::json;
use sqlx::PgConnection;

use crate::Pg;
use crate::lookup::Finder;
use crate::register::audit::record_act;

#[async_trait]
impl Hooks for Pg {
    async fn make_hook(
        &self,
        party: Party,
        name: &str,
        digest: [u8; 32],
    ) -> Result<bool, StoreError> {
        let name = name.to_owned();
        let operation = self.for_tenant("make a webhook for letters", party.scope);
        let made = run_to_end!(operation, |connection| {
            let made = sqlx::query!(
                "insert into letter_hooks (tenant_id, name, agent_id, digest)
                 values ($1, $2, $3, $4) on conflict (tenant_id, name) do nothing",
                party.scope.tenant().uuid(),
                name,
                party.agent.uuid(),
                &digest
            )
            .execute(&mut *connection)
            .await?;
            let made = made.rows_affected() == 1;
            if made {
                let about = json!({ "agent_id": party.agent, "name": name });
                record_act(connection, party.scope, Kind::LetterHookMade, about).await?;
            }
            Ok(made)
        });
        self.lookups.letter_hooks.forget_unknown(&digest.to_vec());
        made
    }

    async fn remove_hook(&self, scope: TenantScope, name: &str) -> Result<bool, StoreError> {
        let name = name.to_owned();
        run_to_end!(self.for_tenant("remove a webhook for letters", scope), |connection| {
            let gone = sqlx::query!(
                "delete from letter_hooks where tenant_id = $1 and name = $2",
                scope.tenant().uuid(),
                name
            )
            .execute(&mut *connection)
            .await?;
            let gone = gone.rows_affected() == 1;
            if gone {
                let about = json!({ "name": name });
                record_act(connection, scope, Kind::LetterHookRemoved, about).await?;
            }
            Ok(gone)
        })
    }

    async fn hooks(
        &self,
        scope: TenantScope,
        at_most: usize,
    ) -> Result<Vec<(String, Party)>, StoreError> {
        run_to_end!(self.for_tenant("list webhooks for letters", scope), |connection| {
            let rows = sqlx::query!(
                "select name, agent_id from letter_hooks where tenant_id = $1
                 order by name limit $2",
                scope.tenant().uuid(),
                i64::try_from(at_most).unwrap_or(i64::MAX)
            )
            .fetch_all(connection)
            .await?;
            let hook = |agent| Party { scope, agent: AgentId::from_uuid(agent) };
            Ok(rows.into_iter().map(|row| (row.name, hook(row.agent_id))).collect())
        })
    }

    async fn find_hook_agent(&self, digest: [u8; 32]) -> Result<Option<Party>, StoreError> {
        self.lookups.letter_hooks.find(digest.to_vec()).await
    }
}

/// Finds the agent of a webhook for letters, by the digest of its secret.
pub(crate) struct LetterHookByDigest;

impl Finder for LetterHookByDigest {
    type Name = Vec<u8>;
    type Found = Party;
    const OPERATION: &'static str = "find a webhook for letters";

    async fn find(
        connection: &mut PgConnection,
        digests: Vec<Vec<u8>>,
    ) -> sqlx::Result<HashMap<Vec<u8>, Party>> {
        let rows = sqlx::query!(
            r#"select digest as "digest!", tenant as "tenant!", agent as "agent!"
               from door_letter_hook($1)"#,
            &digests
        )
        .fetch_all(connection)
        .await?;
        let party = |tenant, agent| Party {
            scope: TenantScope::for_tenant(TenantId::from_uuid(tenant)),
            agent: AgentId::from_uuid(agent),
        };
        Ok(rows.into_iter().map(|row| (row.digest, party(row.tenant, row.agent))).collect())
    }
}
