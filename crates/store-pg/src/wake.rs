//! The store of wakes. What an operator asks of it has a file of its own.

pub(crate) mod operator;

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_types::limits::{
    BURIED_LINES_MAX, CALL_GAP, NOTICES_KEPT_MAX, WAKE_DEADLINE, WAKE_PLACES_MAX,
};
use nightdesk_types::{AgentId, BotId, Generation, StoreError, TenantId, TenantScope};
use nightdesk_wake::{Claimed, Place, Step, Store, Terms, Which};
use uuid::Uuid;

use crate::Pg;
use crate::row::{misfit, moment};

#[async_trait]
impl Store for Pg {
    async fn claim(&self, which: Which, terms: &Terms) -> Result<Vec<Claimed>, StoreError> {
        let terms = *terms;
        let rows = self
            .single("claim wakes", move |connection| {
                Box::pin(async move {
                    let (one, most) = match which {
                        Which::Due(most) => (None, most),
                        Which::Of(scope, agent) => (Some((scope.tenant().uuid(), agent.uuid())), 0),
                    };
                    sqlx::query_as!(
                        Row,
                        r#"select tenant as "tenant!", agent as "agent!", step as "step!",
                               since as "since!: jiff_sqlx::Timestamp", calls as "calls!", outcome,
                               urls as "urls!", bots as "bots!", chats as "chats!", parting
                           from wake_claim(
                               $1, $2, $3, $4, $5, make_interval(secs => $6),
                               make_interval(secs => $7), $8, $9
                           )"#,
                        one.map(|(tenant, _)| tenant),
                        one.map(|(_, agent)| agent),
                        count(most),
                        count(WAKE_PLACES_MAX),
                        terms.has_command,
                        CALL_GAP.as_secs_f64(),
                        WAKE_DEADLINE.as_secs_f64(),
                        i32::try_from(terms.wakes_per_hour).unwrap_or(i32::MAX),
                        NOTICES_KEPT_MAX
                    )
                    .fetch_all(connection)
                    .await
                })
            })
            .await?;
        let claimed: sqlx::Result<_> = rows.into_iter().map(Row::claimed).collect();
        claimed.map_err(|error| StoreError::broken("claim wakes", error))
    }

    async fn note(
        &self,
        claimed: &Claimed,
        outcome: &str,
        wait: Duration,
    ) -> Result<(), StoreError> {
        let (key, outcome) = (Key::of(claimed), outcome.to_owned());
        self.single("note a call", move |connection| {
            Box::pin(async move {
                sqlx::query!(
                    "select wake_note(works_for($1), $2, $3, $4, $5, make_interval(secs => $6))",
                    key.tenant,
                    key.agent,
                    key.since as jiff_sqlx::Timestamp,
                    key.calls,
                    outcome,
                    wait.as_secs_f64()
                )
                .execute(connection)
                .await?;
                Ok(())
            })
        })
        .await
    }

    async fn put_off(&self, claimed: &Claimed, wait: Duration) -> Result<(), StoreError> {
        let key = Key::of(claimed);
        self.single("put a call off", move |connection| {
            Box::pin(async move {
                sqlx::query!(
                    "select wake_put_off(works_for($1), $2, $3, $4, make_interval(secs => $5))",
                    key.tenant,
                    key.agent,
                    key.since as jiff_sqlx::Timestamp,
                    key.calls,
                    wait.as_secs_f64()
                )
                .execute(connection)
                .await?;
                Ok(())
            })
        })
        .await
    }

    async fn told(&self, claimed: &Claimed) -> Result<(), StoreError> {
        let key = Key::of(claimed);
        self.scoped("note who was told", claimed.scope, move |connection| {
            Box::pin(async move {
                sqlx::query!(
                    "update wakes set due_at = null
                     where tenant_id = $1 and agent_id = $2 and since = $3
                       and state = 'unreachable'",
                    key.tenant,
                    key.agent,
                    key.since as jiff_sqlx::Timestamp
                )
                .execute(connection)
                .await?;
                Ok(())
            })
        })
        .await
    }

    async fn suspect(
        &self,
        scope: TenantScope,
        agent: AgentId,
        line: Generation,
    ) -> Result<(), StoreError> {
        self.single("suspect a line", move |connection| {
            Box::pin(async move {
                sqlx::query!(
                    "select line_suspect(works_for($1), $2, $3)",
                    scope.tenant().uuid(),
                    agent.uuid(),
                    line.get()
                )
                .execute(connection)
                .await?;
                Ok(())
            })
        })
        .await
    }

    async fn bury(&self) -> Result<u64, StoreError> {
        self.single("close lines of dead nodes", |connection| {
            Box::pin(async move {
                let buried =
                    sqlx::query_scalar!(r#"select bury_lines($1) as "buried!""#, BURIED_LINES_MAX)
                        .fetch_one(connection)
                        .await?;
                Ok(buried.unsigned_abs())
            })
        })
        .await
    }
}

/// Which attempt of which wake.
struct Key {
    tenant: Uuid,
    agent: Uuid,
    since: jiff_sqlx::Timestamp,
    calls: i32,
}

impl Key {
    fn of(claimed: &Claimed) -> Self {
        Self {
            tenant: claimed.scope.tenant().uuid(),
            agent: claimed.agent.uuid(),
            since: moment(claimed.since),
            calls: i32::try_from(claimed.calls).unwrap_or(i32::MAX),
        }
    }
}

struct Row {
    tenant: Uuid,
    agent: Uuid,
    step: String,
    since: jiff_sqlx::Timestamp,
    calls: i32,
    outcome: Option<String>,
    urls: Vec<String>,
    bots: Vec<Uuid>,
    chats: Vec<String>,
    parting: Option<String>,
}

impl Row {
    fn claimed(self) -> sqlx::Result<Claimed> {
        let places = self.bots.into_iter().zip(self.chats);
        Ok(Claimed {
            scope: TenantScope::of(TenantId::from_uuid(self.tenant)),
            agent: AgentId::from_uuid(self.agent),
            step: match self.step.as_str() {
                "call" => Step::Call,
                "held" => Step::Held,
                "gave up" => Step::GaveUp,
                _ => return Err(misfit("wake_claim", "step")),
            },
            since: self.since.to_jiff(),
            calls: self.calls.unsigned_abs(),
            outcome: self.outcome,
            urls: self.urls,
            places: places
                .map(|(bot, chat_id)| Place { bot: BotId::from_uuid(bot), chat_id })
                .collect(),
            went_idle: self.parting.as_deref() == Some("idle"),
        })
    }
}

fn count(most: usize) -> i32 {
    i32::try_from(most).unwrap_or(i32::MAX)
}
