//! Spaces the new sessions of a bot's sockets.

use std::time::Duration;

use nightdesk_types::limits::CALLS_PACED_MAX;
use nightdesk_types::rate_limit::{Rate, RateLimiter};
use nightdesk_types::{BotId, Moment};
use tokio::time::Instant;

use super::reconnect::IDENTIFY_EVERY;

/// The time of each bot's next new session. Discord requires a delay between two.
pub(crate) struct IdentifyTurns {
    bots: RateLimiter<BotId>,
    began: Instant,
}

impl Default for IdentifyTurns {
    fn default() -> Self {
        Self { bots: RateLimiter::new(CALLS_PACED_MAX), began: Instant::now() }
    }
}

impl IdentifyTurns {
    /// Reserves the next turn, and returns the delay until then.
    pub(super) fn reserve_next(&self, bot: BotId) -> Duration {
        let now = Moment::after_start(self.began.elapsed());
        let turn = self.bots.reserve(bot, Rate::per(IDENTIFY_EVERY, 1), now, Duration::MAX);
        turn.unwrap_or_else(|wait| wait)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_sockets_of_a_bot_begin_one_after_the_other() {
        let (turns, bot) = (IdentifyTurns::default(), BotId::from_uuid(Uuid::from_u128(1)));
        assert_eq!(turns.reserve_next(bot), Duration::ZERO);
        assert_eq!(turns.reserve_next(bot), IDENTIFY_EVERY);
        assert_eq!(turns.reserve_next(bot), IDENTIFY_EVERY * 2);
        assert_eq!(turns.reserve_next(BotId::from_uuid(Uuid::from_u128(2))), Duration::ZERO);
        tokio::time::advance(IDENTIFY_EVERY * 3).await;
        assert_eq!(turns.reserve_next(bot), Duration::ZERO, "long ago");
    }
}
