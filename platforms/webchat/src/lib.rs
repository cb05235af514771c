//! Webchat: a page of our own where people write to an agent.
//!
//! # Promise
//!
//! What a visitor writes takes the same road as every other platform's events, and stands in
//! the transcript only after it was taken. A visitor sees their own chat and no other. Nothing
//! an agent writes becomes markup that we did not choose, and no text is in any log or error.
//!
//! Begin with [`Webchat`]: it takes what a page posts ([`Receive`](nightdesk_port::Receive)) and
//! writes what an agent says ([`Deliver`](nightdesk_port::Deliver)). [`session`] says who a
//! visitor is, [`store`] what is kept, [`page`] what is shown. The routes are the API's.

pub mod session;
pub mod words;
pub mod button;
mod receive;
mod deliver;
pub mod store;
pub mod settings;
mod markdown;
pub mod page;
pub mod assets;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use nightdesk_bus::{Bell, Ring};
use nightdesk_port::{Bot, Capabilities, Entrance, Platform};
use nightdesk_types::{Clock, StoreError, Timestamp};

use crate::store::{Chat, Said, Store, Written};

/// The adapter's name, and the platform's.
pub const NAME: &str = "webchat";

/// The adapter of our own pages.
pub struct Webchat {
    store: Arc<dyn Store>,
    bell: Arc<dyn Bell>,
    clock: Arc<dyn Clock>,
    public_url: String,
}

impl std::fmt::Debug for Webchat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Webchat")
    }
}

impl Webchat {
    /// Pages that are found below this URL, which has no slash at its end.
    pub fn new(
        store: Arc<dyn Store>,
        bell: Arc<dyn Bell>,
        clock: Arc<dyn Clock>,
        public_url: String,
    ) -> Self {
        Self { store, bell, clock, public_url }
    }

    /// What is kept of the chats.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Where people find the desk.
    pub fn public_url(&self) -> &str {
        &self.public_url
    }

    /// The wall time, as this node sees it.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Writes down what a visitor said, after it was taken, and tells all who look.
    pub async fn note(&self, chat: &Chat, said: &Said) -> Result<Written, StoreError> {
        let written = self.store.said(chat, said).await?;
        self.ring(chat).await;
        Ok(written)
    }

    async fn ring(&self, chat: &Chat) {
        let Chat { bot, visitor, .. } = chat.clone();
        self.bell.ring(Ring::Chat { bot, chat: visitor }).await;
    }
}

impl Platform for Webchat {
    fn capabilities(&self, _bot: &Bot) -> Capabilities {
        words::capabilities()
    }

    fn entrance(&self) -> Entrance {
        Entrance::Page
    }
}
