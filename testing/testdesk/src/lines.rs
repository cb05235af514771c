//! The store of lines of a test desk.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_inbox::LineClaim;
use nightdesk_line::{CloseRecord, HeldLine, LineRequest, LineStart};
use nightdesk_memory::Memory;
use nightdesk_protocol::session_names::SessionNames;
use nightdesk_types::{AgentId, StoreError, TenantScope};

use crate::TestDesk;

/// The store of lines, which can be made to fail.
pub(crate) struct Lines {
    pub(crate) store: Memory,
    pub(crate) down: AtomicBool,
}

#[async_trait]
impl nightdesk_line::Store for Lines {
    async fn take(&self, line: LineRequest<'_>) -> Result<LineStart, StoreError> {
        if self.down.load(Ordering::Relaxed) {
            return Err(StoreError::unavailable("take a line", "taken down by the test"));
        }
        nightdesk_line::Store::take(&self.store, line).await
    }

    async fn find_held_line(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Option<HeldLine>, StoreError> {
        nightdesk_line::Store::find_held_line(&self.store, scope, agent).await
    }

    async fn tell_sessions(
        &self,
        line: &LineClaim,
        sessions: &SessionNames,
    ) -> Result<(), StoreError> {
        nightdesk_line::Store::tell_sessions(&self.store, line, sessions).await
    }

    async fn close(&self, line: &LineClaim, end: CloseRecord) -> Result<(), StoreError> {
        nightdesk_line::Store::close(&self.store, line, end).await
    }
}

impl TestDesk {
    /// Takes as many places in the dial queue as this many concurrent dials would, at a later time.
    pub fn herd(&self, dials: u32, ahead: Duration) {
        let now = self.room.clock.moment() + ahead;
        let let_in =
            (0..dials).filter(|_| self.room.dials.reserve_place(now, now).is_some()).count();
        assert!(let_in > 0, "a herd comes in one after the other");
    }

    /// Makes the store of lines fail from now on, or work again.
    pub fn lines_are_down(&self, down: bool) {
        self.lines.down.store(down, Ordering::Relaxed);
    }
}
