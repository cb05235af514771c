//! Records whether a bot receives events, judged by the events and responses that arrive.
//!
//! While a bot receives events, that is one row a minute. When it stops, the store measures from the first failure and
//! notifies the bot's operator once.

use std::error::Error;
use std::time::Duration;

use nightdesk_egress::Paces;
use nightdesk_port::Bot;
use nightdesk_types::limits::{DEAF_AFTER, HEARD_NOTED_EVERY};
use nightdesk_types::{BotId, StoreError};
use tokio::time::Instant;

use crate::Desk;

/// The bots that received a message recently.
#[derive(Debug, Default)]
pub struct Hearing {
    talked_to: Paces<BotId>,
}

/// Records that a bot received a message. A failure is only logged, because the message itself is stored.
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
    tracing::warn!(bot.id = %bot, error, "could not store the listening state of bot {bot}");
}

/// The state that one listener has recorded for a bot.
#[derive(Debug, Default)]
pub(crate) struct Noted {
    heard_at: Option<Instant>,
}

impl Noted {
    /// Records that the platform responded. `kept` is the time for which the platform retains undelivered events; if
    /// the previous record is older, `lost` is the text that describes the possible loss.
    pub(crate) async fn heard(
        &mut self,
        desk: &Desk,
        bot: &Bot,
        kept: Duration,
        lost: &str,
    ) -> Result<(), StoreError> {
        if self.heard_at.is_some_and(|at| at.elapsed() < HEARD_NOTED_EVERY) {
            return Ok(());
        }
        let now = Instant::now();
        desk.register.store().heard(bot.operator, bot.id, kept, lost).await?;
        self.heard_at = Some(now);
        Ok(())
    }

    /// Records a failure, each time it is found.
    pub(crate) async fn unheard(&mut self, desk: &Desk, bot: &Bot, why: &str) {
        self.heard_at = None;
        match desk.register.store().unheard(bot.operator, bot.id, why, DEAF_AFTER).await {
            Ok(true) => {
                tracing::error!(bot.id = %bot.id, "bot {} receives no events, and its operator is notified: {why}", bot.id);
            }
            Ok(false) => {}
            Err(error) => not_noted(bot.id, &error),
        }
    }
}
