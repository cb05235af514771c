//! Runs a fake Discord: a server that answers as Discord does, as far as its documentation says.
//!
//! It has bots, guilds and people, serves version 10 of the API and of the gateway, stores sent messages, replays them
//! to a client that resumes, refuses what Discord refuses, and misbehaves on command ([`Fault`], [`Order`]).
//! Third-party clients check it.
//!
//! A program can do everything that a test can do, over HTTP at `/control/{what}` on a separate port.
#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a test that cannot set up should stop"
)]

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

mod called;
mod control;
mod enter;
mod fault;
mod gateway;
mod people;
mod request;
mod rest;
mod serve;
mod settings;
mod sign;
mod world;

#[cfg(test)]
mod tests;

pub use fault::{Fault, Kind};
pub use gateway::{Identify, Mark, Order, Resume, Socket, overlap};
pub use settings::Settings;
pub use world::Called;
pub use world::interactions::Interaction;

use serve::Door;
use world::World;

/// A running fake. Dropping it ends it.
#[derive(Debug)]
pub struct FakeDiscord {
    api: SocketAddr,
    control: SocketAddr,
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

impl FakeDiscord {
    /// Starts a fake on free ports.
    pub async fn start() -> Self {
        Self::start_with(Settings::default()).await.expect("free ports")
    }

    /// Starts a fake with these settings.
    pub async fn start_with(settings: Settings) -> std::io::Result<Self> {
        Self::start_at([127, 0, 0, 1].into(), settings).await
    }

    /// Starts a fake at this address, on free ports.
    pub async fn start_at(address: std::net::IpAddr, settings: Settings) -> std::io::Result<Self> {
        let open = || TcpListener::bind(SocketAddr::new(address, 0));
        let doors = [
            (open().await?, Door::Api),
            (open().await?, Door::Resume),
            (open().await?, Door::Control),
        ];
        let [api, resume, control] =
            [&doors[0].0, &doors[1].0, &doors[2].0].map(TcpListener::local_addr);
        let (api, resume, control) = (api?, resume?, control?);
        let world = World::new(settings, format!("http://{api}"), format!("ws://{resume}"));
        let shared = Shared { world: Arc::new(Mutex::new(world)), changed: watch::Sender::new(()) };
        let mut server = JoinSet::new();
        for (listener, door) in doors {
            server.spawn(serve::serve(listener, shared.clone(), door));
        }
        server.spawn(sign::push(shared.clone()));
        Ok(Self { api, control, shared, _server: server })
    }

    /// Returns the URL of the API, whose paths begin with `/api/v10`.
    pub fn url(&self) -> String {
        format!("http://{}", self.api)
    }

    /// Returns the API's host and port.
    pub fn host(&self) -> String {
        self.api.to_string()
    }

    /// Returns the URL of the gateway.
    pub fn gateway_url(&self) -> String {
        format!("ws://{}", self.api)
    }

    /// Returns the URL of the control.
    pub fn control_url(&self) -> String {
        format!("http://{}", self.control)
    }

    /// Changes the settings from now on.
    pub fn settings(&self, change: impl FnOnce(&mut Settings)) {
        self.shared.change(|world| change(&mut world.settings));
    }

    /// Adds a fault.
    pub fn fault(&self, fault: Fault) {
        self.shared.change(|world| world.faults.push(fault));
    }

    /// Executes a command on every open socket that has a session. Returns their number.
    pub fn order(&self, order: Order) -> usize {
        self.shared.change(|world| world.order(None, order))
    }

    /// Executes a command on the sockets of one shard.
    pub fn order_at(&self, shard: u64, order: Order) -> usize {
        self.shared.change(|world| world.order(Some(shard), order))
    }

    /// Returns the calls so far.
    pub fn calls(&self) -> Vec<Called> {
        self.shared.world().calls.clone()
    }

    /// Returns the calls after the first `calls`.
    pub fn calls_after(&self, calls: usize) -> Vec<Called> {
        self.shared.world().calls.iter().skip(calls).cloned().collect()
    }

    /// Returns the calls of one route, such as `POST /channels/{}/messages`.
    pub fn calls_of(&self, route: &str) -> Vec<Called> {
        self.calls().into_iter().filter(|call| call.route == route).collect()
    }

    /// Returns every socket that was opened, the oldest first.
    pub fn sockets(&self) -> Vec<Socket> {
        self.shared.world().gateway.wires.iter().map(|wire| wire.socket.clone()).collect()
    }

    /// Returns every received IDENTIFY.
    pub fn identifies(&self) -> Vec<Identify> {
        self.shared.world().gateway.identifies.clone()
    }

    /// Returns every received RESUME.
    pub fn resumes(&self) -> Vec<Resume> {
        self.shared.world().gateway.resumes.clone()
    }

    /// Returns the position up to which a client confirmed its events, by a heartbeat or a resume. It covers all
    /// earlier sessions.
    pub fn confirmed(&self) -> Mark {
        self.shared.world().gateway.confirmed()
    }

    /// Returns all interactions with buttons and commands.
    pub fn interactions(&self) -> Vec<Interaction> {
        self.shared.world().interactions.values().cloned().collect()
    }

    /// Waits until the condition holds. Returns false after the timeout.
    pub async fn until(&self, within: Duration, is_so: impl Fn(&Self) -> bool) -> bool {
        let mut changed = self.shared.changed.subscribe();
        let wait = async {
            while !is_so(self) {
                // The sender lives as long as the fake.
                drop(changed.changed().await);
            }
        };
        timeout(within, wait).await.is_ok()
    }
}
