//! Spaces the new sessions of a bot's sockets.

use std::time::Duration;

use nightdesk_types::limits::CALLS_PACED_MAX;
use nightdesk_types::pace::{Paces, Rate};
use nightdesk_types::{BotId, Moment};
use tokio::time::Instant;

use super::course::IDENTIFY_EVERY;

/// The time of each bot's next new session. Discord requires a delay between two.
pub(crate) struct Turns {
    bots: Paces<BotId>,
    began: Instant,
}

impl Default for Turns {
    fn default() -> Self {
        Self { bots: Paces::of(CALLS_PACED_MAX), began: Instant::now() }
    }
}

impl Turns {
    /// Reserves the next turn, and returns the delay until then.
    pub(super) fn next(&self, bot: BotId) -> Duration {
        let now = Moment::after_start(self.began.elapsed());
        let turn = self.bots.place(bot, Rate::per(IDENTIFY_EVERY, 1), now, Duration::MAX);
        turn.unwrap_or_else(|wait| wait)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_sockets_of_a_bot_begin_one_after_the_other() {
        let (turns, bot) = (Turns::default(), BotId::from_uuid(Uuid::from_u128(1)));
        assert_eq!(turns.next(bot), Duration::ZERO);
        assert_eq!(turns.next(bot), IDENTIFY_EVERY);
        assert_eq!(turns.next(bot), IDENTIFY_EVERY * 2);
        assert_eq!(turns.next(BotId::from_uuid(Uuid::from_u128(2))), Duration::ZERO);
        tokio::time::advance(IDENTIFY_EVERY * 3).await;
        assert_eq!(turns.next(bot), Duration::ZERO, "long ago");
    }
}
