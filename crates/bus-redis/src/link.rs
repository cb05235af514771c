//! Maintains the connection of the bell and detects its breaks.
//!
//! The node publishes a heartbeat every [`BEAT_EVERY`] and waits for its own: it takes the whole path of a hint, so its
//! absence shows any break.

use std::error::Error;

use nightdesk_bus::{Address, spread};
use nightdesk_types::backoff::Backoff;
use nightdesk_types::limits::{
    BEAT_EVERY, BEAT_MISSED_AFTER, BELL_AGAIN_MAX, BELL_AGAIN_MIN, BELL_TOLD_EVERY, RING_WAIT,
};
use redis::RedisError;
use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;

use crate::bell::RedisBell;
use crate::connect::{Pushes, connect};
use crate::follow::Following;
use crate::note::Note;
use crate::voice::Unsaid;

/// The cause of a break.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Broken {
    #[error("could not connect to Redis")]
    Connect(#[source] RedisError),
    #[error("could not subscribe in Redis")]
    Follow(#[source] RedisError),
    #[error("the connection to Redis was lost")]
    Lost,
    #[error("Redis does not respond")]
    Silent,
    #[error("node {0} does not respond")]
    NodeSilent(String),
}

impl RedisBell {
    /// Runs the bell until this node stops.
    pub async fn run(&self, until: &CancellationToken) {
        let again = Backoff { first: BELL_AGAIN_MIN, max: BELL_AGAIN_MAX };
        let mut breaks: u32 = 1;
        while let Some(broken) = until.run_until_cancelled(self.live()).await {
            let was_heard = self.state().heard_itself.take().is_some();
            breaks = if was_heard { 1 } else { breaks.saturating_add(1) };
            self.voice.connect(None);
            self.broke(&broken);
            until.run_until_cancelled(sleep(spread(again.after(breaks)))).await;
        }
        self.say_bye().await;
    }

    /// Connects, and runs until the connection breaks.
    async fn live(&self) -> Broken {
        let (connection, pushes) = match connect(&self.client, &self.ears).await {
            Ok(connected) => connected,
            Err(error) => return Broken::Connect(error),
        };
        let following = match Following::begin(self, connection.clone()).await {
            Ok(following) => following,
            Err(error) => return Broken::Follow(error),
        };
        self.state().peers.listen_again(self.clock.moment());
        self.voice.connect(Some(connection));
        tokio::select! {
            broken = self.listen(pushes) => broken,
            error = following.keep_up() => Broken::Follow(error),
            broken = self.beat() => broken,
        }
    }

    async fn listen(&self, mut pushes: Pushes) -> Broken {
        while let Some(Some(hint)) = pushes.lost.run_until_cancelled(pushes.hints.recv()).await {
            self.hear(&hint).await;
        }
        Broken::Lost
    }

    async fn beat(&self) -> Broken {
        let began = self.clock.moment();
        let mut beats = interval(BEAT_EVERY);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            beats.tick().await;
            if let Err(Unsaid::Failed(_) | Unsaid::Unconnected) = self.say_beat().await {
                return Broken::Lost;
            }
            let now = self.clock.moment();
            let heard = self.state().heard_itself;
            if now.since(heard.unwrap_or(began)) > BEAT_MISSED_AFTER {
                return Broken::Silent;
            }
            if heard.is_some() {
                self.judge_others();
            }
        }
    }

    async fn say_beat(&self) -> Result<(), Unsaid> {
        let beat = Note::Beat { node: self.node.clone(), missed: self.voice.missed() };
        let Some((channel, sealed)) = self.sealed(&beat, &Address::All) else { return Ok(()) };
        self.voice.say(&channel, &sealed, BEAT_EVERY).await.map(drop)
    }

    async fn say_bye(&self) {
        let bye = Note::Bye { node: self.node.clone() };
        if let Some((channel, sealed)) = self.sealed(&bye, &Address::All) {
            // If it is lost, the other nodes check their lines for a while.
            drop(self.voice.say(&channel, &sealed, RING_WAIT).await);
        }
    }

    /// Records that the node received its own heartbeat: so do the others.
    pub(crate) fn is_heard(&self) {
        let first = self.state().heard_itself.replace(self.clock.moment()).is_none();
        self.voice.clear();
        if first {
            self.judge_others();
        }
    }

    fn judge_others(&self) {
        let missing = self.state().peers.missing(self.clock.moment()).map(str::to_owned);
        match missing {
            Some(node) => self.broke(&Broken::NodeSilent(node)),
            None => self.mended(),
        }
    }

    /// Puts all lines in doubt, and logs the break unless one was logged just now.
    fn broke(&self, why: &Broken) {
        self.ears.doubt().set_broken(true);
        let now = self.clock.moment();
        let mut state = self.state();
        if state.broken_since.is_none() {
            state.broken_since = Some(now);
            self.metrics.broke(self.clock.now().as_second());
        }
        if state.told.is_some_and(|told| now.since(told) < BELL_TOLD_EVERY) {
            return;
        }
        state.told = Some(now);
        drop(state);
        tracing::warn!(
            error = why as &dyn Error,
            "the bell between nodes is broken: {why}; the inboxes of all open lines are checked every 2 s"
        );
    }

    fn mended(&self) {
        self.ears.doubt().set_broken(false);
        let since = self.state().broken_since.take();
        let Some(since) = since else { return };
        self.metrics.mended();
        let lasted = self.clock.moment().since(since);
        tracing::info!(
            bell.broken_ms = u64::try_from(lasted.as_millis()).unwrap_or(u64::MAX),
            "the bell between nodes works again after {:.1} s",
            lasted.as_secs_f64()
        );
    }
}
