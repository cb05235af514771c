//! Listen: what a platform says where we ask for it.

use std::error::Error;
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_types::event::Draft;
use nightdesk_types::{StoreError, Timestamp};

use crate::{Bot, Capability, ReceiveError};

/// Something a platform said.
#[derive(Debug)]
pub struct Heard {
    /// What it is in our words. `None`: nobody said anything.
    pub said: Result<Option<Draft>, ReceiveError>,
    /// As it came, for who wants to look at what could not be read.
    pub body: Vec<u8>,
    /// Where the source goes on after it, in its own words.
    pub cursor: String,
    /// What the platform lent us to answer it with. Neither the event nor the body holds any part of it.
    pub capability: Option<Capability>,
    /// Whether something may be missing before it: the platform could not go on where we left.
    pub is_after_gap: bool,
}

/// Which part of what was said in a channel.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// What was said after this time.
    Since(Timestamp),
    /// What was said after something that was told, by its cursor.
    After(&'a str),
    /// The last so many that were said before a message, by its id.
    Before(&'a str, usize),
}

/// Why nothing was heard.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The platform tells somebody else.
    #[error("the platform tells somebody else")]
    Elsewhere,
    /// It was asked too often.
    #[error("rate limited by the platform")]
    RateLimited {
        /// Not before this has passed.
        retry_after: Duration,
    },
    /// The account's key is not taken any more.
    #[error("key rejected by the platform")]
    KeyRejected,
    /// The platform does not let the bot listen, and somebody has to change that.
    #[error("the platform does not let the bot listen: {reason}")]
    Barred {
        /// What is in the way.
        reason: &'static str,
    },
    /// It was not reached, or its answer was not understood.
    #[error("platform unavailable")]
    Unavailable(#[source] Box<dyn Error + Send + Sync>),
}

/// How it stands with what a platform posts, as the platform sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Posting {
    /// What it could not post yet.
    pub waiting: u64,
    /// How long ago a post last failed, if one did.
    pub failed_ago: Option<Duration>,
}

/// Asks a platform whether its posts come through.
#[async_trait]
pub trait Probe: Send + Sync {
    /// How it stands. A platform that posts a bot's events nowhere tells somebody else.
    async fn probe(&self, bot: &Bot) -> Result<Posting, ListenError>;
}

/// Asks a platform for what was said.
#[async_trait]
pub trait Listen: Send + Sync {
    /// What the source is called: a bot may have several.
    fn source(&self) -> &'static str;

    /// What came after the cursor, in the platform's order. It waits a while for something to come,
    /// and answers nothing if nothing did; it may be dropped at any time.
    ///
    /// To ask with a cursor says that all before it was stored: the platform forgets it.
    async fn listen(&self, bot: &Bot, cursor: Option<&str>) -> Result<Vec<Heard>, ListenError>;

    /// What was said in one channel, oldest first, a page of it: for what fell into a gap, or was said around
    /// a message. The cursor of each is where to go on in that channel. Nothing, where the platform does not
    /// tell twice.
    async fn backfill(
        &self,
        _bot: &Bot,
        _channel: &str,
        _part: Part<'_>,
    ) -> Result<Vec<Heard>, ListenError> {
        Ok(Vec::new())
    }

    /// Hangs up, so that whoever listens next can go on at once.
    async fn leave(&self, _bot: &Bot) {}
}

/// How often a bot may begin anew. Some platforms count that, and take the key away from who does it
/// too often: so it must be counted where it outlives us.
#[async_trait]
pub trait Budget: Send + Sync {
    /// Takes one. Answers whether any was left.
    async fn spend(&self, bot: &Bot) -> Result<bool, StoreError>;
}

/// As often as it likes.
#[derive(Clone, Copy, Debug)]
pub struct Unlimited;

#[async_trait]
impl Budget for Unlimited {
    async fn spend(&self, _bot: &Bot) -> Result<bool, StoreError> {
        Ok(true)
    }
}
