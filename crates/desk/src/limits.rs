//! Rate limits of the desk.
//!
//! Each node counts frequent actions by itself, against its share of the rate of all nodes. This needs no call between
//! nodes and never exceeds the configured rate. All nodes count rare actions together where they can; where they
//! cannot, each node uses its share. The authors of a bot that its owner alone hears are counted by the owner alone,
//! against the whole rate.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use nightdesk_bus::{NoSharedRateLimit, SharedRateLimit};
use nightdesk_inbox::{AuthorCount, AuthorPace, AuthorRates};
use nightdesk_types::limits::{
    AUTHOR_PER_MINUTE, AUTHORS_COUNTED_MAX, CATALOGUES_PER_MINUTE, COUNTED_MAX,
    FRAMES_AT_ONCE_SECS, FRAMES_PER_SECOND, JOBS_PER_MINUTE, MANAGEMENT_PER_MINUTE,
    OFFICE_PER_MINUTE, PAIR_PER_SECOND, PROVISIONS_PER_MINUTE, SCOPES_PER_HOUR, SEND_TURN_WAIT_MAX,
    SENDS_PER_SECOND, SHELF_PER_MINUTE, STOPS_PER_MINUTE, WEBHOOKS_AT_ONCE_SECS,
    WEBHOOKS_PER_SECOND,
};
use nightdesk_types::rate_limit::{Rate, RateLimiter};
use nightdesk_types::{AgentId, BotId, Moment};
use serde::Deserialize;
use tokio::time::Instant;

/// An action with a rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LimitedAction {
    /// Webhooks of a bot.
    Webhook,
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
    /// Requests of an agent to a line without a WebSocket.
    Line,
    /// Letters of one agent to another.
    Letter,
    /// Skill catalogues for an agent.
    Catalogue,
    /// Stops of a person on a bot, or of an agent.
    Stop,
    /// Requests of a user.
    Office,
}

/// The limits that an operator may raise.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RateSettings {
    /// Webhooks of one bot per second. The desk asks the platform to retry the excess.
    pub webhooks_per_second: NonZeroU32,
    /// Messages of one author to one agent per minute. The excess is delivered and wakes no agent; over ten times the
    /// limit, it is parked.
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
            LimitedAction::Management => vec![Rate::per(MINUTE, MANAGEMENT_PER_MINUTE)],
            LimitedAction::Provision => vec![Rate::per(MINUTE, PROVISIONS_PER_MINUTE)],
            LimitedAction::Scope => vec![Rate::per(HOUR, SCOPES_PER_HOUR)],
            LimitedAction::Job => vec![Rate::per(MINUTE, JOBS_PER_MINUTE)],
            LimitedAction::Shelf => vec![Rate::per(MINUTE, SHELF_PER_MINUTE)],
            LimitedAction::Line => vec![self.frames()],
            LimitedAction::Letter => {
                let per_second = self.letters_per_second.get();
                vec![Rate::per_second(per_second, per_second)]
            }
            LimitedAction::Office => vec![Rate::per(MINUTE, OFFICE_PER_MINUTE)],
            LimitedAction::Stop => vec![Rate::per(MINUTE, STOPS_PER_MINUTE)],
            LimitedAction::Catalogue => vec![Rate::per(MINUTE, CATALOGUES_PER_MINUTE)],
            LimitedAction::Send => {
                let per_second = self.sends_per_second.get();
                vec![Rate::per_second(per_second, per_second)]
            }
        }
    }
}

/// The nodes that hear an author.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum HearingNodes {
    /// Any node: the platform posts to all of them.
    All,
    /// The owner of the bot alone: it listens to the platform.
    Owner,
}

/// An author of a bot's events, at one agent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AuthorKey {
    pub(crate) bot: BotId,
    pub(crate) agent: AgentId,
    pub(crate) author: String,
    pub(crate) heard_by: HearingNodes,
}

/// Counts actions against their rates. The clock is tokio's, which tests can pause.
#[derive(Debug)]
pub struct Limits {
    rates: RateSettings,
    paces: RateLimiter<(LimitedAction, usize, String)>,
    /// Apart from the others, so that many authors take no room from them.
    authors: RateLimiter<AuthorKey, AuthorCount>,
    nodes: AtomicU32,
    ceiling: Arc<dyn SharedRateLimit>,
    began: Instant,
}

impl Limits {
    /// Creates limits with these rates, for one node.
    pub fn new(rates: RateSettings) -> Self {
        Self {
            rates,
            paces: RateLimiter::new(COUNTED_MAX),
            authors: RateLimiter::new(AUTHORS_COUNTED_MAX),
            nodes: AtomicU32::new(1),
            ceiling: Arc::new(NoSharedRateLimit),
            began: Instant::now(),
        }
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
        let (now, nodes) = (self.now(), self.nodes.load(Ordering::Relaxed));
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
            self.paces.take((what, nth, key.to_owned()), own, self.now())?;
        }
        Ok(())
    }

    /// Reserves the turn of an agent's send and returns its delay, or `None` if the delay would be too long. An agent
    /// has one line, so no other node passes its sends.
    pub(crate) fn reserve_send(&self, agent: AgentId) -> Option<Duration> {
        let (now, mut longest) = (self.now(), Duration::ZERO);
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

    /// Decides how the next message of an author is treated, without counting it.
    pub(crate) fn author_pace(&self, author: &AuthorKey) -> AuthorPace {
        self.authors.bucket(author).pace(&self.author_rates(author.heard_by), self.now())
    }

    /// Counts a message of an author that was stored with this pace.
    pub(crate) fn count_author(&self, author: AuthorKey, pace: AuthorPace) {
        let (rates, now) = (self.author_rates(author.heard_by), self.now());
        // If the table is full, the author is not counted.
        self.authors.change(author, now, |count| count.count(pace, &rates, now));
    }

    fn author_rates(&self, heard_by: HearingNodes) -> AuthorRates {
        let rates = AuthorRates::per_minute(self.rates.author_per_minute);
        match heard_by {
            HearingNodes::All => rates.divided_by(self.nodes.load(Ordering::Relaxed)),
            HearingNodes::Owner => rates,
        }
    }

    fn now(&self) -> Moment {
        Moment::after_start(self.began.elapsed())
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
        let cases = [(LimitedAction::Management, 60), (LimitedAction::Scope, 30)];
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
        let limits = Limits::new(RateSettings {
            author_per_minute: NonZeroU32::MAX,
            webhooks_per_second: NonZeroU32::MAX,
            ..RateSettings::default()
        });

        assert_eq!(allowed(&limits, LimitedAction::Webhook, "ann"), 5_000);
        assert_eq!(
            paces(&limits, &author(HearingNodes::All), 5_000).last(),
            Some(&AuthorPace::Deliver)
        );
    }

    fn author(heard_by: HearingNodes) -> AuthorKey {
        let (bot, agent) =
            (BotId::from_uuid(uuid::Uuid::nil()), AgentId::from_uuid(uuid::Uuid::nil()));
        AuthorKey { bot, agent, author: "ann".to_owned(), heard_by }
    }

    /// Stores so many messages of an author at once.
    fn paces(limits: &Limits, author: &AuthorKey, count: usize) -> Vec<AuthorPace> {
        let store = |_| {
            let pace = limits.author_pace(author);
            limits.count_author(author.clone(), pace);
            pace
        };
        (0..count).map(store).collect()
    }

    #[test]
    fn an_album_wakes_as_a_whole_if_the_owner_hears_it_however_many_nodes_live() {
        let limits = Limits::new(RateSettings::default());
        limits.set_node_count(3);

        let heard = paces(&limits, &author(HearingNodes::Owner), 10);
        assert_eq!(heard, [AuthorPace::Deliver; 10]);
        let posted = paces(&limits, &author(HearingNodes::All), 10);
        assert!(posted.contains(&AuthorPace::DeliverWithoutWake), "each node has its share");
        assert!(!posted.contains(&AuthorPace::Park), "{posted:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn an_author_is_counted_for_each_agent_and_again_after_a_rest() {
        let limits = Limits::new(RateSettings::default());
        let ann = author(HearingNodes::Owner);
        let other = AuthorKey { agent: AgentId::from_uuid(uuid::Uuid::max()), ..ann.clone() };
        assert_eq!(paces(&limits, &ann, 201).last(), Some(&AuthorPace::Park));

        assert_eq!(limits.author_pace(&other), AuthorPace::Deliver);
        tokio::time::advance(Duration::from_mins(1)).await;
        assert_eq!(limits.author_pace(&ann), AuthorPace::Deliver);
    }
}
