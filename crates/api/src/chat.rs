//! Our own pages: `/chat/{path}` and its messages, events and assets.
//!
//! A path of no bot and the path of a bot without a page get the same response.

mod page;
mod messages;
mod events;
mod visitor;
mod chat_limits;

use std::error::Error;
use std::sync::Arc;

use axum::Router;
use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use nightdesk_bus::Watchers;
use nightdesk_desk::{Account, Desk};
use nightdesk_line::ConnectionProof;
use nightdesk_pages::{add_security_headers, render_page, serve_asset};
use nightdesk_port::Entrance;
use nightdesk_webchat::Webchat;
use nightdesk_webchat::assets::ASSETS;
use nightdesk_webchat::page::UnavailablePage;
use tokio_util::sync::CancellationToken;

use chat_limits::ChatLimits;

/// The state that the pages share.
#[derive(Debug)]
pub(crate) struct Chats {
    pub(crate) desk: Arc<Desk>,
    pub(crate) webchat: Arc<Webchat>,
    pub(crate) watchers: Watchers,
    pub(crate) drain: CancellationToken,
    pace: ChatLimits,
}

pub(crate) fn route(
    desk: Arc<Desk>,
    webchat: Arc<Webchat>,
    watchers: Watchers,
    drain: CancellationToken,
) -> Router {
    let chats = Arc::new(Chats { desk, webchat, watchers, drain, pace: ChatLimits::default() });
    let pages = Router::new()
        .route("/chat/{path}", get(page::show))
        .route("/chat/{path}/messages", post(messages::take_message))
        .route("/chat/{path}/events", get(events::stream))
        .with_state(chats)
        .layer(axum::middleware::map_response(add_security_headers));
    pages.merge(Router::new().route("/chat-assets/{name}", get(serve_file)))
}

/// The bot whose page the request's path names.
struct ChatPage {
    account: Account,
    path: String,
}

impl FromRequestParts<Arc<Chats>> for ChatPage {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, chats: &Arc<Chats>) -> Result<Self, Response> {
        let path = Path::<String>::from_request_parts(parts, chats).await;
        let Path(path) = path.map_err(IntoResponse::into_response)?;
        match chats.desk.stops.accounts.find_by_path(&path).await {
            Ok(Some(account)) if account.platform.entrance() == Entrance::Page => {
                // The path cannot be guessed.
                ConnectionProof::record_in(&parts.extensions);
                Ok(Self { account, path })
            }
            Ok(_) => Err(no_such_page()),
            Err(error) => {
                tracing::warn!(error = &error as &dyn Error, "a page's bot could not be found");
                Err(unavailable_page())
            }
        }
    }
}

/// The 404.
fn no_such_page() -> Response {
    let page = UnavailablePage {
        title: "There is no chat here",
        text: "Check the address, or ask the person who gave it to you for a new one.",
    };
    (StatusCode::NOT_FOUND, render_page(&page)).into_response()
}

/// The 503.
fn unavailable_page() -> Response {
    let page = UnavailablePage {
        title: "Back in a moment",
        text: "The chat cannot be opened just now. Nothing is lost; reload this page in a few seconds.",
    };
    (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, "2")], render_page(&page))
        .into_response()
}

/// `GET /chat-assets/{name}`: the page's style, script and icon.
async fn serve_file(Path(name): Path<String>) -> Response {
    serve_asset(ASSETS.all(), &name)
}
