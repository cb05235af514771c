//! Api: HTTP over the desk. One route, one file.
//!
//! [`serve`] is the listener with its bounds; [`routes`] is what it serves.

mod chat;
mod agent_cron;
mod events;
mod health;
mod letters;
mod hooks;
mod gateways;
mod manage;
mod mcp;
mod oauth;
mod relay;
mod shelf;
mod listen;
mod metrics;
mod ambient;
mod openapi;
mod problem;

use std::sync::Arc;

pub use axum::Router;
use nightdesk_desk::Desk;
use nightdesk_line::Room;
use nightdesk_line::upgrade;
use nightdesk_webchat::Webchat;
use tokio_util::task::TaskTracker;

pub use agent_cron::Relays;
pub use ambient::{AmbientAgent, ambient_routes};
pub use listen::{Listener, serve};
pub use metrics::metrics_routes;
pub use openapi::openapi;

use gateways::Gateways;

/// What the routes stand in front of.
#[derive(Clone, Debug)]
pub struct Street {
    /// The desk.
    pub desk: Arc<Desk>,
    /// What every line of this node shares.
    pub room: Arc<Room>,
    /// Who else says that jobs are due.
    pub relays: Relays,
    /// Our own pages.
    pub webchat: Arc<Webchat>,
    /// Who owns the lines' tasks.
    pub lines: TaskTracker,
}

/// Everything this desk serves.
pub fn routes(street: Street) -> Router {
    let Street { desk, room, relays, webchat, lines } = street;
    let gateways = Arc::new(Gateways::new(Arc::clone(&desk), Arc::clone(&room), relays));
    let watchers = room.ears.chats().clone();
    let chats = chat::route(Arc::clone(&desk), webchat, watchers, room.drain.clone());
    Router::from(openapi::described(desk, gateways)).merge(chats).merge(upgrade::route(room, lines))
}
