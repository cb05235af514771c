//! The store of jobs and fires. What an operator sees of them has a file of its own.

mod operator;
mod row;

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_inbox::TestEntry;
use nightdesk_register::audit::Kind;
use nightdesk_schedule::{
    Arm, Armed, Cancelled, Cause, Claimed, Claims, End, FireEntry, JobId, Report, Store, Unarmed,
};
use nightdesk_types::limits::{
    FIRE_CALL_HELD, FIRE_DEADLINE, FIRE_LATE, FIRES_SWEPT_MAX, NOTICES_KEPT_MAX, RUN_MAX,
    UNARMED_AFTER,
};
use nightdesk_types::{
    Actor, AgentId, FireId, Node, Seq, StoreError, TenantId, TenantScope, Timestamp,
};
use serde_json::json;
use sqlx::PgConnection;
use uuid::Uuid;

use self::row::{ArmedRow, ClaimedRow, claims, job_id, millis, written};
use crate::Pg;
use crate::inbox::put_by_hand;
use crate::register::audit::tell;
use crate::row::{misfit, moment};

#[async_trait]
impl Store for Pg {
    async fn arm(
        &self,
        scope: TenantScope,
        agent: AgentId,
        arm: &Arm,
    ) -> Result<Armed, StoreError> {
        let arm = arm.clone();
        if scope.actor() != Actor::Operator {
            return self
                .single("arm a job", move |connection| {
                    Box::pin(armed(connection, (scope, agent), arm))
                })
                .await;
        }
        self.scoped("arm a job", scope, move |connection| {
            Box::pin(async move {
                let about = json!({ "agent_id": agent, "job": arm.job.as_str() });
                let armed = armed(&mut *connection, (scope, agent), arm).await?;
                tell(connection, scope, Kind::JobArmed, about).await?;
                Ok(armed)
            })
        })
        .await
    }

    async fn cancel(
        &self,
        scope: TenantScope,
        agent: AgentId,
        job: &JobId,
    ) -> Result<Cancelled, StoreError> {
        let job = job.clone();
        if scope.actor() != Actor::Operator {
            return self
                .single("cancel a job", move |connection| {
                    Box::pin(cancelled(connection, (scope, agent), job))
                })
                .await;
        }
        self.scoped("cancel a job", scope, move |connection| {
            Box::pin(async move {
                let about = json!({ "agent_id": agent, "job": job.as_str() });
                let came = cancelled(&mut *connection, (scope, agent), job).await?;
                if came == Cancelled::Cancelled {
                    tell(connection, scope, Kind::JobCancelled, about).await?;
                }
                Ok(came)
            })
        })
        .await
    }

    async fn armed(&self, scope: TenantScope, agent: AgentId) -> Result<Vec<Armed>, StoreError> {
        self.single("look what is armed", move |connection| {
            Box::pin(async move {
                let rows = sqlx::query_as!(
                    ArmedRow,
                    r#"select schedule_id as "schedule_id!", arming as "arming!", job_id as "job_id!",
                           fire_at as "fire_at!", by_inbox as "by_inbox!", target as "target!",
                           recurring or recurs as "recurring!", reports as "reports!",
                           overlap as "overlap!", catch_up_ms as "catch_up_ms!",
                           jitter_ms as "jitter_ms!"
                       from schedules_armed_for(works_for($1), $2)"#,
                    scope.tenant().uuid(),
                    agent.uuid()
                )
                .fetch_all(connection)
                .await?;
                rows.into_iter().map(ArmedRow::armed).collect()
            })
        })
        .await
    }

    async fn claim(&self, node: &Node, at_most: usize) -> Result<Claims, StoreError> {
        let node = node.clone();
        self.single("claim fires", move |connection| {
            Box::pin(async move {
                let rows = sqlx::query_as!(
                    ClaimedRow,
                    r#"select tenant, agent, job, arming, fire, fire_at, by_inbox, target, state,
                           cause, tries, outcome, began_at as "began_at: jiff_sqlx::Timestamp",
                           ended_at as "ended_at: jiff_sqlx::Timestamp", next_ms
                       from fire_claim(
                           $1, $2, $3, make_interval(secs => $4), make_interval(secs => $5),
                           make_interval(secs => $6), make_interval(secs => $7),
                           make_interval(secs => $8), $9
                       )"#,
                    node.name,
                    node.epoch.get(),
                    i32::try_from(at_most).unwrap_or(i32::MAX),
                    FIRE_CALL_HELD.as_secs_f64(),
                    FIRE_DEADLINE.as_secs_f64(),
                    RUN_MAX.as_secs_f64(),
                    FIRE_LATE.as_secs_f64(),
                    UNARMED_AFTER.as_secs_f64(),
                    NOTICES_KEPT_MAX
                )
                .fetch_all(connection)
                .await?;
                claims(rows)
            })
        })
        .await
    }

    async fn end(&self, claimed: &Claimed, end: End, outcome: &str) -> Result<bool, StoreError> {
        let (key, outcome) = (Key::of(claimed), outcome.to_owned());
        let cause = match end {
            End::Taken => None,
            End::Missed(cause) => Some(cause),
        };
        self.single("end a fire", move |connection| {
            Box::pin(async move { ended(connection, &key, cause, &outcome).await })
        })
        .await
    }

    async fn put(
        &self,
        claimed: &Claimed,
        entry: &FireEntry,
        outcome: &str,
    ) -> Result<Option<Seq>, StoreError> {
        let (key, agent, outcome) = (Key::of(claimed), claimed.agent, outcome.to_owned());
        let FireEntry { bot, chat_id, body } = entry.clone();
        let entry = TestEntry { bot, chat_id, body };
        self.scoped("put a fire", claimed.scope, move |connection| {
            Box::pin(async move {
                if !ended(connection, &key, None, &outcome).await? {
                    return Ok(None);
                }
                put_by_hand(connection, (key.tenant, agent.uuid()), &entry).await
            })
        })
        .await
    }

    async fn again(
        &self,
        claimed: &Claimed,
        outcome: &str,
        wait: Duration,
        counts: bool,
    ) -> Result<bool, StoreError> {
        let (key, outcome) = (Key::of(claimed), outcome.to_owned());
        self.single("note a try", move |connection| {
            Box::pin(async move {
                sqlx::query_scalar!(
                    r#"select fire_again(works_for($1), $2, $3, $4, make_interval(secs => $5), $6)
                           as "was_newest!""#,
                    key.tenant,
                    key.fire,
                    key.tries,
                    outcome,
                    wait.as_secs_f64(),
                    counts
                )
                .fetch_one(connection)
                .await
            })
        })
        .await
    }

    async fn report(
        &self,
        (scope, agent): (TenantScope, AgentId),
        fire: FireId,
        report: &Report,
    ) -> Result<bool, StoreError> {
        let report = report.clone();
        self.single("note the end of a run", move |connection| {
            Box::pin(async move {
                sqlx::query_scalar!(
                    r#"select fire_report(works_for($1), $2, $3, $4, $5, make_interval(secs => $6),
                           make_interval(secs => $7), $8) as "is_news!""#,
                    scope.tenant().uuid(),
                    agent.uuid(),
                    fire.uuid(),
                    report.ok,
                    report.note,
                    FIRE_LATE.as_secs_f64(),
                    UNARMED_AFTER.as_secs_f64(),
                    NOTICES_KEPT_MAX
                )
                .fetch_one(connection)
                .await
            })
        })
        .await
    }

    async fn flag_unarmed(&self) -> Result<Vec<Unarmed>, StoreError> {
        self.single("flag jobs that are not armed", |connection| {
            Box::pin(async move {
                let rows = sqlx::query!(
                    r#"select tenant as "tenant!", agent as "agent!", job as "job!"
                       from flag_unarmed($1, $2)"#,
                    FIRES_SWEPT_MAX,
                    NOTICES_KEPT_MAX
                )
                .fetch_all(connection)
                .await?;
                let unarmed = rows.into_iter().map(|row| {
                    Ok(Unarmed {
                        scope: TenantScope::of(TenantId::from_uuid(row.tenant)),
                        agent: AgentId::from_uuid(row.agent),
                        job: job_id(row.job)?,
                    })
                });
                unarmed.collect()
            })
        })
        .await
    }
}

/// Arms a job.
async fn armed(
    connection: &mut PgConnection,
    (scope, agent): (TenantScope, AgentId),
    arm: Arm,
) -> sqlx::Result<Armed> {
    let (by_inbox, target) = written(arm.to);
    let row = sqlx::query_as!(
        ArmedRow,
        r#"select schedule_id as "schedule_id!", arming as "arming!", job_id as "job_id!",
               fire_at as "fire_at!", by_inbox as "by_inbox!", target as "target!",
               recurring or recurs as "recurring!", reports as "reports!",
               overlap as "overlap!", catch_up_ms as "catch_up_ms!",
               jitter_ms as "jitter_ms!"
           from schedule_arm(works_for($1), $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"#,
        scope.tenant().uuid(),
        agent.uuid(),
        arm.job.as_str(),
        arm.fire_at.as_str(),
        // Whatever is older is as due as can be, and the database knows no older times.
        moment(arm.fire_at.instant().max(Timestamp::UNIX_EPOCH)) as jiff_sqlx::Timestamp,
        by_inbox,
        target,
        arm.recurring,
        arm.reports,
        arm.policies.overlap.slug(),
        millis(arm.policies.catch_up),
        millis(arm.policies.jitter)
    )
    .fetch_one(connection)
    .await?;
    row.armed()
}

/// Cancels a job.
async fn cancelled(
    connection: &mut PgConnection,
    (scope, agent): (TenantScope, AgentId),
    job: JobId,
) -> sqlx::Result<Cancelled> {
    let came = sqlx::query_scalar!(
        r#"select schedule_cancel(works_for($1), $2, $3) as "came!""#,
        scope.tenant().uuid(),
        agent.uuid(),
        job.as_str()
    )
    .fetch_one(connection)
    .await?;
    match came.as_str() {
        "cancelled" => Ok(Cancelled::Cancelled),
        "under way" => Ok(Cancelled::UnderWay),
        "unknown" => Ok(Cancelled::Unknown),
        _ => Err(misfit("schedule_cancel", "came")),
    }
}

/// Which try of which fire.
struct Key {
    tenant: Uuid,
    fire: Uuid,
    tries: i32,
}

impl Key {
    fn of(claimed: &Claimed) -> Self {
        Self {
            tenant: claimed.scope.tenant().uuid(),
            fire: claimed.fire.uuid(),
            tries: i32::try_from(claimed.tries).unwrap_or(i32::MAX),
        }
    }
}

/// Ends a fire; without a cause it was taken. Answers whether it was open.
async fn ended(
    connection: &mut PgConnection,
    key: &Key,
    cause: Option<Cause>,
    outcome: &str,
) -> sqlx::Result<bool> {
    sqlx::query_scalar!(
        r#"select fire_end(works_for($1), $2, $3, $4, $5, $6, make_interval(secs => $7),
                           make_interval(secs => $8), $9) as "was_open!""#,
        key.tenant,
        key.fire,
        key.tries,
        cause.map(|cause| cause.state().slug()),
        cause.map(Cause::slug),
        outcome,
        FIRE_LATE.as_secs_f64(),
        UNARMED_AFTER.as_secs_f64(),
        NOTICES_KEPT_MAX
    )
    .fetch_one(connection)
    .await
}
