//! Api: HTTP over the desk. One route, one file.
//!
//! [`serve`] is the listener with its bounds; [`routes`] is what it serves.

mod health;
mod hooks;
mod listen;

use std::sync::Arc;

use axum::Router;
use nightdesk_desk::Desk;
use nightdesk_line::driver::Room;
use nightdesk_line::upgrade;
use tokio_util::task::TaskTracker;

pub use listen::serve;

/// Everything this desk serves.
pub fn routes(desk: Arc<Desk>, room: Arc<Room>, lines: TaskTracker) -> Router {
    Router::new()
        .merge(health::route())
        .merge(hooks::route(desk))
        .merge(upgrade::route(room, lines))
}
