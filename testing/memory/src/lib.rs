//! Implements every port's store in one process.
//!
//! # Promise
//!
//! It passes the same conformance suites as the store in PostgreSQL, so a test on it holds there too. Every method is
//! atomic, and no data outlives the last clone. Time comes from its [`FakeClock`] and ids are counted, so a run can be
//! repeated.
//!
//! Begin with `agent.rs`, which contains an inbox; then read one file per port.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nightdesk_gate::{RefusalNote, StoredRefusal};
use nightdesk_inbox::{DedupeKey, ParkReason, QuarantinedEvent};
use nightdesk_letters::{DeliveryRecord, Party};
use nightdesk_office::UsageTotals;
use nightdesk_register::BotReception;
use nightdesk_register::audit::AuditRecord;
use nightdesk_register::issuer::StoredKey;
use nightdesk_schedule::decide::JobRecord;
use nightdesk_types::{
    AgentId, BotId, ClientId, Clock, FireId, GatewayId, Incarnation, Quota, RequestId, Seq,
    StoreError, TenantScope, Timestamp,
};
use nightdesk_wake::{AgentWebhook, OwnerNotice, WakeRow};
use uuid::Uuid;

use nightdesk_testkit::FakeClock;

mod agent;
mod accept;
mod inbox;
mod mishap;
mod aside;
mod upkeep;
mod lines;
mod media;
mod wake;
mod schedule;
mod shelf;
mod letters;
mod gate;
mod egress;
mod lease;
mod register;
mod audit;
mod quota;
mod webchat;
mod users;
mod office;
mod alerts;
mod writers;

pub use media::media;
pub use writers::Writers;

use agent::Agent;

/// Every port's store, in one process. Its clones share the store.
#[derive(Clone)]
pub struct Memory {
    clock: FakeClock,
    state: Arc<Mutex<State>>,
    mishap: Arc<mishap::Mishap>,
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Memory")
    }
}

impl Memory {
    /// Returns an empty store with this clock.
    pub fn new(clock: FakeClock) -> Self {
        Self { clock, state: Arc::default(), mishap: Arc::default() }
    }

    /// Returns its clock.
    pub const fn clock(&self) -> &FakeClock {
        &self.clock
    }

    /// Returns the parked entries of an agent's inbox, with the reasons.
    pub fn parked(&self, scope: TenantScope, agent: AgentId) -> Vec<(Seq, ParkReason)> {
        let state = self.lock();
        state.agents.get(&(scope, agent)).map(Agent::parked).unwrap_or_default()
    }

    /// Returns the stored refusals of a tenant, oldest first.
    pub fn refusals(&self, scope: TenantScope) -> Vec<RefusalNote> {
        let kept = self.lock().refusals.get(&scope).cloned().unwrap_or_default();
        kept.into_iter().map(|kept| kept.note).collect()
    }

    /// Returns the stored unreadable events of a bot, oldest first.
    pub fn quarantined(&self, operator: TenantScope, bot: BotId) -> Vec<QuarantinedEvent> {
        let state = self.lock();
        let kept = state.quarantined.get(&(operator, bot)).into_iter().flatten();
        kept.map(|(_, unreadable)| unreadable.clone()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is consistent at every step, also if a holder panicked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

type AgentKey = (TenantScope, AgentId);
type SourceKey = (TenantScope, BotId, String);
type SendName = (TenantScope, AgentId, RequestId);

/// The tables.
#[derive(Default)]
struct State {
    /// The history of this store. A test begins another one.
    incarnation: Incarnation,
    /// The time at which another history began.
    history_broken_at: Option<Timestamp>,
    ids_minted: u128,
    tenants: BTreeMap<TenantScope, register::Tenant>,
    agents: BTreeMap<AgentKey, Agent>,
    gateways: BTreeMap<GatewayId, register::GatewayRow>,
    bots: BTreeMap<BotId, register::BotRow>,
    /// Times at which each bot began sessions, oldest first.
    sessions_begun: BTreeMap<BotId, Vec<Timestamp>>,
    hearings: BTreeMap<BotId, BotReception>,
    /// Oldest first.
    bindings: Vec<gate::Binding>,
    grants: Vec<gate::GrantRow>,
    /// Changes of access through a bot, oldest first.
    changes: BTreeMap<BotId, Vec<(AgentKey, gate::Changed)>>,
    clients: BTreeMap<ClientId, register::ClientRow>,
    /// By the digest of the token.
    enrolments: BTreeMap<(TenantScope, [u8; 32]), register::EnrolmentRow>,
    /// By the digest of the code.
    link_codes: BTreeMap<[u8; 32], register::CodeRow>,
    /// Start and number of a person's attempts with codes on a bot.
    link_tries: BTreeMap<(BotId, String), (Timestamp, i32)>,
    signing_keys: Vec<StoredKey>,
    quotas: BTreeMap<(TenantScope, Quota), i64>,
    /// The audit log, oldest first.
    deeds: BTreeMap<TenantScope, Vec<AuditRecord>>,
    /// By agent, digest of the session's name, and kind.
    capabilities: BTreeMap<register::CapabilityKey, register::CapabilityRow>,
    /// By bot, scope and name.
    commands: BTreeMap<(BotId, String, String), register::CommandRow>,
    /// By tenant, issuer and name.
    sessions: BTreeMap<(TenantScope, String, String), register::SessionRow>,
    nodes: BTreeMap<String, lease::NodeRow>,
    owners: BTreeMap<String, nightdesk_lease::Owner>,
    wakes: BTreeMap<AgentKey, WakeRow>,
    wakers: BTreeMap<AgentKey, Vec<String>>,
    webhooks: BTreeMap<AgentKey, AgentWebhook>,
    notices: BTreeMap<TenantScope, VecDeque<OwnerNotice>>,
    jobs: BTreeMap<schedule::JobKey, JobRecord>,
    fires: BTreeMap<FireId, schedule::FireRow>,
    shelves: BTreeMap<TenantScope, shelf::ShelfRow>,
    letters: Vec<letters::LetterRow>,
    letter_grants: BTreeMap<(Party, Party), Timestamp>,
    letter_hooks: BTreeMap<(TenantScope, String), (Party, [u8; 32])>,
    letter_receipts: BTreeMap<(TenantScope, String, String, String), DeliveryRecord>,
    /// The day on which each event was last accepted.
    dedupe_keys: HashMap<(TenantScope, DedupeKey), Day>,
    sources: BTreeMap<SourceKey, inbox::SourceRow>,
    quarantined: BTreeMap<(TenantScope, BotId), VecDeque<(Timestamp, QuarantinedEvent)>>,
    media: BTreeMap<(AgentKey, nightdesk_media::MediaId), media::FileRow>,
    /// Agents of prompts with buttons.
    prompts: BTreeMap<(BotId, String), (AgentKey, Timestamp)>,
    refusals: BTreeMap<TenantScope, VecDeque<StoredRefusal>>,
    sends: BTreeMap<SendName, egress::SendRow>,
    chats: BTreeMap<nightdesk_webchat::store::VisitorChat, webchat::ChatRow>,
    users: users::UserTables,
    alerts: alerts::AlertTables,
    wake_logs: BTreeMap<AgentKey, office::WakeLog>,
    /// The totals of each tenant by hour, in milliseconds.
    usage: BTreeMap<(TenantScope, i64), UsageTotals>,
}

impl State {
    fn mint(&mut self) -> Uuid {
        self.ids_minted += 1;
        Uuid::from_u128(self.ids_minted)
    }

    fn agent(
        &mut self,
        operation: &'static str,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<&mut Agent, StoreError> {
        let unknown = || StoreError::broken(operation, "the tenant has no such agent");
        self.agents.get_mut(&(scope, agent)).ok_or_else(unknown)
    }
}

/// A day, counted from 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Day(i64);

impl Day {
    fn of(at: Timestamp) -> Self {
        const DAY_SECS: i64 = 24 * 60 * 60;
        Self(at.as_second().div_euclid(DAY_SECS))
    }

    const fn back(self, days: i64) -> Self {
        Self(self.0 - days)
    }
}

/// Appends to a ring. The oldest element falls out.
fn push_bounded<T>(ring: &mut VecDeque<T>, value: T, kept_max: i64) {
    ring.push_back(value);
    while i64::try_from(ring.len()).is_ok_and(|len| len > kept_max) {
        ring.pop_front();
    }
}
