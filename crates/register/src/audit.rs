//! The audit log: one row per action, with its actor and its subject.
//!
//! # Promise
//!
//! Each action has one row, written by the transaction that performs it. The rows of a tenant form a chain: each row's
//! hash covers the previous hash and the row, so a [`Verifier`] detects any row that was changed, removed or cut off. A
//! row contains ids and numbers, never a message text and never a secret.

mod anchor;
mod chain;
mod verifier;

use async_trait::async_trait;
use nightdesk_types::{StoreError, TenantId, TenantScope, Timestamp};
use serde_json::Value;

pub use anchor::{Anchor, NotAnAnchor};
pub use chain::{ChainLink, link_hash};
pub use verifier::{Fault, Verifier};

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $slug:literal;)+) => {
        /// The kind of an action. The list is closed: the store refuses any other kind.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Kind {
            $($(#[$doc])* $name,)+
        }

        impl Kind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// Returns the kind's name in a row.
            pub const fn slug(self) -> &'static str {
                match self {
                    $(Self::$name => $slug,)+
                }
            }
        }
    };
}

kinds! {
    /// A tenant was created.
    TenantCreated = "tenant-created";
    /// A tenant was erased.
    TenantErased = "tenant-erased";
    /// A tenant got a new data key.
    KeysRotated = "keys-rotated";
    /// A tenant's quota was set.
    QuotaSet = "quota-set";
    /// A tenant allowed its gateways to widen the reach of their agents, or forbade it.
    GatewaysTrusted = "gateways-trusted";
    /// An agent was allowed to stop the turns of its tenant's other agents, or forbidden.
    StopsAllowed = "stops-allowed";
    /// A turn of an agent was to be stopped.
    TurnStopped = "turn-stopped";
    /// An agent was created.
    AgentCreated = "agent-created";
    /// An agent lost everything by which it could be reached or dial in.
    AgentDeprovisioned = "agent-deprovisioned";
    /// A token was issued whose bearer speaks for an agent.
    AgentTokenMade = "agent-token-made";
    /// A bot was created.
    BotCreated = "bot-created";
    /// A bot was opened to agents of other tenants, or closed to them.
    BotShared = "bot-shared";
    /// A bot got a new key.
    BotKeyRotated = "bot-key-rotated";
    /// A bot was removed, with all data of people and agents on it.
    BotRemoved = "bot-removed";
    /// An operator created a gateway.
    GatewayCreated = "gateway-created";
    /// A machine identity and a one-time token were created.
    GatewayInvited = "gateway-invited";
    /// A gateway got its secret for a one-time token.
    GatewayEnrolled = "gateway-enrolled";
    /// A gateway got its secret at boot.
    GatewayProvisioned = "gateway-provisioned";
    /// A gateway got a new secret.
    GatewayRotated = "gateway-rotated";
    /// A gateway was revoked.
    GatewayRevoked = "gateway-revoked";
    /// A machine identity was revoked.
    ClientRevoked = "client-revoked";
    /// A session of an agent began.
    SessionBegun = "session-begun";
    /// A session of an agent was ended.
    SessionEnded = "session-ended";
    /// A person was bound to an agent.
    Bound = "bound";
    /// A binding was removed.
    Unbound = "unbound";
    /// An agent became a person's preferred agent.
    Preferred = "preferred";
    /// A link code was created.
    LinkMade = "link-made";
    /// A person used a link code.
    Linked = "linked";
    /// A chat, a scope or a bot was granted to an agent.
    Granted = "granted";
    /// An agent got the right to change messages of others in a granted place.
    ModerationGranted = "moderation-granted";
    /// A grant was released.
    Released = "released";
    /// The set of people who may reach an agent was changed.
    PrincipalOpened = "principal-opened";
    /// An agent's list was replaced.
    ListReplaced = "list-replaced";
    /// An agent declared its relevance rules.
    RelevanceDeclared = "relevance-declared";
    /// An agent's wake URL was set.
    WakeUrlSet = "wake-url-set";
    /// A caller requested a wake.
    WakeAsked = "wake-asked";
    /// An operator armed a job.
    JobArmed = "job-armed";
    /// An operator cancelled a job.
    JobCancelled = "job-cancelled";
    /// A skill was written.
    SkillWritten = "skill-written";
    /// A skill's status was changed.
    SkillStatusSet = "skill-status-set";
    /// A skill was removed, with all its versions.
    SkillDeleted = "skill-deleted";
    /// The approval mode of a tenant's shelf was set.
    ShelfSecured = "shelf-secured";
    /// One of two tenants allowed letters between their agents.
    LettersGranted = "letters-granted";
    /// One of two tenants withdrew that permission.
    LettersReleased = "letters-released";
    /// A webhook for letters was created.
    LetterHookMade = "letter-hook-made";
    /// A webhook for letters was removed.
    LetterHookRemoved = "letter-hook-removed";
    /// A test entry was put into an inbox.
    EntryPut = "entry-put";
    /// An operator parked an entry.
    EntrySetAside = "entry-set-aside";
    /// A parked entry was put into its inbox again.
    EntryResubmitted = "entry-resubmitted";
    /// A parked entry was removed.
    EntryRemoved = "entry-removed";
    /// The desk parked entries.
    EntriesParked = "entries-parked";
    /// The desk removed the newest parked entries of an agent, because it had more than its quota.
    EntriesDiscarded = "entries-discarded";
    /// A capability was used.
    CapabilityUsed = "capability-used";
    /// The desk got a new signing key.
    SigningKeyMade = "signing-key-made";
    /// A signing key was retired.
    SigningKeyRetired = "signing-key-retired";
    /// All data keys were wrapped with a new key of the vault.
    VaultRotated = "vault-rotated";
    /// An operator declared that the database lost commits.
    HistoryBegun = "history-begun";
    /// A caller presented a token that no trusted issuer signed.
    AuthFailed = "auth-failed";
    /// A user was created.
    UserCreated = "user-created";
    /// A user got a role.
    RoleGiven = "role-given";
    /// A user lost a role.
    RoleTaken = "role-taken";
    /// A login link was made for a user.
    LoginLinkMade = "login-link-made";
    /// A user logged in.
    UserLoggedIn = "user-logged-in";
    /// A session of a user ended.
    UserLoggedOut = "user-logged-out";
    /// A token of a user was created.
    ApiTokenMade = "api-token-made";
    /// A token of a user was revoked.
    ApiTokenRevoked = "api-token-revoked";
    /// An operator requested to read the tenant's messages.
    GlassAsked = "glass-asked";
    /// A second operator approved it.
    GlassApproved = "glass-approved";
    /// The request ended early, or was withdrawn.
    GlassEnded = "glass-ended";
    /// A way for alerts was added.
    AlertWayAdded = "alert-way-added";
    /// A way for alerts was removed.
    AlertWayRemoved = "alert-way-removed";
}

/// One action as its row records it. No field is trusted before the row is verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRecord {
    /// The row's number in the tenant's chain; the first is one.
    pub seq: i64,
    /// The time of the action.
    pub at: Timestamp,
    /// The actor.
    pub actor: String,
    /// The slug of a [`Kind`].
    pub kind: String,
    /// The subject of the action: the text of a JSON object.
    pub about: String,
    /// The hash over the previous row's hash and this row.
    pub hash: Vec<u8>,
}

/// The two ends of the stored part of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The last row that was removed by retention; [`ChainLink::start`] if none was.
    pub begins: ChainLink,
    /// The last row.
    pub head: ChainLink,
}

/// Reads the audit log. Changes to rows are recorded by triggers, not through this trait.
#[async_trait]
pub trait Auditing: Send + Sync {
    /// Records an action that changes no row of a tenant, or that changes many.
    async fn note(&self, scope: TenantScope, kind: Kind, about: &Value) -> Result<(), StoreError>;

    /// Returns a tenant's actions after this number, up to a maximum.
    async fn audit_records(
        &self,
        scope: TenantScope,
        after: i64,
        rows_max: i64,
    ) -> Result<Vec<AuditRecord>, StoreError>;

    /// Returns the ends of a tenant's chain.
    async fn chain(&self, scope: TenantScope) -> Result<Chain, StoreError>;

    /// Returns a page of the heads of all tenants' chains, after this tenant. Returns only chains that grew recently,
    /// or all.
    async fn chain_heads(
        &self,
        after: Option<TenantId>,
        lately: bool,
    ) -> Result<Vec<(TenantId, ChainLink)>, StoreError>;
}
