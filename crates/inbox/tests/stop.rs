//! Tests of the inbox in front of its store.
#![expect(clippy::expect_used, reason = "a test that cannot set up should stop")]

use std::sync::Arc;

use async_trait::async_trait;
use nightdesk_gate::known::Agent;
use nightdesk_gate::{Admitted, Change, Gate, KeptRefusal, Prompt, Reach, Recipient, RefusalNote};
use nightdesk_inbox::{
    Accept, Ack, AckOf, Ask, Inbox, LineClaim, Park, ParkReason, Put, Quarantine, SourceMark,
    Store, Waiting,
};
use nightdesk_testkit::builders::{bot, event, everybodys};
use nightdesk_types::limits::SOURCE_REFUSED_WITHIN;
use nightdesk_types::{AgentId, BotId, Event, NodeEpoch, Seq, StoreError, TenantId, TenantScope};
use tokio::time::Instant;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

/// A store that never answers, and a gate that admits everyone.
struct Silent;

fn scope() -> TenantScope {
    TenantScope::of(TenantId::from_uuid(Uuid::nil()))
}

#[async_trait]
impl nightdesk_gate::Store for Silent {
    async fn changes(&self, _: BotId, _: Option<i64>) -> Result<Change, StoreError> {
        let agent = AgentId::from_uuid(Uuid::nil());
        Ok(everybodys(Recipient { scope: scope(), agent, version: 0 }))
    }

    async fn changed(&self, _: &[(BotId, i64)]) -> Result<Vec<BotId>, StoreError> {
        Ok(Vec::new())
    }

    async fn reaches(&self, _: TenantScope, _: AgentId, _: &str) -> Result<Vec<Reach>, StoreError> {
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

    async fn ask(&self, _: TenantScope, _: AgentId, _: Prompt<'_>) -> Result<bool, StoreError> {
        unreachable!("nobody asks")
    }

    async fn asker(&self, _: Prompt<'_>) -> Result<Option<Agent>, StoreError> {
        unreachable!("nobody asks")
    }

    async fn refusals(&self, _: TenantScope, _: &str) -> Result<Vec<KeptRefusal>, StoreError> {
        unreachable!("nobody asks")
    }

    async fn note_refusals(&self, _: &[RefusalNote]) -> Result<(), StoreError> {
        Ok(())
    }
}

#[async_trait]
impl Store for Silent {
    async fn accept(&self, _: &[Accept]) -> Result<Vec<Put>, StoreError> {
        std::future::pending().await
    }

    async fn waiting(&self, _: &[Ask]) -> Result<Vec<Waiting>, StoreError> {
        std::future::pending().await
    }

    async fn ack(&self, _: &[AckOf]) -> Result<Vec<Ack>, StoreError> {
        std::future::pending().await
    }

    async fn park(&self, _: &LineClaim, _: Seq, _: ParkReason) -> Result<Park, StoreError> {
        std::future::pending().await
    }

    async fn heads(&self, _: &[(TenantScope, AgentId)]) -> Result<Vec<Seq>, StoreError> {
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
        _: &SourceMark,
    ) -> Result<bool, StoreError> {
        std::future::pending().await
    }

    async fn quarantine(&self, _: &Quarantine) -> Result<(), StoreError> {
        std::future::pending().await
    }
}

async fn admitted() -> Admitted<Event> {
    let bot = bot(BotId::from_uuid(Uuid::nil()), scope());
    event().admitted(&bot, &Gate::over(Arc::new(Silent))).await.expect("everybody is let in")
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
