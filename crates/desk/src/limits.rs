//! Rate limits of the desk.
//!
//! Each node counts frequent actions by itself, against its share of the rate of all nodes. This needs no call between
//! nodes and never exceeds the configured rate. All nodes count rare actions together where they can; where they
//! cannot, each node uses its share.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use nightdesk_bus::{NoSharedRateLimit, SharedRateLimit};
use nightdesk_gate::{AdmitError, Recipient, Refusal};
use nightdesk_types::limits::{
    AUTHOR_PER_MINUTE, CATALOGUES_PER_MINUTE, COUNTED_MAX, FRAMES_AT_ONCE_SECS, FRAMES_PER_SECOND,
    JOBS_PER_MINUTE, MANAGEMENT_PER_MINUTE, PAIR_PER_SECOND, PROVISIONS_PER_MINUTE,
    SCOPES_PER_HOUR, SEND_TURN_WAIT_MAX, SENDS_PER_SECOND, SHELF_PER_MINUTE, WEBHOOKS_AT_ONCE_SECS,
    WEBHOOKS_PER_SECOND,
};
use nightdesk_types::rate_limit::{Rate, RateLimiter};
use nightdesk_types::{AgentId, BotId, Clock, SystemClock};
use serde::Deserialize;

use crate::visibility_check::GateDecision;

/// An action with a rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LimitedAction {
    /// Webhooks of a bot.
    Webhook,
    /// Messages of an author to an agent.
    Author,
    /// Management calls of an agent.
    Management,
    /// Calls by which an agent's gateways provision themselves or enrol.
    Provision,
    /// Claims and releases of chats and scopes by an agent.
    Scope,
    /// Sends of an agent.
    Send,
    /// Requests of an agent about its jobs.
    Job,
    /// Requests of an agent about skills and data.
    Shelf,
    /// Letters of one agent to another.
    Letter,
    /// Skill catalogues for an agent.
    Catalogue,
}

/// The limits that an operator may raise.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RateSettings {
    /// Webhooks of one bot per second. The desk asks the platform to retry the excess.
    pub webhooks_per_second: NonZeroU32,
    /// Messages of one author to one agent per minute. The excess is refused and wakes no agent.
    pub author_per_minute: NonZeroU32,
    /// Sends of one agent per second. The excess is delayed for a short time.
    pub sends_per_second: NonZeroU32,
    /// Frames of one gateway per second, without acks. The excess is read later.
    pub frames_per_second: NonZeroU32,
    /// Letters of one agent to another per second. The excess is refused until the rate allows more.
    pub letters_per_second: NonZeroU32,
}

impl Default for RateSettings {
    fn default() -> Self {
        let number = |number| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
        Self {
            webhooks_per_second: number(WEBHOOKS_PER_SECOND),
            author_per_minute: number(AUTHOR_PER_MINUTE),
            sends_per_second: number(SENDS_PER_SECOND),
            frames_per_second: number(FRAMES_PER_SECOND),
            letters_per_second: number(PAIR_PER_SECOND),
        }
    }
}

impl RateSettings {
    /// Practically no limits, for measurements of other things.
    pub const UNBOUNDED: Self = Self {
        webhooks_per_second: NonZeroU32::MAX,
        author_per_minute: NonZeroU32::MAX,
        sends_per_second: NonZeroU32::MAX,
        frames_per_second: NonZeroU32::MAX,
        letters_per_second: NonZeroU32::MAX,
    };

    /// Returns the frame rate of a gateway.
    pub const fn frames(self) -> Rate {
        let per_second = self.frames_per_second.get();
        Rate::per_second(per_second, per_second.saturating_mul(FRAMES_AT_ONCE_SECS))
    }

    /// Returns the rates of an action. All of them must allow it.
    fn rates_of(self, what: LimitedAction) -> Vec<Rate> {
        const MINUTE: Duration = Duration::from_mins(1);
        const HOUR: Duration = Duration::from_hours(1);
        match what {
            LimitedAction::Webhook => {
                let per_second = self.webhooks_per_second.get();
                let at_once = per_second.saturating_mul(WEBHOOKS_AT_ONCE_SECS);
                vec![Rate::per_second(per_second, at_once)]
            }
            LimitedAction::Author => {
                let per_minute = self.author_per_minute.get();
                let in_ten_seconds = (per_minute / 3).saturating_mul(2).max(1);
                let ten_seconds = Duration::from_secs(10);
                vec![Rate::per(ten_seconds, in_ten_seconds), Rate::per(MINUTE, per_minute)]
            }
            LimitedAction::Management => vec![Rate::per(MINUTE, MANAGEMENT_PER_MINUTE)],
            LimitedAction::Provision => vec![Rate::per(MINUTE, PROVISIONS_PER_MINUTE)],
            LimitedAction::Scope => vec![Rate::per(HOUR, SCOPES_PER_HOUR)],
            LimitedAction::Job => vec![Rate::per(MINUTE, JOBS_PER_MINUTE)],
            LimitedAction::Shelf => vec![Rate::per(MINUTE, SHELF_PER_MINUTE)],
            LimitedAction::Letter => {
                let per_second = self.letters_per_second.get();
                vec![Rate::per_second(per_second, per_second)]
            }
            LimitedAction::Catalogue => vec![Rate::per(MINUTE, CATALOGUES_PER_MINUTE)],
            LimitedAction::Send => {
                let per_second = self.sends_per_second.get();
                vec![Rate::per_second(per_second, per_second)]
            }
        }
    }
}

/// Counts actions against their rates.
#[derive(Debug)]
pub struct Limits {
    rates: RateSettings,
    paces: RateLimiter<(LimitedAction, usize, String)>,
    nodes: AtomicU32,
    ceiling: Arc<dyn SharedRateLimit>,
    clock: SystemClock,
}

impl Limits {
    /// Creates limits with these rates, for one node.
    pub fn new(rates: RateSettings) -> Self {
        let (paces, clock) = (RateLimiter::new(COUNTED_MAX), SystemClock::start());
        Self { rates, paces, nodes: AtomicU32::new(1), ceiling: Arc::new(NoSharedRateLimit), clock }
    }

    /// Adds a counter that all nodes share, for rare actions.
    #[must_use]
    pub fn with_shared_limit(self, ceiling: Arc<dyn SharedRateLimit>) -> Self {
        Self { ceiling, ..self }
    }

    /// Sets the number of nodes that share the rates.
    pub fn set_node_count(&self, nodes: u32) {
        self.nodes.store(nodes.max(1), Ordering::Relaxed);
    }

    /// Counts one action, or returns the retry delay.
    pub fn allow(&self, what: LimitedAction, key: &str) -> Result<(), Duration> {
        let (now, nodes) = (self.clock.moment(), self.nodes.load(Ordering::Relaxed));
        for (nth, rate) in self.rates.rates_of(what).into_iter().enumerate() {
            self.paces.take((what, nth, key.to_owned()), rate.divided_by(nodes), now)?;
        }
        Ok(())
    }

    /// Counts one action among those of all nodes, or returns the retry delay. This node never exceeds
    /// the rate of all nodes, even if the shared counter is wrong.
    pub async fn allow_among_all(&self, what: LimitedAction, key: &str) -> Result<(), Duration> {
        for (nth, rate) in self.rates.rates_of(what).into_iter().enumerate() {
            let asked = self.ceiling.take(&format!("{what:?}:{nth}:{key}"), rate).await;
            let own = match asked {
                Some(answer) => answer.map(|()| rate)?,
                None => rate.divided_by(self.nodes.load(Ordering::Relaxed)),
            };
            self.paces.take((what, nth, key.to_owned()), own, self.clock.moment())?;
        }
        Ok(())
    }

    /// Reserves the turn of an agent's send and returns its delay, or `None` if the delay would be too long. An agent
    /// has one line, so no other node passes its sends.
    pub(crate) fn reserve_send(&self, agent: AgentId) -> Option<Duration> {
        let (now, mut longest) = (self.clock.moment(), Duration::ZERO);
        for (nth, rate) in self.rates.rates_of(LimitedAction::Send).into_iter().enumerate() {
            let key = (LimitedAction::Send, nth, agent.to_string());
            let wait = self.paces.reserve(key, rate, now, SEND_TURN_WAIT_MAX).ok()?;
            longest = longest.max(wait);
        }
        Some(longest)
    }

    /// Counts a webhook of a bot, or returns the retry delay.
    pub(crate) fn allow_webhook(&self, bot: BotId) -> Result<(), Duration> {
        self.allow(LimitedAction::Webhook, &bot.to_string())
    }

    /// The layer after the gate: keeps the recipients to which the author does not write too fast. An event that it
    /// refuses is not stored and wakes no agent.
    #[expect(clippy::result_large_err, reason = "it is what the gate answers")]
    pub(crate) fn limit_author(&self, admitted: GateDecision) -> GateDecision {
        let event = admitted?;
        let (bot, source) = (event.verified().bot(), event.verified().get().source());
        let author = source.user_id.clone().unwrap_or_default();
        let allows = |recipient: &Recipient| {
            self.allow(LimitedAction::Author, &format!("{bot} {} {author}", recipient.agent))
                .is_ok()
        };
        let narrowed = event.narrow(Refusal::TooFast, allows);
        narrowed.map_err(|(event, refused)| (event, AdmitError::Refused(refused)))
    }
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;

    use super::*;

    fn allowed(limits: &Limits, what: LimitedAction, key: &str) -> usize {
        (0..5_000).filter(|_| limits.allow(what, key).is_ok()).count()
    }

    #[test]
    fn each_limit_is_hit_and_is_one_keys_alone() {
        let cases = [
            (LimitedAction::Author, 20),
            (LimitedAction::Management, 60),
            (LimitedAction::Scope, 30),
        ];
        let limits = Limits::new(RateSettings::default());
        for (what, most) in cases {
            assert_eq!(allowed(&limits, what, "ann"), most, "{what:?}");
            assert_eq!(allowed(&limits, what, "bob"), most, "{what:?}");
        }
        let letters = allowed(&limits, LimitedAction::Letter, "ann bob");
        assert!((5..8).contains(&letters), "{letters}");
        let webhooks = allowed(&limits, LimitedAction::Webhook, "ann");
        assert!((1_000..1_200).contains(&webhooks), "{webhooks}");
    }

    #[test]
    fn nodes_together_allow_no_more_than_one() {
        let nodes: Vec<Limits> = (0..3).map(|_| Limits::new(RateSettings::default())).collect();
        for node in &nodes {
            node.set_node_count(3);
        }

        let together: usize =
            nodes.iter().map(|node| allowed(node, LimitedAction::Scope, "ann")).sum();
        assert!((27..=30).contains(&together), "{together}");
    }

    /// A ceiling that always gives the same answer.
    #[derive(Debug)]
    struct Says(Option<Result<(), Duration>>);

    #[async_trait]
    impl SharedRateLimit for Says {
        async fn take(&self, _key: &str, _rate: Rate) -> Option<Result<(), Duration>> {
            self.0
        }
    }

    #[tokio::test]
    async fn whatever_the_ceiling_says_no_node_lets_more_through_than_all_may() {
        let cases = [
            ("gone: its part", Says(None), 10),
            ("there: what others leave", Says(Some(Ok(()))), 30),
            ("used up", Says(Some(Err(Duration::from_secs(1)))), 0),
        ];
        for (name, says, most) in cases {
            let limits = Limits::new(RateSettings::default()).with_shared_limit(Arc::new(says));
            limits.set_node_count(3);
            let mut allowed = 0;
            for _ in 0..100 {
                allowed +=
                    usize::from(limits.allow_among_all(LimitedAction::Scope, "ann").await.is_ok());
            }
            assert_eq!(allowed, most, "{name}");
        }
    }

    #[test]
    fn sends_wait_for_their_turn_and_not_for_ever() {
        let (limits, agent) =
            (Limits::new(RateSettings::default()), AgentId::from_uuid(uuid::Uuid::nil()));
        let waits: Vec<_> = (0..1_000).map_while(|_| limits.reserve_send(agent)).collect();

        let at_once = waits.iter().filter(|wait| wait.is_zero()).count();
        assert!((20..30).contains(&at_once), "{at_once}");
        let seconds = SEND_TURN_WAIT_MAX.as_secs();
        assert!(waits.last().is_some_and(|last| last.as_secs() + 1 >= seconds));
        let most = usize::try_from(seconds).unwrap() * 20 + 30;
        assert!(waits.len() < most, "{}", waits.len());
    }

    #[test]
    fn what_is_raised_counts() {
        let limits = Limits::new(RateSettings::UNBOUNDED);

        assert_eq!(allowed(&limits, LimitedAction::Author, "ann"), 5_000);
        assert_eq!(allowed(&limits, LimitedAction::Webhook, "ann"), 5_000);
    }
}
