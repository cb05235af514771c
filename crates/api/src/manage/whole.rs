//! The whole of an agent's reach.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Json;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use nightdesk_desk::managing;
use nightdesk_protocol::http::manage;
use nightdesk_register::ReachOf;
use nightdesk_types::{BotId, Granted, Principal, Relevance};
use serde_json::{Value, json};

use super::{asked, refused, told};
use crate::gateways::{Gateways, refuse};

const WANTS: &str = "send JSON with principal: owner-only, allow-list or any";

pub(super) async fn show(
    State(gateways): State<Arc<Gateways>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let caller = match gateways.caller(request.headers(), from).await {
        Ok(caller) => caller,
        Err(refused) => return refused,
    };
    match managing::show(&gateways.desk, &caller).await {
        Ok(reach) => Json(shown(&reach)).into_response(),
        Err(error) => refused(&error),
    }
}

pub(super) async fn principal(
    State(gateways): State<Arc<Gateways>>,
    from: ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    match asked::<manage::Principal>(&gateways, from, request, WANTS).await {
        Ok((caller, body)) => match Principal::named(&body.principal) {
            Some(principal) => told(managing::open_to(&gateways.desk, &caller, principal).await),
            None => refuse(StatusCode::BAD_REQUEST, WANTS),
        },
        Err(refused) => refused,
    }
}

pub(super) async fn deprovision(
    State(gateways): State<Arc<Gateways>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    match gateways.caller(request.headers(), from).await {
        Ok(caller) => told(managing::deprovision(&gateways.desk, &caller).await),
        Err(refused) => refused,
    }
}

fn shown(reach: &ReachOf) -> Value {
    let ReachOf { principal, people, grants, listed, relevance } = reach;
    let person = |(bot, author): &(BotId, String)| json!({ "bot": bot, "userId": author });
    json!({
        "principal": principal.slug(),
        "people": people.iter().map(person).collect::<Vec<_>>(),
        "scopes": grants.iter().map(granted).collect::<Vec<_>>(),
        "allowList": listed.iter().map(person).collect::<Vec<_>>(),
        "policies": relevance.iter().map(declared).collect::<Vec<_>>(),
    })
}

fn granted((bot, granted, principal): &(BotId, Granted, Principal)) -> Value {
    let (scope, chat) = match granted {
        Granted::Chat { chat, scope } => (scope.as_deref(), Some(chat.as_str())),
        Granted::Scope(scope) => (Some(scope.as_str()), None),
        Granted::Bot => (None, None),
    };
    json!({ "bot": bot, "scopeId": scope, "chatId": chat, "principal": principal.slug() })
}

fn declared((platform, relevance): &(String, Relevance)) -> Value {
    let Relevance { require_address, free_scopes, allow_other_bots } = relevance;
    json!({
        "platform": platform,
        "requireAddress": require_address,
        "freeResponseScopes": free_scopes,
        "allowOtherBots": allow_other_bots,
    })
}
