//! Manages the sockets of a bot: one, or several if the bot is in very many servers.
//!
//! The cursor contains the number of sockets. If Discord requires more, all sessions begin anew.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::{join_all, select_all};
use nightdesk_port::{Bot, ListenError, PlatformEvent};
use serde::Deserialize;

use super::cursor::{SessionCursor, SocketCursors};
use super::driver::{Shard, ShardDriver};
use super::listener::{ListenEnd, SocketListener};
use super::reconnect::{FatalClose, ReconnectState};
use super::session::DispatchEvent;
use crate::Discord;
use crate::api::ApiCall;

/// Maximum sockets of one bot. Each serves up to 2,500 servers.
const SOCKETS_MAX: usize = 64;

#[derive(Deserialize)]
struct GatewayShards {
    shards: usize,
}

/// Waits for an event on any socket, and returns the events of all sockets that are not stored.
pub(super) async fn wait_for_events(
    ears: &[Arc<SocketListener>],
) -> Result<Vec<(usize, Arc<DispatchEvent>)>, ListenEnd> {
    let (first, _, _) = select_all(ears.iter().map(|ear| ear.wait_for_event().boxed())).await;
    first?;
    let mut told = Vec::new();
    for (at, ear) in ears.iter().enumerate() {
        told.extend(ear.unstored_events().await.into_iter().map(|told| (at, told)));
    }
    Ok(told)
}

impl Discord {
    /// Returns the bot's sockets. A socket that does not continue at its cursor is replaced.
    pub(super) async fn open_sockets(
        &self,
        bot: &Bot,
        cursors: &SocketCursors,
    ) -> Vec<Arc<SocketListener>> {
        let mut open = self.sockets.lock_open().remove(&bot.id).unwrap_or_default();
        if open.len() != cursors.0.len() {
            disconnect_all(std::mem::take(&mut open)).await;
        }
        let mut open = open.into_iter();
        let mut ears = Vec::with_capacity(cursors.0.len());
        for (at, cursor) in cursors.0.iter().enumerate() {
            let shard = Shard { at, of: cursors.0.len() };
            ears.push(self.open_socket(bot, shard, open.next(), cursor.as_ref()).await);
        }
        self.sockets.lock_open().insert(bot.id, ears.clone());
        ears
    }

    async fn open_socket(
        &self,
        bot: &Bot,
        shard: Shard,
        open: Option<Arc<SocketListener>>,
        cursor: Option<&SessionCursor>,
    ) -> Arc<SocketListener> {
        if let Some(ear) = open {
            if ear.has_current_key(bot) && ear.continues_at(cursor).await {
                return ear;
            }
            ear.leave().await;
        }
        let (ear, ends) = SocketListener::open(bot, cursor.cloned());
        // If Discord required more sockets, earlier sessions delivered events.
        let is_after_others = self.sockets.wanted_sockets(bot.id).is_some();
        let course = ReconnectState::new(
            self.driver_context.main_url.clone(),
            cursor.cloned(),
            is_after_others,
        );
        let driver =
            ShardDriver::new(bot.clone(), shard, course, ends, self.driver_context.clone());
        self.sockets.spawn(driver.run());
        ear
    }

    /// Disconnects all sockets of a bot.
    pub(super) async fn hang_up(&self, bot: &Bot) {
        let ears = self.sockets.lock_open().remove(&bot.id);
        disconnect_all(ears.unwrap_or_default()).await;
    }

    /// Handles the end of a socket's events.
    pub(super) async fn handle_listen_end(
        &self,
        bot: &Bot,
        sockets: usize,
        silence: ListenEnd,
    ) -> Result<Vec<PlatformEvent>, ListenError> {
        self.hang_up(bot).await;
        match silence {
            // The socket closed because the desk did not listen for a while. It is dialled again.
            ListenEnd::Left => Ok(Vec::new()),
            ListenEnd::Fatal(FatalClose::TooFewSockets)
                if self.request_socket_count(bot, sockets).await? =>
            {
                Ok(Vec::new())
            }
            ListenEnd::Fatal(why) => {
                self.sockets.record_refusal(bot, why, self.clock.moment());
                Err(why.into())
            }
        }
    }

    /// Requests the number of sockets that Discord requires. Returns true if the adapter can open as many.
    async fn request_socket_count(&self, bot: &Bot, sockets: usize) -> Result<bool, ListenError> {
        let GatewayShards { shards } =
            self.api.call(bot, ApiCall::get("gateway/bot".to_owned())).await?;
        let is_possible = shards > sockets && shards <= SOCKETS_MAX;
        if is_possible {
            tracing::info!(bot.id = %bot.id, "bot {} now receives its events over {shards} sockets", bot.id);
            self.sockets.set_wanted_sockets(bot.id, shards);
        }
        Ok(is_possible)
    }
}

/// Disconnects all of them at once.
async fn disconnect_all(ears: Vec<Arc<SocketListener>>) {
    join_all(ears.iter().map(|ear| ear.leave())).await;
}
