//! Interface for calls to a platform, and their results.

use std::error::Error;
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_types::Send;
use nightdesk_vault::Key;
use serde::{Deserialize, Serialize};

use crate::{Bot, CommandChange, FetchError, File};

/// The platform's response to a send.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Receipt {
    /// The platform's id of the created message or command.
    pub message_id: Option<String>,
    /// The id of the created thread.
    pub thread_id: Option<String>,
    /// The chat's description, if the send requested it.
    pub chat: Option<ChatInfo>,
    /// True if the message was sent without its capability, because the capability had expired.
    pub is_plain: bool,
}

/// Name and kind of a chat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatInfo {
    /// The chat's name.
    pub name: String,
    /// `dm`, `group`, `channel`, `thread` or `forum`.
    #[serde(rename = "type")]
    pub kind: String,
}

/// Code of a refusal because the capability has expired. The same message can be sent without it.
pub const CAPABILITY_GONE: &str = "capability_gone";

/// Failures of a call.
#[derive(Debug, thiserror::Error)]
pub enum DeliverError {
    /// The platform did nothing because of its rate limit. The call may succeed later.
    #[error("rate limited by the platform")]
    RateLimited {
        /// Minimum delay before the next attempt.
        retry_after: Duration,
    },
    /// The platform could not be reached and did nothing.
    #[error("platform unavailable")]
    Unavailable(#[source] Box<dyn Error + std::marker::Send + Sync>),
    /// The request was sent and no response arrived, so the platform may have executed it.
    #[error("no answer from the platform")]
    Ambiguous(#[source] Box<dyn Error + std::marker::Send + Sync>),
    /// The platform refused the call and will refuse it again.
    #[error("message refused by the platform")]
    Refused {
        /// The platform's error code.
        platform_code: String,
    },
    /// The platform no longer accepts the account's key.
    #[error("key rejected by the platform")]
    KeyRejected,
    /// The platform does not support the call.
    #[error("the platform does not support that")]
    Unsupported,
    /// The file of the send does not exist any more. The call was not made.
    #[error("media absent or expired")]
    FileGone,
}

impl From<FetchError> for DeliverError {
    fn from(error: FetchError) -> Self {
        match error {
            FetchError::Gone => Self::FileGone,
            FetchError::Unavailable(source) => Self::Unavailable(source),
        }
    }
}

impl DeliverError {
    /// Returns a refusal with this code.
    pub fn refused(code: impl Into<String>) -> Self {
        Self::Refused { platform_code: code.into() }
    }
}

/// Makes calls to a platform.
#[async_trait]
pub trait Deliver: std::marker::Send + Sync {
    /// Makes one call and never repeats it.
    async fn deliver(&self, bot: &Bot, send: &Send) -> Result<Receipt, DeliverError>;

    /// Releases a button after its press, the event with this key, was handled. No other work waits for the call.
    async fn answer_press(&self, _bot: &Bot, _key: &str) -> Result<(), DeliverError> {
        Ok(())
    }

    /// Makes one call under an idempotency name. If the platform supports such names, it executes the call once and
    /// may return the first result for a repeated name.
    async fn deliver_as(
        &self,
        bot: &Bot,
        send: &Send,
        _name: &str,
    ) -> Result<Receipt, DeliverError> {
        self.deliver(bot, send).await
    }

    /// Makes one call with a capability that the platform issued for it.
    async fn follow_up(
        &self,
        _bot: &Bot,
        _send: &Send,
        _capability: &Key,
    ) -> Result<Receipt, DeliverError> {
        Err(DeliverError::Unsupported)
    }

    /// Registers a command in one scope of the platform, or removes it. The receipt of a registration has the command's
    /// id.
    async fn command(
        &self,
        _bot: &Bot,
        _scope_id: &str,
        _change: &CommandChange,
    ) -> Result<Receipt, DeliverError> {
        Err(DeliverError::Unsupported)
    }

    /// Makes one call under a name and uploads the file that the send refers to.
    async fn upload(
        &self,
        _bot: &Bot,
        _send: &Send,
        _file: &File,
        _name: &str,
    ) -> Result<Receipt, DeliverError> {
        Err(DeliverError::Unsupported)
    }
}
