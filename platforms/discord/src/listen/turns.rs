//! Spaces the new sessions of a bot's sockets.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use nightdesk_types::BotId;
use tokio::time::Instant;

use super::course::IDENTIFY_EVERY;

/// The time of each bot's next new session. Discord requires a delay between two.
#[derive(Default)]
pub(crate) struct Turns(Mutex<HashMap<BotId, Instant>>);

impl Turns {
    /// Reserves the next turn, and returns the delay until then.
    pub(super) fn next(&self, bot: BotId) -> Duration {
        let now = Instant::now();
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // An expired turn needs no entry, because its bot may begin at once.
        turns.retain(|_, next| *next > now);
        let mine = turns.get(&bot).copied().unwrap_or(now);
        turns.insert(bot, mine + IDENTIFY_EVERY);
        mine - now
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
