//! Answers a button press once its event was handled, so that the platform stops showing it as pending.
//!
//! Best effort: no caller waits for it, it is one call, and the platform times an unanswered button out by itself.

use std::error::Error;
use std::sync::Arc;

use nightdesk_types::Event;
use nightdesk_types::limits::{PLATFORM_CALL_WAIT, PRESSES_ANSWERED_MAX};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::{Account, Desk};

/// Limits the presses that are being answered at the same time.
#[derive(Debug)]
pub struct Presses(Arc<Semaphore>);

impl Default for Presses {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(PRESSES_ANSWERED_MAX)))
    }
}

/// Returns the key of an event that is a press.
pub(crate) fn key_of(event: &Event) -> Option<String> {
    event.press().map(|_| event.key().to_owned())
}

/// Answers a press in the background, if the limit allows it.
pub(crate) fn answer(desk: &Desk, account: &Account, key: String) {
    let Ok(room) = Arc::clone(&desk.presses.0).try_acquire_owned() else { return };
    let Account { bot, platform } = account.clone();
    desk.tasks.spawn(async move {
        let answered = timeout(PLATFORM_CALL_WAIT, platform.answer_press(&bot, &key)).await;
        if let Ok(Err(error)) = answered {
            let error = &error as &dyn Error;
            tracing::info!(bot.id = %bot.id, error, "could not answer a button press of bot {}", bot.id);
        }
        drop(room);
    });
}
