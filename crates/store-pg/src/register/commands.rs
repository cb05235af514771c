//! The store of command names and their agents.

use async_trait::async_trait;
use nightdesk_register::{AgentOnBot, CommandDigest, CommandStore, HeldCommand};
use nightdesk_types::{AgentId, BotId, StoreError, TenantScope};

use crate::Pg;
use crate::row::bad_column;

#[async_trait]
impl CommandStore for Pg {
    async fn commands_of(
        &self,
        scope: TenantScope,
        agent: AgentId,
        bot: BotId,
    ) -> Result<Vec<HeldCommand>, StoreError> {
        run_to_end!(self.for_tenant("read commands", scope), |connection| {
            let rows = sqlx::query!(
                "select scope_id, name, told_sha256, command_id from commands
                 where tenant_id = $1 and agent_id = $2 and bot_id = $3
                 order by scope_id, name",
                scope.tenant().uuid(),
                agent.uuid(),
                bot.uuid()
            )
            .fetch_all(connection)
            .await?;
            let held = rows.into_iter().map(|row| {
                let told = row.told_sha256.zip(row.command_id);
                let told = told.map(|(digest, id)| command_on_platform(&digest, id));
                let (scope_id, name) = (row.scope_id, row.name);
                Ok(HeldCommand { scope_id, name, registered: told.transpose()? })
            });
            held.collect()
        })
    }

    async fn claim_command(
        &self,
        on: AgentOnBot,
        scope_id: &str,
        name: &str,
    ) -> Result<bool, StoreError> {
        let (scope_id, name) = (scope_id.to_owned(), name.to_owned());
        run_to_end!(self.for_tenant("claim a command", on.scope), |connection| {
            let claimed = sqlx::query_scalar!(
                r#"select door_claim_command($1, $2, $3, $4, $5) as "claimed!""#,
                on.scope.tenant().uuid(),
                on.agent.uuid(),
                on.bot.uuid(),
                scope_id,
                name
            )
            .fetch_one(connection)
            .await?;
            Ok(claimed)
        })
    }

    async fn note_command(&self, on: AgentOnBot, command: &HeldCommand) -> Result<(), StoreError> {
        let HeldCommand { scope_id, name, registered: told } = command.clone();
        let (digest, id) = told.unzip();
        run_to_end!(self.for_tenant("store a command", on.scope), |connection| {
            sqlx::query!(
                "update commands set told_sha256 = $6, command_id = $7
                 where tenant_id = $1 and agent_id = $2 and bot_id = $3 and scope_id = $4
                   and name = $5",
                on.scope.tenant().uuid(),
                on.agent.uuid(),
                on.bot.uuid(),
                scope_id,
                name,
                digest.map(|digest| digest.bytes().to_vec()),
                id
            )
            .execute(connection)
            .await?;
            Ok(())
        })
    }

    async fn drop_command(
        &self,
        on: AgentOnBot,
        scope_id: &str,
        name: &str,
    ) -> Result<(), StoreError> {
        let (scope_id, name) = (scope_id.to_owned(), name.to_owned());
        run_to_end!(self.for_tenant("drop a command", on.scope), |connection| {
            sqlx::query!(
                "delete from commands
                 where tenant_id = $1 and agent_id = $2 and bot_id = $3 and scope_id = $4
                   and name = $5",
                on.scope.tenant().uuid(),
                on.agent.uuid(),
                on.bot.uuid(),
                scope_id,
                name
            )
            .execute(connection)
            .await?;
            Ok(())
        })
    }
}

fn command_on_platform(digest: &[u8], id: String) -> Result<(CommandDigest, String), sqlx::Error> {
    let digest = CommandDigest::read(digest);
    Ok((digest.ok_or_else(|| bad_column("commands", "told_sha256"))?, id))
}
