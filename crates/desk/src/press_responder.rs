//! Answers a button press once its event was handled, so that the platform stops showing it as pending.
//!
//! Best effort: no caller waits for it, it is one call, and the platform times an unanswered button out by itself.

use std::error::Error;
use std::sync::Arc;

use nightdesk_types::Event;
use nightdesk_types::limits::{PLATFORM_CALL_WAIT, PRESSES_ANSWERED_MAX};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use crate::Account;

/// Answers button presses in the background, within a limit.
#[derive(Debug)]
pub(crate) struct PressResponder {
    tasks: TaskTracker,
    permits: Arc<Semaphore>,
}

impl PressResponder {
    pub(crate) fn new(tasks: TaskTracker) -> Self {
        Self { tasks, permits: Arc::new(Semaphore::new(PRESSES_ANSWERED_MAX)) }
    }

    /// Answers the press of an event, if it is one and the limit allows it.
    pub(crate) fn answer(&self, account: &Account, event: &Event) {
        if event.press().is_none() {
            return;
        }
        let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() else { return };
        let (Account { bot, platform }, key) = (account.clone(), event.key().to_owned());
        self.tasks.spawn(async move {
            let answered = timeout(PLATFORM_CALL_WAIT, platform.answer_press(&bot, &key)).await;
            if let Ok(Err(error)) = answered {
                let error = &error as &dyn Error;
                tracing::info!(bot.id = %bot.id, error, "could not answer a button press of bot {}", bot.id);
            }
            drop(permit);
        });
    }
}
