//! Actions that are visible for a moment and never stored.
//!
//! # Promise
//!
//! They do not wait, and no send waits for them. An agent shows at most one per second in a chat; further ones get the
//! response of a shown one. The desk's own status texts do not count against this limit: their callers limit them. All
//! of them use the spare part of the bot's rate limit, and are dropped if the chat has none left.

use nightdesk_gate::{AdmittedEvent, AdmittedSend, ChatLinkCommand};
use nightdesk_port::{DeliverError, Receipt};
use nightdesk_types::event::Source;
use nightdesk_types::limits::{TYPING_CALL_WAIT, TYPING_EVERY};
use nightdesk_types::send::Op;
use nightdesk_types::{BotId, Send};
use serde_json::{Map, Value};
use tokio::time::timeout;

use crate::SendResult;
use crate::account::Account;
use crate::egress::{Egress, RateKey};
use crate::plan::plan_calls;

/// A fleeting action, in a place where the gate admitted the agent or the event.
#[derive(Clone, Debug)]
pub struct FleetingAction {
    bot: BotId,
    send: Send,
    is_own: bool,
}

impl FleetingAction {
    /// Returns the fleeting action of a send, if it is one.
    pub fn from_send(send: &AdmittedSend) -> Option<Self> {
        let (bot, what) = (send.bot(), send.send());
        what.op.is_fleeting().then(|| Self { bot, send: what.clone(), is_own: false })
    }

    /// Marks it as an action of the desk.
    #[must_use]
    pub fn as_desk_action(self) -> Self {
        Self { is_own: true, ..self }
    }

    /// Returns a status text of the desk for the chat of an event.
    pub fn desk_status(event: &AdmittedEvent, status: &str) -> Self {
        let (bot, source) = (event.verified().bot(), event.verified().get().source());
        Self::at_source(bot, source, Op::Typing { content: Some(status.to_owned()) })
    }

    /// Returns the desk's response to a command. A person who does not get it repeats the command.
    pub fn link_response(ask: &ChatLinkCommand<'_>, text: &str) -> Self {
        let op = Op::Send { content: text.to_owned(), reply_to: None };
        Self::at_source(ask.bot(), ask.source(), op)
    }

    /// Returns the desk's response to a person's stop.
    pub fn stop_response(event: &AdmittedEvent, text: &str) -> Self {
        let (bot, source) = (event.verified().bot(), event.verified().get().source());
        Self::at_source(bot, source, Op::Send { content: text.to_owned(), reply_to: None })
    }

    fn at_source(bot: BotId, source: &Source, op: Op) -> Self {
        let place = [("thread_id", &source.thread_id), ("scope_id", &source.scope_id)];
        let known =
            |(key, id): (&str, &Option<String>)| Some((key.to_owned(), Value::from(id.clone()?)));
        let metadata: Map<String, Value> = place.into_iter().filter_map(known).collect();
        Self { bot, send: Send { chat_id: source.chat_id.clone(), op, metadata }, is_own: true }
    }
}

impl Egress {
    /// Shows it, if the rate limits leave room.
    pub async fn show(&self, fleeting: &FleetingAction) -> SendResult {
        let FleetingAction { bot, send, is_own } = fleeting;
        let Ok(Some(account)) = self.accounts.find_account(*bot).await else {
            return SendResult::Failed("the bot is unavailable".to_owned());
        };
        if let Err(why) = plan_calls(send, &account.capabilities) {
            return SendResult::Failed(why.to_string());
        }
        if !self.has_room(&account, send, *is_own) {
            return SendResult::Delivered(Receipt::default());
        }
        let call = account.platform.deliver(&account.bot, send);
        let shown = timeout(TYPING_CALL_WAIT, call).await;
        let shown = shown.unwrap_or_else(|late| Err(DeliverError::Ambiguous(late.into())));
        if let Err(DeliverError::RateLimited { retry_after }) = shown {
            self.hold_chat(&account, &send.chat_id, retry_after);
        }
        shown.into()
    }

    fn has_room(&self, account: &Account, send: &Send, is_own: bool) -> bool {
        let (bot, can) = (account.bot.id, &account.capabilities);
        let typing = RateKey::Typing(bot, send.chat_id.clone());
        self.rate_limits.is_free(&RateKey::Chat(bot, send.chat_id.clone()), can.chat_pace)
            && (is_own || self.rate_limits.take_once_per(&typing, TYPING_EVERY))
            && self.rate_limits.take_spare(&RateKey::Bot(bot), can.bot_pace)
    }
}
