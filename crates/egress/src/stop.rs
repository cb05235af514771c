//! The stop itself: ask, claim, call, settle.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_gate::AdmittedSend;
use nightdesk_port::{Bot, Capabilities, Deliver, DeliverError, Receipt};
use nightdesk_types::limits::{
    LEFT_OVER_SENDS_MAX, PLATFORM_CALL_WAIT, RATE_LIMITED_MAX, RATE_LIMITED_MIN,
};
use nightdesk_types::{AgentId, BotId, Send, StoreError};
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::metrics::Metrics;
use crate::plan::plan;
use crate::store::{Asked, LeftOver, Owner, SendKey, Store};
use crate::{Lanes, Paces, Settled, Turn};

/// A bot, who makes its calls, and what it can do.
#[derive(Clone)]
pub struct Account {
    /// The bot with its key.
    pub bot: Arc<Bot>,
    /// Its adapter.
    pub platform: Arc<dyn Deliver>,
    /// What it can do there, how much at a time, and how fast.
    pub capabilities: Capabilities,
}

/// Finds accounts.
#[async_trait]
pub trait Accounts: std::marker::Send + Sync {
    /// The account of a bot. `None`: there is no such bot any more.
    async fn account(&self, bot: BotId) -> Result<Option<Account>, StoreError>;
}

/// The lanes of sends: one for each agent and chat.
pub type SendLanes = Lanes<(AgentId, String)>;

/// A send's place in its lane.
pub type SendTurn = Turn<(AgentId, String)>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PaceKey {
    Chat(BotId, String),
    Bot(BotId),
    Typing(BotId, String),
}

/// Makes calls to platforms, at most one per request and part.
pub struct Egress {
    store: Arc<dyn Store>,
    pub(crate) accounts: Arc<dyn Accounts>,
    owner: Owner,
    lanes: SendLanes,
    /// Agents may share a chat: who has the floor there says all its parts.
    floors: Lanes<(BotId, String)>,
    pub(crate) paces: Paces<PaceKey>,
    metrics: Metrics,
}

/// The calls of a send, and until when they may be made.
struct Errand {
    account: Account,
    chat: String,
    calls: Vec<Send>,
    until: Instant,
}

impl std::fmt::Debug for Egress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Egress")
    }
}

impl Egress {
    /// The way out of this node, in this life of it.
    pub fn new(store: Arc<dyn Store>, accounts: Arc<dyn Accounts>, owner: Owner) -> Self {
        let (lanes, floors) = (Lanes::default(), Lanes::default());
        let (paces, metrics) = (Paces::default(), Metrics::default());
        Self { store, accounts, owner, lanes, floors, paces, metrics }
    }

    /// What it counts.
    pub const fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// The lanes, for who wants a place before it is decided whether the send may go.
    pub const fn lanes(&self) -> &SendLanes {
        &self.lanes
    }

    /// Does what an admitted send asks, once, when its turn has come.
    pub async fn deliver(
        &self,
        send: &AdmittedSend,
        turn: &SendTurn,
    ) -> Result<Settled, StoreError> {
        let errand = match self.errand(send.bot(), send.send(), turn.until()).await? {
            Ok(errand) => errand,
            // Nothing will be done, so there is nothing to write down.
            Err(unsayable) => return Ok(unsayable),
        };
        match self.store.ask(send).await? {
            Asked::New => {
                let made = self.make(&SendKey::from(send), &errand).await?;
                Ok(made.unwrap_or(Settled::Ambiguous))
            }
            Asked::Settled(settled) => Ok(settled),
            // Its answer belongs to whoever asked first.
            Asked::UnderWay => Ok(Settled::Ambiguous),
        }
    }

    /// What is to be done for a send, or why nothing is.
    async fn errand(
        &self,
        bot: BotId,
        send: &Send,
        until: Instant,
    ) -> Result<Result<Errand, Settled>, StoreError> {
        let Some(account) = self.accounts.account(bot).await? else {
            return Ok(Err(Settled::Failed("the bot is gone".to_owned())));
        };
        let chat = send.chat_id.clone();
        let calls = plan(send, &account.capabilities);
        let errand = calls.map(|calls| Errand { account, chat, calls, until });
        Ok(errand.map_err(|why| Settled::Failed(why.to_string())))
    }

    /// Makes the calls if nobody else did. `None`: somebody else is at it.
    async fn make(&self, key: &SendKey, errand: &Errand) -> Result<Option<Settled>, StoreError> {
        let floor = (errand.account.bot.id, errand.chat.clone());
        let mut floor = self.floors.enter_until(floor, errand.until);
        let has_floor = match &mut floor {
            Some(floor) => floor.come().await,
            None => false,
        };
        // Whoever dies while it waits has not begun, and the next life makes the call.
        let ready = if has_floor { self.keep_pace(errand).await } else { Err(out_of_time()) };
        if !self.store.claim(key, &self.owner).await? {
            return Ok(None);
        }
        let settled = match ready {
            Ok(()) => self.say(errand).await,
            Err(error) => Settled::from(Err(error)),
        };
        self.note(key, &settled).await;
        Ok(Some(settled))
    }

    /// Says all parts, in order, up to the first that fails.
    async fn say(&self, errand: &Errand) -> Settled {
        let mut said = Vec::new();
        for call in &errand.calls {
            match self.call(errand, call, said.is_empty()).await {
                Ok(receipt) => said.push(receipt),
                Err(error) => return Settled::broken_off(said, errand.calls.len(), error),
            }
        }
        Settled::said(said)
    }

    /// Makes one call. Only a platform that said it did nothing is called again.
    async fn call(
        &self,
        errand: &Errand,
        send: &Send,
        mut is_paced: bool,
    ) -> Result<Receipt, DeliverError> {
        loop {
            if !is_paced {
                self.keep_pace(errand).await?;
            }
            is_paced = false;
            match called(errand, send).await {
                Err(DeliverError::RateLimited { retry_after }) => {
                    self.metrics.rate_limited();
                    self.hold(&errand.account, &errand.chat, retry_after);
                }
                answered => return answered,
            }
        }
    }

    /// Waits until the platform may be called. An error: that would be too late.
    async fn keep_pace(&self, errand: &Errand) -> Result<(), DeliverError> {
        let (bot, can) = (errand.account.bot.id, &errand.account.capabilities);
        let chat = PaceKey::Chat(bot, errand.chat.clone());
        // One after the other: a chat that waits takes no place of the bot's meanwhile.
        for (key, pace) in [(chat, can.chat_pace), (PaceKey::Bot(bot), can.bot_pace)] {
            let at = self.paces.reserve(&key, pace, errand.until).ok_or_else(out_of_time)?;
            sleep_until(at).await;
        }
        Ok(())
    }

    /// Leaves a chat alone for as long as the platform said. Others of the bot's go on: one
    /// tenant's chat does not silence another's.
    pub(crate) fn hold(&self, account: &Account, chat: &str, retry_after: Duration) {
        let span = retry_after.clamp(RATE_LIMITED_MIN, RATE_LIMITED_MAX);
        let key = PaceKey::Chat(account.bot.id, chat.to_owned());
        self.paces.hold(&key, account.capabilities.chat_pace, span);
    }

    /// What the platform answered is true, whether or not it can be written down. Unwritten,
    /// the send becomes ambiguous in the next life.
    async fn note(&self, key: &SendKey, settled: &Settled) {
        self.metrics.settled(settled);
        if let Err(error) = self.store.settle(key, &self.owner, settled).await {
            tracing::warn!(
                request.id = %key.request,
                error = &error as &dyn Error,
                "receipt of send {} could not be stored", key.request
            );
        }
    }

    /// Finds sends that nobody is at work on: makes those that were not begun, and gives up
    /// those that were. Answers how many it found.
    pub async fn sweep(&self) -> Result<usize, StoreError> {
        let found = self.store.left_over(&self.owner, LEFT_OVER_SENDS_MAX).await?;
        for left in &found {
            if left.was_called {
                self.store.give_up(&left.key, &self.owner).await?;
            } else {
                self.make_left_over(left).await?;
            }
        }
        Ok(found.len())
    }

    async fn make_left_over(&self, left: &LeftOver) -> Result<(), StoreError> {
        let LeftOver { key, bot, send, .. } = left;
        // Where there is no turn, the next sweep finds it again.
        let Some(mut turn) = self.lanes.enter((key.agent, send.chat_id.clone())) else {
            return Ok(());
        };
        if !turn.come().await {
            return Ok(());
        }
        match self.errand(*bot, send, turn.until()).await? {
            Ok(errand) => drop(self.make(key, &errand).await?),
            Err(unsayable) => {
                if self.store.claim(key, &self.owner).await? {
                    self.note(key, &unsayable).await;
                }
            }
        }
        Ok(())
    }
}

/// There is no place in the pace before the time is up, so nothing is done.
const fn out_of_time() -> DeliverError {
    DeliverError::RateLimited { retry_after: Duration::ZERO }
}

async fn called(errand: &Errand, send: &Send) -> Result<Receipt, DeliverError> {
    let Errand { account, until, .. } = errand;
    let until = (Instant::now() + PLATFORM_CALL_WAIT).min(*until);
    match timeout_at(until, account.platform.deliver(&account.bot, send)).await {
        Ok(delivered) => delivered,
        Err(late) => Err(DeliverError::Ambiguous(late.into())),
    }
}
