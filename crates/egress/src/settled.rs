//! Settled: what came of a send, as it is stored and answered.
//!
//! The texts matter: a stock client sends again by itself after an error that names the
//! network, and sends once more as plain text after most others. So what was not said for
//! want of a connection or of time names the network, and nothing else does.

use nightdesk_port::{DeliverError, Receipt};
use serde::{Deserialize, Serialize};

/// What came of a send.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Settled {
    /// The platform did it.
    Delivered(Receipt),
    /// It was too long for one message, and was said in parts, perhaps not to its end.
    InParts(Parts),
    /// It was not done; the text says why.
    Failed(String),
    /// It was begun, and nobody knows whether it was done.
    Ambiguous,
}

/// What was said of a long message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parts {
    /// What the platform answered to each part that was said. The first is the message that a
    /// reply or an edit goes to.
    pub said: Vec<Receipt>,
    /// How many parts there are.
    pub of: usize,
}

impl Parts {
    /// Whether all of it was said.
    pub const fn is_whole(&self) -> bool {
        self.said.len() == self.of
    }
}

impl Settled {
    /// There was no turn for it, and nothing was done.
    pub fn no_turn() -> Self {
        Self::Failed("network busy behind the desk; nothing was sent".to_owned())
    }

    /// Nothing is lent for that session, or not any more, and nothing was done.
    pub fn nothing_lent() -> Self {
        Self::Failed("capability absent or expired".to_owned())
    }

    /// Everything was said.
    pub(crate) fn said(mut said: Vec<Receipt>) -> Self {
        match said.pop() {
            Some(receipt) if said.is_empty() => Self::Delivered(receipt),
            last => {
                said.extend(last);
                let of = said.len();
                Self::InParts(Parts { said, of })
            }
        }
    }

    /// Something went wrong after so much was said. Once a part was said, saying it all again
    /// would say it twice, whatever the error.
    pub(crate) fn broken_off(said: Vec<Receipt>, of: usize, error: DeliverError) -> Self {
        if said.is_empty() { Err(error).into() } else { Self::InParts(Parts { said, of }) }
    }
}

impl From<Result<Receipt, DeliverError>> for Settled {
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
            Err(error @ (DeliverError::KeyRejected | DeliverError::Unsupported)) => {
                Self::Failed(error.to_string())
            }
        }
    }
}
