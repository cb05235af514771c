//! Audit: what was done, by whom and about what.
//!
//! # Promise
//!
//! Each act has one row, written by the transaction that does it. The rows of a tenant are a
//! chain: each one's hash is made of the hash before and of the row, so that nothing can be
//! changed, taken out or cut off without being found by a [`Verifier`]. A row holds ids and
//! numbers, never what people wrote and never a secret.

mod anchor;
mod chain;
mod verifier;

use async_trait::async_trait;
use nightdesk_types::{StoreError, TenantId, TenantScope, Timestamp};
use serde_json::Value;

pub use anchor::{Anchor, NotAnAnchor};
pub use chain::{Link, linked};
pub use verifier::{Fault, Verifier};

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $slug:literal;)+) => {
        /// What was done. The list is closed: the store refuses any other.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Kind {
            $($(#[$doc])* $name,)+
        }

        impl Kind {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// As a row has it.
            pub const fn slug(self) -> &'static str {
                match self {
                    $(Self::$name => $slug,)+
                }
            }
        }
    };
}

kinds! {
    /// A tenant was entered.
    TenantCreated = "tenant-created";
    /// A tenant was erased.
    TenantErased = "tenant-erased";
    /// A tenant got another data key.
    KeysRotated = "keys-rotated";
    /// A tenant's quota was set.
    QuotaSet = "quota-set";
    /// It was said whether a tenant's gateways may widen the reach of their agents.
    GatewaysTrusted = "gateways-trusted";
    /// An agent was entered.
    AgentCreated = "agent-created";
    /// Everything was taken from an agent by which it could be reached or dial in.
    AgentDeprovisioned = "agent-deprovisioned";
    /// A token was put out with which its bearer speaks for an agent.
    AgentTokenMade = "agent-token-made";
    /// A bot was entered.
    BotCreated = "bot-created";
    /// It was said whether agents of others may be linked on a bot.
    BotShared = "bot-shared";
    /// A bot got another key.
    BotKeyRotated = "bot-key-rotated";
    /// A bot was removed, with all that people and agents had on it.
    BotRemoved = "bot-removed";
    /// A gateway was entered by hand.
    GatewayCreated = "gateway-created";
    /// A machine identity and a one-time token were made.
    GatewayInvited = "gateway-invited";
    /// A gateway got its secret for a token.
    GatewayEnrolled = "gateway-enrolled";
    /// A gateway got its secret at boot.
    GatewayProvisioned = "gateway-provisioned";
    /// A gateway got another secret.
    GatewayRotated = "gateway-rotated";
    /// A gateway was revoked.
    GatewayRevoked = "gateway-revoked";
    /// A machine identity was revoked.
    ClientRevoked = "client-revoked";
    /// A session of an agent was begun.
    SessionBegun = "session-begun";
    /// A session of an agent was ended.
    SessionEnded = "session-ended";
    /// A person was bound to an agent.
    Bound = "bound";
    /// A binding was taken back.
    Unbound = "unbound";
    /// An agent was made a person's.
    Preferred = "preferred";
    /// A code was made by which a person is linked.
    LinkMade = "link-made";
    /// A person linked themselves with a code.
    Linked = "linked";
    /// A chat, a scope or a bot was given to an agent.
    Granted = "granted";
    /// A grant was taken back.
    Released = "released";
    /// It was said who may reach an agent.
    PrincipalOpened = "principal-opened";
    /// An agent's list was replaced.
    ListReplaced = "list-replaced";
    /// It was declared what concerns an agent.
    RelevanceDeclared = "relevance-declared";
    /// It was said where an agent is called.
    WakeUrlSet = "wake-url-set";
    /// Somebody asked for a call.
    WakeAsked = "wake-asked";
    /// A job was armed by hand.
    JobArmed = "job-armed";
    /// A job was cancelled by hand.
    JobCancelled = "job-cancelled";
    /// A skill was written.
    SkillWritten = "skill-written";
    /// A skill's status was changed.
    SkillStatusSet = "skill-status-set";
    /// A skill was removed, with all that it was.
    SkillDeleted = "skill-deleted";
    /// It was said who approves a tenant's skills.
    ShelfSecured = "shelf-secured";
    /// One side allowed agents of two tenants to write to each other.
    LettersGranted = "letters-granted";
    /// One side took that back.
    LettersReleased = "letters-released";
    /// A webhook for letters was made.
    LetterHookMade = "letter-hook-made";
    /// A webhook for letters was removed.
    LetterHookRemoved = "letter-hook-removed";
    /// A test entry was put into an inbox.
    EntryPut = "entry-put";
    /// An entry was set aside by hand.
    EntrySetAside = "entry-set-aside";
    /// A parked entry was put into its inbox again.
    EntryResubmitted = "entry-resubmitted";
    /// A parked entry was removed.
    EntryRemoved = "entry-removed";
    /// Entries were set aside by the desk.
    EntriesParked = "entries-parked";
    /// A capability was used.
    CapabilityUsed = "capability-used";
    /// The desk got another key to sign with.
    SigningKeyMade = "signing-key-made";
    /// One of them was taken out of use.
    SigningKeyRetired = "signing-key-retired";
    /// Everything was wrapped with another key of the vault.
    VaultRotated = "vault-rotated";
    /// Somebody showed what nobody this desk trusts had signed.
    AuthFailed = "auth-failed";
}

/// One act, as its row tells of it. Nothing in it is trusted before it is verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deed {
    /// Its number in the tenant's chain; the first is one.
    pub seq: i64,
    /// When.
    pub at: Timestamp,
    /// By whom.
    pub actor: String,
    /// What: the slug of a [`Kind`].
    pub kind: String,
    /// About what: the text of a JSON object.
    pub about: String,
    /// Of the row before and this one.
    pub hash: Vec<u8>,
}

/// Where what is kept of a chain begins and ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The last row that was let go; [`Link::start`] if none was.
    pub begins: Link,
    /// The last row.
    pub head: Link,
}

/// Reads the audit log. Whatever changes a row is told by itself.
#[async_trait]
pub trait Auditing: Send + Sync {
    /// Tells of an act that changes no row of a tenant's, or is many.
    async fn note(&self, scope: TenantScope, kind: Kind, about: &Value) -> Result<(), StoreError>;

    /// What was done for a tenant after this number, at most so much.
    async fn deeds(
        &self,
        scope: TenantScope,
        after: i64,
        rows_max: i64,
    ) -> Result<Vec<Deed>, StoreError>;

    /// A tenant's chain.
    async fn chain(&self, scope: TenantScope) -> Result<Chain, StoreError>;

    /// Where the chains of all tenants end, a page after this one. Of those alone that grew
    /// lately, or of all.
    async fn heads(
        &self,
        after: Option<TenantId>,
        lately: bool,
    ) -> Result<Vec<(TenantId, Link)>, StoreError>;
}
