//! Reads events from platforms that do not post them; the node that owns a bot reads for it.
//!
//! # Promise
//!
//! The desk stores events in inboxes together with the cursor after them, in order and in batches, and requests more
//! from the platform only when all of them are handled. So a platform that discards events before the requested cursor
//! loses none of them. If two nodes listen, the store accepts the one that began later. A bot that receives nothing for
//! three minutes is deaf, and its operator is notified (`hearing.rs`).

use std::collections::HashSet;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fail::fail_point;
use nightdesk_egress::Egress;
use nightdesk_inbox::Inbox;
use nightdesk_intake::SourceEvent;
use nightdesk_port::{Bot, Listen, ListenError};
use nightdesk_register::Register;
use nightdesk_types::limits::{
    ASKED_FOR_KEPT_FOR, HANG_UP_WAIT, HEARING_LOOK_EVERY, LISTEN_EVERY, LISTENING_LOOK_EVERY,
};
use nightdesk_types::{BotId, StoreError};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::accounts::store_error;
use crate::inbound::Inbound;
use crate::reception::ListenerRecord;
use crate::sweep::repeat_every;
use crate::{Accounts, Stops};

mod gap;
mod backoff;
mod webhook_probe;
mod source;

use backoff::ListenBackoff;
use source::SourceReader;

/// The possible loss after a pause longer than the platform retains events.
const LOST: &str = "no node requested events for a day, and its platform stores none longer";

/// An error that ends a listening attempt.
#[derive(Debug, thiserror::Error)]
enum ListenFailure {
    #[error("could not receive events")]
    Platform(#[from] ListenError),
    #[error("could not store received events")]
    Store(#[from] StoreError),
}

impl ListenFailure {
    /// Returns the reason as text, or `None` for an error of the store, which could not be stored either.
    fn reason_text(&self) -> Option<String> {
        match self {
            Self::Platform(error) => Some(error.to_string()),
            Self::Store(_) => None,
        }
    }
}

/// Reads platforms that do not post events.
#[derive(Debug)]
pub struct Listening {
    accounts: Arc<Accounts>,
    register: Arc<Register>,
    egress: Arc<Egress>,
    inbox: Arc<Inbox>,
    inbound: Arc<Inbound>,
}

impl Listening {
    pub(crate) fn new(stops: &Stops, inbound: &Arc<Inbound>) -> Self {
        let Stops { accounts, register, egress, inbox, .. } = stops.clone();
        Self { accounts, register, egress, inbox, inbound: Arc::clone(inbound) }
    }

    /// Listens for every bot that this node owns and whose platform needs a listener or a probe, until the node stops.
    pub async fn run(self: Arc<Self>, tasks: TaskTracker, drain: CancellationToken) {
        let listener = NodeListener { context: self, drain, bots: Arc::default() };
        let look = || listener.start_listeners(&tasks);
        repeat_every(LISTENING_LOOK_EVERY, "find bots to listen for", &listener.drain, look).await;
    }
}

/// The listener of this node.
#[derive(Clone)]
struct NodeListener {
    context: Arc<Listening>,
    drain: CancellationToken,
    /// The bots that this node listens for.
    bots: Arc<Mutex<HashSet<BotId>>>,
}

impl NodeListener {
    /// Finds bots without a listener on this node, and takes those without an owner.
    async fn start_listeners(&self, tasks: &TaskTracker) -> Result<(), StoreError> {
        let Listening { accounts, register, egress, .. } = &*self.context;
        for bot in register.store().listening_bots(&accounts.listening_adapters()).await? {
            if !self.is_listening(bot) && egress.is_owner_now(bot).await? && self.begin(bot) {
                let listener = self.clone();
                tasks.spawn(async move {
                    listener.listen(bot).await;
                    listener.end(bot);
                });
            }
        }
        Ok(())
    }

    fn is_listening(&self, bot: BotId) -> bool {
        self.bots.lock().unwrap_or_else(PoisonError::into_inner).contains(&bot)
    }

    fn begin(&self, bot: BotId) -> bool {
        self.bots.lock().unwrap_or_else(PoisonError::into_inner).insert(bot)
    }

    fn end(&self, bot: BotId) {
        self.bots.lock().unwrap_or_else(PoisonError::into_inner).remove(&bot);
    }

    /// Listens for a bot until another node owns it or the node stops.
    async fn listen(&self, bot: BotId) {
        fail_point!("desk::bot_owned_before_dial");
        let register = &self.context.register;
        let (mut patience, mut record) = (ListenBackoff::default(), ListenerRecord::new(register));
        while let Err(error) = self.listen_until_error(bot, &mut patience, &mut record).await {
            let span = patience.next_delay(&error);
            tracing::warn!(
                bot.id = %bot,
                error = &error as &dyn Error,
                "bot {bot} receives no events; the next attempt is in {} s", span.as_secs()
            );
            self.wait_for_retry(bot, span, error.reason_text().as_deref(), &mut record).await;
        }
        self.disconnect(bot).await;
    }

    /// Closes the connection, so that the next listener can continue at once.
    async fn disconnect(&self, bot: BotId) {
        let Ok(Some(account)) = self.context.accounts.find_by_id(bot).await else { return };
        if let Some(ear) = account.platform.listener(&account.bot) {
            // If the close times out, the next listener takes over as after a crash.
            drop(timeout(HANG_UP_WAIT, ear.leave(&account.bot)).await);
        }
    }

    /// Waits, and records meanwhile the reason that nothing arrives.
    async fn wait_for_retry(
        &self,
        bot: BotId,
        span: Duration,
        why: Option<&str>,
        record: &mut ListenerRecord,
    ) {
        let until = Instant::now() + span;
        while Instant::now() < until && !self.drain.is_cancelled() {
            if let (Some(why), Ok(Some(account))) =
                (why, self.context.accounts.find_by_id(bot).await)
            {
                record.record_failure(&account.bot, why).await;
            }
            let left = until.saturating_duration_since(Instant::now()).min(HEARING_LOOK_EVERY);
            // Both results mean that it is time to look again.
            drop(timeout(left, self.drain.cancelled()).await);
        }
    }

    /// Listens for a bot until an error occurs.
    async fn listen_until_error(
        &self,
        bot: BotId,
        patience: &mut ListenBackoff,
        record: &mut ListenerRecord,
    ) -> Result<(), ListenFailure> {
        let mut source: Option<SourceReader> = None;
        while !self.drain.is_cancelled() && self.context.egress.is_owner(bot).await? {
            // The key may have been replaced.
            let account = self.context.accounts.find_by_id(bot).await.map_err(store_error)?;
            let Some(account) = account else { return Ok(()) };
            let (ear, probe) =
                (account.platform.listener(&account.bot), account.platform.probe(&account.bot));
            let Some(ear) = ear else {
                let Some(probe) = probe else { return Ok(()) };
                self.probe(probe, &account, record).await?;
                patience.reset();
                continue;
            };
            let mut reading = match source.take() {
                Some(reading) => reading,
                None => SourceReader::take(&self.context.inbox, &account, ear.source()).await?,
            };
            let cursor = reading.cursor.as_deref();
            let told = request_events(ear, &account.bot, cursor);
            let Some(told) = self.drain.run_until_cancelled(told).await else { return Ok(()) };
            let (told, is_last_try) = (told?, patience.is_last_try());
            if !reading.handle_events(self, &account, ear, told, is_last_try).await? {
                return Ok(());
            }
            patience.reset();
            record.record_response(&account.bot, ASKED_FOR_KEPT_FOR, LOST).await?;
            source = Some(reading);
        }
        Ok(())
    }
}

/// Requests events, and waits for the rest of the interval if there are none.
async fn request_events(
    ear: &dyn Listen,
    bot: &Bot,
    cursor: Option<&str>,
) -> Result<Vec<SourceEvent>, ListenError> {
    let asked_at = Instant::now();
    let told = nightdesk_intake::listen(ear, bot, cursor).await?;
    if told.is_empty() {
        sleep_until(asked_at + LISTEN_EVERY).await;
    }
    Ok(told)
}
