//! The contract between waking and its store.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_types::limits::WAITING_COUNTED_MAX;
use nightdesk_types::{
    AgentId, BotId, ClientRules, Generation, StoreError, TenantScope, Timestamp, Transport,
};

use crate::notice::OwnerNotice;

/// The wakes to claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakeSelection {
    /// The wakes that are due for the longest time, at most this many.
    Due(usize),
    /// The wake of this agent, if it is due.
    Of(TenantScope, AgentId),
}

/// The operator's settings that a claim depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WakeTerms {
    /// True if the desk can also call agents without a URL.
    pub has_command: bool,
    /// The number of wakes that one agent may have in an hour.
    pub wakes_per_hour: u32,
    /// The time after which the author of the oldest waiting entry is told that the agent still does not come.
    pub still_waking_after: Duration,
}

/// A wake that a node claimed. No other node claims it before the gap is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WakeClaim {
    /// The tenant.
    pub scope: TenantScope,
    /// The agent.
    pub agent: AgentId,
    /// The step to take.
    pub step: WakeStep,
    /// The time since which the agent is needed.
    pub since: Timestamp,
    /// The number of calls since then, including this one.
    pub calls: u32,
    /// The outcome of the last call.
    pub outcome: Option<String>,
    /// The agent's URLs, in the order of calls.
    pub urls: Vec<String>,
    /// True if the desk posts the agent's entries to a URL, which wakes it.
    pub has_webhook: bool,
    /// The chats of the oldest entries, if people are to be notified.
    pub places: Vec<WaitingChat>,
    /// True if the agent's last line ended because it went idle.
    pub went_idle: bool,
    /// The notice that the agent still does not come.
    pub delay: DelayNotice,
}

/// The notice to the author of the oldest waiting entry that the agent still does not come. There is one per wake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DelayNotice {
    /// It is due, in this chat. Each claim of the wake has it, until it is recorded as sent.
    Due(WaitingChat),
    /// It is due at this time.
    At(Timestamp),
    /// It was sent, or no author waits.
    Over,
}

impl DelayNotice {
    /// Returns the time of the next look: when the notice is due, if that is between the earliest and the planned time.
    pub(crate) fn bring_forward(&self, planned: Timestamp, earliest: Timestamp) -> Timestamp {
        match self {
            Self::At(at) => planned.min((*at).max(earliest)),
            Self::Due(_) | Self::Over => planned,
        }
    }
}

/// The step to take for a wake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakeStep {
    /// Call the agent.
    Call,
    /// Do not call: only the notice of a delay is due.
    Delayed,
    /// Notify people that the agent was woken too often and is called later.
    Held,
    /// Notify people that the agent could not be woken in time.
    GaveUp,
}

/// A chat through a bot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WaitingChat {
    /// The bot.
    pub bot: BotId,
    /// The chat.
    pub chat_id: String,
}

/// Stores the wakes of agents.
///
/// A wake becomes due when an event is stored for an agent without a line, and when a line ends while an entry waits.
/// The stores of inboxes and lines do that in their own transactions.
#[async_trait]
pub trait Store: Send + Sync {
    /// Claims due wakes. The next claim of each comes after [`UNRECORDED_CALL_GAP`] or, if an outcome was recorded, after
    /// [`CALL_GAP`]. So a node that dies delays it by no more than that, and no two calls are closer than the gap.
    ///
    /// A wake that is not needed any more is closed: the agent is up, or no entry waits for it.
    ///
    /// [`CALL_GAP`]: nightdesk_types::limits::CALL_GAP
    /// [`UNRECORDED_CALL_GAP`]: nightdesk_types::limits::UNRECORDED_CALL_GAP
    async fn claim(
        &self,
        which: WakeSelection,
        terms: &WakeTerms,
    ) -> Result<Vec<WakeClaim>, StoreError>;

    /// Records the outcome of a call, and makes the next one due after `wait`.
    async fn record_outcome(
        &self,
        claimed: &WakeClaim,
        outcome: &str,
        wait: Duration,
    ) -> Result<(), StoreError>;

    /// Records that a call was not made, and makes it due after `wait`. It does not count.
    async fn put_off(&self, claimed: &WakeClaim, wait: Duration) -> Result<(), StoreError>;

    /// Records that people were notified that their agent was given up.
    async fn record_notified(&self, claimed: &WakeClaim) -> Result<(), StoreError>;

    /// Records that the author of the oldest entry was told that the agent still does not come.
    async fn record_delay_told(&self, claimed: &WakeClaim) -> Result<(), StoreError>;

    /// Makes a wake due at once if an entry waits, although the agent has this line. The wake is needed until the line
    /// ends, is replaced, or the agent acks.
    async fn suspect(
        &self,
        scope: TenantScope,
        agent: AgentId,
        line: Generation,
    ) -> Result<(), StoreError>;

    /// Closes a batch of open lines whose nodes died, and makes wakes due for waiting entries. Returns the number of
    /// closed lines.
    async fn close_dead_lines(&self) -> Result<u64, StoreError>;
}

/// The operator's view of wakes and wake URLs.
#[async_trait]
pub trait WakeAdmin: Send + Sync {
    /// Returns the agent's URLs, in the order of calls.
    async fn wake_urls(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Vec<String>, StoreError>;

    /// Sets the agent's URLs. If the agent is needed now, it is called soon.
    async fn set_wake_urls(
        &self,
        scope: TenantScope,
        agent: AgentId,
        urls: &[String],
    ) -> Result<(), StoreError>;

    /// Returns the webhook to which the agent's entries are posted.
    async fn webhook(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Option<AgentWebhook>, StoreError>;

    /// Sets or removes the agent's webhook. If the agent is needed now, its entries are posted soon.
    async fn set_webhook(
        &self,
        scope: TenantScope,
        agent: AgentId,
        webhook: Option<&NewWebhook>,
    ) -> Result<(), StoreError>;

    /// Makes a wake due at once, or as soon as the agent may be called again, also if no entry waits.
    async fn request_call(&self, scope: TenantScope, agent: AgentId) -> Result<(), StoreError>;

    /// Returns the status of a tenant's agents or of one of them, one page by name.
    async fn status(
        &self,
        scope: TenantScope,
        agent: Option<AgentId>,
        after: &str,
    ) -> Result<Vec<AgentWakeStatus>, StoreError>;

    /// Returns the tenant's recent notices, newest first.
    async fn notices(&self, scope: TenantScope) -> Result<Vec<OwnerNotice>, StoreError>;
}

/// The URL to which the desk posts an agent's entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentWebhook {
    /// The URL.
    pub url: String,
    /// The salts of the secrets that sign, the newest first.
    pub salts: Vec<String>,
}

/// A webhook to be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewWebhook {
    /// The URL.
    pub url: String,
    /// The salt of its secret. The secret before it signs for as long as [`WEBHOOK_OVERLAP`].
    ///
    /// [`WEBHOOK_OVERLAP`]: nightdesk_types::limits::WEBHOOK_OVERLAP
    pub salt: String,
}

/// The status of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentWakeStatus {
    /// The agent.
    pub agent: AgentId,
    /// The name.
    pub name: String,
    /// The time since which it has an open line on a node that lives.
    pub line_since: Option<Timestamp>,
    /// The transport of that line.
    pub transport: Option<Transport>,
    /// The number of entries that wait for it, counted up to [`WAITING_COUNTED_MAX`].
    pub waiting: u64,
    /// The number of its URLs.
    pub urls: u64,
    /// Its newest wake, if it ever needed one.
    pub wake: Option<WakeStatus>,
    /// The rules by which its client is served.
    pub rules: ClientRules,
}

impl AgentWakeStatus {
    /// Returns the reason why the agent is up. An agent without a line is not.
    pub fn awake_because(&self) -> Option<String> {
        self.line_since?;
        Some(match self.waiting {
            0 => "its client keeps the line open although no entry waits; a stock client goes idle only when no turn \
                  runs and no platform is connected to it directly"
                .to_owned(),
            1 => "one entry waits for its acknowledgement".to_owned(),
            waiting if waiting >= WAITING_COUNTED_MAX.unsigned_abs() => {
                format!("{waiting} entries or more wait for its acknowledgement")
            }
            waiting => format!("{waiting} entries wait for its acknowledgement"),
        })
    }
}

/// The status of a wake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WakeStatus {
    /// `due`, `held`, `woken`, `settled` or `unreachable`.
    pub state: String,
    /// The time since which the agent is needed.
    pub since: Timestamp,
    /// The time of the next claim.
    pub due_at: Option<Timestamp>,
    /// The number of calls since then.
    pub calls: u32,
    /// The end of the last call.
    pub called_at: Option<Timestamp>,
    /// The outcome of the last call.
    pub outcome: Option<String>,
    /// The last time the agent dialled in because it was needed.
    pub woken_at: Option<Timestamp>,
}
