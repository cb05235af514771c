//! Listening: platforms that tell nothing by themselves are asked, each bot by the node that owns it.
//!
//! # Promise
//!
//! What was heard is put into inboxes with the cursor after it, one after the other, and the platform is
//! asked for more only when all of it was dealt with: so a platform that forgets what it was asked
//! beyond loses nothing of ours. Of two nodes that listen, the store believes the one that began later.

use std::collections::HashSet;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use nightdesk_inbox::SourceMark;
use nightdesk_intake::Told;
use nightdesk_port::{Bot, Listen, ListenError};
use nightdesk_types::limits::{LISTEN_EVERY, LISTENING_LOOK_EVERY};
use nightdesk_types::{BotId, NodeEpoch, StoreError};
use tokio::time::{sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::accounts::store_error;
use crate::inbound::{Placed, put, quarantine};
use crate::sweep::every;
use crate::{Account, Desk};

mod patience;

use patience::Patience;

/// Why a bot was not listened for.
#[derive(Debug, thiserror::Error)]
enum Unheard {
    #[error("could not hear")]
    Platform(#[from] ListenError),
    #[error("could not keep what was heard")]
    Store(#[from] StoreError),
}

/// Listens for every bot that this node owns and whose platform must be asked, until the node stops.
pub async fn run(desk: Arc<Desk>, tasks: TaskTracker, drain: CancellationToken) {
    let listening = Listening { desk, drain, bots: Arc::default() };
    let look = || look(&listening, &tasks);
    every(LISTENING_LOOK_EVERY, "find bots to listen for", &listening.drain, look).await;
}

#[derive(Clone)]
struct Listening {
    desk: Arc<Desk>,
    drain: CancellationToken,
    /// Bots that are being listened for here.
    bots: Arc<Mutex<HashSet<BotId>>>,
}

/// Looks for bots that nobody here listens for yet, and takes those that nobody owns.
async fn look(listening: &Listening, tasks: &TaskTracker) -> Result<(), StoreError> {
    let desk = &listening.desk;
    let adapters = desk.accounts.listening();
    for bot in desk.register.store().listening_bots(&adapters).await? {
        if !listening.is_heard(bot) && desk.egress.owns(bot).await? && listening.begin(bot) {
            let listening = listening.clone();
            tasks.spawn(async move {
                listening.hear(bot).await;
                listening.end(bot);
            });
        }
    }
    Ok(())
}

impl Listening {
    fn is_heard(&self, bot: BotId) -> bool {
        self.bots.lock().unwrap_or_else(PoisonError::into_inner).contains(&bot)
    }

    fn begin(&self, bot: BotId) -> bool {
        self.bots.lock().unwrap_or_else(PoisonError::into_inner).insert(bot)
    }

    fn end(&self, bot: BotId) {
        self.bots.lock().unwrap_or_else(PoisonError::into_inner).remove(&bot);
    }

    /// Listens for a bot until it is somebody else's, or the node stops.
    async fn hear(&self, bot: BotId) {
        let mut patience = Patience::default();
        while let Err(error) = self.hear_on(bot, &mut patience).await {
            let span = patience.after(&error);
            tracing::warn!(
                bot.id = %bot,
                error = &error as &dyn Error,
                "bot {bot} is deaf; it is tried again in {} s", span.as_secs()
            );
            // Either way it is time to look again.
            drop(timeout(span, self.drain.cancelled()).await);
        }
    }

    /// The same, until something goes wrong.
    async fn hear_on(&self, bot: BotId, patience: &mut Patience) -> Result<(), Unheard> {
        let mut source: Option<Source> = None;
        while !self.drain.is_cancelled() && self.desk.egress.owns(bot).await? {
            // Its key may have been replaced.
            let account = self.desk.accounts.of(bot).await.map_err(store_error)?;
            let Some(account) = account else { return Ok(()) };
            let Some(ear) = account.platform.ear(&account.bot) else { return Ok(()) };
            let mut reading = match source.take() {
                Some(reading) => reading,
                None => Source::take(&self.desk, &account, ear.source()).await?,
            };
            let cursor = reading.cursor.as_deref();
            let told = heard(ear, &account.bot, cursor);
            let Some(told) = self.drain.run_until_cancelled(told).await else { return Ok(()) };
            if !reading.read(self, &account, told?).await? {
                return Ok(());
            }
            patience.heard();
            source = Some(reading);
        }
        Ok(())
    }
}

/// Asks, and does not ask again too soon.
async fn heard(
    ear: &dyn Listen,
    bot: &Bot,
    cursor: Option<&str>,
) -> Result<Vec<Told>, ListenError> {
    let asked_at = tokio::time::Instant::now();
    let told = nightdesk_intake::listen(ear, bot, cursor).await?;
    if told.is_empty() {
        sleep_until(asked_at + LISTEN_EVERY).await;
    }
    Ok(told)
}

/// A source that this node reads, and how far it has.
struct Source {
    name: &'static str,
    epoch: NodeEpoch,
    cursor: Option<String>,
}

impl Source {
    async fn take(desk: &Desk, account: &Account, name: &'static str) -> Result<Self, StoreError> {
        let (operator, bot) = (account.bot.operator, account.bot.id);
        let (epoch, cursor) = desk.inbox.store().take_source(operator, bot, name).await?;
        Ok(Self { name, epoch, cursor })
    }

    fn mark(&self, cursor: String) -> SourceMark {
        SourceMark { source: self.name.to_owned(), epoch: self.epoch, cursor }
    }

    /// Deals with what was told, in order. Answers whether the source is still ours; when the node
    /// stops, the rest is told to whoever comes next.
    async fn read(
        &mut self,
        listening: &Listening,
        account: &Account,
        told: Vec<Told>,
    ) -> Result<bool, StoreError> {
        let desk = &listening.desk;
        let mut last = None;
        for Told { said, body, cursor, is_after_gap: _ } in told {
            if listening.drain.is_cancelled() {
                break;
            }
            let mark = self.mark(cursor);
            match said {
                Ok(Some(event)) => {
                    let event = (event, Some(&mark));
                    if put(desk, account, event, Instant::now()).await? == Placed::Fenced {
                        return Ok(false);
                    }
                }
                Ok(None) => {}
                Err(unreadable) => quarantine(desk, unreadable, &body).await?,
            }
            last = Some(mark);
        }
        // What was refused, or said nothing, stored no cursor.
        let Some(mark) = last else { return Ok(true) };
        let (operator, bot) = (account.bot.operator, account.bot.id);
        let is_ours = desk.inbox.store().move_cursor(operator, bot, &mark).await?;
        self.cursor = Some(mark.cursor);
        Ok(is_ours)
    }
}
