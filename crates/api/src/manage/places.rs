//! Places: the chats and scopes that an agent was given.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use nightdesk_desk::managing;
use nightdesk_protocol::http::manage::{OnBot, Scope};
use nightdesk_register::Caller;
use nightdesk_types::Granted;
use nightdesk_types::reach::EVERY_CHAT;

use super::{asked, named, told};
use crate::gateways::{Gateways, refuse};
use crate::problem::Refusals;

const WANTS: &str = "send JSON with platform, and scopeId or chatId or both; chatId names one chat, \
                     without it everything in the scope is meant";

/// The agent is given a chat, or everything in a scope. It belongs to one agent at most.
#[utoipa::path(
    post, path = "/manage/scope", tag = "reach", security(("agent" = [])),
    request_body = Scope,
    responses((status = 204, description = "It is done"), Refusals)
)]
pub(super) async fn scope(
    State(gateways): State<Arc<Gateways>>,
    from: ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    match place(&gateways, from, request).await {
        Ok((caller, on, granted)) => {
            told(managing::claim(&gateways.desk, &caller, named(&on), &granted).await)
        }
        Err(refused) => refused,
    }
}

/// The agent gives a chat or scope back.
#[utoipa::path(
    post, path = "/manage/scope/release", tag = "reach", security(("agent" = [])),
    request_body = Scope,
    responses((status = 204, description = "It is done"), Refusals)
)]
pub(super) async fn release(
    State(gateways): State<Arc<Gateways>>,
    from: ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    match place(&gateways, from, request).await {
        Ok((caller, on, granted)) => {
            told(managing::release(&gateways.desk, &caller, named(&on), &granted).await)
        }
        Err(refused) => refused,
    }
}

/// Who asks, and about what.
async fn place(
    gateways: &Gateways,
    from: ConnectInfo<SocketAddr>,
    request: Request,
) -> Result<(Caller, OnBot, Granted), Response> {
    let (caller, scope) = asked::<Scope>(gateways, from, request, WANTS).await?;
    let granted = granted(&scope).ok_or_else(|| refuse(StatusCode::BAD_REQUEST, WANTS))?;
    Ok((caller, scope.on, granted))
}

/// What is meant. Every chat of a bot is its operator's to give, and cannot be asked for here.
fn granted(scope: &Scope) -> Option<Granted> {
    let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    match (given(&scope.scope_id), given(&scope.chat_id)) {
        (_, Some(chat)) if chat == EVERY_CHAT => None,
        (scope, Some(chat)) => Some(Granted::Chat { chat, scope }),
        (Some(scope), None) => Some(Granted::Scope(scope)),
        (None, None) => None,
    }
}
