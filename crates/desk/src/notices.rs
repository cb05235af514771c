//! Sends the desk's own messages to chats where an agent may write.
//!
//! If an agent cannot be woken, its people are notified in the chats they wrote from: the author of the oldest entry
//! after some minutes, and all when the desk gives up. An author whose messages are parked for their rate is notified
//! once an hour. Alerts go to chats that their owner chose. The gate decides as for a send of the agent, so the desk
//! writes nowhere that the agent may not.

use std::sync::Arc;
use std::time::Duration;

use nightdesk_alerts::ChatTarget;
use nightdesk_egress::{Egress, FleetingAction, RateLimits, SendResult};
use nightdesk_gate::{AdmitError, AdmittedEvent, AdmittedSend, BotTag, Gate, Recipient, Sender};
use nightdesk_inbox::{DedupeKey, StoredEntry};
use nightdesk_types::limits::{
    PARKED_NOTICE_TRIED_EVERY, PLATFORM_CALL_WAIT, WAKING_EVERY, WAKINGS_AT_ONCE_MAX,
};
use nightdesk_types::send::{HELD, Op, STILL_WAKING, TOO_FAST, UNREACHABLE};
use nightdesk_types::{AgentId, BotId, RequestId, Send, StoreError, TenantScope};
use nightdesk_wake::{WaitingChat, WakeClaim};
use serde_json::{Map, Value};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::{Accounts, Stops};

/// Sends the desk's own messages, each status at most once in a while per chat.
#[derive(Debug)]
pub(crate) struct Notices {
    accounts: Arc<Accounts>,
    gate: Arc<Gate>,
    egress: Arc<Egress>,
    recent: RateLimits<(BotId, String)>,
    /// The authors who were recently notified that their messages are parked.
    notified_authors: RateLimits<(BotId, String)>,
    at_once: Arc<Semaphore>,
}

/// The chat of a notice, and the agent in whose place the desk writes.
struct NoticePlace<'a> {
    scope: TenantScope,
    agent: AgentId,
    bot: BotId,
    chat_id: &'a str,
    /// The thread and the scope of the chat.
    metadata: Map<String, Value>,
}

/// The notice to a person who stopped a turn.
pub(crate) struct StopNotice<'a> {
    /// The person's command.
    pub(crate) event: &'a AdmittedEvent,
    /// The agent in whose place the desk writes.
    pub(crate) recipient: &'a Recipient,
    pub(crate) text: &'a str,
}

/// The notice to an author whose messages are parked for their rate.
pub(crate) struct ParkedNotice {
    permit: OwnedSemaphorePermit,
    scope: TenantScope,
    agent: AgentId,
    bot: BotId,
    chat_id: String,
    /// The same for all notices of an hour, so that every node sends the same one.
    request: String,
}

impl Notices {
    pub(crate) fn new(stops: &Stops) -> Self {
        let Stops { accounts, gate, egress, .. } = stops.clone();
        let at_once = Arc::new(Semaphore::new(WAKINGS_AT_ONCE_MAX));
        let (recent, notified_authors) = (RateLimits::default(), RateLimits::default());
        Self { accounts, gate, egress, recent, notified_authors, at_once }
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
            if let Ok(Some(admitted)) = self.admit_wake_notice(claimed, place, "waking", op).await
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

    /// Tells the author of the oldest entry that the agent still does not come: one message per wake, whichever node sends
    /// it. A message that the platform refuses is not retried.
    pub(crate) async fn notify_delayed(
        &self,
        claimed: &WakeClaim,
        place: &WaitingChat,
    ) -> Result<(), StoreError> {
        let request = wake_notice_request(claimed, place, "delayed");
        let place = NoticePlace::of_wake(claimed, place);
        if let Some(SendResult::Failed(why)) =
            self.send_message(&place, request, STILL_WAKING).await?
        {
            log_failed_notice(claimed.agent, &why);
        }
        Ok(())
    }

    /// Returns the notice to the author of a parked entry, if this node did not try one recently.
    pub(crate) fn parked_notice(
        &self,
        event: &AdmittedEvent,
        entry: &StoredEntry,
    ) -> Option<ParkedNotice> {
        let (bot, source) = (event.verified().bot(), event.verified().get().source());
        let author = source.user_id.clone().unwrap_or_default();
        // If too many notices are in progress, this one is skipped; the next event tries again.
        let permit = Arc::clone(&self.at_once).try_acquire_owned().ok()?;
        let digest = u128::from_be_bytes(*DedupeKey::from_event_key(bot, &author).bytes());
        let is_first =
            self.notified_authors.take_once_per(&(bot, author), PARKED_NOTICE_TRIED_EVERY);
        is_first.then(|| ParkedNotice {
            permit,
            scope: entry.scope,
            agent: entry.agent,
            bot,
            chat_id: source.chat_id.clone(),
            request: format!("desk-parked-{digest:032x}-{}", entry.at.as_second() / 3_600),
        })
    }

    /// Sends an author the notice that further messages are parked: one message an hour, whichever node sends it.
    pub(crate) async fn notify_parked(&self, notice: ParkedNotice) -> Result<(), StoreError> {
        let ParkedNotice { permit, scope, agent, bot, chat_id, request } = notice;
        let place = NoticePlace { scope, agent, bot, chat_id: &chat_id, metadata: Map::new() };
        let sent = self.send_message(&place, request, TOO_FAST).await?;
        drop(permit);
        if let Some(SendResult::Failed(why)) = sent {
            log_failed_notice(agent, &why);
        }
        Ok(())
    }

    /// Sends an alert to the chat that its owner chose, in the place of the owner's agent. `None`: the agent may not write
    /// there.
    pub(crate) async fn send_alert(
        &self,
        target: &ChatTarget,
        request: String,
        text: &str,
    ) -> Result<Option<SendResult>, StoreError> {
        let ChatTarget { scope, agent, bot, ref chat_id } = *target;
        let place = NoticePlace { scope, agent, bot, chat_id, metadata: Map::new() };
        self.send_message(&place, request, text).await
    }

    /// Tells a person the result of a stop: one message for each command, however often the platform repeats it. Where
    /// the agent may not write, the desk answers in its own name if the rate limits leave room.
    pub(crate) async fn notify_stopped(&self, notice: &StopNotice<'_>) -> Result<(), StoreError> {
        let StopNotice { event, recipient, text } = *notice;
        let Recipient { scope, agent, .. } = *recipient;
        let (bot, said) = (event.verified().bot(), event.verified().get());
        let source = said.source();
        let digest = u128::from_be_bytes(*DedupeKey::from_event_key(bot, said.key()).bytes());
        let known = [("thread_id", &source.thread_id), ("scope_id", &source.scope_id)];
        let known = known.into_iter().filter_map(|(key, id)| Some((key, id.clone()?)));
        let metadata = known.map(|(key, id)| (key.to_owned(), Value::from(id))).collect();
        let place = NoticePlace { scope, agent, bot, chat_id: &source.chat_id, metadata };
        if self.answer_command(event, text).await {
            return Ok(());
        }
        let sent = self.send_message(&place, format!("desk-stop-{digest:032x}"), text).await?;
        match sent {
            Some(SendResult::Failed(why)) => log_failed_notice(agent, &why),
            Some(_) => {}
            None => drop(self.egress.show(&FleetingAction::stop_response(event, text)).await),
        }
        Ok(())
    }

    /// Answers a command with the capability that its platform lent for the response, if it did. Returns true if the
    /// platform took the answer.
    async fn answer_command(&self, event: &AdmittedEvent, text: &str) -> bool {
        let verified = event.verified();
        let Some(capability) = verified.capability() else { return false };
        let Ok(Some(account)) = self.accounts.find_by_id(verified.bot()).await else {
            return false;
        };
        let op = Op::FollowUp {
            session_key: String::new(),
            kind: capability.kind.clone(),
            content: text.to_owned(),
        };
        let chat_id = verified.get().source().chat_id.clone();
        let send = Send { chat_id, op, metadata: Map::new() };
        let call = account.platform.follow_up(&account.bot, &send, &capability.secret);
        matches!(timeout(PLATFORM_CALL_WAIT, call).await, Ok(Ok(_)))
    }

    /// Sends the message to one chat. `None` means that the agent may no longer write there.
    async fn send_unreachable(
        &self,
        claimed: &WakeClaim,
        place: &WaitingChat,
    ) -> Result<Option<SendResult>, StoreError> {
        let request = wake_notice_request(claimed, place, "unreachable");
        self.send_message(&NoticePlace::of_wake(claimed, place), request, UNREACHABLE).await
    }

    async fn send_message(
        &self,
        place: &NoticePlace<'_>,
        request: String,
        text: &str,
    ) -> Result<Option<SendResult>, StoreError> {
        let op = Op::Send { content: text.to_owned(), reply_to: None };
        let Some(admitted) = self.admit_send(place, request, op).await? else {
            return Ok(None);
        };
        // Without a turn nothing is sent. A wake stays due and a parked author writes again; then the desk retries.
        let busy = || StoreError::unavailable("notify people", "too many sends wait for that chat");
        let turn = self.egress.lanes().enter((place.agent, place.chat_id.to_owned()));
        let mut turn = turn.ok_or_else(busy)?;
        if !turn.wait_for_turn().await {
            return Err(busy());
        }
        self.egress.deliver(&admitted, &turn).await.map(Some)
    }

    async fn admit_wake_notice(
        &self,
        claimed: &WakeClaim,
        place: &WaitingChat,
        kind: &str,
        op: Op,
    ) -> Result<Option<AdmittedSend>, StoreError> {
        let request = wake_notice_request(claimed, place, kind);
        self.admit_send(&NoticePlace::of_wake(claimed, place), request, op).await
    }

    /// Returns the desk's send in an agent's place, if the gate admits it. The request id identifies a repeat.
    async fn admit_send(
        &self,
        place: &NoticePlace<'_>,
        request: String,
        op: Op,
    ) -> Result<Option<AdmittedSend>, StoreError> {
        let NoticePlace { scope, agent, bot, chat_id, ref metadata } = *place;
        let Some(request) = RequestId::new(request) else { return Ok(None) };
        let any = BotTag::default();
        let (greeted, tag, through) = (std::slice::from_ref(&any), &any, Some(bot));
        let sender = Sender { scope, agent, hellos: greeted, tag, through };
        let send = Send { chat_id: chat_id.to_owned(), op, metadata: metadata.clone() };
        match self.gate.admit_send(sender, request, send).await {
            Ok(admitted) => Ok(Some(admitted)),
            Err(AdmitError::Refused(_)) => Ok(None),
            Err(AdmitError::Store(error)) => Err(error),
        }
    }
}

impl<'a> NoticePlace<'a> {
    fn of_wake(claimed: &WakeClaim, place: &'a WaitingChat) -> Self {
        let (scope, agent) = (claimed.scope, claimed.agent);
        Self { scope, agent, bot: place.bot, chat_id: &place.chat_id, metadata: Map::new() }
    }
}

/// Returns the id of a notice of a wake, which is the same on every node.
fn wake_notice_request(claimed: &WakeClaim, place: &WaitingChat, kind: &str) -> String {
    let nth = claimed.places.iter().position(|other| other == place).unwrap_or(0);
    format!("desk-{kind}-{}-{nth}", claimed.since.as_millisecond())
}

fn log_failed_notice(agent: AgentId, why: &str) {
    tracing::warn!(agent.id = %agent, "could not notify the people of agent {agent}: {why}");
}
