//! The whole of an agent's reach.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Json;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use nightdesk_desk::managing;
use nightdesk_protocol::http::{manage, policy};
use nightdesk_register::ReachOf;
use nightdesk_types::{BotId, Granted, Principal, Relevance};

use super::{asked, refused, told};
use crate::gateways::{Gateways, refuse};
use crate::problem::Refusals;

const WANTS: &str = "send JSON with principal: owner-only, allow-list or any";

/// Whom the agent can be reached by.
#[utoipa::path(
    get, path = "/manage", tag = "reach", security(("agent" = [])),
    responses((status = 200, description = "All of it", body = manage::Reach), Refusals)
)]
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

/// Who may reach the agent where it was granted something.
#[utoipa::path(
    post, path = "/manage/principal", tag = "reach", security(("agent" = [])),
    request_body = manage::Principal,
    responses((status = 204, description = "It is done"), Refusals)
)]
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

/// The agent is reached by nobody any more, and its gateways are revoked.
#[utoipa::path(
    post, path = "/manage/deprovision", tag = "reach", security(("agent" = [])),
    responses((status = 204, description = "It is done"), Refusals)
)]
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

fn shown(reach: &ReachOf) -> manage::Reach {
    let ReachOf { principal, people, grants, listed, relevance } = reach;
    manage::Reach {
        principal: principal.slug().to_owned(),
        people: people.iter().map(person).collect(),
        scopes: grants.iter().map(place).collect(),
        allow_list: listed.iter().map(person).collect(),
        policies: relevance.iter().map(declared).collect(),
    }
}

fn person((bot, author): &(BotId, String)) -> manage::Known {
    manage::Known { bot: bot.to_string(), user_id: author.clone() }
}

fn place((bot, granted, principal): &(BotId, Granted, Principal)) -> manage::Place {
    let (scope_id, chat_id) = match granted.clone() {
        Granted::Chat { chat, scope } => (scope, Some(chat)),
        Granted::Scope(scope) => (Some(scope), None),
        Granted::Bot => (None, None),
    };
    manage::Place {
        bot: bot.to_string(),
        scope_id,
        chat_id,
        principal: principal.slug().to_owned(),
    }
}

fn declared((platform, relevance): &(String, Relevance)) -> policy::Request {
    let Relevance { require_address, free_scopes, allow_other_bots, continues_threads: _ } =
        relevance.clone();
    policy::Request {
        platform: platform.clone(),
        require_address,
        free_response_scopes: free_scopes,
        allow_other_bots,
    }
}
