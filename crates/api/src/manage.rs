//! `/manage/…`: whom an agent can be reached by, for the agent and who looks after it.
//!
//! Who asks is known by a token of a trusted issuer for the agent, or by its gateway's own; tenant and agent
//! are the stored record's. A gateway's may narrow, and not widen.

mod people;
mod places;
mod whole;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use nightdesk_desk::managing::{ManageError, Named};
use nightdesk_protocol::http::manage::OnBot;
use nightdesk_register::Caller;
use serde::de::DeserializeOwned;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::gateways::{Gateways, read_json, try_later};
use crate::problem::{self, Problem};

pub(crate) fn routes() -> OpenApiRouter<Arc<Gateways>> {
    OpenApiRouter::new()
        .routes(routes!(whole::show))
        .routes(routes!(people::link))
        .routes(routes!(people::unlink))
        .routes(routes!(people::dm_default))
        .routes(routes!(places::scope))
        .routes(routes!(places::release))
        .routes(routes!(whole::principal))
        .routes(routes!(people::allow_list))
        .routes(routes!(whole::deprovision))
}

/// Who asks, and for what; `wants` says what the body should have been.
async fn asked<T: DeserializeOwned>(
    gateways: &Gateways,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    request: Request,
    wants: &str,
) -> Result<(Caller, T), Response> {
    let (head, body) = request.into_parts();
    let caller = gateways.caller(&head.headers, from).await?;
    Ok((caller, read_json(body, wants).await?))
}

const fn named(on: &OnBot) -> Named<'_> {
    Named {
        platform: on.platform.as_str(),
        handle: match &on.bot_id {
            Some(handle) => Some(handle.as_str()),
            None => None,
        },
    }
}

/// What who asked is told: that it is done, or why not.
fn told(done: Result<(), ManageError>) -> Response {
    match done {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(error) => refused(&error),
    }
}

fn refused(error: &ManageError) -> Response {
    let (problem, what_to_do): (&Problem, &str) = match error {
        ManageError::Widens => (
            &problem::WIDENS,
            "ask with a token of a trusted issuer for this agent, or have an operator do it",
        ),
        ManageError::NoBot => {
            (&problem::NO_BOT, "POST /manage/link names the bots that are open to the agent")
        }
        ManageError::SeveralBots => {
            (&problem::SEVERAL_BOTS, "name one with botId; POST /manage/link lists them")
        }
        ManageError::Taken => {
            (&problem::TAKEN, "have the other agent release it, or choose another")
        }
        ManageError::NotGranted => (&problem::NOT_GRANTED, "GET /manage shows what the agent has"),
        ManageError::NotLinked => (
            &problem::NOT_LINKED,
            "link them first: POST /manage/link, and have them send the code",
        ),
        ManageError::NotSeen => (
            &problem::NOT_SEEN,
            "link somebody who can see it, or ask the operator of the bot for a grant",
        ),
        ManageError::TooManyCodes => {
            (&problem::TOO_MANY_CODES, "use one of the codes it got, or wait for an hour")
        }
        ManageError::TooFast => {
            (&problem::TOO_MANY, "an agent claims and releases at most thirty places an hour; wait")
        }
        ManageError::OverQuota(_) => (
            &problem::OVER_QUOTA,
            "release what is not needed, or have an operator raise the quota",
        ),
        ManageError::Store(error) => {
            return try_later(error, "an agent's reach could not be changed");
        }
    };
    problem.said(what_to_do)
}
