//! Tests of the inbox in front of its store.
#![expect(clippy::expect_used, reason = "a test that cannot set up should stop")]

use std::sync::Arc;

use async_trait::async_trait;
use nightdesk_gate::bot_reach::ScopedAgent;
use nightdesk_gate::{
    AdmittedEvent, BotMessage, BotPrompt, Gate, Reach, ReachChange, Recipient, RefusalNote,
    StoredRefusal,
};
use nightdesk_inbox::{
    AcceptRequest, AckOutcome, AckRequest, Inbox, LineClaim, ParkOutcome, ParkReason, PutOutcome,
    QuarantinedEvent, ReadRequest, ReadResponse, SourceCursor, Store,
};
use nightdesk_testkit::builders::{bot, event, everybodys};
use nightdesk_types::limits::SOURCE_REFUSED_WITHIN;
use nightdesk_types::{AgentId, BotId, NodeEpoch, Seq, StoreError, TenantId, TenantScope};
use tokio::time::Instant;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

/// A store that never answers, and a gate that admits everyone.
struct Silent;

fn scope() -> TenantScope {
    TenantScope::for_tenant(TenantId::from_uuid(Uuid::nil()))
}

#[async_trait]
impl nightdesk_gate::Store for Silent {
    async fn read_changes(&self, _: BotId, _: Option<i64>) -> Result<ReachChange, StoreError> {
        let agent = AgentId::from_uuid(Uuid::nil());
        Ok(everybodys(Recipient { scope: scope(), agent, version: 0 }))
    }

    async fn changed_bots(&self, _: &[(BotId, i64)]) -> Result<Vec<BotId>, StoreError> {
        Ok(Vec::new())
    }

    async fn find_reaches(
        &self,
        _: TenantScope,
        _: AgentId,
        _: &str,
    ) -> Result<Vec<Reach>, StoreError> {
        Ok(Vec::new())
    }

    async fn takes_part(
        &self,
        _: TenantScope,
        _: AgentId,
        _: BotId,
        _: &str,
    ) -> Result<bool, StoreError> {
        Ok(false)
    }

    async fn record_prompt(
        &self,
        _: TenantScope,
        _: AgentId,
        _: BotPrompt<'_>,
    ) -> Result<bool, StoreError> {
        unreachable!("nobody asks")
    }

    async fn find_prompt_agent(&self, _: BotPrompt<'_>) -> Result<Option<ScopedAgent>, StoreError> {
        unreachable!("nobody asks")
    }

    async fn find_message_sender(&self, _: &BotMessage) -> Result<Option<ScopedAgent>, StoreError> {
        unreachable!("nobody asks")
    }

    async fn read_refusals(
        &self,
        _: TenantScope,
        _: &str,
    ) -> Result<Vec<StoredRefusal>, StoreError> {
        unreachable!("nobody asks")
    }

    async fn note_refusals(&self, _: &[RefusalNote]) -> Result<(), StoreError> {
        Ok(())
    }
}

#[async_trait]
impl Store for Silent {
    async fn accept(&self, _: &[AcceptRequest]) -> Result<Vec<PutOutcome>, StoreError> {
        std::future::pending().await
    }

    async fn read_waiting(&self, _: &[ReadRequest]) -> Result<Vec<ReadResponse>, StoreError> {
        std::future::pending().await
    }

    async fn ack(&self, _: &[AckRequest]) -> Result<Vec<AckOutcome>, StoreError> {
        std::future::pending().await
    }

    async fn park(&self, _: &LineClaim, _: Seq, _: ParkReason) -> Result<ParkOutcome, StoreError> {
        std::future::pending().await
    }

    async fn read_heads(&self, _: &[(TenantScope, AgentId)]) -> Result<Vec<Seq>, StoreError> {
        std::future::pending().await
    }

    async fn take_source(
        &self,
        _: TenantScope,
        _: BotId,
        _: &str,
    ) -> Result<(NodeEpoch, Option<String>), StoreError> {
        std::future::pending().await
    }

    async fn move_cursor(
        &self,
        _: TenantScope,
        _: BotId,
        _: &SourceCursor,
    ) -> Result<bool, StoreError> {
        std::future::pending().await
    }

    async fn quarantine(&self, _: &QuarantinedEvent) -> Result<(), StoreError> {
        std::future::pending().await
    }
}

async fn admitted() -> AdmittedEvent {
    let bot = bot(BotId::from_uuid(Uuid::nil()), scope());
    event().admitted(&bot, &Gate::new(Arc::new(Silent))).await.expect("everybody is let in")
}

#[tokio::test(start_paused = true)]
async fn a_source_is_refused_in_time_when_the_store_is_silent() {
    let inbox = Inbox::start(Arc::new(Silent), &TaskTracker::new());
    let admitted = admitted().await;
    let asked = Instant::now();

    let refused = inbox.put(&admitted, None).await.expect_err("nothing was stored");
    assert!(refused.retryable, "the source should come again");
    assert_eq!(asked.elapsed(), SOURCE_REFUSED_WITHIN);
}
