//! What a platform is told about what it posted.

use std::error::Error;
use std::time::Duration;

use nightdesk_intake::VerifyError;
use nightdesk_port::{SignedRequest, Taken};
use nightdesk_register::RegisterError;
use nightdesk_types::StoreError;

use crate::Account;

/// What the platform is told.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// Everything is stored, was stored before, or is nobody's.
    Taken {
        /// Whether something of it is nobody's. No platform may be told: it would tell
        /// strangers who is known here. A visitor of our own page may.
        refused: bool,
    },
    /// The answer to a question of the platform, in JSON.
    Challenge(Vec<u8>),
    /// What its people are shown, in JSON, because the platform does not ask again.
    Told(Vec<u8>),
}

/// What a platform is told about events that were put, or could not be. One whose people see the answer is
/// told in its own words, also that it was in vain: it would not come again.
pub(super) fn answered(
    account: &Account,
    request: &SignedRequest<'_>,
    refused: Result<bool, StoreError>,
) -> Result<Answer, TakeError> {
    let taken = match refused {
        Ok(false) => Taken::Kept,
        Ok(true) => Taken::Refused,
        Err(_) => Taken::NotKept,
    };
    let told = account.platform.told(request, taken);
    match refused {
        Err(error) if told.is_empty() => Err(error.into()),
        Err(error) => {
            tracing::warn!(error = &error as &dyn Error, "people were told that nothing was kept");
            Ok(Answer::Told(told))
        }
        Ok(refused) if told.is_empty() => Ok(Answer::Taken { refused }),
        Ok(_) => Ok(Answer::Told(told)),
    }
}

/// Why a request was not taken.
#[derive(Debug, thiserror::Error)]
pub enum TakeError {
    /// There is no bot at that path.
    #[error("no bot has this path")]
    NoBot,
    /// It is not the platform's.
    #[error("not the platform's request")]
    Verify(#[from] VerifyError),
    /// The bot has had its webhooks; the platform should come again after so long.
    #[error("too many at once")]
    TooFast(Duration),
    /// It could not be stored; the platform should come again.
    #[error("could not be stored")]
    Store(#[from] StoreError),
    /// The register could not be asked.
    #[error("could not find the bot")]
    Register(#[from] RegisterError),
}
