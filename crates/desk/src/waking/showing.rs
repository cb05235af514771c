//! Showing: on platforms where what is shown fades, it is shown again until the agent is up.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nightdesk_egress::Fleeting;
use nightdesk_types::limits::{SHOWN_AT_ONCE_MAX, STATUS_OVERLAP, WAKING_SHOWN_FOR};
use nightdesk_types::{AgentId, BotId, TenantScope};
use tokio::time::Instant;

use crate::Desk;
use crate::pause::pause;

/// Chats in which it is being shown, each once.
#[derive(Clone, Debug, Default)]
pub(super) struct Showing(Arc<Mutex<HashSet<(BotId, String)>>>);

/// One of them. It is over when this is dropped.
struct Shown(Showing, (BotId, String));

impl Showing {
    /// `None`: it is shown there already, or in too many chats.
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

/// How long what is shown lasts there. `None`: until something follows.
pub(crate) async fn lasts(desk: &Desk, bot: BotId) -> Option<Duration> {
    desk.accounts.of(bot).await.ok()??.platform.status_lasts()
}

/// Shows it again and again until the agent is up, or for so long as people may believe it.
pub(super) async fn until_up(
    desk: &Desk,
    (bot, chat): (BotId, &str),
    fleeting: &Fleeting,
    sleeper: (TenantScope, AgentId),
    lasts: Duration,
) {
    let Some(_shown) = desk.waking.showing.begin(bot, chat) else { return };
    let until = Instant::now() + WAKING_SHOWN_FOR;
    while pause(&desk.tasks, lasts.saturating_sub(STATUS_OVERLAP)).await {
        if Instant::now() >= until || is_up(desk, sleeper).await {
            return;
        }
        drop(desk.egress.show(fleeting).await);
    }
}

/// Whether an agent has a line. What is not known is a yes: then it is not shown.
async fn is_up(desk: &Desk, (scope, agent): (TenantScope, AgentId)) -> bool {
    let found = desk.records.0.status(scope, Some(agent), "").await;
    let asleep = |found: Vec<nightdesk_wake::Status>| {
        found.first().is_some_and(|status| status.line_since.is_none())
    };
    !found.is_ok_and(asleep)
}
