//! The webchat adapter: the desk's own page on which visitors write to an agent.
//!
//! # Promise
//!
//! A visitor's message takes the same road as every other platform's events, and is in the transcript only after it was
//! accepted. A visitor sees only their own chat. An agent's text becomes only markup that the adapter chose, and no
//! text is in any log or error.
//!
//! Begin with [`Webchat`]: it receives a page's posts ([`Receive`](nightdesk_port::Receive)) and writes an agent's
//! messages ([`Deliver`](nightdesk_port::Deliver)). [`session`] identifies a visitor, [`store`] defines the stored
//! data, and [`page`] renders it. The routes are in the API.

pub mod session;
pub mod post;
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
use nightdesk_port::{Bot, Entrance, Platform, PlatformCapabilities};
use nightdesk_types::{Clock, StoreError, Timestamp};

use crate::store::{Store, VisitorChat, VisitorMessage, WriteOutcome};

/// The name of the adapter and of the platform.
pub const NAME: &str = "webchat";

/// The adapter of the desk's own pages.
pub struct Webchat {
    store: Arc<dyn Store>,
    bell: Arc<dyn Bell>,
    clock: Arc<dyn Clock>,
    public_url: String,
}

nightdesk_types::opaque_debug!(Webchat);

impl Webchat {
    /// Creates the adapter for pages below this URL, which has no slash at its end.
    pub fn new(
        store: Arc<dyn Store>,
        bell: Arc<dyn Bell>,
        clock: Arc<dyn Clock>,
        public_url: String,
    ) -> Self {
        Self { store, bell, clock, public_url }
    }

    /// Returns the store of the chats.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Returns the desk's public URL.
    pub fn public_url(&self) -> &str {
        &self.public_url
    }

    /// Returns this node's wall-clock time.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Writes a visitor's message after it was accepted, and notifies all open pages.
    pub async fn record_visitor_message(
        &self,
        chat: &VisitorChat,
        said: &VisitorMessage,
    ) -> Result<WriteOutcome, StoreError> {
        let written = self.store.write_visitor_message(chat, said).await?;
        self.ring_pages(chat).await;
        Ok(written)
    }

    async fn ring_pages(&self, chat: &VisitorChat) {
        let VisitorChat { bot, visitor, .. } = chat.clone();
        self.bell.ring(Ring::Chat { bot, chat: visitor }).await;
    }
}

impl Platform for Webchat {
    fn capabilities(&self, _bot: &Bot) -> PlatformCapabilities {
        post::capabilities()
    }

    fn entrance(&self) -> Entrance {
        Entrance::Page
    }
}
