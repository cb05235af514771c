//! Sends the desk's own messages to chats where an agent may write.
//!
//! If an agent cannot be woken, its people are notified in the chats they wrote from. The gate decides as for a send of
//! the agent, so the desk writes nowhere that the agent may not.

use std::sync::Arc;
use std::time::Duration;

use nightdesk_egress::{Egress, FleetingAction, RateLimits, SendResult};
use nightdesk_gate::{AdmitError, AdmittedSend, BotTag, Gate, Sender};
use nightdesk_types::limits::{WAKING_EVERY, WAKINGS_AT_ONCE_MAX};
use nightdesk_types::send::{HELD, Op, UNREACHABLE};
use nightdesk_types::{AgentId, BotId, RequestId, Send, StoreError};
use nightdesk_wake::{WaitingChat, WakeClaim};
use serde_json::Map;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{Accounts, Stops};

/// Sends the desk's own messages, each status at most once in a while per chat.
#[derive(Debug)]
pub(crate) struct Notices {
    accounts: Arc<Accounts>,
    gate: Arc<Gate>,
    egress: Arc<Egress>,
    recent: RateLimits<(BotId, String)>,
    at_once: Arc<Semaphore>,
}

impl Notices {
    pub(crate) fn new(stops: &Stops) -> Self {
        let Stops { accounts, gate, egress, .. } = stops.clone();
        let at_once = Arc::new(Semaphore::new(WAKINGS_AT_ONCE_MAX));
        Self { accounts, gate, egress, recent: RateLimits::default(), at_once }
    }

    /// Returns a permit to show a status in a chat, if the chat got none recently.
    pub(crate) fn permit(&self, bot: BotId, chat_id: &str) -> Option<OwnedSemaphorePermit> {
        // If too many notices are in progress, this one is skipped; the next event tries again.
        let permit = Arc::clone(&self.at_once).try_acquire_owned().ok()?;
        self.recent.take_once_per(&(bot, chat_id.to_owned()), WAKING_EVERY).then_some(permit)
    }

    /// Returns the time for which the bot's platform shows a status. `None`: until the next message.
    pub(crate) async fn status_duration(&self, bot: BotId) -> Option<Duration> {
        self.accounts.find_by_id(bot).await.ok()??.platform.status_lasts()
    }

    /// Shows a status in the chats of a wake, if they got none recently.
    pub(crate) async fn show(&self, claimed: &WakeClaim, status: &str) {
        for place in &claimed.places {
            let Some(_permit) = self.permit(place.bot, &place.chat_id) else { continue };
            // An agent that is not called is not working, so a platform that shows no text shows nothing.
            if status == HELD && self.status_duration(place.bot).await.is_some() {
                continue;
            }
            let op = Op::Typing { content: Some(status.to_owned()) };
            // Best effort: without the status, people only wait with less information.
            if let Ok(Some(admitted)) = self.admit_send(claimed, place, "waking", op).await
                && let Some(fleeting) = FleetingAction::from_send(&admitted)
            {
                drop(self.egress.show(&fleeting.as_desk_action()).await);
            }
        }
    }

    /// Notifies people that the desk gave their agent up: one message in each chat, whichever node sends it. A message
    /// that the platform refuses is not retried.
    pub(crate) async fn notify_given_up(&self, claimed: &WakeClaim) -> Result<(), StoreError> {
        for place in &claimed.places {
            if let Some(SendResult::Failed(why)) = self.send_unreachable(claimed, place).await? {
                log_failed_notice(claimed.agent, &why);
            }
        }
        Ok(())
    }

    /// Sends the message to one chat. `None` means that the agent may no longer write there.
    async fn send_unreachable(
        &self,
        claimed: &WakeClaim,
        place: &WaitingChat,
    ) -> Result<Option<SendResult>, StoreError> {
        let op = Op::Send { content: UNREACHABLE.to_owned(), reply_to: None };
        let Some(admitted) = self.admit_send(claimed, place, "unreachable", op).await? else {
            return Ok(None);
        };
        // Without a turn the wake stays due, and the next round sends the message.
        let busy = || StoreError::unavailable("notify people", "too many sends wait for that chat");
        let turn = self.egress.lanes().enter((claimed.agent, place.chat_id.clone()));
        let mut turn = turn.ok_or_else(busy)?;
        if !turn.wait_for_turn().await {
            return Err(busy());
        }
        self.egress.deliver(&admitted, &turn).await.map(Some)
    }

    /// Returns the desk's send in an agent's place, if the gate admits it. The request id identifies a repeat.
    async fn admit_send(
        &self,
        claimed: &WakeClaim,
        place: &WaitingChat,
        kind: &str,
        op: Op,
    ) -> Result<Option<AdmittedSend>, StoreError> {
        let WakeClaim { scope, agent, since, .. } = claimed;
        let WaitingChat { bot, chat_id } = place;
        let nth = claimed.places.iter().position(|other| other == place).unwrap_or(0);
        let name = format!("desk-{kind}-{}-{nth}", since.as_millisecond());
        let Some(request) = RequestId::new(name) else { return Ok(None) };
        let any = BotTag::default();
        let (greeted, tag, through) = (std::slice::from_ref(&any), &any, Some(*bot));
        let sender = Sender { scope: *scope, agent: *agent, hellos: greeted, tag, through };
        let send = Send { chat_id: chat_id.clone(), op, metadata: Map::new() };
        match self.gate.admit_send(sender, request, send).await {
            Ok(admitted) => Ok(Some(admitted)),
            Err(AdmitError::Refused(_)) => Ok(None),
            Err(AdmitError::Store(error)) => Err(error),
        }
    }
}

fn log_failed_notice(agent: AgentId, why: &str) {
    tracing::warn!(agent.id = %agent, "could not notify the people of agent {agent}: {why}");
}
