//! Interface that turns a platform's signed request into events.

use http::HeaderMap;
use nightdesk_types::event::Draft;

use crate::{Bot, Capability};

/// A request with the exact bytes that were signed.
#[derive(Clone, Copy, Debug)]
pub struct SignedRequest<'a> {
    /// The request's headers.
    pub headers: &'a HeaderMap,
    /// The request's body, unchanged.
    pub body: &'a [u8],
}

/// The content of an authentic request.
#[derive(Debug)]
pub enum RequestContent {
    /// Events in the platform's order, with an error in place of each unreadable event.
    Events(Vec<Result<Draft, ReceiveError>>),
    /// One event and the capability to answer it. The event contains no part of the capability.
    Bearing(Box<Draft>, Capability),
    /// A challenge of the platform that requires exactly this response.
    Challenge(Vec<u8>),
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

    /// Returns the JSON response to an authentic request, or nothing if the status code is sufficient.
    fn response_body(&self, _request: &SignedRequest<'_>, _taken: ReceiveOutcome) -> Vec<u8> {
        Vec::new()
    }
}
