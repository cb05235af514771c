//! Manages the sockets of a bot: one, or several if the bot is in very many servers.
//!
//! The cursor contains the number of sockets. If Discord requires more, all sessions begin anew.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::{join_all, select_all};
use nightdesk_port::{Bot, Heard, ListenError};
use serde::Deserialize;

use super::course::{Course, Fatal};
use super::cursor::{Cursor, Cursors};
use super::driver::{Driver, Hands, Shard};
use super::ear::{Ear, Silence};
use super::talk::Told;
use crate::Discord;
use crate::api::Call;

/// Maximum sockets of one bot. Each serves up to 2,500 servers.
const SOCKETS_MAX: usize = 64;

#[derive(Deserialize)]
struct Gateway {
    shards: usize,
}

/// Waits for an event on any socket, and returns the events of all sockets that are not stored.
pub(super) async fn hear(ears: &[Arc<Ear>]) -> Result<Vec<(usize, Arc<Told>)>, Silence> {
    let (first, _, _) = select_all(ears.iter().map(|ear| ear.hear().boxed())).await;
    first?;
    let mut told = Vec::new();
    for (at, ear) in ears.iter().enumerate() {
        told.extend(ear.unstored().await.into_iter().map(|told| (at, told)));
    }
    Ok(told)
}

impl Discord {
    /// Returns the bot's sockets. A socket that does not continue at its cursor is replaced.
    pub(super) async fn sockets(&self, bot: &Bot, cursors: &Cursors) -> Vec<Arc<Ear>> {
        let mut open = self.ears.open().remove(&bot.id).unwrap_or_default();
        if open.len() != cursors.0.len() {
            goodbye(std::mem::take(&mut open)).await;
        }
        let mut open = open.into_iter();
        let mut ears = Vec::with_capacity(cursors.0.len());
        for (at, cursor) in cursors.0.iter().enumerate() {
            let shard = Shard { at, of: cursors.0.len() };
            ears.push(self.socket(bot, shard, open.next(), cursor.as_ref()).await);
        }
        self.ears.open().insert(bot.id, ears.clone());
        ears
    }

    async fn socket(
        &self,
        bot: &Bot,
        shard: Shard,
        open: Option<Arc<Ear>>,
        cursor: Option<&Cursor>,
    ) -> Arc<Ear> {
        if let Some(ear) = open {
            if ear.is_of(bot) && ear.goes_on_after(cursor).await {
                return ear;
            }
            ear.leave().await;
        }
        let (ear, ends) = Ear::open(bot, cursor.cloned());
        let Hands { dialler, .. } = &self.hands;
        // If Discord required more sockets, earlier sessions delivered events.
        let is_after_others = self.ears.wanted(bot.id).is_some();
        let course = Course::new(dialler.main().to_owned(), cursor.cloned(), is_after_others);
        let driver = Driver::new(bot.clone(), shard, course, ends, self.hands.clone());
        self.ears.spawn(driver.run());
        ear
    }

    /// Disconnects all sockets of a bot.
    pub(super) async fn hang_up(&self, bot: &Bot) {
        let ears = self.ears.open().remove(&bot.id);
        goodbye(ears.unwrap_or_default()).await;
    }

    /// Handles the end of a socket's events.
    pub(super) async fn silent(
        &self,
        bot: &Bot,
        sockets: usize,
        silence: Silence,
    ) -> Result<Vec<Heard>, ListenError> {
        self.hang_up(bot).await;
        match silence {
            // The socket closed because the desk did not listen for a while. It is dialled again.
            Silence::Left => Ok(Vec::new()),
            Silence::Fatal(Fatal::TooFewSockets) if self.wants_more(bot, sockets).await? => {
                Ok(Vec::new())
            }
            Silence::Fatal(why) => {
                self.ears.shut_up(bot, why, self.clock.moment());
                Err(why.into())
            }
        }
    }

    /// Requests the number of sockets that Discord requires. Returns true if the adapter can open as many.
    async fn wants_more(&self, bot: &Bot, sockets: usize) -> Result<bool, ListenError> {
        let Gateway { shards } = self.api.call(bot, Call::get("gateway/bot".to_owned())).await?;
        let is_possible = shards > sockets && shards <= SOCKETS_MAX;
        if is_possible {
            tracing::info!(bot.id = %bot.id, "bot {} now receives its events over {shards} sockets", bot.id);
            self.ears.want(bot.id, shards);
        }
        Ok(is_possible)
    }
}

/// Disconnects all of them at once.
async fn goodbye(ears: Vec<Arc<Ear>>) {
    join_all(ears.iter().map(|ear| ear.leave())).await;
}
