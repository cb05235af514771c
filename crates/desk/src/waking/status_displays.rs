//! Repeats a status until the agent has a line, on platforms where a status fades.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nightdesk_egress::FleetingAction;
use nightdesk_inbox::StoredEntry;
use nightdesk_types::limits::{SHOWN_AT_ONCE_MAX, STATUS_OVERLAP, WAKING_SHOWN_FOR};
use nightdesk_types::{AgentId, BotId, TenantScope};
use tokio::time::Instant;

use super::Waking;
use crate::pause::pause;

/// The chats that show the status, each once.
#[derive(Clone, Debug, Default)]
pub(super) struct StatusDisplays(Arc<Mutex<HashSet<(BotId, String)>>>);

/// One chat that shows the status. Dropping it ends the display.
pub(super) struct StatusDisplay(StatusDisplays, (BotId, String));

impl StatusDisplays {
    /// Returns `None` if the chat shows the status already or too many chats do.
    pub(super) fn begin(&self, bot: BotId, chat: &str) -> Option<StatusDisplay> {
        let chat = (bot, chat.to_owned());
        let mut chats = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = chats.len() < SHOWN_AT_ONCE_MAX && chats.insert(chat.clone());
        is_new.then(|| StatusDisplay(self.clone(), chat))
    }
}

impl Drop for StatusDisplay {
    fn drop(&mut self) {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.1);
    }
}

impl Waking {
    /// Repeats the status until the agent has a line, at most for `WAKING_SHOWN_FOR`.
    pub(super) async fn show_until_up(
        &self,
        fleeting: &FleetingAction,
        called: StoredEntry,
        lasts: Duration,
    ) {
        let until = Instant::now() + WAKING_SHOWN_FOR;
        while pause(&self.tasks, lasts.saturating_sub(STATUS_OVERLAP)).await {
            if Instant::now() >= until || self.has_line(called.scope, called.agent).await {
                return;
            }
            drop(self.egress.show(fleeting).await);
        }
    }

    /// Returns true if an agent has a line. An unknown state counts as true, so that the status ends.
    async fn has_line(&self, scope: TenantScope, agent: AgentId) -> bool {
        let found = self.records.status(scope, Some(agent), "").await;
        let asleep = |found: Vec<nightdesk_wake::AgentWakeStatus>| {
            found.first().is_some_and(|status| status.line_since.is_none())
        };
        !found.is_ok_and(asleep)
    }
}
