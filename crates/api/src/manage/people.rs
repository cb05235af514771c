//! People: who is an agent's own, and who else is welcome.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Json;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use nightdesk_desk::managing;
use nightdesk_protocol::http::manage::{AllowList, Link, OnBot, Person};
use nightdesk_register::OpenBot;
use nightdesk_types::limits::{LINK_CODE_LIFE, LISTED_AUTHORS_MAX};
use nightdesk_vault::Key;

use super::{asked, named, refused, told};
use crate::gateways::{Gateways, refuse};
use crate::problem::Refusals;

const WANTS: &str =
    "send JSON with platform and userId, and botId if the platform has several bots";
const WANTS_LIST: &str = "send JSON with platform and userIds, at most a thousand, and botId if the platform has several bots";

/// A code that a person sends to one of the bots, to be linked to the agent.
#[utoipa::path(
    post, path = "/manage/link", tag = "reach", security(("agent" = [])),
    responses((status = 200, description = "The code, which is good once", body = Link), Refusals)
)]
pub(super) async fn link(
    State(gateways): State<Arc<Gateways>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let caller = match gateways.caller(request.headers(), from).await {
        Ok(caller) => caller,
        Err(refused) => return refused,
    };
    match managing::link(&gateways.desk, &caller).await {
        Ok((code, bots)) => give(&code, bots),
        Err(error) => refused(&error),
    }
}

fn give(code: &Key, bots: Vec<OpenBot>) -> Response {
    let bot = |bot: OpenBot| OnBot { platform: bot.platform, bot_id: Some(bot.handle) };
    let link = Link {
        code: code.with(str::to_owned),
        expires_in: LINK_CODE_LIFE.as_secs(),
        bots: bots.into_iter().map(bot).collect(),
    };
    ([(header::CACHE_CONTROL, "no-store")], Json(link)).into_response()
}

/// A person is not the agent's any more.
#[utoipa::path(
    post, path = "/manage/unlink", tag = "reach", security(("agent" = [])),
    request_body = Person,
    responses((status = 204, description = "It is done"), Refusals)
)]
pub(super) async fn unlink(
    State(gateways): State<Arc<Gateways>>,
    from: ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    match asked::<Person>(&gateways, from, request, WANTS).await {
        Ok((caller, Person { on, user_id })) => {
            told(managing::unlink(&gateways.desk, &caller, named(&on), &user_id).await)
        }
        Err(refused) => refused,
    }
}

/// What a person with several agents writes directly is for this one.
#[utoipa::path(
    post, path = "/manage/dm-default", tag = "reach", security(("agent" = [])),
    request_body = Person,
    responses((status = 204, description = "It is done"), Refusals)
)]
pub(super) async fn dm_default(
    State(gateways): State<Arc<Gateways>>,
    from: ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    match asked::<Person>(&gateways, from, request, WANTS).await {
        Ok((caller, Person { on, user_id })) => {
            told(managing::prefer(&gateways.desk, &caller, named(&on), &user_id).await)
        }
        Err(refused) => refused,
    }
}

/// Who else is welcome to the agent on a bot, and nobody besides.
#[utoipa::path(
    post, path = "/manage/allow-list", tag = "reach", security(("agent" = [])),
    request_body = AllowList,
    responses((status = 204, description = "It is done"), Refusals)
)]
pub(super) async fn allow_list(
    State(gateways): State<Arc<Gateways>>,
    from: ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    match asked::<AllowList>(&gateways, from, request, WANTS_LIST).await {
        Ok((_, list)) if list.user_ids.len() > LISTED_AUTHORS_MAX => {
            refuse(StatusCode::BAD_REQUEST, WANTS_LIST)
        }
        Ok((caller, AllowList { on, user_ids })) => {
            told(managing::list(&gateways.desk, &caller, named(&on), &user_ids).await)
        }
        Err(refused) => refused,
    }
}
