//! What a platform is told about what it posted.

use std::time::Duration;

use nightdesk_intake::VerifyError;
use nightdesk_register::RegisterError;
use nightdesk_types::StoreError;

/// What the platform is told.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// Everything is stored, was stored before, or is nobody's.
    Taken {
        /// Whether something of it is nobody's. No platform may be told: it would tell
        /// strangers who is known here. A visitor of our own page may.
        refused: bool,
    },
    /// The answer to a question of the platform.
    Challenge(Vec<u8>),
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
