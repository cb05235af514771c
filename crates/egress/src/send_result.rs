//! The result of a send, as stored and returned.
//!
//! The texts matter: a stock client retries after an error that contains "network", and sends once more as plain text
//! after most others. So an error for lack of a connection or of time contains "network", and no other error does.

use std::error::Error;

use nightdesk_port::{DeliverError, Receipt};
use nightdesk_types::limits::PLATFORM_ID_BYTES_MAX;
use serde::{Deserialize, Serialize};

/// The result of a send.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SendResult {
    /// The platform executed it.
    Delivered(Receipt),
    /// It was sent in several parts, possibly not all of them.
    InParts(SentParts),
    /// It was not executed; the text gives the reason.
    Failed(String),
    /// The call began, and its result is not known.
    Ambiguous,
}

/// The sent parts of a long message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentParts {
    /// The receipts of the sent parts. The first is the message for replies and edits.
    pub said: Vec<Receipt>,
    /// The number of all parts.
    pub of: usize,
}

/// A message or a thread that a send made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeMessage {
    /// The platform's id.
    pub id: String,
    /// The chat under which clients may name it, if it is not the chat of the send: a thread is a chat, too.
    pub own_chat: Option<String>,
}

impl SentParts {
    /// Returns true if all parts were sent.
    pub const fn is_whole(&self) -> bool {
        self.said.len() == self.of
    }
}

impl SendResult {
    /// Returns the result of a send that got no turn and made no call.
    pub fn without_turn() -> Self {
        Self::Failed("network busy behind the desk; nothing was sent".to_owned())
    }

    /// Returns the result of a send without a valid capability, which made no call.
    pub fn without_capability() -> Self {
        Self::Failed("capability absent or expired".to_owned())
    }

    /// Returns the result of a send whose stored form does not open, which made no call.
    pub fn unreadable() -> Self {
        Self::Failed("the stored message cannot be read; nothing was sent".to_owned())
    }

    /// Returns the messages and threads in its receipts, without overlong ids.
    pub fn made_messages(&self) -> Vec<MadeMessage> {
        let receipts = match self {
            Self::Delivered(receipt) => std::slice::from_ref(receipt),
            Self::InParts(parts) => &parts.said,
            Self::Failed(_) | Self::Ambiguous => &[],
        };
        let made = receipts.iter().flat_map(|receipt| {
            let (message, thread) = (receipt.message_id.clone(), receipt.thread_id.clone());
            let in_chat = [message, thread.clone()].into_iter().flatten();
            let in_chat = in_chat.map(|id| MadeMessage { id, own_chat: None });
            in_chat.chain(thread.map(|id| MadeMessage { own_chat: Some(id.clone()), id }))
        });
        made.filter(|made| made.id.len() <= PLATFORM_ID_BYTES_MAX).collect()
    }

    /// Returns the result of a send for which no call was made, because something it needs could not be read.
    pub(crate) fn unavailable(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Err(DeliverError::Unavailable(error.into())).into()
    }

    /// Returns the result of a send whose parts were all sent.
    pub(crate) fn from_receipts(mut said: Vec<Receipt>) -> Self {
        match said.pop() {
            Some(receipt) if said.is_empty() => Self::Delivered(receipt),
            last => {
                said.extend(last);
                let of = said.len();
                Self::InParts(SentParts { said, of })
            }
        }
    }

    /// Returns the result of a send that failed after some parts. If a part was sent, the result is `InParts` for every
    /// error, because a retry of the whole send would repeat that part.
    pub(crate) fn from_partial(said: Vec<Receipt>, of: usize, error: DeliverError) -> Self {
        if said.is_empty() { Err(error).into() } else { Self::InParts(SentParts { said, of }) }
    }
}

impl From<Result<Receipt, DeliverError>> for SendResult {
    fn from(delivered: Result<Receipt, DeliverError>) -> Self {
        match delivered {
            Ok(receipt) => Self::Delivered(receipt),
            Err(DeliverError::Ambiguous(_)) => Self::Ambiguous,
            Err(DeliverError::Refused { platform_code }) => {
                Self::Failed(format!("message refused by the platform: {platform_code}"))
            }
            Err(error @ (DeliverError::RateLimited { .. } | DeliverError::Unavailable(_))) => {
                Self::Failed(format!("network: {error}; nothing was sent"))
            }
            Err(
                error @ (DeliverError::KeyRejected
                | DeliverError::Unsupported
                | DeliverError::FileGone),
            ) => Self::Failed(error.to_string()),
        }
    }
}
