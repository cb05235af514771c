//! Problem responses, as RFC 9457 defines them.
//!
//! The list of kinds is closed, and each kind has a page with the next step. The member `error` repeats `detail` for
//! clients that show it.

use std::borrow::Cow;
use std::error::Error;

use axum::Json;
use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::openapi::schema::{Object, ObjectBuilder, Type};
use utoipa::{IntoResponses, ToSchema};

/// A kind of problem.
#[derive(Debug)]
pub(crate) struct ProblemKind {
    slug: &'static str,
    title: &'static str,
    status: StatusCode,
    page: &'static str,
}

/// A problem of one request, with the next step for its client.
#[derive(Debug)]
pub(crate) struct Problem {
    kind: &'static ProblemKind,
    detail: Cow<'static, str>,
}

macro_rules! problems {
    ($($name:ident $slug:literal $status:ident $title:literal;)+) => {
        $(
            pub(crate) static $name: ProblemKind = ProblemKind {
                slug: $slug,
                title: $title,
                status: StatusCode::$status,
                page: include_str!(concat!("../../../docs/problems/", $slug, ".md")),
            };
        )+
        static ALL: &[&ProblemKind] = &[$(&$name),+];
    };
}

problems! {
    BAD_REQUEST "bad-request" BAD_REQUEST "Invalid request";
    UNSUPPORTED_FILTER "unsupported-filter" BAD_REQUEST "Unsupported filter";
    UNAUTHORIZED "unauthorized" UNAUTHORIZED "Authentication required";
    FORBIDDEN "forbidden" FORBIDDEN "Operation not allowed";
    REVOKED "gateway-revoked" FORBIDDEN "Gateway revoked";
    WIDENS "widens-reach" FORBIDDEN "A gateway's secret cannot widen an agent's reach";
    OVER_QUOTA "over-quota" FORBIDDEN "Quota exceeded";
    LETTER_REFUSED "letter-refused" FORBIDDEN "Letter not permitted";
    NOT_SEEN "not-seen" FORBIDDEN "No person linked to the agent is known to see the chat";
    NOT_APPROVED "not-approved" FORBIDDEN "Skill approval rejected";
    NOT_FOUND "not-found" NOT_FOUND "Not found";
    NO_BOT "no-such-bot" NOT_FOUND "Bot not found";
    NOT_GRANTED "not-granted" NOT_FOUND "Chat or scope not granted to the agent";
    NOT_LINKED "not-linked" NOT_FOUND "Person not linked to the agent";
    NO_SUCH_AGENT "no-such-agent" NOT_FOUND "Agent not found";
    TIMEOUT "request-timeout" REQUEST_TIMEOUT "Request body timed out";
    CONFLICT "conflict" CONFLICT "State does not permit the request";
    SEVERAL_BOTS "several-bots" CONFLICT "Several bots match";
    TAKEN "taken" CONFLICT "Chat or scope belongs to another agent";
    SKILL_CONFLICT "skill-conflict" CONFLICT "Skill cannot be stored";
    LINE_GONE "line-gone" GONE "Line gone";
    TOO_LARGE "too-large" PAYLOAD_TOO_LARGE "Request body too large";
    TOO_MANY "too-many-requests" TOO_MANY_REQUESTS "Too many requests";
    TOO_MANY_CODES "too-many-codes" TOO_MANY_REQUESTS "Too many link codes";
    NOT_IMPLEMENTED "not-implemented" NOT_IMPLEMENTED "Not implemented";
    NO_REPLY "no-reply" GATEWAY_TIMEOUT "No reply in time";
    UNAVAILABLE "unavailable" SERVICE_UNAVAILABLE "Service unavailable";
}

/// A problem response, as RFC 9457 defines it.
#[derive(Serialize, ToSchema)]
#[schema(as = Problem)]
pub(crate) struct ProblemBody<'a> {
    /// The path of the problem's page.
    r#type: String,
    /// The problem's code, one of a closed list.
    #[schema(schema_with = codes)]
    code: &'a str,
    /// The problem in one line.
    title: &'a str,
    /// The status of the response.
    status: u16,
    /// The next step for the client.
    detail: &'a str,
    /// The same text as `detail`, for clients that show `error`.
    error: &'a str,
}

fn codes() -> Object {
    let codes = ALL.iter().map(|kind| kind.slug);
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(codes)).build()
}

/// The problem response in the description of a route.
#[derive(IntoResponses)]
#[response(
    status = "default",
    description = "A problem and the next step",
    content_type = "application/problem+json"
)]
pub(crate) struct Problems(
    #[expect(dead_code, reason = "only its schema is used")] ProblemBody<'static>,
);

impl Problem {
    /// Returns the next step for the client.
    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    /// Returns true if the same request may succeed later.
    pub(crate) const fn is_temporary(&self) -> bool {
        self.kind.retry_after().is_some()
    }
}

impl ProblemKind {
    /// A problem of this kind, with the next step for the client.
    pub(crate) fn with_detail(&'static self, detail: impl Into<Cow<'static, str>>) -> Problem {
        Problem { kind: self, detail: detail.into() }
    }

    /// Seconds after which the client may repeat the call, if a repeat can help.
    const fn retry_after(&self) -> Option<&'static str> {
        match self.status {
            StatusCode::TOO_MANY_REQUESTS => Some("60"),
            StatusCode::SERVICE_UNAVAILABLE => Some("2"),
            _ => None,
        }
    }

    /// The authentication scheme that a client without a valid credential should use.
    const fn challenge(&self) -> Option<&'static str> {
        match self.status {
            StatusCode::UNAUTHORIZED => Some("Bearer"),
            _ => None,
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Self { kind, detail } = self;
        let body = ProblemBody {
            r#type: format!("/problems/{}", kind.slug),
            code: kind.slug,
            title: kind.title,
            status: kind.status.as_u16(),
            detail: &detail,
            error: &detail,
        };
        let content_type = [(header::CONTENT_TYPE, "application/problem+json")];
        let retry_after = kind.retry_after().map(|seconds| [(header::RETRY_AFTER, seconds)]);
        let challenge = kind.challenge().map(|scheme| [(header::WWW_AUTHENTICATE, scheme)]);
        (kind.status, content_type, retry_after, challenge, Json(body)).into_response()
    }
}

/// Turns a failure of the desk into a problem: the cause is logged, and the client is asked to repeat the call.
pub(crate) trait OrUnavailable<T> {
    /// Logs the failure as `failure`.
    fn or_unavailable(self, failure: &'static str) -> Result<T, Problem>;
}

impl<T, E: Error + 'static> OrUnavailable<T> for Result<T, E> {
    fn or_unavailable(self, failure: &'static str) -> Result<T, Problem> {
        self.map_err(|error| unavailable(&error, failure))
    }
}

/// Logs a failure of the desk. The same call may succeed later.
pub(crate) fn unavailable(error: &(dyn Error + 'static), failure: &'static str) -> Problem {
    tracing::warn!(error, "{failure}");
    UNAVAILABLE.with_detail("the desk cannot respond at the moment, and nothing was changed; retry")
}

/// The page of a problem: its meaning and the next step.
#[utoipa::path(
    get, path = "/problems/{slug}", tag = "desk",
    params(("slug" = String, Path, description = "The problem's code")),
    responses(
        (status = 200, description = "The page", content_type = "text/markdown", body = String),
        Problems,
    )
)]
pub(crate) async fn page(Path(slug): Path<String>) -> Result<impl IntoResponse, Problem> {
    let unknown = || NOT_FOUND.with_detail("there is no such problem; docs/problems lists them");
    let kind = ALL.iter().find(|kind| kind.slug == slug).ok_or_else(unknown)?;
    Ok(([(header::CONTENT_TYPE, "text/markdown; charset=utf-8")], kind.page))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_problem_has_a_page_of_its_own_that_says_what_to_do() {
        for kind in ALL {
            let ProblemKind { slug, title, page, .. } = kind;
            assert!(page.starts_with(&format!("# {title}\n")), "{slug}");
            assert!(page.contains("\n## Next step\n"), "{slug}");
            let same = ALL.iter().filter(|other| other.slug == *slug).count();
            assert_eq!(same, 1, "{slug}");
        }
    }

    #[test]
    fn problems_that_pass_carry_retry_after() {
        for kind in ALL {
            let response = kind.with_detail("x").into_response();
            let has_retry_after = response.headers().contains_key(header::RETRY_AFTER);
            let passing = [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE];
            assert_eq!(has_retry_after, passing.contains(&response.status()), "{}", kind.slug);
        }
    }

    #[test]
    fn only_a_401_carries_a_challenge() {
        for kind in ALL {
            let response = kind.with_detail("x").into_response();
            let challenge = response.headers().get(header::WWW_AUTHENTICATE);
            let is_unauthorized = response.status() == StatusCode::UNAUTHORIZED;
            assert_eq!(
                challenge.is_some_and(|it| it == "Bearer"),
                is_unauthorized,
                "{}",
                kind.slug
            );
        }
    }
}
