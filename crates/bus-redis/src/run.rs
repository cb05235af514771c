//! Maintains the connection of the bell and detects its breaks.
//!
//! The node publishes a heartbeat every [`BEAT_EVERY`] and waits for its own: it takes the whole path of a hint, so its
//! absence shows any break.

use std::error::Error;

use nightdesk_bus::{BellAddress, spread};
use nightdesk_types::backoff::Backoff;
use nightdesk_types::limits::{
    BEAT_EVERY, BEAT_MISSED_AFTER, BELL_AGAIN_MAX, BELL_AGAIN_MIN, BELL_TOLD_EVERY, RING_WAIT,
};
use redis::RedisError;
use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;

use crate::bell::RedisBell;
use crate::connect::{Pushes, connect};
use crate::note::BellNote;
use crate::publisher::PublishError;
use crate::subscriptions::Subscriptions;

/// The cause of a break.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BreakCause {
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
        while let Some(broken) = until.run_until_cancelled(self.run_connection()).await {
            let was_heard = self.lock_state().own_heartbeat_at.take().is_some();
            breaks = if was_heard { 1 } else { breaks.saturating_add(1) };
            self.publisher.set_connection(None);
            self.record_break(&broken);
            until.run_until_cancelled(sleep(spread(again.after(breaks)))).await;
        }
        self.publish_bye().await;
    }

    /// Connects, and runs until the connection breaks.
    async fn run_connection(&self) -> BreakCause {
        let (connection, pushes) = match connect(&self.client, &self.lines).await {
            Ok(connected) => connected,
            Err(error) => return BreakCause::Connect(error),
        };
        let following = match Subscriptions::subscribe_all(self, connection.clone()).await {
            Ok(following) => following,
            Err(error) => return BreakCause::Follow(error),
        };
        self.lock_state().peers.listen_again(self.clock.moment());
        self.publisher.set_connection(Some(connection));
        tokio::select! {
            broken = self.receive_hints(pushes) => broken,
            error = following.keep_up() => BreakCause::Follow(error),
            broken = self.send_heartbeats() => broken,
        }
    }

    async fn receive_hints(&self, mut pushes: Pushes) -> BreakCause {
        while let Some(Some(hint)) = pushes.lost.run_until_cancelled(pushes.hints.recv()).await {
            self.receive(&hint).await;
        }
        BreakCause::Lost
    }

    async fn send_heartbeats(&self) -> BreakCause {
        let began = self.clock.moment();
        let mut beats = interval(BEAT_EVERY);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            beats.tick().await;
            if let Err(PublishError::Failed(_) | PublishError::Unconnected) =
                self.publish_heartbeat().await
            {
                return BreakCause::Lost;
            }
            let now = self.clock.moment();
            let heard = self.lock_state().own_heartbeat_at;
            if now.since(heard.unwrap_or(began)) > BEAT_MISSED_AFTER {
                return BreakCause::Silent;
            }
            if heard.is_some() {
                self.check_peers();
            }
        }
    }

    async fn publish_heartbeat(&self) -> Result<(), PublishError> {
        let beat =
            BellNote::Beat { node: self.node.clone(), missed: self.publisher.missed_rings() };
        let Some((channel, sealed)) = self.seal_note(&beat, &BellAddress::All) else {
            return Ok(());
        };
        self.publisher.publish(&channel, &sealed, BEAT_EVERY).await.map(drop)
    }

    async fn publish_bye(&self) {
        let bye = BellNote::Bye { node: self.node.clone() };
        if let Some((channel, sealed)) = self.seal_note(&bye, &BellAddress::All) {
            // If it is lost, the other nodes check their lines for a while.
            drop(self.publisher.publish(&channel, &sealed, RING_WAIT).await);
        }
    }

    /// Records that the node received its own heartbeat: so do the others.
    pub(crate) fn record_own_heartbeat(&self) {
        let first = self.lock_state().own_heartbeat_at.replace(self.clock.moment()).is_none();
        self.publisher.mark_clear();
        if first {
            self.check_peers();
        }
    }

    fn check_peers(&self) {
        let missing = self.lock_state().peers.find_missing(self.clock.moment()).map(str::to_owned);
        match missing {
            Some(node) => self.record_break(&BreakCause::NodeSilent(node)),
            None => self.record_recovery(),
        }
    }

    /// Puts all lines in doubt, and logs the break unless one was logged just now.
    fn record_break(&self, why: &BreakCause) {
        self.lines.lines_in_doubt().set_broken(true);
        let now = self.clock.moment();
        let mut state = self.lock_state();
        if state.broken_since.is_none() {
            state.broken_since = Some(now);
            self.metrics.count_break(self.clock.now().as_second());
        }
        if state.logged_at.is_some_and(|told| now.since(told) < BELL_TOLD_EVERY) {
            return;
        }
        state.logged_at = Some(now);
        drop(state);
        tracing::warn!(
            error = why as &dyn Error,
            "the bell between nodes is broken: {why}; the inboxes of all open lines are checked every 2 s"
        );
    }

    fn record_recovery(&self) {
        self.lines.lines_in_doubt().set_broken(false);
        let since = self.lock_state().broken_since.take();
        let Some(since) = since else { return };
        self.metrics.clear_break();
        let lasted = self.clock.moment().since(since);
        tracing::info!(
            bell.broken_ms = u64::try_from(lasted.as_millis()).unwrap_or(u64::MAX),
            "the bell between nodes works again after {:.1} s",
            lasted.as_secs_f64()
        );
    }
}
