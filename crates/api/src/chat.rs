//! Our own pages: `/chat/{path}` and what belongs to it.
//!
//! A path that is no bot's and one of a bot that has no page look the same from outside.

mod page;
mod messages;
mod events;
mod assets;
mod visitor;
mod pace;
mod cross_site;
mod guarded;

use std::error::Error;
use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use nightdesk_bus::Watchers;
use nightdesk_desk::{Account, Desk};
use nightdesk_port::Entrance;
use nightdesk_webchat::Webchat;
use nightdesk_webchat::page::Elsewhere;
use tokio_util::sync::CancellationToken;

use pace::Pace;

/// What the pages stand in front of.
#[derive(Debug)]
pub(crate) struct Chats {
    pub(crate) desk: Arc<Desk>,
    pub(crate) webchat: Arc<Webchat>,
    pub(crate) watchers: Watchers,
    pub(crate) drain: CancellationToken,
    pace: Pace,
}

pub(crate) fn route(
    desk: Arc<Desk>,
    webchat: Arc<Webchat>,
    watchers: Watchers,
    drain: CancellationToken,
) -> Router {
    let chats = Arc::new(Chats { desk, webchat, watchers, drain, pace: Pace::default() });
    let pages = Router::new()
        .route("/chat/{path}", get(page::show))
        .route("/chat/{path}/messages", post(messages::take))
        .route("/chat/{path}/events", get(events::stream))
        .with_state(chats)
        .layer(axum::middleware::map_response(guarded::guarded));
    pages.merge(Router::new().route("/chat-assets/{name}", get(assets::give)))
}

impl Chats {
    /// The bot whose page has this path, or the page for who finds none.
    async fn account(&self, path: &str) -> Result<Account, Response> {
        match self.desk.accounts.at(path).await {
            Ok(Some(account)) if account.platform.entrance() == Entrance::Page => Ok(account),
            Ok(_) => Err(nowhere()),
            Err(error) => {
                tracing::warn!(error = &error as &dyn Error, "a page's bot could not be found");
                Err(resting())
            }
        }
    }
}

/// There is no such page.
fn nowhere() -> Response {
    let page = Elsewhere {
        title: "There is no chat here",
        text: "Check the address you were given, or ask who gave it to you for a new one.",
    };
    (StatusCode::NOT_FOUND, html(&page)).into_response()
}

/// There is a page, but not just now.
fn resting() -> Response {
    let page = Elsewhere {
        title: "Back in a moment",
        text: "The chat cannot be opened just now. Nothing is lost; reload this page in a few seconds.",
    };
    (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, "2")], html(&page)).into_response()
}

fn html(page: &impl Template) -> Response {
    match page.render() {
        Ok(text) => Html(text).into_response(),
        Err(error) => {
            tracing::error!(error = &error as &dyn Error, "a page could not be rendered");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}
