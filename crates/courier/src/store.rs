//! What the courier asks of a store.

use async_trait::async_trait;
use nightdesk_protocol::delivery::{DeliveryReceipt, WakeReceipt};
use nightdesk_types::{AgentId, LetterId, Seq, StoreError, TenantScope};
use serde::{Deserialize, Serialize};

use crate::error::ConnectorError;
use crate::letter::{
    AddressFacts, AddressQuery, Due, Grant, Letter, Live, Party, Peer, Posting, Put, Replied,
};

/// What was asked of a connector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// To hand something over.
    Deliver,
    /// To interrupt with it.
    Wake,
}

impl Route {
    /// Its name on the wire and in rows.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::Deliver => "deliver",
            Self::Wake => "wake",
        }
    }

    /// The one of this name.
    pub fn named(slug: &str) -> Option<Self> {
        [Self::Deliver, Self::Wake].into_iter().find(|route| route.slug() == slug)
    }
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Came {
    /// It was handed over.
    Delivered(DeliveryReceipt),
    /// It was handed over, and the agent woken or not.
    Woken(WakeReceipt),
    /// It was not.
    Failed(Failure),
}

/// Why something was not handed over, as it is written down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// For programs.
    pub cause: String,
    /// For people.
    pub words: String,
}

impl From<ConnectorError> for Failure {
    fn from(error: ConnectorError) -> Self {
        Self { cause: error.slug().to_owned(), words: error.to_string() }
    }
}

impl Came {
    /// Whether it was handed over.
    pub const fn is_ok(&self) -> bool {
        match self {
            Self::Delivered(_) | Self::Woken(_) => true,
            Self::Failed(_) => false,
        }
    }
}

/// What came of one emit by one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The emit.
    pub dispatch_id: String,
    /// The way.
    pub connector: String,
    /// To whom.
    pub address: String,
    /// What was asked.
    pub route: Route,
    /// What came of it.
    pub came: Came,
}

/// A record, and the tenant whose agent sent the letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The sender's tenant.
    pub scope: TenantScope,
    /// The record.
    pub record: Record,
}

/// Keeps what came of letters.
#[async_trait]
pub trait Receipts: Send + Sync {
    /// Stores receipts. A receipt of the same dispatch, connector and address is replaced.
    async fn note(&self, receipts: &[Receipt]) -> Result<(), StoreError>;

    /// What came of an emit, by the name of the way.
    async fn receipts(
        &self,
        scope: TenantScope,
        dispatch_id: &str,
    ) -> Result<Vec<Record>, StoreError>;
}

/// Keeps letters.
#[async_trait]
pub trait Letters: Send + Sync {
    /// The facts about each address, in order.
    async fn addresses(&self, queries: &[AddressQuery]) -> Result<Vec<AddressFacts>, StoreError>;

    /// Puts letters as [`decide_batch`](crate::decide::decide_batch) decides: into the inbox of the agent, who is woken if
    /// it sleeps, or into a row until the letter is due. The result has one outcome for each letter, in order. The store
    /// writes all that was decided, or nothing.
    async fn put(&self, postings: &[Posting]) -> Result<Vec<Put>, StoreError>;

    /// What is to be handed over for a letter that is due. Asked again it is the same, until it is known where it went. `None`:
    /// there is none that waits, or it may not be handed over any more.
    async fn due(&self, to: Party, letter: LetterId) -> Result<Option<Due>, StoreError>;

    /// A letter that was due lies in the inbox under this number, or went out by another way.
    async fn came(&self, to: Party, letter: LetterId, seq: Option<Seq>) -> Result<(), StoreError>;

    /// Takes what an agent says to a letter that came to it: the first that is said in time is the reply. Of a reply and
    /// the end of the wait one counts, and the row says which.
    async fn reply(&self, by: Party, letter: LetterId, words: &str) -> Result<Replied, StoreError>;

    /// A letter that an agent sent. One whose sender has waited long enough has timed out.
    async fn letter(&self, from: Party, letter: LetterId) -> Result<Option<Letter>, StoreError>;

    /// Letters that an agent sent, newest first, at most a page.
    async fn letters(
        &self,
        from: Party,
        before: Option<LetterId>,
    ) -> Result<Vec<Letter>, StoreError>;

    /// Whom an agent can write to, at most so many: the tenant's own by name, then those of others if both sides granted it.
    async fn peers(&self, of: Party, at_most: usize) -> Result<Vec<Peer>, StoreError>;

    /// The line of an agent, if it is up.
    async fn live(&self, party: Party) -> Result<Option<Live>, StoreError>;
}

/// Keeps who may write to whom between tenants.
#[async_trait]
pub trait Grants: Send + Sync {
    /// One side allows two agents to write to each other. Answers whether that is news.
    async fn grant(&self, party: Party, peer: Party) -> Result<bool, StoreError>;

    /// One side takes it back. Answers whether there was anything to take back.
    async fn release(&self, party: Party, peer: Party) -> Result<bool, StoreError>;

    /// What a tenant granted, or did so for one agent.
    async fn grants(
        &self,
        scope: TenantScope,
        agent: Option<AgentId>,
    ) -> Result<Vec<Grant>, StoreError>;
}

/// Keeps webhooks by which others write letters for an agent. Of their secrets only digests are kept.
#[async_trait]
pub trait Hooks: Send + Sync {
    /// Enters a webhook of this name, by which letters of that agent come. Answers whether the name was free.
    async fn make_hook(
        &self,
        party: Party,
        name: &str,
        digest: [u8; 32],
    ) -> Result<bool, StoreError>;

    /// Removes one. Answers whether there was one.
    async fn remove_hook(&self, scope: TenantScope, name: &str) -> Result<bool, StoreError>;

    /// A tenant's, by name.
    async fn hooks(&self, scope: TenantScope) -> Result<Vec<(String, Party)>, StoreError>;

    /// Whose letters come by the webhook whose secret has this digest.
    async fn hook_at(&self, digest: [u8; 32]) -> Result<Option<Party>, StoreError>;
}

/// Everything the courier asks.
pub trait Store: Letters + Grants + Hooks + Receipts {}

impl<T> Store for T where T: Letters + Grants + Hooks + Receipts {}
