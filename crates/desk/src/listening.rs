//! Listening: platforms that tell nothing by themselves are asked, each bot by the node that owns it.
//!
//! # Promise
//!
//! What was heard is put into inboxes with the cursor after it, in order and some of it at a time, and the
//! platform is asked for more only when all of it was dealt with: so a platform that forgets what it was
//! asked beyond loses nothing of ours. Of two nodes that listen, the store believes the one that began later. A bot
//! that hears nothing for three minutes is deaf, and its operator is told (`hearing.rs`).

use std::collections::HashSet;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nightdesk_intake::Told;
use nightdesk_port::{Bot, Listen, ListenError};
use nightdesk_types::limits::{
    ASKED_FOR_KEPT_FOR, HANG_UP_WAIT, HEARING_LOOK_EVERY, LISTEN_EVERY, LISTENING_LOOK_EVERY,
};
use nightdesk_types::planted::crash_point;
use nightdesk_types::{BotId, StoreError};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::Desk;
use crate::accounts::store_error;
use crate::hearing::Noted;
use crate::sweep::every;

mod gap;
mod patience;
mod posts;
mod source;

use patience::Patience;
use source::Source;

/// What is lost when nobody asked for longer than a platform keeps it.
const LOST: &str = "nobody asked for a day, and its platform keeps nothing longer";

/// Why a bot was not listened for.
#[derive(Debug, thiserror::Error)]
enum Unheard {
    #[error("could not hear")]
    Platform(#[from] ListenError),
    #[error("could not keep what was heard")]
    Store(#[from] StoreError),
}

impl Unheard {
    /// Why, in words. What is the store's fault cannot be written down there either.
    fn words(&self) -> Option<String> {
        match self {
            Self::Platform(error) => Some(error.to_string()),
            Self::Store(_) => None,
        }
    }
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
        if !listening.is_heard(bot) && desk.egress.takes(bot).await? && listening.begin(bot) {
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
        crash_point("K16");
        let (mut patience, mut noted) = (Patience::default(), Noted::default());
        while let Err(error) = self.hear_on(bot, &mut patience, &mut noted).await {
            let span = patience.after(&error);
            tracing::warn!(
                bot.id = %bot,
                error = &error as &dyn Error,
                "bot {bot} hears nothing; it is tried again in {} s", span.as_secs()
            );
            self.rest(bot, span, error.words().as_deref(), &mut noted).await;
        }
        self.leave(bot).await;
    }

    /// Hangs up, so that whoever listens next can go on at once.
    async fn leave(&self, bot: BotId) {
        let Ok(Some(account)) = self.desk.accounts.of(bot).await else { return };
        if let Some(ear) = account.platform.ear(&account.bot) {
            // Who does not hang up in time is taken over from as if it had died.
            drop(timeout(HANG_UP_WAIT, ear.leave(&account.bot)).await);
        }
    }

    /// Waits, and notes meanwhile why nothing is heard.
    async fn rest(&self, bot: BotId, span: Duration, why: Option<&str>, noted: &mut Noted) {
        let until = Instant::now() + span;
        while Instant::now() < until && !self.drain.is_cancelled() {
            if let (Some(why), Ok(Some(account))) = (why, self.desk.accounts.of(bot).await) {
                noted.unheard(&self.desk, &account.bot, why).await;
            }
            let left = until.saturating_duration_since(Instant::now()).min(HEARING_LOOK_EVERY);
            // Either way it is time to look again.
            drop(timeout(left, self.drain.cancelled()).await);
        }
    }

    /// The same, until something goes wrong.
    async fn hear_on(
        &self,
        bot: BotId,
        patience: &mut Patience,
        noted: &mut Noted,
    ) -> Result<(), Unheard> {
        let mut source: Option<Source> = None;
        while !self.drain.is_cancelled() && self.desk.egress.owns(bot).await? {
            // Its key may have been replaced.
            let account = self.desk.accounts.of(bot).await.map_err(store_error)?;
            let Some(account) = account else { return Ok(()) };
            let (ear, probe) =
                (account.platform.ear(&account.bot), account.platform.probe(&account.bot));
            let Some(ear) = ear else {
                let Some(probe) = probe else { return Ok(()) };
                self.probe((probe, &account), noted).await?;
                patience.heard();
                continue;
            };
            let mut reading = match source.take() {
                Some(reading) => reading,
                None => Source::take(&self.desk, &account, ear.source()).await?,
            };
            let cursor = reading.cursor.as_deref();
            let told = heard(ear, &account.bot, cursor);
            let Some(told) = self.drain.run_until_cancelled(told).await else { return Ok(()) };
            let told = (told?, patience.is_at_its_end());
            if !reading.read(self, (&account, ear), told).await? {
                return Ok(());
            }
            patience.heard();
            noted.heard(&self.desk, &account.bot, (ASKED_FOR_KEPT_FOR, LOST)).await?;
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
    let asked_at = Instant::now();
    let told = nightdesk_intake::listen(ear, bot, cursor).await?;
    if told.is_empty() {
        sleep_until(asked_at + LISTEN_EVERY).await;
    }
    Ok(told)
}
