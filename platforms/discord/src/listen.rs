//! Listen: Discord's gateway, a socket over which it tells what happens.
//!
//! # Promise
//!
//! A cursor is a session and a number in it. Discord is told of no number that was not stored, neither by a
//! heartbeat nor when a session goes on: whatever it makes of that, it replays all that we did not store. What was
//! told and not stored is told again. Where a session is lost, the next event says that something may be
//! missing.
//!
//! A task of ours reads the socket, since heartbeats must go on while the desk stores; it reads a few
//! events ahead and no more. (A library would confirm whatever it has read, take frames of any
//! size, wait for a greeting without an end, and try to go on with a session that was declared dead.)

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_port::{After, Bot, Budget, Heard, Listen, ListenError};
use nightdesk_types::{BotId, Moment};
use nightdesk_vault::Key;
use tokio::task::JoinSet;

use crate::Discord;

mod backfill;
mod course;
mod cursor;
mod dial;
mod driver;
mod ear;
#[cfg(feature = "fuzz")]
pub(crate) mod fuzz;
mod heard;
mod socket;
mod talk;

pub(crate) use dial::Dialler;

use course::Fatal;
use cursor::Cursor;
use driver::Driver;
use ear::{Ear, Silence};

/// After Discord said that a bot may not listen, it is left alone for this long: each time it is asked counts, and who
/// asks too often loses the key. Another key is tried at once.
const FATAL_AGAIN: Duration = Duration::from_mins(15);

/// The sockets of all bots.
#[derive(Default)]
pub(crate) struct Ears {
    open: Mutex<HashMap<BotId, Arc<Ear>>>,
    shut: Mutex<HashMap<BotId, Shut>>,
    /// They end with us.
    tasks: Mutex<JoinSet<()>>,
}

/// A bot that may not listen.
struct Shut {
    key: Option<Key>,
    why: Fatal,
    until: Moment,
}

impl Ears {
    fn open(&self) -> MutexGuard<'_, HashMap<BotId, Arc<Ear>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs something that ends with us.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }

    /// Why a bot may not listen at the moment.
    fn shut(&self, bot: &Bot, now: Moment) -> Option<Fatal> {
        let mut shut = self.shut.lock().unwrap_or_else(PoisonError::into_inner);
        let is_over =
            |one: &Shut| one.until.since(now).is_zero() || !is_same(one.key.as_ref(), bot);
        if shut.get(&bot.id).is_some_and(is_over) {
            shut.remove(&bot.id);
        }
        shut.get(&bot.id).map(|one| one.why)
    }

    fn shut_up(&self, bot: &Bot, why: Fatal, now: Moment) {
        let one = Shut { key: bot.key.clone(), why, until: now + FATAL_AGAIN };
        self.shut.lock().unwrap_or_else(PoisonError::into_inner).insert(bot.id, one);
    }
}

fn is_same(key: Option<&Key>, bot: &Bot) -> bool {
    match (key, bot.key.as_ref()) {
        (Some(one), Some(other)) => one.with(|one| other.with(|other| one == other)),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

#[async_trait]
impl Listen for Discord {
    fn source(&self) -> &'static str {
        "gateway"
    }

    async fn listen(&self, bot: &Bot, cursor: Option<&str>) -> Result<Vec<Heard>, ListenError> {
        if bot.key.is_none() {
            return Err(ListenError::KeyRejected);
        }
        if let Some(why) = self.ears.shut(bot, self.clock.moment()) {
            return Err(why.into());
        }
        let cursor = cursor.and_then(Cursor::read);
        let ear = self.ear(bot, cursor.clone()).await;
        let stored = ear.stored(cursor.as_ref()).await;
        self.defer(bot, &stored);
        match ear.hear().await {
            Ok(told) => self.heard(bot, &ear, &told).await,
            Err(silence) => {
                self.ears.open().remove(&bot.id);
                match silence {
                    // Nobody listened for a while, so it hung up. It is dialled again.
                    Silence::Left => Ok(Vec::new()),
                    Silence::Fatal(why) => {
                        self.ears.shut_up(bot, why, self.clock.moment());
                        Err(why.into())
                    }
                }
            }
        }
    }

    async fn backfill(
        &self,
        bot: &Bot,
        channel: &str,
        after: After<'_>,
    ) -> Result<Vec<Heard>, ListenError> {
        self.fetch_after(bot, channel, after).await
    }

    async fn leave(&self, bot: &Bot) {
        let ear = self.ears.open().remove(&bot.id);
        if let Some(ear) = ear {
            ear.leave().await;
        }
    }
}

impl Discord {
    /// The bot's socket, if it goes on after the cursor; else another one.
    async fn ear(&self, bot: &Bot, cursor: Option<Cursor>) -> Arc<Ear> {
        let open = self.ears.open().get(&bot.id).cloned();
        if let Some(ear) = open {
            if ear.is_of(bot) && ear.goes_on_after(cursor.as_ref()).await {
                return ear;
            }
            ear.leave().await;
        }
        let (ear, driver) = self.begin(bot, cursor);
        self.ears.open().insert(bot.id, Arc::clone(&ear));
        self.ears.spawn(driver.run());
        ear
    }

    fn begin(&self, bot: &Bot, cursor: Option<Cursor>) -> (Arc<Ear>, Driver) {
        let (ear, ends) = Ear::open(bot, cursor.clone());
        let budget: Arc<dyn Budget> = Arc::clone(&self.budget);
        (ear, Driver::new(bot.clone(), cursor, ends, (Arc::clone(&self.dialler), budget)))
    }
}

#[cfg(test)]
mod tests;
