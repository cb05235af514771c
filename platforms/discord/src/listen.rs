//! Reads events from Discord's gateway over a WebSocket.
//!
//! # Promise
//!
//! A cursor is a session and a sequence number in it. Neither a heartbeat nor a resume confirms a number whose event is
//! not stored, so Discord replays every event that was not stored, however it uses the number. If a session is lost,
//! the next event reports that events may be missing.
//!
//! A separate task reads the socket, because heartbeats must continue while the desk stores events; it reads only a few
//! events ahead. (A library would confirm every event that it has read, accept frames of any size, wait for a hello
//! without a limit, and try to resume a session that Discord declared invalid.)

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_port::{Bot, HistoryRange, Listen, ListenError, PlatformEvent};
use nightdesk_types::{BotId, Moment};
use nightdesk_vault::Key;
use tokio::task::JoinSet;

use crate::Discord;

mod backfill;
mod reconnect;
mod cursor;
mod driver;
mod listener;
#[cfg(feature = "fuzz")]
pub(crate) mod fuzz;
mod dispatch;
mod sockets;
mod session;
mod turns;

pub(crate) use driver::DriverContext;

use cursor::SocketCursors;
use listener::SocketListener;
use reconnect::FatalClose;

/// Pause after Discord refused a bot. Discord counts every attempt and revokes the key after too many. A changed key is
/// tried at once.
const FATAL_AGAIN: Duration = Duration::from_mins(15);

/// The sockets of all bots.
#[derive(Default)]
pub(crate) struct GatewaySockets {
    open: Mutex<HashMap<BotId, Vec<Arc<SocketListener>>>>,
    shut: Mutex<HashMap<BotId, RefusedBot>>,
    /// Number of sockets that Discord requires for a bot, if it reported one.
    wanted: Mutex<HashMap<BotId, usize>>,
    /// Tasks that end with the adapter.
    tasks: Mutex<JoinSet<()>>,
}

/// A bot that Discord refused.
struct RefusedBot {
    key: Option<Key>,
    why: FatalClose,
    until: Moment,
}

impl GatewaySockets {
    fn lock_open(&self) -> MutexGuard<'_, HashMap<BotId, Vec<Arc<SocketListener>>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Spawns a task that ends with the adapter.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }

    fn wanted_sockets(&self, bot: BotId) -> Option<usize> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner).get(&bot).copied()
    }

    fn set_wanted_sockets(&self, bot: BotId, sockets: usize) {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner).insert(bot, sockets);
    }

    /// Returns the reason why a bot may not listen now.
    fn refusal_of(&self, bot: &Bot, now: Moment) -> Option<FatalClose> {
        let mut shut = self.shut.lock().unwrap_or_else(PoisonError::into_inner);
        let is_over = |one: &RefusedBot| {
            one.until.since(now).is_zero() || !is_current_key(one.key.as_ref(), bot)
        };
        if shut.get(&bot.id).is_some_and(is_over) {
            shut.remove(&bot.id);
        }
        shut.get(&bot.id).map(|one| one.why)
    }

    fn record_refusal(&self, bot: &Bot, why: FatalClose, now: Moment) {
        let one = RefusedBot { key: bot.key.clone(), why, until: now + FATAL_AGAIN };
        self.shut.lock().unwrap_or_else(PoisonError::into_inner).insert(bot.id, one);
    }
}

fn is_current_key(key: Option<&Key>, bot: &Bot) -> bool {
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

    async fn listen(
        &self,
        bot: &Bot,
        cursor: Option<&str>,
    ) -> Result<Vec<PlatformEvent>, ListenError> {
        if bot.key.is_none() {
            return Err(ListenError::KeyRejected);
        }
        if let Some(why) = self.sockets.refusal_of(bot, self.clock.moment()) {
            return Err(why.into());
        }
        let cursors = self.resume_cursors(bot, cursor);
        let ears = self.open_sockets(bot, &cursors).await;
        for (ear, cursor) in ears.iter().zip(&cursors.0) {
            self.confirm_interactions(bot, &ear.confirm_stored(cursor.as_ref()).await);
        }
        match sockets::wait_for_events(&ears).await {
            Ok(told) => self.convert_dispatches(bot, &ears, cursors, told).await,
            Err(silence) => self.handle_listen_end(bot, ears.len(), silence).await,
        }
    }

    async fn backfill(
        &self,
        bot: &Bot,
        channel: &str,
        part: HistoryRange<'_>,
    ) -> Result<Vec<PlatformEvent>, ListenError> {
        self.fetch_history(bot, channel, part).await
    }

    async fn leave(&self, bot: &Bot) {
        self.hang_up(bot).await;
    }
}

impl Discord {
    /// Returns the positions to resume at. If the number of sockets grew, all sessions begin anew.
    fn resume_cursors(&self, bot: &Bot, stored: Option<&str>) -> SocketCursors {
        let stored = SocketCursors::parse(stored);
        match self.sockets.wanted_sockets(bot.id) {
            Some(sockets) if sockets > stored.0.len() => SocketCursors::new(sockets),
            Some(_) | None => stored,
        }
    }
}

#[cfg(test)]
mod tests;
