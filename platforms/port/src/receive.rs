//! Receive: a platform's request becomes events, if its signature checks out.

use http::HeaderMap;
use nightdesk_types::event::Draft;

use crate::{Bot, Capability};

/// A request as it came, with the exact bytes that were signed.
#[derive(Clone, Copy, Debug)]
pub struct SignedRequest<'a> {
    /// Its headers.
    pub headers: &'a HeaderMap,
    /// Its body, untouched.
    pub body: &'a [u8],
}

/// What an authentic request holds.
#[derive(Debug)]
pub enum Received {
    /// Events, in the platform's order. Those that could not be read stand beside the others.
    Events(Vec<Result<Draft, ReceiveError>>),
    /// One event, and a capability to answer it with. The event holds no part of it.
    Bearing(Box<Draft>, Capability),
    /// A question of the platform that wants this answer and nothing else.
    Challenge(Vec<u8>),
}

/// Why a request, or an event of it, is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReceiveError {
    /// Nothing of it was read.
    #[error("signature does not check out")]
    BadSignature,
    /// It is authentic, but we do not understand it.
    #[error("authentic, but not readable")]
    Unreadable,
}

/// What came of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It is kept.
    Kept,
    /// Nobody may have it.
    Refused,
    /// It could not be kept.
    NotKept,
}

/// Takes a platform's requests.
pub trait Receive: Send + Sync {
    /// Checks the signature over the exact bytes, before anything of them is read, and says
    /// what the platform said.
    fn receive(&self, bot: &Bot, request: &SignedRequest<'_>) -> Result<Received, ReceiveError>;

    /// What is answered to an authentic request, in JSON. Nothing, where the status says it all.
    fn told(&self, _request: &SignedRequest<'_>, _taken: Taken) -> Vec<u8> {
        Vec::new()
    }
}
