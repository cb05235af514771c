//! Records whether a bot receives events, judged by the events and responses that arrive.
//!
//! While a bot receives events, that is one row a minute. When it stops, the store measures from the first failure and
//! notifies the bot's operator once.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use nightdesk_egress::RateLimits;
use nightdesk_port::Bot;
use nightdesk_register::Register;
use nightdesk_types::limits::{DEAF_AFTER, HEARD_NOTED_EVERY};
use nightdesk_types::{BotId, StoreError};
use tokio::time::Instant;

/// Records which bots receive messages.
#[derive(Debug)]
pub(crate) struct ReceptionRecorder {
    register: Arc<Register>,
    talked_to: RateLimits<BotId>,
}

impl ReceptionRecorder {
    pub(crate) fn new(register: &Arc<Register>) -> Self {
        Self { register: Arc::clone(register), talked_to: RateLimits::default() }
    }

    /// Records that a bot received a message. A failure is only logged, because the message itself is stored.
    pub(crate) async fn record_message(&self, bot: &Bot) {
        if !self.talked_to.take_once_per(&bot.id, HEARD_NOTED_EVERY) {
            return;
        }
        if let Err(error) = self.register.store().record_message(bot.operator, bot.id).await {
            log_unstored(bot.id, &error);
        }
    }
}

fn log_unstored(bot: BotId, error: &StoreError) {
    let error = error as &dyn Error;
    tracing::warn!(bot.id = %bot, error, "could not store the listening state of bot {bot}");
}

/// The state that one listener has recorded for a bot.
#[derive(Debug)]
pub(crate) struct ListenerRecord {
    register: Arc<Register>,
    heard_at: Option<Instant>,
}

impl ListenerRecord {
    pub(crate) fn new(register: &Arc<Register>) -> Self {
        Self { register: Arc::clone(register), heard_at: None }
    }

    /// Records that the platform responded. `kept` is the time for which the platform retains undelivered events; if
    /// the previous record is older, `lost` is the text that describes the possible loss.
    pub(crate) async fn record_response(
        &mut self,
        bot: &Bot,
        kept: Duration,
        lost: &str,
    ) -> Result<(), StoreError> {
        if self.heard_at.is_some_and(|at| at.elapsed() < HEARD_NOTED_EVERY) {
            return Ok(());
        }
        let now = Instant::now();
        self.register.store().record_reception(bot.operator, bot.id, kept, lost).await?;
        self.heard_at = Some(now);
        Ok(())
    }

    /// Records a failure, each time it is found.
    pub(crate) async fn record_failure(&mut self, bot: &Bot, why: &str) {
        self.heard_at = None;
        match self.register.store().record_outage(bot.operator, bot.id, why, DEAF_AFTER).await {
            Ok(true) => {
                tracing::error!(bot.id = %bot.id, "bot {} receives no events, and its operator is notified: {why}", bot.id);
            }
            Ok(false) => {}
            Err(error) => log_unstored(bot.id, &error),
        }
    }
}
