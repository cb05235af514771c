//! Runs a fake Telegram: a server that answers as the Bot API does, as far as its documentation says.
//!
//! It has bots, chats and people, stores sent messages, returns updates to polls or posts them to a webhook, parses
//! `MarkdownV2` and refuses invalid markup, and misbehaves on command ([`Fault`]). Third-party clients check it.
//!
//! A program can do everything that a test can do, over HTTP at `/control/{what}`: `bot`, `chat`, `says`, `press`,
//! `fault`, `renumber`, `calls`.
#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a test that cannot set up should stop"
)]

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

mod control;
mod fault;
pub mod markdown;
mod methods;
mod polls;
mod pushes;
mod request;
mod serve;
mod world;

#[cfg(test)]
mod tests;

pub use fault::{Fault, Kind};
pub use world::Called;

use world::World;

/// A running fake. Dropping it ends it.
#[derive(Debug)]
pub struct FakeTelegram {
    address: SocketAddr,
    shared: Shared,
    /// Owns the server's tasks.
    _server: JoinSet<()>,
}

/// State that the server's tasks share.
#[derive(Clone, Debug)]
struct Shared {
    world: Arc<Mutex<World>>,
    /// Notified whenever the world has changed.
    changed: watch::Sender<()>,
}

impl Shared {
    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the world, and notifies the waiting tasks.
    fn change<T>(&self, change: impl FnOnce(&mut World) -> T) -> T {
        let changed = change(&mut self.world());
        self.changed.send_replace(());
        changed
    }
}

impl FakeTelegram {
    /// Opens a fake on a free port.
    pub async fn open() -> Self {
        Self::open_at(SocketAddr::from(([127, 0, 0, 1], 0))).await.expect("a free port")
    }

    /// Opens a fake at this address.
    pub async fn open_at(address: SocketAddr) -> std::io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let shared = Shared { world: Arc::default(), changed: watch::Sender::new(()) };
        let mut server = JoinSet::new();
        server.spawn(serve::serve(listener, shared.clone()));
        server.spawn(pushes::push(shared.clone()));
        Ok(Self { address, shared, _server: server })
    }

    /// Returns the URL of the Bot API.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Creates a bot. Its id is before the colon of its token.
    pub fn bot(&self, token: &str, username: &str) {
        self.shared.change(|world| world.add_bot(token, username));
    }

    /// Creates a chat in Telegram's format: `{"id": 900, "type": "private", …}`.
    pub fn chat(&self, chat: Value) {
        self.shared.change(|world| world.add_chat(chat));
    }

    /// Adds an update: `{"message": {…}}` or any other without its number, and returns the number. A message's missing
    /// number, time and chat get defaults.
    pub fn happens(&self, token: &str, update: Value) -> i64 {
        self.shared.change(|world| world.happens(token, update))
    }

    /// Writes a text as a person in their private chat with the bot.
    pub fn says(&self, token: &str, person: i64, text: &str) -> i64 {
        let from = serde_json::json!({ "id": person, "is_bot": false, "first_name": "Ann" });
        let message = serde_json::json!({ "from": from, "text": text });
        self.happens(token, serde_json::json!({ "message": message }))
    }

    /// Adds a fault.
    pub fn misbehave(&self, fault: Fault) {
        self.shared.change(|world| world.faults.push(fault));
    }

    /// Removes all faults.
    pub fn behave(&self) {
        self.shared.change(|world| world.faults.clear());
    }

    /// Sets the number of a bot's next update, as after a quiet week.
    pub fn renumber(&self, token: &str, next: i64) {
        self.shared.change(|world| world.renumber(token, next));
    }

    /// Returns the calls so far.
    pub fn calls(&self) -> Vec<Called> {
        self.shared.world().calls.clone()
    }

    /// Returns the calls after the first `calls`.
    pub fn calls_after(&self, calls: usize) -> Vec<Called> {
        self.shared.world().calls.iter().skip(calls).cloned().collect()
    }

    /// Returns the number of a bot's unconfirmed updates.
    pub fn pending(&self, token: &str) -> usize {
        self.shared.world().bot(token).map_or(0, |bot| bot.updates.len())
    }
}
