//! Repeats a status until the agent has a line, on platforms where a status fades.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nightdesk_egress::Fleeting;
use nightdesk_inbox::Stored;
use nightdesk_types::limits::{SHOWN_AT_ONCE_MAX, STATUS_OVERLAP, WAKING_SHOWN_FOR};
use nightdesk_types::{AgentId, BotId, TenantScope};
use tokio::time::Instant;

use crate::Desk;
use crate::pause::pause;

/// The chats that show the status, each once.
#[derive(Clone, Debug, Default)]
pub(super) struct Showing(Arc<Mutex<HashSet<(BotId, String)>>>);

/// One chat that shows the status. Dropping it ends the display.
struct Shown(Showing, (BotId, String));

impl Showing {
    /// Returns `None` if the chat shows the status already or too many chats do.
    fn begin(&self, bot: BotId, chat: &str) -> Option<Shown> {
        let chat = (bot, chat.to_owned());
        let mut chats = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = chats.len() < SHOWN_AT_ONCE_MAX && chats.insert(chat.clone());
        is_new.then(|| Shown(self.clone(), chat))
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.1);
    }
}

/// Returns the time for which the bot's platform shows a status. `None`: until the next message.
pub(crate) async fn lasts(desk: &Desk, bot: BotId) -> Option<Duration> {
    desk.accounts.of(bot).await.ok()??.platform.status_lasts()
}

/// Repeats the status until the agent has a line, at most for `WAKING_SHOWN_FOR`.
pub(super) async fn until_up(
    desk: &Desk,
    bot: BotId,
    chat: &str,
    fleeting: &Fleeting,
    called: Stored,
    lasts: Duration,
) {
    let Some(_shown) = desk.waking.showing.begin(bot, chat) else { return };
    let until = Instant::now() + WAKING_SHOWN_FOR;
    while pause(&desk.tasks, lasts.saturating_sub(STATUS_OVERLAP)).await {
        if Instant::now() >= until || is_up(desk, called.scope, called.agent).await {
            return;
        }
        drop(desk.egress.show(fleeting).await);
    }
}

/// Returns true if an agent has a line. An unknown state counts as true, so that the status ends.
async fn is_up(desk: &Desk, scope: TenantScope, agent: AgentId) -> bool {
    let found = desk.records.0.status(scope, Some(agent), "").await;
    let asleep = |found: Vec<nightdesk_wake::Status>| {
        found.first().is_some_and(|status| status.line_since.is_none())
    };
    !found.is_ok_and(asleep)
}
