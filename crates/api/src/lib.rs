//! Api: HTTP over the desk.
//!
//! [`serve`] is the listener with its bounds; [`routes`] is the router that it serves. A handler takes extractors
//! (`extract`), calls one function of the desk or the register, and returns a result or a `Problem`.

mod chat;
mod agent_cron;
mod client_address;
mod events;
mod extract;
mod health;
mod letters;
mod hooks;
mod manage;
mod mcp;
mod oauth;
mod office;
mod relay;
mod relays;
mod shelf;
mod listen;
mod metrics;
mod ambient;
mod openapi;
mod peers;
mod polling;
mod problem;
mod state;
mod stops;
mod tls;

use std::sync::Arc;

pub use axum::Router;
use axum::middleware::map_request_with_state;
use nightdesk_desk::Desk;
use nightdesk_line::{LineContext, PolledLines, PostedLines, upgrade};
use nightdesk_office::Office;
use nightdesk_webchat::Webchat;
use tokio_util::task::TaskTracker;

pub use ambient::{AmbientAgent, ambient_routes};
pub use client_address::{BadProxies, TrustedProxies};
pub use listen::{Listener, serve};
pub use metrics::metrics_routes;
pub use openapi::openapi;
pub use peers::{NoPeerNodes, PeerError, PeerNodes, PeerRequest, PeerResponse};
pub use relays::Relays;
pub use tls::{
    CertificateError, CertificatePair, OfferedCertificate, ServedCertificate, TlsListener,
    TlsMetrics,
};

use state::ApiState;

/// The parts of a node that the routes use.
#[derive(Clone)]
pub struct ApiParts {
    /// The desk.
    pub desk: Arc<Desk>,
    /// The state that all lines of this node share.
    pub line_context: Arc<LineContext>,
    /// The operator's schedulers that may report a due job.
    pub relays: Relays,
    /// Our own pages.
    pub webchat: Arc<Webchat>,
    /// The tracker of the lines' tasks.
    pub lines: TaskTracker,
    /// The proxies that name their clients.
    pub proxies: TrustedProxies,
    /// The lines whose agents are called.
    pub posted: Arc<PostedLines>,
    /// The other nodes of the cell.
    pub peers: Arc<dyn PeerNodes>,
    /// The functions of operators and tenants.
    pub office: Arc<Office>,
    /// The pages of operators and tenants.
    pub pages: Router,
}

nightdesk_types::opaque_debug!(ApiParts);

/// All public routes.
pub fn routes(street: ApiParts) -> Router {
    let ApiParts {
        desk,
        line_context: room,
        relays,
        webchat,
        lines,
        proxies,
        posted,
        peers,
        office,
        pages,
    } = street;
    let watchers = room.lines.chat_watchers().clone();
    let chats = chat::route(Arc::clone(&desk), webchat, watchers, room.drain.clone());
    let polled = Arc::new(PolledLines::new(Arc::clone(&room), lines.clone()));
    let line_context = Arc::clone(&room);
    let api = ApiState { desk, line_context, relays, polled, posted, peers, office };
    let routes = Router::from(openapi::described_routes(api));
    let routes = routes.merge(chats).merge(pages).merge(upgrade::route(room, lines));
    routes.layer(map_request_with_state(proxies, client_address::name_client))
}
