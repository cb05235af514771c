//! Sockets: a bot has one, unless it is in so many servers that Discord tells it over several.
//!
//! How many these are, its cursor says. When Discord wants more, it is asked how many, and all begin anew.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{join_all, select_all};
use nightdesk_port::{Bot, Heard, ListenError};
use nightdesk_types::BotId;
use serde::Deserialize;
use tokio::time::Instant;

use super::course::{Course, Fatal, IDENTIFY_EVERY};
use super::cursor::{Cursor, Cursors};
use super::driver::{Driver, Hands, Shard};
use super::ear::{Ear, Silence};
use super::heard::unheard;
use super::talk::Told;
use crate::Discord;
use crate::api::Call;

/// Sockets of one bot. Each is told of up to 2,500 servers.
const SOCKETS_MAX: usize = 64;

/// When each bot may begin its next session: Discord wants a while between two.
#[derive(Default)]
pub(crate) struct Turns(Mutex<HashMap<BotId, Instant>>);

impl Turns {
    /// Takes the next turn. Answers how long it is until then.
    pub(super) fn next(&self, bot: BotId) -> Duration {
        let now = Instant::now();
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Whose turn is over may begin at once, known or not.
        turns.retain(|_, next| *next > now);
        let mine = turns.get(&bot).copied().unwrap_or(now);
        turns.insert(bot, mine + IDENTIFY_EVERY);
        mine - now
    }
}

#[derive(Deserialize)]
struct Gateway {
    shards: usize,
}

/// What was told on any of them and is not stored, once there is something on one.
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
    /// The bot's sockets, each as it is if it goes on after its cursor; else another one.
    pub(super) async fn sockets(&self, bot: &Bot, cursors: &Cursors) -> Vec<Arc<Ear>> {
        let mut open = self.ears.open().remove(&bot.id).unwrap_or_default();
        if open.len() != cursors.0.len() {
            goodbye(std::mem::take(&mut open)).await;
        }
        let mut open = open.into_iter();
        let mut ears = Vec::with_capacity(cursors.0.len());
        for (at, cursor) in cursors.0.iter().enumerate() {
            let shard = Shard { at, of: cursors.0.len() };
            ears.push(self.socket((bot, shard), open.next(), cursor.as_ref()).await);
        }
        self.ears.open().insert(bot.id, ears.clone());
        ears
    }

    async fn socket(
        &self,
        (bot, shard): (&Bot, Shard),
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
        // Where there were fewer, something was told before.
        let is_after_others = self.ears.wanted(bot.id).is_some();
        let course = Course::new(dialler.main().to_owned(), cursor.cloned(), is_after_others);
        let driver = Driver::new((bot.clone(), shard), course, ends, self.hands.clone());
        self.ears.spawn(driver.run());
        ear
    }

    /// Hangs up on all of a bot's sockets.
    pub(super) async fn hang_up(&self, bot: &Bot) {
        let ears = self.ears.open().remove(&bot.id);
        goodbye(ears.unwrap_or_default()).await;
    }

    /// What it means that a bot hears nothing any more.
    pub(super) async fn silent(
        &self,
        bot: &Bot,
        sockets: usize,
        silence: Silence,
    ) -> Result<Vec<Heard>, ListenError> {
        self.hang_up(bot).await;
        match silence {
            // Nobody listened for a while, so it hung up. It is dialled again.
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

    /// Asks over how many sockets a bot is to be told. Answers whether it can have as many.
    async fn wants_more(&self, bot: &Bot, sockets: usize) -> Result<bool, ListenError> {
        let asked = self.api.call(bot, Call::get("gateway/bot".to_owned())).await;
        let Gateway { shards } = asked.map_err(unheard)?;
        let is_possible = shards > sockets && shards <= SOCKETS_MAX;
        if is_possible {
            tracing::info!(bot.id = %bot.id, "Discord tells bot {} over {shards} sockets now", bot.id);
            self.ears.want(bot.id, shards);
        }
        Ok(is_possible)
    }
}

/// Says goodbye on all of them at once.
async fn goodbye(ears: Vec<Arc<Ear>>) {
    join_all(ears.iter().map(|ear| ear.leave())).await;
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_sockets_of_a_bot_begin_one_after_the_other() {
        let (turns, bot) = (Turns::default(), BotId::from_uuid(Uuid::from_u128(1)));
        assert_eq!(turns.next(bot), Duration::ZERO);
        assert_eq!(turns.next(bot), IDENTIFY_EVERY);
        assert_eq!(turns.next(bot), IDENTIFY_EVERY * 2);
        assert_eq!(turns.next(BotId::from_uuid(Uuid::from_u128(2))), Duration::ZERO);
        tokio::time::advance(IDENTIFY_EVERY * 3).await;
        assert_eq!(turns.next(bot), Duration::ZERO, "long ago");
    }
}
