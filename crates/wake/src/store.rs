//! What waking asks of a store.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_types::{
    AgentId, BotId, ClientRules, Generation, StoreError, TenantScope, Timestamp,
};

use crate::notice::Notice;

/// Which wakes are claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Those that are due for the longest time, at most so many.
    Due(usize),
    /// The one of this agent, if it is due.
    Of(TenantScope, AgentId),
}

/// By what a store decides what is to be done about a wake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Whether agents without a URL can be called, too.
    pub has_command: bool,
    /// How often one agent may be woken in an hour.
    pub wakes_per_hour: u32,
}

/// A wake that somebody took, and nobody else will for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// Whose agent it is.
    pub scope: TenantScope,
    /// The agent.
    pub agent: AgentId,
    /// What is to be done.
    pub step: Step,
    /// Since when the agent is needed.
    pub since: Timestamp,
    /// Calls since then, with this one.
    pub calls: u32,
    /// What came of the last one.
    pub outcome: Option<String>,
    /// Where the agent is called, in this order.
    pub urls: Vec<String>,
    /// Where the oldest entries came from, if somebody is to be told.
    pub places: Vec<Place>,
    /// Whether the agent's last line ended because it went idle.
    pub went_idle: bool,
}

/// What is to be done about a wake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The agent is to be called.
    Call,
    /// It was woken too often; its people are to be told that it is called later.
    Held,
    /// It could not be woken in time; its people are to be told.
    GaveUp,
}

/// A chat through a bot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The bot.
    pub bot: BotId,
    /// The chat.
    pub chat_id: String,
}

/// Keeps which agents are to be called.
///
/// A wake becomes due when an event is held for an agent without a line, and when a line ends while
/// something waits: the stores of those do that, in their own transactions.
#[async_trait]
pub trait Store: Send + Sync {
    /// Takes wakes that are due. The next look at each is put off by [`CALL_GAP`], so that whoever
    /// dies with it costs no more than that; and nobody calls the same agent before.
    ///
    /// What is not needed any more is put away: the agent is up, or nothing waits for it.
    ///
    /// [`CALL_GAP`]: nightdesk_types::limits::CALL_GAP
    async fn claim(&self, which: Which, terms: &Terms) -> Result<Vec<Claimed>, StoreError>;

    /// Notes what came of a call, and that the next is due after so long.
    async fn note(
        &self,
        claimed: &Claimed,
        outcome: &str,
        wait: Duration,
    ) -> Result<(), StoreError>;

    /// Notes that a call was not made, and is due after so long. It does not count.
    async fn put_off(&self, claimed: &Claimed, wait: Duration) -> Result<(), StoreError>;

    /// Notes that people were told that their agent was given up.
    async fn told(&self, claimed: &Claimed) -> Result<(), StoreError>;

    /// Makes a wake due at once if something waits, although the agent has this line. It is needed
    /// until the line ends, is replaced, or the agent acks.
    async fn suspect(
        &self,
        scope: TenantScope,
        agent: AgentId,
        line: Generation,
    ) -> Result<(), StoreError>;

    /// Closes open lines whose nodes died, a batch of them, and makes wakes due where something
    /// waits. Answers how many it closed.
    async fn bury(&self) -> Result<u64, StoreError>;
}

/// What an operator sees of wakes, and does to them.
#[async_trait]
pub trait Wakers: Send + Sync {
    /// Where an agent is called, in this order.
    async fn wakers(&self, scope: TenantScope, agent: AgentId) -> Result<Vec<String>, StoreError>;

    /// Says where an agent is called. If it is needed now, it is called soon.
    async fn set_wakers(
        &self,
        scope: TenantScope,
        agent: AgentId,
        urls: &[String],
    ) -> Result<(), StoreError>;

    /// Makes a wake due at once, or as soon as the agent may be called again, also if nothing waits.
    async fn ask(&self, scope: TenantScope, agent: AgentId) -> Result<(), StoreError>;

    /// How it stands with a tenant's agents, or one of them, a page at a time by name.
    async fn status(
        &self,
        scope: TenantScope,
        agent: Option<AgentId>,
        after: &str,
    ) -> Result<Vec<Status>, StoreError>;

    /// What a tenant was told lately, newest first.
    async fn notices(&self, scope: TenantScope) -> Result<Vec<Notice>, StoreError>;
}

/// How it stands with an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The agent.
    pub agent: AgentId,
    /// What it is called.
    pub name: String,
    /// Since when it has an open line on a node that lives.
    pub line_since: Option<Timestamp>,
    /// How many entries wait for it.
    pub waiting: u64,
    /// How many URLs it has.
    pub urls: u64,
    /// Its newest wake, if it ever needed one.
    pub wake: Option<State>,
    /// By which rules its client is served.
    pub rules: ClientRules,
}

impl Status {
    /// Why the agent is up, in words. An agent without a line is not.
    pub fn awake_because(&self) -> Option<String> {
        self.line_since?;
        Some(match self.waiting {
            0 => "its client keeps the line open though nothing waits here; a stock client goes idle only when no turn \
                  runs and no platform is connected to it directly"
                .to_owned(),
            1 => "one entry waits for its acknowledgement".to_owned(),
            waiting => format!("{waiting} entries wait for its acknowledgement"),
        })
    }
}

/// How it stands with a wake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// `due`, `held`, `woken`, `settled` or `unreachable`.
    pub state: String,
    /// Since when the agent is needed.
    pub since: Timestamp,
    /// When it is looked at next.
    pub due_at: Option<Timestamp>,
    /// Calls since then.
    pub calls: u32,
    /// When the last one ended.
    pub called_at: Option<Timestamp>,
    /// What came of it.
    pub outcome: Option<String>,
    /// When the agent last dialled in because it was needed.
    pub woken_at: Option<Timestamp>,
}
