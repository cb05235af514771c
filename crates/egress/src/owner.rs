//! What the owner of a bot does for other nodes, and what they do while they wait.
//!
//! A send is a row first. Whoever was asked rings for the bot's owner and waits for the row to be
//! settled; the owner looks for such rows when it is rung for, and every now and then.

use std::error::Error;
use std::sync::Arc;

use nightdesk_bus::Ring;
use nightdesk_lease::{Owned, Resource};
use nightdesk_types::limits::{
    GIVEN_UP_SENDS_MAX, OWNERLESS_BOTS_MAX, SEND_DONE_WITHIN, SEND_LOOKED_AT_EVERY,
    WAITING_SENDS_MAX,
};
use nightdesk_types::{AgentId, BotId, RequestId, StoreError};
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::Settled;
use crate::stop::{Egress, Errand, SendTurn};
use crate::store::{Asked, GivenUp, SendKey, Waiting};

impl Egress {
    /// Has a send made by the owner of its bot: this node, or another, which is rung for. Who waits
    /// holds the send's place in its lane, also if the bot becomes this node's meanwhile.
    pub(crate) async fn by_owner(
        &self,
        key: &SendKey,
        errand: &Errand,
    ) -> Result<Settled, StoreError> {
        let settled = self.settled.wait((key.agent, key.request.clone())).ok();
        loop {
            // Whoever dies or is cut off here leaves a row, which the owner finds.
            if let Some(made) = self.made_here(key, errand).await.ok().flatten() {
                return Ok(made);
            }
            if let Ok(Asked::Settled(settled)) = self.store.look(key).await {
                return Ok(settled);
            }
            let now = Instant::now();
            if now >= errand.until {
                return self.too_late(key).await;
            }
            let next = errand.until.min(now + SEND_LOOKED_AT_EVERY);
            match &settled {
                // Either way it is time to look again.
                Some(settled) => drop(timeout_at(next, settled.rung()).await),
                None => sleep_until(next).await,
            }
        }
    }

    /// Whether this node owns a bot, and so may listen for it. It takes one that nobody owns.
    pub async fn owns(&self, bot: BotId) -> Result<bool, StoreError> {
        let owned = self.owners.of(Resource::Bot(bot)).await?;
        Ok(matches!(owned, Owned::Here(_)) && self.owners.lease().is_held())
    }

    /// The same by a look of now: what is remembered of an owner who died would keep its bot deaf for longer.
    pub async fn takes(&self, bot: BotId) -> Result<bool, StoreError> {
        self.owners.forget(Resource::Bot(bot));
        self.owns(bot).await
    }

    /// Makes a send if this node owns its bot, and rings for the owner if not.
    async fn made_here(
        &self,
        key: &SendKey,
        errand: &Errand,
    ) -> Result<Option<Settled>, StoreError> {
        let bot = errand.account.bot.id;
        let epoch = match self.owners.of(Resource::Bot(bot)).await? {
            Owned::Here(epoch) => epoch,
            Owned::By(node) => {
                self.bell.ring(Ring::Asked { node, bot }).await;
                return Ok(None);
            }
        };
        let made = self.make(key, errand, epoch).await?;
        if made.is_none() {
            // It was taken over, or somebody who owned it before is at it.
            self.owners.forget(Resource::Bot(bot));
        }
        Ok(made)
    }

    /// Nobody waits for it any more: if nobody has begun, nobody may.
    async fn too_late(&self, key: &SendKey) -> Result<Settled, StoreError> {
        let late = Settled::no_turn();
        if self.store.retract(key, self.node(), &late).await? {
            return Ok(late);
        }
        match self.store.look(key).await? {
            Asked::Settled(settled) => Ok(settled),
            Asked::New | Asked::UnderWay => Ok(Settled::Ambiguous),
        }
    }

    /// Looks for sends that nobody is at work on: takes over bots that nobody owns, serves what
    /// waits for the bots of this node, and gives up what a dead node had begun. Answers how many
    /// it found.
    pub async fn sweep(self: &Arc<Self>) -> Result<usize, StoreError> {
        for bot in self.store.ownerless(OWNERLESS_BOTS_MAX).await? {
            self.owners.forget(Resource::Bot(bot));
            drop(self.owners.of(Resource::Bot(bot)).await?);
        }
        let given_up = self.store.give_up(GIVEN_UP_SENDS_MAX).await?;
        for GivenUp { agent, request, asked_on } in &given_up {
            self.tell(asked_on.as_deref(), *agent, request).await;
        }
        Ok(given_up.len() + self.serve().await?)
    }

    /// Takes in hand what waits for the bots of this node. Answers how much that is.
    pub async fn serve(self: &Arc<Self>) -> Result<usize, StoreError> {
        let waiting = self.store.waiting(self.node(), WAITING_SENDS_MAX).await?;
        let mut taken = 0;
        for send in waiting {
            let Some(held) = self.in_hand.take(&send.key) else { continue };
            // In the order they were asked for. Where there is no turn, the next look finds them.
            let lane = (send.key.agent, send.send.chat_id.clone());
            let Some(turn) = self.lanes().enter_until(lane, until(&send)) else { break };
            taken += 1;
            let egress = Arc::clone(self);
            self.tasks.spawn(async move {
                egress.serve_one(&send, turn).await;
                drop(held);
            });
        }
        Ok(taken)
    }

    async fn serve_one(&self, waiting: &Waiting, mut turn: SendTurn) {
        if !turn.come().await {
            return;
        }
        if let Err(error) = self.make_waiting(waiting, &turn).await {
            let request = &waiting.key.request;
            tracing::warn!(
                request.id = %request,
                error = &error as &dyn Error,
                "send {request} of another node could not be made yet"
            );
        }
    }

    async fn make_waiting(&self, waiting: &Waiting, turn: &SendTurn) -> Result<(), StoreError> {
        let Waiting { key, bot, send, asked_on, .. } = waiting;
        match self.errand(*bot, send, turn.until()).await? {
            Ok(errand) => drop(self.made_here(key, &errand).await?),
            Err(unsayable) => drop(self.store.retract(key, self.node(), &unsayable).await?),
        }
        self.tell(asked_on.as_deref(), key.agent, &key.request).await;
        Ok(())
    }

    /// Rings for the node that waits for a send.
    async fn tell(&self, node: Option<&str>, agent: AgentId, request: &RequestId) {
        if let Some(node) = node.filter(|node| *node != self.node().name) {
            let (node, request) = (node.to_owned(), request.clone());
            self.bell.ring(Ring::Settled { node, agent, request }).await;
        }
    }
}

/// Until when a send may take: as long as somebody waits for it, and anew if nobody does any more.
fn until(waiting: &Waiting) -> Instant {
    let left = SEND_DONE_WITHIN.checked_sub(waiting.waits_for);
    Instant::now() + left.unwrap_or(SEND_DONE_WITHIN)
}
