//! The conformance suites on PostgreSQL.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_conformance::{Harness, TimedHarness};
use nightdesk_line::{AuthenticatedGateway, LineRequest};
use nightdesk_store_pg::Pg;
use nightdesk_types::{BotId, Clock, Node, SystemClock, TenantScope, Timestamp, Transport};

use crate::server::{Database, run};

/// A fresh database behind every port.
pub(crate) struct Postgres {
    pub(crate) database: Database,
    pub(crate) store: Arc<Pg>,
    /// The number of days by which rows were aged.
    days: AtomicU64,
}

/// Creates a fresh store.
pub(crate) async fn postgres() -> Postgres {
    let database = Database::new().await;
    let store = Arc::new(database.store());
    Postgres { database, store, days: AtomicU64::new(0) }
}

/// Returns the request for the line of a gateway that opened a WebSocket.
pub(crate) const fn web_socket<'a>(
    caller: &'a AuthenticatedGateway,
    node: &'a Node,
) -> LineRequest<'a> {
    LineRequest { caller, node, transport: Transport::WebSocket, rules: None }
}

#[async_trait]
impl Harness for Postgres {
    fn gate(&self) -> Arc<dyn nightdesk_gate::Store> {
        Arc::<Pg>::clone(&self.store)
    }

    fn inbox(&self) -> Arc<dyn nightdesk_inbox::Store> {
        Arc::<Pg>::clone(&self.store)
    }

    fn aside(&self) -> Arc<dyn nightdesk_inbox::InboxAdmin> {
        Arc::<Pg>::clone(&self.store)
    }

    fn upkeep(&self) -> Arc<dyn nightdesk_inbox::InboxSweeper> {
        Arc::<Pg>::clone(&self.store)
    }

    fn lines(&self) -> Arc<dyn nightdesk_line::Store> {
        Arc::<Pg>::clone(&self.store)
    }

    fn egress(&self) -> Arc<dyn nightdesk_egress::Store> {
        Arc::<Pg>::clone(&self.store)
    }

    fn lease(&self) -> Arc<dyn nightdesk_lease::Store> {
        Arc::<Pg>::clone(&self.store)
    }

    fn register(&self) -> Arc<dyn nightdesk_register::Store> {
        Arc::<Pg>::clone(&self.store)
    }

    fn wake(&self) -> Arc<dyn nightdesk_wake::Store> {
        Arc::<Pg>::clone(&self.store)
    }

    fn wakers(&self) -> Arc<dyn nightdesk_wake::WakeAdmin> {
        Arc::<Pg>::clone(&self.store)
    }

    fn schedule(&self) -> Arc<dyn nightdesk_schedule::Store> {
        Arc::<Pg>::clone(&self.store)
    }

    fn jobs(&self) -> Arc<dyn nightdesk_schedule::JobAdmin> {
        Arc::<Pg>::clone(&self.store)
    }

    fn skills(&self) -> Arc<dyn nightdesk_shelf::Skills> {
        Arc::<Pg>::clone(&self.store)
    }

    fn records(&self) -> Arc<dyn nightdesk_shelf::Records> {
        Arc::<Pg>::clone(&self.store)
    }

    fn letters(&self) -> Arc<dyn nightdesk_letters::Store> {
        Arc::<Pg>::clone(&self.store)
    }

    fn media(&self) -> Arc<dyn nightdesk_media::Store> {
        Arc::<Pg>::clone(&self.store)
    }

    fn users(&self) -> Arc<dyn nightdesk_users::UserStore> {
        Arc::<Pg>::clone(&self.store)
    }

    fn alerts(&self) -> Arc<dyn nightdesk_alerts::AlertStore> {
        Arc::<Pg>::clone(&self.store)
    }

    fn alert_ways(&self) -> Arc<dyn nightdesk_alerts::AlertAdmin> {
        Arc::<Pg>::clone(&self.store)
    }

    fn office(&self) -> Arc<dyn nightdesk_office::OfficeReads> {
        Arc::<Pg>::clone(&self.store)
    }

    fn webchat(&self) -> Arc<dyn nightdesk_webchat::store::Store> {
        Arc::<Pg>::clone(&self.store)
    }

    async fn refusals(&self, scope: TenantScope) -> Vec<String> {
        sqlx::query_scalar("select event_key from refusals where tenant_id = $1 order by number")
            .bind(scope.tenant().uuid())
            .fetch_all(&mut self.database.admin().await)
            .await
            .expect("read refusals")
    }

    async fn quarantined(&self, operator: TenantScope, bot: BotId) -> usize {
        let kept: i64 = sqlx::query_scalar(
            "select count(*) from quarantined where tenant_id = $1 and bot_id = $2",
        )
        .bind(operator.tenant().uuid())
        .bind(bot.uuid())
        .fetch_one(&mut self.database.admin().await)
        .await
        .expect("count what is quarantined");
        usize::try_from(kept).expect("a count")
    }
}

#[async_trait]
impl TimedHarness for Postgres {
    fn now(&self) -> Timestamp {
        SystemClock::start().now()
    }

    /// Ages every row, because the database's clock cannot be moved.
    async fn let_pass(&self, span: Duration) {
        let mut admin = self.database.admin().await;
        let days = span.as_secs().div_ceil(86_400);
        let behind = self.days.fetch_add(days, Ordering::Relaxed) + days + 1;
        run(&mut admin, &format!("select open_days({behind}, 2)")).await;
        let aged: [(&str, &[&str]); 33] = [
            ("inbox_heads", &["last_at"]),
            ("inbox_cursors", &["acked_at"]),
            ("inbox_entries", &["at"]),
            ("inbox_acks", &["handed_at", "acked_at"]),
            ("inbox_parked", &["at", "parked_at"]),
            ("reached", &["at"]),
            ("lines", &["opened_at", "closed_at"]),
            ("nodes", &["started_at", "expires_at"]),
            (
                "wakes",
                &["since", "due_at", "called_at", "rests_until", "woken_at", "hour_began_at"],
            ),
            ("schedules", &["due_at", "next_at", "watch_at", "flagged_at", "changed_at"]),
            ("fires", &["due_at", "next_at", "began_at", "ended_at", "run_ended_at"]),
            ("letters", &["sent_at", "due_at", "reply_by", "replied_at"]),
            ("letters_in", &["put_at"]),
            ("letter_receipts", &["noted_at"]),
            ("notices", &["at"]),
            ("wake_log", &["since", "called_at", "woken_at", "ended_at"]),
            ("tenant_usage", &["hour", "sampled_at"]),
            ("sends", &["asked_at", "called_at", "settled_at"]),
            ("prompts", &["asked_at"]),
            ("media", &["expires_at"]),
            ("webchat_chats", &["status_at", "seen_at"]),
            ("webchat_messages", &["at"]),
            ("gateways", &["revoked_at"]),
            ("gateway_secrets", &["created_at", "expires_at"]),
            ("oauth_clients", &["expires_at"]),
            ("enrolments", &["expires_at", "used_at"]),
            ("refresh_tokens", &["created_at", "traded_at"]),
            ("quarantined", &["at"]),
            ("alerts", &["opened_at", "seen_at", "resolved_at", "changed_at", "since"]),
            ("alert_ways", &["created_at", "told_at", "tested_at"]),
            ("alert_deliveries", &["opened_at", "began_at", "next_at"]),
            ("node_findings", &["since", "reported_at"]),
            ("bot_hearings", &["heard_at", "said_at", "unheard_since", "told_at"]),
        ];
        for (table, columns) in aged {
            let set: Vec<String> = columns
                .iter()
                .map(|column| {
                    format!("{column} = {column} - make_interval(secs => {})", span.as_secs_f64())
                })
                .collect();
            run(&mut admin, &format!("update {table} set {}", set.join(", "))).await;
        }
        let whole_days = span.as_secs() / 86_400;
        run(&mut admin, &format!("update dedupe_keys set day = day - {whole_days}")).await;
    }
}

nightdesk_conformance::inbox_store_conformance!(postgres().await);
nightdesk_conformance::inbox_model_conformance!(postgres().await, 30);
nightdesk_conformance::line_store_conformance!(postgres().await);
nightdesk_conformance::wake_store_conformance!(postgres().await);
nightdesk_conformance::schedule_store_conformance!(postgres().await);
nightdesk_conformance::letter_store_conformance!(postgres().await);
nightdesk_conformance::gate_store_conformance!(postgres().await);
nightdesk_conformance::register_store_conformance!(postgres().await);
nightdesk_conformance::egress_store_conformance!(postgres().await);
nightdesk_conformance::lease_store_conformance!(postgres().await);
nightdesk_conformance::webchat_store_conformance!(postgres().await);
nightdesk_conformance::user_store_conformance!(postgres().await);
nightdesk_conformance::office_store_conformance!(postgres().await);
nightdesk_conformance::alert_store_conformance!(postgres().await);
nightdesk_conformance::shelf_store_conformance!(postgres().await);
nightdesk_conformance::media_store_conformance!(postgres().await);
nightdesk_conformance::upkeep_conformance!(postgres().await);
nightdesk_conformance::timed_store_conformance!(postgres().await);
