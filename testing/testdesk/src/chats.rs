//! Provides a store of chats that can be made to fail.

use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use nightdesk_types::StoreError;
use nightdesk_webchat::store::{Amend, Answer, Chat, News, Said, Store, Written};

use nightdesk_memory::Memory;

/// The store of chats. While it is down it writes no messages of visitors.
pub(super) struct Chats {
    pub(super) store: Memory,
    pub(super) down: AtomicBool,
}

#[async_trait]
impl Store for Chats {
    async fn said(&self, chat: &Chat, said: &Said) -> Result<Written, StoreError> {
        if self.down.load(Ordering::Relaxed) {
            return Err(StoreError::unavailable("write a line", "taken down by the test"));
        }
        self.store.said(chat, said).await
    }

    async fn answered(&self, chat: &Chat, answer: &Answer) -> Result<i64, StoreError> {
        self.store.answered(chat, answer).await
    }

    async fn amend(&self, chat: &Chat, message: i64, amend: &Amend) -> Result<bool, StoreError> {
        self.store.amend(chat, message, amend).await
    }

    async fn show(&self, chat: &Chat, status: Option<&str>) -> Result<(), StoreError> {
        self.store.show(chat, status).await
    }

    async fn since(&self, chat: &Chat, after: i64, lines_max: usize) -> Result<News, StoreError> {
        self.store.since(chat, after, lines_max).await
    }

    async fn latest(&self, chat: &Chat, lines_max: usize) -> Result<News, StoreError> {
        self.store.latest(chat, lines_max).await
    }

    async fn forget(&self) -> Result<u64, StoreError> {
        self.store.forget().await
    }
}
