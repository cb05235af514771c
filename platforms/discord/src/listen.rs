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
use nightdesk_port::{Bot, Heard, Listen, ListenError, Part};
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
mod sockets;
mod talk;

pub(crate) use dial::Dialler;
pub(crate) use driver::Hands;

use course::Fatal;
use cursor::Cursors;
use ear::Ear;

/// After Discord said that a bot may not listen, it is left alone for this long: each time it is asked counts, and who
/// asks too often loses the key. Another key is tried at once.
const FATAL_AGAIN: Duration = Duration::from_mins(15);

/// The sockets of all bots.
#[derive(Default)]
pub(crate) struct Ears {
    open: Mutex<HashMap<BotId, Vec<Arc<Ear>>>>,
    shut: Mutex<HashMap<BotId, Shut>>,
    /// Over how many sockets Discord wants to tell bots, where it said so.
    wanted: Mutex<HashMap<BotId, usize>>,
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
    fn open(&self) -> MutexGuard<'_, HashMap<BotId, Vec<Arc<Ear>>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs something that ends with us.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }

    fn wanted(&self, bot: BotId) -> Option<usize> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner).get(&bot).copied()
    }

    fn want(&self, bot: BotId, sockets: usize) {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner).insert(bot, sockets);
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
        let cursors = self.cursors(bot, cursor);
        let ears = self.sockets(bot, &cursors).await;
        for (ear, cursor) in ears.iter().zip(&cursors.0) {
            self.defer(bot, &ear.stored(cursor.as_ref()).await);
        }
        match sockets::hear(&ears).await {
            Ok(told) => self.heard(bot, (&ears, cursors), told).await,
            Err(silence) => self.silent(bot, ears.len(), silence).await,
        }
    }

    async fn backfill(
        &self,
        bot: &Bot,
        channel: &str,
        part: Part<'_>,
    ) -> Result<Vec<Heard>, ListenError> {
        self.fetch_part(bot, channel, part).await
    }

    async fn leave(&self, bot: &Bot) {
        self.hang_up(bot).await;
    }
}

impl Discord {
    /// Where to go on. On more sockets than before, everything begins anew.
    fn cursors(&self, bot: &Bot, stored: Option<&str>) -> Cursors {
        let stored = Cursors::read(stored);
        match self.ears.wanted(bot.id) {
            Some(sockets) if sockets > stored.0.len() => Cursors::new(sockets),
            Some(_) | None => stored,
        }
    }
}

#[cfg(test)]
mod tests;
