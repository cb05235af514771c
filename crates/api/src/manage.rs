//! `/manage/…`: the reach of an agent, for the agent and its owner.
//!
//! A gateway's credential may narrow the reach, and not widen it.

mod people;
mod places;
mod reach;

use axum::http::StatusCode;
use nightdesk_desk::reach_manager::{BotName, ManageError};
use nightdesk_protocol::http::manage::BotSelector;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::problem::{self, Problem, unavailable};
use crate::state::ApiState;

/// The response to a change that is done.
const DONE: StatusCode = StatusCode::NO_CONTENT;

pub(crate) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(reach::show))
        .routes(routes!(people::link))
        .routes(routes!(people::unlink))
        .routes(routes!(people::dm_default))
        .routes(routes!(places::scope))
        .routes(routes!(places::release))
        .routes(routes!(reach::principal))
        .routes(routes!(people::allow_list))
        .routes(routes!(reach::deprovision))
}

const fn bot_name(on: &BotSelector) -> BotName<'_> {
    BotName {
        platform: on.platform.as_str(),
        handle: match &on.bot_id {
            Some(handle) => Some(handle.as_str()),
            None => None,
        },
    }
}

impl From<ManageError> for Problem {
    fn from(error: ManageError) -> Self {
        let (kind, detail) = match error {
            ManageError::Widens => (
                &problem::WIDENS,
                "use a token of a trusted issuer for this agent, or have an operator do it",
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
            ManageError::NotGranted => {
                (&problem::NOT_GRANTED, "GET /manage shows the grants of the agent")
            }
            ManageError::NotLinked => (
                &problem::NOT_LINKED,
                "link them first: POST /manage/link, and have them send the code",
            ),
            ManageError::NotSeen => (
                &problem::NOT_SEEN,
                "link a person who can see it, or ask the operator of the bot for a grant",
            ),
            ManageError::TooManyCodes => (
                &problem::TOO_MANY_CODES,
                "use one of the codes that the agent got, or wait an hour",
            ),
            ManageError::TooFast => (
                &problem::TOO_MANY,
                "an agent claims and releases at most thirty chats or scopes an hour; wait",
            ),
            ManageError::OverQuota(_) => (
                &problem::OVER_QUOTA,
                "release unneeded grants, or have an operator raise the quota",
            ),
            ManageError::Store(error) => {
                return unavailable(&error, "an agent's reach could not be changed");
            }
        };
        kind.with_detail(detail)
    }
}
