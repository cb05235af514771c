//! The response to a platform's request.

use std::error::Error;
use std::time::Duration;

use nightdesk_intake::VerifyError;
use nightdesk_port::{ReceiveOutcome, SignedRequest, WebhookAnswer};
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
    /// The answer that the platform expects: to its challenge, or one that it shows to a person because it does not
    /// send the request again.
    Answer(WebhookAnswer),
}

/// Returns the response for events that were put or failed. If the platform shows its response to users, it gets one in
/// its own format, also on failure, because it does not retry.
pub(super) fn build_response(
    account: &Account,
    request: &SignedRequest<'_>,
    refused: Result<bool, TakeError>,
) -> Result<WebhookResponse, TakeError> {
    let taken = match refused {
        Ok(false) => ReceiveOutcome::Kept,
        Ok(true) => ReceiveOutcome::Refused,
        Err(_) => ReceiveOutcome::NotKept,
    };
    let answer = account.platform.answer(request, taken);
    match (refused, answer) {
        (Err(error), Some(answer)) => {
            tracing::warn!(error = &error as &dyn Error, "could not store an interaction");
            Ok(WebhookResponse::Answer(answer))
        }
        (Err(error), None) => Err(error),
        (Ok(_), Some(answer)) => Ok(WebhookResponse::Answer(answer)),
        (Ok(refused), None) => Ok(WebhookResponse::Taken { refused }),
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
