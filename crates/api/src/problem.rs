//! Problem: what a caller is told when something is not done, as RFC 9457 has it.
//!
//! The list is closed, and each has a page that says what to do. Beside the standard's members stands `error`, which
//! is what today's clients show.

use axum::Json;
use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::openapi::schema::{Object, ObjectBuilder, Type};
use utoipa::{IntoResponses, ToSchema};

/// A kind of problem.
#[derive(Debug)]
pub(crate) struct Problem {
    slug: &'static str,
    title: &'static str,
    status: StatusCode,
    page: &'static str,
}

macro_rules! problems {
    ($($name:ident $slug:literal $status:ident $title:literal;)+) => {
        $(
            pub(crate) const $name: Problem = Problem {
                slug: $slug,
                title: $title,
                status: StatusCode::$status,
                page: include_str!(concat!("../../../docs/problems/", $slug, ".md")),
            };
        )+
        const ALL: &[&Problem] = &[$(&$name),+];
    };
}

problems! {
    BAD_REQUEST "bad-request" BAD_REQUEST "The request cannot be read";
    UNSUPPORTED_FILTER "unsupported-filter" BAD_REQUEST "Data is not looked for by that";
    UNAUTHORIZED "unauthorized" UNAUTHORIZED "Nobody the desk knows asks";
    FORBIDDEN "forbidden" FORBIDDEN "It is not allowed";
    WIDENS "widens-reach" FORBIDDEN "A gateway's secret cannot widen an agent's reach";
    OVER_QUOTA "over-quota" FORBIDDEN "The tenant has as much as it may";
    LETTER_REFUSED "letter-refused" FORBIDDEN "The letter may not be sent";
    NOT_SEEN "not-seen" FORBIDDEN "Nobody linked to the agent is known to see that chat";
    NOT_APPROVED "not-approved" FORBIDDEN "Nobody who may vouch for the skill does";
    NOT_FOUND "not-found" NOT_FOUND "There is nothing of that name";
    NO_BOT "no-such-bot" NOT_FOUND "No such bot is open to the agent";
    NOT_GRANTED "not-granted" NOT_FOUND "The agent has no such chat or scope";
    NOT_LINKED "not-linked" NOT_FOUND "That person is not linked to the agent";
    NO_SUCH_AGENT "no-such-agent" NOT_FOUND "There is no such agent";
    TIMEOUT "request-timeout" REQUEST_TIMEOUT "The body did not come in time";
    SEVERAL_BOTS "several-bots" CONFLICT "Several bots are open to the agent";
    TAKEN "taken" CONFLICT "Another agent has that chat or scope";
    SKILL_CONFLICT "skill-conflict" CONFLICT "The skill cannot be kept so";
    TOO_LARGE "too-large" PAYLOAD_TOO_LARGE "The body is too long";
    TOO_MANY "too-many-requests" TOO_MANY_REQUESTS "That was asked too often";
    TOO_MANY_CODES "too-many-codes" TOO_MANY_REQUESTS "The agent got too many link codes";
    NOT_IMPLEMENTED "not-implemented" NOT_IMPLEMENTED "This desk does not do that";
    NO_REPLY "no-reply" GATEWAY_TIMEOUT "Nobody replied in time";
    UNAVAILABLE "unavailable" SERVICE_UNAVAILABLE "The desk cannot answer just now";
}

/// What is said when something is not done, as RFC 9457 has it.
#[derive(Serialize, ToSchema)]
#[schema(as = Problem)]
pub(crate) struct Said<'a> {
    /// Where the problem's page is.
    r#type: String,
    /// Which of the closed list it is.
    #[schema(schema_with = codes)]
    code: &'a str,
    /// What is wrong, in a line.
    title: &'a str,
    /// The status of the answer.
    status: u16,
    /// What to do next.
    detail: &'a str,
    /// The same, for clients that look for it.
    error: &'a str,
}

fn codes() -> Object {
    let codes = ALL.iter().map(|problem| problem.slug);
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(codes)).build()
}

/// That a call may be answered with a problem, for the description of its route.
#[derive(IntoResponses)]
#[response(
    status = "default",
    description = "Why not, and what to do",
    content_type = "application/problem+json"
)]
pub(crate) struct Refusals(#[expect(dead_code, reason = "only its shape is told")] Said<'static>);

impl Problem {
    /// The plain one of a status.
    pub(crate) fn of(status: StatusCode) -> &'static Self {
        let of_status = ALL.iter().find(|problem| problem.status == status);
        of_status.copied().unwrap_or(&UNAVAILABLE)
    }

    /// After how many seconds the same call may be made again, if that can help.
    const fn retry_after(&self) -> Option<&'static str> {
        match self.status {
            StatusCode::TOO_MANY_REQUESTS => Some("60"),
            StatusCode::SERVICE_UNAVAILABLE => Some("2"),
            _ => None,
        }
    }

    /// An answer that says what to do next.
    pub(crate) fn said(&self, what_to_do: &str) -> Response {
        let said = Said {
            r#type: format!("/problems/{}", self.slug),
            code: self.slug,
            title: self.title,
            status: self.status.as_u16(),
            detail: what_to_do,
            error: what_to_do,
        };
        let kind = [(header::CONTENT_TYPE, "application/problem+json")];
        let later = self.retry_after().map(|seconds| [(header::RETRY_AFTER, seconds)]);
        (self.status, kind, later, Json(said)).into_response()
    }
}

/// What a problem means, and what to do.
#[utoipa::path(
    get, path = "/problems/{slug}", tag = "desk",
    params(("slug" = String, Path, description = "The problem's code")),
    responses(
        (status = 200, description = "Its page", content_type = "text/markdown", body = String),
        Refusals,
    )
)]
pub(crate) async fn page(Path(slug): Path<String>) -> Response {
    match ALL.iter().find(|problem| problem.slug == slug) {
        Some(problem) => {
            let kind = [(header::CONTENT_TYPE, "text/markdown; charset=utf-8")];
            (kind, problem.page).into_response()
        }
        None => NOT_FOUND.said("there is no such problem; the list is in docs/problems"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_problem_has_a_page_of_its_own_that_says_what_to_do() {
        for problem in ALL {
            let Problem { slug, title, page, .. } = problem;
            assert!(page.starts_with(&format!("# {title}\n")), "{slug}");
            assert!(page.contains("\n## What to do\n"), "{slug}");
            let same = ALL.iter().filter(|other| other.slug == *slug).count();
            assert_eq!(same, 1, "{slug}");
        }
    }

    #[test]
    fn who_may_come_again_is_told_when() {
        for problem in ALL {
            let said = problem.said("x");
            let (is_told, status) =
                (said.headers().contains_key(header::RETRY_AFTER), said.status());
            let may = [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE];
            assert_eq!(is_told, may.contains(&status), "{}", problem.slug);
        }
    }

    #[test]
    fn the_first_of_a_status_is_the_plain_one() {
        for plain in [&BAD_REQUEST, &FORBIDDEN, &NOT_FOUND, &TOO_MANY, &UNAVAILABLE] {
            assert_eq!(Problem::of(plain.status).slug, plain.slug);
        }
        assert_eq!(Problem::of(StatusCode::IM_A_TEAPOT).slug, UNAVAILABLE.slug);
    }
}
