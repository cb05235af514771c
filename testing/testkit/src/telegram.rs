//! The fake Telegram: a server that answers as the Bot API does, as far as its documentation says.
//!
//! It has bots, chats and people, keeps what was sent, gives updates to who polls or posts them to a
//! webhook, reads `MarkdownV2` and refuses what is not, and misbehaves when told to ([`Fault`]). Clients that are
//! not ours hold it to its word.
//!
//! What a test may do from inside, a program may do over HTTP, at `/control/{what}`: `bot`, `chat`, `says`,
//! `press`, `fault`, `renumber`, `calls`.
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

/// A running fake. It ends when it is dropped.
#[derive(Debug)]
pub struct FakeTelegram {
    address: SocketAddr,
    shared: Shared,
    /// Owns the server's tasks.
    _server: JoinSet<()>,
}

/// What the server's tasks share.
#[derive(Clone, Debug)]
struct Shared {
    world: Arc<Mutex<World>>,
    /// Rings whenever the world has changed.
    changed: watch::Sender<()>,
}

impl Shared {
    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the world, and tells whoever waits for it.
    fn change<T>(&self, change: impl FnOnce(&mut World) -> T) -> T {
        let changed = change(&mut self.world());
        self.changed.send_replace(());
        changed
    }
}

impl FakeTelegram {
    /// Opens one on a free port.
    pub async fn open() -> Self {
        Self::open_at(SocketAddr::from(([127, 0, 0, 1], 0))).await.expect("a free port")
    }

    /// Opens one at this address.
    pub async fn open_at(address: SocketAddr) -> std::io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let shared = Shared { world: Arc::default(), changed: watch::Sender::new(()) };
        let mut server = JoinSet::new();
        server.spawn(serve::serve(listener, shared.clone()));
        server.spawn(pushes::push(shared.clone()));
        Ok(Self { address, shared, _server: server })
    }

    /// Where the Bot API is.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Enters a bot. Its id stands before the colon of its token.
    pub fn bot(&self, token: &str, username: &str) {
        self.shared.change(|world| world.add_bot(token, username));
    }

    /// Enters a chat, as Telegram describes one: `{"id": 900, "type": "private", …}`.
    pub fn chat(&self, chat: Value) {
        self.shared.change(|world| world.add_chat(chat));
    }

    /// Has something happen: `{"message": {…}}` or any other update but for its number, which it
    /// answers. What a message lacks of number, time and chat is filled in.
    pub fn happens(&self, token: &str, update: Value) -> i64 {
        self.shared.change(|world| world.happens(token, update))
    }

    /// Somebody writes a text in their private chat with the bot.
    pub fn says(&self, token: &str, person: i64, text: &str) -> i64 {
        let from = serde_json::json!({ "id": person, "is_bot": false, "first_name": "Ann" });
        let message = serde_json::json!({ "from": from, "text": text });
        self.happens(token, serde_json::json!({ "message": message }))
    }

    /// Misbehaves from now on.
    pub fn misbehave(&self, fault: Fault) {
        self.shared.change(|world| world.faults.push(fault));
    }

    /// Behaves again.
    pub fn behave(&self) {
        self.shared.change(|world| world.faults.clear());
    }

    /// The next update of a bot has this number, as after a quiet week.
    pub fn renumber(&self, token: &str, next: i64) {
        self.shared.change(|world| world.renumber(token, next));
    }

    /// What it was asked so far.
    pub fn calls(&self) -> Vec<Called> {
        self.shared.world().calls.clone()
    }

    /// What it was asked after so many calls.
    pub fn calls_after(&self, calls: usize) -> Vec<Called> {
        self.shared.world().calls.iter().skip(calls).cloned().collect()
    }

    /// Updates of a bot that nobody has confirmed.
    pub fn pending(&self, token: &str) -> usize {
        self.shared.world().bot(token).map_or(0, |bot| bot.updates.len())
    }
}
