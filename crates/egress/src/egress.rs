//! Makes sends: request, claim, call, settle.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use fail::fail_point;
use nightdesk_bus::{Bell, Settlements};
use nightdesk_gate::AdmittedSend;
use nightdesk_lease::{Owner, Owners};
use nightdesk_port::{DeliverError, Receipt};
use nightdesk_types::limits::{PLATFORM_CALL_WAIT, RATE_LIMITED_MAX, RATE_LIMITED_MIN};
use nightdesk_types::{AgentId, BotId, Node, OwnerEpoch, Send, StoreError};
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::task::TaskTracker;

use crate::account::{Account, Accounts};
use crate::active_sends::ActiveSends;
use crate::metrics::Metrics;
use crate::plan::{SendPlan, plan_calls};
use crate::platform_call::{CallResource, PlatformCall};
use crate::send_file::SendFile;
use crate::store::{SendKey, SendState, Store};
use crate::{LaneTurn, Lanes, RateLimits, SendResult};

/// The lanes of sends: one per agent and chat.
pub type SendLanes = Lanes<(AgentId, String)>;

/// A send's place in its lane.
pub type SendTurn = LaneTurn<(AgentId, String)>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RateKey {
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
    pub(crate) active_sends: ActiveSends,
    /// The tasks that make sends for other nodes.
    pub(crate) tasks: TaskTracker,
    lanes: SendLanes,
    /// Agents may share a chat: the send that has the floor there sends all its parts.
    chat_lanes: Lanes<(BotId, String)>,
    pub(crate) rate_limits: RateLimits<RateKey>,
    metrics: Metrics,
}

nightdesk_types::opaque_debug!(Egress);

impl Egress {
    /// Creates the egress of this node. The bell rings for owners on other nodes, and requests wait at the settlements.
    pub fn new(
        store: Arc<dyn Store>,
        accounts: Arc<dyn Accounts>,
        owners: Owners,
        bell: Arc<dyn Bell>,
        settled: Settlements,
        tasks: TaskTracker,
    ) -> Self {
        Self {
            store,
            accounts,
            owners,
            bell,
            settled,
            tasks,
            active_sends: ActiveSends::default(),
            lanes: Lanes::default(),
            chat_lanes: Lanes::default(),
            rate_limits: RateLimits::default(),
            metrics: Metrics::default(),
        }
    }

    /// Returns this node in its current life.
    pub(crate) fn node(&self) -> &Node {
        self.owners.lease().node()
    }

    /// Returns the metrics.
    pub const fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Returns the lanes, for a caller that takes a turn before the gate has decided on the send.
    pub const fn lanes(&self) -> &SendLanes {
        &self.lanes
    }

    /// Executes an admitted send, once, when its turn has come.
    pub async fn deliver(
        &self,
        send: &AdmittedSend,
        turn: &SendTurn,
    ) -> Result<SendResult, StoreError> {
        let key = SendKey::from(send);
        let errand = match self.plan_send(send.bot(), send.send(), turn.deadline()).await? {
            Ok(errand) => errand,
            // No call will be made, so no row is written. An earlier request of this send may have been executed.
            Err(unsayable) => return Ok(self.find_result(&key).await?.unwrap_or(unsayable)),
        };
        // Taken before the row is written, so that a query for waiting sends does not take it too.
        let Some(_held) = self.active_sends.take(&key) else { return Ok(SendResult::Ambiguous) };
        match self.store.record_request(send, &self.node().name).await? {
            SendState::New => self.send_by_owner(&key, &errand).await,
            SendState::Settled(settled) => Ok(settled),
            // The result goes to the first request.
            SendState::UnderWay => Ok(SendResult::Ambiguous),
        }
    }

    /// Settles an admitted send that got no turn, and returns its result. An earlier request of the same send may still
    /// wait for a turn elsewhere: it makes no call after this, so the agent may send again.
    pub async fn settle_without_turn(&self, send: &AdmittedSend) -> Result<SendResult, StoreError> {
        match self.store.record_request(send, &self.node().name).await? {
            SendState::New => self.retract_late(&SendKey::from(send)).await,
            SendState::Settled(settled) => Ok(settled),
            SendState::UnderWay => Ok(SendResult::Ambiguous),
        }
    }

    /// Returns the result of a send that was requested before.
    pub async fn find_result(&self, send: &SendKey) -> Result<Option<SendResult>, StoreError> {
        Ok(self.store.send_state(send).await?.map(|state| match state {
            SendState::Settled(settled) => settled,
            SendState::New | SendState::UnderWay => SendResult::Ambiguous,
        }))
    }

    /// Returns the calls of a send, or the result if there are none.
    pub(crate) async fn plan_send(
        &self,
        bot: BotId,
        send: &Send,
        until: Instant,
    ) -> Result<Result<SendPlan, SendResult>, StoreError> {
        let Some(account) = self.accounts.find_account(bot).await? else {
            return Ok(Err(SendResult::Failed("the bot no longer exists".to_owned())));
        };
        let chat = send.chat_id.clone();
        let calls = plan_calls(send, &account.capabilities);
        let errand = calls.map(|calls| SendPlan { account, chat, calls, until });
        Ok(errand.map_err(|why| SendResult::Failed(why.to_string())))
    }

    /// Makes the calls, unless another node did. `None`: another node is making them, or owns the bot.
    pub(crate) async fn make_calls(
        &self,
        key: &SendKey,
        errand: &SendPlan,
        epoch: OwnerEpoch,
    ) -> Result<Option<SendResult>, StoreError> {
        // Memory for a file comes first, so that a send that waits for it does not hold up the chat.
        let file = SendFile::find(&*self.accounts, key, errand).await;
        let floor = (errand.account.bot.id, errand.chat.clone());
        let mut floor = self.chat_lanes.enter_until(floor, errand.until);
        // A node that dies while it waits has not begun, and the next owner makes the call.
        let ready = match file {
            Ok(file) => self.wait_for_slot(floor.as_mut(), errand).await.map(|()| file),
            Err(nothing) => Err(nothing),
        };
        let owner = Owner { node: self.node().clone(), epoch };
        if !self.store.claim(key, &owner).await? {
            return Ok(None);
        }
        fail_point!("egress::claimed_before_call");
        let settled = match ready {
            Ok(file) => match CallResource::load(&*self.accounts, key, errand, file).await {
                Ok(aid) => self.send_parts(key, errand, &aid).await,
                Err(nothing) => nothing,
            },
            Err(nothing) => nothing,
        };
        fail_point!("egress::called_before_receipt");
        self.record_result(key, &settled).await;
        fail_point!("egress::receipt_stored");
        Ok(Some(settled))
    }

    /// Waits for the turn in the chat, and for the platform's rate limit. The error is the result of the send.
    async fn wait_for_slot(
        &self,
        floor: Option<&mut LaneTurn<(BotId, String)>>,
        errand: &SendPlan,
    ) -> Result<(), SendResult> {
        let has_floor = match floor {
            Some(floor) => floor.wait_for_turn().await,
            None => false,
        };
        let ready = if has_floor { self.wait_for_rate(errand).await } else { Err(out_of_time()) };
        ready.map_err(|error| SendResult::from(Err(error)))
    }

    /// Sends all parts, in order, up to the first failure.
    async fn send_parts(&self, key: &SendKey, errand: &SendPlan, aid: &CallResource) -> SendResult {
        let mut said = Vec::new();
        for send in &errand.calls {
            let name = format!("{}/{}/{}", key.agent, key.request, said.len());
            let call = PlatformCall { send, resource: aid, name: &name };
            match self.make_call(errand, call, said.is_empty()).await {
                Ok(receipt) => said.push(receipt),
                Err(error) => return SendResult::from_partial(said, errand.calls.len(), error),
            }
        }
        SendResult::from_receipts(said)
    }

    /// Makes one call. It is repeated only if the platform reported that it was not executed.
    async fn make_call(
        &self,
        errand: &SendPlan,
        call: PlatformCall<'_>,
        mut is_paced: bool,
    ) -> Result<Receipt, DeliverError> {
        loop {
            if !is_paced {
                self.wait_for_rate(errand).await?;
            }
            is_paced = false;
            if !self.owners.lease().is_held() {
                return Err(DeliverError::Unavailable(LeaseLost.into()));
            }
            let until = (Instant::now() + PLATFORM_CALL_WAIT).min(errand.until);
            let answer = timeout_at(until, call.make(&errand.account)).await;
            match answer.unwrap_or_else(|late| Err(DeliverError::Ambiguous(late.into()))) {
                Err(DeliverError::RateLimited { retry_after }) => {
                    self.metrics.count_rate_limited();
                    self.hold_chat(&errand.account, &errand.chat, retry_after);
                }
                answered => return answered,
            }
        }
    }

    /// Waits until the platform may be called. Returns an error if that would be too late.
    async fn wait_for_rate(&self, errand: &SendPlan) -> Result<(), DeliverError> {
        let (bot, can) = (errand.account.bot.id, &errand.account.capabilities);
        let chat = RateKey::Chat(bot, errand.chat.clone());
        // In sequence: a chat that waits takes no slot of the bot meanwhile.
        for (key, pace) in [(chat, can.chat_pace), (RateKey::Bot(bot), can.bot_pace)] {
            let at = self.rate_limits.reserve(&key, pace, errand.until).ok_or_else(out_of_time)?;
            sleep_until(at).await;
        }
        Ok(())
    }

    /// Blocks a chat for the time that the platform requested. Other chats of the bot continue, so one tenant's chat
    /// does not block another's.
    pub(crate) fn hold_chat(&self, account: &Account, chat: &str, retry_after: Duration) {
        let span = retry_after.clamp(RATE_LIMITED_MIN, RATE_LIMITED_MAX);
        let key = RateKey::Chat(account.bot.id, chat.to_owned());
        self.rate_limits.hold(&key, account.capabilities.chat_pace, span);
    }

    /// Stores the result. The platform's answer counts even if it cannot be stored; then the send becomes ambiguous in
    /// the next life.
    async fn record_result(&self, key: &SendKey, settled: &SendResult) {
        self.metrics.count_result(settled);
        if let Err(error) = self.store.settle(key, self.node(), settled).await {
            tracing::warn!(
                request.id = %key.request,
                error = &error as &dyn Error,
                "receipt of send {} could not be stored", key.request
            );
        }
    }
}

/// The other nodes may consider this node dead, and may have taken over its bots.
#[derive(Debug, thiserror::Error)]
#[error("this node has lost its lease")]
struct LeaseLost;

/// Returns the error of a send that gets no slot before its deadline; no call was made.
const fn out_of_time() -> DeliverError {
    DeliverError::RateLimited { retry_after: Duration::ZERO }
}
