//! Provides a store of chats that can be made to fail.

use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use nightdesk_types::StoreError;
use nightdesk_webchat::store::{
    AgentMessage, ChatUpdate, LineChange, Store, VisitorChat, VisitorMessage, WriteOutcome,
};

use nightdesk_memory::Memory;

/// The store of chats. While it is down it writes no messages of visitors.
pub(super) struct Chats {
    pub(super) store: Memory,
    pub(super) down: AtomicBool,
}

#[async_trait]
impl Store for Chats {
    async fn write_visitor_message(
        &self,
        chat: &VisitorChat,
        said: &VisitorMessage,
    ) -> Result<WriteOutcome, StoreError> {
        if self.down.load(Ordering::Relaxed) {
            return Err(StoreError::unavailable("write a line", "taken down by the test"));
        }
        self.store.write_visitor_message(chat, said).await
    }

    async fn write_agent_message(
        &self,
        chat: &VisitorChat,
        answer: &AgentMessage,
    ) -> Result<i64, StoreError> {
        self.store.write_agent_message(chat, answer).await
    }

    async fn change_line(
        &self,
        chat: &VisitorChat,
        message: i64,
        amend: &LineChange,
    ) -> Result<bool, StoreError> {
        self.store.change_line(chat, message, amend).await
    }

    async fn set_status(&self, chat: &VisitorChat, status: Option<&str>) -> Result<(), StoreError> {
        self.store.set_status(chat, status).await
    }

    async fn lines_since(
        &self,
        chat: &VisitorChat,
        after: i64,
        lines_max: usize,
    ) -> Result<ChatUpdate, StoreError> {
        self.store.lines_since(chat, after, lines_max).await
    }

    async fn latest_lines(
        &self,
        chat: &VisitorChat,
        lines_max: usize,
    ) -> Result<ChatUpdate, StoreError> {
        self.store.latest_lines(chat, lines_max).await
    }

    async fn delete_old(&self) -> Result<u64, StoreError> {
        self.store.delete_old().await
    }
}

impl crate::TestDesk {
    /// Makes the store of chats fail to write visitors' messages, or work again.
    pub fn chats_are_down(&self, down: bool) {
        self.chats.down.store(down, Ordering::Relaxed);
    }
}
