//! The store of lines of a test desk.

use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use nightdesk_inbox::LineClaim;
use nightdesk_line::{AuthenticatedGateway, CloseRecord, LineStart};
use nightdesk_memory::Memory;
use nightdesk_types::{ClientRules, Node, StoreError};

/// The store of lines, which can be made to fail.
pub(crate) struct Lines {
    pub(crate) store: Memory,
    pub(crate) down: AtomicBool,
}

#[async_trait]
impl nightdesk_line::Store for Lines {
    async fn take(
        &self,
        caller: &AuthenticatedGateway,
        node: &Node,
        rules: Option<ClientRules>,
    ) -> Result<LineStart, StoreError> {
        if self.down.load(Ordering::Relaxed) {
            return Err(StoreError::unavailable("take a line", "taken down by the test"));
        }
        self.store.take(caller, node, rules).await
    }

    async fn close(&self, line: &LineClaim, end: CloseRecord) -> Result<(), StoreError> {
        nightdesk_line::Store::close(&self.store, line, end).await
    }
}
