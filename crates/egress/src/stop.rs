//! The stop itself: ask, claim, call, settle.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_bus::{Bell, Settlements};
use nightdesk_gate::AdmittedSend;
use nightdesk_lease::{Owner, Owners};
use nightdesk_port::{Bot, Capabilities, Deliver, DeliverError, File, Receipt};
use nightdesk_types::limits::{PLATFORM_CALL_WAIT, RATE_LIMITED_MAX, RATE_LIMITED_MIN};
use nightdesk_types::planted::crash_point;
use nightdesk_types::{AgentId, BotId, Node, OwnerEpoch, Send, StoreError};
use nightdesk_vault::Key;
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::task::TaskTracker;

use crate::aid::{Aid, Call};
use crate::in_hand::InHand;
use crate::metrics::Metrics;
use crate::plan::plan;
use crate::store::{Asked, SendKey, Store};
use crate::{FileError, Lanes, Lent, Paces, Settled, Spoken, Turn};

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

    /// What a platform lent for one session of the agent that asked for a send. `None`: nothing is
    /// bound for that very session, or it has ended.
    async fn capability(&self, _asked: &Lent<'_>) -> Result<Option<Key>, StoreError> {
        Ok(None)
    }

    /// The file an agent speaks of. `None`: it is not the desk's to give.
    async fn file(&self, _asked: &Spoken<'_>) -> Result<Option<File>, FileError> {
        Ok(None)
    }
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
    pub(crate) store: Arc<dyn Store>,
    pub(crate) accounts: Arc<dyn Accounts>,
    pub(crate) owners: Owners,
    pub(crate) bell: Arc<dyn Bell>,
    pub(crate) settled: Settlements,
    pub(crate) in_hand: InHand,
    /// What is made for other nodes, by its own tasks.
    pub(crate) tasks: TaskTracker,
    lanes: SendLanes,
    /// Agents may share a chat: who has the floor there says all its parts.
    floors: Lanes<(BotId, String)>,
    pub(crate) paces: Paces<PaceKey>,
    metrics: Metrics,
}

/// The calls of a send, and until when they may be made.
pub(crate) struct Errand {
    pub(crate) account: Account,
    pub(crate) chat: String,
    pub(crate) calls: Vec<Send>,
    pub(crate) until: Instant,
}

impl std::fmt::Debug for Egress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Egress")
    }
}

impl Egress {
    /// The way out of this node, in this life of it. The bell rings for owners elsewhere, and who
    /// waits for them waits at the settlements.
    pub fn new(
        store: Arc<dyn Store>,
        accounts: Arc<dyn Accounts>,
        owners: Owners,
        (bell, settled): (Arc<dyn Bell>, Settlements),
        tasks: TaskTracker,
    ) -> Self {
        Self {
            store,
            accounts,
            owners,
            bell,
            settled,
            tasks,
            in_hand: InHand::default(),
            lanes: Lanes::default(),
            floors: Lanes::default(),
            paces: Paces::default(),
            metrics: Metrics::default(),
        }
    }

    /// This node, in this life of it.
    pub(crate) fn node(&self) -> &Node {
        self.owners.lease().node()
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
        let key = SendKey::from(send);
        // Before it is written down: a look at what waits must not take it too.
        let Some(_held) = self.in_hand.take(&key) else { return Ok(Settled::Ambiguous) };
        match self.store.ask(send, &self.node().name).await? {
            Asked::New => self.by_owner(&key, &errand).await,
            Asked::Settled(settled) => Ok(settled),
            // Its answer belongs to whoever asked first.
            Asked::UnderWay => Ok(Settled::Ambiguous),
        }
    }

    /// What is to be done for a send, or why nothing is.
    pub(crate) async fn errand(
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

    /// Makes the calls if nobody else did. `None`: somebody else is at it, or owns the bot.
    pub(crate) async fn make(
        &self,
        key: &SendKey,
        errand: &Errand,
        epoch: OwnerEpoch,
    ) -> Result<Option<Settled>, StoreError> {
        let floor = (errand.account.bot.id, errand.chat.clone());
        let mut floor = self.floors.enter_until(floor, errand.until);
        let has_floor = match &mut floor {
            Some(floor) => floor.come().await,
            None => false,
        };
        // Whoever dies while it waits has not begun, and the next life makes the call.
        let ready = if has_floor { self.keep_pace(errand).await } else { Err(out_of_time()) };
        let owner = Owner { node: self.node().clone(), epoch };
        if !self.store.claim(key, &owner).await? {
            return Ok(None);
        }
        crash_point("K13");
        let settled = match ready {
            Ok(()) => match self.aid(key, errand).await {
                Ok(aid) => self.say(key, errand, &aid).await,
                Err(nothing) => nothing,
            },
            Err(error) => Settled::from(Err(error)),
        };
        crash_point("K14");
        self.note(key, &settled).await;
        crash_point("K15");
        Ok(Some(settled))
    }

    /// Says all parts, in order, up to the first that fails.
    async fn say(&self, key: &SendKey, errand: &Errand, aid: &Aid) -> Settled {
        let mut said = Vec::new();
        for send in &errand.calls {
            let name = format!("{}/{}/{}", key.agent, key.request, said.len());
            let call = Call { send, aid, name: &name };
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
        call: Call<'_>,
        mut is_paced: bool,
    ) -> Result<Receipt, DeliverError> {
        loop {
            if !is_paced {
                self.keep_pace(errand).await?;
            }
            is_paced = false;
            if !self.owners.lease().is_held() {
                return Err(DeliverError::Unavailable(LeaseLost.into()));
            }
            let until = (Instant::now() + PLATFORM_CALL_WAIT).min(errand.until);
            let answer = timeout_at(until, call.make(&errand.account)).await;
            match answer.unwrap_or_else(|late| Err(DeliverError::Ambiguous(late.into()))) {
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
        if let Err(error) = self.store.settle(key, self.node(), settled).await {
            tracing::warn!(
                request.id = %key.request,
                error = &error as &dyn Error,
                "receipt of send {} could not be stored", key.request
            );
        }
    }
}

/// This node may have been taken for dead, and its bots taken over.
#[derive(Debug, thiserror::Error)]
#[error("this node has lost its lease")]
struct LeaseLost;

/// There is no place in the pace before the time is up, so nothing is done.
const fn out_of_time() -> DeliverError {
    DeliverError::RateLimited { retry_after: Duration::ZERO }
}
