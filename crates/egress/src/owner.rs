//! The work of a bot's owner for other nodes, and the wait of those nodes.
//!
//! A send is a row first. The node that got the request rings for the bot's owner and waits until the row is settled.
//! The owner queries for such rows when the bell rings, and periodically.

use std::error::Error;
use std::sync::Arc;

use nightdesk_bus::Ring;
use nightdesk_lease::{Ownership, Resource};
use nightdesk_types::limits::{
    GIVEN_UP_SENDS_MAX, OWNERLESS_BOTS_MAX, SEND_DONE_WITHIN, SEND_LOOKED_AT_EVERY,
    WAITING_SENDS_MAX,
};
use nightdesk_types::{AgentId, BotId, RequestId, StoreError};
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::SendResult;
use crate::egress::{Egress, SendTurn};
use crate::plan::SendPlan;
use crate::store::{AbandonedSend, SendKey, SendState, WaitingSend};

impl Egress {
    /// Lets the owner of the bot make a send: this node, or another one, for which the bell rings. The waiting request
    /// holds the send's place in its lane, also if this node becomes the owner meanwhile.
    pub(crate) async fn send_by_owner(
        &self,
        key: &SendKey,
        errand: &SendPlan,
    ) -> Result<SendResult, StoreError> {
        let settled = self.settled.begin_wait((key.agent, key.request.clone())).ok();
        loop {
            // A node that dies or is cut off here leaves a row, which the owner finds.
            if let Some(made) = self.make_if_owner(key, errand).await.ok().flatten() {
                return Ok(made);
            }
            if let Ok(Some(SendState::Settled(settled))) = self.store.send_state(key).await {
                return Ok(settled);
            }
            let now = Instant::now();
            if now >= errand.until {
                return self.retract_late(key).await;
            }
            let next = errand.until.min(now + SEND_LOOKED_AT_EVERY);
            match &settled {
                // Query again in either case.
                Some(settled) => drop(timeout_at(next, settled.wait_for_ring()).await),
                None => sleep_until(next).await,
            }
        }
    }

    /// Returns true if this node owns a bot, and so may listen for it. Claims a bot without an owner.
    pub async fn is_owner(&self, bot: BotId) -> Result<bool, StoreError> {
        let owned = self.owners.find_or_claim(Resource::Bot(bot)).await?;
        Ok(matches!(owned, Ownership::Here(_)) && self.owners.lease().is_held())
    }

    /// Returns the same without the cache: a cached owner that died would leave its bot without a listener for longer.
    pub async fn is_owner_now(&self, bot: BotId) -> Result<bool, StoreError> {
        self.owners.forget(Resource::Bot(bot));
        self.is_owner(bot).await
    }

    /// Makes a send if this node owns its bot, or rings for the owner.
    async fn make_if_owner(
        &self,
        key: &SendKey,
        errand: &SendPlan,
    ) -> Result<Option<SendResult>, StoreError> {
        let bot = errand.account.bot.id;
        let epoch = match self.owners.find_or_claim(Resource::Bot(bot)).await? {
            Ownership::Here(epoch) => epoch,
            Ownership::By(node) => {
                self.bell.ring(Ring::Asked { node, bot }).await;
                return Ok(None);
            }
        };
        let made = self.make_calls(key, errand, epoch).await?;
        if made.is_none() {
            // The bot was taken over, or an earlier owner is working on the send.
            self.owners.forget(Resource::Bot(bot));
        }
        Ok(made)
    }

    /// Retracts a send after its deadline, unless its owner has begun it.
    pub(crate) async fn retract_late(&self, key: &SendKey) -> Result<SendResult, StoreError> {
        let late = SendResult::without_turn();
        if self.store.retract(key, self.node(), &late).await? {
            return Ok(late);
        }
        Ok(self.find_result(key).await?.unwrap_or(SendResult::Ambiguous))
    }

    /// Takes over bots without an owner, serves the sends that wait for this node's bots, and abandons the calls that a
    /// dead node had begun. Returns the number of sends that it found.
    pub async fn sweep(self: &Arc<Self>) -> Result<usize, StoreError> {
        for bot in self.store.ownerless_bots(OWNERLESS_BOTS_MAX).await? {
            self.owners.forget(Resource::Bot(bot));
            drop(self.owners.find_or_claim(Resource::Bot(bot)).await?);
        }
        let given_up = self.store.abandon_sends(GIVEN_UP_SENDS_MAX).await?;
        for AbandonedSend { agent, request, asked_on } in &given_up {
            self.ring_requester(asked_on.as_deref(), *agent, request).await;
        }
        Ok(given_up.len() + self.serve().await?)
    }

    /// Starts the sends that wait for this node's bots, and returns their number.
    pub async fn serve(self: &Arc<Self>) -> Result<usize, StoreError> {
        let waiting = self.store.waiting_sends(self.node(), WAITING_SENDS_MAX).await?;
        let mut taken = 0;
        for send in waiting {
            let Some(held) = self.active_sends.take(&send.key) else { continue };
            // In the order of the requests. If the lanes are full, the next query finds the rest.
            let lane = (send.key.agent, send.send.chat_id.clone());
            let Some(turn) = self.lanes().enter_until(lane, send_deadline(&send)) else { break };
            taken += 1;
            let egress = Arc::clone(self);
            self.tasks.spawn(async move {
                egress.serve_one(&send, turn).await;
                drop(held);
            });
        }
        Ok(taken)
    }

    async fn serve_one(&self, waiting: &WaitingSend, mut turn: SendTurn) {
        if !turn.wait_for_turn().await {
            return;
        }
        if let Err(error) = self.make_waiting(waiting, &turn).await {
            let request = &waiting.key.request;
            tracing::warn!(
                request.id = %request,
                error = &error as &dyn Error,
                "could not make send {request} of another node; it is retried"
            );
        }
    }

    async fn make_waiting(&self, waiting: &WaitingSend, turn: &SendTurn) -> Result<(), StoreError> {
        let WaitingSend { key, bot, send, asked_on, .. } = waiting;
        match self.plan_send(*bot, send, turn.deadline()).await? {
            Ok(errand) => drop(self.make_if_owner(key, &errand).await?),
            Err(unsayable) => drop(self.store.retract(key, self.node(), &unsayable).await?),
        }
        self.ring_requester(asked_on.as_deref(), key.agent, &key.request).await;
        Ok(())
    }

    /// Rings for the node that waits for a send.
    async fn ring_requester(&self, node: Option<&str>, agent: AgentId, request: &RequestId) {
        if let Some(node) = node.filter(|node| *node != self.node().name) {
            let (node, request) = (node.to_owned(), request.clone());
            self.bell.ring(Ring::Settled { node, agent, request }).await;
        }
    }
}

/// Returns the deadline of a send: the requester's remaining time, or a new span if the requester has given up.
fn send_deadline(waiting: &WaitingSend) -> Instant {
    let left = SEND_DONE_WITHIN.checked_sub(waiting.waits_for);
    Instant::now() + left.unwrap_or(SEND_DONE_WITHIN)
}
