//! The stop itself: ask, claim, call, settle.

use std::error::Error;
use std::sync::Arc;

use async_trait::async_trait;
use nightdesk_gate::AdmittedSend;
use nightdesk_port::{Bot, Deliver, DeliverError};
use nightdesk_types::limits::{LEFT_OVER_SENDS_MAX, PLATFORM_CALL_WAIT};
use nightdesk_types::{BotId, Send, StoreError};
use tokio::time::timeout;

use crate::store::{Asked, LeftOver, Owner, SendKey, Store};
use crate::{Lanes, Settled};

/// Finds a bot and who makes its calls.
#[async_trait]
pub trait Accounts: std::marker::Send + Sync {
    /// The bot with its key, and its adapter. `None`: there is no such bot any more.
    async fn account(&self, bot: BotId) -> Result<Option<(Bot, Arc<dyn Deliver>)>, StoreError>;
}

/// Makes calls to platforms, at most one per request.
pub struct Egress {
    store: Arc<dyn Store>,
    accounts: Arc<dyn Accounts>,
    owner: Owner,
    lanes: Lanes,
}

impl std::fmt::Debug for Egress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Egress")
    }
}

impl Egress {
    /// The way out of this node, in this life of it.
    pub fn new(store: Arc<dyn Store>, accounts: Arc<dyn Accounts>, owner: Owner) -> Self {
        Self { store, accounts, owner, lanes: Lanes::default() }
    }

    /// The lanes, for who wants a place before it is decided whether the send may go.
    pub const fn lanes(&self) -> &Lanes {
        &self.lanes
    }

    /// Does what an admitted send asks, once.
    pub async fn deliver(&self, send: &AdmittedSend) -> Result<Settled, StoreError> {
        match self.store.ask(send).await? {
            Asked::New => {
                let key = SendKey::from(send);
                Ok(self.call(&key, send.bot(), send.send()).await?.unwrap_or(Settled::Ambiguous))
            }
            Asked::Settled(settled) => Ok(settled),
            // Its answer belongs to whoever asked first.
            Asked::UnderWay => Ok(Settled::Ambiguous),
        }
    }

    /// Makes the call if nobody else did. `None`: somebody else is at it.
    async fn call(
        &self,
        key: &SendKey,
        bot: BotId,
        send: &Send,
    ) -> Result<Option<Settled>, StoreError> {
        let account = self.accounts.account(bot).await?;
        if !self.store.claim(key, &self.owner).await? {
            return Ok(None);
        }
        let settled = match account {
            Some((bot, platform)) => Settled::from(called(&*platform, &bot, send).await),
            None => Settled::Failed("the bot is gone".to_owned()),
        };
        self.note(key, &settled).await;
        Ok(Some(settled))
    }

    /// What the platform answered is true, whether or not it can be written down. Unwritten,
    /// the send becomes ambiguous in the next life.
    async fn note(&self, key: &SendKey, settled: &Settled) {
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
        for LeftOver { key, bot, send, was_called } in &found {
            if *was_called {
                self.store.give_up(key, &self.owner).await?;
            } else {
                let mut turn = self.lanes.enter(key.agent, &send.chat_id);
                turn.come().await;
                self.call(key, *bot, send).await?;
            }
        }
        Ok(found.len())
    }
}

async fn called(
    platform: &dyn Deliver,
    bot: &Bot,
    send: &Send,
) -> Result<nightdesk_port::Receipt, DeliverError> {
    match timeout(PLATFORM_CALL_WAIT, platform.deliver(bot, send)).await {
        Ok(delivered) => delivered,
        Err(late) => Err(DeliverError::Ambiguous(late.into())),
    }
}
