//! Deliver: one call to a platform, and what came of it.

use std::error::Error;
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_types::Send;
use nightdesk_vault::Key;
use serde::{Deserialize, Serialize};

use crate::{Bot, CommandChange, File};

/// What the platform answered to a send.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Receipt {
    /// The platform's id for what was made.
    pub message_id: Option<String>,
    /// The thread that was opened.
    pub thread_id: Option<String>,
    /// What the chat is, where that was asked.
    pub chat: Option<ChatInfo>,
    /// Whether it was said as anything else is, since what was lent to say it with had ended.
    pub is_plain: bool,
}

/// What a chat is called and what it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatInfo {
    /// Its name.
    pub name: String,
    /// `dm`, `group`, `channel`, `thread` or `forum`.
    #[serde(rename = "type")]
    pub kind: String,
}

/// The code of a refusal of what was lent to us: it is not good any more, and the same can be said without it.
pub const CAPABILITY_GONE: &str = "capability_gone";

/// Why a call did not do what it should.
#[derive(Debug, thiserror::Error)]
pub enum DeliverError {
    /// Nothing was done; later it may be.
    #[error("rate limited by the platform")]
    RateLimited {
        /// Not before this has passed.
        retry_after: Duration,
    },
    /// The platform was not reached; nothing was done.
    #[error("platform unavailable")]
    Unavailable(#[source] Box<dyn Error + std::marker::Send + Sync>),
    /// The call went out and its answer did not come back: it may have been done.
    #[error("no answer from the platform")]
    Ambiguous(#[source] Box<dyn Error + std::marker::Send + Sync>),
    /// The platform said no, and will again.
    #[error("message refused by the platform")]
    Refused {
        /// The platform's own word for it.
        platform_code: String,
    },
    /// The account's key is not taken any more.
    #[error("key rejected by the platform")]
    KeyRejected,
    /// This platform cannot do that.
    #[error("the platform cannot do that")]
    Unsupported,
}

/// Makes calls to a platform.
#[async_trait]
pub trait Deliver: std::marker::Send + Sync {
    /// Makes one call. It never repeats it.
    async fn deliver(&self, bot: &Bot, send: &Send) -> Result<Receipt, DeliverError>;

    /// Lets a button come to rest whose press was dealt with. The press is the event of that key. One call,
    /// and nobody waits for it.
    async fn answer_press(&self, _bot: &Bot, _key: &str) -> Result<(), DeliverError> {
        Ok(())
    }

    /// Makes one call by a name, under which the platform does it once, where it can: who gives a send
    /// the same name again may be told of the first.
    async fn deliver_as(
        &self,
        bot: &Bot,
        send: &Send,
        _name: &str,
    ) -> Result<Receipt, DeliverError> {
        self.deliver(bot, send).await
    }

    /// Makes one call with what the platform lent us for it.
    async fn follow_up(
        &self,
        _bot: &Bot,
        _send: &Send,
        _capability: &Key,
    ) -> Result<Receipt, DeliverError> {
        Err(DeliverError::Unsupported)
    }

    /// Makes a command known in one scope of the platform's, or takes it back. What is made known has an id.
    async fn command(
        &self,
        _bot: &Bot,
        _scope_id: &str,
        _change: &CommandChange,
    ) -> Result<Receipt, DeliverError> {
        Err(DeliverError::Unsupported)
    }

    /// Makes one call by a name, and gives the file with it that it speaks of.
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
