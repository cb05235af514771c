//! Interface that turns a platform's signed request into events.

use http::{HeaderMap, StatusCode};
use nightdesk_types::event::Draft;

use crate::{Bot, Capability};

/// A request with the exact bytes that were signed.
#[derive(Clone, Copy, Debug)]
pub struct SignedRequest<'a> {
    /// The request's method.
    pub method: WebhookMethod,
    /// The URL to which the platform sent the request, with its query: the desk's configured URL, also behind a proxy.
    /// Headers of the request never change it. Empty for a request that has no webhook.
    pub url: &'a str,
    /// The request's headers.
    pub headers: &'a HeaderMap,
    /// The request's body, unchanged.
    pub body: &'a [u8],
}

impl<'a> SignedRequest<'a> {
    /// Returns a POST to no webhook, or to one of a platform that does not sign its URL.
    pub const fn post(headers: &'a HeaderMap, body: &'a [u8]) -> Self {
        Self { method: WebhookMethod::Post, url: "", headers, body }
    }

    /// Returns the query of the URL, without the question mark.
    pub fn query(&self) -> Option<&'a str> {
        self.url.split_once('?').map(|(_, query)| query)
    }
}

/// The methods of a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum WebhookMethod {
    Get,
    Post,
    Put,
}

/// The HTTP response to a platform's request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookAnswer {
    /// The status.
    pub status: StatusCode,
    /// The MIME type of the body.
    pub content_type: &'static str,
    /// The body.
    pub body: Vec<u8>,
}

impl WebhookAnswer {
    /// Returns a successful answer in JSON.
    pub fn json(body: impl Into<Vec<u8>>) -> Self {
        Self { status: StatusCode::OK, content_type: "application/json", body: body.into() }
    }

    /// Returns a successful answer in plain text.
    pub fn text(body: impl Into<Vec<u8>>) -> Self {
        Self {
            status: StatusCode::OK,
            content_type: "text/plain; charset=utf-8",
            body: body.into(),
        }
    }
}

/// The content of an authentic request.
#[derive(Debug)]
pub enum RequestContent {
    /// Events in the platform's order, with an error in place of each unreadable event.
    Events(Vec<Result<Draft, ReceiveError>>),
    /// One event and the capability to answer it. The event contains no part of the capability.
    Bearing(Box<Draft>, Capability),
    /// A challenge of the platform that requires exactly this answer.
    Challenge(WebhookAnswer),
}

/// Reasons to reject a request or one of its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReceiveError {
    /// The signature is wrong, and nothing of the request was parsed.
    #[error("the signature is invalid")]
    BadSignature,
    /// The request is authentic, but its format is unknown.
    #[error("the request is authentic, but its format is unknown")]
    Unreadable,
}

/// Result of an authentic request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveOutcome {
    /// The event is stored.
    Kept,
    /// The event may reach no agent.
    Refused,
    /// The event could not be stored.
    NotKept,
}

/// Receives a platform's requests.
pub trait Receive: Send + Sync {
    /// Checks the signature over the exact bytes before any of them is parsed, and returns the content.
    fn receive(
        &self,
        bot: &Bot,
        request: &SignedRequest<'_>,
    ) -> Result<RequestContent, ReceiveError>;

    /// Returns the answer to an authentic request, or `None` if a status code is sufficient: 200 for an event that was
    /// taken, and 503 for one that the platform should send again. A platform that shows the answer to a person and
    /// does not send the request again needs an answer for each outcome.
    fn answer(
        &self,
        _request: &SignedRequest<'_>,
        _taken: ReceiveOutcome,
    ) -> Option<WebhookAnswer> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_query_is_after_the_first_question_mark() {
        let headers = HeaderMap::new();
        let cases = [
            ("https://desk.example/hooks/a", None),
            ("https://desk.example/hooks/a?", Some("")),
            ("https://desk.example/hooks/a?b=1&c=?", Some("b=1&c=?")),
        ];
        for (url, want) in cases {
            let request = SignedRequest { url, ..SignedRequest::post(&headers, b"") };
            assert_eq!(request.query(), want, "{url}");
        }
    }
}
