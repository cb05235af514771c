//! The response to a platform's request.

use std::error::Error;
use std::time::Duration;

use nightdesk_intake::VerifyError;
use nightdesk_port::{ReceiveOutcome, SignedRequest};
use nightdesk_register::RegisterError;
use nightdesk_types::StoreError;

use crate::Account;

/// The response to the platform.
#[derive(Debug, PartialEq, Eq)]
pub enum WebhookResponse {
    /// Each event is stored, was stored before, or has no recipient.
    Taken {
        /// True if at least one event has no recipient. A platform must not learn this, because it would reveal to
        /// strangers which people the desk knows. A visitor of the desk's own page may.
        refused: bool,
    },
    /// The response to a platform's challenge, in JSON.
    Challenge(Vec<u8>),
    /// A text that the platform shows to its users, in JSON, because the platform does not retry.
    Told(Vec<u8>),
}

/// Returns the response for events that were put or failed. If the platform shows its response to users, it gets one in
/// its own format, also on failure, because it does not retry.
pub(super) fn build_response(
    account: &Account,
    request: &SignedRequest<'_>,
    refused: Result<bool, StoreError>,
) -> Result<WebhookResponse, TakeError> {
    let taken = match refused {
        Ok(false) => ReceiveOutcome::Kept,
        Ok(true) => ReceiveOutcome::Refused,
        Err(_) => ReceiveOutcome::NotKept,
    };
    let told = account.platform.response_body(request, taken);
    match refused {
        Err(error) if told.is_empty() => Err(error.into()),
        Err(error) => {
            tracing::warn!(error = &error as &dyn Error, "could not store an interaction");
            Ok(WebhookResponse::Told(told))
        }
        Ok(refused) if told.is_empty() => Ok(WebhookResponse::Taken { refused }),
        Ok(_) => Ok(WebhookResponse::Told(told)),
    }
}

/// An error that prevents a request from being taken.
#[derive(Debug, thiserror::Error)]
pub enum TakeError {
    /// No bot has that path.
    #[error("no bot has this path")]
    NoBot,
    /// The request is not from the platform.
    #[error("the request does not come from the platform")]
    Verify(#[from] VerifyError),
    /// The bot exceeded its webhook rate; the platform should retry after this time.
    #[error("too many requests")]
    TooFast(Duration),
    /// The events could not be stored; the platform should retry.
    #[error("the events could not be stored")]
    Store(#[from] StoreError),
    /// The lookup in the register failed.
    #[error("could not look up the bot")]
    Register(#[from] RegisterError),
}
