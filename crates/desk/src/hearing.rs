//! Hearing: whether what people say to a bot comes through is judged by what came through, and written down.
//!
//! While all is well that is a row a minute. When nothing is heard, the store counts from the first time, and
//! tells the bot's operator once.

use std::error::Error;
use std::time::Duration;

use nightdesk_egress::Paces;
use nightdesk_port::Bot;
use nightdesk_types::limits::{DEAF_AFTER, HEARD_NOTED_EVERY};
use nightdesk_types::{BotId, StoreError};
use tokio::time::Instant;

use crate::Desk;

/// Which bots were talked to lately.
#[derive(Debug, Default)]
pub struct Hearing {
    talked_to: Paces<BotId>,
}

/// Notes that somebody said something to a bot. That it could not be is told, and no more: what they said is
/// stored.
pub(crate) async fn said(desk: &Desk, bot: &Bot) {
    if !desk.hearing.talked_to.once_in(&bot.id, HEARD_NOTED_EVERY) {
        return;
    }
    if let Err(error) = desk.register.store().said(bot.operator, bot.id).await {
        not_noted(bot.id, &error);
    }
}

fn not_noted(bot: BotId, error: &StoreError) {
    let error = error as &dyn Error;
    tracing::warn!(bot.id = %bot, error, "how well bot {bot} hears was not written down");
}

/// What one listener has written down of a bot.
#[derive(Debug, Default)]
pub(crate) struct Noted {
    heard_at: Option<Instant>,
}

impl Noted {
    /// The platform answered, and all is well. What it cannot tell it keeps for so long, and after that these
    /// words say what may be lost.
    pub(crate) async fn heard(
        &mut self,
        desk: &Desk,
        bot: &Bot,
        (kept, lost): (Duration, &str),
    ) -> Result<(), StoreError> {
        if self.heard_at.is_some_and(|at| at.elapsed() < HEARD_NOTED_EVERY) {
            return Ok(());
        }
        let now = Instant::now();
        desk.register.store().heard(bot.operator, bot.id, kept, lost).await?;
        self.heard_at = Some(now);
        Ok(())
    }

    /// Nothing is heard. It is written down whenever it is found.
    pub(crate) async fn unheard(&mut self, desk: &Desk, bot: &Bot, why: &str) {
        self.heard_at = None;
        match desk.register.store().unheard(bot.operator, bot.id, why, DEAF_AFTER).await {
            Ok(true) => {
                tracing::error!(bot.id = %bot.id, "bot {} is deaf, and its operator is told: {why}", bot.id);
            }
            Ok(false) => {}
            Err(error) => not_noted(bot.id, &error),
        }
    }
}
